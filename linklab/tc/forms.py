# SPDX-License-Identifier: BSD-3-Clause
"""How the value of an option is kept, and how it is written: for tc in base units, and as people write it.

Kept: rates in bit/s, times in µs or ns, sizes in bytes, shares 0..1.  Written for tc: "1000000000bit", "20000us".
As people write it: "1gbit", "20ms".  Specified in tc(8), PARAMETERS.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, TypeAlias

from linklab import units
from linklab.errors import InputError

Check: TypeAlias = Callable[[Any], bool]


@dataclass(frozen=True)
class Form:
    """One form of value.

    kind: what a dialog calls it: rate, time, size, packets, number or percent.
    holds: whether a value may be kept; values may come from a hostile person, so the type is checked strictly.
    exact: the value for tc, without loss; spelled: as people write it.
    read: the value of a text with a unit; InputError says what is wrong with it.
    bare: the unit that tc assumes where a person gives none; "" where none is needed.
    """

    kind: str
    holds: Check
    exact: Callable[[Any], str]
    spelled: Callable[[Any], str]
    read: Callable[[str], Any]
    bare: str = ""

    def typed(self, text: str) -> Any:
        """The value of a word as tc takes it: without a unit it is in tc's own."""
        if self.kind == "rate" and (bytes_per_s := _BYTE_RATE.fullmatch(text)):
            return 8 * self.read(f"{bytes_per_s[1]}bit")
        return self.read(text + self.bare if _BARE.fullmatch(text) else text)


_BARE = re.compile(r"\d+(?:\.\d*)?|\.\d+", re.ASCII)
_BYTE_RATE = re.compile(r"([\d.]+[kmgt]?i?)bps", re.ASCII | re.IGNORECASE)


def count(most: int = 2**64) -> Check:
    """Whole numbers from 0 on."""
    return lambda value: type(value) is int and 0 <= value <= most


def signed(value: Any) -> bool:
    """Whole numbers of 32 bits."""
    return type(value) is int and -(2**31) <= value < 2**31


def share(value: Any) -> bool:
    """Shares of 1."""
    return type(value) in (int, float) and 0 <= value <= 1  # false for NaN and infinity, too


def flag(value: Any) -> bool:
    """True or False."""
    return type(value) is bool


def like(pattern: str) -> Check:
    """Words of a form."""
    return lambda value: type(value) is str and bool(re.fullmatch(pattern, value, re.ASCII))


def in_us(time_ns: int) -> str:
    """Nanoseconds in the smallest unit that every tc takes for a delay."""
    return f"{Decimal(time_ns).scaleb(-3):f}us" if time_ns % 1000 else f"{time_ns // 1000}us"


def whole(text: str) -> int:
    """A number without a unit."""
    value = real(text)
    if value != int(value):
        raise InputError(f"must be a whole number, found {text!r}")
    return int(value)


def real(text: str) -> float:
    """A number without a unit, which may have a fraction."""
    try:
        value = float(text)
        if not math.isfinite(value) or value < 0:
            raise ValueError
    except ValueError:
        raise InputError(f"must be a number, found {text!r}") from None
    return value


def packets(text: str) -> int:
    """A number of packets: "100p", or "100"."""
    return units.parse_packets(text if counts_packets(text) else f"{text}p")


def counts_packets(text: Any) -> bool:
    """Whether a size is given in packets: "100p"."""
    return isinstance(text, str) and "p" in text.casefold()


def _negative(text: str) -> int:
    return -whole(text[1:]) if text.startswith("-") else whole(text)


def _hexadecimal(text: str) -> int:
    try:
        return int(text, 16)
    except ValueError:
        raise InputError(f"must be a hexadecimal number, found {text!r}") from None


def number(most: int = 2**64) -> Form:
    """Numbers that count something."""
    return Form("number", count(most), str, str, whole)


RATE = Form(
    "rate",
    count(2**48),
    lambda bit: f"{bit}bit",
    lambda bit: units.format_rate(bit / 1e6),
    lambda text: round(units.parse_rate_mbit(text) * 1e6),
    "bit",
)
TIME_US = Form(
    "time",
    count(),
    lambda us: f"{us}us",
    lambda us: units.format_time(us / 1e6),
    lambda text: round(units.parse_time_s(text) * 1e6),
    "us",
)
TIME_NS = Form(
    "time",
    count(2**62),
    in_us,
    lambda ns: units.format_time(ns / 1e9),
    lambda text: round(units.parse_time_s(text) * 1e9),
    "us",
)
SLACK_NS = Form("time", count(), lambda ns: f"{ns}ns", lambda ns: f"{ns}ns", TIME_NS.read, "us")
SIZE = Form("size", count(), str, str, units.parse_size_bytes)
SIZE_32 = Form("size", count(2**32 - 1), str, str, units.parse_size_bytes)
PACKETS = Form("packets", count(), str, str, packets)
PACKETS_32 = Form("packets", count(2**32 - 1), str, str, packets)
NUMBER = number()
SIGNED = Form("number", signed, str, str, _negative)
HEXADECIMAL = Form("number", count(2**16 - 1), lambda value: f"{value:x}", lambda value: f"{value:x}", _hexadecimal)
SHARE = Form("percent", share, units.format_percent, units.format_percent, units.parse_percent_frac, "%")
PROBABILITY = Form("number", share, lambda value: f"{value:.9f}", lambda value: f"{value:.9g}", real)
