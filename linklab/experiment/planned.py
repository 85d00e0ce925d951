# SPDX-License-Identifier: BSD-3-Clause
"""What a plan consists of: processes and the series they give, who talks to whom, on which ports."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from linklab.experiment import programs
from linklab.experiment.model import Expanded, Traffic, TrafficFlow
from linklab.experiment.place import TrialPlace

IPERF = (Traffic.TCP, Traffic.UDP, Traffic.SCTP)
IRTT = (Traffic.UDP_RTT, Traffic.VOIP)
LATE_S = 5.0
"""A program that should have ended is stopped so long after."""


@dataclass(frozen=True)
class PlannedProcess:
    """A program whose output becomes series: one of each flow, in the order of the streams.

    port: of the server; 0 where it has none.
    """

    id: str
    flows: tuple[TrafficFlow, ...]
    argv: tuple[str, ...]
    port: int = 0

    @property
    def output(self) -> str:
        """The file that says what it measured."""
        return f"{self.id}.json" if self.flows[0].traffic in IRTT else f"{self.id}.out"

    @property
    def server(self) -> str:
        """Id of the server that belongs to it alone."""
        return f"{self.id}-server"


@dataclass(frozen=True)
class ProgramPlan:
    """What runs inside, and what its outputs become."""

    place: TrialPlace
    expanded: Expanded
    processes: tuple[PlannedProcess, ...]
    data: dict[str, Any]


def ports_at(place: TrialPlace) -> programs.ServerPorts:
    """On which the servers of a test listen there."""
    return programs.ServerPorts.of_slot(place.slot)


def source_of(flow: TrafficFlow, place: TrialPlace) -> str:
    """The node that a flow comes from: the test's source, or another that it names."""
    return place.known(flow.source or place.source)


def target_of(flow: TrafficFlow, place: TrialPlace) -> str:
    """The node that a flow goes to: a target, or another that it names."""
    return place.known(str(flow.options.get("host") or place.targets[flow.target]))


def address_of(flow: TrafficFlow, place: TrialPlace) -> str:
    """Its address, as the flow uses it."""
    return place.address(target_of(flow, place), flow.version)


def program(process: PlannedProcess, node: str, *, late_s: float = LATE_S) -> dict[str, Any]:
    """A client of a plan, as JSON; late_s: it is stopped so long after its end."""
    flow = process.flows[0]
    return {
        "id": process.id,
        "node": node,
        "argv": list(process.argv),
        "role": "flow",
        "start_s": flow.start_s,
        "stop_s": flow.start_s + flow.length_s + late_s,
        "in_out": flow.traffic in IRTT,
    }
