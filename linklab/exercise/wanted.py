# SPDX-License-Identifier: BSD-3-Clause
"""A state with some of its facts changed, as an experiment asks for them: {"h1.cc": "reno", "s1-eth2.loss": 0.0}.

Pure. Which facts can be set stands in docs/writing-an-exercise.md. Everything else of the state stays as the student
left it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

from linklab.errors import StateError
from linklab.state.disciplines import inside, inwards, plain_leaves, root, trunk
from linklab.state.facts import BUFFERS, CC, of_all, of_interface
from linklab.state.model import State
from linklab.state.node import SYSCTLS, Interface, Node, Route, sysctl_form
from linklab.tc import DEFAULT_HANDLE, LEAF_LIMIT, Class, EdtLink, Qdisc, fq_defaults, mean_loss

SENDS = "sends"
"""Of a node: its congestion control, whatever its routes name."""
EVERY = "*"
"""Stands for every interface that has the fact."""
_HELD_PKTS = 100_000
"""For a netem of ours: more than any link of a course has in flight."""


def with_facts(state: State, changes: Mapping[str, float | str]) -> State:
    """The state with each fact changed, in base units; "*.loss" is that of every interface which has one.

    Raises:
        StateError: no such node or interface, a fact that cannot be set, or nothing there that could hold it.
    """
    for fact, value in changes.items():
        name, _, setting = fact.rpartition(".")
        for each in _having(state, setting) if name == EVERY else [name]:
            state = _with_fact(state, f"{each}.{setting}", value)
    return state


def _having(state: State, setting: str) -> list[str]:
    """The interfaces that have a fact, such as a loss."""
    return [
        name
        for name, (_, interface) in state.interfaces().items()
        if setting in of_interface(interface) or any(setting in link.facts() for link in interface.links)
    ]


def _with_fact(state: State, fact: str, value: float | str) -> State:
    name, _, setting = fact.partition(".")
    if name in state.nodes and setting == SENDS:
        node = _with_sysctl(_without_congctl(state.nodes[name]), fact, "cc", value)
        return replace(state, nodes={**state.nodes, name: node})
    if name in state.nodes and (setting in ("cc", *BUFFERS) or setting.startswith("sysctl.")):
        node = _with_sysctl(state.nodes[name], fact, setting, value)
        return replace(state, nodes={**state.nodes, name: node})
    interface, _, setting = fact.rpartition(".")
    setter = _SETTERS.get(setting)
    if setter is None:
        raise StateError(f"{fact} is no fact that an experiment can set")
    if interface not in state.interfaces():
        raise StateError(f"{fact}: there is no interface {interface}")
    if not isinstance(value, (int, float)) or isinstance(value, bool) or not 0 <= value < 1e15:
        raise StateError(f'{fact} cannot be "{value}"')
    owner, before = state.interfaces()[interface]
    try:
        after = setter(before, float(value))
    except StateError as error:
        raise StateError(f"{fact} cannot be set: {interface} {error}") from error
    node = replace(state.nodes[owner], interfaces={**state.nodes[owner].interfaces, interface: after})
    return replace(state, nodes={**state.nodes, owner: node})


def _without_congctl(node: Node) -> Node:
    """With routes that leave the congestion control to the sysctl, which theirs would override (ip-route(8))."""

    def without(route: Route) -> Route:
        return replace(route, options={name: value for name, value in route.options.items() if name != "congctl"})

    return replace(node, routes=tuple(map(without, node.routes)))


def _with_sysctl(node: Node, fact: str, setting: str, value: float | str) -> Node:
    text = value if isinstance(value, str) else f"{value:.0f}"
    name = CC if setting == "cc" else BUFFERS.get(setting, setting.removeprefix("sysctl."))
    if setting in BUFFERS:
        smaller = [min(int(each), int(text)) for each in node.sysctls.get(name, "").split()[:2] if text.isdecimal()]
        text = " ".join(map(str, [*smaller, text]))
    if name not in SYSCTLS or not sysctl_form(name).fullmatch(text):
        raise StateError(f'{fact} cannot be set to "{value}"')
    return replace(node, sysctls={**node.sysctls, name: text})


# --- what netem does


def _loss(interface: Interface, share: float) -> Interface:
    if share > 1:
        raise StateError("cannot lose more than all")
    if interface.links:
        return _with_links(interface, lambda link: link.with_loss(share), anew=share > 0)
    spoken = ("loss", "loss_state", "loss_gemodel", "loss_correlation", "ecn")
    return _with_netem(interface, {"loss": share} if share else {}, spoken, lambda each: mean_loss(each.options) > 0)


def _delay(interface: Interface, delay_s: float) -> Interface:
    if interface.links:
        return _with_links(interface, lambda link: link.with_delay(delay_s), anew=delay_s > 0)
    delay_ns = round(delay_s * 1e9)
    spoken = ("delay_ns",) if delay_ns else ("delay_ns", "reorder", "reorder_correlation", "gap")
    return _with_netem(interface, {"delay_ns": delay_ns} if delay_ns else {}, spoken, lambda each: True)


def _with_links(interface: Interface, change: Callable[[EdtLink], EdtLink], *, anew: bool) -> Interface:
    """With every link by departure time changed; anew: and one for what belongs to none, as netem takes everything."""
    links = interface.links if of_all(interface) or not anew else (*interface.links, EdtLink.of_all())
    return replace(interface, links=tuple(map(change, links)))


def _with_netem(
    interface: Interface, options: Mapping[str, float], spoken: tuple[str, ...], has_it: Callable[[Qdisc], bool]
) -> Interface:
    """With `options` in the first netem (of those that have it), and none of what is `spoken` of in any other.

    The chosen netem is one that every packet enters. If all netems are in classes, a new one is put at the root.
    """
    netems = [qdisc for qdisc in trunk(interface) if qdisc.kind == "netem"]
    chosen = next(filter(has_it, netems), netems[0] if netems else None)
    changed = []
    for qdisc in interface.qdiscs:
        kept = {name: value for name, value in qdisc.options.items() if name not in spoken}
        if qdisc is chosen:
            changed.append(replace(qdisc, options={**kept, **options}))
        else:
            changed.append(replace(qdisc, options=kept) if qdisc.kind == "netem" else qdisc)
    found = replace(interface, qdiscs=tuple(changed))
    return found if chosen or not options else _under_netem(found, options)


def _under_netem(interface: Interface, options: Mapping[str, float]) -> Interface:
    """A netem at the root, and what was there in it."""
    handle = _one_of(_free_handles(interface))
    netem = Qdisc("netem", handle, "root", {"limit": _HELD_PKTS, **options})
    below = [
        replace(qdisc, parent=handle) if qdisc.parent == "root" else qdisc
        for qdisc in interface.qdiscs
        if qdisc.handle != DEFAULT_HANDLE
    ]
    return replace(interface, qdiscs=(netem, *below))


def _free_handles(interface: Interface) -> Iterator[str]:
    taken = {qdisc.handle for qdisc in interface.qdiscs}
    return (handle for number in range(1, 0xFFFF) if (handle := f"{number:x}:") not in taken)


def _one_of(handles: Iterator[str]) -> str:
    if (handle := next(handles, None)) is None:
        raise StateError("has no handle left for another discipline")
    return handle


# --- what limits a rate


def _rate(interface: Interface, rate: float) -> Interface:
    """Change the one that limits now."""
    if rate < 1:
        raise StateError("cannot have a rate below 1 bit/s")
    if any(link.spec.rate_bit for link in interface.links):
        return _with_links(interface, lambda link: link.with_rate(rate), anew=False)
    limits = []
    for qdisc in inwards(interface):
        tops = _tops(interface, qdisc) if qdisc.classful else []
        limits.append((sum(top.options.get("ceil_bit", 0) for top in tops) or qdisc.rate_bit, qdisc))
    known = [(limit, qdisc) for limit, qdisc in limits if limit]
    if not known:
        raise StateError("has nothing that limits its rate")
    _, qdisc = min(known, key=lambda each: each[0])
    if qdisc.classful:
        return _htb_rate(interface, qdisc, round(rate))
    return _with_options(interface, qdisc, qdisc.with_rate(round(rate)))


def _tops(interface: Interface, htb: Qdisc) -> list[Class]:
    return [each for each in interface.classes if each.parent == htb.handle]


def _htb_rate(interface: Interface, htb: Qdisc, rate: int) -> Interface:
    """The class at the top, and those in it that may use all of it; their own rates keep their shares."""
    if len(_tops(interface, htb)) != 1:
        raise StateError("has several classes at the top of htb: none of them is its rate")
    (top,) = _tops(interface, htb)
    before = top.options.get("ceil_bit")
    less = min(1.0, rate / before) if before else 1.0
    classes = []
    for each in interface.classes:
        options = dict(each.options)
        if each.classid.startswith(htb.handle):
            for word in options.keys() & {"rate_bit", "ceil_bit"}:
                options[word] = rate if options[word] == before else min(options[word], rate)
            if each is not top and "rate_bit" in options:
                options["rate_bit"] = min(options["rate_bit"], max(1, int(each.options["rate_bit"] * less)))
        classes.append(replace(each, options=options))
    return replace(interface, classes=tuple(classes))


def _pacing(interface: Interface, rate: float) -> Interface:
    """The highest rate of a flow, 0 for none; with an fq at the root where the kernel's default is."""
    paced = {"maxrate_bit": round(rate)} if rate else {}
    fqs = [qdisc for qdisc in inwards(interface) if qdisc.kind == "fq"]
    top = root(interface)
    if fqs:
        options = {name: value for name, value in fqs[0].options.items() if name != "maxrate_bit"}
        return _with_options(interface, fqs[0], {**options, **paced})
    if not rate:
        return interface
    if interface.links or (top is not None and top.handle != DEFAULT_HANDLE):
        raise StateError("has no fq to pace with")
    fq = Qdisc("fq", _one_of(_free_handles(interface)), "root", {**fq_defaults(interface.mtu), **paced})
    hooks = [qdisc for qdisc in interface.qdiscs if qdisc.parent != "root"]
    return replace(interface, qdiscs=(fq, *hooks))


