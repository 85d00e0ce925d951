# SPDX-License-Identifier: BSD-3-Clause
"""One state → another: the lines that lead a network there, and whether it has got there.

Pure. Lines are made of what `linklab.state.model` has checked, by tc(8), ip(8), ethtool(8) and sysctl(8); nothing in
them needs quoting beyond what stands here. MAC addresses are drawn anew in every network and left alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, replace

from linklab.errors import StateError
from linklab.exercise.link_lines import link_lines
from linklab.state.disciplines import inwards, root
from linklab.state.facts import ARROW, owners, route_words
from linklab.state.model import CLIENT, State
from linklab.state.node import Interface, Node, Route
from linklab.tc import DEFAULT_HANDLE, HOOKS, INCOMING, LEAF_LIMIT, Class, EdtLink, Filter, Options, Qdisc

_INNER_QUANTUM = 1514
"""For a class with classes below it, which has none: tc would warn of the one it computes."""
Line = tuple[str, str]


def restore_lines(now: State, wanted: State) -> list[Line]:
    """(node or "client", shell line) in order: what turns `now` into `wanted`, only where they differ.

    Raises:
        StateError: `wanted` holds something that no line here can make; the sentence names it.
    """
    _same_names("node", "the network", now.nodes, wanted.nodes)
    lines: list[Line] = []
    for name, after in wanted.nodes.items():
        before = now.nodes[name]
        _same_names("interface", name, before.interfaces, after.interfaces)
        lines += [(name, line) for line in _node_lines(name, before, after)]
    for name, after in wanted.nodes.items():  # by names of nodes, whose addresses are there only now
        for interface, becomes in after.interfaces.items():
            if _queues_unlike(now.nodes[name].interfaces[interface], becomes):
                lines += [(CLIENT, line) for line in link_lines(_place(name, interface), becomes, owners(wanted))]
    return lines


def with_missing_sysctls(state: State, start: State) -> State:
    """The state with each sysctl that it leaves out set as at the start.

    A state read on another kernel may lack some.  Without this, they would keep the values of the previous experiment.
    """
    nodes = {
        name: replace(node, sysctls={**start.nodes[name].sysctls, **node.sysctls}) if name in start.nodes else node
        for name, node in state.nodes.items()
    }
    return replace(state, nodes=nodes)


def settings_alone(now: State, wanted: State) -> State:
    """The part of `wanted` that can be set without the rest, and that lines are known for; the rest as it is in `now`.

    That is sysctls, MTU, queue length, offloads, and disciplines of the interfaces that both have.
    """
    nodes = {}
    for name, before in now.nodes.items():
        after = wanted.nodes.get(name, before)
        interfaces = {
            label: _alone(name, label, was, after.interfaces[label]) if label in after.interfaces else was
            for label, was in before.interfaces.items()
        }
        known = {sysctl: value for sysctl, value in after.sysctls.items() if sysctl in before.sysctls}
        nodes[name] = replace(before, interfaces=interfaces, sysctls={**before.sysctls, **known})
    return State(nodes)


def _alone(node: str, name: str, was: Interface, becomes: Interface) -> Interface:
    known = {feature: on for feature, on in becomes.features.items() if feature in was.features}
    found = replace(was, mtu=becomes.mtu, txqlen=becomes.txqlen, features={**was.features, **known})
    if any((was.links, was.unread, becomes.links, becomes.unread)):  # whose ends follow from addresses
        return found
    queues = replace(found, qdiscs=becomes.qdiscs, classes=becomes.classes, filters=becomes.filters)
    try:
        list(_queue_lines(_place(node, name), name, was, queues))
    except StateError:
        return found
    return queues


def _place(node: str, interface: str) -> str:
    """As `linklab link` calls an interface."""
    return interface if node == CLIENT else f"{node}:{interface}"


def _same_names(what: str, where: str, now: Mapping[str, object], wanted: Mapping[str, object]) -> None:
    for name in sorted({*now, *wanted}):
        if name not in now:
            raise StateError(f"{where} has the {what} {name}, which the drawing has not: it cannot be made again")
        if name not in wanted:
            raise StateError(f"{where} has no {what} {name} any more, though the drawing has: that cannot be repeated")


def _node_lines(name: str, before: Node, after: Node) -> Iterator[str]:
    settings = []
    for sysctl, value in after.sysctls.items():
        if sysctl not in before.sysctls:
            raise StateError(f"{name}: there is no {sysctl} where the network is graded")
        if value != before.sysctls[sysctl]:
            settings.append(f"{sysctl}='{value}'")
    if settings:
        yield f"sysctl -q -w {' '.join(settings)}"
    moved = False
    for interface in after.interfaces:
        was, becomes = before.interfaces[interface], after.interfaces[interface]
        yield from _link_lines(interface, was, becomes, before)
        moved = moved or (was.up, was.addresses) != (becomes.up, becomes.addresses)
        if was.features != becomes.features:
            yield _features_line(name, interface, was, becomes)
        if (was.links or was.unread) and _queues_unlike(was, becomes):
            yield f"linklab link clear at {_place(name, interface)} >/dev/null"
        yield from _queue_lines(f"{name}: {interface}" if name != CLIENT else interface, interface, was, becomes)
    if moved or not _same_routes(before.routes, after.routes):
        yield from _route_lines(name, before.routes, after.routes)


def _link_lines(interface: str, was: Interface, becomes: Interface, node: Node) -> Iterator[str]:
    link = f"ip link set dev {interface}"
    if (was.kind == "bridge") != (becomes.kind == "bridge"):  # StateWays finds the switches by the kind
        here = "a bridge" if was.kind == "bridge" else "not a bridge"
        raise StateError(f"{interface} is {here} here, but the state says the opposite")
    if becomes.master != was.master:
        bridges = {name for name, each in node.interfaces.items() if each.kind == "bridge"}
        if (was.master and was.master not in bridges) or (becomes.master and becomes.master not in bridges):
            raise StateError(f"{interface} was moved to another switch: that cannot be repeated")
        yield f"{link} master {becomes.master}" if becomes.master else f"{link} nomaster"
    if becomes.mtu != was.mtu:
        yield f"{link} mtu {becomes.mtu}"
    if becomes.txqlen != was.txqlen:
        yield f"{link} txqueuelen {becomes.txqlen}"
    if becomes.up != was.up:
        yield f"{link} {'up' if becomes.up else 'down'}"
    if becomes.addresses != was.addresses:
        yield f"ip -4 addr flush dev {interface}"
        yield from (f"ip addr add {address} brd + dev {interface}" for address in becomes.addresses)


def _features_line(node: str, interface: str, was: Interface, becomes: Interface) -> str:
    """All of them: one that is off only because another is comes back by itself with that one."""
    for feature in becomes.features:
        if feature not in was.features:
            raise StateError(f"{node}: {interface} cannot change {feature} where the network is graded")
    words = " ".join(f"{feature} {'on' if on else 'off'}" for feature, on in becomes.features.items())
    return f"ethtool -K {interface} {words} >/dev/null"


# --- queueing disciplines


def _queue_lines(where: str, interface: str, was: Interface, becomes: Interface) -> Iterator[str]:
    """Everything anew where anything differs: a part cannot always be changed while others hang on it."""
    if not _queues_unlike(was, becomes):
        return
    if becomes.unread:
        raise StateError(f"{where}: {becomes.unread} cannot be repeated, at most 1000 at an interface can")
    for qdisc in was.qdiscs:
        if qdisc.kind in HOOKS:
            yield f"tc qdisc del dev {interface} {qdisc.kind}"
        elif qdisc.parent == "root" and qdisc.handle != DEFAULT_HANDLE:
            yield f"tc qdisc del dev {interface} root"
    default, wanted = root(was), root(becomes)
    if wanted is not None and wanted.handle == DEFAULT_HANDLE:
        if default is not None and default.handle == DEFAULT_HANDLE and default.kind != wanted.kind:
            raise StateError(f"{where}: {wanted.kind} as the kernel's own default cannot be repeated")
    else:
        for qdisc in inwards(becomes):
            yield _line(f"{where}: {qdisc.kind} {qdisc.handle}", qdisc, interface)
            if qdisc.classful:
                yield from _class_lines(where, interface, qdisc, becomes)
    hooks = [qdisc for qdisc in becomes.qdiscs if qdisc.kind in HOOKS]
    yield from (qdisc.line(interface) for qdisc in hooks)
    reached = {id(qdisc) for qdisc in (*inwards(becomes), *hooks)}
    for qdisc in becomes.qdiscs:
        if id(qdisc) not in reached:
            raise StateError(f"{where}: {qdisc.kind} {qdisc.handle} hangs at {qdisc.parent}, which is not there")
    yield from (_filter_line(where, interface, each) for each in becomes.filters)


def _class_lines(where: str, interface: str, htb: Qdisc, becomes: Interface) -> Iterator[str]:
    """Of one htb, a class after the one it is in."""
    inside: dict[str, list[tuple[int, Class]]] = {}
    length = f"ip link set dev {interface} txqueuelen"
    for number, each in enumerate(becomes.classes):
        if each.classid.startswith(htb.handle):
            inside.setdefault(each.parent, []).append((number, each))
    ready = inside.pop(htb.handle, [])
    while ready:
        for _, each in ready:
            full = replace(each, options={"quantum": _INNER_QUANTUM, **each.options})
            line = _line(f"{where}: class {each.classid}", full, interface)
            if LEAF_LIMIT in each.options:  # is what it was when the class was made
                line = f"{length} {each.options[LEAF_LIMIT]}; {line}; {length} {becomes.txqlen}"
            yield line
        ready = sorted(below for _, each in ready for below in inside.pop(each.classid, ()))
    if inside:
        _, first = min(min(waiting) for waiting in inside.values())
        raise StateError(f"{where}: class {first.classid} is in {first.parent}, which is not there")


def _filter_line(where: str, interface: str, each: Filter) -> str:
    what = f"{where}: the {each.kind} filter of priority {each.pref} at {each.parent}"
    if each.parent.startswith(INCOMING.partition(":")[0]):
        raise StateError(f"{what} takes packets that come in: that cannot be repeated")
    return _line(what, each, interface)


def _line(what: str, each: Qdisc | Class | Filter, interface: str) -> str:
    """The line that sets it.

    Raises:
        StateError: nothing is known of its kind, or it has something that no words of tc say.
    """
    unread = each.options.get("unread", [])
    if each.known is None or unread:
        named = " and ".join(part for part in unread if part != "everything")
        said = f" with {named}" if named and each.known else ""
        raise StateError(f"{what}{said} cannot be repeated by Linklab; use a discipline of the labs")
    try:
        return each.line(interface)
    except StateError as error:
        raise StateError(f"{what}: {error}") from error


# --- routes


def _same_routes(one: tuple[Route, ...], other: tuple[Route, ...]) -> bool:
    return sorted(map(repr, one)) == sorted(map(repr, other))


def _route_lines(name: str, before: tuple[Route, ...], after: tuple[Route, ...]) -> Iterator[str]:
    """All that are wanted: an interface that was down or had another address has lost its routes."""
    kept = {_key(route) for route in after}
    for route in before:
        if _key(route) not in kept:
            yield f"ip route del {_key(route)} 2>/dev/null || true"
    # one that needs no gateway first: others are reached through it
    for route in sorted(after, key=lambda route: bool(route.via)):
        if route.unread:
            raise StateError(f"{name}: the route to {route.to} has {route.unread}, which cannot be repeated")
        yield f"ip route replace {_full_words(route)}"


def _key(route: Route) -> str:
    """What makes a route another one."""
    words = [route.to] if route.type == "unicast" else [route.type, route.to]
    return " ".join([*words, *([f"tos {route.tos:#x}"] if route.tos else []), f"metric {route.metric}"])


def _full_words(route: Route) -> str:
    words = [_key(route)]
    words += [f"via {route.via}"] if route.via else []
    words += [f"dev {route.dev}"] if route.dev else []
    words += [f"src {route.src}"] if route.src else []
    words += [f"scope {route.scope} proto {route.protocol}"]
    # times of the kernel's are in units of ms and fractions, tc's own words take them with a unit
    units = {"rto_min": (1, "ms"), "rtt": (8, "ms"), "rttvar": (4, "ms")}
    for option, value in sorted(route.options.items()):
        if option == "ecn":
            words.append("features ecn")
        elif option in units and isinstance(value, int):
            words.append(f"{option} {value / units[option][0]:g}{units[option][1]}")
        else:
            words.append(f"{option} {value}")
    return " ".join(words)


# --- whether two are alike


def unlike(one: State, other: State) -> list[str]:
    """Sentences on every setting that differs, without MAC addresses and what the kernel rounds; [] if alike."""
    found = [f"{name} is only in one of the two" for name in sorted({*one.nodes} ^ {*other.nodes})]
    for name in sorted({*one.nodes} & {*other.nodes}):
        found += _nodes_unlike(name, one.nodes[name], other.nodes[name])
    return found


def _nodes_unlike(name: str, one: Node, other: Node) -> Iterator[str]:
    for sysctl in sorted({*one.sysctls} & {*other.sysctls}):
        if one.sysctls[sysctl] != other.sysctls[sysctl]:
            yield f"{name}: {sysctl} is {one.sysctls[sysctl]}, not {other.sysctls[sysctl]}"
    if not _same_routes(one.routes, other.routes):
        routes = ["; ".join(map(route_words, node.routes)) or "none" for node in (one, other)]
        yield f"{name}: the routes are {routes[0]}, not {routes[1]}"
    for interface in sorted({*one.interfaces} ^ {*other.interfaces}):
        yield f"{name}: {interface} is only in one of the two"
    for interface in sorted({*one.interfaces} & {*other.interfaces}):
        was, becomes = one.interfaces[interface], other.interfaces[interface]
        for what in ("up", "mtu", "txqlen", "master", "addresses"):
            if getattr(was, what) != getattr(becomes, what):
                yield f"{interface}: {what} is {_shown(getattr(was, what))}, not {_shown(getattr(becomes, what))}"
        for feature in sorted({*was.features} | {*becomes.features}):
            if was.features.get(feature) != becomes.features.get(feature):
                yield f"{interface}: {feature} is {'on' if was.features.get(feature) else 'off'}, not as it should be"
        yield from (f"{interface}: {sentence}" for sentence in _queues_unlike(was, becomes))


def _shown(value: object) -> str:
    return " ".join(value) or "none" if isinstance(value, tuple) else str(value) or "none"


def _queues_unlike(one: Interface, other: Interface) -> list[str]:
    found: list[str] = []
    links = [sorted(f"{_ends_shown(link)} {link.does}" for link in side.links) for side in (one, other)]
    links = [[side.unread] if side.unread else told for side, told in zip((one, other), links, strict=True)]
    if links[0] != links[1]:
        told = [", ".join(sorted({*mine} - {*theirs})[:3]) or "fewer" for mine, theirs in (links, links[::-1])]
        found.append(f"links are {told[0]}, not {told[1]}")
    for what, key in (("qdiscs", "handle"), ("classes", "classid"), ("filters", "pref")):
        entries = [[asdict(each) for each in getattr(side, what)] for side in (one, other)]
        if what != "filters":  # of filters, the kernel's order counts
            entries = [sorted(side, key=lambda each: (each["parent"], each[key])) for side in entries]
        heads = [[{k: v for k, v in each.items() if k != "options"} for each in side] for side in entries]
        if heads[0] != heads[1]:
            told = [", ".join(f"{head['kind']} {head[key]}" for head in side) or "none" for side in heads]
            found.append(f"{what} are {told[0]}, not {told[1]}")
            continue
        for before, after in zip(*entries, strict=True):
            found += _options_unlike(f"{before['kind']} {before[key]}", before["options"], after["options"])
    return found


def _ends_shown(link: EdtLink) -> str:
    return " ".join(ARROW.join(pair) for pair in sorted(link.pairs))


def _options_unlike(what: str, one: Options, other: Options) -> Iterator[str]:
    for name in sorted({*one} | {*other}):
        if not _same(name, one.get(name), other.get(name), one):
            yield f"{what} has {name} {one.get(name, 'nowhere')}, not {other.get(name, 'nowhere')}"


def _same(name: str, one: object, other: object, options: Options) -> bool:
    """Whether two values are one to the kernel, which counts times of bursts in µs and keeps shares in 32 bits."""
    if isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        return all(_same(name, *pair, options) for pair in zip(one, other, strict=True))
    if isinstance(one, bool) or isinstance(other, bool) or not isinstance(one, int | float):
        return one == other
    if not isinstance(other, int | float):
        return False
    slack = 1e-6 * abs(one)
    if name.endswith("burst"):
        slack = max(options.get(rate, 0) for rate in ("rate_bit", "ceil_bit", "peakrate_bit")) / 8e6 + 2
    elif name.endswith("_us"):
        slack = 1.0
    return abs(one - other) <= slack
