# SPDX-License-Identifier: BSD-3-Clause
"""Requests back to back: flows of TCP_RTT without an interval, and of TCP with buffers of their own, in a plan.

Their programs are `linklab.agent.trial_rpc`: one for all flows that are together, and one server for each node, with a
port for each congestion control and buffer, because both decide how a connection begins. `read` reads what they print.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from linklab.experiment import programs
from linklab.experiment.model import Expanded, Traffic, TrafficFlow
from linklab.experiment.place import TrialPlace
from linklab.experiment.planned import PlannedProcess, address_of, ports_at, program, source_of, target_of

OWN_BUFFERS = ("buffer", "server_buffer")
HEAD_BYTES = 16
"""What a client sends before its first request."""
LATE_S = 60.0
"""A client that has much to print ends later, though it takes no network time."""


def is_rpc(flow: TrafficFlow) -> bool:
    """Whether such a program makes this flow."""
    if flow.traffic is Traffic.TCP:
        return any(flow.options.get(name) for name in OWN_BUFFERS)
    return flow.traffic is Traffic.TCP_RTT and flow.interval_s == 0


def clients(
    _expanded: Expanded, place: TrialPlace, flows: Sequence[TrafficFlow]
) -> Iterator[tuple[PlannedProcess, list[dict[str, Any]]]]:
    """A process for all flows that are together; no two flows of a plan have one port, whatever their hosts."""
    together: dict[tuple[str, str], list[TrafficFlow]] = defaultdict(list)
    for flow in filter(is_rpc, flows):
        together[flow.together or flow.series, source_of(flow, place)].append(flow)
    ports = _ports(flows, place)
    from_port = ports_at(place).rpc_clients
    for number, ((_, source), group) in enumerate(together.items(), 1):
        flow = group[0]
        port = ports[_door(flow, place)]
        argv = programs.rpc(flow, address_of(flow, place), port, connections=len(group), from_port=from_port)
        from_port += len(group)
        process = PlannedProcess(f"rpc-{number}", tuple(group), tuple(argv), port)
        yield process, [program(process, source, late_s=LATE_S)]


def servers(flows: Sequence[TrafficFlow], place: TrialPlace) -> list[dict[str, Any]]:
    """One for each node that is asked."""
    doors: dict[str, list[tuple[int, str, int]]] = defaultdict(list)
    for (node, algorithm, buffer), port in _ports(flows, place).items():
        doors[node].append((port, algorithm, buffer))
    return [
        {
            "id": server_id(node),
            "node": node,
            "argv": programs.rpc_server(found),
            "role": "server",
            "ready": {"tcp": found[-1][0]},
        }
        for node, found in doors.items()
    ]


def server_id(node: str) -> str:
    """Of the server on a node."""
    return f"rpc-server-{node}"


def _door(flow: TrafficFlow, place: TrialPlace) -> tuple[str, str, int]:
    return target_of(flow, place), flow.congestion, int(flow.options.get("server_buffer") or 0)


def _ports(flows: Sequence[TrafficFlow], place: TrialPlace) -> dict[tuple[str, str, int], int]:
    """The port of each door: those of a node count on from the first."""
    found: dict[tuple[str, str, int], int] = {}
    counts: Counter[str] = Counter()
    for flow in filter(is_rpc, flows):
        door = _door(flow, place)
        if door not in found:
            found[door] = ports_at(place).rpc + counts[door[0]]
            counts[door[0]] += 1
    return found


@dataclass
class RpcConnection:
    """What a client said of a connection; times in ns of the kernel's clock.

    answers: when each was complete, and how long it had taken.
    info: struct tcp_info in the end, by the names of `linklab.linux.sock_diag`.
    """

    answers: list[tuple[int, int]] = field(default_factory=list)
    port: int = 0
    peer_port: int = 0
    ended_ns: int = 0
    info: dict[str, Any] = field(default_factory=dict)


def read(text: str) -> dict[int, RpcConnection]:
    """What a client printed, by the number of the connection."""
    found: dict[int, RpcConnection] = defaultdict(RpcConnection)
    for line in text.splitlines():
        if line.startswith("{"):
            said = _object(line)
            if "info" in said:
                one = found[said["connection"]]
                one.port, one.peer_port = said["port"], said.get("peer_port", 0)
                one.ended_ns, one.info = said["ended_ns"], said["info"]
        else:
            words = line.split(" ")
            if len(words) == 3 and all(map(str.isdecimal, words)):
                found[int(words[0])].answers.append((int(words[1]), int(words[2])))
    return dict(found)


def read_server(text: str) -> dict[tuple[int, int], dict[str, Any]]:
    """What a server printed: struct tcp_info of each connection in the end, by the client's port and its own."""
    found = {}
    for line in text.splitlines():
        said = _object(line)
        if "info" in said:
            found[said["peer_port"], said["port"]] = said["info"]
    return found


def _object(line: str) -> dict[str, Any]:
    """A line that was cut off when its program was killed is none."""
    try:
        found = json.loads(line)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}
