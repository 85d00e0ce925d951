# SPDX-License-Identifier: BSD-3-Clause
"""What is set in a network, flat: "s1-eth2 netem" → its options, "h1 net.ipv4.tcp_rmem" → its value.

The same names for what the kernel told (`linklab.state`) and for what lines typed would set (`linklab.guide.simulate`),
so that the two are compared. Handles are left out: which discipline stands inside which is what matters.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias

from linklab.errors import InputError
from linklab.state.disciplines import inwards
from linklab.state.facts import facts, of_interface
from linklab.state.model import CLIENT, State
from linklab.state.node import Interface
from linklab.tc import CLASSES, DEFAULT_HANDLE, FILTERS, HOOKS, QDISCS, Filter, Qdisc, fq_defaults

SettingsMap: TypeAlias = Mapping[str, Any]
"""Place and what, "s1-eth2 netem", → value; what is not set is not there."""

EFFECT = "effect"
"""What the disciplines of an interface do together, by the names of facts; no setting, but compared where settings
differ."""
_EFFECTS = ("delay", "jitter", "loss", "duplicate", "corrupt", "reorder", "rate", "pacing", "queue", "options")
_MANAGED = "managed"
"""In an effect: which packet of several is sent or dropped, kind of discipline → its options."""
_PLAIN = frozenset(("netem", "tbf", "htb", "pfifo", "bfifo", "pfifo_fast", "mq", *HOOKS))
"""Kinds of which all that matters is told by the other facts."""
_OFFLOADS = ("tso", "gso", "gro")
_INSIDE = "inside"
UNTYPED = "untyped"
"""Stands in the options of a discipline that nobody typed in a terminal, so that what the kernel never tells of it is
not known."""
SAME = 1e-3
"""Relative difference within which two numbers are the same: the kernel rounds rates and times."""
_SAME_QUEUE = 0.1
_FURTHER_DEFAULTS: Mapping[str, Mapping[str, Any]] = {
    "netem": {"limit": 1000},
    "codel": {"limit": 1000},
    "fq_codel": {"limit": 10240, "memory_limit": 32 << 20, "drop_batch": 64, "ecn": True},
    "pie": {"limit": 1000},
    "sfq": {"perturb_s": 0, "quantum": 1514, "divisor": 1024},
    "fq": fq_defaults(1500),
    "htb": {"default": 0, "r2q": 10, "direct_qlen": 1000},
    "pfifo": {"limit": 1000},
}
"""What each kind has where nothing is said, beyond what its dialog shows (net/sched/sch_*.c, iproute2)."""


def settings_of(state: State) -> dict[str, Any]:
    """All that a state has set."""
    found: dict[str, Any] = {}
    for node, each in state.nodes.items():
        found |= {f"{node} {name}": " ".join(value.split()) for name, value in each.sysctls.items()}
        if node != CLIENT and (routes := facts(State({node: each})).get(f"{node}.routes")):
            found[f"{node} routes"] = routes
    for name, (_, interface) in state.interfaces().items():
        known = of_interface(interface)
        found[f"{name} mtu"] = float(interface.mtu)
        found[f"{name} up"] = interface.up
        found |= {f"{name} {offload}": known[offload] for offload in _OFFLOADS if offload in known}
        if interface.addresses:
            found[f"{name} address"] = " ".join(interface.addresses)
        found |= {f"{name} link {' '.join(map('>'.join, link.pairs))}": link.does for link in interface.links}
        found |= disciplines_of(name, interface)
    return found


def disciplines_of(name: str, interface: Interface) -> dict[str, Any]:
    """The disciplines, classes and filters of an interface, and what they do together."""
    found: dict[str, Any] = {}
    set_by_hand = [each for each in inwards(interface) if each.handle != DEFAULT_HANDLE and each.kind in QDISCS]
    if not set_by_hand and not interface.links:
        return {}
    counts: dict[str, int] = {}
    for qdisc in set_by_hand:
        counts[qdisc.kind] = counts.get(qdisc.kind, 0) + 1
        key = qdisc.kind if counts[qdisc.kind] == 1 else f"{qdisc.kind}#{counts[qdisc.kind]}"
        found[f"{name} {key}"] = {_INSIDE: _inside(qdisc, interface), **qdisc.options}
    for each in interface.classes:
        found[f"{name} class {each.classid}"] = dict(each.options)
    for number, leading in enumerate(interface.filters, 1):
        found[f"{name} {_filter_name(leading, number)}"] = dict(leading.options)
    effect = {fact: value for fact, value in of_interface(interface).items() if fact in _EFFECTS and value}
    holds_links = {"fq"} if interface.links else set()
    managed = {each.kind: dict(each.options) for each in set_by_hand if each.kind not in _PLAIN | holds_links}
    found[f"{name} {EFFECT}"] = {**effect, **({_MANAGED: managed} if managed else {})}
    return found


def _inside(qdisc: Qdisc, interface: Interface) -> str:
    """What a discipline stands in: "root", the kind of another, or a class."""
    if qdisc.parent == "root":
        return "root"
    if any(each.classid == qdisc.parent for each in interface.classes):
        return f"class {qdisc.parent}"
    major = qdisc.parent.partition(":")[0] + ":"
    return next((each.kind for each in interface.qdiscs if each.handle == major), qdisc.parent)


def _filter_name(each: Filter, number: int) -> str:
    """By what it leads to, since a priority may be the kernel's choice."""
    return f"filter to {each.options.get('classid') or number}"


