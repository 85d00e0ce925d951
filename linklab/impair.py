# SPDX-License-Identifier: BSD-3-Clause
"""What one direction of a link does to packets, as plain data, and the `tc` lines that make it so.

    {"rate": "1gbit", "delay": "20ms", "discipline": {"kind": "codel"}} → Impairment → commands("s1-eth2", …)

Called by the topology (checks, plan), the editor ("Show the commands") and whoever sets a running link. It starts
nothing and knows no topology. Order on an interface: netem (1:), then the shaper (2:), then the discipline (3:).
Specified in tc(8), tc-netem(8), tc-tbf(8) and the page of each discipline; defaults are tc's where nothing is given.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from linklab import units
from linklab.errors import InputError

HZ_OF_RULE = 250
"""tbf's burst must hold what passes in a tick; the curriculum counts with 250 ticks a second."""
FRAME_BYTES = 1514
NETEM_LIMIT = 1000
"""Packets that netem holds when nothing is said (tc-netem(8)); fewer than a fast link has in flight."""


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

_SHAPERS = ("tbf", "htb")
UNCHANGEABLE = ("htb", "sfq")
"""`tc qdisc change` refuses these; they are set anew."""


@dataclass(frozen=True)
class Impairment:
    """One direction; None and 0 mean: nothing of the kind.

    queue_bytes or queue_pkts: what the shaper's queue (or a plain one) holds.
    held_pkts: what netem may hold; None is enough for the rate, or 100,000.
    discipline: key of DISCIPLINES or "" for first in, first out; options: its parameters as tc words.
    """

    rate_mbit: float | None = None
    burst_bytes: int | None = None
    queue_bytes: int | None = None
    queue_pkts: int | None = None
    delay_s: float = 0.0
    jitter_s: float = 0.0
    correlation_frac: float = 0.0
    distribution: str = ""
    loss_frac: float = 0.0
    duplicate_frac: float = 0.0
    reorder_frac: float = 0.0
    corrupt_frac: float = 0.0
    held_pkts: int | None = None
    discipline: str = ""
    options: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def from_data(cls, data: Any) -> Impairment:
        """Read the JSON object; InputError names the key."""
        if not isinstance(data, Mapping):
            raise InputError("an impairment must be an object")
        known = {*_KEYS, "queue", "distribution", "discipline"}
        for key in data:
            if key not in known:
                raise InputError(f'"{key}" is nothing I know of a direction; there are {", ".join(sorted(known))}')
        values: dict[str, Any] = {}
        for key, (name, parse, _) in _KEYS.items():
            if key in data:
                values[name] = _named(key, parse, data[key])
        if "queue" in data:
            name, parse = (
                ("queue_pkts", units.parse_packets)
                if _counts_packets(data["queue"])
                else ("queue_bytes", units.parse_size_bytes)
            )
            values[name] = _named("queue", parse, data["queue"])
        if data.get("distribution", "") not in DISTRIBUTIONS:
            raise InputError(f'"distribution" must be one of {", ".join(DISTRIBUTIONS[1:])}')
        values["distribution"] = data.get("distribution", "")
        values["discipline"], values["options"] = _discipline(data.get("discipline"))
        found = cls(**values)
        found._check()
        return found

    def _check(self) -> None:
        if self.jitter_s and not self.delay_s:
            raise InputError('"jitter" needs a "delay" to vary')
        if self.reorder_frac and not self.delay_s:
            raise InputError('"reorder" needs a "delay": packets sent at once overtake those that wait')
        if self.distribution and not self.jitter_s:
            raise InputError('"distribution" needs a "jitter"')
        if self.discipline in _SHAPERS and self.rate_mbit is None:
            raise InputError(f'{self.discipline} needs a "rate"')

    def to_data(self) -> dict[str, Any]:
        """The JSON object that `from_data` reads; only what is set."""
        data: dict[str, Any] = {}
        for key, (name, _, form) in _KEYS.items():
            value = getattr(self, name)
            if value:
                data[key] = form(value)
        if self.queue_pkts is not None:
            data["queue"] = units.format_packets(self.queue_pkts)
        elif self.queue_bytes is not None:
            data["queue"] = units.format_size(self.queue_bytes)
        if self.distribution:
            data["distribution"] = self.distribution
        if self.discipline:
            data["discipline"] = {"kind": self.discipline, **self.options}
        return data

    @property
    def has_netem(self) -> bool:
        """Whether a delay line stands first."""
        return any((self.delay_s, self.loss_frac, self.duplicate_frac, self.corrupt_frac))

    @property
    def is_empty(self) -> bool:
        """Whether nothing is asked for."""
        return self == Impairment()

    def notes(self) -> list[str]:
        """What a person should know about this combination."""
        found = []
        if self.has_netem and self.discipline not in ("", "tbf") and not self.rate_mbit:
            found.append(f"without a rate here {self.discipline} never has a queue to manage")
        if self.has_netem and self.discipline not in ("", *_SHAPERS) and self.rate_mbit:
            found.append("delay and discipline share this end: put the delay on the other end to see the queue alone")
        if (
            self.held_pkts is not None
            and self.rate_mbit
            and self.held_pkts < in_flight_pkts(self.rate_mbit, self.delay_s)
        ):
            found.append(
                f"the delay line holds {self.held_pkts} packets: fewer than are in flight, the rest is dropped"
            )
        return found


