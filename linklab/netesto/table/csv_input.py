# SPDX-License-Identifier: BSD-3-Clause
"""exp.csv as Netesto and `linklab netesto csv` write it → rows.

The first line that is not a comment names the columns, each perhaps with the decimals to show (`rate:1`); then a row a
line. A blank is a value that is not known. A cell in double quotes may hold a comma.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from linklab.base.text import excerpt, file_name
from linklab.errors import InputError
from linklab.netesto.search_path import near, text_of
from linklab.netesto.table.cells import BLANK, ITERATION, CsvRow, cell_of

MOST_CELLS = 4_000_000
MOST_COLUMNS = 1000
MOST_DECIMALS = 9

_HEAD = re.compile(r"(.*):(\d)", re.ASCII)
_NUMBER = re.compile(r"(\d{1,15})(\.\d{1,15})?", re.ASCII)


@dataclass(frozen=True)
class Read:
    """A file: its columns, the decimals that it asks for, and its rows."""

    columns: Sequence[str]
    decimals: Mapping[str, int]
    rows: Sequence[CsvRow]


def read_csv(path: Path) -> Read:
    """The rows of a file.

    Raises:
        InputError: it cannot be read; the message names the line.
    """
    where = file_name(near(path))
    columns: list[str] = []
    decimals: dict[str, int] = {}
    rows: list[CsvRow] = []
    for number, line in enumerate(text_of(path).splitlines(), 1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        try:
            values = next(csv.reader([line], strict=True)) if '"' in line else line.split(",")
        except csv.Error as error:
            raise InputError(f"{where}:{number}: quotes do not fit together: {error}") from error
        if not columns:
            columns, decimals = _head(values, f"{where}:{number}")
            continue
        rows.append(_row(values, columns, path.parent, f"{where}:{number}"))
        if len(rows) * len(columns) > MOST_CELLS:
            raise InputError(f"{where}:{number}: more than {MOST_CELLS:,} cells; divide the file")
    if not columns:
        raise InputError(f"{where}: is empty; its first line must name the columns, such as exp,expName,ca,rate")
    return Read(columns, decimals, rows)


def appended(first: Read, more: Read) -> Read:
    """Both files as one; experiments of the second get numbers from the next hundred on.

    A column that one of them lacks is blank in its rows.
    """
    last = max((int(float(row.experiment)) for row in first.rows), default=0)
    offset = (last + 100) // 100 * 100
    columns = [*first.columns, *(name for name in more.columns if name not in first.columns)]
    blanks = dict.fromkeys(columns, BLANK)
    rows = list(first.rows)
    if len(columns) > len(first.columns):
        rows = [CsvRow({**blanks, **row.cells}, row.folder, row.experiment) for row in rows]
    for row in more.rows:
        cells = {**blanks, **row.cells}
        whole, point, group = cells[ITERATION].text.partition(".")
        cells[ITERATION] = cell_of(f"{int(whole) + offset}{point}{group}")
        rows.append(CsvRow(cells, row.folder, row.experiment))
    return Read(columns, {**more.decimals, **first.decimals}, rows)


def _head(values: Sequence[str], where: str) -> tuple[list[str], dict[str, int]]:
    columns: list[str] = []
    decimals: dict[str, int] = {}
    for value in values:
        name = value.strip()
        found = _HEAD.fullmatch(name)
        if found:
            name = found[1].strip()
            decimals[name] = min(int(found[2]), MOST_DECIMALS)
        if not name:
            raise InputError(f"{where}: column {len(columns) + 1} has no name")
        if name in columns:
            raise InputError(f'{where}: there are two columns "{excerpt(name)}"; rename one')
        columns.append(name)
    if len(columns) > MOST_COLUMNS:
        raise InputError(f"{where}: {len(columns)} columns are more than {MOST_COLUMNS}")
    if ITERATION not in columns:
        raise InputError(
            f'{where}: there is no column "{ITERATION}", which names the experiment; is this the exp.csv of a campaign?'
        )
    return columns, decimals


def _row(values: Sequence[str], columns: Sequence[str], folder: Path, where: str) -> CsvRow:
    if len(values) != len(columns):
        raise InputError(
            f"{where}: the row has {len(values)} values, but the first line names {len(columns)} columns; were the "
            "columns changed in the middle of the campaign, or does a value hold a comma?"
        )
    cells = {name: cell_of(value) for name, value in zip(columns, values, strict=True)}
    experiment = cells[ITERATION].text
    if not _NUMBER.fullmatch(experiment):
        raise InputError(f'{where}: the experiment "{excerpt(experiment)}" must be a number such as 7.0')
    return CsvRow(cells, folder, experiment.partition(".")[0])
