# SPDX-License-Identifier: BSD-3-Clause
"""What a view that is not in this process is told of a history: JSON objects with what is new since the last one.

"series"  [{key, panel, of, label, dashed, number, minor}]: all tracks, when one came or went; a minor one is not
shown before somebody asks for it
"panels"  [{name, words, unit}]: with the first "series"
"levels"  [{panel, of, label, value, number}]: all of them, when one is another
"points"  {key: {"from": number of the first point, "whole": bool, "t": [s], "v": [value or null]}}: in place of any
from that number on, or of all ("whole")
"now"     network time of the last reading, s; null before the first
"state"   "reading", "waiting" (for time to go on), or "ended" with "why"
"""

from __future__ import annotations

import math
from dataclasses import asdict
from typing import Any

from linklab.live.feed import LiveFeed
from linklab.live.tracks import PANELS, Points

LEVELS_EVERY = 5
"""A BDP moves with the smallest round-trip time, so levels are looked at again every fifth time."""


class LiveMessages:
    """What one view has been told."""

    def __init__(self, feed: LiveFeed) -> None:
        self.feed = feed
        self._version = self._changes = -1
        self._told: dict[str, tuple[int, float]] = {}
        self._levels: list[dict[str, Any]] = []
        self._state: dict[str, Any] = {}
        self._times = 0

    def next(self) -> dict[str, Any] | None:
        """What is new; None if nothing is."""
        found: dict[str, Any] = {}
        state = self.state()
        if state != self._state:
            self._state = state
            found |= state
        history = self.feed.history
        with history.lock:
            if history.version != self._version:
                self._version = history.version
                found["now"] = history.time_s if math.isfinite(history.time_s) else None
                self._add_series(found)
                self._add_levels(found)
                self._add_points(found)
        return found or None

    def state(self) -> dict[str, Any]:
        """Whether readings come."""
        if not self.feed.is_reading:
            return {"state": "ended", "why": self.feed.why} if self.feed.why else {"state": "waiting"}
        return {"state": "reading" if math.isfinite(self.feed.history.time_s) else "waiting"}

    def _add_series(self, found: dict[str, Any]) -> None:
        history = self.feed.history
        if history.changes == self._changes:
            return
        if self._changes < 0:
            found["panels"] = [asdict(panel) for panel in PANELS.values()]
        self._changes = history.changes
        self._times = 0
        found["series"] = [
            asdict(series) | {"number": history.number_of(series.of), "minor": history.is_minor(series)}
            for series in (track.series for track in history.tracks.values())
        ]
        self._told = {key: told for key, told in self._told.items() if key in history.tracks}

    def _add_levels(self, found: dict[str, Any]) -> None:
        if self._times % LEVELS_EVERY == 0:
            history = self.feed.history
            levels = [asdict(level) | {"number": history.number_of(level.of)} for level in history.levels()]
            if levels != self._levels:
                self._levels = found["levels"] = levels
        self._times += 1

    def _add_points(self, found: dict[str, Any]) -> None:
        points = {}
        for key, track in self.feed.history.tracks.items():
            last = track.last
            if last is None:
                continue
            told = (track.count, last[0])
            before = self._told.get(key)
            if told != before:
                points[key] = _points(track.since(before[0] if before is not None else 0))
                self._told[key] = told
        if points:
            found["points"] = points


def _points(new: Points) -> dict[str, Any]:
    values = [None if math.isnan(value) else value for value in new.value.tolist()]
    return {"from": new.start, "whole": new.whole, "t": [round(t, 6) for t in new.time_s.tolist()], "v": values}
