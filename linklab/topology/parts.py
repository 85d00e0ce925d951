# SPDX-License-Identifier: BSD-3-Clause
"""The parts of a topology: each holds its JSON object as the file has it, and reads it with MiniEdit's defaults.

`opts` is the object of that name and `extra` what stands beside the keys MiniEdit knows, so that unknown keys live on.
A changed part is made with `dataclasses.replace`; the values have the types that checks.py asks for.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from linklab.errors import InputError
from linklab.tc import Impairment
from linklab.units import parse_time_s

Json = Mapping[str, Any]
MOST_DIGITS = 15
"""Of a number that a file holds as text; Python converts no more than 4300 digits, and nothing counts so far."""
_identities = itertools.count(1)


def new_identity() -> int:
    """A number that no other part has.

    A part keeps its `identity` when it is changed (`dataclasses.replace`), so that it is known under another name or at
    another place; a copy that stands beside it needs a new one. No part of what is compared, printed or filed.
    """
    return next(_identities)


MOST_PIXELS = 1e6
"""Of a coordinate; a canvas counts in 32 bits, and no drawing is as large."""


def whole_number(value: Any) -> int | None:
    """A whole number, or text that is one; None for anything else, and for numbers beyond counting."""
    if isinstance(value, str):
        value = value.strip()
        return int(value) if value.isdecimal() and len(value) <= MOST_DIGITS else None
    return value if type(value) is int and abs(value) < 10**MOST_DIGITS else None


def words(value: Any) -> tuple[str, ...]:
    """The strings of a list; empty if the value is not a list."""
    return tuple(each for each in value if isinstance(each, str)) if isinstance(value, list | tuple) else ()


@dataclass(frozen=True)
class Node:
    """A node with ports: what one entry of "hosts" and one of "switches" have in common.

    number: as in the file, text as MiniEdit writes it; x, y: canvas coordinates in pixels, text as MiniEdit writes
    them, None where the file says no place.
    own: what Linklab keeps of it under "linklab": "routes" ([{"to": "10.0.3.0/24", "via": "10.0.2.2"}, …]).
    The properties work for any file that loads: what cannot be read is treated as absent, and `checks` reports it.
    """

    number: str | int
    x: str | float | None
    y: str | float | None
    opts: Json
    extra: Json = field(default_factory=dict)
    own: Json = field(default_factory=dict)
    identity: int = field(default_factory=new_identity, compare=False, repr=False)

    what: ClassVar[str]
    prefix: ClassVar[str]

    @property
    def name(self) -> str:
        """The host name; from the number where the file has none."""
        given = self.opts.get("hostname")
        return f"{self.prefix}{self.number}" if given is None else str(given)

    @property
    def node_num(self) -> int:
        """What the default address is counted from; 0 where it cannot be read."""
        given = self.opts.get("nodeNum")
        found = whole_number(self.number if given is None else given)
        return 0 if found is None else found

    @property
    def external_interfaces(self) -> tuple[str, ...]:
        """Interfaces of the machine that are moved into this node."""
        return words(self.opts.get("externalInterfaces"))

    @property
    def first_port(self) -> int:
        """Number of the first port (mininet/node.py, `portBase`)."""
        return 0


@dataclass(frozen=True)
class Host(Node):
    """One entry of "hosts"."""

    what: ClassVar[str] = "host"
    prefix: ClassVar[str] = "h"


@dataclass(frozen=True)
class Switch(Node):
    """One entry of "switches": an OpenFlow switch, a legacy switch or a legacy router."""

    what: ClassVar[str] = "switch"
    prefix: ClassVar[str] = "s"

    @property
    def type(self) -> str:
        """As in the file: default, ovs, ivs, user, userns, legacySwitch or legacyRouter."""
        return str(self.opts.get("switchType") or "default")

    @property
    def controllers(self) -> tuple[str, ...]:
        """Names of the controllers that it asks."""
        return words(self.opts.get("controllers"))

    @property
    def first_port(self) -> int:
        """A legacy router is a host to Mininet and starts at eth0; a switch starts at eth1."""
        return 0 if self.type == "legacyRouter" else 1


@dataclass(frozen=True)
class Controller:
    """One entry of "controllers".

    key: the name it is filed under in a version 1 file; x, y: None there.
    """

    opts: Json
    x: str | float | None = None
    y: str | float | None = None
    key: str | None = None
    extra: Json = field(default_factory=dict)
    identity: int = field(default_factory=new_identity, compare=False, repr=False)

    what: ClassVar[str] = "controller"

    @property
    def name(self) -> str:
        """The name switches refer to."""
        return self.key if self.key is not None else str(self.opts["hostname"])


UNPLACED = 60.0
"""Both coordinates of a node whose place the file does not say."""


def position(node: Node | Controller) -> tuple[float, float]:
    """Coordinates in the drawing's pixels; a node of a version 1 file may have none, and a faulty file any text."""
    return _coordinate(node.x), _coordinate(node.y)


