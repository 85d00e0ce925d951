# SPDX-License-Identifier: BSD-3-Clause
"""What is wrong or doubtful in the addresses and routes of a topology, each finding with its cure. Pure.

An error is what the kernel would refuse while the network is built; all else is a warning, since a wrong address is
something that people also draw on purpose.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_interface

from linklab.errors import InputError
from linklab.topology import addressing
from linklab.topology.addressing import Interface, Port, Segment, StaticRoute
from linklab.topology.drawn import DrawnNetwork
from linklab.topology.parts import Host, Node
from linklab.topology.problem import Problem

ASSIGN = "Edit > Assign Addresses gives each link its subnet"
LONGEST_WITH_BROADCAST = 30
"""Prefix length of the smallest IPv4 subnet that has a network address and a broadcast address."""


def values(network: DrawnNetwork) -> Iterator[Problem]:
    """Addresses and routes that cannot be read; the other checks rely on those that can."""
    for link in network.links:
        try:
            addressing.link_addresses(link)
        except InputError as error:
            yield Problem("error", f"link {link.name}", f'"linklab": {error}')
    for node in network.nodes:
        try:
            addressing.own_routes(node)
        except InputError as error:
            yield Problem("error", f"{node.what} {node.name}", f'"linklab": {error}')


def meanings(network: DrawnNetwork) -> Iterator[Problem]:
    """Addresses twice, subnets that do not fit, gateways out of reach; for a topology without other errors."""
    nodes = {node.name: node for node in network.nodes}
    ports = addressing.ports(network)
    yield from _reserved(nodes, ports)
    yield from _idle(network, ports)
    if not any(addressing.is_router(node) for node in nodes.values()) and not any(
        "addresses" in link.own for link in network.links
    ):
        yield from _gateways(nodes, ports, only_errors=True)
        return
    yield from _twice(nodes, ports)
    segments = addressing.segments(network, ports)
    for segment in segments:
        yield from _subnets(nodes, segment)
    yield from _overlaps(nodes, segments)
    yield from _gateways(nodes, ports, only_errors=False)
    yield from _left_out(nodes, segments)


def _where(nodes: dict[str, Node], name: str) -> str:
    node = nodes[name]
    return f"{'router' if addressing.is_router(node) else node.what} {name}"


def _reserved(nodes: dict[str, Node], ports: list[Port]) -> Iterator[Problem]:
    """The first and the last IPv4 address of a subnet at a port, which Linux takes; a /31 or a /32 has neither.

    Sources: RFC 1122 §3.2.1.3 (both), RFC 3021 (/31).
    """
    for port in ports:
        for interface in port.interfaces:
            subnet = interface.network
            if subnet.version == 6 or subnet.prefixlen > LONGEST_WITH_BROADCAST:
                continue
            if interface.ip == subnet.network_address:
                what = f"the address of the network {subnet} itself"
            elif interface.ip == subnet.broadcast_address:
                what = f"the broadcast address of {subnet}"
            else:
                continue
            message = (
                f"{port.interface} has {interface}, which is {what}; give it an address from "
                f"{subnet.network_address + 1} to {subnet.broadcast_address - 1}"
            )
            yield Problem("warning", _where(nodes, port.node), message, port.interface, interface.version)


def _idle(network: DrawnNetwork, ports: list[Port]) -> Iterator[Problem]:
    """Addresses at ends that take none."""
    taking = {(port.link, port.end) for port in ports}
    for i, link in enumerate(network.links):
        for end, addresses in enumerate(addressing.link_addresses(link)):
            if addresses and (i, end) not in taking:
                name = (link.src, link.dest)[end]
                message = f"{name} is a switch, whose ports take no addresses ({', '.join(addresses)}); remove them"
                yield Problem("error", f"link {link.name}", message)


def _twice(nodes: dict[str, Node], ports: list[Port]) -> Iterator[Problem]:
    """One address at two ports, of which at least one is ours; two hosts' own are looked at elsewhere."""
    owners: dict[IPv4Address | IPv6Address, tuple[Port, bool]] = {}
    for port in ports:
        for i, interface in enumerate(port.interfaces):
            mininets = port.has_host_address and i == 0
            if interface.ip not in owners:
                owners[interface.ip] = (port, mininets)
                continue
            other, others = owners[interface.ip]
            if mininets and others:
                continue
            message = f"{port.interface} has the address {interface.ip} that {other.interface} has too; change one"
            yield Problem("warning", _where(nodes, port.node), message, port.interface, interface.version)


def _subnets(nodes: dict[str, Node], segment: Segment) -> Iterator[Problem]:
    """Ports without a router between them whose subnets differ: they do not find each other."""
    for version in (4, 6):
        there = [(port, i) for port in segment.ports for i in port.interfaces if i.version == version]
        if not there:
            continue
        networks = Counter(interface.network for _, interface in there)  # few, however many ports there are
        ordered = sorted(there, key=lambda pair: not addressing.is_router(nodes[pair[0].node]))
        for port, interface in there:
            beside = next(((p, other) for p, other in ordered if p is not port), None)
            if beside is None:
                continue
            own = [i.network for i in port.interfaces]
            if not any(interface.ip in network and count > own.count(network) for network, count in networks.items()):
                message = (
                    f"{port.interface} has {interface}, but no router stands between it and {beside[0].interface}, "
                    f"which has {beside[1]}; give it an address in {beside[1].network}"
                )
                yield Problem("warning", _where(nodes, port.node), message, port.interface, interface.version)
            elif interface.ip in beside[1].network and interface.network != beside[1].network:
                message = (
                    f"{port.interface} has {interface}, and {beside[0].interface} on the same link has the prefix "
                    f"length {beside[1].network.prefixlen}; they must be the same"
                )
                yield Problem("warning", _where(nodes, port.node), message, port.interface, interface.version)


