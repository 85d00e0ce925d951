# SPDX-License-Identifier: BSD-3-Clause
"""What a line of a progress needs to be typed once more: when it has ended, and what it used.

Pure; `linklab.guide.redo` types.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TypeAlias

from linklab.engine.api import StopAfter
from linklab.guide.evidence import FileEvidence, GuideEvidence, TypedEvidence
from linklab.guide.plan import LEAVES
from linklab.guide.progress import BEGUN, CONTINUED
from linklab.guide.shell import BY_KEY, commands_in

ProgressEntry: TypeAlias = tuple[str, "GuideEvidence | None"]
"""As `LabProgress.entries` gives them."""

LONGEST_S = 7200.0
"""Network time that one line may take; the longest is a sweep of Lab 22 with 2,050 s."""
MORE_S = 30.0
"""A line that ended by itself may take three times as long, and so much more, before it is stopped."""
SEQUENTIAL_S = 60.0
"""From here on it may take ten times as long: a sweep that measures until it is sure makes 5 to 40 runs (Lab 22)."""
_ABOUT_JOBS = frozenset(("bg", "fg", "jobs", "disown", "wait"))
_JOB = re.compile(r"%(?:\d+|[%+-]|\w+)?")
PROMPT = r"(?:^|\n)mininet> \s*\Z"
STOPPED_S = 5.0
"""Network time of what Ctrl+C ended at Mininet's own prompt: a ping there is to show a few replies."""


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
    times = 3 if lasted_s < SEQUENTIAL_S else 10
    return StopAfter(lasted_s if is_stopped(ended) else min(times * lasted_s + MORE_S, LONGEST_S))


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


def is_about_jobs(line: TypedEvidence) -> bool:
    """Whether a line is for programs that its own shell has suspended or sent into the background."""
    commands = commands_in(line.terminal, line.text)
    return any(
        each.program in _ABOUT_JOBS or (each.program == "kill" and any(map(_JOB.fullmatch, each.words)))
        for each in commands
    )


def leaves(line: TypedEvidence) -> bool:
    """Whether a line leaves Mininet's own command line."""
    return line.text.split()[:1] in ([word] for word in LEAVES)


def without_prompt(output: str) -> str:
    """What a line showed at the prompt of Mininet's own command line."""
    return output.removesuffix("mininet> ")
