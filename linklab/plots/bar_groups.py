# SPDX-License-Identifier: BSD-3-Clause
"""What a plot of grouped bars shows, as data: values with intervals, series, axes. `grouped_bars.py` draws it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Bar:
    """A value, and the ends of its interval; NaN where no interval is known."""

    value: float
    low: float = math.nan
    high: float = math.nan

    @property
    def ends(self) -> list[float]:
        """The value and the ends that are known."""
        return [end for end in (self.value, self.low, self.high) if not math.isnan(end)]


@dataclass(frozen=True)
class BarSeries:
    """Bars of one colour, one a group, and for each column of the second axis a mark a group; None is not known."""

    name: str
    bars: Sequence[Bar | None]
    marks: Sequence[Sequence[Bar | None]] = ()


@dataclass(frozen=True)
class BarAxis:
    """A vertical axis.

    minimum: where it begins; None for 0, or for what shows the values best on the second axis.
    """

    label: str
    minimum: float | None = None
    log: bool = False


@dataclass(frozen=True)
class GroupedBars:
    """What is drawn.

    title: its lines.
    groups: name and place of each on the horizontal axis, in rising order.
    right: the axis of the marks; None if there are none.
    marks: what each column of the second axis is called.
    change: what is written at the other bars of a group: their difference from its first bar in percent, or the ratio.
    upright: whether these words stand upright.
    background: grey of the axes from 0, black, to 1; None for white.
    note: what to know to read it.
    """

    title: Sequence[str]
    x_label: str
    groups: Sequence[tuple[str, float]]
    series: Sequence[BarSeries]
    left: BarAxis
    right: BarAxis | None = None
    marks: Sequence[str] = ()
    series_title: str = ""
    same_axes: bool = False
    change: str = ""
    upright: bool = False
    background: float | None = None
    size_in: tuple[float, float] = (7.5, 3.75)
    style: str = "screen"
    note: str = ""
