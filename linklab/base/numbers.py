# SPDX-License-Identifier: BSD-3-Clause
"""Measured numbers as people read and write them: 0.0327 s ↔ "32.7 ms".

`lab.toml` gives its ranges, and the manual and the report their numbers, in these words.
Inside, a value is in the base unit of its quantity: bit/s, s, bytes, or 1 for counts, fractions and indices.
kB, MB and GB are powers of 1000, as on the axes of the plots; KiB, MiB and GiB of 1024 (unlike tc(8), where MB is MiB).
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from decimal import Decimal

from linklab import units
from linklab.base.text import excerpt
from linklab.errors import InputError

BASES: dict[str, dict[str, float]] = {
    "bit/s": {"bit/s": 1, "kbit/s": 1e3, "Mbit/s": 1e6, "Gbit/s": 1e9, "bps": 1, "kbps": 1e3, "Mbps": 1e6, "Gbps": 1e9},
    "s": {"s": 1, "ms": 1e-3, "µs": 1e-6, "us": 1e-6, "min": 60},
    "bytes": {"bytes": 1, "kB": 1e3, "MB": 1e6, "GB": 1e9, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30},
    "1": {"": 1, "%": 0.01},
}
_OTHER_NAMES = {
    **dict.fromkeys(("B", "byte", "bytes"), "bytes"),
    **dict.fromkeys(("1", "count", "fraction", "index", "packets", "segments", "datagrams"), ""),
    **dict.fromkeys(("second", "seconds"), "s"),
}
MOST_DIGITS = 17  # of a double; sys.float_info.dig
_PREFERRED = {"bit/s": ("Gbps", "Mbps", "kbps", "bps"), "s": ("s", "ms", "µs"), "bytes": ("GB", "MB", "kB", "bytes")}


def base_unit(unit: str) -> str:
    """The base unit that `unit` belongs to: "Mbps" gives "bit/s", "count" gives "1".

    Raises:
        ValueError: a unit of no quantity known here.
    """
    name = _OTHER_NAMES.get(unit, unit)
    for base, names in BASES.items():
        if name in names:
            return base
    known = ", ".join(name for names in BASES.values() for name in names if name)
    raise ValueError(f'"{unit}" is no unit I know; use {known}')


def parse_number(given: str | float) -> tuple[float, str]:
    """A number with its unit, as `lab.toml` gives it.

    Returns:
        The value in base units and the base unit: "9.2 Gbps" gives (9.2e9, "bit/s"), "1 %" (0.01, "1") and
        582 (582.0, "1").

    Raises:
        InputError: no number, or a unit of no quantity known here.
    """
    if isinstance(given, (int, float)) and not isinstance(given, bool):
        return float(given), "1"
    text = str(given).strip()
    if re.search(r"bit|bps", text):
        return units.parse_rate_mbit(text) * 1e6, "bit/s"
    if text.endswith("%"):
        return units.parse_percent_frac(text), "1"
    if size := re.fullmatch(r"((?:\d+(?:\.\d*)?|\.\d+)(?:e[-+]?\d{1,3})?)\s*([kMG]B|[KMG]iB)", text, re.ASCII):
        value = Decimal(size[1]) * Decimal(BASES["bytes"][size[2]])
        if value > units.LARGEST:
            raise InputError(f'size "{excerpt(text)}" is too large to be one')
        return float(value), "bytes"
    if re.search(r"[Bb](?:ytes?)?$", text):
        return float(units.parse_size_bytes(text)), "bytes"
    if re.search(r"\d\s*(?:min|[mµun]?s)$", text):
        return units.parse_time_s(text), "s"
    raise InputError(f'"{text}" is no number with a unit, such as "9.2 Gbps", "40 ms", "2.5 MiB" or "1 %"')


def format_number(
    value: float, unit: str, as_unit: str | None = None, decimals: int | None = None, *, significant: int = 3
) -> str:
    """A value in base units, as a reader wants it: 0.0327 "s" gives "32.7 ms".

    Args:
        value: in `unit`; NaN is a gap and written "none", infinity is "inf".
        unit: a base unit or another name of one; an unknown one is printed as it is.
        as_unit: the unit to write it in; None takes the largest that leaves a number of at least 1.
        decimals: digits after the point; None gives as many as `significant` asks for.
        significant: digits, from the first that is not 0; all before the point are written.

    Raises:
        ValueError: `as_unit` is of another quantity.
    """
    if math.isnan(value):
        return "none"
    try:
        base = base_unit(unit)
    except ValueError:
        if as_unit not in (None, unit):
            raise
        return f"{_digits(value, decimals, significant)} {unit}"
    scaled = value * BASES[base][_OTHER_NAMES.get(unit, unit)]
    if as_unit is None:
        names = _PREFERRED.get(base, ("",))
        as_unit = next((name for name in names if abs(scaled) >= 0.9995 * BASES[base][name]), names[-1])
    elif base_unit(as_unit) != base:
        raise ValueError(f'a value in {base} cannot be written in "{as_unit}"')
    return f"{_digits(scaled / BASES[base][as_unit], decimals, significant)} {as_unit}".rstrip()


def as_printed(text: str) -> str:
    """What a person wrote about quantities, in the spelling of `format_number`: "at most 80us" → "at most 80 µs"."""
    return re.sub(r"(?<=\d) ?us\b", " µs", text)


def digits_to_tell(told: Callable[[int], bool]) -> int:
    """How many significant digits, three or more, a number is written with so that what is to be told shows."""
    return next((count for count in range(3, MOST_DIGITS) if told(count)), 3)


def _digits(number: float, decimals: int | None, significant: int) -> str:
    if math.isinf(number):
        return str(number)
    if decimals is None:
        whole = number == int(number) and abs(number) < 1e6
        decimals = 0 if whole else max(0, significant - 1 - math.floor(math.log10(abs(number))))
    return f"{number:.{decimals}f}"
