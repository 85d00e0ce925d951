# SPDX-License-Identifier: BSD-3-Clause
"""Rates, times, sizes, percents and packet counts: text as tc(8) and people write it ↔ plain numbers.

Text is what files and arguments hold; inside, numbers carry their unit in the name (`rate_mbit`).
A quantity without a unit is refused where tc would silently assume one (bit/s, microseconds).
Each `parse_…` raises InputError naming the value and the units it takes; `parse_x(format_x(v)) == v` exactly.
Source: tc(8), PARAMETERS (RATES, TIMES, SIZES); iperf3 `-n` for K, M, G as powers of 1024.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from decimal import Decimal

from linklab.errors import InputError

_QUANTITY = re.compile(r"\s*([+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d{1,3})?)\s*(.*?)\s*", re.ASCII | re.DOTALL)

LARGEST = 1e30
"""In the unit of a quantity: beyond everything that a network has, and far from where arithmetic overflows."""

_BIT_PREFIXES_MBIT = {
    "": Decimal("1e-6"),
    "k": Decimal("1e-3"),
    "m": Decimal(1),
    "g": Decimal("1e3"),
    "t": Decimal("1e6"),
    "ki": Decimal(1024) / 10**6,
    "mi": Decimal(1024**2) / 10**6,
    "gi": Decimal(1024**3) / 10**6,
}
_BIT_WORDS = ("bit", "bit/s", "bits/s", "bit/sec", "bits/sec")  # the last as iperf3 prints it
_RATE_MBIT = {prefix + word: scale for prefix, scale in _BIT_PREFIXES_MBIT.items() for word in _BIT_WORDS}
_CAPITAL_BPS_MBIT = {"Kbps": "k", "Mbps": "m", "Gbps": "g", "Tbps": "t"}

_TIME_S = {
    **dict.fromkeys(("ns", "nsec", "nsecs"), Decimal("1e-9")),
    **dict.fromkeys(("us", "usec", "usecs", "μs"), Decimal("1e-6")),  # casefold() turns the micro sign into this mu
    **dict.fromkeys(("ms", "msec", "msecs"), Decimal("1e-3")),
    **dict.fromkeys(("s", "sec", "secs"), Decimal(1)),
    "min": Decimal(60),
    "h": Decimal(3600),
}

_SIZE_BYTES = {
    **dict.fromkeys(("", "b", "byte", "bytes"), Decimal(1)),
    **dict.fromkeys(("k", "kb", "kib"), Decimal(1024)),
    **dict.fromkeys(("m", "mb", "mib"), Decimal(1024**2)),
    **dict.fromkeys(("g", "gb", "gib"), Decimal(1024**3)),
    **dict.fromkeys(("t", "tb", "tib"), Decimal(1024**4)),
}

_PERCENT_FRAC = {"%": Decimal("0.01")}
_PACKETS = dict.fromkeys(("p", "pkt", "pkts", "packet", "packets"), Decimal(1))


def parse_rate_mbit(text: str) -> float:
    """Rate in Mbit/s, > 0; mbit is 10^6 bit/s.

    Takes "10mbit", "1gbit", "2.5 Gbit/s", "37.7 Gbits/sec", "10 Gbps", "64kibit". A bare number has no unit, and
    "mbps" in small letters means megabytes to tc(8) and megabits to people: both are refused.
    """
    accepted = "kbit, mbit or gbit"
    match = _QUANTITY.fullmatch(text)
    unit = match[2] if match else ""
    if unit in _CAPITAL_BPS_MBIT:
        text = text.replace(unit, _CAPITAL_BPS_MBIT[unit] + "bit")
    elif unit in ("bps", "kbps", "mbps", "gbps", "tbps"):
        raise InputError(f'rate "{text}": {unit} means bytes to tc and bits to people; use {accepted}')
    value = _parse("rate", text, _RATE_MBIT, accepted)
    if value <= 0:
        raise InputError(f'rate "{text}" must be above 0; use {accepted}')
    return float(value)


def format_rate(rate_mbit: float) -> str:
    """The shortest of "…bit", "…kbit", "…mbit", "…gbit" with a number of at least 1: 10000 → "10gbit"."""
    return _format(rate_mbit, (("gbit", 3), ("mbit", 0), ("kbit", -3), ("bit", -6)))


def parse_time_s(text: str) -> float:
    """Time in seconds, >= 0, from "20ms", "1s", "100us", "1.5 min"; a bare number is refused (tc reads it as µs)."""
    accepted = "us, ms or s"
    value = _parse("time", text, _TIME_S, accepted)
    if value < 0:
        raise InputError(f'time "{text}" must not be negative; use {accepted}')
    return float(value)


def format_time(time_s: float) -> str:
    """Seconds as tc takes them, in the largest of s, ms, us, ns with a number of at least 1: 0.02 → "20ms"."""
    return _format(time_s, (("s", 0), ("ms", -3), ("us", -6), ("ns", -9)))


def parse_size_bytes(text: str) -> int:
    """Size in bytes, >= 0, from "5000000", "1514b", "64kb", "25 MiB"; k, M, G are powers of 1024 as in tc(8)."""
    accepted = "b, kb, mb, gb or KiB, MiB, GiB (k = 1024)"
    value = _parse("size", text, _SIZE_BYTES, accepted)
    if value < 0 or value != value.to_integral_value():
        raise InputError(f'size "{text}" is not a whole number of bytes; use {accepted}')
    return int(value)


def parse_percent_frac(text: str) -> float:
    """Fraction 0..1 from "0.01%" … "100%"."""
    value = _parse("percentage", text, _PERCENT_FRAC, "%")
    if not 0 <= value <= 1:
        raise InputError(f'percentage "{text}" must lie between 0% and 100%')
    return float(value)


def format_percent(frac: float) -> str:
    """0.0001 → "0.01%"."""
    return _format(frac, (("%", -2),))


def parse_packets(text: str) -> int:
    """Number of packets, >= 0, from "100p" (as `tc -s` prints limits) or "100 packets"."""
    value = _parse("packet count", text, _PACKETS, "p, as in 100p")
    if value < 0 or value != value.to_integral_value():
        raise InputError(f'packet count "{text}" is not a whole number of packets; use p, as in 100p')
    return int(value)


def _parse(what: str, text: str, units: Mapping[str, Decimal], accepted: str) -> Decimal:
    """Value in the unit whose factor is 1, exact; Decimal so that "0.1ms" is the float nearest to 0.0001 s."""
    match = _QUANTITY.fullmatch(text)
    if match is None:
        raise InputError(f'{what} "{text}" is not a number with a unit; use {accepted}')
    number, unit = match.groups()
    scale = units.get(unit.casefold())
    if scale is None:
        found = "has no unit" if not unit else "has no unit I know"
        raise InputError(f'{what} "{text}" {found}; use {accepted}')
    value = Decimal(number) * scale
    if abs(value) > LARGEST:
        raise InputError(f'{what} "{text[:40]}…" is too large to be one; use {accepted}')
    return value


def _format(value: float, units: tuple[tuple[str, int], ...]) -> str:
    """`value` in the first unit (name, power of ten) that gives at least 1, else in the last; no exponent."""
    exact = Decimal(repr(float(value)))
    if not exact.is_finite() or exact < 0:
        raise ValueError(f"not a quantity: {value}")
    fitting = (unit for unit in units if exact >= Decimal(1).scaleb(unit[1]))
    name, power = next(fitting, units[-1] if exact else units[0])
    number = f"{exact.scaleb(-power):f}"
    return (number.rstrip("0").rstrip(".") if "." in number else number) + name