DISTRIBUTIONS = ("", "normal", "pareto", "paretonormal")
_Key = tuple[str, Callable[[str], Any], Callable[[Any], str]]
_KEYS: dict[str, _Key] = {
    "rate": ("rate_mbit", units.parse_rate_mbit, units.format_rate),
    "burst": ("burst_bytes", units.parse_size_bytes, units.format_size),
    "delay": ("delay_s", units.parse_time_s, units.format_time),
    "jitter": ("jitter_s", units.parse_time_s, units.format_time),
    "correlation": ("correlation_frac", units.parse_percent_frac, units.format_percent),
    "loss": ("loss_frac", units.parse_percent_frac, units.format_percent),
    "duplicate": ("duplicate_frac", units.parse_percent_frac, units.format_percent),
    "reorder": ("reorder_frac", units.parse_percent_frac, units.format_percent),
    "corrupt": ("corrupt_frac", units.parse_percent_frac, units.format_percent),
    "held": ("held_pkts", units.parse_packets, units.format_packets),
}


def _counts_packets(text: Any) -> bool:
    return isinstance(text, str) and "p" in text.casefold()


def _named(key: str, parse: Callable[[str], Any], text: Any) -> Any:
    if not isinstance(text, str):
        raise InputError(f'"{key}" must be a string with a unit')
    try:
        return parse(text)
    except InputError as error:
        raise InputError(f'"{key}": {error}') from error


def _discipline(data: Any) -> tuple[str, dict[str, str]]:
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
    "packets": lambda text: str(units.parse_packets(text if _counts_packets(text) else f"{text}p")),
}


def in_flight_pkts(rate_mbit: float, delay_s: float) -> int:
    """Full frames that a link of this rate and one-way delay holds."""
    return math.ceil(rate_mbit * 1e6 * delay_s / 8 / FRAME_BYTES)


def default_burst_bytes(rate_mbit: float) -> int:
    """tbf's burst: what passes in 1/250 s, and at least two frames."""
    return max(math.ceil(rate_mbit * 1e6 / 8 / HZ_OF_RULE), 2 * FRAME_BYTES)


def commands(interface: str, impairment: Impairment, verb: str = "add") -> list[str]:
    """The lines that set an interface without any discipline; [] where nothing is asked for.

    verb: "add", or "change" to alter values while packets wait (only where `kinds` are the same).
    """
    lines: list[str] = []
    parent = "root"
    for handle, words in _layers(impairment):
        lines.append(f"tc qdisc {verb} dev {interface} {parent} handle {handle}: {words}")
        parent = f"parent {handle}:"
        if words.startswith("htb"):
            lines.append(
                f"tc class {verb} dev {interface} parent {handle}: classid {handle}:10 {_htb_class(impairment)}"
            )
            parent = f"parent {handle}:10"
            if impairment.queue_bytes is not None or impairment.queue_pkts is not None:
                lines.append(f"tc qdisc {verb} dev {interface} {parent} handle 3: {_fifo(impairment)}")
    return lines


