# SPDX-License-Identifier: BSD-3-Clause
"""A test with its parameters, at a place → the plan that runs inside (`linklab.agent.trial`), as JSON.

A plan says which program runs on which node and when, what is sampled, and what is asked before and after.
`PlannedProcess` says which series each program's output becomes. Nothing runs here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from linklab.errors import InputError
from linklab.experiment import metadata, programs, rpc
from linklab.experiment.model import Expanded, Traffic, TrafficFlow, TrialCommand
from linklab.experiment.place import PathPort, TrialPlace
from linklab.experiment.planned import (
    IPERF,
    IRTT,
    LATE_S,
    PlannedProcess,
    ProgramPlan,
    address_of,
    ports_at,
    program,
    source_of,
    target_of,
)
from linklab.experiment.trial_commands import beside

FORMAT = 1
SAMPLED = (Traffic.QDISC, Traffic.CPU, Traffic.NETSTAT)
"""What no program is started for: the samplers read it."""
ON_HOST = (Traffic.CPU_LOAD, Traffic.COMMAND)
"""What runs on the node that the flow names, and goes to none."""
MONITOR_LATE_S = 600.0
"""For a command beside the test whose end is waited for."""
IRTT_LATE_S = 30.0
"""irtt waits three times the longest round trip for the last answers, and loses everything if it is stopped then."""


def make_plan(expanded: Expanded, place: TrialPlace, commands: Sequence[TrialCommand] = ()) -> ProgramPlan:
    """The plan of a test at a place; commands: those of the trial, of which those beside the test are part of the plan.

    Raises:
        InputError: a node lacks an address that a flow needs.
    """
    if expanded.hosts > len(place.targets):
        raise InputError(f"{expanded.name} needs {expanded.hosts} targets, and there are {len(place.targets)}")
    flows = [flow for flow in expanded.flows if flow.traffic not in SAMPLED]
    processes: list[PlannedProcess] = []
    found: list[dict[str, Any]] = []
    for make in (_iperfs, rpc.clients, _plain):
        for process, entries in make(expanded, place, flows):
            processes.append(process)
            found += entries
    found += _monitors(expanded, commands)
    servers = [*_servers(flows, place), *rpc.servers(flows, place)]
    # of UDP the control connection tells the round trip
    connected = [flow for flow in flows if flow.traffic in IPERF or rpc.is_rpc(flow)]
    nodes = dict.fromkeys(source_of(flow, place) for flow in connected)
    nodes |= dict.fromkeys(target_of(flow, place) for flow in connected)
    netstat = [
        str(flow.options.get("host", place.source)) for flow in expanded.flows if flow.traffic is Traffic.NETSTAT
    ]
    samplers: dict[str, Any] = {
        "period_s": expanded.step_s,
        "qdiscs": _ports(expanded, place),
        "sockets": list(nodes),
        "ports": list(dict.fromkeys(process.port for process in processes if process.port)),
        "cpu": True,
        "netstat": list(dict.fromkeys(netstat)),
    }
    addresses = [address_of(flow, place) for flow in flows if flow.traffic not in ON_HOST]
    data = {
        "format": FORMAT,
        "length_s": expanded.total_s,
        "programs": [*servers, *found],
        "samplers": samplers,
        "facts": metadata.facts(place, addresses or [place.address(place.targets[0], None)]),
    }
    return ProgramPlan(place, expanded, tuple(processes), data)


def _ports(expanded: Expanded, place: TrialPlace) -> list[dict[str, str]]:
    """The interfaces along the path, and those that the test names."""
    named = [port for flow in expanded.flows if flow.traffic is Traffic.QDISC for port in named_ports(flow, place)]
    return [{"node": port.node, "interface": port.interface} for port in dict.fromkeys([*place.ports, *named])]


def named_ports(flow: TrafficFlow, place: TrialPlace) -> list[PathPort]:
    """The interfaces whose queue a flow may mean, the likeliest first.

    The node and interface that it names; without a node the path's interface of that name, or one of the source; and
    without an interface those along the path, of that node if there is one.
    """
    host, interface = str(flow.options.get("host") or ""), str(flow.options.get("interface") or "")
    node = place.known(host) if host else ""
    along = [
        port
        for port in place.ports
        if (not node or port.node == node) and (not interface or port.interface == interface)
    ]
    if interface and not along:
        return [PathPort(node or place.source, interface)]
    return along


Made = Iterator[tuple[PlannedProcess, list[dict[str, Any]]]]


def _iperfs(expanded: Expanded, place: TrialPlace, flows: Sequence[TrafficFlow]) -> Made:
    """A process each for a few flows; of many, equal ones share one."""
    ours = [flow for flow in flows if flow.traffic in IPERF and not rpc.is_rpc(flow)]
    few = len(ours) <= programs.FEW
    for number, group in enumerate(_groups(ours, apart=few), 1):
        # of TCP the sockets are sampled
        reports = few and group[0].traffic is not Traffic.TCP
        flow, port = group[0], ports_at(place).iperf + number - 1
        target, address = target_of(flow, place), address_of(flow, place)
        client = programs.iperf_client(flow, address, port, expanded.step_s, streams=len(group), reports=reports)
        process = PlannedProcess(f"{flow.traffic.value}-{number}", tuple(group), tuple(client), port)
        server = {
            "id": process.server,
            "node": target,
            "argv": programs.iperf_server(port, expanded.step_s, reports=reports),
            "role": "server",
            "ready": {"tcp": port},
            "env": {"IPERF3_TOS": str(flow.tos)} if flow.tos and flow.direction == "down" else {},  # -S is the client's
        }
        # iperf3 ends with an exchange over the path that it has filled
        yield process, [server, program(process, source_of(flow, place), late_s=4 * LATE_S)]


def _groups(flows: Sequence[TrafficFlow], *, apart: bool) -> list[tuple[TrafficFlow, ...]]:
    """Flows that differ in their series alone, at most `MOST_STREAMS` together and equally many in each.

    apart: each has a group of its own, unless it is to be together with others.
    """
    alike: dict[Any, list[TrafficFlow]] = {}
    for number, flow in enumerate(flows):
        key = (flow.traffic, flow.direction, flow.target, flow.start_s, flow.length_s, flow.tos, flow.congestion)
        more = (flow.rate_bps, flow.size_bytes, flow.version, tuple(sorted(map(str, flow.options.items()))))
        whose = (flow.source, flow.together, number if apart and not flow.together else 0)
        alike.setdefault((key, more, whose), []).append(flow)
    found = []
    for group in alike.values():
        parts = -(-len(group) // programs.MOST_STREAMS)
        size, more_of = divmod(len(group), parts)
        at = 0
        for part in range(parts):
            end = at + size + (part < more_of)
            found.append(tuple(group[at:end]))
            at = end
    return found


def _plain(expanded: Expanded, place: TrialPlace, flows: Sequence[TrafficFlow]) -> Made:
    """Programs of one flow each, on the source or on a node that the flow names."""
    numbers: Counter[Traffic] = Counter()
    for flow in flows:
        if flow.traffic not in IPERF and not rpc.is_rpc(flow):
            numbers[flow.traffic] += 1
            name = flow.traffic.value.replace("_", "-")
            process = PlannedProcess(f"{name}-{numbers[flow.traffic]}", (flow,), ())
            process = replace(process, argv=tuple(_argv(flow, place, process.output)))
            on_host = str(flow.options.get("host") or "") if flow.traffic in ON_HOST else ""
            node = place.known(on_host) if on_host else source_of(flow, place)
            late_s = IRTT_LATE_S if flow.traffic in IRTT else LATE_S
            yield process, [program(process, node, late_s=late_s)]


def _argv(flow: TrafficFlow, place: TrialPlace, output: str) -> list[str]:
    """The command line of a flow, whose program may have to be told where its results go."""
    if flow.traffic in ON_HOST:
        return programs.cpu_load(flow) if flow.traffic is Traffic.CPU_LOAD else programs.command(flow)
    address, ports = address_of(flow, place), ports_at(place)
    if flow.traffic is Traffic.BURSTS:
        return programs.bursts(flow, address, place.up_mbit)
    if flow.traffic in IRTT:
        return programs.irtt_client(flow, address, ports.irtt, output)
    if flow.traffic is Traffic.HTTP:
        return programs.fetches(flow, address, ports.http)
    if flow.traffic is Traffic.TCP_RTT:
        return programs.requests(flow, address, _request_port(flow, ports))
    return programs.ping(flow, address)


def _request_port(flow: TrafficFlow, ports: programs.ServerPorts) -> int:
    return ports.requests + (flow.options.get("protocol") == "sctp")


def _servers(flows: Sequence[TrafficFlow], place: TrialPlace) -> list[dict[str, Any]]:
    """Servers that several clients share: one of a kind on each node that is asked."""
    wanted: dict[tuple[str, str], dict[str, Any]] = {}
    ports = ports_at(place)
    for flow in flows:
        sctp = flow.options.get("protocol") == "sctp"
        match flow.traffic:
            case Traffic.UDP_RTT | Traffic.VOIP:
                name, argv, ready = "irtt", programs.irtt_server(ports.irtt), {"udp": ports.irtt}
            case Traffic.HTTP if not programs.listed(flow.options.get("urls")):
                name, argv, ready = "pages", programs.pages_server(ports.http), {"tcp": ports.http}
            case Traffic.TCP_RTT if not rpc.is_rpc(flow):
                # which ports SCTP listens on stands nowhere in /proc/net/tcp; its clients begin later anyway
                port = _request_port(flow, ports)
                argv, ready = programs.request_server(port, sctp=sctp), {} if sctp else {"tcp": port}
                name = "sctp-requests" if sctp else "requests"
            case _:
                continue
        node = target_of(flow, place)
        wanted[name, node] = {"id": f"{name}-server-{node}", "node": node, "argv": argv, "role": "server"}
        wanted[name, node]["ready"] = ready
    return list(wanted.values())


def _monitors(expanded: Expanded, commands: Sequence[TrialCommand]) -> list[dict[str, Any]]:
    """Programs beside the test whose output is kept only raw."""
    return [
        {
            "id": name,
            "node": command.node or "client",
            "argv": ["sh", "-c", command.line],
            "role": "flow",
            "start_s": 0.0,
            "stop_s": expanded.total_s if command.kill else expanded.total_s + MONITOR_LATE_S,
        }
        for name, command in beside(commands)
    ]
