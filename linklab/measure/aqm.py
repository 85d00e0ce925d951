# SPDX-License-Identifier: BSD-3-Clause
"""The state of an active queue management from samples of it: what it counted, what it was in, RED's average.

Names are tc's; what tc prints in microseconds is in seconds here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np

from linklab.measure.series import FloatArray, Quantity, Series, make_series

COUNTERS: Mapping[str, str] = {
    "early": "packets",
    "pdrop": "packets",
    "other": "packets",
    "marked": "packets",
    "dropped": "packets",
    "overlimit": "packets",
    "ecn_mark": "packets",
    "ce_mark": "packets",
    "drop_overlimit": "packets",
    "drop_overmemory": "packets",
    "new_flow_count": "",
}
"""Numbers that only grow, and their unit: what counts is by how much while sampled."""

STATES: Mapping[str, str] = {
    "prob": "",
    "delay": "s",
    "ldelay": "s",
    "count": "",
    "memory_usage": "bytes",
    "new_flows_len": "",
    "old_flows_len": "",
    "average": "bytes",
}
"""Numbers that rise and fall, and their unit."""

MOST_EWMA = 31
"""Of tc: the logarithm of the weight has five bits of a word (`red_set_parms` in include/net/red.h)."""
_MICROSECONDS = ("delay", "ldelay", "drop_next")


def describe(series: Mapping[str, Series]) -> tuple[dict[str, Series], dict[str, Quantity]]:
    """Units for a discipline's own series, and scalars of them.

    Args:
        series: `queue.NAME` with tc's numbers.

    Returns:
        The series that changed; `queue.NAME` for a counter (how many while sampled), `queue.NAME.max` and `.mean` for
        a state.
    """
    changed: dict[str, Series] = {}
    scalars: dict[str, Quantity] = {}
    for name in (*COUNTERS, *STATES, "drop_next"):
        found = series.get(f"queue.{name}")
        if found is None or not found.known.size:
            continue
        unit = "s" if name in _MICROSECONDS else {**COUNTERS, **STATES}[name]
        value = found.value * 1e-6 if name in _MICROSECONDS else found.value
        changed[found.name] = found = replace(found, unit=unit, value=value)
        if name in COUNTERS:
            scalars[found.name] = Quantity(counted(found), unit)
        elif name in STATES:
            scalars[f"{found.name}.max"] = Quantity(float(found.known.max()), unit)
            scalars[f"{found.name}.mean"] = Quantity(float(found.known.mean()), unit)
    return changed, scalars


def counted(counter: Series) -> float:
    """By how much a counter grew while sampled; one that starts again begins at 0."""
    steps = np.diff(counter.known)
    return float(np.where(steps < 0, counter.known[1:], steps).sum())


def red_average(series: Mapping[str, Series], options: Mapping[str, Any]) -> Series | None:
    """RED's average queue, computed from samples of the backlog, since the kernel does not tell it; bytes.

    The kernel takes the average anew with each packet that arrives: average += weight * (backlog - average), weight
    2^-ewma (Floyd and Jacobson 1993; include/net/red.h). Between two samples the backlog is taken for a straight line,
    and the number of arrivals for the bytes sent, plus the growth of the backlog, over the size of the packets that
    wait: a packet is here what the host handed over at once, up to 64 KiB.  Not taken into account is that the average
    decays while the queue is idle.

    What the average was before is not known: it starts at the queue of the first sample.  In a gap it is NaN; after
    one it goes on from where it was, since the counter of bytes tells the arrivals meanwhile.  Where that counter has
    started again (the discipline was replaced) they are not known, and from there on it is NaN.

    Args:
        series: `queue.backlog`, `queue.qlen` and `queue.sent.bytes`.
        options: of tc for the discipline, with `ewma` (`tc -d`).

    Returns:
        None where the weight or a series is not known.
    """
    wanted = [series.get(f"queue.{name}") for name in ("backlog", "qlen", "sent.bytes")]
    ewma = options.get("ewma")
    known = [found for found in wanted if found is not None]
    if len(known) < len(wanted) or not isinstance(ewma, int) or not 0 <= ewma <= MOST_EWMA:
        return None
    weight = 2.0**-ewma
    backlog, qlen, sent = (found.value for found in known)
    packet = _packet_bytes(backlog, qlen)
    average = np.full(backlog.shape, np.nan)
    sampled = np.flatnonzero(~np.isnan(backlog) & ~np.isnan(sent))
    average[sampled[:1]] = backlog[sampled[:1]]
    for earlier, now in pairwise(sampled):
        queue, before, last = backlog[now], backlog[earlier], average[earlier]
        if sent[now] < sent[earlier]:
            break
        arrivals = (sent[now] - sent[earlier] + queue - before) / packet
        if arrivals < 1:
            average[now] = last
            continue
        # each arrival sees the queue a step further along the line, and the average trails it by so much
        trail = (queue - before) / arrivals * (1 - weight) / weight
        average[now] = queue - trail + (last - before + trail) * (1 - weight) ** arrivals
    meta = {**known[0].meta, "computed": True}
    return make_series("queue.average", "bytes", known[0].time_s, average, source=known[0].source, meta=meta)


def _packet_bytes(backlog: FloatArray, qlen: FloatArray) -> float:
    """Mean size of the packets that waited; a full frame where none did."""
    waiting, size = float(np.nansum(qlen)), float(np.nansum(backlog))
    return size / waiting if waiting >= 1 and size >= 1 else 1514.0
