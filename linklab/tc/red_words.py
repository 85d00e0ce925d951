# SPDX-License-Identifier: BSD-3-Clause
"""RED as the kernel keeps it → the words that make tc compute the same.

The kernel keeps logarithms (weight, slope of the probability, cell of the idle time); tc takes a burst, an average
packet, a bandwidth and a probability, and computes them (iproute2, tc/tc_red.c).  This finds words that give the same.
How fast the average falls while the queue is idle is kept by the kernel as a table that it does not tell: it is
repeated within a factor of two.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from linklab.errors import StateError

PACKETS = (1000, 1514, 500, 250, 3000, 12_000, 68_000, 100, 1)
"""Average packets to try, bytes."""
TYPICAL = 0.02
"""tc's probability where nothing is said."""


def weight_log(low: int, burst: int, packet: int) -> int | None:
    """`tc_red_eval_ewma`: the Wlog that tc computes of a minimum (bytes), a burst (packets) and an average packet."""
    over = burst + 1 - low / packet
    if over < 1:
        return None
    for log in range(1, 32):
        weight = 2.0**-log
        if over <= (1 - (1 - weight) ** burst) / weight:
            return log
    return None


def slope_log(low: int, high: int, probability: float) -> int | None:
    """`tc_red_eval_P`: the Plog that tc computes."""
    if high <= low:
        return None
    slope = probability / (high - low)
    return next((log for log in range(32) if slope * 2.0**log > 1), None)


def cell_log(log: int, packet: int, rate: int) -> int | None:
    """`tc_red_eval_idle_damping`: the Scell_log that tc computes of a rate in bytes/s."""
    tick = int(int(10**6 * (packet / rate)) * 15.625)
    if not tick:
        return None
    longest = 31 / (-math.log(1 - 2.0**-log) / tick)
    return next((cell for cell in range(32) if longest / 2**cell < 512), None)


def words(options: Mapping[str, Any]) -> list[str]:
    """The words after `red`, without its flags.

    Raises:
        StateError: nothing that tc takes gives this.
    """
    low, high = options["min"], options["max"]
    probability = options.get("probability")
    if probability is None:
        probability = _probability(low, high, options["plog"])
    found = _burst(low, options["wlog"], options["cell_log"])
    if found is None or probability is None:
        raise StateError("a red of this weight cannot be said in words of tc")
    packet, burst, rate = found
    limits = f"limit {options['limit']} min {low} max {high}"
    return f"{limits} avpkt {packet} burst {burst} bandwidth {rate * 8}bit probability {probability:.9f}".split()


def _probability(low: int, high: int, log: int) -> float | None:
    """One that gives the slope: the typical one if it does."""
    middle = (high - low) / 2.0**log * 1.5
    return next((share for share in (TYPICAL, middle) if 0 < share <= 1 and slope_log(low, high, share) == log), None)


def _burst(low: int, log: int, cell: int) -> tuple[int, int, int] | None:
    """Average packet, burst and rate (bytes/s)."""
    for packet in PACKETS:
        first = max(math.ceil(low / packet), 1)
        short, long = first, first * 4 + 2**18
        while short < long:  # the weight grows with the burst: find the first burst that gives this one
            middle = (short + long) // 2
            if (weight_log(low, middle, packet) or 0) < log:
                short = middle + 1
            else:
                long = middle
        if weight_log(low, short, packet) == log and (rate := _rate(log, packet, cell)):
            return packet, short, rate
    return None


def _rate(log: int, packet: int, cell: int) -> int | None:
    """A rate whose idle cell is `cell`: the geometric middle of those that are."""
    longest = 31 / -math.log(1 - 2.0**-log)
    tick = 2**cell * 256 * 2**0.5 / longest if cell else 128 / longest
    for time in (tick, tick * 1.3, tick / 1.3, tick * 2, tick / 2):
        rate = round(packet / (time * 64e-9))
        if 0 < rate < 2**32 and cell_log(log, packet, rate) == cell:
            return rate
    return None
