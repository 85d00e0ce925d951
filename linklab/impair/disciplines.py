# SPDX-License-Identifier: BSD-3-Clause
"""Which queueing disciplines may stand at the end of a link, and their parameters as people and as tc write them."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from linklab import units
from linklab.errors import InputError


@dataclass(frozen=True)
class Parameter:
    """One option of a discipline.

    kind: rate, time, size, packets, number, percent, flag, or words parted by "|" of which one is taken.
    """

    name: str
    kind: str
    help: str
    required: bool = False
    default: str = ""


def _p(name: str, kind: str, text: str, default: str = "", *, required: bool = False) -> Parameter:
    return Parameter(name, kind, text, required, default)


_LIMIT = _p("limit", "packets", "packets the queue holds")
_ECN = _p("ecn", "flag", "mark instead of dropping, where both ends agreed to ECN")
_TARGET = _p("target", "time", "standing delay that is accepted", "5ms")

DISCIPLINES: dict[str, tuple[Parameter, ...]] = {
    "tbf": (
        _p("peakrate", "rate", "rate of the second bucket"),
        _p("mtu", "size", "size of the second bucket, at least a frame"),
    ),
    "htb": (
        _p("ceil", "rate", "rate that may be reached by borrowing"),
        _p("cburst", "size", "bytes that may pass at ceil"),
        _p("quantum", "size", "bytes served in a turn"),
    ),
    "red": (
        _p("limit", "size", "most bytes in the queue", required=True),
        _p("min", "size", "average queue from where packets are dropped", required=True),
        _p("max", "size", "average queue where the probability is reached", required=True),
        _p("avpkt", "size", "average packet, for the measure of time", "1000", required=True),
        _p("burst", "number", "packets that may come at once: (2·min+max)/(3·avpkt)"),
        _p("bandwidth", "rate", "rate for the time an idle queue takes to empty"),
        _p("probability", "number", "greatest probability of dropping, 0 to 1", "0.02"),
        _ECN,
        _p("harddrop", "flag", "drop above max even with ECN"),
        _p("adaptive", "flag", "let the probability follow the queue"),
    ),
    "sfq": (
        _p("perturb", "number", "seconds between changes of the hash", "10"),
        _p("quantum", "size", "bytes a flow sends in its turn"),
        _LIMIT,
        _p("depth", "number", "packets of one flow"),
        _p("divisor", "number", "buckets of the hash, a power of two"),
        _p("flows", "number", "flows that are told apart"),
    ),
    "codel": (
        _LIMIT,
        _TARGET,
        _p("interval", "time", "time over which the delay must fall below target", "100ms"),
        _p("ce_threshold", "time", "delay from where every packet is marked"),
        _ECN,
    ),
    "fq_codel": (
        _LIMIT,
        _p("flows", "number", "buckets flows are spread over", "1024"),
        _TARGET,
        _p("interval", "time", "time over which the delay must fall below target", "100ms"),
        _p("quantum", "size", "bytes a flow sends in its turn", "1514"),
        _p("ce_threshold", "time", "delay from where every packet is marked"),
        _p("memory_limit", "size", "most bytes of memory"),
        _ECN,
        _p("noecn", "flag", "never mark"),
    ),
    "cake": (
        _p("rtt", "time", "round trip the queue is tuned for", "100ms"),
        _p("priority", "besteffort|precedence|diffserv3|diffserv4|diffserv8", "classes of traffic"),
        _p(
            "isolation",
            "flowblind|srchost|dsthost|hosts|flows|dual-srchost|dual-dsthost|triple-isolate",
            "what shares fairly",
        ),
        _p("memlimit", "size", "most bytes of memory"),
        _p("overhead", "number", "bytes added to each packet"),
        _p("ack-filter", "flag", "drop acknowledgements that a later one covers"),
    ),
    "pie": (
        _LIMIT,
        _p("target", "time", "delay aimed at", "15ms"),
        _p("tupdate", "time", "time between updates of the probability", "15ms"),
        _p("alpha", "number", "weight of the distance from target, 0 to 32", "2"),
        _p("beta", "number", "weight of the trend, 0 to 32", "20"),
        _ECN,
        _p("bytemode", "flag", "count by packet size"),
    ),
    "fq": (
        _LIMIT,
        _p("flow_limit", "packets", "packets of one flow", "100p"),
        _p("quantum", "size", "bytes a flow sends in its turn"),
        _p("initial_quantum", "size", "bytes a new flow may send at first"),
        _p("maxrate", "rate", "most that one flow may send"),
        _p("buckets", "number", "size of the hash, a power of two"),
        _p("ce_threshold", "time", "delay from where every packet is marked"),
        _p("nopacing", "flag", "do not pace"),
    ),
}
"""What may stand at the end of a link, in the order of tc's manual pages."""

SHAPERS = ("tbf", "htb")


def parse_discipline(data: Any) -> tuple[str, dict[str, str]]:
    """Kind and options of the JSON object; InputError says what is wrong with it."""
    if data is None:
        return "", {}
    if not isinstance(data, Mapping) or data.get("kind") not in DISCIPLINES:
        raise InputError(f'"discipline" must be an object with a "kind" of {", ".join(DISCIPLINES)}')
    kind = str(data["kind"])
    options = {name: text for name, text in data.items() if name != "kind"}
    known = {parameter.name: parameter for parameter in DISCIPLINES[kind]}
    for name, text in options.items():
        if name not in known:
            raise InputError(f'{kind} has no "{name}"; it has {", ".join(known)}')
        word(known[name], text)
    for parameter in DISCIPLINES[kind]:
        if parameter.required and not options.get(parameter.name) and not parameter.default:
            raise InputError(f'{kind} needs "{parameter.name}": {parameter.help}')
    return kind, options


def counts_packets(text: Any) -> bool:
    """Whether a size is given in packets: "100p"."""
    return isinstance(text, str) and "p" in text.casefold()


def word(parameter: Parameter, text: Any) -> str:
    """What tc is given for a parameter's text; InputError names the parameter."""
    where = f'"{parameter.name}"'
    if not isinstance(text, str):
        raise InputError(f"{where} must be a string")
    if parameter.kind == "flag":
        if text not in ("", "0", "1"):
            raise InputError(f"{where} is on (1) or off (0)")
        return parameter.name if text == "1" else ""
    if "|" in parameter.kind:
        if text and text not in parameter.kind.split("|"):
            raise InputError(f"{where} must be one of {', '.join(parameter.kind.split('|'))}")
        return text
    if parameter.kind == "number":
        try:
            if not math.isfinite(float(text)) or float(text) < 0:
                raise ValueError
        except ValueError:
            raise InputError(f"{where} must be a number, found {text!r}") from None
        return f"{parameter.name} {text.strip()}"
    try:
        return f"{parameter.name} {_QUANTITIES[parameter.kind](text)}"
    except InputError as error:
        raise InputError(f"{where}: {error}") from error


_QUANTITIES: dict[str, Callable[[str], str]] = {
    "rate": lambda text: units.format_rate(units.parse_rate_mbit(text)),
    "time": lambda text: units.format_time(units.parse_time_s(text)),
    "size": lambda text: str(units.parse_size_bytes(text)),
    "packets": lambda text: str(units.parse_packets(text if counts_packets(text) else f"{text}p")),
}
