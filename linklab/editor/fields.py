# SPDX-License-Identifier: BSD-3-Clause
"""The fields of the dialogs as data: label, unit, help, and text ↔ value with a sentence where a text is wrong.

Names and order are MiniEdit's, so that a lab written for it finds them. An empty text means: no such key.
Called by `dialogs` (which draws them) and `link_dialog`; pure.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from ipaddress import IPv4Address, IPv4Interface, IPv4Network
from typing import Any

from linklab import units
from linklab.errors import InputError
from linklab.topology import Topology

Check = Callable[[str], Any]


@dataclass(frozen=True)
class Field:
    """One field.

    kind: text, choice, flag, lines (a name each) or rows (pairs; `columns` names them).
    check: the text (of a choice: the value) → the value for the file; raises InputError.
    choices: (value, what people read) pairs.
    keep_empty: an empty text is kept as "" where the file has the key already.
    """

    key: str
    label: str
    help: str = ""
    unit: str = ""
    kind: str = "text"
    check: Check = str
    choices: tuple[tuple[str, str], ...] = ()
    columns: tuple[str, str] = ("", "")
    default: str = ""
    keep_empty: bool = False


@dataclass(frozen=True)
class Page:
    """A tab of a dialog."""

    title: str
    fields: tuple[Field, ...]
    note: str = ""


Values = Mapping[str, Any]
"""What is typed: str for text and choice, "0"/"1" for a flag, list of str or of pairs for lines and rows."""


def texts(pages: Sequence[Page], data: Mapping[str, Any]) -> dict[str, Any]:
    """What the fields show for an object of the file."""
    shown: dict[str, Any] = {}
    for field in (each for page in pages for each in page.fields):
        value = data.get(field.key, field.default if field.kind not in ("lines", "rows") else [])
        if field.kind == "lines":
            shown[field.key] = [str(each) for each in value]
        elif field.kind == "rows":
            shown[field.key] = [(each, "") if isinstance(each, str) else (str(each[0]), str(each[1])) for each in value]
        else:
            shown[field.key] = f"{value:g}" if isinstance(value, float) else str(value)
    return shown


def read(pages: Sequence[Page], values: Values, before: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, str]]:
    """The object for the file, and for each field that is wrong a sentence.

    before: the object as it was: keys that no field shows stay.
    """
    data = dict(before)
    wrong: dict[str, str] = {}
    for field in (each for page in pages for each in page.fields):
        raw = values[field.key]
        try:
            value = _value(field, raw)
        except (InputError, ValueError) as error:
            wrong[field.key] = str(error)
            continue
        is_default = raw == field.default and field.key not in before
        if value is None and field.keep_empty and field.key in before:
            data[field.key] = ""
        elif value is None or is_default:
            data.pop(field.key, None)
        else:
            data[field.key] = value
    return data, wrong


def _value(field: Field, raw: Any) -> Any:
    if field.kind == "lines":
        lines = [line.strip() for line in raw if line.strip()]
        return [field.check(line) for line in lines] or None
    if field.kind == "rows":
        pairs = [(a.strip(), b.strip()) for a, b in raw if a.strip() or b.strip()]
        return [_pair(field, *pair) for pair in pairs] or None
    text = raw.strip() if field.kind == "text" else raw
    return field.check(text) if text != "" else None


def _pair(field: Field, first: str, second: str) -> Any:
    return field.check(f"{first}\0{second}")


# --- checks


def name(text: str) -> str:
    """A node's name."""
    if not re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9_.-]*", text):
        raise InputError("letters, digits, _ . and - only; starts with a letter, a digit or _")
    if len(text) > 10:
        raise InputError(f"{text}-eth0 would be too long: Linux allows 15 characters for an interface")
    return text


def address(text: str) -> str:
    """An address, with or without prefix length."""
    try:
        IPv4Interface(text)
    except ValueError:
        raise InputError("an IPv4 address, such as 10.0.0.1 or 10.0.0.1/8") from None
    return text


def bare_address(text: str) -> str:
    """An address without prefix length."""
    try:
        return str(IPv4Address(text))
    except ValueError:
        raise InputError("an IPv4 address without prefix length, such as 10.0.0.254") from None


def network(text: str) -> str:
    """A network with prefix length."""
    try:
        IPv4Network(text, strict=False)
    except ValueError:
        raise InputError("a network with its prefix length, such as 10.0.0.0/8") from None
    if "/" not in text:
        raise InputError("the prefix length is missing, such as /8")
    return text


