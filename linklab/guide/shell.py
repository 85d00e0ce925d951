# SPDX-License-Identifier: BSD-3-Clause
"""A line typed into a terminal → the simple commands in it, and on which node each runs.  Pure.

No shell: variables and substitutions stay as they are written, and a loop is one command.
"""

from __future__ import annotations

import re
import shlex
from collections import deque
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import PurePosixPath

_ENDS = ("&&", "||", ";", "&", ";;")
_SEPARATORS = (";", "&", ";;")
_PIPES = ("|", "|&")
_LOOPS = ("for", "while", "until", "if", "case", "{", "(")
_WRAPPERS: dict[str, tuple[int, tuple[str, ...]]] = {
    **dict.fromkeys(("command", "nohup", "unbuffer"), (0, ())),
    "timeout": (1, ("-k", "-s")),
    "time": (0, ("-f", "-o")),
    "nice": (0, ("-n",)),
    "stdbuf": (0, ("-i", "-o", "-e")),
    "exec": (0, ("-a",)),
    "env": (0, ("-u", "-C")),
    "mnexec": (0, ("-a", "-b", "-g")),
}
"""Programs that only run another one: how many words stand before it, and which options have a value (man pages)."""
_MOST_WRAPPERS = 16
"""Such programs in a row that are looked behind; each costs a copy of the rest of the line."""
_SUDO_VALUES = ("-u", "-g", "-C", "-p")
CLIENT, CONSOLE = "client", "mininet"
SUSPENDED = 148
BY_KEY = (130, 131, SUSPENDED)
"""Status of what Ctrl+C, Ctrl+\\, or Ctrl+Z ended or stopped: 128 and the signal (bash(1), EXIT STATUS)."""
LONGEST = 2**14
"""Characters of a line that are read; a terminal takes 4,096 at once (termios(3)), and the guide reads a line often."""


@dataclass(frozen=True)
class ShellCommand:
    """One command.

    node: where it runs; "mininet" for a command of Mininet's own.
    words: without sudo; the first is the program's name, without its folder.
    fed: the commands before it in a pipe, each as words.
    to: files that its output goes to.
    """

    node: str
    words: tuple[str, ...]
    fed: tuple[tuple[str, ...], ...] = ()
    to: tuple[str, ...] = ()

    @property
    def program(self) -> str:
        """The program's name."""
        return self.words[0] if self.words else ""

    @property
    def source(self) -> ShellCommand:
        """The first command of the pipe, which says what is looked at; itself where there is no pipe."""
        return ShellCommand(self.node, self.fed[0]) if self.fed else self


def commands_in(
    terminal: str, text: str, nodes: Collection[str] = (), *, surely_run: bool = False, last_list: bool = False
) -> list[ShellCommand]:
    """The commands of a line, in order; of its first `LONGEST` characters.

    Args:
        terminal: where it was typed, such as "h1#2".
        text: the line.
        nodes: of the network; in Mininet's command line a node's name before a command says where it runs.
        surely_run: without those that may not have run, as what follows "true ||".
        last_list: of these, those whose success the status of the line tells, which stand behind the last ";".
    """
    which = "last" if last_list else "sure" if surely_run else "all"
    return list(_commands(terminal.partition("#")[0], text[:LONGEST], frozenset(nodes), which))


@lru_cache(maxsize=64)  # each part of the guide asks for the same line
def _commands(node: str, text: str, nodes: frozenset[str], which: str) -> tuple[ShellCommand, ...]:
    if node in (CONSOLE, CLIENT):  # whose shell may have Mininet's command line in it
        first, _, rest = text.strip().partition(" ")
        if first in nodes or (first == "sh" and node == CONSOLE):
            node, text = CLIENT if first == "sh" else first, rest
    try:
        lexer = shlex.shlex(text, posix=True, punctuation_chars=";&|<>")
        lexer.whitespace_split, lexer.commenters = True, "#" if "#" in text.split(" ") else ""
        tokens = list(lexer)
    except ValueError:  # a quote that another line closes
        return (ShellCommand(node, tuple(text.split())),)
    if tokens and tokens[0] in _LOOPS:
        return (ShellCommand(node, tuple(tokens)),)
    return tuple(_split(node, tokens if which == "all" else _without_doubtful(tokens, of_last=which == "last")))


