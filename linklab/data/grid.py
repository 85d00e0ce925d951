# SPDX-License-Identifier: BSD-3-Clause
"""Series at their own times → values at common times, as Flent's plots and tables expect them.

The common times are for other programs; whatever computes takes the series themselves.
"""

from __future__ import annotations

import math
from collections.abc import Collection

import numpy as np

from linklab.measure import Series
from linklab.measure.series import FloatArray

MOST_POINTS = 2000
"""Points of a grid whose step nobody gave."""

MOST_GIVEN = 100_000
"""The same where the step is given; a step that would make more is not used."""

FAR_STEPS = 5
"""A grid point between two samples that lie further apart than this many steps is a gap, as in Flent."""


def common_times(series: Collection[Series], step_s: float | None = None) -> tuple[FloatArray, float]:
    """The grid for these series, and its step.

    Args:
        series: any number of them, empty ones too.
        step_s: the step to use; where it is None, or too fine for their span, it is the shortest median interval of a
            series, rounded up to 1, 2 or 5 of a decimal unit.

    Returns:
        `(n,)` float64, s, whole multiples of the step, to the last sample from 0, as in Flent, or from the first sample
        where that is negative or later than the series are long; and the step, s.
        Without samples, or where they span more than 1e12 s, no times and a step of 1 s.
    """
    spans = [(float(one.time_s[0]), float(one.time_s[-1])) for one in series if len(one)]
    first, last = min((span[0] for span in spans), default=0.0), max((span[1] for span in spans), default=-1.0)
    if not spans or max(abs(first), abs(last)) > 1e12:
        return np.empty(0), 1.0
    if step_s is None or not 0 < step_s < math.inf or (last - first) / step_s > MOST_GIVEN:
        intervals = [interval for interval in map(_interval_s, series) if interval > 0]
        step_s = _round_up(max(min(intervals, default=0.0), (last - first) / MOST_POINTS, 1e-6))
    if 0 < first <= last - first:
        first = 0.0
    if max(abs(first), abs(last)) / step_s > 2**52:
        return np.empty(0), 1.0
    return np.arange(math.floor(first / step_s), math.ceil(last / step_s) + 1) * step_s, step_s


def at_times(series: Series, times: FloatArray, step_s: float) -> FloatArray:
    """The series at `times`: between two samples on the line through them, NaN outside and in gaps.

    A gap is a NaN beside the time, or two samples that are further apart than FAR_STEPS of the grid's steps and of the
    usual interval of the series.
    """
    if not len(series) or not times.size:
        return np.full(times.shape, np.nan)
    right = np.clip(np.searchsorted(series.time_s, times, side="left"), 0, len(series) - 1)
    exact = series.time_s[right] == times
    left = np.where(exact, right, np.maximum(right - 1, 0))
    start, end = series.time_s[left], series.time_s[right]
    length = end - start
    inside = (start <= times) & (times <= end)
    near = inside & (length <= FAR_STEPS * max(step_s, _interval_s(series)))
    share = np.divide(times - start, length, out=np.zeros(times.shape), where=length > 0)
    value = series.value[left] * (1 - share) + series.value[right] * share
    return np.where(near, value, np.nan)


def _interval_s(series: Series) -> float:
    """The median time between samples, s; 0 where there are fewer than two."""
    return float(np.median(np.diff(series.time_s))) if len(series) > 1 else 0.0


def _round_up(step_s: float) -> float:
    unit = 10.0 ** math.floor(math.log10(step_s))
    return next((unit * factor for factor in (1, 2, 5) if unit * factor >= step_s * 0.999), unit * 10)
