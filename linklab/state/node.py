# SPDX-License-Identifier: BSD-3-Clause
"""What a node of a network is set to, as plain data, and how it is read from JSON data.

Part of `linklab.state.model`; a node may be a hostile student's, so every name, number and word is checked.
Disciplines, classes and filters with their options are in `linklab.tc`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from linklab.state.strict import MOST_LINKS, At
from linklab.tc import DEFAULT_HANDLE, HOOKS, Class, EdtLink, Filter, Qdisc

_TCP = """
adv_win_scale app_win autocorking base_mss comp_sack_delay_ns comp_sack_nr comp_sack_slack_ns congestion_control dsack
early_retrans ecn ecn_fallback fastopen frto limit_output_bytes max_reordering min_rtt_wlen min_tso_segs moderate_rcvbuf
mtu_probing no_metrics_save no_ssthresh_metrics_save notsent_lowat pacing_ca_ratio pacing_ss_ratio recovery reordering
retrans_collapse rmem rto_min_us sack shrink_window slow_start_after_idle thin_linear_timeouts timestamps tso_rtt_log
tso_win_divisor window_scaling wmem
"""
SYSCTLS = frozenset(
    [
        "net.core.default_qdisc",
        "net.core.rmem_max",
        "net.core.wmem_max",
        "net.ipv4.ip_forward",
        "net.ipv4.ip_no_pmtu_disc",
        *(f"net.ipv4.tcp_{name}" for name in _TCP.split()),
    ]
)
"""Watched: what decides how TCP sends."""
_INTERFACE = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,14}")
_FEATURE = re.compile(r"[a-z][a-z0-9_-]{0,31}")
_NAME = re.compile(r"[a-z][a-z0-9_-]{0,15}")
_SYSCTL_VALUES = {
    "net.core.default_qdisc": _NAME,
    "net.ipv4.tcp_congestion_control": _NAME,
    **dict.fromkeys(("net.ipv4.tcp_rmem", "net.ipv4.tcp_wmem"), re.compile(r"[0-9]{1,10} [0-9]{1,10} [0-9]{1,10}")),
}
_NUMBERS = re.compile(r"-?[0-9]{1,20}(?: -?[0-9]{1,20}){0,3}")
_MAC = re.compile(r"[0-9a-f]{2}(?::[0-9a-f]{2}){5}|(?:[0-9a-f]{2}(?::[0-9a-f]{2}){3})?")
_BYTE = r"(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)"
_IP = re.compile(rf"{_BYTE}(?:\.{_BYTE}){{3}}", re.ASCII)
_PREFIX = re.compile(rf"{_BYTE}(?:\.{_BYTE}){{3}}/(?:3[0-2]|[12]?\d)", re.ASCII)
_HANDLE = re.compile(r"[0-9a-f]{1,4}:")
_CLASSID = re.compile(r"[0-9a-f]{1,4}:[0-9a-f]{1,4}")
_PARENT = re.compile(r"root|[0-9a-f]{1,4}:[0-9a-f]{0,4}|:[0-9a-f]{1,4}")
_PROTOCOL = re.compile(r"all|ip|ipv6|arp|802\.1Q|0x[0-9a-f]{4}")
_UNREAD = re.compile(r"[1-9]\d{0,6} links by departure time", re.ASCII)
_ROUTE_WORDS = {
    "to": re.compile(rf"default|{_PREFIX.pattern}", re.ASCII),
    "type": re.compile("unicast|blackhole|unreachable|prohibit"),
    "via": _IP,
    "dev": _INTERFACE,
    "src": _IP,
    "scope": re.compile(r"global|link|host|\d{1,3}", re.ASCII),
    "protocol": re.compile(r"kernel|boot|static|\d{1,3}", re.ASCII),
    "unread": re.compile("several next hops|encapsulation"),
}
_METRICS = """
mtu window rtt rttvar ssthresh cwnd advmss reordering hoplimit initcwnd rto_min initrwnd quickack congctl ecn
"""
ROUTE_OPTIONS = frozenset(_METRICS.split())


@dataclass(frozen=True)
class Interface:
    """An interface; features: offloads that can be changed, by the kernel's names; master: the bridge it is in.

    links: by departure time, in place of the disciplines that they need; unread: why none is read though some are set.
    """

    up: bool
    mtu: int
    mac: str = ""
    txqlen: int = 0
    kind: str = ""
    master: str = ""
    addresses: tuple[str, ...] = ()
    features: Mapping[str, bool] = field(default_factory=dict)
    qdiscs: tuple[Qdisc, ...] = ()
    classes: tuple[Class, ...] = ()
    filters: tuple[Filter, ...] = ()
    links: tuple[EdtLink, ...] = ()
    unread: str = ""


@dataclass(frozen=True)
class Route:
    """A route of the main table; `options`: mtu, initcwnd, congctl …; unread: what cannot be repeated."""

    to: str
    type: str = "unicast"
    via: str = ""
    dev: str = ""
    src: str = ""
    scope: str = "global"
    protocol: str = "boot"
    metric: int = 0
    tos: int = 0
    options: Mapping[str, int | str] = field(default_factory=dict)
    unread: str = ""


@dataclass(frozen=True)
class Node:
    """A host or router, or the client (the root namespace) with the interfaces of all switches."""

    interfaces: Mapping[str, Interface]
    routes: tuple[Route, ...] = ()
    sysctls: Mapping[str, str] = field(default_factory=dict)


def sysctl_form(name: str) -> re.Pattern[str]:
    """What the value of a watched sysctl looks like."""
    return _SYSCTL_VALUES.get(name, _NUMBERS)


def read_node(at: At, data: Any) -> Node:
    """A node from its JSON data; InputError names the place."""
    given = at.mapping(data, {"interfaces", "routes", "sysctls"})
    sysctls = given.get("sysctls", {})
    for name in at.mapping(sysctls, SYSCTLS):
        (at / name).word(sysctls[name], sysctl_form(name), "what the kernel says")
    interfaces = at.named(given.get("interfaces"), _INTERFACE)
    routes = tuple(_route(at / f"route {i}", route) for i, route in enumerate(at.each(given.get("routes", []))))
    return Node({name: _interface(at / name, value) for name, value in interfaces.items()}, routes, sysctls)


def _interface(at: At, data: Any) -> Interface:
    given = at.mapping(data, Interface.__dataclass_fields__)
    qdiscs = tuple(_qdisc(at, entry) for entry in at.each(given.get("qdiscs", []), MOST_LINKS))
    classes = tuple(_class(at, entry) for entry in at.each(given.get("classes", []), MOST_LINKS))
    # the kernel gives a handle once at an interface, but for its own default's and what takes packets that come in
    at.once("handle", [each.handle for each in qdiscs if each.handle != DEFAULT_HANDLE and each.kind not in HOOKS])
    at.once("class", [each.classid for each in classes if not each.classid.startswith(DEFAULT_HANDLE)])
    features = {name: at.flag(on) for name, on in at.named(given.get("features", {}), _FEATURE).items()}
    return Interface(
        up=(at / "up").flag(given.get("up")),
        mtu=(at / "mtu").number(given.get("mtu"), 2**31, "bytes"),
        mac=(at / "mac").word(given.get("mac", ""), _MAC, "an address"),
        txqlen=(at / "txqlen").number(given.get("txqlen", 0), 2**32, "packets"),
        kind=at.word(given["kind"], _NAME, "a kind of interface") if given.get("kind") else "",
        master=at.word(given["master"], _INTERFACE, "a bridge") if given.get("master") else "",
        addresses=tuple(at.word(a, _PREFIX, "addresses") for a in at.each(given.get("addresses", []))),
        features=features,
        qdiscs=qdiscs,
        classes=classes,
        filters=tuple(_filter(at, entry) for entry in at.each(given.get("filters", []), MOST_LINKS)),
        links=tuple(_link(at, entry) for entry in at.each(given.get("links", []), MOST_LINKS)),
        unread=at.word(given["unread"], _UNREAD, "a number of links") if given.get("unread") else "",
    )


def _qdisc(at: At, data: Any) -> Qdisc:
    given = at.mapping(data, Qdisc.__dataclass_fields__)
    kind = at.word(given.get("kind"), _NAME, "a discipline")
    found = Qdisc(
        kind,
        handle=at.word(given.get("handle"), _HANDLE, "a handle"),
        parent=at.word(given.get("parent"), _PARENT, "a parent"),
        options=at.mapping(given.get("options", {}), None),
    )
    (at / kind).options(found.check)
    return found


def _class(at: At, data: Any) -> Class:
    given = at.mapping(data, Class.__dataclass_fields__)
    kind = at.word(given.get("kind"), _NAME, "a kind of class")
    found = Class(
        kind,
        classid=at.word(given.get("classid"), _CLASSID, "a class"),
        parent=at.word(given.get("parent"), _PARENT, "a parent"),
        options=at.mapping(given.get("options", {}), None),
    )
    (at / f"class of {kind}").options(found.check)
    return found


def _filter(at: At, data: Any) -> Filter:
    given = at.mapping(data, Filter.__dataclass_fields__)
    kind = at.word(given.get("kind"), _NAME, "a kind of filter")
    found = Filter(
        kind=kind,
        parent=at.word(given.get("parent"), _PARENT, "a parent"),
        pref=at.number(given.get("pref"), 2**16 - 1, "a priority"),
        protocol=at.word(given.get("protocol"), _PROTOCOL, "a protocol"),
        options=at.mapping(given.get("options", {}), None),
    )
    (at / f"filter {kind}").options(found.check)
    return found


def _link(at: At, data: Any) -> EdtLink:
    given = at.mapping(data, EdtLink.__dataclass_fields__)
    at = at / "link"
    pairs = [at.each(pair) for pair in at.each(given.get("pairs"))]
    if not all(len(pair) == 2 and all(isinstance(end, str) for end in pair) for pair in pairs):
        raise at.wrong("must have pairs of addresses", None)
    does = given.get("does", "")
    if not isinstance(does, str):
        raise at.wrong("must have words", does)
    found: list[EdtLink] = []
    at.options(lambda: found.append(EdtLink.read(pairs, does)))
    return found[0]


def _route(at: At, data: Any) -> Route:
    given = at.mapping(data, Route.__dataclass_fields__)
    words = {key: at.word(given[key], form, key) for key, form in _ROUTE_WORDS.items() if given.get(key, "") != ""}
    if "to" not in words:
        raise at.wrong('must have "to"', None)
    options = at.mapping(given.get("options", {}), ROUTE_OPTIONS)
    for name, value in options.items():
        if name == "congctl":
            at.word(value, _NAME, "a congestion control")
        else:
            (at / name).number(value, 2**32 - 1, "a number")
    numbers = {key: at.number(given.get(key, 0), 2**32 - 1, key) for key in ("metric", "tos")}
    return Route(**words, **numbers, options=options)  # type: ignore[arg-type] # each is checked above
