# SPDX-License-Identifier: BSD-3-Clause
"""A range of a sweep file → the levels of a factor, as text with their unit.

    { from = "0.25bdp", to = "4bdp", points = 5, spacing = "log" }  →  "0.25bdp", "0.5bdp", … "4bdp"

Numbers are decimal, so that steps of 0.1 give 0.3. docs/tests.md describes the form.
"""

from __future__ import annotations

import re
from decimal import Decimal, InvalidOperation

from linklab.base.text import excerpt
from linklab.base.toml import Table

_QUANTITY = re.compile(r"(-?(?:\d+\.?\d*|\.\d+))\s*(\D*)")
_MOST_POINTS = 1000


def levels_of(table: Table) -> tuple[str, ...]:
    """Levels from one quantity to another: by steps, or a number of points, evenly or by equal ratios.

    Args:
        table: `from` and `to`, and either `step` or `points`, which may have `spacing`; all keys are taken.

    Raises:
        InputError: a key is wrong, or the quantities do not have the same unit.
    """
    first, unit = _quantity(table, "from")
    last, other = _quantity(table, "to")
    spacing = table.text("spacing", "linear")
    points = table.take("points", int, None)
    step = _quantity(table, "step") if "step" in table.data else None
    table.end()
    if other != unit or (step is not None and step[1] != unit):
        raise table.wrong(f'"from", "to" and "step" must have the same unit, such as "{first}{unit}"')
    if (points is None) == (step is None):
        raise table.wrong('give either "step" or "points"')
    if spacing not in ("linear", "log") or (spacing == "log" and (points is None or first <= 0 or last <= 0)):
        raise table.wrong('"spacing" must be "linear", or "log" with "points" between two quantities above 0')
    if step is not None:
        if step[0] == 0 or (last - first) / step[0] < 0:
            raise table.wrong('"step" does not lead from "from" to "to"')
        points = int((last - first) / step[0]) + 1
    if not 2 <= points <= _MOST_POINTS:
        raise table.wrong(f"it must have 2 to {_MOST_POINTS} levels, not {points}")
    if step is not None:
        values = [first + step[0] * number for number in range(points)]
    else:
        shares = [Decimal(number) / (points - 1) for number in range(points)]
        linear = spacing == "linear"
        values = [first + (last - first) * share if linear else first * (last / first) ** share for share in shares]
    return tuple(f"{_number(value)}{unit}" for value in values)


def _number(value: Decimal) -> str:
    """At most six digits that count, without an exponent."""
    rounded = f"{+Decimal(f'{value:.6g}'):f}"
    return rounded.rstrip("0").rstrip(".") if "." in rounded else rounded


def _quantity(table: Table, key: str) -> tuple[Decimal, str]:
    text = table.text(key)
    match = _QUANTITY.fullmatch(text.strip())
    try:
        return Decimal(match[1] if match else "x"), match[2].strip() if match else ""
    except InvalidOperation:
        raise table.wrong(f'"{key}" must be a number with its unit, such as "20ms", not "{excerpt(text)}"') from None
