# SPDX-License-Identifier: BSD-3-Clause
"""Readings of all interfaces (`linklab.agent.meter`) → rate and queue of each link over the last while; pure.

A port's received bytes went one way of its link, its sent bytes the other.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

KEPT = 48
QUIET_BPS = 2000.0
"""Below this a link is at rest: what neighbour discovery and ARP send by themselves."""


@dataclass(frozen=True)
class Reading:
    """A link over one period: bit/s both ways together, the larger of both, bytes queued at both ends."""

    time_s: float
    rate_bps: float
    queue_bytes: int


@dataclass
class Meter:
    """The last readings of every link."""

    readings: dict[int, deque[Reading]] = field(default_factory=dict)
    _last: Mapping[str, Any] | None = None

    def add(self, sample: Mapping[str, Any], ends: Sequence[tuple[str, str]]) -> None:
        """Take a sample of all interfaces; `ends` are the interfaces of each link."""
        last, self._last = self._last, sample
        if last is None or sample["t"] <= last["t"]:
            return
        period_s = sample["t"] - last["t"]
        for i, pair in enumerate(ends):
            seen = [name for name in pair if name in sample["i"] and name in last["i"]]
            if not seen:
                continue
            now, before = sample["i"][seen[0]], last["i"][seen[0]]
            bits = max(now[0] - before[0], now[1] - before[1]) * 8
            queued = sum(sample["i"][name][2] for name in seen)
            self.readings.setdefault(i, deque(maxlen=KEPT)).append(Reading(sample["t"], bits / period_s, queued))

    def busy(self) -> dict[int, deque[Reading]]:
        """Links that carried something within what is kept."""
        return {
            i: kept for i, kept in self.readings.items() if any(r.rate_bps > QUIET_BPS or r.queue_bytes for r in kept)
        }


def short_rate(rate_bps: float) -> str:
    """For a small label: "9.4 Gb/s", "120 kb/s"."""
    for unit, scale in (("Gb/s", 1e9), ("Mb/s", 1e6), ("kb/s", 1e3)):
        if rate_bps >= scale:
            value = rate_bps / scale
            return f"{value:.0f} {unit}" if value >= 99.5 else f"{value:.1f} {unit}"
    return f"{rate_bps:.0f} b/s"


def short_bytes(count: int) -> str:
    """For a small label: "2.5 MB", "0 B"."""
    for unit, scale in (("MB", 1e6), ("kB", 1e3)):
        if count >= scale:
            value = count / scale
            return f"{value:.0f} {unit}" if value >= 99.5 else f"{value:.1f} {unit}"
    return f"{count} B"


def polyline(values: Sequence[float], x: float, y: float, wide: float, high: float) -> list[float]:
    """Coordinates of a trace in a box whose lower left corner is (x, y); the largest value reaches the top."""
    top = max(*values, 1e-9)
    step = wide / max(KEPT - 1, 1)
    first = x + wide - step * (len(values) - 1)
    return [c for i, value in enumerate(values) for c in (first + i * step, y - value / top * high)]
