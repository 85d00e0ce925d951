# SPDX-License-Identifier: BSD-3-Clause
"""Edits of addresses and routes: of single ports and nodes, and of a whole drawing, each link with its subnet. Pure.

Where each is kept: `linklab.topology.addressing`.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from ipaddress import IPv4Network, IPv6Network
from typing import Any

from linklab.errors import InputError
from linklab.topology import Host, Link, Topology, addressing
from linklab.topology.addressing import DEFAULT, Port, Segment, StaticRoute
from linklab.topology.parts import Node

Network = IPv4Network | IPv6Network
IPV6_BASE = IPv6Network("2001:db8::/32")
"""For documentation and examples (RFC 3849)."""
USUAL_PREFIX = 24


@dataclass(frozen=True)
class AddressPlan:
    """How a whole drawing is addressed.

    base: subnets are cut from it; prefix: their length. gateways: hosts get the nearest router; routes: routers get
    static routes by the shortest paths; ipv6: IPv6 addresses as well, from IPV6_BASE.
    """

    base: IPv4Network
    prefix: int = USUAL_PREFIX
    gateways: bool = True
    routes: bool = True
    ipv6: bool = False


def set_addresses(topology: Topology, wanted: Mapping[str, Sequence[str]]) -> Topology:
    """Give ports, by the names of their interfaces, these addresses and no others.

    A host's own is the first IPv4 address of its first port; without one it is counted from the host's number.
    """
    links, ips = list(topology.links), dict[str, str | None]()
    for port in addressing.ports(topology):
        if port.interface not in wanted:
            continue
        addresses = list(wanted[port.interface])
        if port.has_host_address:
            ips[port.node] = next((a for a in addresses if ":" not in a), None)
            if ips[port.node] is not None:
                addresses.remove(str(ips[port.node]))
        links[port.link] = _with_addresses(links[port.link], port.end, addresses)
    hosts = tuple(_with_ip(host, ips[host.name]) if host.name in ips else host for host in topology.hosts)
    return replace(topology, hosts=hosts, links=tuple(links))


def _with_ip(host: Host, ip: str | None) -> Host:
    opts = {key: value for key, value in host.opts.items() if key != "ip"}
    return replace(host, opts=opts if ip is None else {**opts, "ip": ip})


def _with_addresses(link: Link, end: int, addresses: list[str]) -> Link:
    ends = [list(each) for each in addressing.link_addresses(link)]
    if ends[end] == addresses:
        return link
    ends[end] = addresses
    own = {key: value for key, value in link.own.items() if key != "addresses"}
    return replace(link, own={**own, "addresses": ends} if any(ends) else own)


def set_routes(topology: Topology, wanted: Mapping[str, Sequence[StaticRoute]]) -> Topology:
    """Give nodes these routes and no others; a host's IPv4 default route is MiniEdit's default route."""

    def routed(node: Any) -> Any:
        return _with_routes(node, wanted[node.name]) if node.name in wanted else node

    hosts, switches = tuple(map(routed, topology.hosts)), tuple(map(routed, topology.switches))
    return replace(topology, hosts=hosts, switches=switches)


def _with_routes(node: Node, routes: Sequence[StaticRoute]) -> Node:
    left = list(routes)
    if isinstance(node, Host):
        opts = {key: value for key, value in node.opts.items() if key != "defaultRoute"}
        gateway = next((route for route in left if route.is_default and route.version == 4), None)
        if gateway is not None:
            left.remove(gateway)
            opts["defaultRoute"] = gateway.via
        if opts != node.opts:
            node = replace(node, opts=opts)
    own = {key: value for key, value in node.own.items() if key != "routes"}
    if left:
        own["routes"] = [{"to": route.to, "via": route.via} for route in left]
    return node if own == node.own else replace(node, own=own)


def assign(topology: Topology, plan: AddressPlan) -> Topology:
    """Give every link its subnet, every port of a host or router an address, and gateways and routes as planned.

    Hosts count from the beginning of a subnet, routers from its end. What was there before is replaced; IPv6 addresses
    stay where `plan.ipv6` is off.

    Raises:
        InputError: the base has too few subnets, or a subnet too few addresses.
    """
    bare = _without_addresses(topology, ipv6=plan.ipv6)
    segments = [segment for segment in addressing.segments(bare) if segment.ports]
    routers = [node.name for node in bare.switches if addressing.is_router(node)]
    wanted: dict[str, list[str]] = {port.interface: _kept(port, plan) for s in segments for port in s.ports}
    found: dict[str, list[StaticRoute]] = {
        node.name: [] if plan.ipv6 else [route for route in addressing.routes(node) if route.version == 6]
        for node in bare.nodes
        if addressing.has_ports(node)
    }
    families: list[tuple[Network, int]] = [(plan.base, plan.prefix)]
    if plan.ipv6:
        families.append((IPV6_BASE, 64))
    for base, prefix in families:
        subnets = _subnets(base, prefix, len(segments))
        at: dict[str, str] = {}
        for segment, subnet in zip(segments, subnets, strict=True):
            at |= _numbered(segment, subnet, set(routers))
        for interface, address in at.items():
            wanted[interface].append(f"{address}/{prefix}")
        if plan.gateways:
            for host, via in _gateways(bare, segments, set(routers), at).items():
                found[host].append(StaticRoute(DEFAULT, via))
        if plan.routes:
            for router, routes in _static_routes(segments, subnets, routers, at).items():
                found[router] += routes
    return set_routes(set_addresses(bare, wanted), found)


def _kept(port: Port, plan: AddressPlan) -> list[str]:
    """IPv6 addresses that no plan replaces."""
    return [] if plan.ipv6 else [address for address in port.addresses if ":" in address]


def _without_addresses(topology: Topology, *, ipv6: bool) -> Topology:
    """Without what is assigned anew, so that nothing old is in the way."""
    ports = addressing.ports(topology)
    kept = {port.interface: [a for a in port.addresses if ":" in a and not ipv6] for port in ports}
    return set_addresses(topology, kept)


def _subnets(base: Network, prefix: int, count: int) -> list[Network]:
    if prefix < base.prefixlen:
        raise InputError(f"subnets of /{prefix} are larger than {base}; choose a prefix length above {base.prefixlen}")
    available = 1 << (prefix - base.prefixlen)
    if available < count:
        raise InputError(f"{base} has {available} subnets of /{prefix}, and {count} are needed; choose longer prefixes")
    first = 1 if available > count else 0  # 10.0.1.0/24 is what books begin with
    step = 1 << (base.max_prefixlen - prefix)
    start = int(base.network_address)
    if isinstance(base, IPv4Network):
        return [IPv4Network((start + (first + i) * step, prefix)) for i in range(count)]
    return [IPv6Network((start + ((first + i) << 80), prefix)) for i in range(count)]


def _numbered(segment: Segment, subnet: Network, routers: set[str]) -> dict[str, str]:
    """The address of each port of a segment."""
    size = min(subnet.num_addresses - 2, 1 << 16) if subnet.version == 4 else 0xFFFF
    if len(segment.ports) > size:
        names = ", ".join(port.interface for port in segment.ports[:3])
        raise InputError(
            f"{len(segment.ports)} ports share a subnet ({names}, …), and /{subnet.prefixlen} has {max(size, 0)} "
            "addresses; choose a shorter prefix length"
        )
    first = int(subnet.network_address)
    last = first + (int(subnet.num_addresses) - 2 if subnet.version == 4 else 0xFFFE)
    found = {}
    for port in segment.ports:
        if port.node in routers:
            found[port.interface], last = str(type(subnet.network_address)(last)), last - 1
        else:
            first += 1
            found[port.interface] = str(type(subnet.network_address)(first))
    return found


def _gateways(
    topology: Topology, segments: Sequence[Segment], routers: set[str], at: Mapping[str, str]
) -> dict[str, str]:
    """For each host that a router is beside, the router's address there."""
    found: dict[str, str] = {}
    hosts = {host.name for host in topology.hosts}
    for segment in segments:
        gateway = next((port for port in segment.ports if port.node in routers), None)
        for port in segment.ports if gateway is not None else ():
            if port.node in hosts and gateway is not None:
                found.setdefault(port.node, at[gateway.interface])
    return found


def _static_routes(
    segments: Sequence[Segment], subnets: Sequence[Network], routers: Sequence[str], at: Mapping[str, str]
) -> dict[str, list[StaticRoute]]:
    """For each router a route to every subnet that is not its own, by the fewest routers on the way."""
    beside: dict[str, list[int]] = {router: [] for router in routers}
    there: list[dict[str, str]] = []
    for i, segment in enumerate(segments):
        ports = {port.node: at[port.interface] for port in reversed(segment.ports) if port.node in beside}
        there.append(ports)
        for router in ports:
            beside[router].append(i)
    found: dict[str, list[StaticRoute]] = {}
    for router in routers:
        via: dict[int, str] = dict.fromkeys(beside[router], "")
        seen = {router}
        waiting = deque((i, "") for i in beside[router])
        while waiting:
            i, first = waiting.popleft()
            for neighbour, address in there[i].items():
                if neighbour in seen:
                    continue
                seen.add(neighbour)
                hop = first or address
                for further in beside[neighbour]:
                    if further not in via:
                        via[further] = hop
                        waiting.append((further, hop))
        found[router] = [StaticRoute(str(subnets[i]), hop) for i, hop in sorted(via.items()) if hop]
    return found
