# SPDX-License-Identifier: BSD-3-Clause
"""Readings of all interfaces (`linklab.agent.meter`) → rate, queue and state of each link, for the picture. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from linklab.topology import Topology

DOWN, NO_CARRIER = 0, 1
RECEIVED, SENT, QUEUED, STATE = 0, 1, 2, 6
"""Places in what the meter says of an interface."""


class LinkWatch:
    """The links of one drawing.

    Args:
        ends: the two interfaces of each link.
    """

    def __init__(self, ends: Sequence[tuple[str, str]]) -> None:
        self.ends = ends
        self._last: Mapping[str, Any] | None = None

    def add(self, sample: Mapping[str, Any]) -> list[dict[str, Any]]:
        """Take a reading; for each link: up, its rates from first to second end and back, bytes queued at each end.

        A rate or a queue is None where nothing is known: before the second reading, or at an end that is not seen.
        """
        last, self._last = self._last, sample
        period_s = sample["t"] - last["t"] if last is not None else 0.0
        before = last["i"] if last is not None and period_s > 0 else {}
        return [self._link(pair, sample["i"], before, period_s) for pair in self.ends]

    def _link(
        self, pair: tuple[str, str], now: Mapping[str, Any], before: Mapping[str, Any], period_s: float
    ) -> dict[str, Any]:
        def rate(here: str, there: str) -> float | None:
            """Counted where it goes out, or else where it comes in."""
            for name, counter in ((here, SENT), (there, RECEIVED)):
                if name in now and name in before:
                    return max(0.0, float(now[name][counter] - before[name][counter]) * 8 / period_s)
            return None

        first, second = pair
        states = [now[name][STATE] for name in pair if name in now and len(now[name]) > STATE]
        return {
            "up": not any(state in (DOWN, NO_CARRIER) for state in states),
            "rates": [rate(first, second), rate(second, first)],
            "queues": [now[name][QUEUED] if name in now else None for name in pair],
        }


def meter_nodes(topology: Topology) -> list[str]:
    """Return the nodes that the meter has to look into: of each link without an end in the root namespace one."""
    at_root = {switch.name for switch in topology.switches if switch.type != "legacyRouter"}
    return list(dict.fromkeys(link.src for link in topology.links if not {link.src, link.dest} & at_root))
