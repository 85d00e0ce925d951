# SPDX-License-Identifier: BSD-3-Clause
"""A report and a course's rules → the mark, and what is taken for lateness.  Pure.

The points of the checks stay what they are: what is taken for lateness and what is given by hand stands beside them
(`linklab.exercise.report.Adjustment`), each with its reason, which the student reads too.
"""

from __future__ import annotations

import datetime as dt
import math

from linklab.exercise.course import Rules
from linklab.exercise.report import Adjustment, Report, Status
from linklab.judge.verdict import Outcome

LATE, BY_HAND = "late", "by hand"
_DAY_S = 86400


def tool_broke(report: Report) -> bool:
    """Whether a tool of ours broke, at all of it or at a check: its points are no mark."""
    return report.status is Status.ERROR or any(check.outcome is Outcome.ERROR for check in report.checks)


def mark(report: Report) -> float | None:
    """The points that count, never below 0; None where there is no mark yet.

    A submission that was not graded, or at which our tool broke, has a mark only where points were given by hand.
    """
    by_hand = any(each.kind == BY_HAND for each in report.adjustments)
    if (report.status is not Status.GRADED or tool_broke(report)) and not by_hand:
        return None
    return max(0.0, round(report.score + sum(each.points for each in report.adjustments), 2))


def lateness(report: Report, rules: Rules) -> tuple[Adjustment, ...]:
    """What is taken for lateness: nothing, or one adjustment; never more than the checks earned."""
    due = rules.due(report.student)
    if due is None or not report.handed_in:
        return ()
    late_s = (dt.datetime.fromisoformat(report.handed_in) - due).total_seconds()
    days = math.ceil((late_s - rules.grace_s) / _DAY_S)
    if days <= 0:
        return ()
    full = report.max_score
    taken = round(min(days * rules.per_day.of(full), rules.cap.of(full), report.score), 2)
    whose = "your deadline was" if report.student in rules.extensions else "the deadline was"
    cost = f"{days} × {rules.per_day}" + (" of the full points" if rules.per_day.share else "")
    cap = f", at most {rules.cap}" if rules.cap.share < 1 else ""
    says = f"handed in {_span(late_s)} late ({whose} {due.isoformat(' ', 'minutes')}): {cost}{cap}"
    return (Adjustment(LATE, -taken, says),)


def _span(seconds: float) -> str:
    """A duration in its two largest units: "1 d 2 h", "3 h 20 min", "5 min"."""
    minutes = max(1, math.ceil(seconds / 60))
    parts = [(minutes // 1440, "d"), (minutes % 1440 // 60, "h"), (minutes % 60, "min")]
    first = next(place for place, (count, _) in enumerate(parts) if count)
    return " ".join(f"{count} {unit}" for count, unit in parts[first : first + 2] if count)
