# SPDX-License-Identifier: BSD-3-Clause
"""How long a trial takes on the wall clock, before it has run: from how long its flows last and what they send.

`tools/bench.py trial-costs` measures it. Another machine is faster or slower as a whole, which the first trials of a
list show (`linklab.experiment.runner.ListProgress`).
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from linklab import units
from linklab.errors import InputError
from linklab.experiment.model import Traffic, TrafficFlow
from linklab.experiment.path import SINGLE_FRAMES_MBIT, parse_path
from linklab.experiment.prepared import Prepared

START_S = 2.6
"""The network's start and end, and the data file."""
FLOW_S = 0.0035
"""A second of network time of a flow or probe, with its samples."""
UNIT_S = 1.5e-5
"""A frame, or a bundle of frames, from the sender to the receiver and back with its acknowledgement."""
FRAME_BITS = 1514 * 8
BUNDLE_BITS = 24_000 * 8
"""What TCP sends at once where the shaper lets it, on average."""
UNSHAPED_MBIT = 10_000.0
"""Where no rate is set, what a sender reaches, about."""
FILLING = (Traffic.TCP, Traffic.SCTP)
UDP_MBIT = 1.0
"""What iperf3 sends unless told otherwise."""
_RATE = re.compile(r"\brate (\S+)")


def wall_s(prepared: Prepared) -> float:
    """Wall-clock seconds of a trial on one processor, about."""
    expanded = prepared.expanded
    if prepared.trial.clock != "virtual":
        return START_S + expanded.total_s
    return START_S + FLOW_S * sum(flow.length_s for flow in expanded.flows) + UNIT_S * sent(prepared)


def sent(prepared: Prepared) -> float:
    """Frames and bundles that are sent, about."""
    up_mbit, down_mbit = rates_mbit(prepared)
    flows = prepared.expanded.flows
    count = 0.0
    for direction, mbit in (("up", up_mbit), ("down", down_mbit)):
        own = [flow for flow in flows if flow.direction == direction]
        count += _loaded_s(own) * mbit * 1e6 / (FRAME_BITS if mbit <= SINGLE_FRAMES_MBIT else BUNDLE_BITS)
    for flow in flows:
        if flow.traffic is Traffic.UDP:  # also what the queue drops costs its way there
            count += flow.length_s * (flow.rate_bps or UDP_MBIT * 1e6) / FRAME_BITS
    return count


def rates_mbit(prepared: Prepared) -> tuple[float, float]:
    """Of the bottleneck, up and down."""
    if prepared.trial.path:
        path = parse_path(prepared.trial.path)
        return path.up_mbit or UNSHAPED_MBIT, path.down_mbit or UNSHAPED_MBIT
    ports = {port.interface for port in prepared.place.ports}
    found = [UNSHAPED_MBIT]
    for line in prepared.place.commands:
        if (rate := _RATE.search(line)) and ports & set(line.split()):
            try:
                found.append(units.parse_rate_mbit(rate[1]))
            except InputError:  # a command of the drawing's own, in words of its own
                continue
    return min(found), min(found)


def _loaded_s(flows: Sequence[TrafficFlow]) -> float:
    """How long flows that take what they get fill a direction."""
    filling = [flow for flow in flows if flow.traffic in FILLING]
    if not filling:
        return 0.0
    return max(flow.start_s + flow.length_s for flow in filling) - min(flow.start_s for flow in filling)
