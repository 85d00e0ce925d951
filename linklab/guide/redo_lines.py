# SPDX-License-Identifier: BSD-3-Clause
"""What a line of a progress needs to be typed once more: when it has ended, what it used, whether it is typed at all.

Pure; `linklab.guide.redo` types.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import dropwhile
from typing import TypeAlias

from linklab.engine.api import StopAfter
from linklab.guide.evidence import FileEvidence, GuideEvidence, TypedEvidence
from linklab.guide.plan import LEAVES
from linklab.guide.progress import BEGUN, CONTINUED
from linklab.guide.shell import BY_KEY, ShellCommand, commands_in, without_sudo

ProgressEntry: TypeAlias = tuple[str, "GuideEvidence | None"]
"""As `LabProgress.entries` gives them."""

LONGEST_S = 7200.0
"""Network time that one line may take; the longest is a sweep of Lab 22 with 2,050 s."""
MORE_S = 30.0
"""A line that ended by itself may take three times as long, and so much more, before it is stopped."""
_HANDS = frozenset(("nano", "pico", "vi", "vim", "emacs", "ed", "less", "more", "man", "top", "htop", "watch"))
"""Programs that wait for keys: they set and measure nothing."""
_ENDS_SHELL = frozenset(("exit", "logout"))
_SHELLS = frozenset(("bash", "sh", "dash", "zsh", "fish", "python3", "python", "ipython3", "bc", "gdb"))
_READ_LINES = _SHELLS | {"gnuplot", "R", "octave", "node", "sqlite3", "ftp", "nslookup", "cat"}
"""Programs that read lines of whoever types until these end, where nothing else says what they are to do."""
_TOLD = frozenset(("--version", "--help", "-V", "-h"))
"""What such a program says of itself, and ends."""
_OF_LOGIN = frozenset(("-", "-l", "--login", "root"))
"""What may stand behind su where nothing says what it is to do."""
_OF_SUDO = frozenset(("-i", "-s", "--login", "--shell"))
_BEFORE = frozenset(("exec", "env", "command", "time", "nice", "nohup"))
"""Words before the name of the program that runs."""
_JOINS = re.compile(r"&&|;")
_ASKING = ["linklab", "step"]
"""What only asks the guide, which is not there where a lab is done again."""
PROMPT = r"(?:^|\n)mininet> \s*\Z"
STOPPED_S = 5.0
"""Network time of what Ctrl+C ended at Mininet's own prompt: a ping there is to show a few replies."""


def is_for_hands(line: TypedEvidence) -> bool:
    """Whether a line is left out, because only keys end it; what an editor wrote is among the files.

    A shell or an interpreter that waits for lines is one, too: Ctrl+C does not end it.
    """
    words = line.text.split()
    if words[:1] == ["sudo"] and not without_sudo(words):
        return not _OF_SUDO.isdisjoint(words)
    commands = commands_in(line.terminal, line.text)
    if any(each.program in _HANDS or ("<" not in line.text and _waits_for_lines(each)) for each in commands):
        return True
    return bool(commands) and all(each.program in _ENDS_SHELL for each in commands)


def without_asking(text: str) -> str:
    """A line without `linklab step` at its beginning or its end, whose status would be taken for the line's."""
    joins = list(_JOINS.finditer(text))
    if joins and _asks(text[: joins[0].start()]):
        return text[joins[0].end() :].lstrip()
    if joins and _asks(text[joins[-1].end() :]):
        return text[: joins[-1].start()].rstrip()
    return text


def _asks(part: str) -> bool:
    words = part.split()
    return words[:2] == _ASKING and all(re.fullmatch(r"[\w-]+", word) for word in words)


def _waits_for_lines(command: ShellCommand) -> bool:
    """Whether nothing says what a shell or an interpreter is to do."""
    program, *words = without_sudo(list(dropwhile(_BEFORE.__contains__, command.words))) or ("",)
    if command.fed:
        return False
    if program == "su":
        return _OF_LOGIN.issuperset(words)
    said = not _TOLD.isdisjoint(words) or not all(word.startswith("-") for word in words)
    return program in _READ_LINES and (not said or "-i" in words)


def end_of(line: TypedEvidence, rest: Sequence[ProgressEntry]) -> tuple[TypedEvidence | None, bool]:
    """The entry with which a line ends, in its network, and whether no other line begins or ends before."""
    alone = True
    for kind, each in rest:
        if kind in (BEGUN, CONTINUED):
            break
        if isinstance(each, TypedEvidence):
            if each.ended and each.key == line.key:
                return each, alone
            alone = False
    return None, False


def written_meanwhile(
    line: TypedEvidence, rest: Sequence[ProgressEntry], ended: TypedEvidence | None
) -> Iterator[FileEvidence]:
    """Files of which is told right before a line ends: it may have used them, unless it made them."""
    if ended is None or ">>" in line.text:
        return
    for _, each in rest:
        if each is ended:
            return
        if isinstance(each, FileEvidence):
            yield each


def finish_of(ended: TypedEvidence) -> StopAfter:
    """When a line is stopped, if it has not ended: where the student stopped it, else later than it took there."""
    lasted_s = min(max((ended.end_s or 0.0) - ended.start_s, 0.0), LONGEST_S)
    return StopAfter(lasted_s if is_stopped(ended) else min(3 * lasted_s + MORE_S, LONGEST_S))


def is_stopped(ended: TypedEvidence) -> bool:
    """Whether a key ended or stopped it: bash says so, or the terminal has shown Ctrl+C (ping then ends with 0)."""
    return ended.status in BY_KEY or "^C" in ended.output


def inside_finish(line: TypedEvidence, ended: TypedEvidence | None) -> StopAfter:
    """When a line at the prompt of Mininet's own command line is stopped, if that prompt has not come back.

    A progress does not tell when it began and ended, since nothing there marks that.

    ended: the entry with which it ended, None where it did not end.
    """
    if leaves(line):
        return StopAfter(LONGEST_S)
    if ended is None or is_stopped(ended):
        return StopAfter(STOPPED_S, PROMPT)
    return StopAfter(LONGEST_S, PROMPT)


def leaves(line: TypedEvidence) -> bool:
    """Whether a line leaves Mininet's own command line."""
    return line.text.split()[:1] in ([word] for word in LEAVES)


def without_prompt(output: str) -> str:
    """What a line showed at the prompt of Mininet's own command line."""
    return output.removesuffix("mininet> ")
