# SPDX-License-Identifier: BSD-3-Clause
"""The settings of an experiment on its network → what the runner inside sets, each on its node, when it is due.

Settings of hosts without flows are left out, and so are those that a later one replaces before the experiment begins.
Disciplines go to the interfaces towards the others: of a client those towards its servers, of a server those towards
its clients, of a machine between them those by which packets leave towards the servers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from linklab.errors import InputError
from linklab.experiment.place import PathPort
from linklab.linux.allowed_settings import NETWORK_WIDE, is_network_wide
from linklab.netesto import disciplines
from linklab.netesto.campaign_experiment import CampaignExperiment, NetworkSetting, refusal
from linklab.netesto.disciplines import Standing
from linklab.netesto.limits import refuse_setting
from linklab.netesto.site import Site

DEFAULT_QDISC = "net.core.default_qdisc"


@dataclass
class SettingsPlan:
    """What is set inside, and what people are told of it.

    planned: for the plan of the trial (`linklab.agent.trial_plan.PlannedSetting`), in their order.
    told: each SET command that holds, for experiment.json.
    notes: what a person should know, a sentence each.
    """

    planned: list[dict[str, Any]] = field(default_factory=list)
    told: list[dict[str, Any]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def ports_of(experiment: CampaignExperiment, site: Site, nodes: Mapping[str, str]) -> dict[str, list[PathPort]]:
    """The interfaces of each node that takes part that lead towards the others."""
    found: dict[str, dict[PathPort, None]] = {}
    between: dict[str, dict[PathPort, None]] = {}
    pairs = dict.fromkeys((nodes[group.host], nodes[group.server]) for group in experiment.groups)
    for client, server in pairs:
        up, down = site.way(client, server)
        found.setdefault(client, {}).setdefault(up[0])
        found.setdefault(server, {}).setdefault(down[0])
        for port in up[1:]:
            between.setdefault(port.node, {}).setdefault(port)
    return {node: list(ports) for node, ports in (between | found).items()}


class _Planner:
    def __init__(self, ports: Mapping[str, Sequence[PathPort]], at_first: Callable[[PathPort], Standing]) -> None:
        self.ports = ports
        self.at_first = at_first
        self.now: dict[PathPort, Standing] = {}
        """What stands at each interface that the script has set something at."""
        self.found = SettingsPlan()
        self.default = ""
        """The kernel's default discipline, as far as the script has set it."""
        self.of_all: dict[str, dict[str, str]] = {}

    def values(self, setting: NetworkSetting, node: str) -> None:
        """A SET_SYSCTL or SET_MODULE_PARAMS."""
        for name, value in setting.arguments.items():
            refuse_setting(setting.word, name, value)
            if name == DEFAULT_QDISC:
                self.default = value
            if is_network_wide(setting.word, name):
                self._once(name, node, value)
            planned = {"word": setting.word, "name": name, "value": value}
            self.found.planned.append({"node": node, "at_s": setting.at_s, **planned})

    def _once(self, name: str, node: str, value: str) -> None:
        """A value that all hosts share."""
        self.of_all.setdefault(name, {}).pop(node, None)
        self.of_all[name][node] = value

    def note_shared(self) -> None:
        """Where hosts were given different values of what they share, say which one holds."""
        for name, values in self.of_all.items():
            *others, last = values.items()
            lost = [f'"{value}" of {node}' for node, value in others if value != last[1]]
            if lost:
                self.found.notes.append(
                    f"{name} is one value for all hosts, because they share a kernel: "
                    f'"{last[1]}" of {last[0]}, which is set last, holds instead of {", ".join(lost)}'
                )

    def discipline(self, setting: NetworkSetting, node: str) -> list[dict[str, Any]]:
        """A SET_NETEM or SET_QDISC at the interfaces of a node; its commands, for the plan."""
        planned = []
        for port in self.ports[node]:
            before = self.now[port] if port in self.now else self.at_first(port)
            if setting.word == "SET_NETEM":
                after = disciplines.with_netem(before, setting.arguments)
            else:
                after = disciplines.with_qdisc(before, setting.arguments, self.default)
                self._note_one_queue(setting, port)
            self.now[port] = after
            for argv in disciplines.commands(port.interface, before, after):
                planned.append({"node": node, "name": " ".join(argv), "argv": argv, "at_s": setting.at_s})
        return planned

    def _note_one_queue(self, setting: NetworkSetting, port: PathPort) -> None:
        if setting.arguments["qdisc"] != disciplines.ONE_QUEUE or setting.arguments["action"] == "del":
            return
        given = f"it gets {self.default}, the default" if self.default else "it keeps what the kernel gives it"
        sentence = f"{port.interface} has one transmit queue, so there is no mq: {given}"
        if sentence not in self.found.notes:
            self.found.notes.append(sentence)


def plan_settings(experiment: CampaignExperiment, site: Site, nodes: Mapping[str, str]) -> SettingsPlan:
    """What is set for an experiment.

    Args:
        experiment: of the script.
        site: its network.
        nodes: of its machines.

    Raises:
        InputError: a setting cannot be, or is not allowed; the message names it.
    """
    planner = _Planner(ports_of(experiment, site, nodes), site.standing)
    ports = planner.ports
    settings = _before_flows(experiment)
    for setting, asked in zip(settings, experiment.settings, strict=True):
        node = nodes[setting.host]
        in_part = node in ports or any(name in NETWORK_WIDE for name in setting.arguments)
        told: dict[str, Any] = {
            "word": setting.word,
            "host": node,
            "arguments": dict(setting.arguments),
            "at_s": asked.at_s,
        }
        if not in_part:
            continue
        try:
            if setting.word in ("SET_NETEM", "SET_QDISC"):
                commands = planner.discipline(setting, node)
                told["interfaces"] = [port.interface for port in ports[node]]
                if setting.at_s is not None:
                    told["commands"] = [" ".join(each["argv"]) for each in commands]
                    planner.found.planned += commands
            else:
                planner.values(setting, node)
        except InputError as error:
            raise refusal(setting.place, f"{setting.word} host={setting.host}: {error}") from error
        planner.found.told.append(told)
    planner.note_shared()
    planner.found.planned = _at_first(planner, settings, nodes) + planner.found.planned
    return planner.found


def _before_flows(experiment: CampaignExperiment) -> list[NetworkSetting]:
    """The settings; those of the experiment's own before its first flow are made before its servers start.

    A listening socket keeps the buffers that it began with, and in Netesto it begins with the flow.
    """
    first_s = min(group.start_s for group in experiment.groups)
    return [
        replace(setting, at_s=None) if setting.at_s is not None and setting.at_s <= first_s else setting
        for setting in experiment.settings
    ]


def _at_first(
    planner: _Planner,
    settings: Sequence[NetworkSetting],
    nodes: Mapping[str, str],
) -> list[dict[str, Any]]:
    """The commands that lead, before the experiment begins, to the disciplines that then hold."""
    before = _Planner(planner.ports, planner.at_first)
    for setting in settings:
        if setting.at_s is None and setting.arguments.get(DEFAULT_QDISC):
            before.default = setting.arguments[DEFAULT_QDISC]
        if setting.at_s is None and setting.word in ("SET_NETEM", "SET_QDISC") and nodes[setting.host] in planner.ports:
            before.discipline(setting, nodes[setting.host])
    found: list[dict[str, Any]] = []
    for port, wanted in before.now.items():
        for argv in disciplines.commands(port.interface, planner.at_first(port), wanted):
            found.append({"node": port.node, "name": " ".join(argv), "argv": argv, "at_s": None})
    return found