# --- what a queue holds


def _queue(interface: Interface, size: float) -> Interface:
    """Every innermost queue."""
    if size < 1:
        raise StateError("cannot have a queue of nothing")
    if any(link.spec.rate_bit for link in interface.links):
        return _with_links(interface, lambda link: link.with_queue(size), anew=False)
    below, leaves, free = inside(interface), plain_leaves(interface), _free_handles(interface)
    resized: dict[int, Qdisc] = {}  # id of a discipline → what it becomes
    added: list[Qdisc] = []
    for qdisc in inwards(interface):
        if qdisc.classful:
            for leaf in leaves.get(qdisc.handle, ()):
                added.append(Qdisc("bfifo", _one_of(free), leaf.classid, {"limit": round(size)}))
        elif qdisc.handle not in below:
            if (options := qdisc.resized(round(size))) is None:
                raise StateError(f"has no queue with a limit: {qdisc.kind} takes none")
            resized[id(qdisc)] = replace(qdisc, options=options)
    if not resized and not added:
        raise StateError("has no queue")
    kept = (resized.get(id(qdisc), qdisc) for qdisc in interface.qdiscs)
    filled = {each.parent for each in added}
    classes = (_without_own_queue(each) if each.classid in filled else each for each in interface.classes)
    return replace(interface, qdiscs=(*kept, *added), classes=tuple(classes))


def _without_own_queue(each: Class) -> Class:
    return replace(each, options={name: value for name, value in each.options.items() if name != LEAF_LIMIT})


def _with_options(interface: Interface, which: Qdisc, options: Mapping[str, object]) -> Interface:
    qdiscs = tuple(replace(each, options=options) if each is which else each for each in interface.qdiscs)
    return replace(interface, qdiscs=qdiscs)


_SETTERS: Mapping[str, Callable[[Interface, float], Interface]] = {
    "loss": _loss,
    "delay": _delay,
    "rate": _rate,
    "pacing": _pacing,
    "queue": _queue,
}
