# SPDX-License-Identifier: BSD-3-Clause
"""Runs a table script: directive after directive, on the rows of exp.csv, until `end` or the last line.

Every problem is kept with its place, and the rest of the script is still looked at. Lines, rows, tables and plots are
bounded, so that no script hangs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from linklab.base.text import excerpt
from linklab.errors import InputError
from linklab.netesto.lines import ScriptProblem, Where
from linklab.netesto.search_path import near, text_of
from linklab.netesto.sources import LIBRARY
from linklab.netesto.table.chart import chart_of
from linklab.netesto.table.column_names import unknown
from linklab.netesto.table.document import Links, PlotItem, TableItem, TablePage
from linklab.netesto.table.located import Located, TableError, filled, lines_of
from linklab.netesto.table.paths import SUFFIXES, link_file, link_folder, output_name
from linklab.netesto.table.rows import NoRowsError, Rows
from linklab.netesto.table.script_files import file_of, shown_name, source_variables
from linklab.netesto.table.settings import PlotVariables
from linklab.netesto.table.words import ALONE, IN_THE_PAGE, VARIABLE_NAMES, WEB_ONLY, WORDS

MOST_LINES = 20_000
MOST_BYTES = 2**20
"""Of a script."""
MOST_ITEMS = 200
MOST_SOURCES = 20
MOST_PROBLEMS = 50
MOST_SHOWN = 2_000_000
"""Cells of all tables of a page."""


class _End(Exception):  # noqa: N818 - the directive of this name
    """The script says `end`."""


@dataclass
class TableSession:
    """A script that is being run.

    search: folders in which `source`, File, read and append look, after the script's own; exp.csv is looked for in the
        working directory, too.
    csv: the file to read instead of what File names.
    """

    script: Path
    csv: Path | None = None
    search: Sequence[Path] = ()
    variables: Mapping[str, str] = field(default_factory=dict)
    style: str = ""
    problems: list[TableError] = field(default_factory=list)
    said: list[ScriptProblem] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.rows = Rows()
        self.settings = PlotVariables()
        self.items: list[TableItem | PlotItem] = []
        self.format: int | None = None
        self.links = Links()
        self.log: str | None = None
        self.log_lines: list[str] = []
        self._given: dict[str, str] = {}
        self._started: Where | None = None
        self._failed = False
        self._lines = 0
        self._cells = 0
        self._untold: set[tuple[str, str]] = set()
        folder = self.script.parent
        self._scripts = [folder, *self.search, LIBRARY]
        self._tables = [folder, *self.search, Path()]
        self._do = self._directives()

    def run(self) -> TablePage:
        """Run the whole script; `problems` then has what was wrong with it.

        Raises:
            InputError: the script cannot be read.
        """
        name = shown_name(self.script)
        whole = Where(name, 1, 1)
        try:
            self._run_text(text_of(self.script, MOST_BYTES), name, self.variables, (self.script.resolve(),))
            self._finish(whole)
        except _End:
            self._finish(whole)
        except TableError as error:
            self._keep(error)
        if not self.items and not self.problems:
            self._keep(TableError("the script makes no table and no plot; end it with doTable or doPlot", whole))
        log = None if self.log is None else (self.log, self.log_lines)
        return TablePage(self.items, self.rows.sources, self.links, self.said, log)

    def _finish(self, whole: Where) -> None:
        """What may be missing when the script ends."""
        try:
            self.rows.check_complete()
        except TableError as error:
            self._keep(error)
        given = [self._given[name] for name in ("relpath", "path") if name in self._given]
        self.links = Links(given, self._given.get("iterfile", "exp.html"), self.rows.first_folder)
        if self.log is not None:
            self.log_lines.append(f"{whole.file}: {len(self.items)} tables and plots, {len(self.problems)} problems")

    def _keep(self, error: TableError) -> None:
        self.problems.append(error)

    # --- lines

    def _run_text(self, text: str, name: str, variables: Mapping[str, str], above: tuple[Path, ...]) -> None:
        def told(variable: str, place: Where) -> None:
            if (name, variable) not in self._untold:
                self._untold.add((name, variable))
                cure = f"source=FILE,{variable}=…" if len(above) > 1 else f"-D {variable}=…"
                self.said.append(ScriptProblem(place, f"${variable} has no value and is left out; give it with {cure}"))

        for line in lines_of(text, name):
            self._lines += 1
            if self._lines > MOST_LINES:
                raise line.error(f"more than {MOST_LINES:,} lines, with those that source reads; do less in one script")
            try:
                whole = filled(line, variables, told)
                if whole:
                    self._run_line(whole, above)
            except NoRowsError:
                continue  # what is wrong with exp.csv was told when it was read
            except TableError as error:
                self._keep(error)
                if len(self.problems) >= MOST_PROBLEMS:
                    raise _End from error

    def _run_line(self, line: Located, above: tuple[Path, ...]) -> None:
        word, equals, value = line.partition("=")
        key = word.text.lower()
        if not equals and key not in ALONE:
            if key in self._do or key in VARIABLE_NAMES:
                raise line.error(f'"{excerpt(word.text)}" needs a value: {excerpt(word.text)}=…')
            raise line.error(unknown("directive", word.text.partition(" ")[0], WORDS))
        value = value.unquoted()
        if key == "source":
            self._source(value, above)
            return
        if key in self._do:
            self._do[key](value)
        elif key in VARIABLE_NAMES:
            self.settings.set(VARIABLE_NAMES[key], value)
        elif key in IN_THE_PAGE or key in WEB_ONLY:
            why = IN_THE_PAGE.get(key, "it belongs to the form that exp.py showed in a browser")
            self.said.append(ScriptProblem(word.place, f'"{excerpt(word.text)}" does nothing in a script: {why}'))
        else:
            raise word.error(unknown("directive", word.text, WORDS))
        if self.log is not None and key in self._do and len(self.log_lines) < MOST_LINES:
            self.log_lines.append(f"{line.place}: {excerpt(line.text, 100)}: {self.rows.summary()}")

    def _source(self, value: Located, above: tuple[Path, ...]) -> None:
        """Run another file with variables of its own."""
        name, *rest = value.split(",")
        variables = source_variables(rest)
        path = self._file(name.unquoted(), self._scripts)
        if path in above:
            raise name.error(f'"{excerpt(name.text)}" is already being read, so it would never end')
        if len(above) > MOST_SOURCES:
            raise name.error(f"source is nested more than {MOST_SOURCES} deep")
        try:
            script = text_of(path, MOST_BYTES)
        except InputError as error:
            raise name.error(str(error)) from error
        self._run_text(script, shown_name(near(path)), variables, (*above, path))

    def _file(self, name: Located, folders: Sequence[Path], *suffixes: str) -> Path:
        """The file of this name in the search path, or of the name with one of the suffixes."""
        return file_of(name, folders, self.script.parent, *suffixes)

    # --- directives

    def _directives(self) -> Mapping[str, Callable[[Located], None]]:
        """Word in small letters → what it does."""
        rows = self.rows
        data: dict[str, Callable[[Located], None]] = {
            "select": rows.select,
            "average": rows.average,
            "newcol": rows.new_column,
            "cols": rows.choose_columns,
            "selectcols": rows.choose_columns,
            "removecols": rows.remove_columns,
            "deletecols": rows.remove_columns,
            "rows": rows.choose_rows,
            "selectrows": rows.choose_rows,
            "selectexp": rows.choose_rows,
            "sort": rows.sort,
            "scalecolumns": rows.scale_columns,
            "scalefactor": rows.scale_factor,
            "newcolfield1": lambda value: rows.old_form("NewColField1", value),
            "newcolop": lambda value: rows.old_form("NewColOp", value),
            "newcolfield2": lambda value: rows.old_form("NewColField2", value),
            "newcolname": lambda value: rows.old_form("NewColName", value),
            "append": lambda value: rows.append(self._file(value, self._tables, ".csv"), value),
            "dotable": self._table,
            "doplot": self._plot,
        }
        return {
            **{word: self._with_rows(do) for word, do in data.items()},
            "end": self._end,
            "format": self._format,
            "log": self._log,
            "file": self._csv,
            "read": self._read,
            "path": lambda value: self._link("path", value),
            "relpath": lambda value: self._link("relpath", value),
            "iterfile": lambda value: self._link("iterfile", value),
            "source": lambda _: None,  # `_run_line` does it
        }

    def _with_rows(self, do: Callable[[Located], None]) -> Callable[[Located], None]:
        """A directive that works on rows: exp.csv is read before the first of them."""

        def run(value: Located) -> None:
            if self._started is None:
                self._started = value.place
                self._load(self.csv or self._file(Located("exp", [value.place] * 4), self._tables, ".csv"), value)
            elif self._failed:
                raise NoRowsError
            do(value)

        return run

    def _load(self, path: Path, value: Located) -> None:
        self._failed = True
        self.rows.read(path, value)
        self._failed = False

    def _end(self, _: Located) -> None:
        raise _End

    def _csv(self, value: Located) -> None:
        if self._started is not None:
            raise value.error(
                f"File must stand before the first directive that uses rows, which is at {self._started}; "
                "read= takes another file, append= adds one"
            )
        self._started = value.place
        self._failed = True
        self._load(self.csv or self._file(value, self._tables, ".csv"), value)

    def _read(self, value: Located) -> None:
        self._started = value.place
        self._failed = True
        self._load(self._file(value, self._tables, ".csv"), value)

    def _format(self, value: Located) -> None:
        if not value.text.isascii() or not value.text.isdecimal() or len(value.text) > 1:
            raise value.error(f'"{excerpt(value.text)}" must be the number of decimals, from 0 to 9')
        self.format = int(value.text)

    def _log(self, value: Located) -> None:
        self.log = None if value.text.lower() in ("", "null") else output_name(value, (".log",))

    def _link(self, name: str, value: Located) -> None:
        self._given[name] = link_file(value) if name == "iterfile" else link_folder(value)

    def _more(self, value: Located, cells: int) -> None:
        self._cells += cells
        if len(self.items) >= MOST_ITEMS:
            raise value.error(f"a page has at most {MOST_ITEMS} tables and plots")
        if self._cells > MOST_SHOWN:
            raise value.error(
                f"the tables of the page have more than {MOST_SHOWN:,} cells; select fewer rows or columns"
            )

    def _table(self, value: Located) -> None:
        rows, columns = self.rows.selected, self.rows.shown
        if not columns:
            raise value.error("no column is left to show; choose some with Cols")
        self._more(value, len(rows) * len(columns))
        change = self.settings.get("rowColorChange")
        band = ""
        if change is not None:
            band = self.rows.column(change)
        decimals = {column: self.rows.decimals_of(column, self.format) for column in columns}
        known = {column: each for column, each in decimals.items() if each is not None}
        if not rows:
            self.said.append(ScriptProblem(value.place, "the table is empty, because no row is selected"))
        self.items.append(TableItem(list(columns), list(rows), known, band))

    def _plot(self, value: Located) -> None:
        self._more(value, 0)
        named = value if value else self.settings.get("plotFilename")
        name = output_name(named, SUFFIXES) if named else ""
        self.settings.set("plotFilename", Located("", [value.place]))  # it holds for one plot, as in exp.py
        if name and any(isinstance(item, PlotItem) and item.name == name for item in self.items):
            raise value.error(f'there are two plots "{excerpt(name)}"; give one another name')
        chart = chart_of(self.rows.selected, self.rows.columns, self.settings, value, self.style)
        self.items.append(PlotItem(chart, name))
