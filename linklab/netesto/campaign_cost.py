# SPDX-License-Identifier: BSD-3-Clause
"""How long an experiment takes on the wall clock, about, before it has run: from its flows and the rates on its way.

Measured on the rate tests (docs/netesto.md); a slower machine shows in the first experiments of a campaign.
"""

from __future__ import annotations

import re

from linklab import units
from linklab.errors import InputError
from linklab.netesto.network_plan import PlannedExperiment

START_S = 4.5
"""The network's start and end, counters, and the data set."""
FLOW_S = 0.0035
"""A second of network time of a flow, with the samples of its socket at both ends."""
SEGMENT_S = 6e-6
"""A segment from the sender to the receiver, with its acknowledgement."""
SEGMENT_BITS = 1448 * 8
UNSHAPED_MBIT = 2000.0
"""Where no rate is set, what the flows reach together, about."""
_RATE = re.compile(r"\brate (\S+)")


def wall_s(planned: PlannedExperiment, clock: str) -> float:
    """Wall-clock seconds of an experiment on one processor, about."""
    experiment = planned.experiment
    if clock != "virtual":
        return START_S + experiment.length_s
    flow_s = sum(group.dur_s * group.instances for group in experiment.groups)
    segments = experiment.length_s * _rate_mbit(planned) * 1e6 / SEGMENT_BITS
    return START_S + FLOW_S * flow_s + SEGMENT_S * segments


def _rate_mbit(planned: PlannedExperiment) -> float:
    """The least rate at an interface on the way."""
    ports = {port.interface for port in planned.place.ports}
    set_lines = [setting["name"] for setting in planned.plan.data["settings"]]
    found = [UNSHAPED_MBIT]
    for line in (*planned.place.commands, *set_lines):
        if (rate := _RATE.search(line)) and ports & set(line.split()):
            try:
                found.append(units.parse_rate_mbit(rate[1]))
            except InputError:
                continue
    return min(found)
