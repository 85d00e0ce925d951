# SPDX-License-Identifier: BSD-3-Clause
"""Statistics that the judgements need: intervals, and the distance of two distributions."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import accumulate


def binomial_95(n: int, p: float) -> tuple[int, int]:
    """Least and greatest count that lie within the middle 95 % of the binomial distribution, or just outside."""
    chances = [math.comb(n, k) * p**k * (1 - p) ** (n - k) for k in range(n + 1)]
    below = list(accumulate(chances))
    return next(k for k in range(n + 1) if below[k] > 0.025), next(k for k in range(n + 1) if below[k] >= 0.975)


def binomial_near(n: int, p: float) -> tuple[float, float]:
    """The shares within 3 standard deviations of `p` for large `n`: 99.7 %."""
    wide = 3 * math.sqrt(p * (1 - p) / n)
    return p - wide, p + wide


def kolmogorov(values: Sequence[float], below: Callable[[float], float]) -> float:
    """Greatest distance of the values' distribution from `below`, the share expected at most as great as a value."""
    ordered = sorted(values)
    n = len(ordered)
    return max(
        max(abs(below(value) - place / n), abs(below(value) - (place + 1) / n)) for place, value in enumerate(ordered)
    )


def kolmogorov_limit(n: int) -> float:
    """What `kolmogorov` exceeds in one of a hundred samples of that distribution (large n)."""
    return 1.628 / math.sqrt(n)


def correlation(values: Sequence[float], lag: int = 1) -> float:
    """Autocorrelation at `lag`."""
    mean = math.fsum(values) / len(values)
    off = [value - mean for value in values]
    return math.fsum(a * b for a, b in zip(off, off[lag:], strict=False)) / math.fsum(a * a for a in off)
