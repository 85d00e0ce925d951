# SPDX-License-Identifier: BSD-3-Clause
"""A command that tc, ip, or another tool refused → what docs/when-tc-complains.md says of its message.

The page is the one home of these explanations, and its examples are its index: each has a command and what it printed.
Whether a command was refused is decided by its exit status; its message only chooses what is quoted.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from linklab.base import installation
from linklab.guide.evidence import TypedEvidence
from linklab.guide.shell import commands_in

PAGE = installation.ROOT / "docs" / "when-tc-complains.md"
_TYPED = re.compile(r"[a-z0-9#]+\$ (.*)")
_BLOCK = re.compile(r"^```text\n(.*?)\n```$", re.MULTILINE | re.DOTALL)
_LONGEST, _MOST_LINES = 500, 1000
"""Letters of a message, and lines of an output from its end, that are compared; a message has 150, and a line each."""
_NAMED = re.compile(r'"[^"]*"|[\w.:/%-]+')
"""What may be a name or a number of the example's own."""


@dataclass(frozen=True)
class Complaint:
    """What is said of a message.

    message: as the command printed it.
    text: Markdown: sentences a line, and blocks of commands that help.
    """

    message: str
    text: str


@dataclass(frozen=True)
class _Example:
    """A line that a command of the page printed.

    pattern: the same message about other names and numbers; own_letters: how many letters of it are no name or number.
    """

    program: str
    what: str
    pattern: re.Pattern[str]
    own_letters: int
    is_heading: bool
    text: str


def complaint_of(line: TypedEvidence, nodes: Collection[str] = (), page: Path = PAGE) -> Complaint | None:
    """What the page says of what a refused line printed; None where it says nothing.

    Args:
        line: one that has ended.
        nodes: of the network.
        page: docs/when-tc-complains.md; one that cannot be read says nothing.
    """
    typed = {
        (command.program, (command.words[1:2] or ("",))[0]) for command in commands_in(line.terminal, line.text, nodes)
    }
    best: tuple[tuple[int, bool, bool], Complaint] | None = None
    for printed in filter(None, map(str.strip, line.output.splitlines()[-_MOST_LINES:])):
        if len(printed) > _LONGEST:
            continue
        for one in _examples(page):
            if one.program not in {program for program, _ in typed} or not one.pattern.fullmatch(printed):
                continue
            rank = one.own_letters, (one.program, one.what) in typed, one.is_heading
            if best is None or rank > best[0]:
                best = rank, Complaint(printed, one.text)
    return best[1] if best else None


@cache
def _examples(page: Path) -> tuple[_Example, ...]:
    try:
        text = page.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return ()
    return tuple(one for part in re.split(r"^### ", text, flags=re.MULTILINE)[1:] for one in _of_entry(part))


def _of_entry(part: str) -> Iterator[_Example]:
    """The examples of one entry: its heading, and what stands below it up to the next section."""
    heading, _, below = part.partition("\n")
    below = re.split(r"^## ", below, flags=re.MULTILINE)[0]
    first, *_ = _BLOCK.finditer(below)
    text = below[first.end() :].strip()
    command = ""
    for shown in (line for block in _BLOCK.findall(below) for line in block.splitlines()):
        if typed := _TYPED.fullmatch(shown):
            command = typed[1]
        elif shown != "…":
            yield _example(command, shown, is_heading=heading == f"`{shown}`", text=text)


def _example(command: str, printed: str, *, is_heading: bool, text: str) -> _Example:
    words = (commands_in("h1", command) or commands_in("h1", "true"))[0].words
    own = {*words, *(part for word in words for part in re.split(r"[=:]", word))}
    letters, pattern, end = 0, "", 0
    for found in _NAMED.finditer(printed):
        other = found[0].startswith('"') or found[0].strip(".:") in own or re.search(r"\d", found[0])
        between = printed[end : found.start()]
        pattern += re.escape(between) + (
            (r'".*"' if found[0].startswith('"') else r"\S+") if other else re.escape(found[0])
        )
        letters += len(between) + (0 if other else len(found[0]))
        end = found.end()
    pattern += re.escape(printed[end:])
    return _Example(
        words[0], (words[1:2] or ("",))[0], re.compile(pattern), letters + len(printed) - end, is_heading, text
    )
