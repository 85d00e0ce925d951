# SPDX-License-Identifier: BSD-3-Clause
"""The rows that a table script works on, and what each directive does to them.

`table` is the rows of the file, or the averages of some; a selection is a part of it. `Select=all` goes back to all
rows of the file, with the columns that were made since.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from linklab.base.text import excerpt, file_name
from linklab.errors import InputError
from linklab.netesto.table.averages import averaged, keys_of
from linklab.netesto.table.cells import BAD, COUNT, ITERATION, CsvCell, CsvRow, computed, order_in
from linklab.netesto.table.column_names import column_of
from linklab.netesto.table.csv_input import MOST_CELLS, Read, appended, read_csv
from linklab.netesto.table.formula import Formula, formula_of
from linklab.netesto.table.located import Located
from linklab.netesto.table.pending import ColumnForm, ScaleForm, computed_by
from linklab.netesto.table.row_numbers import named_rows
from linklab.netesto.table.selection import holds, selection_of

MOST_COLUMNS = 1000
MOST_WORK = 200_000_000
"""Cells that all directives of a script may look at; a few minutes of work."""

_BYTES_A_CELL = 4
"""Reading so many bytes of a file is about as much work as looking at a cell."""

_MADE_DECIMALS, _MEAN_DECIMALS = 2, 3
"""Of a column that the script makes, and of means, where no format is given."""


class NoRowsError(Exception):
    """There are no rows, because exp.csv could not be read, which was told before."""


class Rows:
    """The rows of a script as they stand."""

    def __init__(self) -> None:
        self.columns: list[str] = []
        self.shown: list[str] = []
        self.decimals: dict[str, int] = {}
        self.selected: list[CsvRow] = []
        self.sources: list[Path] = []
        self.first_folder = ""
        self._all: list[CsvRow] = []
        self._table: list[CsvRow] = []
        self._averaged = False
        self._made: list[tuple[str, Formula]] = []
        self._form = ColumnForm()
        self._scale = ScaleForm()
        self._work = 0

    def summary(self) -> str:
        """How many rows and columns there are."""
        return f"{len(self.selected)} of {len(self._table)} rows, {len(self.shown)} of {len(self.columns)} columns"

    def column(self, name: Located) -> str:
        """The column of this name.

        Raises:
            TableError: there is none.
        """
        return column_of(name, self.columns)

    def decimals_of(self, column: str, usual: int | None) -> int | None:
        """How many decimals a column shows; None for numbers as they are written.

        Args:
            column: one of the columns.
            usual: what the script's `format` says; exp.csv itself may say otherwise for a column.
        """
        asked = self.decimals.get(column, usual)
        if asked is not None or column in (ITERATION, COUNT):
            return asked
        if column in {name for name, _ in self._made}:
            return _MADE_DECIMALS
        return _MEAN_DECIMALS if self._averaged else None

    def check_complete(self) -> None:
        """What was begun must be whole when the script ends.

        Raises:
            TableError: a line of a column, or of a scale, is missing.
        """
        self._form.check_complete()
        self._scale.check_complete()

    # --- files

    def read(self, path: Path, at: Located) -> None:
        """Take the rows of a file in place of those that are there."""
        read = self._file(path, at)
        self.columns, self.decimals = list(read.columns), dict(read.decimals)
        self.shown = list(self.columns)
        self._all = list(read.rows)
        self._table = self.selected = self._all
        self._averaged, self._made = False, []
        self.sources = [path]
        self.first_folder = self.first_folder or str(path.parent)

    def append(self, path: Path, at: Located) -> None:
        """Add the rows of a file, with other numbers for its experiments."""
        if self._averaged:
            raise at.error("append must stand before Average, since averages are of rows that are there")
        more = self._file(path, at)
        count = len(self._all)
        columns = len({*self.columns, *more.columns})
        if (count + len(more.rows)) * columns > MOST_CELLS:
            raise at.error(f"with this file there are more than {MOST_CELLS:,} cells; append fewer or smaller files")
        self._spend(at, count * (1 if columns == len(self.columns) else columns))
        try:
            both = appended(Read(self.columns, self.decimals, self._all), more)
        except InputError as error:
            raise at.error(str(error)) from error
        new = list(both.rows[count:])
        for name, formula in self._made:
            new = [row.with_cell(name, formula(row.cells)) for row in new]
        old = list(both.rows[:count])
        if COUNT in self.columns and COUNT not in more.columns:  # each of these rows stands for itself
            new = [row.with_cell(COUNT, computed(1.0)) for row in new]
        elif COUNT in more.columns and COUNT not in self.columns:
            old = [row.with_cell(COUNT, computed(1.0)) for row in old]
        added = [name for name in both.columns if name not in self.columns]
        self.columns += added
        self.shown += added
        self.decimals = dict(both.decimals)
        kept = {id(row) for row in self.selected}
        chosen = [id(row) in kept for row in self._all]
        self._all = [*old, *new]
        self._table = self._all
        self.selected = [row for row, is_chosen in zip(self._all, chosen, strict=False) if is_chosen] + new
        self.sources.append(path)

    # --- which rows

    def select(self, value: Located) -> None:
        """Keep the selected rows that fulfil a condition, or go back to all."""
        if value.text.lower() == "all":
            self._table = self.selected = self._all
            self._averaged = False
            return
        self._spend(value, len(self.selected) * (value.text.count(",") + value.text.count(";") + 1))
        selection = selection_of(value, self.columns)
        self.selected = [row for row in self.selected if holds(selection, row.cells)]

    def choose_rows(self, value: Located) -> None:
        """Select rows by their experiments, in the order in which the script names them."""
        found: dict[int, CsvRow] = {}
        for part in value.split(","):
            self._spend(value, len(self._table))
            rows = named_rows(part, self._table)
            if not rows:
                there = [row.cells[ITERATION].text for row in self._table]
                some = f"there are {there[0]} to {there[-1]}" if there else "there are none"
                raise part.error(f'no row has the experiment "{excerpt(part.text)}"; {some}')
            found.update({id(row): row for row in rows})
        self.selected = list(found.values())

    def sort(self, value: Located) -> None:
        """Sort the selected rows by columns, by the first first; `-` before a column sorts downwards."""
        keys = []
        for part in value.split(","):
            down = part.text.startswith("-") and part.text not in self.columns
            keys.append((self.column(part.slice(1, len(part.text)).strip() if down else part), down))
        self._spend(value, len(self.selected) * len(keys))
        for column, down in reversed(keys):
            known = [row for row in self.selected if row.cells[column].text]
            blank = [row for row in self.selected if not row.cells[column].text]
            known.sort(key=lambda row, column=column: order_in(column, row.cells[column].text), reverse=down)  # type: ignore[misc]
            self.selected = known + blank

    # --- which columns

    def choose_columns(self, value: Located) -> None:
        """Show these columns, in this order."""
        if value.text.lower() == "all":
            self.shown = list(self.columns)
            return
        self.shown = list(dict.fromkeys(self._each(value)))

    def remove_columns(self, value: Located) -> None:
        """Show these columns no more."""
        gone = set(self._each(value))
        self.shown = [name for name in self.shown if name not in gone]

    def _each(self, value: Located) -> list[str]:
        """The columns of a list; one that ends with a comma has no empty one behind it."""
        parts = [part for part in value.split(",") if part]
        if not parts:
            raise value.error("the names of columns are missing here")
        return [self.column(part) for part in parts]

    # --- what the rows hold

    def new_column(self, value: Located) -> None:
        """`name = formula`."""
        name, equals, formula = value.partition("=")
        if not equals or not formula:
            raise value.error(f'"{excerpt(value.text)}" must be NAME = FORMULA, such as fairness = rateMax / rateMin')
        name = name.unquoted()
        self._check_new(name)
        try:
            compute = formula_of(formula, self.columns)
        except InputError:
            self._add(name, lambda _: BAD)  # or every line that names the column would be told, too
            raise
        self._spend(value, len(self._all) * (len(self.columns) + len(formula.text)))
        self._add(name, compute)

    def old_form(self, which: str, value: Located) -> None:
        """One of the four lines of the paper; the last of them makes the column."""
        form = self._form.take(which, value)
        if form is None:
            return
        name = form["NewColName"]
        self._check_new(name)
        compute, error = computed_by(form, self.columns)
        if error is None:
            self._spend(value, len(self._all) * len(self.columns))
        self._add(name, compute)  # also with an error, or every line that names the column would be told, too
        if error is not None:
            raise error

    def _check_new(self, name: Located) -> None:
        text = name.text
        if not text or len(text) > 60 or not text.isprintable() or any(mark in text for mark in ",;=<>[]'\""):
            raise name.error(
                f'"{excerpt(text)}" cannot be the name of a column: use at most 60 letters, digits, and _ . % -'
            )
        if text in self.columns:
            raise name.error(f'there is a column "{excerpt(text)}" already; choose another name')
        if len(self.columns) >= MOST_COLUMNS:
            raise name.error(f"there are {MOST_COLUMNS} columns already")

    def _add(self, name: Located, compute: Formula) -> None:
        """Make a column in all rows, those that are not selected included."""
        column = name.text
        made = {id(row): row.with_cell(column, compute(row.cells)) for rows in (self._all, self._table) for row in rows}
        self._replace(made)
        self._made.append((column, compute))
        self.columns.append(column)
        self.shown.append(column)

    def _replace(self, made: dict[int, CsvRow]) -> None:
        self._all, self._table, self.selected = (
            [made.get(id(row), row) for row in rows] for rows in (self._all, self._table, self.selected)
        )

    def average(self, value: Located) -> None:
        """Join the selected rows that agree in some columns."""
        keys = keys_of(value, self.columns)
        self._spend(value, len(self.selected) * len(self.columns))
        if COUNT not in self.columns:
            one = computed(1.0)
            self._replace({id(row): row.with_cell(COUNT, one) for rows in (self._all, self._table) for row in rows})
            self.columns.append(COUNT)
            self.shown.append(COUNT)
        self._table = self.selected = averaged(self.selected, keys, self.columns)
        self._averaged = True

    def scale_columns(self, value: Located) -> None:
        """The columns to scale, once the factor is known."""
        self._scale.take_columns(self._each(value), value)
        self._scale_now(value)

    def scale_factor(self, value: Located) -> None:
        """The factor, once the columns are known."""
        self._scale.take_factor(value)
        self._scale_now(value)

    def _scale_now(self, value: Located) -> None:
        if (whole := self._scale.whole()) is None:
            return
        columns, factor = whole
        self._spend(value, len(self._all) * len(self.columns))
        made = {}
        for rows in (self._all, self._table):
            for row in rows:
                cells = {name: _times(cell, factor) if name in columns else cell for name, cell in row.cells.items()}
                made[id(row)] = replace(row, cells=cells)
        self._replace(made)

    def _file(self, path: Path, at: Located) -> Read:
        """The rows of a file, which count as work before they are read."""
        try:
            self._spend(at, path.stat().st_size // _BYTES_A_CELL)
        except OSError as error:
            raise at.error(f"{file_name(path)}: cannot be read: {error.strerror}") from error
        return _read(path, at)

    def _spend(self, at: Located, work: int) -> None:
        self._work += work
        if self._work > MOST_WORK:
            raise at.error("the script has looked at more cells than a table can need; select rows first, or do less")


def _read(path: Path, at: Located) -> Read:
    try:
        return read_csv(path)
    except InputError as error:
        raise at.error(str(error)) from error


def _times(cell: CsvCell, factor: float) -> CsvCell:
    if cell.number is None:
        return cell
    return computed(cell.number * factor, [value * factor for value in cell.samples])
