# SPDX-License-Identifier: BSD-3-Clause
"""Looks whether an expression can be evaluated, before it is: its functions, its names, and its units.

What is added, subtracted or compared must be of one unit. A unit that is not known yet fits everywhere.
"""

from __future__ import annotations

from collections.abc import Callable

from linklab.errors import InputError
from linklab.judge import language
from linklab.judge.dimension import PLAIN, WORD, canonical, in_words, product, quotient
from linklab.judge.functions import FUNCTIONS
from linklab.judge.language import Arithmetic, Call, Comparison, Expression, Literal, Name, Negative, is_yes_or_no
from linklab.judge.parser import parse, shortened
from linklab.judge.quantity import Value

Units = Callable[[str], "str | None"]
"""Name → its unit, None where that is not known; KeyError: no such name."""


def check(text: str, units: Units, facts: Units | None = None) -> str | None:
    """Look whether an expression can be evaluated: functions, names, units.

    Args:
        text: the expression.
        units: gives names their units, as far as they are known.
        facts: gives `fact("…")` its unit; None where there is no state.

    Returns:
        Its unit; None for a yes or no, and where the unit is not known.

    Raises:
        InputError: it cannot, with the reason.
    """
    return UnitCheck(text, units, facts).of(parse(text))


class ExpressionText:
    """An expression as it was written, with which what is wrong in it begins."""

    def __init__(self, text: str) -> None:
        self.text = text

    def wrong(self, why: str) -> InputError:
        """The error that says what is wrong in this expression."""
        return InputError(f'expression "{shortened(self.text)}": {why}')

    def unknown(self, name: str) -> InputError:
        """The error for a name that leads nowhere."""
        cure = "; a minus between names has a blank on each side" if "-" in name else ""
        return self.wrong(f'there is no "{name}"{cure}')

    def fact_name(self, arguments: tuple[Expression, ...]) -> str:
        """The name of the fact that `fact(…)` asks for."""
        match arguments:
            case (Literal(value=Value(is_word=True, word=name)),):
                return name
        raise self.wrong('fact takes one name in quotes, such as fact("s1-eth2.rate")')


class UnitCheck(ExpressionText):
    """Units of an expression's parts; None where a unit is not known, which fits everywhere."""

    def __init__(self, text: str, units: Units, facts: Units | None) -> None:
        super().__init__(text)
        self.units, self.facts = units, facts

    def of(self, expression: Expression) -> str | None:
        """The unit of the expression or of a part of it; None for a yes or no, and where it is not known."""
        found: str | None = None
        match expression:
            case Literal(value=value):
                found = value.unit
            case Name(name=name):
                found = self._name(name)
            case Call(function="fact", arguments=arguments):
                found = self._fact(arguments)
            case Call(function=function, arguments=arguments):
                found = self._call(function, arguments)
            case Negative(operand=operand):
                found = self._quantity(operand)
            case Arithmetic():
                found = self._arithmetic(expression)
            case Comparison(first=first, others=others):
                for sign, other in others:
                    self._compare(first, sign, other)
                    first = other
            case _:
                for part in language.children(expression):
                    self._yes_or_no(part)
        return found

    def _name(self, name: str) -> str | None:
        try:
            found = self.units(name)
        except KeyError:
            raise self.unknown(name) from None
        return found if found is None else canonical(found)

    def _fact(self, arguments: tuple[Expression, ...]) -> str | None:
        name = self.fact_name(arguments)
        if self.facts is None:
            raise self.wrong("there is no state here for a fact")
        return self.facts(name)

    def _value(self, expression: Expression) -> str | None:
        """The unit of what must be a value."""
        if is_yes_or_no(expression):
            raise self.wrong(f'"{expression}" is a yes or no, where a value is wanted')
        return self.of(expression)

    def _yes_or_no(self, expression: Expression) -> None:
        if not is_yes_or_no(expression):
            raise self.wrong(f'"{expression}" is a value, where a yes or no is wanted')
        self.of(expression)

    def _quantity(self, expression: Expression) -> str | None:
        """The unit of what must be a number."""
        unit = self._value(expression)
        if unit == WORD:
            raise self.wrong(f'the word "{str(expression).strip(chr(34))}" is no number')
        return unit

    def _arithmetic(self, expression: Arithmetic) -> str | None:
        left, right = self._quantity(expression.left), self._quantity(expression.right)
        if expression.sign in "+-":
            if left is not None and right is not None and left != right:
                raise self._mixed(expression.left, left, expression.sign, expression.right, right)
            return left or right
        if left is None or right is None:
            return None
        return product(left, right) if expression.sign == "*" else quotient(left, right)

    def _compare(self, left: Expression, sign: str, right: Expression) -> None:
        one, other = self._value(left), self._value(right)
        if WORD in (one, other):
            if sign not in ("==", "!="):
                raise self.wrong(f'words are only equal or not, in "{left} {sign} {right}"')
        elif one is not None and other is not None and one != other:
            raise self._mixed(left, one, sign, right, other)

    def _mixed(self, left: Expression, one: str, sign: str, right: Expression, other: str) -> InputError:
        cure = 'give the number its unit, such as "40 ms"' if PLAIN in (one, other) else "use quantities of one unit"
        return self.wrong(
            f'"{left}" is {in_words(one)} and "{right}" is {in_words(other)}, so "{sign}" makes no sense; {cure}'
        )

    def _call(self, function: str, arguments: tuple[Expression, ...]) -> str | None:
        if function not in FUNCTIONS:
            raise self.wrong(f"there is no function {function}; use {', '.join(FUNCTIONS)} or fact")
        units = [self._quantity(argument) for argument in arguments]
        known = [unit for unit in units if unit is not None]
        if len(known) < len(units):
            return FUNCTIONS[function].gives
        unit = FUNCTIONS[function].unit(known)
        if unit is None:
            raise self.wrong(f"there is no {function}({', '.join(known)})")
        return unit
