# SPDX-License-Identifier: BSD-3-Clause
"""Reports without what they would give away.

`undisclosed`, for every report that a student sees: of a planted fault that is still there it names nothing.
`discreet`, for `linklab check`: neither does it say what was expected of an answer, only whether the one given fits,
nor, before the last hint, what was expected of the network: that gives away what a student is to compute.
The grader's report, which comes after handing in, says what was expected.  Pure.
"""

from __future__ import annotations

from dataclasses import replace

from linklab.exercise.answers import Answers
from linklab.exercise.model import Exercise
from linklab.exercise.report import CheckResult, Report
from linklab.judge.verdict import Outcome

_STILL_THERE = "what was planted is still there"
_LOOK = "Hold each interface and each host against its counterpart, one by one."
_MOST_TOLD = 6
ALL_HINTS = 3
"""With the last one it is also told what was expected."""


def undisclosed(report: Report) -> Report:
    """The report without the fault's name, and without the settings by which it can be told, where it is not mended."""
    checks = tuple(_unnamed(check, report) for check in report.checks)
    return replace(report, checks=checks, fault="", untouched=())


def _unnamed(check: CheckResult, report: Report) -> CheckResult:
    if check.kind == "answer" and report.fault and check.expected.casefold() == report.fault.casefold():
        fits = {Outcome.PASS: "the answer fits", Outcome.FAIL: "the answer does not fit, or there is none"}
        told = fits.get(check.outcome, "")
        return replace(check, story=f"{check.outcome.value} {check.id}: {told}.", expected="", why="")
    hidden = [words for fact, words in check.differs if fact in report.untouched]
    if not hidden:
        return check
    others = [words for _, words in check.differs if words not in hidden]
    more = [f"and {len(others) - _MOST_TOLD} more"] if len(others) > _MOST_TOLD else []
    seen = "; ".join([_STILL_THERE, *others[:_MOST_TOLD], *more])
    return replace(
        check,
        story=f"{check.outcome.value} {check.id}: expected nothing else to be changed "
        f"({check.why.rstrip('.')}), but {seen}.",
        seen=seen,
        hints=check.hints if others else (_LOOK, *check.hints[1:])[: len(check.hints)],
        differs=tuple(pair for pair in check.differs if pair[1] not in hidden),
    )


def discreet(report: Report, exercise: Exercise, answers: Answers, hint: int = 1) -> Report:
    """The report with every check of an answer told by that answer alone, and without the planted fault.

    Args:
        report: of `linklab.grade.own_folder.self_check`.
        exercise: that it is of.
        answers: as they were read.
        hint: how far a student wants to be told: 1 where to look, 2 also what is wrong and why, 3 also how to do it,
            with what was expected.
    """
    asked = {check.id: check.subject for check in exercise.checks if check.kind == "answer"}
    checks = tuple(
        _told(check, asked[check.id], answers) if check.id in asked else _staged(check, hint) for check in report.checks
    )
    return undisclosed(replace(report, checks=tuple(replace(check, hints=check.hints[:hint]) for check in checks)))


def _staged(check: CheckResult, hint: int) -> CheckResult:
    """A check of the network without what was expected, where fewer than all hints are wanted."""
    if hint >= ALL_HINTS or not check.saw:
        return check
    if check.outcome is Outcome.FAIL:
        fits = f"{check.saw}." if check.absent else f"{check.saw}, which does not fit."
    elif check.outcome is Outcome.PARTIAL:
        fits = f"{check.saw}, which is near, but not near enough for all points."
    else:
        fits = f"{check.saw}."
    reason = f" What is wanted: {check.why}" if hint > 1 and check.outcome is not Outcome.PASS else ""
    story = f"{check.outcome.value} {check.id}: {fits}{reason}"
    return replace(check, story=story, expected="", why=check.why if hint > 1 else "")


def _told(check: CheckResult, name: str, answers: Answers) -> CheckResult:
    if check.outcome in (Outcome.SKIPPED, Outcome.ERROR):
        return replace(check, expected="", why="")
    value = answers.value(name)
    if value is None:
        story = f"{name}: {answers.why_not(name)}."
    elif check.outcome is Outcome.FAIL:
        story = f"{name}: your answer is {value.shown}, and that does not fit."
    elif check.outcome is Outcome.PARTIAL:
        story = f"{name}: your answer is {value.shown}, and that is near, but not near enough for all points."
    else:
        story = f"{name}: {value.shown} fits."
    return replace(check, story=story, expected="", why="", seen=value.shown if value else "")
