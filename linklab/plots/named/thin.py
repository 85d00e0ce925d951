# SPDX-License-Identifier: BSD-3-Clause
"""A line of many points → as many as a screen shows: the least and the greatest value of each column of pixels."""

from __future__ import annotations

import numpy as np

from linklab.measure.series import FloatArray


def thinned(
    time_s: FloatArray, value: FloatArray, columns: int, span: tuple[float, float] | None = None
) -> tuple[FloatArray, FloatArray]:
    """The line as `columns` columns of pixels show it between the times of `span`, or in whole.

    A line of at most two points a column is returned as it is. Else each column that has samples keeps its least and
    greatest value, at the times of its first and last sample; one that has gaps only (NaN) is a gap. Times must not
    decrease.
    """
    if span is not None and time_s.size > 2 * columns:
        # one sample beyond each edge, so that the line leaves the axes
        first = max(int(np.searchsorted(time_s, span[0])) - 1, 0)
        last = int(np.searchsorted(time_s, span[1], side="right")) + 1
        time_s, value = time_s[first:last], value[first:last]
    if time_s.size <= 2 * columns:
        return time_s, value
    edges = np.linspace(time_s[0], time_s[-1], columns + 1)[:-1]
    starts = np.unique(np.searchsorted(time_s, edges))
    ends = np.append(starts[1:], time_s.size) - 1
    with np.errstate(invalid="ignore"):
        if np.isnan(np.min(value)):
            low, high = np.fmin.reduceat(value, starts), np.fmax.reduceat(value, starts)
        else:
            low, high = np.minimum.reduceat(value, starts), np.maximum.reduceat(value, starts)
        falling = value[starts] > value[ends]
    times, values = np.empty(2 * starts.size), np.empty(2 * starts.size)
    times[::2], times[1::2] = time_s[starts], time_s[ends]
    values[::2], values[1::2] = np.where(falling, high, low), np.where(falling, low, high)
    return times, values
