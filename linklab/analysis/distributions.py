# SPDX-License-Identifier: BSD-3-Clause
"""Student's t, F and the binomial distribution, to about twelve digits, without a library beyond the standard one."""

from __future__ import annotations

import math
from statistics import NormalDist

_SMALL = 1e-300
_CLOSE = 1e-15
_MOST_TERMS = 10_000


def t_quantile(probability: float, freedom: float) -> float:
    """The value that Student's t with this many degrees of freedom stays below with this probability.

    Args:
        probability: between 0 and 1, both exclusive.
        freedom: > 0; infinite for the normal distribution.

    Raises:
        ValueError: outside these.

    Source: the distribution function by the incomplete beta function (Abramowitz and Stegun 26.7.1, 26.5.27), inverted
    by bisection; the usual tables, such as NIST's e-Handbook 1.3.6.7.2, agree.
    """
    if not (0 < probability < 1 and freedom > 0):
        raise ValueError(f"t at {probability} with {freedom} degrees of freedom: need 0 < probability < 1, freedom > 0")
    if math.isinf(freedom):
        return NormalDist().inv_cdf(probability)
    if probability < 0.5:
        return -t_quantile(1 - probability, freedom)
    tail = 1 - probability
    low, high = 0.0, 1.0
    while t_tail(high, freedom) > tail:
        low, high = high, 2 * high
    while high - low > 4e-16 * high:
        middle = (low + high) / 2
        if middle in (low, high):
            break
        low, high = (middle, high) if t_tail(middle, freedom) > tail else (low, middle)
    return (low + high) / 2


def t_tail(value: float, freedom: float) -> float:
    """The probability that Student's t is above a value >= 0."""
    return beta_share(freedom / (freedom + value * value), freedom / 2, 0.5) / 2


def f_tail(ratio: float, over: float, under: float) -> float:
    """The probability that F is above a ratio >= 0, with these degrees of freedom above and below the line."""
    if math.isinf(ratio):
        return 0.0
    return beta_share(under / (under + over * ratio), under / 2, over / 2)


def binomial_below(most: int, trials: int) -> float:
    """The probability that a fair coin shows heads at most `most` times in so many trials."""
    return sum(math.comb(trials, heads) for heads in range(most + 1)) / (1 << trials)


def beta_share(x: float, a: float, b: float) -> float:
    """The regularised incomplete beta function I_x(a, b), 0 to 1, for 0 <= x <= 1 and a, b > 0.

    Source: its continued fraction (Abramowitz and Stegun 26.5.8), by Lentz's method.
    """
    if x <= 0 or x >= 1:
        return 0.0 if x <= 0 else 1.0
    if x > (a + 1) / (a + b + 2):  # where the fraction of the other tail converges faster
        return 1 - beta_share(1 - x, b, a)
    front = math.exp(
        math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x)
    )  # fmt: skip
    return front * _fraction(x, a, b) / a


def _fraction(x: float, a: float, b: float) -> float:
    c, d = 1.0, 1 / _away(1 - (a + b) * x / (a + 1))
    found = d
    for m in range(1, _MOST_TERMS):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        for term in (even, odd):
            d = 1 / _away(1 + term * d)
            c = _away(1 + term / c)
            found *= c * d
        if abs(c * d - 1) < _CLOSE:
            break
    return found


def _away(value: float) -> float:
    """The value, kept away from 0."""
    return value if abs(value) > _SMALL else _SMALL
