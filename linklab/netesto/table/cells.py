# SPDX-License-Identifier: BSD-3-Clause
"""The cells and rows of exp.csv: text as the file has it, and the number that it is, where it is one.

A number is what Netesto takes for one, less "nan" and "inf": a blank, `*` and `00` (divided by zero) have none, so
nothing takes them for 0.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

ITERATION = "exp"
"""The column that names an experiment and, after the point, its group: 7.0 is the whole of experiment 7."""

COUNT = "avgCnt"
"""The column that says how many rows an average joins."""

_NUMBER = re.compile(r"[+-]?(?:\d{1,300}\.?\d{0,300}|\.\d{1,300})(?:[eE][+-]?\d{1,3})?", re.ASCII)
_SIZE = re.compile(r"(\d{1,12}(?:\.\d{1,12})?)\s*([kKmMgG]?)(?:i?[bB]|bit|bps)?", re.ASCII)
_SUFFIXES = {"": 1.0, "k": 1e3, "m": 1e6, "g": 1e9}
_LARGEST = 1e300


class CsvCell(NamedTuple):
    """A value: as written, as a number if it is one, and the values that an average is of, one a row."""

    text: str
    number: float | None = None
    samples: tuple[float, ...] = ()


BLANK = CsvCell("")
BAD = CsvCell("*")
DIVIDED_BY_ZERO = CsvCell("00")
"""What Netesto writes; it looks like a number, and is none."""


@dataclass(frozen=True)
class CsvRow:
    """A line of exp.csv, or an average of several.

    cells: by column; every column of the table has one.
    folder: of the exp.csv that it comes from, below which the experiment's folder lies.
    experiment: its number there, which `append` may have changed in `cells`.
    joined: of an average, folder and experiment of each row that is in it.
    """

    cells: Mapping[str, CsvCell]
    folder: Path
    experiment: str
    joined: tuple[tuple[str, str], ...] = ()

    @property
    def members(self) -> tuple[tuple[str, str], ...]:
        """Folder and experiment of each row of the file that is in this one."""
        return self.joined or ((str(self.folder), self.experiment),)

    def with_cell(self, column: str, cell: CsvCell) -> CsvRow:
        """The row with a cell more, or another one."""
        return CsvRow({**self.cells, column: cell}, self.folder, self.experiment, self.joined)


def number_in(text: str) -> float | None:
    """The number that a text is; None for anything else."""
    if not _NUMBER.fullmatch(text):
        return None
    number = float(text)
    return number if abs(number) < _LARGEST else None


def cell_of(text: str) -> CsvCell:
    """The cell of a text, without the blanks around it."""
    text = text.strip()
    return CsvCell(text, number_in(text))


def computed(number: float, samples: Sequence[float] = ()) -> CsvCell:
    """The cell of a number that was computed; `BAD` for one of 1e300 or more."""
    if not abs(number) < _LARGEST:
        return BAD
    return CsvCell(f"{number:.10g}", number, tuple(samples))


def same(one: CsvCell, other: CsvCell) -> bool:
    """Whether two cells are equal: as numbers where both are, else as text."""
    if one.number is not None and other.number is not None:
        return close(one.number, other.number)
    return one.text == other.text


def close(one: float, other: float) -> bool:
    """Whether two numbers are equal but for the last digits, which a sum or a quotient may differ in."""
    return abs(one - other) <= 1e-12 * max(abs(one), abs(other))


def same_iteration(one: str, other: str) -> bool:
    """Whether two texts name the same row: 7 is 7.0, but 7.1 is not 7.10, the tenth group."""
    return iteration_of(one) == iteration_of(other)


def iteration_of(text: str) -> tuple[str, str]:
    """Experiment and group of a number such as 7.10; the group is 0 where there is none."""
    experiment, _, group = text.strip().partition(".")
    return experiment, group.lstrip("0") or "0"


def order_in(column: str, text: str) -> tuple[int, float, str]:
    """Sorts the cells of a column: as `order_of`, but experiments by number and then by group, 7.2 before 7.10."""
    experiment, group = iteration_of(text)
    if column == ITERATION and experiment.isdecimal() and group.isdecimal() and len(experiment + group) <= 30:
        return 0, float(experiment), group.zfill(30)
    return order_of(text)


def key_in(column: str, cell: CsvCell) -> object:
    """What is equal for equal cells of a column: 1 is 1.0, but experiment 7.1 is not 7.10."""
    if column == ITERATION:
        return iteration_of(cell.text)
    return cell.text if cell.number is None else cell.number


def order_of(text: str) -> tuple[int, float, str]:
    """Sorts texts: numbers first, by value, then sizes and rates such as 10K and 1gbit, then words."""
    number = number_in(text)
    if number is not None:
        return 0, number, text
    size = _SIZE.fullmatch(text)
    if size:
        return 0, float(size[1]) * _SUFFIXES[size[2].lower()], text
    return 1, 0.0, text
