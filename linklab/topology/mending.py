# SPDX-License-Identifier: BSD-3-Clause
"""A file with faults → one without, and a sentence for each change: what Edit > Mend does, all at once.

Values that MiniEdit forgives are written as the format has them, and those that cannot be read are removed. Names
become valid on Linux, links lead somewhere, every host has its own address, every route has a reachable next router,
and every node a place. A mended drawing has no errors (`Topology.problems`). Pure; the time is linear in the file.
Names are in `naming`, routes in `mending_routes`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from ipaddress import IPv4Network
from itertools import count
from typing import Any, TypeVar

from linklab.base.text import excerpt, quoted
from linklab.errors import InputError
from linklab.topology import arrange, mending_routes
from linklab.topology.checks import LONGEST_INTERFACE_NAME, known_keys, wireless_names, wrong_values
from linklab.topology.drawn import interface_of
from linklab.topology.forgiven import forgiven
from linklab.topology.model import Topology
from linklab.topology.naming import named_well
from linklab.topology.parts import Controller, Host, Link, Node, Preferences, Switch, position

P = TypeVar("P", Host, Switch, Controller, Link)
IP_BASE = "10.0.0.0/8"
WIRELESS = ("stations", "aps")


def mend(topology: Topology) -> tuple[Topology, list[str]]:
    """The drawing without faults, and a sentence for each change; the same object if nothing has to change."""
    said: list[str] = []
    topology, read = forgiven(topology)
    said += [f"{each.where}: {each.message}" for each in read]
    for step in STEPS:
        topology, more = step(topology)
        said += more
    return topology, said


def _values(topology: Topology) -> tuple[Topology, list[str]]:
    """Remove the values that cannot be read."""
    said: list[str] = []

    def good(what: str, where: str, opts: Mapping[str, Any]) -> dict[str, Any]:
        wrong = dict(wrong_values(what, opts))
        for key, wanted in wrong.items():
            said.append(f'{where}: "{key}" {quoted(opts[key])} is removed, since it {wanted}')
        return {key: value for key, value in opts.items() if key not in wrong}

    def mended(part: P) -> P:
        where = f"{part.what} {part.name}"
        opts: Mapping[str, Any] = part.opts
        if any(wrong_values(part.what, opts)):
            fresh = good(part.what, where, opts)
            if isinstance(part, Controller):
                fresh.setdefault("hostname", part.name)
            part = replace(part, opts=fresh)
        if isinstance(part, Node) and any(len(name) > LONGEST_INTERFACE_NAME for name in part.external_interfaces):
            short = [name for name in part.external_interfaces if len(name) <= LONGEST_INTERFACE_NAME]
            said.append(f"{where}: external interfaces keep only names that Linux can have")
            part = replace(part, opts={**part.opts, "externalInterfaces": short})
        return part

    application = topology.application
    if application is not None:
        data = good("application", "application", application.data)
        for key in ("netflow", "sflow", "openFlowVersions"):
            if key in data:
                data[key] = good(f"application {key}", f"application {key}", data[key])
        application = application if data == dict(application.data) else Preferences(data)
    after = replace(
        topology,
        application=application,
        controllers=None if topology.controllers is None else tuple(map(mended, topology.controllers)),
        hosts=tuple(map(mended, topology.hosts)),
        switches=tuple(map(mended, topology.switches)),
        links=tuple(_readable(mended(link), said) for link in topology.links),
    )
    return (after, said) if said else (topology, said)


def _readable(link: Link, said: list[str]) -> Link:
    """Remove the settings of a direction that cannot be read."""
    for key in ("forward", "backward"):
        if link.own.get(key) is None:
            continue
        try:
            _ = replace(link, own={key: link.own[key]}).impairments
        except InputError as error:
            said.append(f"link {link.name}: the settings of one direction are removed: {error}")
            link = replace(link, own={other: value for other, value in link.own.items() if other != key})
    return link


def _wired(topology: Topology) -> tuple[Topology, list[str]]:
    """Turn the stations and access points of Mininet-WiFi into wired hosts and switches."""
    if not wireless_names(topology):
        return topology, []
    said: list[str] = []
    stations = _wired_nodes(topology, Host, said)
    points = _wired_nodes(topology, Switch, said)
    linked = {name for link in topology.links for name in (link.src, link.dest)}
    links = []
    for station in stations:
        if station.name not in linked and points:
            nearest = min(points, key=lambda point: math.dist(position(point), position(station)))
            links.append(Link(station.name, nearest.name))
            said.append(f"{station.name} is linked to {nearest.name}, the nearest of the former access points")
    after = replace(
        topology,
        hosts=(*topology.hosts, *stations),
        switches=(*topology.switches, *points),
        links=(*topology.links, *links),
        extra={key: value for key, value in topology.extra.items() if key not in WIRELESS},
    )
    return after, said


def _wired_nodes(topology: Topology, kind: Any, said: list[str]) -> list[Any]:
    """The stations as hosts, or the access points as legacy switches."""
    filed, others, prefix = ("stations", topology.hosts, "sta") if kind is Host else ("aps", topology.switches, "ap")
    what = "a host in place of a station" if kind is Host else "a legacy switch in place of an access point"
    taken = {node.node_num for node in others}
    free = (number for number in count(1) if number not in taken)
    given = topology.extra.get(filed, [])
    nodes = []
    for data in given if isinstance(given, list) else [given]:
        if not isinstance(data, Mapping) or not isinstance(data.get("opts"), Mapping):
            said.append(f'an entry of "{filed}" is removed, since it has no "opts": {quoted(data)}')
            continue
        name = str(data["opts"].get("hostname", f"{prefix}{data.get('number', '')}"))
        opts, lost = _wired_opts(kind, data["opts"])
        place = {key: data.get(key) if isinstance(data.get(key), str | int | float) else None for key in ("x", "y")}
        nodes.append(_numbered(kind(number="0", **place, opts={**opts, "hostname": name}), next(free)))
        said.append(f"{name} is wired now: {what}{f', without {lost}' if lost else ''}")
    return nodes


def _wired_opts(kind: type[Host | Switch], opts: Mapping[str, Any]) -> tuple[dict[str, Any], str]:
    """The options that a wired node keeps of a wireless one's, and the names of the others that are set."""
    ours = {"switchType": "legacySwitch", "controllers": []} if kind is Switch else {}
    given = {key: value for key, value in opts.items() if value not in (None, "", [], 0, "default", "none")}
    kept = {key: value for key, value in given.items() if key in known_keys(kind.what) and key not in ours}
    wrong = dict(wrong_values(kind.what, kept))
    kept = {key: value for key, value in kept.items() if key not in wrong}
    lost = sorted(key for key in given if key not in kept and key not in ("hostname", "nodeNum"))
    return {**kept, **ours}, ", ".join(map(excerpt, lost))


