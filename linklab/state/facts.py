# SPDX-License-Identifier: BSD-3-Clause
"""A state → the facts that checks are about, in base units: "s1-eth2.rate" → 1e9, "h1.cc" → "bbr".

Pure. The names are listed in docs/writing-an-exercise.md; what is not there is absent.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from linklab.state.disciplines import inwards
from linklab.state.model import CLIENT, State
from linklab.state.node import Interface, Node, Route
from linklab.state.passage import passage, queue_bytes
from linklab.tc import (
    HOOKS,
    EdtLink,
    Options,
    Qdisc,
)
from linklab.topology import Topology
from linklab.topology.checks import wireless_names

ARROW = ">"
"""Stands between source and target in the names of facts."""
CC = "net.ipv4.tcp_congestion_control"
BUFFERS = {"rmem": "net.ipv4.tcp_rmem", "wmem": "net.ipv4.tcp_wmem"}
OFFLOADS = {"gso": "tx-generic-segmentation", "gro": "rx-gro"}
_TSO = re.compile(r"tx-tcp\w*-(?:\w+-)?segmentation")
LINKS = "edt"
"""The discipline of an interface with links by departure time."""
_PLAIN_LO = {"mtu": 65536.0, "up": "yes", "tso": "on", "gso": "on", "gro": "on", "discipline": "none"}
"""A loopback interface as Linux makes it and Mininet leaves it (drivers/net/loopback.c)."""
_OWN = "127.0.0.1/8"
_NOT_OF_LO = ("address", "mac")
_NO_DISCIPLINE = ("noqueue", "noop")


def facts(state: State, topology: Topology | None = None) -> dict[str, float | str]:
    """All facts of a state, and of the topology it belongs to."""
    found: dict[str, float | str] = {} if topology is None else _of_topology(topology)
    for name, node in state.nodes.items():
        found |= {f"{name}.{fact}": value for fact, value in _of_node(name, node).items()}
    owner = owners(state)
    for name, (_, interface) in state.interfaces().items():
        found |= {f"{name}.{fact}": value for fact, value in of_interface(interface).items()}
        for link in interface.links:
            if not link.is_of_all:
                found |= {f"{name}.{ends(link, owner)}.{fact}": value for fact, value in _of_link(link).items()}
    return dict(sorted(found.items()))


def owners(state: State) -> dict[str, str]:
    """Address → the node that has it."""
    return {
        address.partition("/")[0]: node
        for node, settings in state.nodes.items()
        for interface in settings.interfaces.values()
        for address in interface.addresses
    }


def ends(link: EdtLink, owner: Mapping[str, str]) -> str:
    """How facts call a link by departure time: "h1>h2", by addresses where no node has them."""
    return ARROW.join(owner.get(end, end) for end in link.pairs[0])


def _of_link(link: EdtLink) -> dict[str, float | str]:
    return {**link.facts(), **({"options": link.untold} if link.untold else {})}


def _of_topology(topology: Topology) -> dict[str, float | str]:
    links = sorted("-".join(sorted((link.src, link.dest))) for link in topology.links)
    ports = peers(topology)
    plain = "no" if any(link.impaired for link in topology.links) else "yes"
    return {
        "topology.nodes": " ".join(sorted(node.name for node in topology.nodes)),
        "topology.links": " ".join(links),
        **({"topology.plain_links": plain} if ports else {}),
        "topology.start_cli": "yes" if topology.preferences.start_cli else "no",
        **{f"{interface}.peer": other for interface, other in ports.items()},
    }


def peers(topology: Topology) -> dict[str, str]:
    """Interface → the one at the other end of its link; nothing in a topology that cannot be run."""
    errors = any(problem.severity == "error" for problem in topology.problems())
    return {} if errors or wireless_names(topology) else topology.port_names()


def _of_node(name: str, node: Node) -> dict[str, float | str]:
    found: dict[str, float | str] = {}
    if CC in node.sysctls:
        found["cc"] = node.sysctls[CC]
    for fact, sysctl in BUFFERS.items():
        # at the client they follow from the machine's memory
        if name != CLIENT and (value := node.sysctls.get(sysctl, "").split(" ")[-1]).isdecimal():
            found[fact] = float(value)
    others = {sysctl: value for sysctl, value in node.sysctls.items() if sysctl not in (CC, *BUFFERS.values())}
    found |= {f"sysctl.{sysctl}": value for sysctl, value in others.items()}
    if node.routes:
        found["routes"] = "; ".join(route_words(route) for route in node.routes)
    if "lo" in node.interfaces and (told := _of_loopback(node.interfaces["lo"])):
        found["lo"] = told
    return found


def _of_loopback(interface: Interface) -> str:
    """How a loopback interface differs from one that nobody has touched: "address 10.0.0.3/32, discipline netem"."""
    found = of_interface(interface)
    added = [each for each in interface.addresses if each != _OWN]
    told = {"address": " ".join(added), **{name: value for name, value in found.items() if name not in _NOT_OF_LO}}
    return ", ".join(
        f"{name} {value:.12g}" if isinstance(value, float) else f"{name} {value}"
        for name, value in told.items()
        if value not in ("", _PLAIN_LO.get(name))
    )


def route_words(route: Route) -> str:
    """A route as ip(8) says it: "10.0.0.0/8 dev h1-eth0"."""
    words = [route.to] if route.type == "unicast" else [route.type, route.to]
    words += [f"via {route.via}"] if route.via else []
    words += [f"dev {route.dev}"] if route.dev else []
    words += [f"metric {route.metric}"] if route.metric else []
    words += [f"{name} {value}" for name, value in sorted(route.options.items())]
    return " ".join([*words, *([f"({route.unread})"] if route.unread else [])])


def of_interface(interface: Interface) -> dict[str, float | str]:
    """The facts of one interface, without its name."""
    found: dict[str, float | str] = {"mtu": float(interface.mtu), "up": "yes" if interface.up else "no"}
    if interface.mac:
        found["mac"] = interface.mac
    if interface.addresses:
        found["address"] = " ".join(interface.addresses)
    if tso := [on for name, on in interface.features.items() if _TSO.fullmatch(name)]:
        found["tso"] = "on" if any(tso) else "off"
    for fact, feature in OFFLOADS.items():
        if feature in interface.features:
            found[fact] = "on" if interface.features[feature] else "off"
    qdiscs = inwards(interface)
    kinds = [qdisc.kind for qdisc in qdiscs if qdisc.kind not in _NO_DISCIPLINE]
    kinds += [LINKS] if interface.links or interface.unread else []
    kinds += [qdisc.kind for qdisc in interface.qdiscs if qdisc.kind in HOOKS]
    found["discipline"] = " ".join(dict.fromkeys(kinds)) or "none"
    if (queue := queue_bytes(interface)) is not None:
        found["queue"] = float(queue)
    if options := _options(interface, qdiscs):
        found["options"] = options
    found |= passage(interface, qdiscs)
    return found | (_of_link(link) if (link := of_all(interface)) else {})


def of_all(interface: Interface) -> EdtLink | None:
    """The link by departure time of all that leaves and belongs to no other."""
    return next((link for link in interface.links if link.is_of_all), None)


def _options(interface: Interface, qdiscs: list[Qdisc]) -> str:
    """What no other fact tells of disciplines, and classes and filters: "netem delay_correlation 0.25"."""
    told = [(qdisc.kind, qdisc.untold) for qdisc in qdiscs]
    told += [(f"class {each.classid} in {each.parent}", each.options) for each in interface.classes]
    told += [(f"filter {each.kind} at {each.parent} pref {each.pref}", each.options) for each in interface.filters]
    parts = [f"{head} {_in_words(options)}" for head, options in told if options]
    return "; ".join(parts)


def _in_words(options: Options) -> str:
    """Such as "rate_bit 1000000 ecn"; what is False or 0 is what a discipline does without the word."""
    shown = [(name, value) for name, value in sorted(options.items()) if value not in (False, 0)]
    return " ".join(name if value is True else f"{name} {_plain(value)}" for name, value in shown)


def _plain(value: Any) -> str:
    return ",".join(map(str, value)) if isinstance(value, (list, tuple)) else str(value)
