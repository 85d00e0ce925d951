# SPDX-License-Identifier: BSD-3-Clause
"""A state → the facts that checks are about, in base units: "s1-eth2.rate" → 1e9, "h1.cc" → "bbr".

Pure. The names are listed in docs/writing-an-exercise.md; what is not there is absent.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from linklab.state.model import CLIENT, State
from linklab.state.node import Interface, Node, Route
from linklab.tc import (
    DEFAULT_HANDLE,
    FRAME_BYTES,
    HOOKS,
    LEAF_LIMIT,
    Class,
    EdtLink,
    Options,
    Qdisc,
    loss_model,
    mean_loss,
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
_QUEUES_OF_FLOWS = ("fq", "fq_codel", "fq_pie", "sfq", "cake")


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
    found |= _shaping(interface) | _trouble(interface, qdiscs)
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


def _shaping(interface: Interface) -> dict[str, float | str]:
    """What limits the rate of the interface."""
    found: dict[str, float | str] = {}
    rates, bursts = [], []
    tops_of = _tops(interface)
    for qdisc in entered(interface):
        if rate := _rate(qdisc, tops_of):
            rates.append(rate)
        bursts += [top["burst"] for top in tops_of.get(qdisc.handle, ()) if "burst" in top]
        bursts += [qdisc.options["burst"]] if "burst" in qdisc.options else []
    if rates:
        found["rate"] = float(min(rates))
    if bursts:
        found["burst"] = float(bursts[0])
    return found


def _tops(interface: Interface) -> dict[str, list[Options]]:
    """Handle of an htb, or a class → the options of the classes in it."""
    found: dict[str, list[Options]] = {}
    for each in interface.classes:
        found.setdefault(each.parent, []).append(each.options)
    return found


def _rate(qdisc: Qdisc, tops_of: Mapping[str, Sequence[Options]]) -> int | None:
    """What passes at most, bit/s; None where it limits no rate."""
    if qdisc.classful:
        return sum(top.get("ceil_bit", 0) for top in tops_of.get(qdisc.handle, ())) or None
    return qdisc.rate_bit


def _trouble(interface: Interface, qdiscs: list[Qdisc]) -> dict[str, float | str]:
    """What the netems of an interface and its fq's do: delay, loss, and pacing of each packet, else what one may meet.

    Where filters lead packets apart, they have the least delay, the least loss, and the fastest pacing of all ways:
    otherwise a discipline that no packet enters would stand for one that all have to pass.  Without filters all packets
    of the tests go one way, since their type of service is 0.
    """
    netems = [qdisc.options for qdisc in entered(interface) if qdisc.kind == "netem"]
    delay, spared, pacing = _least(interface, qdiscs)
    found: dict[str, float | str] = {"delay": delay, "loss": round(1 - spared, 12)}
    found["pacing"] = pacing if math.isfinite(pacing) else 0
    found["jitter"] = sum(netem.get("jitter_ns", 0) for netem in netems) / 1e9
    for name in ("duplicate", "corrupt", "reorder"):
        found[name] = round(1 - math.prod(1 - netem.get(name, 0) for netem in netems), 12)
    found["loss_model"] = "; ".join(filter(None, map(loss_model, netems)))
    return {name: value for name, value in found.items() if value}


def _least(interface: Interface, qdiscs: list[Qdisc]) -> tuple[float, float, float]:
    """Of all ways from the root inwards: least delay, s, largest share that is not lost, fastest pacing, bit/s or inf.

    A class or band that nothing stands in is a way, and so is an htb itself for packets that belong to none of its
    classes.
    """
    below, leaves, astray = inside(interface), plain_leaves(interface), _astray(interface)
    sorting = _sorting(interface)
    passed: dict[str, tuple[int, float, float]] = {}
    nothing = (0, 1.0, math.inf)
    for qdisc in reversed(qdiscs):
        in_it = [each for each in below.get(qdisc.handle, ()) if each.handle in passed]
        only = "" if qdisc.handle in sorting else _only_place(qdisc)
        ways = [passed[each.handle] for each in in_it if only in ("", each.parent)]
        if only:
            ways = ways[:1] if qdisc.handle not in astray else []
            ways = ways or [nothing]
        elif len(ways) < max(1, qdisc.bands) or leaves.get(qdisc.handle) or qdisc.handle in astray:
            ways.append(nothing)
        delay_ns, spared = min(way[0] for way in ways), max(way[1] for way in ways)
        pacing = min(max(way[2] for way in ways), qdisc.flow_rate_bit or math.inf)
        if qdisc.kind == "netem":
            delay_ns, spared = delay_ns + qdisc.options.get("delay_ns", 0), spared * (1 - mean_loss(qdisc.options))
        passed[qdisc.handle] = delay_ns, spared, pacing
    top = root(interface)
    delay_ns, spared, pacing = nothing if top is None else passed[top.handle]
    return delay_ns / 1e9, spared, float(pacing)


def _only_place(qdisc: Qdisc) -> str:
    """Where all packets go that no filter leads elsewhere: a band of prio, the default class of htb, else ""."""
    if qdisc.classful:
        return f"{qdisc.handle}{qdisc.options.get('default', 0):x}"
    return f"{qdisc.handle}{qdisc.options['priomap'][0] + 1:x}" if qdisc.bands and "priomap" in qdisc.options else ""


def _sorting(interface: Interface) -> set[str]:
    """Handles of the disciplines at which filters lead packets apart, or at whose classes."""
    return {f"{each.parent.partition(':')[0]}:" for each in interface.filters}


def _astray(interface: Interface) -> set[str]:
    """Handles of the htbs of which some packets may enter no class, so that they pass at once (tc-htb(8), default).

    Either it has no default class, or a filter leads to a class that is not there.
    """
    known = {each.classid for each in interface.classes}
    ends = known - {each.parent for each in interface.classes}
    htbs = {qdisc.handle: qdisc.options.get("default", 0) for qdisc in interface.qdiscs if qdisc.classful}
    found = {handle for handle, default in htbs.items() if f"{handle}{default:x}" not in ends}
    for each in interface.filters:
        if each.options.get("classid", "") not in known:
            found.add(f"{each.parent.partition(':')[0]}:")
    return found


def root(interface: Interface) -> Qdisc | None:
    """The discipline that packets enter first; None where the kernel has not even a default one."""
    return next((qdisc for qdisc in interface.qdiscs if qdisc.parent == "root"), None)


def inside(interface: Interface) -> dict[str, list[Qdisc]]:
    """Handle → the disciplines inside that one, or inside its classes."""
    found: dict[str, list[Qdisc]] = {}
    for qdisc in interface.qdiscs:
        found.setdefault(f"{qdisc.parent.partition(':')[0]}:", []).append(qdisc)
    found.pop(DEFAULT_HANDLE, None)
    return found


def inwards(interface: Interface) -> list[Qdisc]:
    """The disciplines from the root inwards."""
    return _walked(interface, lambda _: "")


def entered(interface: Interface) -> list[Qdisc]:
    """Those from the root inwards that packets of the tests may enter, whose type of service is 0.

    Where filters lead packets apart, and where some pass an htb at once, that is all of them.
    """
    return _walked(interface, _leading(interface))


def _leading(interface: Interface) -> Callable[[Qdisc], str]:
    """Discipline → the one of its places that packets of the tests enter, "" where that may be any or none."""
    apart = _sorting(interface) | _astray(interface)
    return lambda qdisc: "" if qdisc.handle in apart else _only_place(qdisc)


def _walked(interface: Interface, only_place: Callable[[Qdisc], str]) -> list[Qdisc]:
    """The disciplines from the root inwards; in linear time, since a hostile state may have tens of thousands.

    only_place: of a discipline, the one of its places that is looked into, "" for all.
    """
    below, found = inside(interface), dict[int, Qdisc]()
    waiting = [qdisc for qdisc in [root(interface)] if qdisc is not None]
    while waiting:
        qdisc = waiting.pop()
        if id(qdisc) not in found:
            found[id(qdisc)] = qdisc
            only = only_place(qdisc)
            waiting += reversed([each for each in below.pop(qdisc.handle, []) if only in ("", each.parent)])
    return [*found.values()]


def trunk(interface: Interface) -> list[Qdisc]:
    """The disciplines that every packet enters: from the root to where classes or bands may lead them apart."""
    below, found = inside(interface), list[Qdisc]()
    ways = [qdisc for qdisc in [root(interface)] if qdisc is not None]
    while len(ways) == 1:
        found += ways
        ways = [] if ways[0].classful or ways[0].bands else below.pop(ways[0].handle, [])
    return found


def queues(interface: Interface) -> str:
    """Whether packets that leave wait in "one" queue, or in "several", of flows, classes, bands, or pairs of hosts."""
    several = bool(interface.unread) or not all(link.is_of_all for link in interface.links)
    for qdisc in inwards(interface):
        own_of_flows = qdisc.kind in _QUEUES_OF_FLOWS and qdisc.options.get("flows") != 1
        several = several or own_of_flows or qdisc.bands > 1
    parents = {each.parent for each in interface.classes}
    ends = [each for each in interface.classes if each.classid not in parents]
    return "several" if several or len(ends) > 1 or _astray(interface) else "one"


def queue_bytes(interface: Interface) -> int | None:
    """What the innermost queue holds, the smallest of several; None where there is none.

    A netem that has the lowest rate itself is where packets wait, whatever is in it.
    """
    tops_of, held = _tops(interface), list[int | None]()
    ways, leading = entered(interface), _leading(interface)
    shaping = [(rate, qdisc) for qdisc in ways if (rate := _rate(qdisc, tops_of))]
    if shaping and (slowest := min(shaping, key=lambda each: each[0])[1]).kind == "netem":
        return slowest.capacity_bytes(interface.txqlen)
    filled, leaves = {f"{each.parent.partition(':')[0]}:" for each in ways}, plain_leaves(interface)
    for qdisc in ways:
        if qdisc.classful:
            only = leading(qdisc)
            ends = [each for each in leaves.get(qdisc.handle, ()) if only in ("", each.classid)]
            held += [each.options.get(LEAF_LIMIT, interface.txqlen) * FRAME_BYTES for each in ends]
        elif qdisc.handle not in filled:
            held.append(qdisc.capacity_bytes(interface.txqlen))
    known = [size for size in held if size is not None]
    return min(known) if known else None


def plain_leaves(interface: Interface) -> dict[str, list[Class]]:
    """Handle of an htb → its classes with nothing in them: each has a queue of the kernel's, of LEAF_LIMIT packets."""
    parents = {each.parent for each in interface.classes} | {each.parent for each in interface.qdiscs}
    found: dict[str, list[Class]] = {}
    for each in interface.classes:
        if each.classid not in parents:
            found.setdefault(f"{each.classid.partition(':')[0]}:", []).append(each)
    return found