def number(least: float, most: float, what: str) -> Check:
    """A number between two; whole numbers stay whole."""

    def check(text: str) -> Any:
        try:
            value = float(text)
        except ValueError:
            raise InputError(f"{what}, found {text!r}") from None
        if not least <= value <= most:
            raise InputError(f"{what}, found {text}")
        return int(value) if value.is_integer() and not re.search(r"[.eE]", text) else value

    return check


def digits(least: int, most: int, *, as_text: bool = True) -> Check:
    """A whole number, kept as text as MiniEdit does, or as a number."""

    def check(text: str) -> Any:
        if not text.isdecimal() or not least <= int(text) <= most:
            raise InputError(f"a whole number from {least} to {most}")
        return text if as_text else int(text)

    return check


def pattern(regex: str, what: str) -> Check:
    """A text of a certain form."""

    def check(text: str) -> str:
        if not re.fullmatch(regex, text):
            raise InputError(what)
        return text

    return check


def rate(text: str) -> Any:
    """Mbit/s as a number: "10", "0.5", or with a unit: "1gbit"."""
    try:
        value = float(text)
    except ValueError:
        value = units.parse_rate_mbit(text)
    if not value > 0:
        raise InputError("a rate above 0")
    return int(value) if value.is_integer() else value


def time(text: str) -> str:
    """A time with its unit, as typed."""
    units.parse_time_s(text)
    return text


def percent(text: str) -> Any:
    """Percent as a number; "1" or "1%"."""
    return number(0, 100, "a number of percent from 0 to 100")(text.removesuffix("%").strip())


def whole(text: str) -> int:
    """A whole number above 0; "100" or "100p"."""
    digits_only = text.removesuffix("p").strip()
    if not digits_only.isdecimal() or int(digits_only) == 0:
        raise InputError("a whole number of packets above 0")
    return int(digits_only)


def _vlan(pair: str) -> list[str]:
    first, second = pair.split("\0")
    if not second.isdecimal() or not 1 <= int(second) <= 4094:
        raise InputError(f"VLAN ID {second!r}: a number from 1 to 4094")
    return [address(first), second]


def _private(pair: str) -> Any:
    first, second = pair.split("\0")
    for each in (first, second) if second else (first,):
        if not each.startswith("/"):
            raise InputError(f"{each!r}: a folder's whole path, which starts with /")
    return [first, second] if second else first


# --- the dialogs

_NAME = Field("hostname", "Hostname", "the node's name and the start of its interfaces' names: h1, h1-eth0", check=name)
_START = Field("startCommand", "Start Command", "run on the node when the network is ready", keep_empty=True)
_STOP = Field("stopCommand", "Stop Command", "run on the node before the network ends", keep_empty=True)
_EXTERNAL = Page(
    "External Interfaces",
    (
        Field(
            "externalInterfaces", "Interface names", "one a line; they take the node's first port numbers", kind="lines"
        ),
    ),
    "Interfaces of this machine that the node takes over. A pocket has none of them: kept in the file, named at Run.",
)


def host_pages(topology: Topology) -> tuple[Page, ...]:
    """Properties of a host."""
    base = topology.preferences.ip_base
    return (
        Page(
            "Properties",
            (
                _NAME,
                Field("ip", "IP Address", f"with prefix length, 10.0.0.1/8; empty: the next of {base}", check=address),
                Field("defaultRoute", "Default Route", "address of the router, 10.0.0.254", check=bare_address),
                Field(
                    "cpu",
                    "Amount CPU",
                    "0.5 is half a processor; kept, not used in a pocket, where computing has its own cost",
                    "of one processor",
                    check=number(0.001, 1024, "a number above 0"),
                ),
                Field(
                    "sched",
                    "Scheduler",
                    "how the share is kept",
                    kind="choice",
                    choices=(("host", "host (no limit)"), ("cfs", "cfs (share)"), ("rt", "rt (real time)")),
                    default="host",
                ),
                Field(
                    "cores",
                    "Cores",
                    "processors it may use: 0,1 or 0-3",
                    check=pattern(r"\d+(-\d+)?(,\d+(-\d+)?)*", "processor numbers such as 0,1 or 0-3"),
                ),
                _START,
                _STOP,
            ),
        ),
        Page(
            "VLAN Interfaces",
            (Field("vlanInterfaces", "VLANs", kind="rows", columns=("IP Address", "VLAN ID"), check=_vlan),),
            "Each makes an interface such as h1-eth0.100 with its own address.",
        ),
        _EXTERNAL,
        Page(
            "Private Directories",
            (
                Field(
                    "privateDirectory",
                    "Directories",
                    kind="rows",
                    columns=("Mount", "Persistent Directory"),
                    check=_private,
                ),
            ),
            "Folders that this host alone sees; without a persistent directory empty at each Run.",
        ),
    )


