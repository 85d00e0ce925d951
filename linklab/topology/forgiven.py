# SPDX-License-Identifier: BSD-3-Clause
"""Values that MiniEdit and tc accept although no editor writes them that way: what they mean, and a warning for each.

`forgiven` returns the drawing as an editor would have written it, and the checks, the plan, and Edit > Mend work on
that. A value that cannot be read stays as it is, and `checks` refuses it. Pure. Source: mininet/examples/miniedit.py
(`loadTopology`, `buildNodes`), mininet/link.py (`TCIntf`), tc(8) TIMES.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from ipaddress import IPv4Network
from typing import Any, TypeVar

from linklab.base.text import excerpt, quoted
from linklab.topology.drawn import DrawnNetwork
from linklab.topology.parts import MOST_DIGITS, Json, Link, Preferences, whole_number

D = TypeVar("D", bound=DrawnNetwork)
_ABSENT = object()
"""In place of a value: as if the key were not there."""
Taken = tuple[Any, str]
"""What a value is taken for, and why."""
_Reader = Callable[[Any], Taken | None]

_NUMBER = re.compile(r"\d{1,15}(\.\d{1,15})?|\.\d{1,15}", re.ASCII)


@dataclass(frozen=True)
class Forgiven:
    """One value that does not mean what it literally says; where: "host h1", as in `checks.Problem`."""

    where: str
    message: str


def forgiven(network: D) -> tuple[D, list[Forgiven]]:
    """The drawing as MiniEdit understands it, and what had to be forgiven; the same object if nothing had to be."""
    said: list[Forgiven] = []

    def read(where: str, opts: Json, table: Mapping[str, _Reader]) -> Json:
        changed: dict[str, Any] | None = None
        for key, value in opts.items():
            if key not in table or (taken := _taken(table[key], value)) is None:
                continue
            changed = dict(opts) if changed is None else changed
            found, why = taken
            said.append(Forgiven(where, f'"{key}" {quoted(value)} {why}'))
            if found is _ABSENT:
                del changed[key]
            else:
                changed[key] = found
        return opts if changed is None else changed

    def each(parts: Sequence[Any], table: Mapping[str, _Reader]) -> tuple[Any, ...]:
        found = []
        for part in parts:
            opts = read(f"{part.what} {part.name}", part.opts, table)
            found.append(part if opts is part.opts else replace(part, opts=opts))
        return tuple(found)

    application = network.application
    if application is not None:
        data = read("application", application.data, _APPLICATION)
        for key, table in _PREFERENCES.items():
            part = data.get(key)
            if isinstance(part, Mapping) and (now := read(f"application {key}", part, table)) is not part:
                data = {**data, key: now}
        application = application if data is application.data else Preferences(data)
    after = replace(
        network,
        application=application,
        controllers=None if network.controllers is None else each(network.controllers, _CONTROLLER),
        hosts=each(network.hosts, _HOST),
        switches=each(network.switches, _SWITCH),
        links=each(network.links, _LINK),
    )
    return (after, said) if said else (network, said)


def forgiven_link(link: Link) -> Link:
    """One link as MiniEdit understands it."""
    found, _ = forgiven(DrawnNetwork(links=(link,)))
    return found.links[0]


def _taken(read: _Reader, value: Any) -> Taken | None:
    """What a value is taken for; None if it is as it should be, or cannot be read."""
    return (_ABSENT, "is treated as not set") if value is None else read(value)


def _number(value: Any) -> str | None:
    """A number below 10^15 without a unit as text, from text or a JSON number."""
    if isinstance(value, str):
        text = value.strip()
    elif isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < 10**MOST_DIGITS:
        text = f"{value:f}".rstrip("0").rstrip(".") if isinstance(value, float) else str(value)
    else:
        return None
    return text if _NUMBER.fullmatch(text) else None


def _as_number(text: str) -> int | float:
    return int(text) if text.isdecimal() else float(text)


def _empty(value: Any) -> Taken | None:
    return (_ABSENT, "is empty and is treated as not set") if isinstance(value, str) and not value.strip() else None


def _time(value: Any) -> Taken | None:
    if (text := _number(value)) is not None:
        return f"{text}us", f'has no unit, and tc counts in microseconds: taken as "{text}us"'
    return _empty(value)


def _amount(unit: str) -> _Reader:
    """A reader of text that should be a number; for percents, a percent sign is allowed."""

    def read(value: Any) -> Taken | None:
        if not isinstance(value, str):
            return None
        text = _number(value.strip().removesuffix("%") if unit == "%" else value)
        if text is None:
            return _empty(value)
        return _as_number(text), f"should be a number: taken as {text} {unit}".rstrip()

    return read


def _count(value: Any) -> Taken | None:
    if isinstance(value, str) and (found := whole_number(value)) is not None:
        return found, f"should be a number: taken as {found}"
    if isinstance(value, float) and value.is_integer() and abs(value) < 10**MOST_DIGITS:
        return int(value), f"should be a whole number: taken as {int(value)}"
    return _empty(value)


def _digits(value: Any) -> Taken | None:
    """Read a number where MiniEdit writes digits as text."""
    if type(value) is int and (found := whole_number(value)) is not None and found >= 0:
        return str(found), f'should be text: taken as "{found}"'
    return None


def _flag(value: Any) -> Taken | None:
    if isinstance(value, bool) or (type(value) is int and value in (0, 1)):
        return str(int(value)), f'should be text: taken as "{int(value)}"'
    return None


def _name(value: Any) -> Taken | None:
    if type(value) is int and whole_number(value) is not None:
        return str(value), f'should be text: taken as "{value}"'
    return None


def _blanks(value: Any) -> Taken | None:
    if isinstance(value, str) and value != value.strip():
        return value.strip(), f'has spaces around it: taken as "{excerpt(value.strip())}"'
    return None


def _base(value: Any) -> Taken | None:
    """A network whose mask is in dotted form, for which Mininet wants the prefix length (mininet/util.py, netParse)."""
    text = value.strip() if isinstance(value, str) else ""
    if "." not in text.partition("/")[2]:
        return _blanks(value)
    try:
        network = IPv4Network(text, strict=False)
    except ValueError:
        return None
    taken = f"{text.partition('/')[0]}/{network.prefixlen}"
    return taken, f'should have a prefix length: taken as "{taken}"'


def _cores(value: Any) -> Taken | None:
    given = value if isinstance(value, list) else [value]
    if not given or not all(type(each) is int and 0 <= each < 10**MOST_DIGITS for each in given):
        return _empty(value)
    text = ",".join(map(str, given))
    return text, f'should be text: taken as "{text}"'


def _dpid(value: Any) -> Taken | None:
    if type(value) is int and 0 <= value < 1 << 64:
        return f"{value:016x}", f'should be text: taken as "{value:016x}"'
    if isinstance(value, str) and value.strip().lower().startswith("0x"):
        return value.strip()[2:], f'begins with 0x: taken as "{excerpt(value.strip()[2:])}"'
    return _blanks(value)


def _word(known: Sequence[str], otherwise: str, why: str) -> _Reader:
    """A reader of a word from a fixed set; MiniEdit treats any other word as `otherwise`."""

    def read(value: Any) -> Taken | None:
        if not isinstance(value, str) or value in known:
            return None
        return otherwise, f'is unknown to MiniEdit, which {why}: taken as "{otherwise}"'

    return read


SWITCH_TYPES = ("default", "ovs", "ivs", "user", "userns", "legacySwitch", "legacyRouter")
CONTROLLER_TYPES = ("ref", "ovsc", "remote", "inband")

_HOST: dict[str, _Reader] = {
    "hostname": _name,
    "nodeNum": _count,
    "ip": _blanks,
    "defaultRoute": _blanks,
    "cpu": _amount("of a processor"),
    "cores": _cores,
    **dict.fromkeys(("sched", "startCommand", "stopCommand"), lambda _: None),
    **dict.fromkeys(("externalInterfaces", "vlanInterfaces", "privateDirectory"), lambda _: None),
}
_SWITCH: dict[str, _Reader] = {
    "hostname": _name,
    "nodeNum": _count,
    "dpid": _dpid,
    "dpctl": _digits,
    "switchIP": _blanks,
    "netflow": _flag,
    "sflow": _flag,
    "switchType": _word(SWITCH_TYPES, "ovs", "then builds Open vSwitch"),
    **dict.fromkeys(("controllers", "startCommand", "stopCommand", "externalInterfaces"), lambda _: None),
}
_CONTROLLER: dict[str, _Reader] = {
    "hostname": _name,
    "remotePort": _count,
    "controllerType": _word(CONTROLLER_TYPES, "ref", "then builds the reference controller"),
    "remoteIP": _blanks,
    "controllerProtocol": lambda _: None,
}
_LINK: dict[str, _Reader] = {
    "bw": _amount("Mbit/s"),
    "delay": _time,
    "jitter": _time,
    "loss": _amount("%"),
    "max_queue_size": _count,
    "speedup": _amount("Mbit/s"),
}
_APPLICATION: dict[str, _Reader] = {
    "ipBase": _base,
    "startCLI": _flag,
    "dpctl": _digits,
    **dict.fromkeys(("terminalType", "switchType", "netflow", "sflow", "openFlowVersions"), lambda _: None),
}
_PREFERENCES: dict[str, dict[str, _Reader]] = {
    "netflow": {"nflowTarget": _blanks, "nflowTimeout": _digits, "nflowAddId": _flag},
    "sflow": {"sflowTarget": _blanks, **dict.fromkeys(("sflowSampling", "sflowHeader", "sflowPolling"), _digits)},
    "openFlowVersions": dict.fromkeys(("ovsOf10", "ovsOf11", "ovsOf12", "ovsOf13"), _flag),
}
