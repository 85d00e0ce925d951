# SPDX-License-Identifier: BSD-3-Clause
"""What repetitions say: means and medians with intervals, the bootstrap, how many outcomes are distinct.

The values are one number a repetition, such as the mean throughput of each run. Samples within one run depend on each
other, so no interval here may be taken over them.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from linklab.analysis.distributions import binomial_below, t_quantile
from linklab.data import Dataset
from linklab.measure.series import FloatArray

LEVEL = 0.95
RESAMPLES = 10_000

_LEAST = 2
"""Repetitions from which on a spread is known."""


@dataclass(frozen=True)
class Interval:
    """An estimate with the interval that covers the true value in `level` of all such experiments.

    value, low, high: in the unit of the values; NaN where there are too few.
    n: repetitions that have a value.
    """

    value: float
    low: float
    high: float
    n: int
    level: float = LEVEL

    @property
    def half(self) -> float:
        """Half the width."""
        return (self.high - self.low) / 2

    @property
    def relative(self) -> float:
        """Half the width as a share of the value: 0.02 is "within 2 %"; NaN where it is not known."""
        if math.isnan(self.half):
            return math.nan
        if self.half == 0:
            return 0.0
        return self.half / abs(self.value) if self.value else math.inf


def interval(values: Sequence[float] | FloatArray, level: float = LEVEL) -> Interval:
    """The mean of repetitions with its interval, by Student's t.

    Args:
        values: one a repetition; NaN is one that gave none.
        level: between 0 and 1.

    Returns:
        mean ± t · s / √n, with s the standard deviation of a sample (n - 1) and t the quantile at (1 + level) / 2 with
        n - 1 degrees of freedom. With one repetition the ends are NaN; with none, so is the value.
        It is exact for normal values; means of runs are close to that.

    Raises:
        ValueError: a level that is not between 0 and 1.

    Source: Student, Biometrika 6 (1908); Jain, The Art of Computer Systems Performance Analysis, 13.2.
    """
    known = _known(values, level)
    if not known.size:
        return Interval(math.nan, math.nan, math.nan, 0, level)
    mean = float(known.mean())
    if known.size < _LEAST:
        return Interval(mean, math.nan, math.nan, 1, level)
    spread = 0.0 if (known == known[0]).all() else float(known.std(ddof=1))
    half = t_quantile((1 + level) / 2, known.size - 1) * spread / math.sqrt(known.size)
    return Interval(mean, mean - half, mean + half, int(known.size), level)


def median_interval(values: Sequence[float] | FloatArray, level: float = LEVEL) -> Interval:
    """The median of repetitions with an interval that supposes nothing of their distribution.

    Returns:
        The ends are the k-th least and k-th largest value, with the largest k that covers the median with at least
        `level`: of 10 values the second and the ninth, 97.9 %. Fewer than 6 cannot do it at 95 %, and the ends are NaN.
        `level` of the result is the share that is really covered.

    Raises:
        ValueError: a level that is not between 0 and 1.

    Source: Conover, Practical Nonparametric Statistics, 3.2 (the sign test turned round).
    """
    known = np.sort(_known(values, level))
    median = float(np.median(known)) if known.size else math.nan
    count = int(known.size)
    rank = 0
    while 2 * (rank + 1) <= count and 1 - 2 * binomial_below(rank, count) >= level:
        rank += 1
    if rank == 0:
        return Interval(median, math.nan, math.nan, count, level)
    covered = 1 - 2 * binomial_below(rank - 1, count)
    return Interval(median, float(known[rank - 1]), float(known[-rank]), count, covered)


def bootstrap(
    values: Sequence[float] | FloatArray,
    of: Callable[[FloatArray], float],
    *,
    seed: int,
    level: float = LEVEL,
    resamples: int = RESAMPLES,
) -> Interval:
    """A statistic of repetitions with its bootstrap interval, by percentiles; the same seed gives the same interval.

    Args:
        values: one a repetition; NaN is one that gave none.
        of: the statistic, such as `np.median`, of values without gaps.
        seed: of the resampling, >= 0.
        level: between 0 and 1.
        resamples: how often as many values are drawn with replacement.

    Returns:
        The ends are NaN of fewer than two repetitions. With few of them the interval is too narrow: of ten it covers
        rather 90 % than 95 %.

    Raises:
        ValueError: a level that is not between 0 and 1.

    Source: Efron and Tibshirani, An Introduction to the Bootstrap, 13.3.
    """
    known = _known(values, level)
    if known.size < _LEAST:
        value = float(of(known)) if known.size else math.nan
        return Interval(value, math.nan, math.nan, int(known.size), level)
    # plain doubles, since only they are the same in every version of NumPy
    chance = np.random.Generator(np.random.PCG64(seed))
    drawn = [known[(chance.random(known.size) * known.size).astype(int)] for _ in range(resamples)]
    found = np.array([of(one) for one in drawn], dtype=np.float64)
    low, high = np.percentile(found, [50 * (1 - level), 50 * (1 + level)])
    return Interval(float(of(known)), float(low), float(high), int(known.size), level)


def distinct(values: Sequence[object]) -> int:
    """How many values differ; NaN equals NaN."""
    return len({"nan" if isinstance(value, float) and math.isnan(value) else value for value in values})


def fingerprint(data: Dataset) -> str:
    """What a data set measured, as a digest: two runs with the same outcome have the same.

    Counted are names, times, values and units of all series and scalars; not titles, seeds, dates and the like.
    """
    digest = hashlib.sha256()
    for name in sorted(data.series):
        series = data.series[name]
        value = np.where(np.isnan(series.value), np.nan, series.value) + 0.0  # one kind of NaN and of 0
        digest.update(f"{len(name)} {name} {series.unit} {len(series)} ".encode())
        digest.update(series.time_s.tobytes() + value.tobytes())
    for name in sorted(data.scalars):
        digest.update(f"{len(name)} {name} {data.scalars[name]} {data.scalars[name].value!r} ".encode())
    return digest.hexdigest()


def _known(values: Sequence[float] | FloatArray, level: float) -> FloatArray:
    if not 0 < level < 1:
        raise ValueError(f"an interval of {level}: the level must be between 0 and 1")
    found = np.asarray(values, dtype=np.float64)
    return found[~np.isnan(found)]
