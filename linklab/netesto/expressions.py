# SPDX-License-Identifier: BSD-3-Clause
"""The expressions of SET_EXP: whole numbers, + - * / and parentheses, without spaces; / rounds down.

`*` and `/` bind tighter than `+` and `-`, and all group from the left. (The original divides a negated term, so
10-7/2 was 6 there; here it is 7.)
"""

from __future__ import annotations

import re

from linklab.errors import InputError

MOST = 10**15
"""Of any value on the way, without its sign."""
LONGEST = 1000
MOST_NESTED_TERMS = 50

_TOKEN = re.compile(r"[0-9]+|[-+*/()]")


def evaluate(text: str) -> int:
    """The value of an expression.

    Raises:
        InputError: it has another form, divides by zero, or a value on the way exceeds MOST; it has no place.
    """
    if len(text) > LONGEST:
        raise InputError(f"the expression is longer than {LONGEST} characters")
    tokens = _TOKEN.findall(text)
    if not tokens or "".join(tokens) != text:
        wrong = next((c for c in text if not (c.isascii() and (c.isdigit() or c in "-+*/()"))), "")
        what = f'"{wrong}" has no place in it' if wrong else "it is empty"
        raise InputError(f"an expression has whole numbers, + - * / and parentheses, without spaces; {what}")
    parser = _Parser(tokens)
    value = parser.sum(0)
    if parser.at < len(tokens):
        raise InputError(f'"{tokens[parser.at]}" does not belong at position {parser.position()}')
    return value


class _Parser:
    """Recursive descent; `at` is the index of the next token."""

    def __init__(self, tokens: list[str]) -> None:
        self.tokens = tokens
        self.at = 0

    def position(self) -> int:
        """Of the next token in the text, from 1."""
        return sum(map(len, self.tokens[: self.at])) + 1

    def next_in(self, kinds: str) -> str:
        """The next token where it is one of these, and past it; else ""."""
        if self.at < len(self.tokens) and self.tokens[self.at] in kinds:
            self.at += 1
            return self.tokens[self.at - 1]
        return ""

    def sum(self, depth: int) -> int:
        value = self.product(depth)
        while sign := self.next_in("+-"):
            other = self.product(depth)
            value = _bounded(value + other if sign == "+" else value - other)
        return value

    def product(self, depth: int) -> int:
        value = self.factor(depth)
        while sign := self.next_in("*/"):
            where = self.position()
            other = self.factor(depth)
            if sign == "/" and other == 0:
                raise InputError(f"the divisor at position {where} is 0")
            value = _bounded(value * other if sign == "*" else value // other)
        return value

    def factor(self, depth: int) -> int:
        if depth > MOST_NESTED_TERMS:
            raise InputError(f"more than {MOST_NESTED_TERMS} signs and parentheses of the expression are nested")
        if self.next_in("-"):
            return -self.factor(depth + 1)
        if self.next_in("("):
            value = self.sum(depth + 1)
            if not self.next_in(")"):
                raise InputError(f'a ")" is missing at position {self.position()}')
            return value
        if self.at == len(self.tokens) or not self.tokens[self.at].isdigit():
            raise InputError(f"a number is missing at position {self.position()}")
        self.at += 1
        return _bounded(int(self.tokens[self.at - 1]))


def _bounded(value: int) -> int:
    if abs(value) > MOST:
        raise InputError(f"a value of the expression exceeds {MOST:,}")
    return value
