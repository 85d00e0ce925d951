# SPDX-License-Identifier: BSD-3-Clause
"""A report → results.json, and the report as its student may see it.

results.json has the form that Gradescope's autograders write (its "Autograder Specifications", docs/specs.md in
gradescope/autograder_samples), so it can be handed to it as it is; `extra_data` holds our whole report. Pure.
Submissions are hostile, so what comes from them is made plain text first (`scrubbed`).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from enum import Enum
from itertools import islice
from typing import Any, TypeVar

from linklab.base.text import visible
from linklab.exercise.discreet import undisclosed
from linklab.exercise.report import CheckResult, Report, Status
from linklab.grade.marks import mark, tool_broke
from linklab.judge.verdict import Outcome

MOST_TEXT = 20_000
MOST_WORK = 2**18
"""Letters of a work.sh; as many as are compared with those of other students."""
MOST_NOTES = 100
MOST_ENTRIES = 2000
"""Of a table; no honest report has so many in any."""
_TABLES = ("checks", "changes", "answers", "words", "metrics", "parameters")

_T = TypeVar("_T")


def scrubbed(report: Report) -> Report:
    """The report with plain text alone: no control characters, halves of characters, endless strings or tables."""
    tables = {each.name: len(getattr(report, each.name)) for each in fields(report) if each.name in _TABLES}
    cut = tuple(
        f"Of {n:,} {name} the first {MOST_ENTRIES:,} are told." for name, n in tables.items() if n > MOST_ENTRIES
    )
    rest = _plain(replace(report, traces=(), notes=(*report.notes[:MOST_NOTES], *cut)))
    work = visible(report.work)[:MOST_WORK]  # whole, as it is compared with those of others
    typed = visible(report.typed)[:MOST_WORK]
    return replace(
        rest, work=work, typed=typed, traces=tuple(replace(trace, label=_plain(trace.label)) for trace in report.traces)
    )


def _plain(value: _T) -> _T:
    found: Any = value
    if isinstance(value, str):
        found = visible(value)
        if len(found) > MOST_TEXT:
            found = f"{found[:MOST_TEXT]} … ({len(value) - MOST_TEXT} more characters)"
    elif isinstance(value, Mapping):
        found = {_plain(key): _plain(item) for key, item in islice(value.items(), MOST_ENTRIES)}
    elif isinstance(value, (tuple, list)):
        found = type(value)(_plain(item) for item in value[:MOST_ENTRIES])
    elif is_dataclass(value) and not isinstance(value, (type, Enum)):
        found = replace(value, **{each.name: _plain(getattr(value, each.name)) for each in fields(value)})
    return found  # type: ignore[no-any-return]


def student_view(report: Report) -> Report:
    """The report without what a student must not learn: hidden checks, what they alone measured, the fault, the seeds.

    Points and outcomes of hidden checks stay, so that the sum can be followed.
    """
    report = undisclosed(report)
    shown = {name for check in report.checks if not check.hidden for name in check.experiments}
    secret = {name for check in report.checks if check.hidden for name in check.experiments} - shown
    numbers = iter(range(1, len(report.checks) + 1))
    return replace(
        report,
        checks=tuple(_concealed(check, next(numbers)) if check.hidden else check for check in report.checks),
        experiments={name: words for name, words in report.experiments.items() if name not in secret},
        metrics={name: found for name, found in report.metrics.items() if name not in secret},
        traces=tuple(trace for trace in report.traces if trace.experiment not in secret),
        environment={name: value for name, value in report.environment.items() if name != "seeds"},
        fingerprint="",
        typed="",
    )


def _concealed(check: CheckResult, number: int) -> CheckResult:
    return CheckResult(
        f"hidden-{number}",
        f"Hidden check {number}",
        "hidden",
        check.score,
        check.max_score,
        hidden=True,
        outcome=check.outcome,
    )


def results_text(report: Report) -> str:
    """results.json; the same report gives the same bytes."""
    return json.dumps(results(report), indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def results(report: Report) -> dict[str, Any]:
    """What results.json holds.

    Where our own tool broke, be it at one check, there is neither a score nor a test, which is no valid result for
    Gradescope: no student gets a lower mark for it.  Points given by hand are a mark all the same.
    """
    final = mark(report)
    data: dict[str, Any] = {
        "output": _summary(report),
        "output_format": "text",
        "visibility": "visible",
        "stdout_visibility": "hidden",
        "extra_data": json.loads(report.dumps()),
    }
    if final is None and report.status is not Status.UNGRADABLE:
        return data
    data["score"] = report.score if final is None else final
    pairs = zip(report.checks, undisclosed(report).checks, strict=True)
    data["tests"] = [_test(whole if whole.hidden else shown, number) for number, (whole, shown) in enumerate(pairs, 1)]
    return data


def _test(check: CheckResult, number: int) -> dict[str, Any]:
    told = [story(check)]
    if check.outcome not in (Outcome.PASS, Outcome.ERROR) and not check.hidden:
        told += [f"{name} {hint}" for name, hint in hints(check)]
    return {
        "name": check.title,
        "number": str(number),
        "score": check.score,
        "max_score": check.max_score,
        "status": "passed" if check.outcome is Outcome.PASS else "failed",
        "output": "\n".join(told),
        "output_format": "text",
        "visibility": "hidden" if check.hidden else "visible",
        "tags": [check.kind, check.outcome.value],
        "extra_data": {"id": check.id, "outcome": check.outcome.value},
    }


def _summary(report: Report) -> str:
    match report.status:
        case Status.GRADED if tool_broke(report):
            first = f"{points(report.score)} points, and a check at which our tool broke: this is no mark yet."
        case Status.GRADED:
            first = f"{points(report.score)} of {points(report.max_score)} points."
        case Status.UNGRADABLE:
            first = "This submission could not be graded."
        case Status.ERROR:
            first = "Grading broke off. This is not your doing, and no mark; your instructor knows of it."
    hidden = [check for check in report.checks if check.hidden]
    lines = [f"{report.heading}: {first}" if report.heading else first, *adjusted(report), *report.notes]
    if hidden:
        worth = points(sum(check.max_score for check in hidden))
        lines.append(
            f"{len(hidden)} {'checks are' if len(hidden) > 1 else 'check is'} hidden and counted in the sum: "
            f"{worth} of {points(report.max_score)} points."
        )
    return "\n".join(lines)


def adjusted(report: Report) -> list[str]:
    """What is added to the points of the checks, a sentence each, and the mark; nothing where they are the mark."""
    if not report.adjustments:
        return []
    lines = [f"{signed(each.points)} points: {each.reason}." for each in report.adjustments]
    final = mark(report)
    return lines if final is None else [*lines, f"Mark: {points(final)} of {points(report.max_score)} points."]


def signed(value: float) -> str:
    """Points with their sign: +2, −1.5, 0."""
    return f"{'+' if value > 0 else '−' if value < 0 else ''}{points(abs(value))}"


def story(check: CheckResult) -> str:
    """The check's story as a sentence, without its outcome and name in front, which stand beside it.

    A name of the network's at its beginning, such as h1-eth0, stays as it is.
    """
    told = check.story.removeprefix(f"{check.outcome.value} {check.id}: ").strip()
    if told.split(" ", 1)[0].rstrip(",:;.").isalpha():
        told = told[:1].upper() + told[1:]
    return told + ("." if told and told[-1] not in ".!?…" else "")


def hints(check: CheckResult) -> list[tuple[str, str]]:
    """The hints with what each says: where to look, what is wrong, how it is mended."""
    return list(zip(("Where:", "What:", "How:"), check.advice, strict=False))


def points(value: float) -> str:
    """Points as people write them: 8, 8.5, 0.33."""
    return f"{round(value, 2):g}"
