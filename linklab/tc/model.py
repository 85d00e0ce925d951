# SPDX-License-Identifier: BSD-3-Clause
"""A discipline, class or filter at an interface: read from words typed, written as the line that sets it.

What the agent tells of a network (`linklab.state.model`) has these fields too, so it needs no other form.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from linklab.base.text import excerpt
from linklab.errors import InputError, StateError
from linklab.linux.netlink import handle_text
from linklab.linux.tc_line import HOOKS, SETS, Line, parse
from linklab.tc.filters import Fw
from linklab.tc.kind import Kind
from linklab.tc.kinds import CLASSES, FILTERS, QDISCS, check_options
from linklab.tc.option import Options

MOST_BANDS = 16
"""Of prio (linux/pkt_sched.h, TCQ_PRIO_BANDS)."""
_BURST_S, _LARGEST_PACKET = 1, 65_536
_ANY = "00000000@"
"""Of what u32 compares: no bit, wherever it stands."""
DEFAULT_HANDLE = "0:"
"""Handle of a discipline that the kernel has set by itself."""
INCOMING = "ffff:fff1"
"""Parent, as the kernel tells it, of a discipline for what comes in."""


def most_burst(rate_bit: float) -> float:
    """Bytes that a token bucket may hold and still limit the rate while a test lasts: a second of it, or a packet."""
    return max(_LARGEST_PACKET, rate_bit // 8 * _BURST_S)


class _Object:
    """What the three have in common; kinds: the table that knows them."""

    kinds: ClassVar[Mapping[str, Kind]]
    kind: str
    options: Options

    @property
    def known(self) -> Kind | None:
        """Its row in the table; None if nothing is known of the kind."""
        return self.kinds.get(self.kind)

    def check(self) -> None:
        """InputError unless the options are such as the agent says of this kind."""
        check_options(self.kinds, self.kind, self.options)

    def words(self, *, spelled: bool = False) -> list[str]:
        """Kind and options for tc; spelled: as people write them.

        Raises:
            StateError: no words of tc give these options.
        """
        if self.known is None or "unread" in self.options:
            raise StateError(f"{self.kind} has something that cannot be said in words of tc")
        return [self.kind, *self.known.words(self.options, spelled=spelled)]


@dataclass(frozen=True)
class Qdisc(_Object):
    """A queueing discipline; parent: "root", a handle ("1:"), a class ("1:10") or "ffff:fff1" (ingress, clsact)."""

    kinds: ClassVar[Mapping[str, Kind]] = QDISCS

    kind: str
    handle: str
    parent: str
    options: Options = field(default_factory=dict)

    @classmethod
    def from_line(cls, line: Line) -> Qdisc:
        """The discipline that a line sets; its handle is "0:" where the kernel chooses one.

        Raises:
            InputError: a kind that is not known, or words that it does not have.
        """
        known = _known(QDISCS, "discipline", line.kind)
        parent = INCOMING if line.parent in HOOKS else _place(line.parent)
        return cls(line.kind, _place(line.handle or DEFAULT_HANDLE), parent, known.read(line.options))

    def line(self, device: str, verb: str = "add", *, spelled: bool = False) -> str:
        """The line of tc that sets it; spelled: as people write it."""
        if self.kind in HOOKS:
            return f"tc qdisc {verb} dev {device} {self.kind}"
        place = "root" if self.parent == "root" else f"parent {self.parent}"
        handle = "" if self.handle == DEFAULT_HANDLE else f" handle {self.handle}"
        return f"tc qdisc {verb} dev {device} {place}{handle} {' '.join(self.words(spelled=spelled))}"

    # --- what its options mean

    @property
    def rate_bit(self) -> int | None:
        """What passes at most, bit/s; None where it limits no rate. An htb's is in its classes."""
        return self.options.get(self.known.rate) if self.known and self.known.rate else None

    def with_rate(self, rate_bit: int) -> Options:
        """Its options with another rate, a bucket that still limits it, and no second one that would not be faster.

        Raises:
            StateError: it limits no rate.
        """
        if self.known is None or not self.known.rate:
            raise StateError("has nothing that limits its rate")
        options = {**self.options, self.known.rate: rate_bit}
        if "burst" in options:
            options["burst"] = min(options["burst"], most_burst(rate_bit))
        if options.get("peakrate_bit", rate_bit + 1) <= rate_bit:
            options = {name: value for name, value in options.items() if not name.startswith("peak")}
        return options

    @property
    def flow_rate_bit(self) -> int | None:
        """What a single flow may send at most, bit/s; None where flows are not paced, as with `nopacing` (tc-fq(8))."""
        if not self.known or not self.known.flow_rate or self.options.get("pacing") is False:
            return None
        return self.options.get(self.known.flow_rate)

    @property
    def classful(self) -> bool:
        """Whether its queues are in classes that are set one by one."""
        return self.known is not None and self.known.classes is not None

    @property
    def bands(self) -> int:
        """How many bands it has (tc-prio(8)), in each of which another discipline may stand; 0 if it is no prio."""
        return int(self.options.get("bands", MOST_BANDS)) if self.kind == "prio" else 0

    def capacity_bytes(self, txqlen: int = 0) -> int | None:
        """Bytes that it holds when no other discipline is in it; None where it has no limit."""
        return self.known.capacity_bytes(self.options, txqlen) if self.known else None

    def resized(self, size_bytes: int) -> Options | None:
        """Its options with a queue of this size; None where it has no limit to set."""
        return self.known.resized(self.options, size_bytes) if self.known else None

    @property
    def untold(self) -> Options:
        """The options that have no fact of their own."""
        told = self.known.told if self.known else ()
        return {name: value for name, value in self.options.items() if name not in told}