def _overlaps(nodes: dict[str, Node], segments: list[Segment]) -> Iterator[Problem]:
    """Two ports of a router in one subnet: it sends what is for both to one of them."""
    of_router: dict[str, list[Port]] = {name: [] for name, node in nodes.items() if addressing.is_router(node)}
    for port in (port for segment in segments for port in segment.ports):
        if port.node in of_router:
            of_router[port.node].append(port)
    for name, ports in of_router.items():
        seen: list[tuple[Port, Interface]] = []
        for port in ports:
            for interface in port.interfaces:
                for other, before in seen:
                    if other.interface != port.interface and _overlap(before, interface):
                        message = (
                            f"{other.interface} ({before}) and {port.interface} ({interface}) are in the same subnet; "
                            f"each port of a router needs its own. {ASSIGN}"
                        )
                        yield Problem("warning", f"router {name}", message, port.interface, interface.version)
                seen.append((port, interface))


def _overlap(one: Interface, other: Interface) -> bool:
    if one.version != other.version:
        return False
    return one.ip in other.network or other.ip in one.network


def connected(node: Node, ports: list[Port]) -> list[Interface]:
    """The subnets that a node is in, with those of its VLANs."""
    vlans = node.opts.get("vlanInterfaces", ()) if isinstance(node, Host) else ()
    return [i for port in ports for i in port.interfaces] + [
        ip_interface(addressing.with_class(address)) for address, _ in vlans
    ]


def _gateways(nodes: dict[str, Node], ports: list[Port], *, only_errors: bool) -> Iterator[Problem]:
    of_node: dict[str, list[Port]] = defaultdict(list)
    for port in ports:
        of_node[port.node].append(port)
    there = set() if only_errors else {i.ip for port in ports for i in port.interfaces}
    # a start command may give addresses that no file shows
    typed = any(node.opts.get("startCommand") for node in nodes.values())
    for name, node in nodes.items():
        if not addressing.has_ports(node):
            if node.own.get("routes"):
                yield Problem("error", f"switch {name}", "a switch has no routes of its own; remove them")
            continue
        routes = addressing.routes(node)
        subnets = connected(node, of_node[name]) if routes else []
        for route in routes:
            via = ip_address(route.via)
            at = "gateway" if route.is_default and route.version == 4 else "routes"
            what = "the default gateway" if route.is_default else f"the next router of {route.to},"
            if any(via == i.ip for i in subnets):
                message = f"{what} {via} is {name} itself; name the router that comes next"
                yield Problem("warning", _where(nodes, name), message, at)
            elif not any(via in i.network for i in subnets):
                yield Problem("error", _where(nodes, name), _unreachable(what, route, name, subnets), at)
            elif not only_errors and via not in there and not typed:
                message = f"no port has the address {via} of {what.rstrip(',')}; correct it, or give it to the router"
                yield Problem("warning", _where(nodes, name), message, at)


def _unreachable(what: str, route: StaticRoute, name: str, connected: list[Interface]) -> str:
    subnets = ", ".join(str(i.network) for i in connected if i.version == route.version)
    if not subnets:
        return f"{what} {route.via} cannot be reached: {name} has no IPv{route.version} address; give its port one"
    return (
        f"{what} {route.via} is in none of its subnets ({subnets}); choose an address there, or correct the address "
        "or prefix length of its port"
    )


def _left_out(nodes: dict[str, Node], segments: list[Segment]) -> Iterator[Problem]:
    """Ports of routers without an address, and hosts beside a router that know no way beyond it."""
    bare: dict[str, list[str]] = defaultdict(list)
    for segment in segments:
        routed = [p for p in segment.ports if addressing.is_router(nodes[p.node])]
        for port in routed:
            if not port.addresses and not nodes[port.node].opts.get("startCommand"):
                bare[port.node].append(port.interface)
        ready = [p for p in routed if any(i.version == 4 for i in p.interfaces)]
        for port in segment.ports if ready else ():
            node = nodes[port.node]
            if isinstance(node, Host) and not addressing.routes(node) and not node.opts.get("startCommand"):
                gateway = next(i.ip for i in ready[0].interfaces if i.version == 4)
                message = f"has no default gateway, so it reaches its own subnet alone; {gateway} is {ready[0].node}'s"
                yield Problem("warning", f"host {port.node}", message, "gateway")
    for name, interfaces in bare.items():
        has = "has no address, so it routes" if len(interfaces) == 1 else "have no addresses, so it routes"
        message = f"{', '.join(interfaces)} {has} nothing there. {ASSIGN}"
        yield Problem("warning", f"router {name}", message, interfaces[0])
