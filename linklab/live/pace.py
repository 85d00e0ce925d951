# SPDX-License-Identifier: BSD-3-Clause
"""How far apart in network time readings are, so that ten come in a second of wall time whatever the clock does."""

from __future__ import annotations

import math

READINGS_PER_S = 10.0
STEP_S = 0.001
"""Between readings while time is paused, of which the next order may be a step of 10 ms."""
WAY_S = 0.25
"""At most, on the way to a time that was asked for, where everything passes before one can look."""
SHORTEST_S, LONGEST_S = 0.0005, 60.0
LOOK_S = 1.0
"""Wall seconds over which the clock's real speed is measured, which may be lower than the speed asked for."""
DIFFERS = 1.4
"""A period is changed if it should be larger or smaller by this factor."""


class LivePace:
    """The period now, from what the clock is told and from what it does; wall times are `time.monotonic`'s."""

    def __init__(self) -> None:
        self.period_s = 1 / READINGS_PER_S
        self._paused = False
        self._on_way = False
        self._from: tuple[float, float] | None = None

    def clock(self, *, paused: bool, on_way: bool, speed: float | None) -> bool:
        """Take an order to the clock; whether the period is another now. speed: None for as fast as it goes."""
        self._paused, self._on_way, self._from = paused, on_way, None
        if on_way:
            return self._set(self.period_s)
        if paused:
            return self._set(STEP_S)
        return self._set((1.0 if speed is None else speed) / READINGS_PER_S)

    def reading(self, time_s: float, wall_s: float) -> bool:
        """Take the time of a reading and when it came; whether the period is another now."""
        if self._from is None or time_s < self._from[0]:
            self._from = (time_s, wall_s)
            return False
        went_s, took_s = time_s - self._from[0], wall_s - self._from[1]
        if took_s < LOOK_S:
            return False
        self._from = (time_s, wall_s)
        if self._paused and not self._on_way:
            return False
        return self._set(went_s / took_s / READINGS_PER_S)

    def _set(self, period_s: float) -> bool:
        most_s = WAY_S if self._on_way else LONGEST_S
        wanted = min(max(period_s, SHORTEST_S), most_s)
        if abs(math.log(wanted / self.period_s)) < math.log(DIFFERS):
            return False
        self.period_s = wanted
        return True
