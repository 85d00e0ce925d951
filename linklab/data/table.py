# SPDX-License-Identifier: BSD-3-Clause
"""A data set → its series at common times, as Flent's tables, derived series and some of its reducers take them.

The common times are those of the file where Flent wrote it, else those that `linklab.data.files` writes, so that Flent
computes the same numbers from the same file.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from linklab.data.grid import at_times, common_times
from linklab.measure.series import FloatArray, Series


@dataclass(frozen=True)
class Grid:
    """Series at common times, as a file of Flent's has them in `results`.

    times: `(n,)` float64, s since T0, in the file's order.
    values: by name, each `(n,)` float64; NaN for a gap.
    """

    times: FloatArray
    values: Mapping[str, FloatArray]


class SeriesTable:
    """The series of a data set at common times, `Dataset.table`; a column is computed when it is first asked for.

    times: `(n,)` float64, s since T0.
    step_s: between two of them.
    """

    def __init__(self, series: Mapping[str, Series], step: Any, grid: Grid | None) -> None:
        """Take the series, Flent's STEP_SIZE, and the file's own table if Flent wrote one."""
        given = float(step) if isinstance(step, int | float) and not isinstance(step, bool) else None
        self._series = series
        self._columns: dict[str, FloatArray] = {}
        if grid is None:
            self.times, self.step_s = common_times(series.values(), given)
        else:
            self.times, self._columns = grid.times, dict(grid.values)
            usual = float(np.median(np.diff(self.times))) if self.times.size > 1 else 1.0
            self.step_s = given if given is not None and given > 0 else usual

    def column(self, name: str) -> FloatArray:
        """The values of a series at `times`, NaN in gaps and for a series that is not there."""
        if name not in self._columns:
            series = self._series.get(name)
            missing = np.full(self.times.shape, np.nan)
            self._columns[name] = missing if series is None else at_times(series, self.times, self.step_s)
        return self._columns[name]


def smoothed(values: FloatArray, amount: int) -> FloatArray:
    """The running mean over `amount` values around each, which tables and figures share.

    Of an odd amount as many stand before the value as after it; of an even one, as in Flent, one more before it: of 4
    two before, the value, and one after. At the ends there are fewer. A gap does not count, and stays a gap. An amount
    below 2 changes nothing.
    """
    if amount < 2 or not values.size:
        return values
    start = np.arange(values.size) - amount // 2
    end = np.minimum(start + amount, values.size)
    start = np.maximum(start, 0)
    gaps = np.isnan(values)
    if not gaps.any():  # most have none, and long ones are drawn at once
        return np.asarray(_sums(values, start, end) / (end - start))
    inside = _sums(~gaps, start, end)
    sums = _sums(np.where(gaps, 0.0, values), start, end)
    return np.asarray(np.divide(sums, inside, out=np.full(values.shape, np.nan), where=~gaps))


def _sums(values: np.ndarray[Any, Any], start: np.ndarray[Any, Any], end: np.ndarray[Any, Any]) -> FloatArray:
    """The sum of each range of the values."""
    total = np.concatenate(([0.0], np.cumsum(values, dtype=np.float64)))
    return np.asarray(total[end] - total[start])
