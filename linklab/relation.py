# SPDX-License-Identifier: BSD-3-Clause
"""Relations between measured numbers, such as `bbr.iperf3.throughput.receiver > 5 * reno.iperf3.throughput.receiver`.

Never hands text to Python's own evaluator. Numbers are in base units (bit/s, s, bytes); a number in the text carries
its unit: `ping.ping.rtt.mean < 40 ms`. What is added, subtracted or compared must be of one unit; * and / make units of
their own (bytes / s is none of bit/s).

    relation   = sum comparison sum
    comparison = "<" | "<=" | ">" | ">="
    sum        = product { ("+" | "-") product }
    product    = factor { ("*" | "/") factor }
    factor     = number [unit] | step "." metric | "(" sum ")"
"""

from __future__ import annotations

import operator
import re
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from linklab.base.numbers import base_unit, parse_number
from linklab.errors import InputError

_TOKEN = re.compile(
    r"\s*(?:(?P<name>[a-z0-9][a-z0-9-]*\.[a-z][\w.-]*)"
    r"|(?P<number>\d+(?:\.\d+)?(?:e[+-]?\d+)?(?:\s?[A-Za-zµ%][A-Za-z/%]*)?)"
    r"|(?P<sign><=|>=|[<>+\-*/()]))"
)
_COMPARE: dict[str, Callable[[float, float], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_ARITHMETIC: dict[str, Callable[[float, float], float]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
}

Lookup = Callable[[str, str], float]
Units = Callable[[str, str], str]
Dimension = Mapping[str, int]
"""Base unit → its power; empty for counts and ratios."""


@dataclass(frozen=True)
class Number:
    """A number in base units; `unit` is which."""

    value: float
    unit: str = "1"

    def evaluate(self, lookup: Lookup) -> float:
        """The number itself."""
        return self.value

    def dimension(self, units: Units) -> Dimension:
        """That of its unit."""
        return _dimension(self.unit)


@dataclass(frozen=True)
class Name:
    """A measured number: `metric` of `step`."""

    step: str
    metric: str

    def evaluate(self, lookup: Lookup) -> float:
        """What `lookup` gives for it; its errors pass through."""
        return lookup(self.step, self.metric)

    def dimension(self, units: Units) -> Dimension:
        """That of the unit which `units` gives for it."""
        return _dimension(units(self.step, self.metric))


@dataclass(frozen=True)
class Operation:
    """Two terms and one of + - * /."""

    sign: str
    left: Term
    right: Term

    def evaluate(self, lookup: Lookup) -> float:
        """The result; ZeroDivisionError as Python raises it."""
        return _ARITHMETIC[self.sign](self.left.evaluate(lookup), self.right.evaluate(lookup))

    def dimension(self, units: Units) -> Dimension:
        """That of the result; InputError if different units are added or subtracted."""
        left, right = self.left.dimension(units), self.right.dimension(units)
        if self.sign in "+-":
            return _same(self.sign, left, right)
        powers = Counter(left)
        (powers.update if self.sign == "*" else powers.subtract)(right)
        return {unit: power for unit, power in powers.items() if power}


Term = Number | Name | Operation


@dataclass(frozen=True)
class Relation:
    """A comparison of two terms; `text` as it was written."""

    text: str
    left: Term
    sign: str
    right: Term

    def names(self) -> tuple[Name, ...]:
        """The measured numbers it speaks of, in order, without repeats."""
        return tuple(dict.fromkeys([*_names(self.left), *_names(self.right)]))

    def evaluate(self, lookup: Lookup) -> tuple[bool, float, float]:
        """Whether it holds, and the values of both sides.

        Args:
            lookup: gives the number of a step and metric, in base units.

        Raises:
            ZeroDivisionError: a division by a measured zero.
        """
        left, right = self.left.evaluate(lookup), self.right.evaluate(lookup)
        return _COMPARE[self.sign](left, right), left, right

    def check_units(self, units: Units) -> None:
        """Look whether what is compared, added and subtracted is of one unit each.

        Args:
            units: gives the unit of a step and metric, as it was measured.

        Raises:
            InputError: it is not, with the two units.
        """
        try:
            _same(self.sign, self.left.dimension(units), self.right.dimension(units))
        except InputError as error:
            raise InputError(f'relation "{self.text}": {error}') from None


def _same(sign: str, left: Dimension, right: Dimension) -> Dimension:
    if dict(left) != dict(right):
        raise InputError(f'"{sign}" between {_in_words(left)} and {_in_words(right)}')
    return left


def _dimension(unit: str) -> Dimension:
    if unit.startswith("1/"):
        return {unit.removeprefix("1/"): -1}
    try:
        base = base_unit(unit)
    except ValueError:
        base = unit  # of no quantity known here, but the same as itself
    return {} if base == "1" else {base: 1}


def _in_words(dimension: Dimension) -> str:
    words = [unit if power == 1 else f"({unit})^{power}" for unit, power in sorted(dimension.items())]
    return " × ".join(words) or "a number without unit"


def parse_relation(text: str) -> Relation:
    """Parse a relation; the grammar is in the module's docstring.

    Raises:
        InputError: it does not follow the grammar, with what was found where.
    """
    parser = _Parser(text)
    left = parser.sum()
    sign = parser.take()
    if sign not in _COMPARE:
        raise parser.wrong("<, <=, > or >=", sign)
    right = parser.sum()
    if rest := parser.take():
        raise parser.wrong("the end", rest)
    return Relation(text, left, sign, right)


def _names(term: Term) -> list[Name]:
    match term:
        case Name():
            return [term]
        case Operation(left=left, right=right):
            return [*_names(left), *_names(right)]
        case _:
            return []


class _Parser:
    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens: list[tuple[str, str]] = []
        at = 0
        while at < len(text.rstrip()):
            found = _TOKEN.match(text, at)
            if not found:
                raise InputError(f'relation "{text}": I cannot read "{text[at:].strip()}"')
            kind = str(found.lastgroup)
            self.tokens.append((kind, found[kind]))
            at = found.end()
        self.at = 0

    def take(self) -> str:
        """The next token, "" at the end."""
        if self.at == len(self.tokens):
            return ""
        self.at += 1
        return self.tokens[self.at - 1][1]

    def next_is(self, *signs: str) -> bool:
        return self.at < len(self.tokens) and self.tokens[self.at] in [("sign", sign) for sign in signs]

    def wrong(self, wanted: str, found: str) -> InputError:
        return InputError(f'relation "{self.text}": expected {wanted}, found {found or "the end"}')

    def sum(self) -> Term:
        term = self.product()
        while self.next_is("+", "-"):
            term = Operation(self.take(), term, self.product())
        return term

    def product(self) -> Term:
        term = self.factor()
        while self.next_is("*", "/"):
            term = Operation(self.take(), term, self.factor())
        return term

    def factor(self) -> Term:
        kind = self.tokens[self.at][0] if self.at < len(self.tokens) else ""
        word = self.take()
        if kind == "number":
            bare = re.fullmatch(r"[\d.]+(?:e[+-]?\d+)?", word)
            return Number(float(word)) if bare else Number(*parse_number(word))
        if kind == "name":
            step, _, metric = word.partition(".")
            return Name(step, metric)
        if word != "(":
            raise self.wrong("a number, STEP.METRIC or (", word)
        term = self.sum()
        if (closing := self.take()) != ")":
            raise self.wrong(")", closing)
        return term
