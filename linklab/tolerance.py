# SPDX-License-Identifier: BSD-3-Clause
"""How far a measured number may lie from what is expected, and why.

Used by lab runs and by the grader, so that both judge alike. A tolerance has a shape (a range, a share of a value, a
bound, chance) and a reason; values are in base units.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from linklab.base.numbers import parse_number
from linklab.errors import InputError

CONFIDENCE = 0.95
"""Share of runs that a tolerance of shape "chance" must contain."""

_SHAPES = ("range", "value", "at_least", "at_most", "chance")


@dataclass(frozen=True)
class Tolerance:
    """The accepted interval, its ends included; infinite where it is open.

    unit: base unit of both ends.
    shape: which key of lab.toml gave it; `reason` is its `why`; `shown` says it in the words of lab.toml.
    """

    low: float
    high: float
    unit: str
    shape: str
    reason: str
    shown: str

    def __contains__(self, value: float) -> bool:
        return self.low <= value <= self.high

    def __str__(self) -> str:
        return self.shown


def parse_tolerance(table: Mapping[str, Any], reason: str) -> Tolerance:
    """The tolerance of an `[[expect]]` table.

    Args:
        table: holds one of `range = [low, high]`, `value` with `within`, `at_least`, `at_most`, and
            `chance` with `trials` for a share that is drawn at random.
        reason: why it is so.

    Raises:
        InputError: none or two of them, ends of different quantities, the low end above the high one.
    """
    given = [shape for shape in _SHAPES if shape in table]
    if len(given) != 1:
        raise InputError(f"give exactly one of {', '.join(_SHAPES)}; found {', '.join(given) or 'none'}")
    shape = given[0]
    match shape:
        case "range":
            ends = table["range"]
            if not isinstance(ends, list) or len(ends) != 2:
                raise InputError('range is a pair, such as ["9.2 Gbps", "9.6 Gbps"]')
            (low, unit), (high, other) = parse_number(ends[0]), parse_number(ends[1])
            shown = f"{ends[0]} – {ends[1]}"
        case "value":
            (value, unit), (within, other) = parse_number(table["value"]), parse_number(table.get("within", "0 %"))
            reach = within * value if "%" in str(table.get("within", "%")) else within
            other = unit if "%" in str(table.get("within", "%")) else other
            low, high = value - reach, value + reach
            shown = f"{table['value']} ± {table['within']}" if "within" in table else str(table["value"])
        case "chance":
            trials = table.get("trials")
            if not isinstance(trials, int) or trials < 1:
                raise InputError("chance goes with trials = how many were sent")
            probability, unit = parse_number(table["chance"])
            if unit != "1" or not 0 <= probability <= 1:
                raise InputError(f'chance is a share such as "1 %", found {table["chance"]!r}')
            low, high = chance_range(probability, trials)
            other = unit
            shown = f"{100 * low:.3g} – {100 * high:.3g} %"
        case _:
            end, unit = parse_number(table[shape])
            low, high, other = (end, math.inf, unit) if shape == "at_least" else (-math.inf, end, unit)
            shown = f"{shape.replace('_', ' ')} {table[shape]}"
    if unit != other:
        raise InputError(f"{shape} mixes {unit} and {other}")
    if low > high:
        raise InputError(f"the low end {low:g} is above the high end {high:g}")
    return Tolerance(low, high, unit, shape, reason, shown)


def chance_range(probability: float, trials: int) -> tuple[float, float]:
    """Shares of successes that a run stays within at CONFIDENCE: 1 % over 1,000 gives 0.4 % – 1.7 %.

    Args:
        probability: of one success, 0..1.
        trials: independent ones, > 0.

    Returns:
        The lowest and highest share not cut off by a tail of (1 - CONFIDENCE) / 2.

    Source: quantiles of the binomial distribution, summed exactly.
    """
    if probability in (0.0, 1.0):
        return probability, probability
    tail = (1 - CONFIDENCE) / 2
    total, low, high = 0.0, None, trials
    for count in range(trials + 1):
        total += math.exp(
            math.lgamma(trials + 1)
            - math.lgamma(count + 1)
            - math.lgamma(trials - count + 1)
            + count * math.log(probability)
            + (trials - count) * math.log1p(-probability)
        )
        if low is None and total >= tail:
            low = count
        if total >= 1 - tail:
            high = count
            break
    return (low or 0) / trials, high / trials
