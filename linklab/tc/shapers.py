# SPDX-License-Identifier: BSD-3-Clause
"""Disciplines that hold a rate: tbf and htb with its classes.  Words: tc-tbf(8), tc-htb(8)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from linklab.tc.forms import HEXADECIMAL, NUMBER, PACKETS_32, RATE, SIZE, SIZE_32, TIME_US
from linklab.tc.kind import Drawn, Kind
from linklab.tc.option import Silent, Valued


@dataclass(frozen=True)
class Tbf(Kind):
    """Its limit may be typed as a latency, which tc turns into bytes."""

    def read(self, words: Sequence[str]) -> dict[str, Any]:
        """The options of words typed after `tbf`; a latency as the limit that tc computes of it (tc/q_tbf.c)."""
        found = super().read(words)
        latency_us = found.pop("latency_us", None)
        if latency_us is not None and "rate_bit" in found:
            limits = [_held(found["rate_bit"], latency_us, found.get("burst", 0))]
            if "peakrate_bit" in found:
                limits.append(_held(found["peakrate_bit"], latency_us, found.get("peak_burst", 0)))
            found["limit"] = min(limits)
        return found


def _held(rate_bit: int, latency_us: int, burst: int) -> int:
    return int(rate_bit // 8 * latency_us / 1e6 + burst)


_SHAPED = (Valued("overhead", "overhead", NUMBER), Valued("mpu", "mpu", NUMBER))

TBF = Tbf(
    "tbf",
    (
        Valued("rate_bit", "rate", RATE),
        Valued("burst", "burst", SIZE_32, aliases=("buffer", "maxburst")),
        Valued("limit", "limit", SIZE_32),
        Valued("latency_us", "latency", TIME_US, told=False),
        Valued("peakrate_bit", "peakrate", RATE),
        Valued("peak_burst", "mtu", SIZE_32, aliases=("minburst",)),
        *_SHAPED,
    ),
    needs=("rate_bit", "burst", "limit"),
    drawn=(
        Drawn("peakrate", "rate of the second bucket"),
        Drawn("mtu", "size of the second bucket, at least a frame"),
    ),
    module="sch_tbf",
    counts="bytes",
    rate="rate_bit",
    told=("rate_bit", "burst", "limit"),
    shown=("rate",),
)

LEAF_LIMIT = "leaf_limit"
"""Packets that the queue holds which the kernel makes for a class with nothing in it, where that is not txqueuelen.

It is the interface's txqueuelen of the moment when the queue was made: with the class, or when what was in it, or the
last class below it, was deleted (fifo_init in net/sched/sch_fifo.c, htb_delete in sch_htb.c).
"""
HTB_CLASS = Kind(
    "htb",
    (
        Valued("rate_bit", "rate", RATE),
        Valued("ceil_bit", "ceil", RATE),
        Valued("burst", "burst", SIZE, aliases=("buffer", "maxburst")),
        Valued("cburst", "cburst", SIZE, aliases=("cbuffer", "cmaxburst")),
        Valued("prio", "prio", NUMBER),
        Valued("quantum", "quantum", SIZE),
        *_SHAPED,
        Silent(LEAF_LIMIT, PACKETS_32),
    ),
    needs=("rate_bit", "ceil_bit"),
    drawn=(
        Drawn("ceil", "rate that may be reached by borrowing"),
        Drawn("cburst", "bytes that may pass at ceil"),
        Drawn("quantum", "bytes served in a turn"),
    ),
)

HTB = Kind(
    "htb",
    (
        Valued("default", "default", HEXADECIMAL),
        Valued("r2q", "r2q", NUMBER),
        Valued("direct_qlen", "direct_qlen", NUMBER),
    ),
    classes=HTB_CLASS,
    module="sch_htb",
    counts="",
)
