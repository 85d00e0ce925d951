# SPDX-License-Identifier: BSD-3-Clause
"""What the verbs summary, stats and csv of `linklab test` share: their options, and tables as text, CSV, JSON and Org.

A table is a list of headings and rows of cells; numbers have all their digits except in text and Org.
"""

from __future__ import annotations

import argparse
import csv
import io
import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from linklab.base.text import csv_cell, excerpt, file_name, one_line, visible
from linklab.errors import DataError

if TYPE_CHECKING:
    from linklab.experiment.tables import Source, TableChoice

FORMATS = ("table", "csv", "json", "org")
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


def add_choice(parser: argparse.ArgumentParser, *, default: str = "table", reduce: bool = True) -> None:
    """FILE… and the options that choose what of them counts."""
    parser.add_argument("files", metavar="FILE", type=Path, nargs="+", help="data file of Linklab or Flent")
    parser.add_argument(
        "--series",
        metavar="PATTERN",
        action="append",
        default=[],
        help='these series only, such as "Ping*" or "TCP upload::*"; may be given again',
    )
    if reduce:
        parser.add_argument(
            "--reduce",
            metavar="NAME",
            action="append",
            default=[],
            help="this number of each series instead, such as mean_span or mos; may be given again",
        )
    cut = parser.add_mutually_exclusive_group()
    cut.add_argument(
        "--cutoff",
        metavar="A,B",
        type=_cutoff,
        help="keep what lies between A and B, seconds; a B of 0 or less counts from the end",
    )
    cut.add_argument("--warm-up", metavar="S", type=_seconds, help="leave out the first S seconds")
    parser.add_argument(
        "--smooth", metavar="N", type=_count, default=0, help="first replace each value by the mean of N around it"
    )
    parser.add_argument("--format", choices=FORMATS, default=default, help=f"default: {default}")


def choice_of(args: argparse.Namespace, reducers: Sequence[str]) -> TableChoice:
    """What the options ask for; `reducers` unless they name others.

    Raises:
        InputError: there is no such reducer.
    """
    from linklab.analysis.reducers import check_reducer
    from linklab.experiment.tables import TableChoice

    asked = tuple(map(check_reducer, getattr(args, "reduce", [])))
    cutoff = args.cutoff if args.warm_up is None else (args.warm_up, 0.0)
    return TableChoice(asked or tuple(reducers), tuple(args.series), cutoff, args.smooth)


def read(files: Sequence[Path]) -> list[Source]:
    """The data sets of the files with all derived series, each by the shortest name that sets it apart.

    Raises:
        DataError: one of them is not a data file; then nothing is printed.
    """
    from linklab.data import open_file
    from linklab.experiment.derive import completed
    from linklab.experiment.tables import Source

    for file in files:
        if file.is_dir():
            raise DataError(f"{file_name(file)}: this is a folder; give the data files in it")
    short = [file_name(Path(file.name)) for file in files]
    names = short if len(set(short)) == len(short) else [file_name(file) for file in files]
    return [Source(name, completed(open_file(file))) for name, file in zip(names, files, strict=True)]


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
    return f"{value:,.{_DIGITS}f}".replace(",", "")


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
    return not isinstance(cell, str) or "±" in cell or cell.endswith(" %") or cell == NONE


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


def _cutoff(text: str) -> tuple[float, float]:
    start, comma, end = text.partition(",")
    try:
        found = float(start or 0), float(end or 0)
    except ValueError:
        found = (math.nan, math.nan)
    if not comma or not all(map(math.isfinite, found)) or found[0] < 0:
        raise argparse.ArgumentTypeError(f'"{excerpt(text)}" must be two numbers of seconds, such as 5,65 or 5,-5')
    if 0 < found[1] <= found[0]:
        raise argparse.ArgumentTypeError(f'"{excerpt(text)}" ends before it begins')
    return found


def _seconds(text: str) -> float:
    try:
        found = float(text)
    except ValueError:
        found = -1.0
    if not math.isfinite(found) or found < 0:
        raise argparse.ArgumentTypeError(f'"{excerpt(text)}" must be a number of seconds, 0 or more')
    return found


def _count(text: str) -> int:
    if not text.isascii() or not text.isdecimal() or len(text) > 6:
        raise argparse.ArgumentTypeError(f'"{excerpt(text)}" must be a whole number of values, such as 10')
    return int(text)
