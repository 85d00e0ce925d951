# SPDX-License-Identifier: BSD-3-Clause
"""`Select`: conditions on columns, `,` for and, `;` for or, which binds less.

    condition = column operator value
    operator  = == != > >= < <= <>a:b [has] [hasnot]

`==` and `!=` compare numbers where both are, else text. The other comparisons are for numbers: a cell that is none is
not chosen. `<>a:b` is between a and b without them. `[has]^x` is for cells that begin with x.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from linklab.base.text import excerpt
from linklab.netesto.table.cells import ITERATION, CsvCell, cell_of, number_in, same, same_iteration
from linklab.netesto.table.column_names import column_of
from linklab.netesto.table.located import Located

Test: TypeAlias = Callable[[CsvCell], bool]

MOST_CONDITIONS = 1000

_OPERATOR = re.compile(r"==|!=|>=|<=|<>|>|<|\[has\]|\[hasnot\]", re.IGNORECASE)
_ORDER: Mapping[str, Callable[[float, float], bool]] = {
    ">": operator.gt,
    ">=": operator.ge,
    "<": operator.lt,
    "<=": operator.le,
}
_FORM = "COLUMN OPERATOR VALUE, such as ca==bbr or rate>10; operators are == != > >= < <= <>low:high [has] [hasnot]"


@dataclass(frozen=True)
class RowCondition:
    """What a cell of one column must be."""

    column: str
    test: Test


Selection: TypeAlias = Sequence[Sequence[RowCondition]]
"""One of these must hold, with all of its conditions."""


def selection_of(text: Located, columns: Sequence[str]) -> Selection:
    """What a line of Select asks for.

    Raises:
        TableError: a condition cannot be read, or there is no such column.
    """
    found = [[_condition(part, columns) for part in every.split(",")] for every in text.split(";")]
    if sum(map(len, found)) > MOST_CONDITIONS:
        raise text.error(f"there are more than {MOST_CONDITIONS} conditions")
    return found


def holds(selection: Selection, cells: Mapping[str, CsvCell]) -> bool:
    """Whether a row with these cells is chosen."""
    return any(all(each.test(cells[each.column]) for each in every) for every in selection)


def _condition(text: Located, columns: Sequence[str]) -> RowCondition:
    if not text:
        raise text.error(f"a condition is missing here; write {_FORM}")
    start, end, word = _operator(text, columns)
    column = column_of(text.slice(0, start), columns)
    value = text.slice(end, len(text.text)).strip().unquoted()
    if text.text.rstrip()[-1:] not in ("'", '"'):
        _refuse_second(value, columns)
    if word in ("[has]", "[hasnot]"):
        return RowCondition(column, _has(value, wanted=word == "[has]"))
    if word == "<>":
        return RowCondition(column, _between(value))
    if word in _ORDER:
        return RowCondition(column, _ordered(value, _ORDER[word]))
    return RowCondition(column, _equals(value.text, column, wanted=word == "=="))


def _refuse_second(value: Located, columns: Sequence[str]) -> None:
    """Refuse a value that has another condition behind it, which no cell would be equal to."""
    for found in _OPERATOR.finditer(value.text):
        before = value.text[: found.start()].rstrip()
        column = next((name for name in columns if before.endswith(f" {name}")), "")
        if column:
            second = value.slice(len(before) - len(column), len(value.text))
            raise second.error(f'before "{excerpt(second.text)}" a comma (and) or a semicolon (or) is missing')


def _operator(text: Located, columns: Sequence[str]) -> tuple[int, int, str]:
    """Where the operator begins and ends, and which it is: the first behind the name of a column."""
    found = list(_OPERATOR.finditer(text.text))
    longest = max(map(len, columns), default=0) + len("''")
    for each in (*(each for each in found if each.start() <= longest and _names(text, each.start(), columns)), *found):
        return each.start(), each.end(), each[0].lower()
    if "=" in text.text:
        raise text.error(f'"{excerpt(text.text)}" has one "="; write == to compare')
    raise text.error(f'"{excerpt(text.text)}" is no condition; write {_FORM}')


def _names(text: Located, end: int, columns: Sequence[str]) -> bool:
    return text.slice(0, end).unquoted().text in columns


def _equals(value: str, column: str, *, wanted: bool) -> Test:
    if column == ITERATION:
        return lambda cell: same_iteration(cell.text, value) == wanted
    other = cell_of(value)
    return lambda cell: same(cell, other) == wanted


def _has(value: Located, *, wanted: bool) -> Test:
    first = value.text.startswith("^")
    part = value.text[1:] if first else value.text
    if not part:
        raise value.error("[has] and [hasnot] need the letters to look for, such as exp[has].0")
    if first:
        return lambda cell: cell.text.startswith(part) == wanted
    return lambda cell: (part in cell.text) == wanted


def _number(value: Located) -> float:
    number = number_in(value.text)
    if number is None:
        raise value.error(f'"{excerpt(value.text)}" must be a number, since only numbers are more or less than another')
    return number


def _ordered(value: Located, compare: Callable[[float, float], bool]) -> Test:
    limit = _number(value)
    return lambda cell: cell.number is not None and compare(cell.number, limit)


def _between(value: Located) -> Test:
    ends = value.split(":")
    if len(ends) != 2:
        raise value.error(f'"{excerpt(value.text)}" must be two numbers with ":" between them, such as exp<>5000:5100')
    low, high = map(_number, ends)
    if low >= high:
        raise value.error(f"no number is more than {low:g} and less than {high:g}; write the lower one first")
    return lambda cell: cell.number is not None and low < cell.number < high
