# SPDX-License-Identifier: BSD-3-Clause
"""What comes of something that was expected, be it of a lab's run or of a submission."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Outcome(Enum):
    """What came of it; only PASS and PARTIAL earn points, only FAIL and PARTIAL are the doing of who is judged.

    PARTIAL is for an exercise's bands alone: less than was asked for, and worth a share of the points.
    SKIPPED: it was not looked at; ERROR: our tools could not judge.
    """

    PASS = "pass"  # noqa: S105 - a verdict, no password
    PARTIAL = "partial"
    FAIL = "fail"
    SKIPPED = "skipped"
    ERROR = "error"


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """What came of one thing that was expected.

    expected, seen: as a table shows them.
    story: for whoever wants to know why: what was expected and from what, what was seen, a hint; "" where all is said.
    samples: the values it was judged by, one for each run (NaN: that run gave none), in base units, with `unit`.
    """

    outcome: Outcome
    story: str = ""
    expected: str = ""
    seen: str = ""
    samples: tuple[float, ...] = ()
    unit: str = ""
