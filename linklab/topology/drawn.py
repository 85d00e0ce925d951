# SPDX-License-Identifier: BSD-3-Clause
"""The nodes and links of a drawing as plain data, and the names, ports and addresses that follow from them.

What `linklab.topology.checks` looks at; `linklab.topology.Topology` adds reading and writing files.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from ipaddress import IPv4Interface, IPv4Network

from linklab.topology.parts import Controller, Host, Json, Link, Node, Preferences, Switch


@lru_cache(maxsize=1 << 17)
def interface_of(text: str) -> IPv4Interface:
    """An address with or without prefix length, kept because reading takes 20 µs; ValueError where it is none."""
    return IPv4Interface(text)


@lru_cache(maxsize=16)
def _network(text: str) -> IPv4Network:
    return IPv4Network(text, strict=False)


@dataclass(frozen=True)
class DrawnNetwork:
    """What is drawn.

    name: the file's name without its ending, for people; no part of the file.
    links: in the order of the file, which decides the port numbers.
    application, controllers: None where the file has no such key; `preferences` and `all_controllers` fill in.
    extra: unknown top-level keys, among them "linklab" and mininet-wifi's "stations" and "aps".
    """

    hosts: tuple[Host, ...] = ()
    switches: tuple[Switch, ...] = ()
    links: tuple[Link, ...] = ()
    controllers: tuple[Controller, ...] | None = ()
    application: Preferences | None = None
    version: str = "2"
    extra: Json = field(default_factory=dict)
    name: str = field(default="topology", compare=False)

    @property
    def preferences(self) -> Preferences:
        """The preferences, MiniEdit's defaults where the file has none."""
        return self.application or Preferences()

    @property
    def nodes(self) -> tuple[Node, ...]:
        """Hosts, then switches: the nodes that have ports."""
        return self.hosts + self.switches

    @property
    def all_controllers(self) -> tuple[Controller, ...]:
        """The controllers; none where the file has no such key."""
        return self.controllers or ()

    # The names below hold for a topology without errors (`check`) and without wireless nodes.

    def link_ends(self) -> list[tuple[str, str]]:
        """Interface names of both ends of each link, (src, dest), in the order of the links.

        Each node counts its ports up in link order, hosts and routers from eth0 and switches from eth1; interfaces of
        the machine that a node takes over come first and use up numbers (mininet/node.py, `newPort`). A number that
        a link says itself (`Link.ports`) is passed over.
        """
        return [
            (f"{k.src}-eth{src}", f"{k.dest}-eth{dest}")
            for k, (src, dest) in zip(self.links, self.ports(), strict=True)
        ]

    def ports(self) -> list[tuple[int, int]]:
        """Port numbers of both ends of each link, as in `link_ends`."""
        taken: dict[str, set[int]] = {}
        for link in self.links:
            for node, said in zip((link.src, link.dest), link.ports, strict=True):
                taken.setdefault(node, set()).update(() if said is None else (said,))
        following = {node.name: node.first_port + len(node.external_interfaces) for node in self.nodes}

        def take(node: str, said: int | None) -> int:
            if said is not None:
                return said
            while following[node] in taken[node]:
                following[node] += 1
            following[node] += 1
            return following[node] - 1

        return [(take(k.src, k.ports[0]), take(k.dest, k.ports[1])) for k in self.links]

    def interfaces(self) -> dict[str, tuple[str, ...]]:
        """Names of each node's interfaces in the order of its ports, e.g. {"s1": ("s1-eth1", "s1-eth2"), …}."""
        numbers: dict[str, list[int]] = {node.name: [] for node in self.nodes}
        for link, ports in zip(self.links, self.ports(), strict=True):
            numbers[link.src].append(ports[0])
            numbers[link.dest].append(ports[1])
        return {
            node.name: (*node.external_interfaces, *(f"{node.name}-eth{n}" for n in sorted(numbers[node.name])))
            for node in self.nodes
        }

    def port_names(self) -> dict[str, str]:
        """What each interface is wired to, e.g. {"s1-eth1": "h1-eth0", "h1-eth0": "s1-eth1", …}."""
        wired = {}
        for src, dest in self.link_ends():
            wired[src], wired[dest] = dest, src
        return wired

    def address(self, host: Host) -> str:
        """Address with prefix length of a host: "10.0.0.1/8".

        Without one in the file it is the nodeNum-th address of ipBase (mininet/util.py, `ipAdd`). A missing prefix
        length is ipBase's for an address inside it, else Mininet's own default of 8. ValueError where there is none.
        """
        base = _network(self.preferences.ip_base)
        text = host.opts.get("ip")
        if not text:
            return f"{base.network_address + host.node_num}/{base.prefixlen}"
        if not isinstance(text, str):
            raise ValueError(f"{text!r} is no address")
        if "/" in text:
            return str(interface_of(text))
        return f"{text}/{base.prefixlen if interface_of(text).ip in base else 8}"