# --- are two settings the same


def same(wanted: Any, found: Any) -> bool:
    """Whether what was found is what is wanted."""
    return not differences(wanted, found)


def differences(wanted: Any, found: Any, kind: str = "") -> list[tuple[str, Any, Any]]:
    """What differs: (option, wanted, found); option "" for the whole.

    Options that one side does not say count as their kind's default; of what the kernel never tells (RED's words) only
    two typed sides are compared.
    """
    if not isinstance(wanted, Mapping) or not isinstance(found, Mapping):
        return [] if _equal(wanted, found) else [("", wanted, found)]
    defaults = defaults_of(kind)
    differing = []
    for name in {**wanted, **found}:
        if name not in wanted and name not in defaults and _is_detail(kind, name, found):
            continue
        if name == UNTYPED or (name not in found and UNTYPED in found and not _told(kind, name)):
            continue
        one, other = wanted.get(name, defaults.get(name)), found.get(name, defaults.get(name))
        if not _equal(one, other):
            differing.append((name, one, other))
    return differing


def same_effect(wanted: Any, found: Any) -> bool:
    """Whether two interfaces do the same to packets: delay, loss, rate and room, however that is arranged."""
    if not wanted or not found:
        return not wanted and not found
    one, other = wanted.get(_MANAGED, {}), found.get(_MANAGED, {})
    if set(one) != set(other) or any(differences(one[kind], other[kind], kind) for kind in one):
        return False
    for name in {*wanted, *found} - {"options", _MANAGED}:
        one, other = wanted.get(name), found.get(name)
        if name == "queue":
            if one is not None and other is not None and abs(one - other) > _SAME_QUEUE * max(one, other):
                return False
        elif not _equal(one, other):
            return False
    return bool(wanted.get("options")) == bool(found.get("options"))


def kind_of(key: str) -> str:
    """The kind of discipline that a setting is of, "class" or "filter"; "" for other settings."""
    what = key.partition(" ")[2].partition("#")[0]
    first = what.partition(" ")[0]
    return first if first in ("class", "filter") or first in QDISCS else ""


def defaults_of(kind: str) -> dict[str, Any]:
    """The options of a kind of discipline where nothing is said, as far as they are known."""
    found = dict(_FURTHER_DEFAULTS.get(kind, {}))
    for parameter in QDISCS[kind].parameters if kind in QDISCS else ():
        if parameter.default and not parameter.required:
            try:
                found.setdefault(parameter.option.name, parameter.read(parameter.default))
            except InputError:
                continue
    return found


def _is_detail(kind: str, name: str, found: Mapping[str, Any]) -> bool:
    """Whether an option that nobody asked for says nothing: the kernel fills in what a kind needs."""
    return kind != "netem" or not found[name] or name == "limit"


def _told(kind: str, name: str) -> bool:
    """Whether the kernel tells an option."""
    known = {**QDISCS, **FILTERS}.get(kind) or (CLASSES["htb"] if kind == "class" else None)
    if kind == "red" and name == "probability":
        return False
    option = known.by_name.get(name) if known else None
    return option is None or option.told


def _equal(one: Any, other: Any) -> bool:
    if isinstance(one, bool) or isinstance(other, bool) or one is None or other is None:
        return bool(one) == bool(other) if not isinstance(one, str) and not isinstance(other, str) else one == other
    if isinstance(one, int | float) and isinstance(other, int | float):
        return abs(one - other) <= SAME * max(abs(one), abs(other))
    if isinstance(one, str) and isinstance(other, str):
        return one.split() == other.split()
    return bool(one == other)


def spoken(options: Mapping[str, Any]) -> Iterator[str]:
    """The options of a discipline that say something, without its place."""
    yield from (
        name for name, value in options.items() if name not in (_INSIDE, UNTYPED) and value not in (None, False, 0)
    )
