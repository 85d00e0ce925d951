# SPDX-License-Identifier: BSD-3-Clause
"""What the steps of a manual's `editor` blocks make of a topology, without a window.

Pure: a topology and a step in, the changed topology out. Files, Run and Stop are the stage's business. Nodes get the
options that MiniEdit gives them (examples/miniedit.py, `newNode`), and what is deleted leaves the other links their
ports, as in our editor (`linklab.editor.edits`, which tests/display compares); the verbs are in docs/writing-a-lab.md.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from linklab.errors import TopologyError
from linklab.topology import Host, Link, Preferences, Switch, Topology

EMPTY = Topology(application=Preferences())
"""What File > New gives."""


def edited(topology: Topology, words: Sequence[str]) -> Topology:  # noqa: PLR0911 - one a verb
    """The topology after one verb that changes it: new, host, switch, link, set, delete or preferences.

    Raises:
        TopologyError: a node that is not there, or one too many, or a verb of another kind.
    """
    match tuple(words):
        case ("new",):
            return EMPTY
        case ("host", name, "at", x, y):
            opts = {"hostname": name, "nodeNum": _number(name), "sched": "host"}
            return replace(
                _without_clash(topology, name), hosts=(*topology.hosts, Host(str(_number(name)), *_at(x, y), opts))
            )
        case ("switch", name, "at", x, y):
            opts = {"hostname": name, "nodeNum": _number(name), "controllers": [], "switchType": "default"}
            placed = Switch(str(_number(name)), *_at(x, y), opts)
            return replace(_without_clash(topology, name), switches=(*topology.switches, placed))
        case ("link", one, other):
            for name in (one, other):
                _need(topology, name)
            return replace(topology, links=(*topology.links, Link(one, other)))
        case ("set", name, "ip", *address):
            return _with_address(topology, name, *address)
        case ("delete", name):
            _need(topology, name)
            rest = replace(
                topology,
                hosts=tuple(host for host in topology.hosts if host.name != name),
                switches=tuple(switch for switch in topology.switches if switch.name != name),
            )
            return _without_links(rest, topology, [link for link in topology.links if name in (link.src, link.dest)])
        case ("delete", one, other):
            gone = next((link for link in topology.links if {link.src, link.dest} == {one, other}), None)
            if gone is None:
                raise TopologyError(f"{topology.name}: there is no link between {one} and {other}")
            return _without_links(topology, topology, [gone])
        case ("preferences", "ip-base", base):
            return _with_preference(topology, "ipBase", base)
        case ("preferences", "start-cli", state):
            return _with_preference(topology, "startCLI", "1" if state == "on" else "0")
        case _:
            raise TopologyError(f'{topology.name}: "{" ".join(words)}" does not change a topology')


def _number(name: str) -> int:
    found = re.search(r"\d+$", name)
    if not found:
        raise TopologyError(f'node "{name}": a name ends in a number')
    return int(found[0])


def _at(x: str, y: str) -> tuple[str, str]:
    """Coordinates as MiniEdit writes them: "150.0"."""
    return str(float(x)), str(float(y))


def _without_links(after: Topology, before: Topology, gone: Sequence[Link]) -> Topology:
    """`after` with the links of `before` but those; a link that counting would now number otherwise says its ports."""
    kept = [
        (link, ports)
        for link, ports in zip(before.links, before.ports(), strict=True)
        if not any(link is each for each in gone)
    ]
    after = replace(after, links=tuple(link for link, _ in kept))
    links = [
        link if ports == counted else replace(link, own={**link.own, "ports": list(ports)})
        for (link, ports), counted in zip(kept, after.ports(), strict=True)
    ]
    return replace(after, links=tuple(links))


def _need(topology: Topology, name: str) -> None:
    names = [node.name for node in topology.nodes]
    if name not in names:
        raise TopologyError(f'{topology.name}: there is no node "{name}"; there are {", ".join(names) or "none"}')


def _without_clash(topology: Topology, name: str) -> Topology:
    if any(node.name == name for node in topology.nodes):
        raise TopologyError(f'{topology.name}: there is a node "{name}" already')
    return topology


def _with_address(topology: Topology, name: str, address: str = "") -> Topology:
    hosts = []
    found = False
    for host in topology.hosts:
        if host.name == name:
            found = True
            opts = {key: value for key, value in host.opts.items() if key != "ip"}
            hosts.append(replace(host, opts={**opts, "ip": address} if address else opts))
        else:
            hosts.append(host)
    if not found:
        raise TopologyError(f'{topology.name}: there is no host "{name}"')
    return replace(topology, hosts=tuple(hosts))


def _with_preference(topology: Topology, key: str, value: str) -> Topology:
    data: dict[str, Any] = {**topology.preferences.data, key: value}
    return replace(topology, application=Preferences(data))
