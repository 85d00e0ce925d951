# SPDX-License-Identifier: BSD-3-Clause
"""A table of numbers as text, CSV, JSON and Org, for `linklab test`, `linklab sweep` and the viewer.

A table is a list of headings and rows of cells; numbers have all their digits except in text and Org.
"""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Sequence
from dataclasses import dataclass

from linklab.base.text import csv_cell, one_line, visible

ALIKE = ", all equal"
"""Behind the mean of runs that do not differ."""
NONE = "–"
"""In text where there is no number."""

_DIGITS = 2
_SMALL = 0.1
"""Of numbers below it, digits that count are shown, not decimals."""

Cell = str | int | float | None


@dataclass(frozen=True)
class TableGrid:
    """Rows of cells under their headings; text stands at the left, numbers at the right."""

    headings: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]


def as_text(grid: TableGrid) -> str:
    """A table in columns, for people."""
    cells = [[_shown(cell) for cell in row] for row in grid.rows]
    right = [all(_is_number(row[k]) for row in grid.rows) for k in range(len(grid.headings))]
    headings = list(map(one_line, grid.headings))
    widths = [max(map(len, column)) for column in zip(headings, *cells, strict=True)]
    lines = [_line(row, widths, right) for row in (headings, *cells)]
    return "\n".join([lines[0], "─" * len(lines[0].rstrip()), *lines[1:]]) + "\n"


def as_csv(grid: TableGrid) -> str:
    """A table for spreadsheets and programs; a number that is not there is an empty cell."""
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(map(_exact, grid.headings))
    writer.writerows([_exact(cell) for cell in row] for row in grid.rows)
    return file.getvalue()


def as_org(grid: TableGrid) -> str:
    """A table of Emacs' Org mode; Ctrl+C Ctrl+C aligns it."""
    lines = [[_shown(cell).replace("|", "\\vert") for cell in row] for row in (grid.headings, *grid.rows)]
    rule = "|" + "+".join("---" for _ in grid.headings) + "|"
    text = ["| " + " | ".join(row) + " |" for row in lines]
    return "\n".join([text[0], rule, *text[1:]]) + "\n"


def as_json(found: object) -> str:
    """JSON, in which a number that is not there is null."""
    return json.dumps(_finite(found), indent=2, ensure_ascii=False) + "\n"


def number(value: float) -> str:
    """A number for people: two decimals, or three digits that count where it is small."""
    if math.isnan(value):
        return NONE
    if value and abs(value) < _SMALL:
        return f"{value:.3g}"
    return f"{value:.{_DIGITS}f}"


def spelt(unit: str) -> str:
    """A unit as people write it; data files, CSV and JSON have Flent's "Mbits/s"."""
    return unit.replace("Mbits", "Mbit")


def _shown(cell: Cell) -> str:
    match cell:
        case None:
            return NONE
        case str():
            return one_line(cell)
        case int():
            return str(cell)
        case float():
            return number(cell)


def _is_number(cell: Cell) -> bool:
    """Whether it stands at the right: a number, also with its interval, or none."""
    return not isinstance(cell, str) or "±" in cell or cell.endswith(ALIKE) or cell.endswith(" %") or cell == NONE


def _exact(cell: Cell) -> str:
    match cell:
        case None:
            return ""
        case str():
            return csv_cell(one_line(cell))
        case float():
            return "" if math.isnan(cell) else repr(cell)
        case int():
            return str(cell)


def _line(row: Sequence[str], widths: Sequence[int], right: Sequence[bool]) -> str:
    cells = [cell.rjust(width) if at else cell.ljust(width) for cell, width, at in zip(row, widths, right, strict=True)]
    return "  ".join(cells).rstrip()


def _finite(found: object) -> object:
    match found:
        case float():
            return found if math.isfinite(found) else None
        case dict():
            return {key: _finite(value) for key, value in found.items()}
        case list() | tuple():
            return [_finite(value) for value in found]
        case str():
            return visible(found)
        case _:
            return found
