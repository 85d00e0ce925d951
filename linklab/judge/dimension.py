# SPDX-License-Identifier: BSD-3-Clause
"""Units of computed quantities: "bit/s" times "s", "bytes" per "s", and what a unit is called after that.

A unit is text in one canonical form: base units ("bit/s", "s", "bytes", "1" for plain numbers), products "bytes·s" and
quotients "bytes/s" or "1/(s·s)". So two units are the same quantity if their texts are equal; bytes per second are not
bits per second, and counts of whatever kind are plain numbers.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping

from linklab.base.numbers import base_unit

PLAIN = "1"
WORD = "word"
"""Unit of a word, which is no quantity."""

_PARTS = re.compile(r"bit/s|[·/]|[^·/()]+")


def canonical(unit: str) -> str:
    """The canonical form of a unit as it is measured or written: "Mbps" → "bit/s", "packets" → "1"."""
    return _text(_powers(unit))


def product(left: str, right: str) -> str:
    """The unit of a product."""
    powers = Counter(_powers(left))
    powers.update(_powers(right))
    return _text(powers)


def quotient(left: str, right: str) -> str:
    """The unit of a quotient."""
    powers = Counter(_powers(left))
    powers.subtract(_powers(right))
    return _text(powers)


def is_simple(unit: str) -> bool:
    """Whether numbers are shown with this unit: no product and no quotient of units."""
    return unit == "bit/s" or not re.search(r"[·/]", unit)


def in_words(unit: str) -> str:
    """For messages: "in bit/s", "a plain number"."""
    return {PLAIN: "a plain number", WORD: "a word"}.get(unit, f"in {unit}")


def _powers(unit: str) -> dict[str, int]:
    """Base unit → its power; empty for a plain number."""
    powers: Counter[str] = Counter()
    step = 1
    for part in _PARTS.findall(unit):
        if part == "/":
            step = -1
        elif part != "·":
            powers[_base(part)] += step
    return {name: power for name, power in powers.items() if power and name != PLAIN}


def _base(unit: str) -> str:
    try:
        return base_unit(unit)
    except ValueError:
        return unit  # of no quantity known here, but the same as itself


def _text(powers: Mapping[str, int]) -> str:
    above = [name for name, power in sorted(powers.items()) for _ in range(power)]
    below = [name for name, power in sorted(powers.items()) for _ in range(-power)]
    numerator = "·".join(above) or PLAIN
    if not below:
        return numerator
    return f"{numerator}/{below[0]}" if len(below) == 1 else f"{numerator}/({'·'.join(below)})"
