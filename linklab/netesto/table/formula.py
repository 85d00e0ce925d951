# SPDX-License-Identifier: BSD-3-Clause
"""`newCol= name = formula`: columns, numbers and texts with + - * / & and parentheses, one row at a time.

`*` and `/` bind more than `+` and `-`, and `&`, which joins texts as they are written, binds least. A cell that is not
a number makes the result `*`, a division by zero `00`: neither is a number, and a mean with one of them is `...`.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

from linklab.base.text import excerpt
from linklab.netesto.table.cells import BAD, DIVIDED_BY_ZERO, CsvCell, cell_of, computed
from linklab.netesto.table.column_names import unknown
from linklab.netesto.table.located import Located, TableError

Formula: TypeAlias = Callable[[Mapping[str, CsvCell]], CsvCell]

MOST_DEPTH = 50
MOST_CHARACTERS = 1000
"""Of a text that is joined: a column that joins itself with itself doubles each time."""

_NUMBER = re.compile(r"(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?(?![A-Za-z_\d.%])", re.ASCII)
_WORD = re.compile(r"[A-Za-z_][\w%.]*", re.ASCII)
_QUOTED = re.compile(r"'([^']*)'|\"([^\"]*)\"")
_ARITHMETIC: Mapping[str, Callable[[float, float], float]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
}


def formula_of(text: Located, columns: Sequence[str]) -> Formula:
    """What computes the cell of a row.

    Raises:
        TableError: it cannot be read, or there is no such column.
    """
    return _Reader(text, columns).whole()


def combine(sign: str, one: CsvCell, other: CsvCell) -> CsvCell:
    """What an operator makes of two cells."""
    if sign == "&":
        joined = one.text + other.text
        return cell_of(joined) if len(joined) <= MOST_CHARACTERS else BAD
    if DIVIDED_BY_ZERO in (one, other):
        return DIVIDED_BY_ZERO
    if one.number is None or other.number is None:
        return BAD
    if sign == "/" and other.number == 0:
        return DIVIDED_BY_ZERO
    return computed(_ARITHMETIC[sign](one.number, other.number))


class _Reader:
    """Reads a formula from left to right."""

    def __init__(self, text: Located, columns: Sequence[str]) -> None:
        self.text = text
        self.columns = sorted(columns, key=len, reverse=True)
        self.position = 0
        self.depth = 0

    def whole(self) -> Formula:
        """All of it."""
        found = self._joined()
        if self._next():
            raise self._error(f'"{self._next()}" cannot stand here; an operator + - * / & is missing before it')
        return found

    def _next(self) -> str:
        """The next letter that is not blank; "" at the end."""
        while self.position < len(self.text.text) and self.text.text[self.position] in " \t":
            self.position += 1
        return self.text.text[self.position : self.position + 1]

    def _error(self, what: str) -> TableError:
        return TableError(what, self.text.at[self.position])

    def _chain(self, signs: str, part: Callable[[], Formula]) -> Formula:
        """Parts with operators of one rank between them, from left to right.

        They are kept in a list and not in each other, so that a long formula is no deep one.
        """
        first = part()
        rest: list[tuple[str, Formula]] = []
        while (sign := self._next()) and sign in signs:
            self.position += 1
            rest.append((sign, part()))
        if not rest:
            return first

        def value(cells: Mapping[str, CsvCell]) -> CsvCell:
            found = first(cells)
            for sign, other in rest:
                found = combine(sign, found, other(cells))
            return found

        return value

    def _joined(self) -> Formula:
        return self._chain("&", self._sum)

    def _sum(self) -> Formula:
        return self._chain("+-", self._product)

    def _product(self) -> Formula:
        return self._chain("*/", self._single)

    def _single(self) -> Formula:
        """A number, a column, something in parentheses, or one of them with a sign."""
        letter = self._next()
        if letter in ("(", "-", "+"):
            return self._nested(letter)
        if not letter:
            raise self._error("the formula ends here; a column or a number is missing")
        number = _NUMBER.match(self.text.text, self.position)
        if number:
            self.position = number.end()
            cell = cell_of(number[0])
            return lambda _: cell
        return self._column()

    def _nested(self, letter: str) -> Formula:
        opened = self._error('this "(" has no ")"')
        self.depth += 1
        if self.depth > MOST_DEPTH:
            raise self._error(f"parentheses and signs are nested more than {MOST_DEPTH} deep")
        self.position += 1
        if letter == "(":
            inside = self._joined()
            if self._next() != ")":
                raise opened if not self._next() else self._error(f'"{self._next()}" cannot stand here')
            self.position += 1
        else:
            inside = self._single()
        self.depth -= 1
        if letter != "-":
            return inside
        zero = cell_of("0")
        return lambda cells: combine("-", zero, inside(cells))

    def _column(self) -> Formula:
        text, start = self.text.text, self.position
        quoted = _QUOTED.match(text, start)
        if quoted:
            name = quoted[1] if quoted[1] is not None else quoted[2]
            end = quoted.end()
            if name not in self.columns:
                cell = cell_of(name)  # a text to join, such as " of "
                cell = CsvCell(name, cell.number)
                self.position = end
                return lambda _: cell
        else:
            name = next((each for each in self.columns if self._stands_here(each)), "")
            end = start + len(name)
        if not name:
            word = _WORD.match(text, start)
            if word is None:
                raise self._error(f'"{text[start]}" cannot stand here; write columns and numbers with + - * / & ( )')
            raise self._error(unknown("column", excerpt(word[0]), sorted(self.columns)))
        self.position = end
        return lambda cells: cells[name]

    def _stands_here(self, name: str) -> bool:
        """Whether the name of a column begins here and does not go on as another word."""
        text, start = self.text.text, self.position
        if not name or not text.startswith(name, start):
            return False
        behind = text[start + len(name) : start + len(name) + 1]
        return not behind or not (behind.isalnum() or behind in "_%.")
