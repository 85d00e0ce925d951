# SPDX-License-Identifier: BSD-3-Clause
"""`Average= columns`: one row for each combination of values of these columns, the mean of the rows that have it.

`column[int]` compares what is before the decimal point, `column[has:x]` whether the cell has x in it. Blanks are left
out of a mean; a column of words keeps a word that all rows share and shows `...` where they differ.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from linklab.base.text import excerpt
from linklab.netesto.table.cells import BLANK, COUNT, ITERATION, CsvCell, CsvRow, computed
from linklab.netesto.table.column_names import column_of
from linklab.netesto.table.located import Located

DIFFERENT = CsvCell("...")

Same: TypeAlias = Callable[[CsvCell], Any]
"""What of a cell must be equal in all rows that are joined."""

_NAMES = frozenset({ITERATION, "expName", "group"})
"""What names a row is not averaged, even if it looks like a number."""


@dataclass(frozen=True)
class Key:
    """A column whose values tell the groups apart."""

    column: str
    same: Same


def keys_of(text: Located, columns: Sequence[str]) -> list[Key]:
    """What a line of Average asks for.

    Raises:
        TableError: it cannot be read, or there is no such column.
    """
    return [_key(part, columns) for part in text.split(",")]


def averaged(rows: Sequence[CsvRow], keys: Sequence[Key], columns: Sequence[str]) -> list[CsvRow]:
    """A row for each group, in the order of their first rows."""
    groups: dict[tuple[Any, ...], list[CsvRow]] = {}
    for row in rows:
        groups.setdefault(tuple(key.same(row.cells[key.column]) for key in keys), []).append(row)
    kept = {key.column for key in keys}
    return [_joined(group, kept, columns) for group in groups.values()]


def _key(text: Located, columns: Sequence[str]) -> Key:
    whole = text.unquoted()
    name, bracket, function = whole.partition("[")
    if whole.text in columns or not bracket:
        return Key(column_of(whole, columns), _value)
    column = column_of(name, columns)
    inside = function.text[:-1].strip() if function.text.endswith("]") else ""
    word, colon, part = (each.strip() for each in inside.partition(":"))
    if word.lower() == "int" and not colon:
        return Key(column, _whole_number)
    if word.lower() != "has" or not colon:
        raise whole.error(f'"{excerpt(whole.text)}" must be a column, or COLUMN[int] or COLUMN[has:TEXT]')
    first, part = part.startswith("^"), part.removeprefix("^")
    if not part:
        raise whole.error("[has:] needs the letters to look for, such as expName[has:fs]")
    if first:
        return Key(column, lambda cell: cell.text.startswith(part))
    return Key(column, lambda cell: part in cell.text)


def _value(cell: CsvCell) -> Any:
    return cell.text if cell.number is None else cell.number


def _whole_number(cell: CsvCell) -> Any:
    return cell.text if cell.number is None else math.trunc(cell.number)


def _joined(rows: Sequence[CsvRow], kept: set[str], columns: Sequence[str]) -> CsvRow:
    """The average of these rows."""
    first = rows[0]
    cells = {}
    for column in columns:
        if column in kept or column == ITERATION or len(rows) == 1:
            cells[column] = first.cells[column]
        elif column == COUNT:
            counts = [row.cells[column].number for row in rows]
            known = [count for count in counts if count is not None]
            cells[column] = computed(math.fsum(known)) if len(known) == len(counts) else BLANK
        else:
            cells[column] = _mean([row.cells[column] for row in rows], named=column in _NAMES)
    return CsvRow(cells, first.folder, first.experiment, tuple(each for row in rows for each in row.members))


def _mean(cells: Sequence[CsvCell], *, named: bool) -> CsvCell:
    known = [cell for cell in cells if cell.text]
    numbers = [cell.number for cell in known if cell.number is not None]
    if not known:
        return BLANK
    if not named and len(numbers) == len(known):
        mean = math.fsum(numbers) / len(numbers)
        found = computed(mean, numbers)
        return CsvCell(known[0].text, mean, found.samples) if len({cell.text for cell in cells}) == 1 else found
    return known[0] if len({cell.text for cell in cells}) == 1 else DIFFERENT
