# SPDX-License-Identifier: BSD-3-Clause
"""An experiment on a topology → the flows and the plan that run inside, and its description, experiment.json.

    CampaignExperiment, Machines ─→ flows ─→ `experiment.plan.make_plan`, with settings, captures and counters

Nothing runs here; what comes of the plan: `linklab.netesto.running`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from linklab.experiment import programs
from linklab.experiment.model import STEP_S, Expanded, Traffic, TrafficFlow
from linklab.experiment.place import TrialPlace
from linklab.experiment.plan import make_plan
from linklab.experiment.planned import ProgramPlan
from linklab.netesto import names
from linklab.netesto.campaign_experiment import CampaignExperiment, FlowGroup, refusal
from linklab.netesto.capture_plan import capture_notes, capture_programs, captured
from linklab.netesto.data_plots import DEFAULT, data_plots
from linklab.netesto.machines import Machines
from linklab.netesto.recorded import FORMAT
from linklab.netesto.settings_plan import SettingsPlan, plan_settings, ports_of
from linklab.netesto.site import DrawnSite, Site

COUNTERS = "counters"
"""Name of the fact that `linklab.agent.trial_counters` gives."""
FLUSH_S = 0.05
"""So long before a flow starts, what the kernel remembers of earlier connections is forgotten."""
FLUSH = ("ip", "tcp_metrics", "flush", "all")


@dataclass(frozen=True)
class PlannedExperiment:
    """An experiment with its network and its plan; about: what stands in experiment.json."""

    experiment: CampaignExperiment
    expanded: Expanded
    place: TrialPlace
    plan: ProgramPlan
    settings: SettingsPlan
    about: dict[str, Any]


def plan_experiment(
    experiment: CampaignExperiment,
    machines: Machines,
    seed: int,
    version: int | None = None,
    site: Site | None = None,
) -> PlannedExperiment:
    """The plan of an experiment.

    Args:
        experiment: of a script.
        machines: the network.
        seed: of the experiment.
        version: of IP; None for IPv4, or IPv6 where a server has nothing else.
        site: what answers for the network; None for its drawing.

    Raises:
        InputError: no path leads from a client to its server, a node lacks an address, or a setting is impossible.
    """
    nodes = machines.nodes
    site = site or DrawnSite(machines.topology)
    for group in experiment.groups:
        if nodes[group.host] == nodes[group.server]:
            what = f"group {group.number}: {group.host} and {group.server} are one node, {nodes[group.host]}"
            raise refusal(group.place, f"{what}; flows need two")
    pairs = list(dict.fromkeys((nodes[group.host], nodes[group.server]) for group in experiment.groups))
    place = site.place(pairs)
    flows = tuple(_flows(experiment, nodes, version))
    length_s = experiment.length_s
    expanded = Expanded(
        name=experiment.name or f"experiment {experiment.number}",
        title=experiment.desc or experiment.name,
        flows=flows,
        derived=(),
        plots=data_plots({group.test for group in experiment.groups}),
        default_plot=DEFAULT,
        hosts=len(place.targets),
        length_s=length_s,
        total_s=length_s,
        step_s=STEP_S,
        parameters={},
    )
    settings = plan_settings(experiment, site, nodes)
    settings.notes += capture_notes(experiment, nodes, ports_of(experiment, site, nodes))
    plan = make_plan(expanded, place)
    data = {
        **plan.data,
        "programs": [*plan.data["programs"], *capture_programs(experiment, nodes, site, place, version)],
        "samplers": {**plan.data["samplers"], "ended": plan.data["samplers"]["sockets"]},
        "facts": [*plan.data["facts"], *_facts(experiment, nodes, site, place, version)],
        "settings": [*settings.planned, *_flushes(experiment, nodes)],
    }
    about = _about(experiment, machines, site.name, seed, settings)
    return PlannedExperiment(experiment, expanded, place, replace(plan, data=data), settings, about)


# --- flows


def _flows(experiment: CampaignExperiment, nodes: Mapping[str, str], version: int | None) -> Iterator[TrafficFlow]:
    for group in experiment.groups:
        host, server = nodes[group.host], nodes[group.server]
        common = TrafficFlow(
            "",
            Traffic.TCP if group.test == names.STREAM else Traffic.TCP_RTT,
            start_s=group.start_s,
            length_s=group.dur_s,
            congestion=group.ca,
            interval_s=STEP_S if group.test == names.STREAM else 0.0,
            version=version,
            source=host,
            together=f"group {group.number}",
        )
        for instance in range(1, group.instances + 1):
            yield replace(common, series=_series(group, instance), options=_options(group, instance, server))
    for (host, server), groups in _pairs(experiment, nodes).items():
        start_s = min(group.start_s for group in groups)
        end_s = max(group.start_s + group.dur_s for group in groups)
        yield TrafficFlow(
            names.ping(host, server),
            Traffic.ICMP,
            start_s=start_s,
            length_s=round(end_s - start_s, 6),
            version=version,
            source=host,
            options={"host": server},
        )


def _pairs(experiment: CampaignExperiment, nodes: Mapping[str, str]) -> dict[tuple[str, str], list[FlowGroup]]:
    """The groups of each client and server, by their nodes."""
    found: dict[tuple[str, str], list[FlowGroup]] = {}
    for group in experiment.groups:
        found.setdefault((nodes[group.host], nodes[group.server]), []).append(group)
    return found


def _series(group: FlowGroup, instance: int) -> str:
    name = names.stream if group.test == names.STREAM else names.answers
    return name(group.number, instance)


def _options(group: FlowGroup, instance: int, server: str) -> dict[str, Any]:
    found: dict[str, Any] = {"host": server}
    if group.test == names.RR:
        found |= {"request": group.req_bytes, "response": group.reply_bytes}
        found["rate"] = names.answer_rate(group.number, instance)
    buffers = {"buffer": group.local_buffer, "server_buffer": group.remote_buffer}
    return found | {name: size for name, size in buffers.items() if size}


# --- beside the flows


def _facts(
    experiment: CampaignExperiment, nodes: Mapping[str, str], site: Site, place: TrialPlace, version: int | None
) -> Iterator[dict[str, Any]]:
    """The counters of hosts, and what finds the other way of each flow before it starts."""
    pairs = _pairs(experiment, nodes)
    for host, server in pairs:
        if host != place.source:
            argv = ["ping", "-n", "-c", "1", "-W", "5", place.address(server, version)]
            yield {"node": host, "name": f"way to {server}", "argv": argv, "once": True}
    for host in dict.fromkeys(nodes[name] for name in experiment.counted):
        if host in place.addresses:
            interfaces = sorted(site.interfaces(host, place.ports))
            argv = [*programs.own("trial_counters"), *interfaces]
            yield {"node": host, "name": COUNTERS, "argv": argv, "once": False}


def _flushes(experiment: CampaignExperiment, nodes: Mapping[str, str]) -> Iterator[dict[str, Any]]:
    """What a host's kernel remembers of its connections is forgotten before one of its flows starts.

    A network begins with nothing to remember, so only a flow that starts after another has ended needs this.
    """
    first_end_s: dict[str, float] = {}
    for group in experiment.groups:
        host, end_s = nodes[group.host], group.start_s + group.dur_s
        first_end_s[host] = min(end_s, first_end_s.get(host, end_s))
    starts = dict.fromkeys((nodes[group.host], group.start_s) for group in experiment.groups)
    for host, start_s in starts:  # once for groups that start together
        at_s = round(start_s - FLUSH_S, 6)
        if first_end_s[host] <= at_s:
            yield {"node": host, "name": " ".join(FLUSH), "argv": list(FLUSH), "at_s": at_s}


# --- experiment.json


def _about(
    experiment: CampaignExperiment, machines: Machines, network: str, seed: int, settings: SettingsPlan
) -> dict[str, Any]:
    nodes = machines.nodes
    return {
        "format": FORMAT,
        "exp": experiment.number,
        "expName": experiment.name,
        "seed": seed,
        "desc": experiment.desc,
        "other": dict(experiment.other),
        "topology": network,
        "length_s": experiment.length_s,
        "machines": {name: node for name, node in nodes.items() if name != node},
        "commands": [
            {
                "at_s": command.at_s,
                "word": command.word,
                "arguments": dict(command.arguments),
                "line": command.where.line,
                "within": list(command.within),
            }
            for command in experiment.commands
        ],
        "settings": settings.told,
        "notes": settings.notes,
        "groups": [_group(group, nodes) for group in experiment.groups],
        "servers": [nodes[name] for name in experiment.servers],
        "counted": [nodes[name] for name in experiment.counted],
        "captures": list(captured(experiment, nodes).values()),
        "pings": {f"{host} {server}": names.ping(host, server) for host, server in _pairs(experiment, nodes)},
    }


def _group(group: FlowGroup, nodes: Mapping[str, str]) -> dict[str, Any]:
    streams = group.test == names.STREAM
    return {
        "group": group.number,
        "host": nodes[group.host],
        "server": nodes[group.server],
        "test": group.test,
        "ca": group.ca,
        "dur": group.dur_s,
        "delay": group.delay_s,
        "start_s": group.start_s,
        "instances": group.instances,
        "req": "" if streams else group.req,
        "reply": "" if streams else group.reply,
        "req_bytes": None if streams else group.req_bytes,
        "reply_bytes": None if streams else group.reply_bytes,
        "localBuffer": group.local_buffer,
        "remoteBuffer": group.remote_buffer,
        "stats": group.stats,
        "series": [_series(group, instance) for instance in range(1, group.instances + 1)],
    }
