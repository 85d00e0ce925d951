# SPDX-License-Identifier: BSD-3-Clause
"""How much room an expectation leaves beside what was measured, and what range a spread over seeds supports.

An expectation with much room passes whatever a student does. The rules for authors: docs/writing-a-lab.md, "Ranges".
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Iterator, Sequence

from linklab.judge.evaluation import Evaluation, Lookup
from linklab.judge.language import Comparison, Expression, Junction
from linklab.judge.parser import parse
from linklab.judge.tolerance import Tolerance

WIDE, ONE_SIDED, RELATION = 0.5, 10.0, 2.0
"""Too much room: a range half as wide as its middle, a bound ten times away, a relation that would hold twice over."""
COVERED, SURE = 0.999, 0.95
"""A proposed range holds this share of all runs, with this confidence."""
ALLOWED = 0.01
"""Of the mean, to either side, for what no seed varies: another compiler of the programs, or another version."""


def too_wide(tolerance: Tolerance, values: Sequence[float]) -> bool:
    """Whether a tolerance leaves too much room; `values` are those of all seeds."""
    if math.isfinite(tolerance.low) and math.isfinite(tolerance.high):
        middle = abs(tolerance.low + tolerance.high) / 2
        return tolerance.high - tolerance.low >= WIDE * middle > 0
    return bound_room(tolerance, values) >= ONE_SIDED


def bound_room(tolerance: Tolerance, values: Sequence[float]) -> float:
    """How many times further than the values a bound is; infinite where all of them, or the bound, are 0."""
    if math.isfinite(tolerance.high):
        return _times(tolerance.high, max(values))
    return _times(min(values), tolerance.low)


def relation_room(text: str, runs: Sequence[Lookup]) -> float:
    """How many times over the loosest comparison of a relation holds, in the run in which it is tightest.

    1 where none of them tells: equalities, alternatives, and quantities of different signs.
    """
    rooms = [list(_rooms(text, run)) for run in runs]
    return max((min(each) for each in zip(*rooms, strict=True)), default=1.0)


def _rooms(text: str, lookup: Lookup) -> Iterator[float]:
    evaluation = Evaluation(text, lookup)
    expression = parse(text)
    evaluation.unit(expression)
    for comparison in _comparisons(expression):
        left = evaluation.value(comparison.first)
        for sign, other in comparison.others:
            right = evaluation.value(other)
            if sign in ("<", "<="):
                yield _times(right.number, left.number)
            elif sign in (">", ">="):
                yield _times(left.number, right.number)
            left = right


def _comparisons(expression: Expression) -> Iterator[Comparison]:
    match expression:
        case Comparison():
            yield expression
        case Junction(word="and", parts=parts):
            for part in parts:
                yield from _comparisons(part)


def _times(larger: float, smaller: float) -> float:
    if larger <= 0 or smaller < 0:
        return 1.0
    return larger / smaller if smaller else math.inf


def proposal(values: Sequence[float]) -> tuple[float, float]:
    """The range that a spread over seeds supports: mean ± k · standard deviation, and 1 % of the mean.

    k is such that the range holds 99.9 % of all runs with a confidence of 95 %, if the figures are normal: 4.6 for
    twenty seeds, 7.9 for five. It is never below 0 where no value is.

    Source: W. G. Howe, Two-sided tolerance limits for normal populations, JASA 64 (1969).
    """
    mean = statistics.fmean(values)
    spread = tolerance_factor(len(values)) * statistics.stdev(values) if len(values) > 1 else 0.0
    reach = spread + ALLOWED * abs(mean)
    low = mean - reach
    return (max(low, 0.0) if min(values) >= 0 else low), mean + reach


def tolerance_factor(count: int) -> float:
    """Howe's k of a two-sided tolerance interval for `count` normal values."""
    normal, free = statistics.NormalDist(), count - 1
    share = normal.inv_cdf((1 + COVERED) / 2)
    # Wilson and Hilferty's chi-square quantile, within 2 % from 4 degrees of freedom on
    chi = free * (1 - 2 / (9 * free) + normal.inv_cdf(1 - SURE) * math.sqrt(2 / (9 * free))) ** 3
    return share * math.sqrt(free * (1 + 1 / count) / chi)


def outward(low: float, high: float) -> tuple[float, float]:
    """The same range with ends of three digits, rounded away from its middle."""
    return _rounded(low, math.floor), _rounded(high, math.ceil)


def _rounded(value: float, to: Callable[[float], int]) -> float:
    if not value:
        return 0.0
    step = 10.0 ** (math.floor(math.log10(abs(value))) - 2)
    return float(f"{to(value / step) * step:.3g}")