SWITCH_TYPES = (
    ("default", "Default (as in Preferences)"),
    ("ovs", "Open vSwitch Kernel Mode"),
    ("ivs", "Indigo Virtual Switch"),
    ("user", "Userspace Switch"),
    ("userns", "Userspace Switch inNamespace"),
)


def switch_pages() -> tuple[Page, ...]:
    """Properties of an OpenFlow switch."""
    return (
        Page(
            "Properties",
            (
                _NAME,
                Field(
                    "dpid",
                    "DPID",
                    "datapath number; empty: from the digits of the name",
                    "hexadecimal",
                    check=pattern(r"[0-9A-Fa-f:]{1,23}", "at most 16 hexadecimal digits"),
                    keep_empty=True,
                ),
                Field("netflow", "Enable NetFlow", "to the target in Preferences", kind="flag", default="0"),
                Field("sflow", "Enable sFlow", "to the target in Preferences", kind="flag", default="0"),
                Field(
                    "switchType",
                    "Switch Type",
                    "Indigo and userspace switches are kept in the file; no supported system has them to run",
                    kind="choice",
                    choices=SWITCH_TYPES,
                    default="default",
                ),
                Field("switchIP", "IP Address", "of the switch's own interface", check=address, keep_empty=True),
                Field("dpctl", "DPCTL port", "where dpctl may reach it", check=digits(1, 65535), keep_empty=True),
                _START,
                _STOP,
            ),
        ),
        _EXTERNAL,
    )


def legacy_pages(*, router: bool) -> tuple[Page, ...]:
    """Properties of a legacy switch or router, which MiniEdit has no dialog for."""
    note = (
        "Forwards between its interfaces; give them addresses in the start command: ifconfig r1-eth0 10.0.0.1/24"
        if router
        else "Learns addresses by itself, like a switch from a shop; no controller."
    )
    return (Page("Properties", (_NAME, _START, _STOP), note), _EXTERNAL)


def controller_pages() -> tuple[Page, ...]:
    """Properties of a controller."""
    return (
        Page(
            "Properties",
            (
                replace(_NAME, label="Name", help="what switches call it"),
                Field(
                    "remotePort",
                    "Controller Port",
                    "6633 and 6653 are the usual ones",
                    check=digits(1, 65535, as_text=False),
                    default="6633",
                ),
                Field(
                    "controllerType",
                    "Controller Type",
                    kind="choice",
                    choices=(
                        ("remote", "Remote Controller"),
                        ("inband", "In-Band Controller"),
                        ("ref", "OpenFlow Reference"),
                        ("ovsc", "OVS Controller"),
                    ),
                    default="ref",
                ),
                Field(
                    "controllerProtocol",
                    "Protocol",
                    kind="choice",
                    choices=(("tcp", "TCP"), ("ssl", "SSL")),
                    default="tcp",
                ),
                Field(
                    "remoteIP",
                    "IP Address",
                    "of a remote or in-band controller; a pocket reaches only what runs inside it",
                    check=bare_address,
                    default="127.0.0.1",
                ),
            ),
        ),
    )


LINK_PAGE = Page(
    "Link",
    (
        Field("bw", "Bandwidth", "of each direction; 0.5 works too, and 1gbit", "Mbit/s", check=rate),
        Field(
            "delay",
            "Delay",
            "one way, added by each end: the round trip grows by twice as much; 5ms, 100us",
            check=time,
        ),
        Field("loss", "Loss", "share of packets dropped at random in each direction", "%", check=percent),
        Field("max_queue_size", "Max Queue size", "what waits at each end at most", "packets", check=whole),
        Field("jitter", "Jitter", "how far the delay varies up and down; needs a delay", check=time),
        Field(
            "speedup",
            "Speedup",
            "rate that a switch's end sends at instead",
            "Mbit/s",
            check=number(0, 1e6, "a number of Mbit/s"),
        ),
    ),
    "Both directions alike, by Mininet's own link. Empty: nothing of the kind.",
)
