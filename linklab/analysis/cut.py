# SPDX-License-Identifier: BSD-3-Clause
"""Which values of a series count: all, or those within a cutoff, by Flent's rules to the last sample."""

from __future__ import annotations

import numpy as np

from linklab.data import Dataset
from linklab.data.times import EPOCH, seconds_of
from linklab.measure import Series
from linklab.measure.series import FloatArray

Cutoff = tuple[float, float]
"""Seconds since the beginning, from and to; an end of 0 or less counts from the end of the test."""


def bounds(data: Dataset, cutoff: Cutoff) -> Cutoff:
    """The cutoff with an end that counts from the beginning."""
    start, end = cutoff
    return start, end if end > 0 else end + total_s(data)


def total_s(data: Dataset) -> float:
    """How long the test lasted: TOTAL_LENGTH, else the last of the common times; 0 where there is none."""
    told = data.flent.get("TOTAL_LENGTH")
    if isinstance(told, int | float) and not isinstance(told, bool):
        return float(told)
    times = data.table.times
    return float(times.max()) if times.size else 0.0


def inside(data: Dataset, series: Series, cutoff: Cutoff | None) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Which samples of a series count.

    Those after the start and before the end, both exclusive. A series that a file of Flent's has in its table only is
    cut as the table is.
    """
    if cutoff is None:
        return np.ones(len(series), dtype=np.bool_)
    if data.grid is not None and np.array_equal(series.time_s, data.grid.times):
        return inside_table(data, cutoff)
    start, end = bounds(data, cutoff)
    # the file holds moments since 1970, whose rounding decides about a sample at the very edge
    t0_s = seconds_of(data.flent.get("T0") or data.flent.get("TIME") or EPOCH)
    moment = t0_s + series.time_s
    after = moment > t0_s + start if start else moment > t0_s - 1
    found: np.ndarray[tuple[int], np.dtype[np.bool_]] = after & (moment < t0_s + end)
    return found


def samples(data: Dataset, name: str, cutoff: Cutoff | None = None, *, gaps: bool = False) -> FloatArray:
    """The values of a series within the cutoff; gaps are NaN, or left out."""
    series = data.series[name]
    values = series.value[inside(data, series, cutoff)]
    return values if gaps else values[~np.isnan(values)]


def table_values(data: Dataset, name: str, cutoff: Cutoff | None = None) -> FloatArray:
    """The values of a series at the common times within the cutoff; NaN in gaps."""
    return data.table.column(name)[inside_table(data, cutoff)]


def inside_table(data: Dataset, cutoff: Cutoff | None) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Which of the common times count; both ends are inclusive and count from the first of them."""
    times = data.table.times
    if cutoff is None or not times.size:
        return np.ones(times.size, dtype=np.bool_)
    start, end = bounds(data, cutoff)
    first = float(times.min())
    found: np.ndarray[tuple[int], np.dtype[np.bool_]] = (times >= start + first) & (times <= end + first)
    return found