def _links(topology: Topology) -> tuple[Topology, list[str]]:
    """Remove links and controllers that lead nowhere; a link to a controller becomes what MiniEdit stores for it."""
    said: list[str] = []
    names = {node.name for node in topology.nodes}
    controllers = {controller.name for controller in topology.all_controllers}
    openflow = {switch.name for switch in topology.switches if switch.type not in ("legacySwitch", "legacyRouter")}
    asked: dict[str, list[str]] = {}
    kept = []
    for link in topology.links:
        ends = {link.src, link.dest}
        if link.src != link.dest and ends <= names:
            kept.append(link)
        elif len(ends) == 2 and ends & controllers and ends & openflow:
            (asking,), (controller,) = ends & openflow, ends & controllers
            asked.setdefault(asking, []).append(controller)
            said.append(f"{asking} uses the controller {controller} instead of a link to it")
        else:
            said.append(f"the link {link.name} led nowhere and is removed")
    switches = []
    for switch in topology.switches:
        given = list(switch.controllers)
        now = list(dict.fromkeys(name for name in (*given, *asked.get(switch.name, ())) if name in controllers))
        if lost := sorted(set(given) - controllers):
            said.append(f"{switch.name} no longer uses {', '.join(lost)}, which does not exist")
        switches.append(switch if now == given else replace(switch, opts={**switch.opts, "controllers": now}))
    return (replace(topology, links=tuple(kept), switches=tuple(switches)), said) if said else (topology, said)


def _ports(topology: Topology) -> tuple[Topology, list[str]]:
    """Count the port of a link anew if another link of the node already has the number."""
    said: list[str] = []
    taken = {(node.name, node.first_port + i) for node in topology.nodes for i in range(len(node.external_interfaces))}
    links = []
    for link in topology.links:
        ports = list(link.ports)
        for end, name in enumerate((link.src, link.dest)):
            port = ports[end]
            if port is not None and (name, port) in taken:
                said.append(f"link {link.name}: port {port} of {name} is taken, so the link has the next free one")
                ports[end] = None
            elif port is not None:
                taken.add((name, port))
        links.append(link if ports == list(link.ports) else replace(link, own={**link.own, "ports": ports}))
    return (replace(topology, links=tuple(links)), said) if said else (topology, said)


