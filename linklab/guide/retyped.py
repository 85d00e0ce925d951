# SPDX-License-Identifier: BSD-3-Clause
"""What of a line is typed when a lab is done once more: all but what waits for keys, and what asks the guide.  Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from linklab.guide.evidence import TypedEvidence
from linklab.guide.shell import LONGEST, ShellCommand, commands_in, unwrapped, without_sudo

_PAGERS = frozenset(("less", "more"))
_EDITORS = frozenset(
    (
        "nano",
        "pico",
        "vi",
        "vim",
        "nvim",
        "view",
        "emacs",
        "ed",
        "micro",
        "joe",
        "mcedit",
        "editor",
        "vim.basic",
        "vim.tiny",
    )
)
_HANDS = (
    _EDITORS
    | _PAGERS
    | frozenset(("sensible-editor", "sudoedit", "man", "top", "htop", "watch", "mc", "screen", "tmux"))
)
"""Programs that wait for keys: they set and measure nothing."""
_ENDS_SHELL = frozenset(("exit", "logout"))
_SHELLS = frozenset(("bash", "sh", "dash", "zsh", "fish", "python3", "python", "ipython3", "bc", "gdb"))
_READ_LINES = _SHELLS | {"gnuplot", "R", "octave", "node", "sqlite3", "ftp", "nslookup", "cat"}
"""Programs that read what is typed, line by line until its end, unless they are given something else to read."""
_TOLD = frozenset(("--version", "--help", "-V", "-h"))
"""What such a program says of itself, and ends."""
_OF_LOGIN = frozenset(("-", "-l", "--login", "root"))
"""What may stand behind su where nothing says what it is to do."""
_OF_SUDO = frozenset(("-i", "-s", "--login", "--shell"))
_DRAWS = frozenset(("clear", "reset"))
_ASKING = ["linklab", "step"]
_COMPOUND = frozenset(
    ("for", "while", "until", "if", "case", "select", "do", "then", "else", "elif", "fi", "done", "esac", "function")
)
"""Words with which a compound command begins or goes on (bash(1), RESERVED WORDS)."""
_SIGNS = re.compile(
    r"""'[^']*' | "(?:\\.|[^"\\])*" | \\. | (?<!\S)\#.* | [<>]& | &>  # what these hold joins nothing
    | \$\{[^}]{0,200}\} | \$\([^()`]{0,200}\)
    | (?P<join>&& | ; | &(?!&)) | (?P<pipe>\|&? (?!\|)) | (?P<other>\|\| | [(){}`'"\n] | << | \$\()""",
    re.VERBOSE | re.DOTALL,
)
"""The signs of a shell's line: those that join commands, and those that make it more than a list of pipes."""


@dataclass(frozen=True)
class _Piece:
    """A pipe of a line: its text, where its last program begins in it, and the sign behind it, "" at the end."""

    text: str
    last_at: int
    sign: str


def typed_again(line: TypedEvidence) -> str:
    """What of a line is typed; "" for nothing.

    Left out are programs that only keys end, shells and interpreters that wait for lines, which Ctrl+C does not end,
    what ends the shell, and `linklab step`, since there is no guide to ask, and its failure would be the line's.
    """
    if not any(_is_left_out(line.terminal, piece) for piece in (line.text, *_texts(line.text))):
        return line.text
    pieces = _pieces(line.text)
    if pieces is None:  # a group or a loop: all or nothing
        return "" if _is_for_hands(line.terminal, line.text) else line.text
    found: list[_Piece] = []
    for piece in pieces:
        if _ends_shell(line.terminal, piece.text):
            break
        kept = piece.text
        if _is_paged(line.terminal, piece):
            kept = piece.text[: piece.last_at].rstrip().removesuffix("&").removesuffix("|").rstrip()
        if kept and not _is_left_out(line.terminal, kept):
            found.append(_Piece(kept, 0, piece.sign))
        elif found and piece.sign != "&&" and found[-1].sign == "&&":
            found[-1] = _Piece(found[-1].text, 0, ";")
    return "".join(f"{piece.text.strip()}{_spaced(piece.sign)}" for piece in _without_last_sign(found)).strip()


def is_aside(line: TypedEvidence) -> bool:
    """Whether a line only clears its terminal, which one without a screen refuses, or asks the guide."""
    words = line.text.split()
    return (len(words) == 1 and words[0] in _DRAWS) or _asks(line.text)


def _without_last_sign(pieces: Sequence[_Piece]) -> list[_Piece]:
    return [*pieces[:-1], *(_Piece(piece.text, 0, "&" if piece.sign == "&" else "") for piece in pieces[-1:])]


def _spaced(sign: str) -> str:
    return {"": "", ";": "; "}.get(sign, f" {sign} ")


def _pieces(text: str) -> list[_Piece] | None:
    """The pipes of a line that is a plain list of them; None for another."""
    found: list[_Piece] = []
    begin = last_at = 0
    for sign in _SIGNS.finditer(text[:LONGEST]):
        if sign["other"]:
            return None
        if sign["pipe"]:
            last_at = sign.end()
        elif sign["join"]:
            found.append(_Piece(text[begin : sign.start()], last_at - begin, sign[0]))
            begin = last_at = sign.end()
    found.append(_Piece(text[begin:], last_at - begin, ""))
    if any(_COMPOUND.intersection(piece.text.split()[:1]) for piece in found):
        return None
    return [piece for piece in found if piece.text.strip()]


def _texts(text: str) -> Iterator[str]:
    return (piece.text for piece in _pieces(text) or ())


def _is_left_out(terminal: str, text: str) -> bool:
    return _asks(text) or _ends_shell(terminal, text) or _is_for_hands(terminal, text)


def _asks(text: str) -> bool:
    """Whether a command only asks the guide."""
    words = text.split()
    return words[:2] == _ASKING and all(re.fullmatch(r"[\w-]+", word) for word in words)


def _ends_shell(terminal: str, text: str) -> bool:
    commands = commands_in(terminal, text)
    return bool(commands) and all(each.program in _ENDS_SHELL for each in commands)


def _is_paged(terminal: str, piece: _Piece) -> bool:
    """Whether a pipe ends in a program that only shows a page at a time."""
    last = commands_in(terminal, piece.text[piece.last_at :])
    return piece.last_at > 0 and [each.program in _PAGERS and not each.to for each in last] == [True]


def _is_for_hands(terminal: str, text: str) -> bool:
    """Whether only keys end a command, because it is an editor, or a shell that waits for lines."""
    words = text.split()
    if words[:1] == ["sudo"] and not without_sudo(words):
        return not _OF_SUDO.isdisjoint(words)
    commands = commands_in(terminal, text)
    return any(_waits_for_keys(each) or _waits_for_lines(each, text) for each in commands)


def _waits_for_keys(command: ShellCommand) -> bool:
    """Whether it is an editor, or a pager whose pages go to a terminal."""
    program = (*unwrapped(command.words), "")[0]
    return program in _HANDS and not (program in _PAGERS and command.to)


def begins_shell(line: TypedEvidence) -> bool:
    """Whether a line begins a shell or an interpreter that waits for lines, of which nothing is known."""
    words = line.text.split()
    if words[:1] == ["sudo"] and not without_sudo(words):
        return not _OF_SUDO.isdisjoint(words)
    return any(_waits_for_lines(each, line.text) for each in commands_in(line.terminal, line.text))


def _waits_for_lines(command: ShellCommand, text: str) -> bool:
    """Whether nothing says what a shell or an interpreter is to do, neither the command nor its line."""
    program, *words = unwrapped(command.words) or ("",)
    if "<" in text:
        return False
    if command.fed:
        return False
    if program == "script":
        return not any(word.startswith(("-c", "--command")) for word in words)
    if program == "su":
        return _OF_LOGIN.issuperset(words)
    said = not _TOLD.isdisjoint(words) or not all(word.startswith("-") for word in words)
    return program in _READ_LINES and (not said or "-i" in words)
