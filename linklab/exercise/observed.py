# SPDX-License-Identifier: BSD-3-Clause
"""What a student typed → whether a setting was looked at before it was changed: the evidence that goes with a cause.

Pure. What is read are recorded terminals (`linklab.exercise.terminals`) and work.sh, so nothing is proved: who decodes
what is planted can type the command that shows it. It then was looked at, and the check has asked for no more
(docs/grading.md, "A planted fault").
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import dropwhile

from linklab.exercise.terminals import all_networks, configures, typed_at

CLIENT = "client"
LONGEST = 1000
"""Letters of a line that are read: a search in a line of a stranger's may take time by the square of its length."""
MOST = 2**18
"""Letters of all lines that are read, of recorded terminals and of a work.sh; a student types a few thousand."""
MOST_READ = 2**20
"""Letters of recorded terminals, which hold times and statuses beside what was typed."""
_SHOWS_SYSCTL = r"\bsysctl\b(?!.*(?:\s-w\b|=))"
_SHOWS_PROC = r"\b(?:cat|head|grep|less|more)\b.*/proc/sys/"
_SHOWS_SOCKET = r"\bss\s(?:.*\s)?-\w*[im]"
_SHOWS_SYN = r"\b(?:tcpdump|tshark|linklab capture)\b"
_NOTHING_SET = r"(?!.*\b(?:add|append|change|replace|del|delete|set|flush)\b)"
_SHOWS_ROUTE = rf"\bip\s(?:-\S+\s+)*r(?:oute?|o)?\b{_NOTHING_SET}|(?:^|[;&|]\s*|\bsudo\s+)route\b|\bnetstat\s+-\w*r"
_SHOWS_TC = rf"\btc\s(?:-\S+\s+)*(?:qdisc|qdis|qdi|qd|q|class|clas|cla|cl|c)\b{_NOTHING_SET}|\blinklab\s+link\s+show\b"
_SHOWS_LINK = rf"\bip\s(?:-\S+\s+)*(?:a|l|addr\w*|link)\b{_NOTHING_SET}|\bifconfig\b(?!\s+\S+\s+\S)"
_OF_INTERFACE = {
    **dict.fromkeys(("mtu", "up", "address", "mac"), _SHOWS_LINK),
    **dict.fromkeys(("tso", "gso", "gro"), r"\bethtool\s+(?:-k|--show-(?:offload|features))\b"),
}
_OF_NODE = {"rmem": "tcp_rmem", "wmem": "tcp_wmem", "cc": "tcp_congestion_control"}
_IN_SYN = ("tcp_window_scaling", "tcp_sack", "tcp_timestamps", "tcp_ecn")
_BETWEEN = re.compile(r"""'[^']*'|"[^"]*"|(;|&&|\|\||\$\(|`|(?<!\S)(?:do|then|else)(?!\S)|(?<!\S)#.*)""")
"""What separates commands, and comments, outside of quotes."""
_BRACES = re.compile(r"([\w.]{0,64})\{(\w{1,64}(?:,\w{1,64}){0,16})\}([\w.]{0,64})")
_PLANTS = re.compile(r"(?:sudo\s+(?:-\S+\s+)*)?(?:(?:ba|da)?sh\s+(?:-\S+\s+)*)?(?:\S*/)?set_env\.sh(?!\S)")
"""A command that runs set_env.sh."""
_BEFORE = frozenset(("do", "then", "else", "if", "elif", "while", "until", "!", "{", "(", "sudo", "time"))
_VARIABLE = re.compile(r"\$\{?\w+")


@dataclass(frozen=True)
class TypedLine:
    """A line, and the node that it ran on: a host, "client" for what runs beside the switches, "" for any host."""

    on: str
    text: str


Sessions = Sequence[Sequence[TypedLine]]
"""What was typed in each network, in order."""


def recorded(logs: Mapping[str, str], nodes: Collection[str]) -> list[list[TypedLine]]:
    """What recorded terminals (node → text of its log) say was typed, network by network.

    Of all logs `MOST_READ` letters are read, and of what was typed at most `MOST` taken, each line as one letter more.
    """
    networks: list[list[TypedLine]] = []
    room, unread, read = MOST, MOST_READ, dict[str, str]()
    for name in sorted(logs):
        read[name] = logs[name][:unread]
        unread -= len(read[name])
    for lines in all_networks(read):
        typed: list[TypedLine] = []
        for line in sorted(lines, key=lambda each: each.time_s):
            on, words = typed_at(line, nodes)
            room -= len(words[:LONGEST]) + 1
            if room < 0:
                return [*networks, typed]
            typed += [TypedLine(on, command) for command in _commands(words[:LONGEST]) if on]
        networks.append(typed)
    return networks


