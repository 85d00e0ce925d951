# SPDX-License-Identifier: BSD-3-Clause
"""The ports of hosts and routers with their addresses, the routes of nodes, and which ports share a link layer.

A host's first IPv4 address is MiniEdit's "ip" and its default gateway MiniEdit's "defaultRoute"; every other address is
ours, at the end of its link (`Link.own`), and every other route ours, at its node (`Node.own`). Pure.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from ipaddress import IPv4Address, IPv4Interface, IPv6Interface, ip_address, ip_interface, ip_network
from typing import Any, TypeAlias

from linklab.base.text import quoted
from linklab.errors import InputError
from linklab.topology import address_words
from linklab.topology.drawn import DrawnNetwork
from linklab.topology.parts import Host, Link, Node, Switch

Interface: TypeAlias = IPv4Interface | IPv6Interface
DEFAULT = "default"
LONGEST = 64
"""Letters of an address or a network with its prefix length; the longest IPv6 address has 49."""


@dataclass(frozen=True)
class StaticRoute:
    """One static route; to: a network such as "10.0.3.0/24", or "default"; via: the address of the next router."""

    to: str
    via: str

    def __str__(self) -> str:
        return f"{self.to} via {self.via}"

    @property
    def version(self) -> int:
        """4 or 6, as the next router's address is."""
        return ip_address(self.via).version

    @property
    def is_default(self) -> bool:
        """Whether it leads everywhere else."""
        return self.to == DEFAULT


@dataclass(frozen=True)
class Port:
    """One end of a link at a host or a router.

    link, end: which link of the file, and which end of it (0 src, 1 dest); peer: the interface at its other end.
    addresses: with prefix length, in the order in which they are set.
    has_host_address: the first one is MiniEdit's "ip" of the host, which Mininet sets.
    automatic: that one is not in the file but counted from the node's number.
    """

    node: str
    interface: str
    link: int
    end: int
    peer: str
    addresses: tuple[str, ...] = ()
    has_host_address: bool = False
    automatic: bool = False

    @property
    def interfaces(self) -> list[Interface]:
        """The addresses as objects."""
        return [ip_interface(text) for text in self.addresses]


@dataclass
class Segment:
    """Ports that reach each other without a router."""

    links: list[int] = field(default_factory=list)
    ports: list[Port] = field(default_factory=list)


def is_router(node: Node) -> bool:
    """Whether this is a legacy router."""
    return isinstance(node, Switch) and node.type == "legacyRouter"


def has_ports(node: Node) -> bool:
    """Whether its ports may have addresses: hosts and routers, whose interfaces are their own."""
    return isinstance(node, Host) or is_router(node)


def with_class(address: str) -> str:
    """An IPv4 address with the prefix length of its class where it says none, as `ifconfig` sets it.

    Raises:
        ValueError: it is not an IPv4 address.
    """
    if "/" in address:
        return address
    first = IPv4Address(address).packed[0]
    return f"{address}/{8 if first < 128 else 16 if first < 192 else 24}"


def read_address(text: Any) -> str:
    """An address with its prefix length as it stands in the file; InputError for anything else.

    Also for one with a zone, behind whose % `ipaddress` takes any letters: a port is its interface (RFC 4007, 11).
    """
    try:
        if not isinstance(text, str) or "/" not in text or "%" in text or len(text) > LONGEST:
            raise ValueError
        return str(ip_interface(text))
    except ValueError:
        shown = quoted(text)
        if isinstance(text, str) and (why := address_words.fault(text, prefix=True)):
            raise InputError(f"{shown}: {why}") from None
        raise InputError(
            f"{shown} is not an address with its prefix length, such as 10.0.1.1/24 or 2001:db8:1::1/64"
        ) from None


def read_route(data: Any) -> StaticRoute:
    """A route as it stands in the file; InputError for anything else."""
    if not isinstance(data, Mapping) or not {"to", "via"} <= set(data):
        raise InputError(f'a route must be an object with "to" and "via", found {quoted(data)}')
    to, via = data["to"], data["via"]
    try:
        if not isinstance(via, str) or "%" in via or len(via) > LONGEST:
            raise ValueError
        gateway = ip_address(via)
    except ValueError:
        shown = quoted(via)
        if isinstance(via, str) and (why := address_words.fault(via, prefix=False)):
            raise InputError(f"{shown}: {why}") from None
        raise InputError(f"{shown} is not the address of a router, such as 10.0.2.2") from None
    if to == DEFAULT:
        return StaticRoute(DEFAULT, str(gateway))
    try:
        if not isinstance(to, str) or "%" in to or len(to) > LONGEST:
            raise ValueError
        network = ip_network(to)
    except ValueError:
        raise InputError(_no_network(to)) from None
    if network.version != gateway.version:
        raise InputError(f"{network} via {gateway}: one is IPv{network.version}, the other IPv{gateway.version}")
    return StaticRoute(DEFAULT if network.prefixlen == 0 else str(network), str(gateway))


