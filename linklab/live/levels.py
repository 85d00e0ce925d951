# SPDX-License-Identifier: BSD-3-Clause
"""What the lines of live plots are to be read against, from what the kernel says of itself: limits, targets, the BDP.

Pure. A level that cannot be known (a target in time at a port without a rate, a queue of several parts) is left out.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from linklab.analysis.formulas import bdp_bytes
from linklab.live.readings import PortDisciplines
from linklab.tc import Class, Qdisc

NOT_QUEUES = ("netem", "noqueue", "ingress", "clsact", "mq")
TARGETS = {"codel": "CoDel", "fq_codel": "FQ-CoDel", "pie": "PIE", "fq_pie": "FQ-PIE"}
HEADERS_BYTES = 66
"""Of a full segment on the wire as tc counts it: Ethernet 14, IP 20, TCP 20 and its time stamps 12."""


@dataclass(frozen=True)
class LiveLevel:
    """A level in a panel, in the panel's unit; of: the port or flow that it belongs to."""

    panel: str
    of: str
    label: str
    value: float


def leaf_of(port: PortDisciplines) -> Qdisc | None:
    """The discipline in which packets wait; None where there is none, or several."""
    parents = {qdisc.parent.partition(":")[0] for qdisc in port.qdiscs}
    leaves = [q for q in port.qdiscs if q.kind not in NOT_QUEUES and q.handle.partition(":")[0] not in parents]
    return leaves[0] if len(leaves) == 1 else None


def rate_of(port: PortDisciplines) -> float | None:
    """What passes the port at most, bit/s; None where nothing limits it."""
    rates = [float(rate) for qdisc in port.qdiscs if (rate := qdisc.rate_bit)]
    leaf = leaf_of(port)
    if leaf is not None and port.classes:
        rates += [float(one.options["ceil_bit"]) for one in _above(leaf, port.classes) if one.options.get("ceil_bit")]
    return min(rates, default=None)


def _above(leaf: Qdisc, classes: Sequence[Class]) -> Iterator[Class]:
    """The class that the leaf is in, and those that this one is in."""
    by_id, place = {one.classid: one for one in classes}, leaf.parent
    for _ in classes:
        if place not in by_id:
            return
        yield by_id[place]
        place = by_id[place].parent


def capacity_of(port: PortDisciplines) -> int | None:
    """Bytes that the queue of the port holds, a packet counted as a full frame; None where that is not known."""
    leaf = leaf_of(port)
    return (leaf.capacity_bytes() or None) if leaf is not None else None


def levels_of_port(name: str, port: PortDisciplines) -> list[LiveLevel]:
    """The rate, the queue's limit, RED's thresholds, and the targets of CoDel and PIE as bytes at the port's rate."""
    found, rate, leaf = [], rate_of(port), leaf_of(port)
    if rate is not None:
        found.append(LiveLevel("rate", name, f"rate of {name}", rate))
    if leaf is None or leaf.known is None:
        return found
    if (capacity := capacity_of(port)) is not None:
        found.append(LiveLevel("queue", name, f"limit of {name}", float(capacity)))
    limit = leaf.options.get("limit")
    if limit and leaf.known.counts == "packets":
        found.append(LiveLevel("packets", name, f"limit of {name}", float(limit)))
    if leaf.kind in ("red", "choke") and leaf.known.counts == "bytes":
        found += [LiveLevel("queue", name, f"RED {end} of {name}", float(leaf.options[end])) for end in ("min", "max")]
    target_us = leaf.options.get("target_us")
    if target_us and rate is not None and leaf.kind in TARGETS:
        label = f"{TARGETS[leaf.kind]} target of {name}, {target_us / 1000:g} ms"
        found.append(LiveLevel("queue", name, label, rate * target_us / 1e6 / 8))
    return found


def levels_of_flow(flow: str, label: str, way: Sequence[PortDisciplines], rtt_s: float, mss: float) -> list[LiveLevel]:
    """The BDP of a flow in segments, and what fits into the path with the bottleneck's buffer.

    way: the ports that it leaves by. rtt_s: without queueing; mss: bytes; where one is NaN, nothing is known.
    """
    limited = [(rate, port) for port in way if (rate := rate_of(port)) is not None]
    if not limited or not (rtt_s > 0 and mss > 0) or math.isinf(rtt_s):
        return []
    rate, port = min(limited, key=lambda pair: pair[0])
    bdp = bdp_bytes(rate, rtt_s) / (mss + HEADERS_BYTES)
    found = [LiveLevel("cwnd", flow, f"BDP of {label}", bdp)]
    if (capacity := capacity_of(port)) is not None:
        found.append(LiveLevel("cwnd", flow, f"BDP + buffer of {label}", bdp + capacity / (mss + HEADERS_BYTES)))
    return found