def _coordinate(value: str | float | None) -> float:
    try:
        found = float(value) if value is not None else UNPLACED
    except (ValueError, OverflowError):
        return UNPLACED
    return found if abs(found) <= MOST_PIXELS else UNPLACED


@dataclass(frozen=True)
class Link:
    """One entry of "links"; its place in the file decides the port numbers of both ends, unless `own` says them.

    own: what Linklab keeps of it under "linklab": "ports" ([2, null]: number or counted), "addresses" (a list of them
    for each end, of hosts and routers), "forward" and "backward" (`linklab.tc.Impairment`, of the direction src→dest
    and back).
    """

    src: str
    dest: str
    opts: Json = field(default_factory=dict)
    extra: Json = field(default_factory=dict)
    own: Json = field(default_factory=dict)
    identity: int = field(default_factory=new_identity, compare=False, repr=False)

    what: ClassVar[str] = "link"

    @property
    def ports(self) -> tuple[int | None, int | None]:
        """Port numbers that the file says for (src, dest); None where they are counted."""
        src, dest = self.own.get("ports") or (None, None)
        return src, dest

    @property
    def impairments(self) -> tuple[Impairment | None, Impairment | None]:
        """Of src→dest, set on src's interface, and of dest→src; None where `opts` alone counts."""
        forward, backward = (self.own.get(key) for key in ("forward", "backward"))
        return (
            None if forward is None else Impairment.from_data(forward),
            None if backward is None else Impairment.from_data(backward),
        )

    @property
    def impaired(self) -> bool:
        """Whether a rate, a delay, a loss, a queue, or another impairment is drawn, in either direction."""
        times = [_lasts(str(self.opts[key])) for key in ("delay", "jitter") if self.opts.get(key)]
        own = any(each not in (None, Impairment()) for each in self.impairments)
        return own or any(times) or any(self.opts.get(key) for key in ("bw", "loss", "max_queue_size"))

    @property
    def name(self) -> str:
        """As people say it: "s1-s2"."""
        return f"{self.src}-{self.dest}"


def _lasts(time: str) -> bool:
    """Whether it is more than nothing; also of a number without a unit, which is no time here and some µs to tc."""
    try:
        return parse_time_s(time) > 0
    except InputError:
        return bool(time.strip(" 0."))


@dataclass(frozen=True)
class Preferences:
    """The object "application", with MiniEdit's defaults for what it lacks."""

    data: Json = field(default_factory=dict)

    @property
    def ip_base(self) -> str:
        """Network that default addresses are counted in, with prefix length."""
        return self._text("ipBase", "10.0.0.0/8")

    @property
    def start_cli(self) -> bool:
        """Whether Run opens the Mininet CLI."""
        return bool(self.data.get("startCLI") == "1")

    @property
    def terminal_type(self) -> str:
        """Either "xterm" or "gterm"."""
        return self._text("terminalType", "xterm")

    @property
    def switch_type(self) -> str:
        """What "default" means for a switch: ovs, ivs, user or userns."""
        return self._text("switchType", "ovs")

    @property
    def dpctl_port(self) -> int | None:
        """TCP port that switches listen on for dpctl."""
        return whole_number(self.data.get("dpctl")) or None

    @property
    def openflow_protocols(self) -> tuple[str, ...]:
        """Versions switched on, spelled as ovs-vsctl has them, e.g. ("OpenFlow10",)."""
        given = self._object("openFlowVersions", {"ovsOf10": "1"})
        return tuple(f"OpenFlow{v}" for v in ("10", "11", "12", "13") if given.get(f"ovsOf{v}", "0") == "1")

    @property
    def netflow(self) -> dict[str, str]:
        """Keys nflowTarget, nflowTimeout (s) and nflowAddId, all present."""
        return {"nflowTarget": "", "nflowTimeout": "600", "nflowAddId": "0", **self._object("netflow", {})}

    @property
    def sflow(self) -> dict[str, str]:
        """Keys sflowTarget, sflowSampling, sflowHeader (bytes) and sflowPolling (s), all present."""
        defaults = {"sflowTarget": "", "sflowSampling": "400", "sflowHeader": "128", "sflowPolling": "30"}
        return {**defaults, **self._object("sflow", {})}

    def _text(self, key: str, default: str) -> str:
        value = self.data.get(key)
        return default if value is None else str(value)

    def _object(self, key: str, default: Json) -> Json:
        value = self.data.get(key)
        return value if isinstance(value, Mapping) else default
