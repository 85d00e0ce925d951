# SPDX-License-Identifier: BSD-3-Clause
"""A host's counters before and after an experiment → what grew, with what it means.

Formats: /proc/net/snmp and netstat (a line of names, a line of values, each after "TABLE:"), /proc/net/snmp6 (a name
and a value a line), `ip -j -s -s link` and `tc -s -j qdisc`. A counter that is in one of the two files only is new or
gone, since a file that does not name it says nothing of its value.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from linklab.base.text import file_name, one_line
from linklab.errors import DataError
from linklab.netesto import names
from linklab.netesto.counter_words import meaning
from linklab.netesto.host_facts import interface_counters
from linklab.netesto.recorded import read_counters

Counters = dict[tuple[str, str], int]
"""Table and name of a counter → its value."""

_GAUGES = frozenset({("Tcp", "CurrEstab"), ("Tcp", "MaxConn"), ("Tcp", "RtoMin"), ("Tcp", "RtoMax")})
"""What these files hold that counts nothing: settings, and how many there are now."""


@dataclass(frozen=True)
class CounterChange:
    """A counter of a host that differs; before or after is None where the file did not have it."""

    host: str
    table: str
    counter: str
    before: int | None
    after: int | None

    @property
    def grew(self) -> int | None:
        """By how much; None if one of the two values is unknown."""
        return None if self.before is None or self.after is None else self.after - self.before

    @property
    def meaning(self) -> str:
        """What it counts, in a few words; "" if there are none."""
        return meaning(self.table, self.counter)

    @property
    def words(self) -> str:
        """By how much, as a table says it."""
        if self.before is None:
            return f"new: {self.after}"
        if self.after is None:
            return f"gone: {self.before}"
        return f"{self.after - self.before:+d}"


def read_pairs(text: str) -> Counters:
    """/proc/net/snmp or netstat: lines of names and of values alternate. A line without its partner is left out."""
    found: Counters = {}
    head: tuple[str, list[str]] = ("", [])
    for line in text.splitlines():
        table, colon, rest = line.partition(":")
        words = rest.split()
        if not colon:
            continue
        if head[0] == table and len(head[1]) == len(words) and all(map(_is_number, words)):
            found |= {(table.strip(), name): int(value) for name, value in zip(head[1], words, strict=True)}
            head = ("", [])
        else:
            head = (table, words)
    return found


def read_snmp6(text: str) -> Counters:
    """/proc/net/snmp6: "Ip6InReceives 12"; the table's name is the part that ends in 6."""
    found: Counters = {}
    for line in text.splitlines():
        told = re.fullmatch(r"([A-Za-z]+?6)(\w+)\s+(-?\d{1,20})", line.strip(), re.ASCII)
        if told:
            found[told[1], told[2]] = int(told[3])
    return found


def read_interfaces(text: str) -> Counters:
    """`ip -j -s -s link`: a table for each interface."""
    return {
        (interface, counter): value
        for interface, counted in interface_counters(text).items()
        for counter, value in counted.items()
    }


def read_qdiscs(text: str) -> Counters:
    """`tc -s -j qdisc`: a table for each discipline."""
    try:
        found = json.loads(text) if text.strip() else []
    except (ValueError, RecursionError):
        return {}
    counters: Counters = {}
    for one in found if isinstance(found, list) else []:
        if isinstance(one, Mapping) and one.get("kind") not in (None, "noqueue"):
            table = " ".join(str(one.get(key, "")) for key in ("dev", "kind", "handle")).strip()
            counters |= {(table, name): one[name] for name in _OF_QDISC if isinstance(one.get(name), int)}
    return counters


_OF_QDISC = ("bytes", "packets", "drops", "overlimits", "requeues", "ecn_mark", "marked", "early")

_READERS: tuple[tuple[str, Callable[[str], Counters]], ...] = (
    ("snmp", read_pairs),
    ("netstat", read_pairs),
    ("snmp6", read_snmp6),
    ("interfaces.json", read_interfaces),
    ("qdiscs.json", read_qdiscs),
)


def _is_number(word: str) -> bool:
    return re.fullmatch(r"-?\d{1,20}", word, re.ASCII) is not None


# --- differences


def hosts_of(folder: Path) -> list[str]:
    """The hosts of which an experiment's folder has counters, before or after, by name."""
    found: set[str] = set()
    for when in (names.BEFORE, names.AFTER):
        if (folder / when).is_dir():
            found |= {each.name for each in (folder / when).iterdir() if each.is_dir()}
    return sorted(found)


def changes(folder: Path, host: str) -> list[CounterChange]:
    """What differs of a host's counters, in the order of the kernel's files.

    Raises:
        DataError: a file cannot be read.
    """
    found = []
    for name, read in _READERS:
        texts = [read_counters(folder, when, host, name) for when in (names.BEFORE, names.AFTER)]
        if not all(texts):  # the whole file is missing on one side, so nothing can be said of its counters
            continue
        before, after = map(read, texts)
        for table, counter in dict.fromkeys([*before, *after]):
            early, late = before.get((table, counter)), after.get((table, counter))
            if early != late and (table, counter) not in _GAUGES:
                found.append(CounterChange(host, table, counter, early, late))
    return found


def telling(found: Sequence[CounterChange]) -> list[CounterChange]:
    """The changes whose counters have a meaning here, or count drops or errors."""
    return [one for one in found if one.meaning or re.search(r"drop|error|overrun|discard", one.counter, re.IGNORECASE)]


def table_text(folder: Path, hosts: Sequence[str] = (), *, everything: bool = False) -> str:
    """The changes of some hosts, or all, as lines of text for people.

    Raises:
        DataError: a host has no counters, or a file cannot be read.
    """
    known = hosts_of(folder)
    if not known:
        raise DataError(f"{file_name(folder)}: there are no counters; only hosts with stats=1 or a DO_SERVER have them")
    for host in hosts:
        if host not in known:
            raise DataError(f"{file_name(folder)}: there are no counters of {host}, only of {', '.join(known)}")
    lines = [line for host in hosts or known for line in _of_host(host, changes(folder, host), everything=everything)]
    return "".join(f"{line}\n" for line in lines)


def _of_host(host: str, found: Sequence[CounterChange], *, everything: bool) -> Iterator[str]:
    shown = found if everything else telling(found)
    left = f"; {len(shown)} tell of connections, losses, and errors:" if len(shown) < len(found) else ""
    yield f"{one_line(host)}: {len(found)} counters changed{left}"
    rows = [(f"{one.table} {one.counter}", one.words, one.meaning) for one in shown]
    width = max((len(name) for name, _, _ in rows), default=0)
    wide = max((len(words) for _, words, _ in rows), default=0)
    for name, words, told in rows:
        yield f"  {one_line(name):{width}}  {one_line(words):>{wide}}  {told}".rstrip()
