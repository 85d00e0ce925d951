# SPDX-License-Identifier: BSD-3-Clause
"""Two steps of `mending.mend`: remove the addresses and routes that cannot be read, and the routes out of reach.

Each returns the topology and a sentence for each change. `address_checks` decides what is an error. Pure.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from ipaddress import ip_address
from typing import Any, TypeVar

from linklab.base.text import excerpt
from linklab.errors import InputError
from linklab.topology import addressing
from linklab.topology.address_checks import connected
from linklab.topology.model import Topology
from linklab.topology.parts import Host, Link, Switch

N = TypeVar("N", Host, Switch)


def readable(topology: Topology) -> tuple[Topology, list[str]]:
    """Remove addresses and routes that cannot be read, or that belong to a switch, which has none."""
    said: list[str] = []
    ported = {node.name for node in topology.nodes if addressing.has_ports(node)}

    def of_link(link: Link) -> Link:
        if "addresses" not in link.own:
            return link
        given = link.own["addresses"]
        ends = given if isinstance(given, list) and len(given) == 2 else [given, []]
        kept = []
        for name, end in zip((link.src, link.dest), ends, strict=True):
            good = _good(end, addressing.read_address, f"link {link.name}: the address", said)
            if good and name not in ported:
                said.append(
                    f"link {link.name}: {', '.join(good)} is removed, because {name} is a switch, and its ports have "
                    "no addresses"
                )
                good = []
            kept.append(good)
        return link if kept == given else replace(link, own=_with(link.own, "addresses", kept if any(kept) else None))

    def of_node(node: N) -> N:
        if "routes" not in node.own:
            return node
        given = node.own["routes"]
        where = f"{node.what} {node.name}"
        good = _good(given, addressing.read_route, f"{where}: the route", said)
        if good and node.name not in ported:
            said.append(f"{where}: its routes are removed, because a switch has none")
            good = []
        return node if good == given else replace(node, own=_with(node.own, "routes", good or None))

    after = replace(
        topology,
        links=tuple(map(of_link, topology.links)),
        hosts=tuple(map(of_node, topology.hosts)),
        switches=tuple(map(of_node, topology.switches)),
    )
    return (after, said) if said else (topology, said)


def _good(given: Any, read: Callable[[Any], object], what: str, said: list[str]) -> list[Any]:
    """The members of a list that can be read; a sentence for each of the others."""
    good = []
    for each in given if isinstance(given, list) else [given]:
        try:
            read(each)
            good.append(each)
        except InputError as error:
            said.append(f"{what} is removed: {excerpt(str(error), 120)}")
    return good


def _with(own: Any, key: str, value: Any) -> dict[str, Any]:
    """The settings with a new value of this key, or without the key if the value is None."""
    rest = {other: each for other, each in own.items() if other != key}
    return rest if value is None else {**rest, key: value}


def reachable(topology: Topology) -> tuple[Topology, list[str]]:
    """Remove routes whose next router is in none of the node's subnets, because the kernel refuses them."""
    said: list[str] = []
    if not any(addressing.routes(node) for node in topology.nodes if addressing.has_ports(node)):
        return topology, said
    of_node: dict[str, list[addressing.Port]] = {}
    for port in addressing.ports(topology):
        of_node.setdefault(port.node, []).append(port)

    def of(node: N) -> N:
        if not addressing.has_ports(node) or not addressing.routes(node):
            return node
        subnets = [interface.network for interface in connected(node, of_node.get(node.name, []))]

        def is_lost(route: addressing.StaticRoute) -> bool:
            return not any(ip_address(route.via) in subnet for subnet in subnets)

        lost = list(filter(is_lost, addressing.routes(node)))
        for route in lost:
            why = f"no port shares a subnet with {route.via}"
            said.append(f"{node.what} {node.name}: the route {route} is removed, because {why}")
        own = addressing.own_routes(node)
        if any(route in lost for route in own):
            kept = [given for given, route in zip(node.own["routes"], own, strict=True) if route not in lost]
            node = replace(node, own=_with(node.own, "routes", kept or None))
        gateway = node.opts.get("defaultRoute") if isinstance(node, Host) else None
        if gateway and addressing.StaticRoute(addressing.DEFAULT, str(gateway)) in lost:
            node = replace(node, opts={key: value for key, value in node.opts.items() if key != "defaultRoute"})
        return node

    after = replace(topology, hosts=tuple(map(of, topology.hosts)), switches=tuple(map(of, topology.switches)))
    return (after, said) if said else (topology, said)