def _addresses(topology: Topology) -> tuple[Topology, list[str]]:
    """Give every host its own address."""
    said: list[str] = []
    base = IPv4Network(topology.preferences.ip_base, strict=False)
    lacking = _without_address(topology, base)
    if lacking and base.num_addresses < 2 * len(topology.hosts) + 3:
        said.append(f"application: ipBase {base} has too few addresses and is now {IP_BASE}")
        data = {**topology.preferences.data, "ipBase": IP_BASE}
        topology, base = replace(topology, application=Preferences(data)), IPv4Network(IP_BASE)
        lacking = _without_address(topology, base)
    numbers = {host.node_num for host in topology.hosts}
    owned = {interface_of(topology.address(host)).ip for i, host in enumerate(topology.hosts) if i not in lacking}
    free = (number for number in count(1) if number not in numbers and base.network_address + number not in owned)
    hosts = []
    for i, host in enumerate(topology.hosts):
        if i not in lacking and host.node_num:
            hosts.append(host)
            continue
        numbered = _numbered(host, next(free))
        if i in lacking:
            opts = {key: value for key, value in numbered.opts.items() if key != "ip"}
            numbered = replace(numbered, opts=opts)
            said.append(f"{host.name} now has the address {topology.address(numbered)}, which no other host has")
        else:
            said.append(f'{host.name} now has the number {numbered.node_num}; its "ip" stays')
        hosts.append(numbered)
    return (replace(topology, hosts=tuple(hosts)), said) if said else (topology, said)


def _without_address(topology: Topology, base: IPv4Network) -> set[int]:
    """Indices of the hosts that have no address, or one that another host keeps.

    Of two hosts with one address, the one keeps it whose address is in the file, else the first.
    """
    found, owners = set(), set()
    for i, host in sorted(enumerate(topology.hosts), key=lambda each: not each[1].opts.get("ip")):
        usable = bool(host.opts.get("ip")) or 0 < host.node_num < base.num_addresses
        address = interface_of(topology.address(host)).ip if usable else None
        if address is None or address in owners:
            found.add(i)
        owners.add(address)
    return found


N = TypeVar("N", Host, Switch)


def _numbered(node: N, number: int) -> N:
    return replace(node, number=str(number), opts={**node.opts, "hostname": node.name, "nodeNum": number})


def _places(topology: Topology) -> tuple[Topology, list[str]]:
    """Give coordinates to each node and controller that has none, and move apart those that lie on one another."""
    everyone: list[Node | Controller] = [*topology.nodes, *topology.all_controllers]
    lost = [node.name for node in everyone if not is_placed(node)]
    placed = [node for node in everyone if is_placed(node)]
    known: dict[str, tuple[float, float]] = {}
    first_at: dict[tuple[float, float], str] = {}
    hidden: dict[str, str] = {}
    for node in sorted(placed, key=_is_movable):
        at = position(node)
        below = first_at.setdefault(at, node.name)
        if below != node.name and _is_movable(node):
            hidden[node.name] = below
        else:
            known[node.name] = at
    if not lost and not hidden:
        return topology, []
    if not placed or (len(first_at) == 1 and len(hidden) > 1):  # all at one place says no more than none at all
        places = arrange.arranged(topology)
        lost, hidden = [node.name for node in everyone if _is_movable(node)], {}
    else:
        wanted = {node.name: position(node) for node in placed if node.name in hidden}
        places = arrange.beside(topology, [*lost, *hidden], known, wanted)
    said = [f"{excerpt(', '.join(lost), 80)}: placed in the drawing"] if lost else []
    on: dict[str, list[str]] = {}
    for name, below in hidden.items():
        on.setdefault(below, []).append(name)
    for below, names in on.items():
        shown, lay = excerpt(", ".join(names), 80), "it lay" if len(names) == 1 else "they lay"
        said.append(f"{shown}: moved aside, because {lay} exactly on {below}")
    return moved(topology, {name: places[name] for name in (*lost, *hidden)}), said


def _is_movable(node: Node | Controller) -> bool:
    """Whether the file keeps where it stands: a controller of version 1 has its place by itself."""
    return not isinstance(node, Controller) or node.key is None


def is_placed(node: Node | Controller) -> bool:
    """Whether the file says where a node stands, or cannot say it, as for a controller of version 1."""
    if isinstance(node, Controller) and node.key is not None:
        return True
    try:
        return all(math.isfinite(float(value)) for value in (node.x, node.y) if value is not None) and None not in (
            node.x,
            node.y,
        )
    except (ValueError, OverflowError):
        return False


def moved(topology: Topology, places: Mapping[str, tuple[float, float]]) -> Topology:
    """Nodes and controllers at these coordinates."""

    def at(node: Any) -> Any:
        if node.name not in places or getattr(node, "key", None) is not None:
            return node
        x, y = places[node.name]
        return replace(node, x=str(float(round(x))), y=str(float(round(y))))

    return replace(
        topology,
        hosts=tuple(map(at, topology.hosts)),
        switches=tuple(map(at, topology.switches)),
        controllers=None if topology.controllers is None else tuple(map(at, topology.controllers)),
    )


STEPS = (
    _values,
    _wired,
    named_well,
    _links,
    _ports,
    mending_routes.readable,
    _addresses,
    mending_routes.reachable,
    _places,
)
"""Each relies on those before it."""
