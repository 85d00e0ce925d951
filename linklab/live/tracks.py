# SPDX-License-Identifier: BSD-3-Clause
"""One quantity over network time: a track that grows, stays bounded, and tells what is new since somebody looked."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from linklab.measure.series import FloatArray

MOST_POINTS = 6000
"""Ten minutes at ten readings a second; after that the older half keeps every other point, and so on."""
GROUP = 4
"""Points of which two are kept: the smallest and the largest, so that no peak is lost."""


@dataclass(frozen=True)
class LivePanel:
    """A pair of axes: its name, what stands beside it, and the unit of its tracks."""

    name: str
    words: str
    unit: str


PANELS = {
    panel.name: panel
    for panel in (
        LivePanel("rate", "Rate", "bit/s"),
        LivePanel("queue", "Queue", "bytes"),
        LivePanel("packets", "Queued packets", "packets"),
        LivePanel("drops", "Drops and marks", "packets"),
        LivePanel("cwnd", "Congestion window", "segments"),
        LivePanel("rtt", "Round-trip time", "s"),
        LivePanel("pacing", "Pacing rate", "bit/s"),
    )
}
"""From the top to the bottom."""


@dataclass(frozen=True)
class LiveSeries:
    """What a track shows.

    key: unique, and the same for the same thing in every view.
    of: the port or the flow that it belongs to, whose tracks have one colour in all panels.
    label: for a legend. dashed: a second quantity of the same thing in the same panel, such as ssthresh.
    """

    key: str
    panel: str
    of: str
    label: str
    dashed: bool = False

    @property
    def unit(self) -> str:
        """That of its panel."""
        return PANELS[self.panel].unit


@dataclass(frozen=True)
class Points:
    """Some points of a track.

    start: number of the first since the track began. whole: these are all there are, in place of any from before.
    time_s, value: `(n,)` float64: s of network time, and the unit of the track, NaN for a gap.
    """

    start: int
    whole: bool
    time_s: FloatArray
    value: FloatArray


@dataclass
class Track:
    """Times and values; equal values in a row are two points, the first and the last."""

    series: LiveSeries
    _time_s: FloatArray = field(default_factory=lambda: np.empty(64))
    _value: FloatArray = field(default_factory=lambda: np.empty(64))
    _length: int = 0
    count: int = 0
    """Points so far, those included that have been thinned out."""

    def add(self, time_s: float, value: float) -> None:
        """Add a point; one that is not later than the last is left out."""
        last = self._length - 1
        if last >= 0 and time_s <= self._time_s[last]:
            return
        if last >= 1 and _same(self._value[last], value) and _same(self._value[last - 1], value):
            self._time_s[last] = time_s
            return
        if self._length == MOST_POINTS:
            self._thin()
        if self._length == self._time_s.size:
            self._time_s = np.resize(self._time_s, 2 * self._length)
            self._value = np.resize(self._value, 2 * self._length)
        self._time_s[self._length], self._value[self._length] = time_s, value
        self._length += 1
        self.count += 1

    def end(self, time_s: float) -> None:
        """From here on nothing is known."""
        if self._length and not math.isnan(self._value[self._length - 1]):
            self.add(max(time_s, float(np.nextafter(self._time_s[self._length - 1], math.inf))), math.nan)

    def _thin(self) -> None:
        half = MOST_POINTS // 2 // GROUP * GROUP
        kept = np.concatenate([extremes(self._value[:half]), np.arange(half, self._length)])
        self._length = kept.size
        self._time_s[: kept.size], self._value[: kept.size] = self._time_s[kept], self._value[kept]

    @property
    def last(self) -> tuple[float, float] | None:
        """Time and value of the last point."""
        return (float(self._time_s[self._length - 1]), float(self._value[self._length - 1])) if self._length else None

    @property
    def arrays(self) -> tuple[FloatArray, FloatArray]:
        """Copies of its times and values."""
        return self._time_s[: self._length].copy(), self._value[: self._length].copy()

    def since(self, count: int) -> Points:
        """The points from number `count` - 1 on, whose time may have moved; all there are where those were thinned."""
        first = max(0, count - 1)
        skipped = first - (self.count - self._length)
        if skipped < self._length - MOST_POINTS // 2:
            return Points(self.count - self._length, True, *self.arrays)
        return Points(
            first, first == 0, self._time_s[skipped : self._length].copy(), self._value[skipped : self._length].copy()
        )


def _same(one: float, other: float) -> bool:
    return one == other or (math.isnan(one) and math.isnan(other))


def extremes(value: FloatArray) -> np.ndarray[tuple[int], np.dtype[np.intp]]:
    """Of each GROUP of values the places of the smallest and the largest, in order; a gap counts as the smallest.

    value: as many as whole groups.
    """
    groups = value.reshape(-1, GROUP)
    low = np.where(np.isnan(groups), -math.inf, groups)
    pairs = np.stack([low.argmin(axis=1), low.argmax(axis=1)], axis=1)
    same = pairs[:, 0] == pairs[:, 1]
    pairs[same] = (0, GROUP - 1)
    pairs.sort(axis=1)
    found: np.ndarray[tuple[int], np.dtype[np.intp]] = (pairs + GROUP * np.arange(len(groups))[:, None]).ravel()
    return found
