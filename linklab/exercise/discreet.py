# SPDX-License-Identifier: BSD-3-Clause
"""A self-check's report without the answers it would give away: of a question, what was answered and whether it fits.

Nor does it name the planted fault, which is often such an answer.

For `linklab check`; the grader's report, which comes after handing in, says what was expected.  Pure.
"""

from __future__ import annotations

from dataclasses import replace

from linklab.exercise.answers import Answers
from linklab.exercise.model import Exercise
from linklab.exercise.report import CheckResult, Outcome, Report


def discreet(report: Report, exercise: Exercise, answers: Answers) -> Report:
    """The report with every check of an answer told by that answer alone, and without the fault's name."""
    asked = {check.id: check.subject for check in exercise.checks if check.kind == "answer"}
    checks = tuple(_told(check, asked[check.id], answers) if check.id in asked else check for check in report.checks)
    return replace(report, checks=checks, fault="")


def _told(check: CheckResult, name: str, answers: Answers) -> CheckResult:
    if check.outcome in (Outcome.SKIPPED, Outcome.ERROR):
        return replace(check, expected="", why="")
    value = answers.values.get(name)
    if value is None:
        story = f"{name}: {answers.problems.get(name, 'there is no answer')}."
    elif check.outcome is Outcome.FAIL:
        story = f"{name}: your answer is {value.shown}, and that does not fit."
    elif check.outcome is Outcome.PARTIAL:
        story = f"{name}: your answer is {value.shown}, and that is near, but not near enough for all points."
    else:
        story = f"{name}: {value.shown} fits."
    return replace(check, story=story, expected="", why="", seen=value.shown if value else "")