def _without_doubtful(tokens: Sequence[str], *, of_last: bool) -> list[str]:
    """The tokens of a line without the commands of which its status does not say that they ran.

    That is what follows a "||", what follows a "&&" where something else ends the line, whose status is known alone
    (POSIX, Shell Command Language, 2.9.3), and all from a group, a condition, or a function on.

    of_last: only those of the last list.
    """
    lists: list[list[str]] = [[]]
    for token in tokens:
        lists[-1].append(token)
        if token in _SEPARATORS:
            lists.append([])
    while len(lists) > 1 and not lists[-1]:
        lists.pop()
    found: list[str] = []
    for number, each in enumerate(lists):
        begins = [word for at, word in enumerate(each) if at == 0 or each[at - 1] in (*_ENDS, *_PIPES)]
        if any(word in (*_LOOPS, "function") or word.startswith("(") or word.endswith("()") for word in begins):
            break  # what stands in a group, or defines a function, may go on behind the next ";"
        is_last = number == len(lists) - 1 and each[-1:] != ["&"] and "||" not in each
        ends = [at for at, word in enumerate(each) if word == "||" or (word == "&&" and not is_last)]
        if is_last or not of_last:
            found += [*each[: ends[0]], ";"] if ends else each
    return found


def _split(node: str, tokens: list[str]) -> list[ShellCommand]:
    found: list[ShellCommand] = []
    parts: list[list[str]] = [[]]
    to: list[str] = []
    rest = deque([*tokens, ";"])
    while rest:
        token = rest.popleft()
        if token in _PIPES:
            parts.append([])
        elif token in _ENDS:
            pipe = [plain for part in parts if (plain := without_sudo(part))]
            if pipe:
                found.append(ShellCommand(node, pipe[-1], tuple(pipe[:-1]), tuple(to)))
            parts, to = [[]], []
        elif re.fullmatch(r"[<>&]+", token):
            target = rest.popleft() if rest and rest[0] not in _ENDS else ""
            if parts[-1] and parts[-1][-1] in ("1", "2") and token.startswith(">"):
                parts[-1].pop()  # 2>errors: the number is the descriptor's
            elif token.startswith(">"):
                to.append(target)
        else:
            parts[-1].append(token)
    return found


def without_sudo(words: list[str]) -> tuple[str, ...]:
    """The words of a command, the program by its name alone."""
    rest = deque(words)
    while rest and (rest[0] == "sudo" or re.fullmatch(r"[A-Za-z_]\w*=\S*", rest[0])):
        sudo = rest.popleft() == "sudo"
        while sudo and rest and rest[0].startswith("-"):
            if rest.popleft() in _SUDO_VALUES and rest:
                del rest[0]
    if rest and "/" in rest[0]:
        rest[0] = PurePosixPath(rest[0]).name
    return tuple(rest)


def unwrapped(words: Sequence[str]) -> tuple[str, ...]:
    """The words of the program that `timeout 60`, `nice -n 5`, `env A=1`, and the like run; all if there is none.

    Of more than 16 in a row, the rest is as it stands.
    """
    rest = without_sudo(list(words))
    for _ in range(_MOST_WRAPPERS):
        if not rest or rest[0] not in _WRAPPERS:
            break
        operands, valued = _WRAPPERS[rest[0]]
        behind = list(rest[1:])
        while behind and behind[0].startswith("-"):
            if behind.pop(0) in valued and behind:
                del behind[0]
        rest = without_sudo(behind[operands:])
    return rest or tuple(words)
