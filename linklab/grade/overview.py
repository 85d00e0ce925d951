# SPDX-License-Identifier: BSD-3-Clause
"""The reports of a class → one page: scores, the check that fails most, what to look at, links to every report.

The template is `overview.html.j2` beside this module.
"""

from __future__ import annotations

import re
import statistics
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from linklab.exercise.report import CheckResult, Status
from linklab.grade.charts import histogram, outcome_bar
from linklab.grade.cohort import Entry, Finding
from linklab.grade.handed_in import Skipped
from linklab.grade.html import WORDS, page, percent
from linklab.grade.marks import tool_broke
from linklab.judge.verdict import Outcome


@dataclass(frozen=True)
class CheckStatistics:
    """What a class did with one check: its bar, and of all graded submissions the share that failed it.

    mean: share of its points that they earned; None where it has none.
    """

    title: str
    hidden: bool
    bar: Markup
    failed: float
    mean: float | None


@dataclass(frozen=True)
class ExerciseStatistics:
    """One exercise of a class: its entries by name, scores in percent, checks with the most failed first."""

    heading: str
    max_score: float
    entries: Sequence[Entry]
    percents: Sequence[float]
    histogram: Markup
    checks: Sequence[CheckStatistics]

    @property
    def numbers(self) -> list[tuple[str, str]]:
        """Mean, median and spread as (name, text)."""
        if not self.percents:
            return []
        named = {
            "mean": statistics.fmean(self.percents),
            "median": statistics.median(self.percents),
            "lowest": min(self.percents),
            "highest": max(self.percents),
        }
        return [("graded", str(len(self.percents))), *((name, f"{value:.0f} %") for name, value in named.items())]


def overview_page(entries: Sequence[Entry], findings: Sequence[Finding], left: Sequence[Skipped] = ()) -> str:
    """The page of a class.

    Args:
        entries: in the order in which they are to be named.
        findings: of `linklab.grade.findings` and `linklab.grade.whose`.
        left: files that were found and are not graded.
    """
    graded = [entry for entry in entries if entry.report.status is Status.GRADED]
    ids = sorted({entry.report.exercise for entry in graded}, key=_natural)
    return page(
        "overview.html.j2",
        entries=entries,
        exercises=[_exercise([entry for entry in graded if entry.report.exercise == each]) for each in ids],
        trouble=[entry for entry in entries if entry.report.status is not Status.GRADED],
        broken=[entry for entry in graded if tool_broke(entry.report)],
        findings=findings,
        left=left,
        waiting=sum(each.waits for each in left),
        who=_who,
        twice={name for name, count in Counter(map(_who, entries)).items() if count > 1},
        courses=sorted({entry.report.course for entry in entries if entry.report.course}),
    )


def _who(entry: Entry) -> tuple[str, str]:
    """What a submission is called in its exercise; two of one student's are told apart by their files."""
    return entry.report.exercise, entry.person


def _exercise(entries: Sequence[Entry]) -> ExerciseStatistics:
    percents = [percent(entry.report) for entry in entries]
    checks: dict[str, list[CheckResult]] = {}
    for entry in entries:
        for check in entry.report.checks:
            checks.setdefault(check.id, []).append(check)
    told = [_check(results) for results in checks.values()]
    return ExerciseStatistics(
        heading=entries[0].report.heading,
        max_score=entries[0].report.max_score,
        entries=sorted(entries, key=lambda entry: (_natural(entry.person), entry.label)),
        percents=percents,
        histogram=Markup(histogram(percents)),  # noqa: S704 - our own svg
        checks=sorted(told, key=lambda each: -each.failed),
    )


def _check(results: Sequence[CheckResult]) -> CheckStatistics:
    counts = {outcome: sum(result.outcome is outcome for result in results) for outcome in WORDS}
    words = ", ".join(f"{counts[outcome]} {WORDS[outcome][1]}" for outcome in WORDS if counts[outcome])
    order = (Outcome.FAIL, Outcome.PARTIAL, Outcome.PASS, Outcome.SKIPPED, Outcome.ERROR)
    shares = [(outcome, counts[outcome], str(counts[outcome])) for outcome in order]
    earned = [result.score / result.max_score for result in results if result.max_score]
    return CheckStatistics(
        title=_common(results),
        hidden=results[0].hidden,
        bar=Markup(outcome_bar(shares, width=330, height=20, words=words)),  # noqa: S704 - our own svg
        failed=counts[Outcome.FAIL] / len(results),
        mean=statistics.fmean(earned) if earned else None,
    )


def _common(results: Sequence[CheckResult]) -> str:
    """The title of a check for a class: what is individual in it becomes …, "h1 has the address …"."""
    titles = [result.title.split(" ") for result in results]
    if len({len(words) for words in titles}) > 1:
        return results[0].id.replace("-", " ")
    return " ".join(words[0] if len(set(words)) == 1 else "…" for words in zip(*titles, strict=True))


def _natural(text: str) -> list[tuple[int, int, str]]:
    """Key that puts "s2" before "s10"."""
    parts = re.split(r"([0-9]{1,18})", text.casefold())
    return [(0, int(part), "") if part.isdigit() and part.isascii() else (1, 0, part) for part in parts if part]
