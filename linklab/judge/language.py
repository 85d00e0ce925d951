# SPDX-License-Identifier: BSD-3-Clause
"""The expressions that labs and exercises are judged by, as plain data; `str` writes one so that it reads back equal.

    expression = all { "or" all }               all     = one { "and" one }
    one        = "not" one | comparison         comparison = sum { ("<" | "<=" | ">" | ">=" | "==" | "!=") sum }
    sum        = product { ("+" | "-") product }           product = factor { ("*" | "/") factor }
    factor     = "-" factor | quantity | "word in quotes" | name | function "(" sum { "," sum } ")" | "(" expression ")"

A quantity is a number with its unit (`40 ms`, or `"40 ms"` in quotes). A name may hold dots and hyphens, such as
`bloat-ping.ping.rtt.mean`, so a minus between names has blanks around it. Meaning: `linklab.judge.evaluation`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from linklab.judge.quantity import Value

KEYWORDS = ("and", "or", "not")
NUMBER = re.compile(
    r"(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?"
    r"(?:[ ]?(?!(?:and|or|not)\b)[A-Za-zµμ%]+(?:(?<=bit|its)/s(?:ec)?\b)?)?"
)
"""A number that stands without quotes, with or without its unit."""

_OR, _AND, _NOT, _COMPARISON, _SUM, _PRODUCT, _FACTOR = range(7)  # how tightly an operator binds


@dataclass(frozen=True)
class Literal:
    """A quantity or a word, as it was written."""

    value: Value

    def __str__(self) -> str:
        text = self.value.text
        if not self.value.is_word and NUMBER.fullmatch(text):
            return text
        return f"'{text}'" if '"' in text else f'"{text}"'


@dataclass(frozen=True)
class Name:
    """A parameter, a measured number or an answer: "rate", "bloat-ping.ping.rtt.mean", "answer.bdp"."""

    name: str

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True)
class Call:
    """A function of its arguments."""

    function: str
    arguments: tuple[Expression, ...]

    def __str__(self) -> str:
        return f"{self.function}({', '.join(map(str, self.arguments))})"


@dataclass(frozen=True)
class Negative:
    """A minus before a factor."""

    operand: Expression

    def __str__(self) -> str:
        return f"-{_within(self.operand, _FACTOR)}"


@dataclass(frozen=True)
class Arithmetic:
    """Two quantities and one of + - * /."""

    sign: str
    left: Expression
    right: Expression

    def __str__(self) -> str:
        level = _SUM if self.sign in "+-" else _PRODUCT
        return f"{_within(self.left, level)} {self.sign} {_within(self.right, level + 1)}"


@dataclass(frozen=True)
class Comparison:
    """A chain such as `1 ms < rtt <= 2 ms`: each sign stands before the term it is paired with."""

    first: Expression
    others: tuple[tuple[str, Expression], ...]

    def __str__(self) -> str:
        rest = "".join(f" {sign} {_within(term, _SUM)}" for sign, term in self.others)
        return f"{_within(self.first, _SUM)}{rest}"


@dataclass(frozen=True)
class Not:
    """The opposite of a yes or no."""

    operand: Expression

    def __str__(self) -> str:
        return f"not {_within(self.operand, _NOT)}"


@dataclass(frozen=True)
class Junction:
    """Two or more of a yes or no, joined by "and" or by "or"."""

    word: str
    parts: tuple[Expression, ...]

    def __str__(self) -> str:
        level = _OR if self.word == "or" else _AND
        return f" {self.word} ".join(_within(part, level + 1) for part in self.parts)


Expression = Literal | Name | Call | Negative | Arithmetic | Comparison | Not | Junction


def is_yes_or_no(expression: Expression) -> bool:
    """Whether it is true or false, not a value."""
    return isinstance(expression, (Comparison, Not, Junction))


def children(expression: Expression) -> tuple[Expression, ...]:
    """The expressions it is made of."""
    match expression:
        case Call(arguments=parts) | Junction(parts=parts):
            return parts
        case Negative(operand=operand) | Not(operand=operand):
            return (operand,)
        case Arithmetic(left=left, right=right):
            return left, right
        case Comparison(first=first, others=others):
            return first, *(term for _, term in others)
        case _:
            return ()


def walk(expression: Expression) -> Iterator[Expression]:
    """The expression and all that is in it, from left to right."""
    yield expression
    for part in children(expression):
        yield from walk(part)


def names(expression: Expression) -> tuple[str, ...]:
    """The names in it, in order, each once."""
    return tuple(dict.fromkeys(part.name for part in walk(expression) if isinstance(part, Name)))


def _within(part: Expression, level: int) -> str:
    """As it stands in a place that wants something binding at least so tightly."""
    return str(part) if _binds(part) >= level else f"({part})"


def _binds(part: Expression) -> int:
    match part:
        case Junction(word=word):
            return _OR if word == "or" else _AND
        case Not():
            return _NOT
        case Comparison():
            return _COMPARISON
        case Arithmetic(sign=sign):
            return _SUM if sign in "+-" else _PRODUCT
        case _:
            return _FACTOR
