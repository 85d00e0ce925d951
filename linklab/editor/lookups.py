# SPDX-License-Identifier: BSD-3-Clause
"""The tables of a running node that its menu offers, as the commands that show them, so that a reader learns these.

Pure; `asking` types the commands and shows what they print.
"""

from __future__ import annotations

from dataclasses import dataclass

from linklab.topology import Switch, Topology
from linklab.topology.addressing import has_ports, ports
from linklab.topology.parts import Node
from linklab.windows.words import Phrase

CLIENT = "client"
"""The terminal where the ports of switches are."""


@dataclass(frozen=True)
class Lookup:
    """One table; label: in the menu. terminal: where its lines are typed."""

    node: str
    label: str
    terminal: str
    lines: tuple[str, ...]
    note: str = ""

    @property
    def title(self) -> str:
        """Of its window, "Routes of h1"."""
        return Phrase("{table} of {node}", table=Phrase(self.label), node=self.node)


def lookups(topology: Topology, name: str) -> list[Lookup]:
    """What can be looked up at a node; nothing at a controller."""
    node = next((each for each in topology.nodes if each.name == name), None)
    if node is None:
        return []
    if has_ports(node):
        return _of_host(topology, node)
    return _of_switch(topology, node) if isinstance(node, Switch) else []


def _of_host(topology: Topology, node: Node) -> list[Lookup]:
    six = any(":" in address for port in ports(topology) if port.node == node.name for address in port.addresses)
    routes = ("ip route", "ip -6 route") if six else ("ip route",)
    return [
        Lookup(node.name, "Addresses", node.name, ("ip address",)),
        Lookup(node.name, "Routes", node.name, routes),
        Lookup(
            node.name,
            "Neighbours (ARP)",
            node.name,
            ("ip neighbour",),
            "The hardware addresses that this node knows; it asks for one when it first sends to an address.",
        ),
    ]


def _of_switch(topology: Topology, switch: Switch) -> list[Lookup]:
    name = switch.name
    learned = Phrase("The hardware addresses that the switch has learned, each with the port where it was seen last.")
    if switch.type == "legacySwitch":
        return [
            Lookup(name, "MAC table", CLIENT, (f"bridge fdb show br {name} dynamic",), learned),
            Lookup(name, "Spanning tree", CLIENT, (f"brctl showstp {name}",)),
        ]
    protocols = topology.preferences.openflow_protocols
    below = Phrase("{learned} Below: port numbers.", learned=learned)
    versions = "" if not protocols or "OpenFlow10" in protocols else f"-O {','.join(protocols)} "
    numbers = "ovs-vsctl -f table --columns=ofport,name list Interface"
    return [
        Lookup(
            name,
            "MAC table",
            CLIENT,
            (f"ovs-appctl fdb/show {name}", numbers),
            below,
        ),
        Lookup(name, "Flow table", CLIENT, (f"ovs-ofctl {versions}dump-flows {name}",)),
        Lookup(name, "Spanning tree", CLIENT, (f"ovs-appctl stp/show {name}",)),
    ]
