# SPDX-License-Identifier: BSD-3-Clause
"""Statistics for the judgements: intervals, the distance between two distributions, and autocorrelation."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import accumulate


def binomial_95(n: int, p: float) -> tuple[int, int]:
    """Least and greatest count of a central interval that holds at least 95 % of the binomial distribution."""
    chances = [math.comb(n, k) * p**k * (1 - p) ** (n - k) for k in range(n + 1)]
    below = list(accumulate(chances))
    return next(k for k in range(n + 1) if below[k] > 0.025), next(k for k in range(n + 1) if below[k] >= 0.975)


def binomial_near(n: int, p: float) -> tuple[float, float]:
    """The interval of three standard deviations around the share `p`: 99.7 % of all samples for large `n`."""
    wide = 3 * math.sqrt(p * (1 - p) / n)
    return p - wide, p + wide


def kolmogorov(values: Sequence[float], below: Callable[[float], float]) -> float:
    """Greatest distance of the values' distribution from `below`, the expected share of values up to its argument."""
    ordered = sorted(values)
    n = len(ordered)
    return max(
        max(abs(below(value) - place / n), abs(below(value) - (place + 1) / n)) for place, value in enumerate(ordered)
    )


def kolmogorov_limit(n: int) -> float:
    """The distance that one sample in a hundred of the expected distribution exceeds, for large `n`."""
    return 1.628 / math.sqrt(n)


def correlation(values: Sequence[float], lag: int = 1) -> float:
    """Autocorrelation at `lag`."""
    mean = math.fsum(values) / len(values)
    off = [value - mean for value in values]
    return math.fsum(a * b for a, b in zip(off, off[lag:], strict=False)) / math.fsum(a * a for a in off)