@dataclass(frozen=True)
class Class(_Object):
    """A class of htb; parent: the discipline's handle, or a class."""

    kinds: ClassVar[Mapping[str, Kind]] = CLASSES

    kind: str
    classid: str
    parent: str
    options: Options = field(default_factory=dict)

    @classmethod
    def from_line(cls, line: Line) -> Class:
        """The class that a line sets; InputError as of a discipline."""
        options = _known(CLASSES, "kind of class", line.kind).read(line.options)
        return cls(line.kind, _place(line.handle), _place(line.parent), options)

    def line(self, device: str, verb: str = "add", *, spelled: bool = False) -> str:
        """The line of tc that sets it; spelled: as people write it."""
        words = " ".join(self.words(spelled=spelled))
        return f"tc class {verb} dev {device} parent {self.parent} classid {self.classid} {words}"


@dataclass(frozen=True)
class Filter(_Object):
    """A filter; pref: the lower, the earlier; protocol: as tc says it, "ip" or "all"."""

    kinds: ClassVar[Mapping[str, Kind]] = FILTERS

    kind: str
    parent: str
    pref: int
    protocol: str
    options: Options = field(default_factory=dict)

    @classmethod
    def from_line(cls, line: Line) -> Filter:
        """The filter that a line sets; InputError as of a discipline."""
        known = _known(FILTERS, "filter", line.kind)
        options = known.read(line.options)
        if isinstance(known, Fw):
            options |= known.read_handle(line.handle)
        priority = int(line.priority) if line.priority.isdecimal() else 0
        return cls(line.kind, _place(line.parent), priority, line.protocol or "all", options)

    @property
    def takes_all_ip(self) -> bool:
        """Whether it takes every packet of IPv4: what it compares is nothing (tc-matchall(8), tc-u32(8))."""
        compared = {name: value for name, value in self.options.items() if name != "classid"}
        if self.kind == "u32":
            compared = {
                match: "" for match in compared.get("match", ()) if not match.partition("/")[2].startswith(_ANY)
            }
        return self.kind != "fw" and self.protocol in ("ip", "all") and not compared

    def line(self, device: str, verb: str = "add", *, spelled: bool = False) -> str:
        """The line of tc that sets it; spelled: as people write it."""
        words = " ".join(self.words(spelled=spelled))
        handle = f" handle {self.known.handle(self.options)}" if isinstance(self.known, Fw) else ""
        place = f"parent {self.parent} protocol {self.protocol} pref {self.pref}"
        return f"tc filter {verb} dev {device} {place}{handle} {words}"


def read_line(words: Sequence[str]) -> Qdisc | Class | Filter | None:
    """What a command line of tc sets; None if it sets nothing.

    Raises:
        InputError: it sets something whose words cannot be read.
    """
    line = parse(words)
    if line is None or line.verb not in SETS or not line.kind:
        return None
    if line.object == "qdisc":
        return Qdisc.from_line(line)
    return Class.from_line(line) if line.object == "class" else Filter.from_line(line)


def _place(text: str) -> str:
    """A handle, class or parent as the kernel's number is written: "1", "01:" and "1:0" are "1:", "1:0A" is "1:a".

    Raises:
        InputError: it is neither a hook nor two hexadecimal numbers of 16 bits (tc(8), UNITS and HANDLES).
    """
    if text in ("root", *HOOKS):
        return text
    numbers = [_number(part) for part in text.split(":")]
    if len(numbers) > 2 or any(number is None for number in numbers):
        raise InputError(f'"{excerpt(text)}" is not the name of a discipline or class, such as 1: or 1:10')
    major, minor = numbers[0] or 0, (numbers[1] or 0) if len(numbers) == 2 else 0
    return handle_text(major << 16 | minor)


def _number(text: str) -> int | None:
    """Up to 16 bits in hexadecimal, 0 for nothing; None for what is no such number."""
    digits = text.lower().removeprefix("0x")
    if not digits:
        return 0 if not text else None
    return int(digits, 16) if len(digits.lstrip("0")) <= 4 and not set(digits) - set("0123456789abcdef") else None


def _known(kinds: Mapping[str, Kind], what: str, kind: str) -> Kind:
    if kind not in kinds:
        raise InputError(f"{kind} is not a {what} that Linklab knows; it knows {', '.join(kinds)}")
    return kinds[kind]
