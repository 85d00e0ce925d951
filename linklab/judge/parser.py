# SPDX-License-Identifier: BSD-3-Clause
"""Text → `Expression`; the grammar is in `linklab.judge.language`.

Text may come from anybody: nothing is evaluated by Python, and length and depth are bounded.
"""

from __future__ import annotations

import re
from functools import lru_cache

from linklab.errors import InputError
from linklab.judge.language import (
    KEYWORDS,
    NUMBER,
    Arithmetic,
    Call,
    Comparison,
    Expression,
    Junction,
    Literal,
    Name,
    Negative,
    Not,
)
from linklab.judge.quantity import parse_value

MOST_CHARACTERS = 4000
MOST_WORDS = 400
"""Words, numbers and signs in one expression; the longest of an exercise has about a hundred."""
MOST_DEEP = 30
"""Parentheses, signs and "not" within each other."""

_QUOTED = 300

_NAME = r"(?:[^\W\d]\w*(?:-+\w+)*|[a-z0-9][a-z0-9-]*(?=\.[^\W\d]))(?:\.\w+(?:-+\w+)*)*"
_TOKEN = re.compile(
    rf"""\s*(?:(?P<text>"[^"\n]*"|'[^'\n]*')|(?P<name>{_NAME})|(?P<number>{NUMBER.pattern})"""
    r"""|(?P<sign>[<>=!]=|[<>+\-*/(),]))"""
)
_COMPARE = ("<", "<=", ">", ">=", "==", "!=")


@lru_cache(maxsize=1024)
def parse(text: str) -> Expression:
    """Read an expression.

    Raises:
        InputError: it does not follow the grammar: what was expected and what was found where.
    """
    parser = _Parser(text)
    found = parser.either()
    parser.end()
    return found


class _Parser:
    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.deep = 0
        self.tokens: list[tuple[str, str]] = []
        written = text.rstrip()
        if len(written) > MOST_CHARACTERS:
            raise self.wrong(f"it has more than {MOST_CHARACTERS} characters; write it in parts")
        place = 0
        while place < len(written):
            found = _TOKEN.match(written, place)
            if found is None:
                raise self.wrong(f"I cannot read {_start(written[place:])}")
            if len(self.tokens) == MOST_WORDS:
                raise self.wrong(f"it has more than {MOST_WORDS} words and signs; write it in parts")
            kind = str(found.lastgroup)
            self.tokens.append(("word" if found[kind] in KEYWORDS else kind, found[kind]))
            place = found.end()

    def wrong(self, why: str) -> InputError:
        return InputError(f'expression "{shortened(self.text)}": {why}')

    def expected(self, wanted: str) -> InputError:
        found = _start(" ".join(word for _, word in self.tokens[self.at :])) if self.tokens[self.at :] else "the end"
        return self.wrong(f"expected {wanted}, found {found}")

    def next_is(self, *words: str) -> bool:
        """Whether a sign or keyword comes next."""
        return self.at < len(self.tokens) and self.tokens[self.at] in [(k, w) for w in words for k in ("sign", "word")]

    def take(self) -> str:
        self.at += 1
        return self.tokens[self.at - 1][1]

    def end(self) -> None:
        if self.at < len(self.tokens):
            raise self.expected("an operator or the end")

    def either(self) -> Expression:
        parts = [self.all()]
        while self.next_is("or"):
            self.take()
            parts.append(self.all())
        return parts[0] if len(parts) == 1 else Junction("or", tuple(parts))

    def all(self) -> Expression:
        parts = [self.one()]
        while self.next_is("and"):
            self.take()
            parts.append(self.one())
        return parts[0] if len(parts) == 1 else Junction("and", tuple(parts))

    def one(self) -> Expression:
        if not self.next_is("not"):
            return self.comparison()
        self.take()
        self.deeper()
        operand = self.one()
        self.deep -= 1
        return Not(operand)

    def comparison(self) -> Expression:
        first = self.sum()
        others = []
        while self.next_is(*_COMPARE):
            others.append((self.take(), self.sum()))
        return Comparison(first, tuple(others)) if others else first

    def sum(self) -> Expression:
        term = self.product()
        while self.next_is("+", "-"):
            term = Arithmetic(self.take(), term, self.product())
        return term

    def product(self) -> Expression:
        term = self.factor()
        while self.next_is("*", "/"):
            sign = self.take()
            if self.next_is("*", "/"):
                raise self.wrong("only + - * / are understood")
            term = Arithmetic(sign, term, self.factor())
        return term

    def factor(self) -> Expression:
        kind, word = self.tokens[self.at] if self.at < len(self.tokens) else ("", "")
        match kind, word:
            case "text", _:
                self.take()
                return Literal(parse_value(word[1:-1]))
            case "number", _:
                return self.quantity(self.take())
            case "name", _:
                self.take()
                return self.call(word) if self.next_is("(") else Name(word)
            case "sign", "-":
                self.take()
                self.deeper()
                operand = self.factor()
                self.deep -= 1
                return Negative(operand)
            case "sign", "(":
                self.take()
                self.deeper()
                inside = self.either()
                self.deep -= 1
                self.closing()
                return inside
        raise self.expected("a number, a name or (")

    def quantity(self, word: str) -> Literal:
        value = parse_value(word)
        if value.is_word:
            raise self.wrong(f'"{word}" is no number with a unit, such as 40 ms, 9.2 Gbps or 1 %')
        return Literal(value)

    def call(self, function: str) -> Call:
        self.take()
        self.deeper()
        arguments = [] if self.next_is(")") else [self.either()]
        while self.next_is(","):
            self.take()
            arguments.append(self.either())
        self.deep -= 1
        self.closing()
        return Call(function, tuple(arguments))

    def closing(self) -> None:
        if not self.next_is(")"):
            raise self.expected(")")
        self.take()

    def deeper(self) -> None:
        self.deep += 1
        if self.deep > MOST_DEEP:
            raise self.wrong(f"it is nested more than {MOST_DEEP} deep; write it in parts")


def shortened(text: str) -> str:
    """An expression as messages quote it."""
    return text if len(text) <= _QUOTED else f"{text[:_QUOTED]}…"


def _start(text: str) -> str:
    text = text.strip()
    return f'"{text[:40]}…"' if len(text) > 40 else f'"{text}"'