def _no_network(to: Any) -> str:
    readable = isinstance(to, str) and "/" in to and "%" not in to and len(to) <= LONGEST
    try:
        meant = ip_network(to, strict=False) if readable else None
    except ValueError:
        meant = None
    if meant is not None:
        return f"{to} has bits beyond its prefix length; the network is {meant}"
    if isinstance(to, str) and (why := address_words.fault(to, prefix=None)):
        return f"{quoted(to)}: {why}"
    return f'{quoted(to)} is not a network, such as 10.0.3.0/24, nor "{DEFAULT}"'


def link_addresses(link: Link) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The addresses that the file gives to both ends of a link; InputError if one of them is not an address."""
    ends = link.own.get("addresses", [[], []])
    if not isinstance(ends, list) or len(ends) != 2 or not all(isinstance(end, list) for end in ends):
        raise InputError(f'"addresses" must be two lists, one for each end, found {quoted(ends)}')
    src, dest = (tuple(map(read_address, end)) for end in ends)
    return src, dest


def own_routes(node: Node) -> tuple[StaticRoute, ...]:
    """The routes that the file gives to a node besides MiniEdit's default route; InputError if one is not a route."""
    routes = node.own.get("routes", [])
    if not isinstance(routes, list):
        raise InputError(f'"routes" must be a list, found {quoted(routes)}')
    return tuple(map(read_route, routes))


def routes(node: Node) -> tuple[StaticRoute, ...]:
    """All routes of a node; a host's default gateway first."""
    gateway = node.opts.get("defaultRoute") if isinstance(node, Host) else None
    first = (StaticRoute(DEFAULT, str(gateway)),) if gateway else ()
    return (*first, *own_routes(node))


def ports(network: DrawnNetwork) -> list[Port]:
    """The linked ports of hosts and routers, node by node in the order of the file, each node's in their order.

    For a topology whose links lead somewhere, with addresses of the right form.
    """
    nodes = {node.name: node for node in network.nodes if has_ports(node)}
    first = {name: names[0] for name, names in network.interfaces().items() if names}
    found: dict[str, list[Port]] = {name: [] for name in nodes}
    for i, (link, ends) in enumerate(zip(network.links, network.link_ends(), strict=True)):
        given = link_addresses(link)
        for end, name in enumerate((link.src, link.dest)):
            if name not in nodes:
                continue
            node, addresses = nodes[name], given[end]
            if isinstance(node, Host) and first[name] == ends[end]:
                flags = (True, not node.opts.get("ip"))
                addresses = (network.address(node), *addresses)
            else:
                flags = (False, False)
            found[name].append(Port(name, ends[end], i, end, ends[1 - end], addresses, *flags))
    return [port for of_node in found.values() for port in sorted(of_node, key=_number)]


def routes_by(network: DrawnNetwork, node_name: str, interface: str) -> tuple[str, ...]:
    """The commands that set those routes of a node whose next router is in a subnet of this interface."""
    node = next((node for node in network.nodes if node.name == node_name and has_ports(node)), None)
    if node is None:
        return ()
    subnets = [i.network for port in ports(network) if port.interface == interface for i in port.interfaces]
    return tuple(
        f"ip -{route.version} route replace {route.to} via {route.via}"
        for route in routes(node)
        if any(ip_address(route.via) in subnet for subnet in subnets)
    )


def _number(port: Port) -> int:
    return int(port.interface.removeprefix(f"{port.node}-eth"))


def segments(network: DrawnNetwork, of_ports: Iterable[Port] | None = None) -> list[Segment]:
    """The parts of the network that routers and hosts separate, in the order of their first links."""
    group = {node.name: node.name for node in network.nodes if not has_ports(node)}

    def root(name: str) -> str:
        while group[name] != name:
            group[name] = group[group[name]]
            name = group[name]
        return name

    for link in network.links:
        if link.src in group and link.dest in group:
            group[root(link.src)] = root(link.dest)
    found: dict[str | int, Segment] = {}
    of_link: list[Segment] = []
    for i, link in enumerate(network.links):
        switch = link.src if link.src in group else link.dest if link.dest in group else None
        segment = found.setdefault(i if switch is None else root(switch), Segment())
        segment.links.append(i)
        of_link.append(segment)
    for port in ports(network) if of_ports is None else of_ports:
        of_link[port.link].ports.append(port)
    return list(found.values())