def change_commands(interface: str, before: Impairment | None, after: Impairment) -> list[str]:
    """The lines that lead from one to the other on a running interface.

    before: None where it is not known what is there.
    """
    same = before is not None and not before.is_empty and kinds(before) == kinds(after)
    if same and not set(kinds(after)) & set(UNCHANGEABLE):
        return commands(interface, after, "change")
    remove = [] if before is not None and before.is_empty else [f"tc qdisc del dev {interface} root"]
    return remove + commands(interface, after)


def kinds(impairment: Impairment) -> list[str]:
    """Kinds of discipline that `commands` sets, root first, as `tc qdisc show` lists them."""
    return [line.split("handle ")[1].split()[1] for line in commands("x", impairment) if " qdisc " in line]


def _layers(impairment: Impairment) -> list[tuple[int, str]]:
    layers = []
    if impairment.has_netem:
        layers.append((1, _netem(impairment)))
    kind = impairment.discipline
    if kind == "htb":
        layers.append((2, "htb default 10"))
    elif kind == "cake":
        rate = f" bandwidth {units.format_rate(impairment.rate_mbit)}" if impairment.rate_mbit else ""
        layers.append((2, "cake" + rate + _options(impairment)))
    else:
        if impairment.rate_mbit is not None:
            layers.append((2, _tbf(impairment)))
        elif impairment.queue_bytes is not None or impairment.queue_pkts is not None:
            layers.append((2, _fifo(impairment)))
        if kind not in ("", "tbf"):
            if impairment.rate_mbit is None and layers and layers[-1][0] == 2:
                layers.pop()
            layers.append((3, kind + _options(impairment)))
    return layers


def _netem(impairment: Impairment) -> str:
    words = ["netem", "limit", str(_held(impairment))]
    if impairment.delay_s:
        words += ["delay", units.format_time(impairment.delay_s)]
        if impairment.jitter_s:
            words.append(units.format_time(impairment.jitter_s))
            if impairment.correlation_frac:
                words.append(units.format_percent(impairment.correlation_frac))
            if impairment.distribution:
                words += ["distribution", impairment.distribution]
    for name in ("loss", "duplicate", "corrupt", "reorder"):
        frac = getattr(impairment, f"{name}_frac")
        if frac:
            words += [name, units.format_percent(frac)]
    return " ".join(words)


def _held(impairment: Impairment) -> int:
    """Packets for netem: twice what is in flight, so that the delay line itself never drops."""
    if impairment.held_pkts is not None:
        return impairment.held_pkts
    if impairment.rate_mbit is None:
        return 100_000
    return max(NETEM_LIMIT, 2 * in_flight_pkts(impairment.rate_mbit, impairment.delay_s + impairment.jitter_s))


def _tbf(impairment: Impairment) -> str:
    assert impairment.rate_mbit is not None
    burst = impairment.burst_bytes or default_burst_bytes(impairment.rate_mbit)
    limit = impairment.queue_bytes
    if limit is None:
        limit = (impairment.queue_pkts or NETEM_LIMIT) * FRAME_BYTES
    rate = units.format_rate(impairment.rate_mbit)
    return f"tbf rate {rate} burst {burst} limit {limit}" + (
        _options(impairment) if impairment.discipline == "tbf" else ""
    )


def _htb_class(impairment: Impairment) -> str:
    assert impairment.rate_mbit is not None
    burst = impairment.burst_bytes or default_burst_bytes(impairment.rate_mbit)
    return f"htb rate {units.format_rate(impairment.rate_mbit)} burst {burst}" + _options(impairment)


def _fifo(impairment: Impairment) -> str:
    if impairment.queue_pkts is not None:
        return f"pfifo limit {impairment.queue_pkts}"
    return f"bfifo limit {impairment.queue_bytes}"


def _options(impairment: Impairment) -> str:
    words = []
    for parameter in DISCIPLINES[impairment.discipline]:
        text = impairment.options.get(parameter.name, "")
        if not text and parameter.required:
            text = parameter.default
        if text:
            words.append(word(parameter, text))
    return "".join(f" {each}" for each in words if each)