def scripted(work: str, nodes: Collection[str]) -> list[TypedLine]:
    """The commands of a work.sh; one that begins with a variable, as in a loop over hosts, may run on any host."""
    found = []
    for line in work[:MOST].splitlines():
        text = line.strip()[:LONGEST]
        for command in _commands(text) if not text.startswith("#") else ():
            first, _, rest = command.partition(" ")
            if first in nodes:
                found.append(TypedLine(first, rest.strip()))
            else:
                found.append(TypedLine("" if _VARIABLE.match(first) else CLIENT, command))
    return found


def _commands(text: str) -> Iterator[str]:
    """The commands of a line, which may be a loop, without the words that stand before one, and without comments."""
    begin = 0
    for sign in (*_BETWEEN.finditer(text), None):
        if sign is not None and not sign[1]:
            continue
        words = text[begin : sign.start() if sign else len(text)].split()
        if words := list(dropwhile(lambda word: word in _BEFORE or word.endswith("()"), words)):
            yield " ".join(words)
        begin = sign.end() if sign else begin


def looked_at(fact: str, sessions: Sessions, hosts: Collection[str]) -> bool:
    """Whether a command that shows a fact was typed while it was as it was found.

    Args:
        fact: one that the planted fault set, such as "s2-eth2.loss" or "h2.rmem".
        sessions: what was typed; set_env.sh plants a fault anew.
        hosts: of the topology; what is of other nodes is seen from the Client's terminal.
    """
    for lines in sessions:
        there = True
        for line in lines:
            there = there or _PLANTS.match(line.text) is not None
            if there and _shows(fact, line, hosts):
                return True
            there = there and not _changes(fact, line, hosts)
    return False


def _place(fact: str, hosts: Collection[str]) -> tuple[str, str, str]:
    """(node it is seen on, interface or "", what is set) of a fact such as "s2-eth2.loss" or "h2.sysctl.net.ipv4.x"."""
    head, _, what = fact.partition(".")
    node, dash, _ = head.partition("-")
    on = node if node in hosts else CLIENT
    return on, head if dash else "", what


def _is_on(line: TypedLine, node: str, hosts: Collection[str]) -> bool:
    if line.on == "":
        return True
    return line.on == node if node in hosts else line.on not in hosts


def _shows(fact: str, line: TypedLine, hosts: Collection[str]) -> bool:
    node, interface, what = _place(fact, hosts)
    if interface:
        return (
            _is_on(line, node, hosts)
            and re.search(_OF_INTERFACE.get(what, _SHOWS_TC), line.text) is not None
            and _speaks_of(line.text, interface)
        )
    if what == "routes":
        return _is_on(line, node, hosts) and re.search(f"{_SHOWS_ROUTE}|{_SHOWS_SOCKET}", line.text) is not None
    name = _OF_NODE.get(what, what.rpartition(".")[2])
    text = _BRACES.sub(_expanded, line.text)
    if name in _IN_SYN and re.search(_SHOWS_SYN, line.text):
        return True
    if not _is_on(line, node, hosts):
        return False
    if re.search(_SHOWS_SOCKET, line.text):
        return True
    shown = re.search(f"{_SHOWS_SYSCTL}|{_SHOWS_PROC}", line.text)
    return shown is not None and (name in text or _is_among(name, text))


def _expanded(braces: re.Match[str]) -> str:
    """What the shell makes of tcp_{r,w}mem (bash(1), Brace Expansion)."""
    before, inside, behind = braces.groups()
    return " ".join(f"{before}{each}{behind}" for each in inside.split(","))


def _is_among(name: str, text: str) -> bool:
    """Whether a command that shows several settings shows one of net.ipv4: by -a, tcp_*, or a folder of it."""
    if re.search(r"\s-\w*[aA]|--all|tcp_\*", text):
        return True
    sought = re.findall(r"\bgrep\s+(?:-\w+\s+)*[\"']?(\w+)", text)
    return re.search(r"\bnet(?:[./]ipv4)?/?(?![\w./])", text) is not None and all(each in name for each in sought)


def _speaks_of(text: str, interface: str) -> bool:
    """Whether a command is about an interface: it names it, or a variable, or none at all and so is about every one."""
    named = re.findall(r"\b\w+-eth\d+", text)
    return interface in named or not named or _VARIABLE.search(text) is not None


def _changes(fact: str, line: TypedLine, hosts: Collection[str]) -> bool:
    node, interface, what = _place(fact, hosts)
    if not _is_on(line, node, hosts) or not configures(line.text):
        return False
    if interface:
        return interface in line.text or _VARIABLE.search(line.text) is not None
    if what == "routes":
        return re.search(r"\bip\s.*\br", line.text) is not None
    return _OF_NODE.get(what, what.rpartition(".")[2]) in line.text
