# SPDX-License-Identifier: BSD-3-Clause
"""Commands → what they need of a kernel: queueing disciplines, filters, links, algorithms of TCP.

Read from what is typed, so that no list is kept by hand. Pure. Commands: tc(8), ip-link(8), sysctl(8), iperf3(1).
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from linklab.linux.tc_line import SETS, lines_in
from linklab.tc.kinds import module_of

_WORD = r"[a-z][a-z0-9_]*"
_B = r"[ \t]+"
_LINK = re.compile(rf"\bip{_B}link{_B}add[^\n;&|]*?{_B}type{_B}({_WORD})")
_CONGESTION = (
    re.compile(rf"\btcp_congestion_control=['\"]?({_WORD})"),
    re.compile(rf"\biperf3\s[^\n;&|]*?(?:-C|--congestion)[ =]({_WORD})"),
    re.compile(rf"(?<![\w:])[a-zA-Z]\w*:[a-zA-Z]\w*:({_WORD})"),  # of `concurrent`
    re.compile(rf"\bmodprobe\s+tcp_({_WORD})"),
    re.compile(rf'\.cc"?\s*=\s*"({_WORD})"'),
)


_BY_TIME = re.compile(rf"\blinklab{_B}link{_B}(?:set|load|play)\b")


@dataclass(frozen=True)
class Needs:
    """Names as the kernel and tc know them; families: of generic netlink, as Open vSwitch's kernel part has one."""

    qdiscs: frozenset[str] = frozenset()
    filters: frozenset[str] = frozenset()
    links: frozenset[str] = frozenset()
    congestion: frozenset[str] = frozenset()
    families: frozenset[str] = frozenset()

    def __or__(self, other: Needs) -> Needs:
        return Needs(**{name: getattr(self, name) | getattr(other, name) for name in FIELDS})

    def __sub__(self, other: Needs) -> Needs:
        return Needs(**{name: getattr(self, name) - getattr(other, name) for name in FIELDS})

    def __and__(self, other: Needs) -> Needs:
        return Needs(**{name: getattr(self, name) & getattr(other, name) for name in FIELDS})

    def __bool__(self) -> bool:
        return any(getattr(self, name) for name in FIELDS)

    def __str__(self) -> str:
        words = [word for name in FIELDS for word in sorted(getattr(self, name))]
        return ", ".join(_SPELLED.get(word, word) for word in words)


BY_TIME = Needs(qdiscs=frozenset({"fq", "clsact"}), filters=frozenset({"bpf"}))
"""What links by departure time need (docs/links.md)."""
FIELDS = ("qdiscs", "filters", "links", "congestion", "families")
_SPELLED = {"ovs_datapath": "Open vSwitch"}


def of_text(text: str) -> Needs:
    """What commands need, wherever they stand in the text; lines that a backslash continues are put together."""
    text = text.replace("\\\n", " ")
    set_by_tc = [line for line in lines_in(text) if line.verb in SETS and line.device and line.kind]
    found = BY_TIME if _BY_TIME.search(text) else Needs()
    return found | Needs(
        qdiscs=frozenset(line.kind for line in set_by_tc if line.object == "qdisc"),
        filters=frozenset(line.kind for line in set_by_tc if line.object == "filter"),
        links=frozenset(_LINK.findall(text)),
        congestion=frozenset(word for pattern in _CONGESTION for word in pattern.findall(text)),
        families=frozenset({"ovs_datapath"} if re.search(r"\bsudo\s+mn\b", text) else ()),
    )


def module(field: str, name: str) -> str:
    """The kernel's module that brings a name of one of FIELDS; "" where every kernel has it."""
    match field:
        case "qdiscs":
            return module_of("qdisc", name)
        case "filters":
            return module_of("filter", name)
        case "congestion":
            return f"tcp_{name}"
        case _:
            return "openvswitch" if name == "ovs_datapath" else name
