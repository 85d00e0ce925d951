# SPDX-License-Identifier: BSD-3-Clause
"""The value of an expression, such as `0.9 * goodput(rate)` or `start.throughput < mathis(rtt, "0.1 %")`.

Units are checked before anything is computed: what is added, subtracted or compared must be of one unit.
A name without a value makes the expression one without a value: unknown is never 0.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable

from linklab.errors import InputError
from linklab.judge import language
from linklab.judge.check import ExpressionText, UnitCheck, Units
from linklab.judge.dimension import product, quotient
from linklab.judge.functions import FUNCTIONS
from linklab.judge.language import (
    Arithmetic,
    Call,
    Comparison,
    Expression,
    Junction,
    Literal,
    Name,
    Negative,
    Not,
    is_yes_or_no,
)
from linklab.judge.parser import parse, shortened
from linklab.judge.quantity import Value

Lookup = Callable[[str], "Value | None"]
"""Name ("rate", "tuned.throughput") → its value, None where it was not measured or given; KeyError: no such name."""

_COMPARE: dict[str, Callable[[float, float], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
}
_ARITHMETIC: dict[str, Callable[[float, float], float]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
}


class NoValueError(Exception):
    """An expression has no value: a name in it has none, or a function or a quotient none there.

    name: the name, or the expression with the reason; missing: whether it is a name.
    """

    def __init__(self, name: str, *, missing: bool = True) -> None:
        super().__init__(name)
        self.name, self.missing = name, missing


def evaluate(text: str, lookup: Lookup, facts: Lookup | None = None) -> Value | bool:
    """The value of an expression.

    Args:
        text: the expression.
        lookup: gives names their values.
        facts: gives `fact("…")` its values; None where there is no state.

    Raises:
        InputError: it cannot be read, names something unknown, or mixes units.
        NoValueError: a name in it has no value, or what is computed has none (a division by 0).
    """
    return Evaluation(text, lookup, facts).of(parse(text))


def number(text: str, lookup: Lookup, facts: Lookup | None = None) -> Value:
    """As `evaluate`, for what must be a value and no yes or no."""
    found = evaluate(text, lookup, facts)
    if isinstance(found, bool):
        raise InputError(f'expression "{shortened(text)}" is a yes or no, where a value is wanted')
    return found


def holds(text: str, lookup: Lookup, facts: Lookup | None = None) -> bool:
    """As `evaluate`, for what must be a yes or no."""
    found = evaluate(text, lookup, facts)
    if not isinstance(found, bool):
        raise InputError(f'expression "{shortened(text)}" is a value, where a yes or no is wanted')
    return found


def names(text: str) -> set[str]:
    """The names in an expression, dotted ones whole; InputError if it cannot be read."""
    return set(language.names(parse(text)))


class Evaluation(ExpressionText):
    """Values of one expression and of its parts, given the values of its names."""

    def __init__(self, text: str, lookup: Lookup, facts: Lookup | None = None) -> None:
        super().__init__(text)
        self.lookup, self.facts = lookup, facts

    def unit(self, expression: Expression) -> str | None:
        """Its unit, after a check that it can be evaluated; None for a yes or no, and where a name has no value.

        Raises:
            InputError: it cannot, with the reason.
        """

        def units_of(lookup: Lookup) -> Units:
            return lambda name: None if (found := lookup(name)) is None else found.unit

        facts = None if self.facts is None else units_of(self.facts)
        return UnitCheck(self.text, units_of(self.lookup), facts).of(expression)

    def of(self, expression: Expression) -> Value | bool:
        """The value of the expression or of a part of it; errors as `evaluate` has them."""
        self.unit(expression)
        return self.yes(expression) if is_yes_or_no(expression) else self.value(expression)

    def yes(self, expression: Expression) -> bool:
        """Whether what was checked holds; "and" and "or" look no further than they must."""
        match expression:
            case Comparison(first=first, others=others):
                left = self.value(first)
                for sign, term in others:
                    right = self.value(term)
                    if not compares(left, sign, right):
                        return False
                    left = right
                return True
            case Not(operand=operand):
                return not self.yes(operand)
            case Junction(word="or", parts=parts):
                return any(self.yes(part) for part in parts)
            case _:
                return all(self.yes(part) for part in language.children(expression))

    def value(self, expression: Expression) -> Value:
        """The value of what was checked."""
        match expression:
            case Literal(value=value):
                return value
            case Name(name=name):
                return self._known(name, self.lookup(name))
            case Call(function="fact", arguments=arguments):
                name = self.fact_name(arguments)
                return self._known(name, self.facts(name) if self.facts else None)
            case Call(function=function, arguments=arguments):
                return self._call(expression, function, [self.value(argument) for argument in arguments])
            case Negative(operand=operand):
                value = self.value(operand)
                return Value(-value.number, value.unit)
            case Arithmetic(sign=sign, left=left, right=right):
                return self._arithmetic(expression, sign, self.value(left), self.value(right))
        raise self.wrong(f'"{expression}" is a yes or no, where a value is wanted')

    def _known(self, name: str, found: Value | None) -> Value:
        if found is None or (not found.is_word and math.isnan(found.number)):
            raise NoValueError(name)
        return found

    def _arithmetic(self, expression: Expression, sign: str, left: Value, right: Value) -> Value:
        if sign == "/" and right.number == 0:
            raise NoValueError(f"{self.text} (a division by 0)", missing=False)
        number = _ARITHMETIC[sign](left.number, right.number)
        if not math.isfinite(number):
            raise self._outside(expression, "too large for a number")
        units = {"*": product, "/": quotient}
        return Value(number, units[sign](left.unit, right.unit) if sign in units else left.unit)

    def _call(self, expression: Expression, function: str, given: list[Value]) -> Value:
        numbers = [value.number for value in given]
        if function == "jain" and (min(numbers) < 0 or not any(numbers)):  # a student may answer so
            raise NoValueError(f"{self.text} (an index of no throughputs)", missing=False)
        unit = FUNCTIONS[function].unit([value.unit for value in given])
        if unit is None:
            raise self.wrong(f"there is no {function}({', '.join(value.unit for value in given)})")
        try:
            return Value(FUNCTIONS[function].value(numbers), unit)
        except (ValueError, OverflowError) as error:
            raise self._outside(expression, f"{function}: {error}") from error

    def _outside(self, expression: Expression, why: str) -> Exception:
        """A value that does not exist: a student may answer so, an author must not write it."""
        if any(name.startswith("answer.") for name in language.names(expression)):
            return NoValueError(f"{self.text} ({why})", missing=False)
        return self.wrong(why)


def compares(left: Value, sign: str, right: Value) -> bool:
    """Whether two values of one unit, or two words, compare so; words are equal if they are shown alike."""
    if left.is_word or right.is_word:
        return (left.shown == right.shown) == (sign == "==")
    return _COMPARE[sign](left.number, right.number)
