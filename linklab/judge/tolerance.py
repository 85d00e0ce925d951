# SPDX-License-Identifier: BSD-3-Clause
"""How far a measured number may lie from what is expected, and why.

A tolerance has a shape (a range, a share of a value, a bound, chance) and a reason; values are in base units. Its ends
are expressions without names in lab.toml, and with the names of an instance in exercise.toml.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NoReturn

from linklab.base.numbers import as_printed
from linklab.errors import InputError
from linklab.judge.dimension import PLAIN, in_words
from linklab.judge.evaluation import NoValueError, number
from linklab.judge.language import Arithmetic, Literal
from linklab.judge.parser import parse
from linklab.judge.quantity import Value, parse_value

CONFIDENCE = 0.95
"""Share of runs that a tolerance of shape "chance" must contain."""

SHAPES = ("range", "value", "at_least", "at_most", "chance")


@dataclass(frozen=True)
class Tolerance:
    """The accepted interval, its ends included; infinite where it is open.

    unit: base unit of both ends.
    shape: which key of lab.toml gave it; `reason` is its `why`; `shown` says it in words, as they were written;
    str() gives them in the spelling of measured numbers.
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
        return as_printed(self.shown)

    def accepts(self, value: Value) -> bool:
        """Whether the value lies within; NaN never does.

        Raises:
            InputError: it is of another unit.
        """
        if value.unit != self.unit:
            raise InputError(
                f"what was measured is {in_words(value.unit)}, and the expected range {in_words(self.unit)}"
            )
        return value.number in self


def between(low: Value | None, high: Value | None, reason: str) -> Tolerance:
    """The tolerance from one value to another; None where it is open.

    Raises:
        InputError: no end, an end that is a word, or ends of different units.
    """
    ends = [end for end in (low, high) if end is not None]
    if not ends:
        raise InputError("a range needs a low or a high end")
    if any(end.is_word for end in ends):
        raise InputError(f"a range needs quantities, not words such as {ends[0].shown}")
    if ends[0].unit != ends[-1].unit:
        raise InputError(f"a range from {ends[0].shown} to {ends[-1].shown} mixes units; give both ends in one")
    shown = f"{ends[0].shown} to {ends[-1].shown}" if len(ends) == 2 else f"at least {ends[0].shown}"
    return Tolerance(
        -math.inf if low is None else low.number,
        math.inf if high is None else high.number,
        ends[0].unit,
        "range",
        reason,
        f"at most {ends[0].shown}" if low is None else shown,
    )


def around(value: str, within: str) -> tuple[str, str]:
    """Both ends, as expressions, of what lies so far around a value: `rtt`, "5 %" → `rtt - rtt * 0.05` and the sum.

    Args:
        value: an expression.
        within: a share of it ("5 %"), or a distance in its unit ("2 ms").

    Raises:
        InputError: `value` cannot be read, or `within` is a word.
    """
    middle, distance = parse(value), parse_value(within)
    if distance.is_word:
        raise InputError(f'within "{within}" is neither a share such as "5 %" nor a quantity such as "2 ms"')
    reach = (
        Arithmetic("*", middle, Literal(parse_value(repr(distance.number))))
        if within.strip().endswith("%")
        else Literal(distance)
    )
    return str(Arithmetic("-", middle, reach)), str(Arithmetic("+", middle, reach))


def parse_tolerance(table: Mapping[str, Any], reason: str) -> Tolerance:
    """The tolerance of an `[[expect]]` table.

    Args:
        table: holds one of `range = [low, high]`, `value` with `within`, `at_least`, `at_most`, and
            `chance` with `trials` for a share that is drawn at random; quantities, or expressions without names.
        reason: why it is so.

    Raises:
        InputError: none or two of them, ends of different quantities, the low end above the high one.
    """
    given = [shape for shape in SHAPES if shape in table]
    if len(given) != 1:
        raise InputError(f"give exactly one of {', '.join(SHAPES)}; found {', '.join(given) or 'none'}")
    shape = given[0]
    low, high, unit, shown = _ends(shape, table)
    if low > high:
        raise InputError(f"the low end {low:g} is above the high end {high:g}")
    return Tolerance(low, high, unit, shape, reason, shown)


def _ends(shape: str, table: Mapping[str, Any]) -> tuple[float, float, str, str]:
    """Both ends, their unit, and how a table shows them."""
    given = table[shape]
    match shape:
        case "range":
            if not isinstance(given, list) or len(given) != 2:
                raise InputError('range is a pair, such as ["9.2 Gbps", "9.6 Gbps"]')
            low, high = _constant(given[0]), _constant(given[1])
            if low.unit != high.unit:
                raise InputError(f"range mixes {low.unit} and {high.unit}")
            return low.number, high.number, low.unit, f"{given[0]} – {given[1]}"
        case "value":
            middle = _constant(given)
            if "within" not in table:
                return middle.number, middle.number, middle.unit, str(given)
            low, high = (_constant(end) for end in around(str(given), str(table["within"])))
            return low.number, high.number, low.unit, f"{given} ± {table['within']}"
        case "chance":
            trials, share = table.get("trials"), _constant(given)
            if not isinstance(trials, int) or isinstance(trials, bool) or trials < 1:
                raise InputError("chance goes with trials = how many were sent")
            if share.unit != PLAIN or not 0 <= share.number <= 1:
                raise InputError(f'chance is a share such as "1 %", found {given!r}')
            least, most = chance_range(share.number, trials)
            return least, most, PLAIN, f"{100 * least:.3g} – {100 * most:.3g} %"
        case _:
            end = _constant(given)
            low_end, high_end = (end.number, math.inf) if shape == "at_least" else (-math.inf, end.number)
            return low_end, high_end, end.unit, f"{shape.replace('_', ' ')} {given}"


def _constant(given: object) -> Value:
    """The value of an end that stands in a file: a number, or text that names nothing."""
    if isinstance(given, bool) or not isinstance(given, (int, float, str)):
        raise InputError(f"{given!r} is neither a number nor a quantity in quotes")
    if not isinstance(given, str):
        return parse_value(given)
    try:
        found = number(given, _no_names)
    except NoValueError as error:
        raise InputError(f"{error} has no value") from error
    if found.is_word:
        raise InputError(f'"{given}" is no number with a unit, such as "9.2 Gbps", "40 ms", "2.5 MiB" or "1 %"')
    return found


def _no_names(name: str) -> NoReturn:
    raise KeyError(name)


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
