# SPDX-License-Identifier: BSD-3-Clause
"""The table of runs: the open files, which of them are shown, and columns by which they are sorted."""

from __future__ import annotations

import tkinter as tk
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from linklab.viewer.columns import FIXED, Column, in_order, text_of
from linklab.viewer.runs import Run
from linklab.viewer.tables import ViewerTable
from linklab.windows.icons import Icons
from linklab.windows.theme import TICK, Look

ARROWS = {False: " ▾", True: " ▴"}
"""After the title of the column that sorts: upwards, downwards."""


@dataclass(frozen=True)
class RunsTold:
    """What a person does in the table of runs."""

    show: Callable[[Run], None]
    toggle: Callable[[Run], None]
    menu: Callable[[Run, int, int], None]
    heading: Callable[[Column, int, int], None]


class RunsTable(ViewerTable):
    """The open files: a tick at those that are shown, and columns that sort."""

    def __init__(self, master: tk.Misc, look: Look, icons: Icons, told: RunsTold) -> None:
        super().__init__(master, look, "runs", show="tree headings")
        self._icons, self._told = icons, told
        self._rows: dict[str, Run] = {}
        self._drawn: dict[str, tuple[Any, ...]] = {}
        self.columns: list[Column] = []
        self.sorted_by: tuple[Column, bool] | None = None
        tree = self.tree
        tree.bind("<Button-1>", self._clicked)
        tree.bind("<Control-Button-1>", lambda e: self._clicked(e, toggles=True))
        tree.bind("<Button-3>", self._menu)
        for keys in ("<Shift-F10>", "<Menu>"):
            self._bind_menu_key(keys)
        for key in ("<Return>", "<KP_Enter>"):
            tree.bind(key, lambda _: self._do(told.show))
        tree.bind("<space>", lambda _: self._do(told.toggle))
        tree.column("#0", width=look.px(TICK + 26), minwidth=look.px(TICK + 26), stretch=False)

    def _bind_menu_key(self, key: str) -> None:
        try:
            self.tree.bind(key, lambda _: self._menu_here())
        except tk.TclError:  # a keyboard without that key
            return

    @property
    def order(self) -> list[Run]:
        """The runs as they stand in the table, from above."""
        return list(self._rows.values())

    @property
    def here(self) -> Run | None:
        """The run where the keys are."""
        return self._rows.get(self.at)

    def show(self, runs: Sequence[Run], shown: Sequence[Run], own: Sequence[Column]) -> None:
        """Show these runs, with a tick at the shown ones, in the order that was asked for."""
        here = self.here
        columns = [*FIXED, *own]
        if columns != self.columns:
            self._set_columns(columns)
        if self.sorted_by is not None and self.sorted_by[0] not in columns:
            self.sorted_by = None
        by = self.sorted_by
        ordered = list(runs) if by is None else in_order(runs, by[0], backwards=by[1])
        rows = {f"run{id(run)}": run for run in ordered}
        tree = self.tree
        gone = [row for row in self._rows if row not in rows]
        tree.delete(*gone)
        before = {row: at for at, row in enumerate(each for each in self._rows if each in rows)}
        for at, (row, run) in enumerate(rows.items()):
            values = tuple(self._cell(run, column) for column in columns)
            tags = ("bad",) if run.why else ("waiting",) if run.is_waiting else ()
            drawn = (run in shown, values, tags)
            if row not in before:
                tree.insert("", at, iid=row, image=self._tick(drawn[0]), values=values, tags=tags)
            elif drawn != self._drawn.get(row):
                tree.item(row, image=self._tick(drawn[0]), values=values, tags=tags)
            self._drawn[row] = drawn
        if list(before) != [row for row in rows if row in before]:
            for at, row in enumerate(rows):
                tree.move(row, "", at)
        self._rows = rows
        if here is None or here not in runs:
            first = shown[-1] if shown else next(iter(ordered), None)
            if first is not None:
                self.go(f"run{id(first)}")

    def _cell(self, run: Run, column: Column) -> str:
        if column.key == "title" and run.why:
            return self.look.say("cannot be read")
        if column.key == "title" and run.is_waiting:
            return self.look.say("reading …")
        return text_of(run, column)

    def _tick(self, on: bool) -> Any:
        p = self.look.palette
        ink, paper = (p.accent, p.accent_ink) if on else (p.edge, p.field)
        return self._icons.get("ticked" if on else "unticked", self.look.px(TICK), ink, paper)

    def _set_columns(self, columns: list[Column]) -> None:
        self.columns = columns
        self.tree.configure(columns=[column.key for column in columns])
        for column in columns:
            self.tree.column(column.key, width=self.look.px(column.wide), minwidth=self.look.px(40), stretch=False)
            self.tree.heading(column.key, anchor="w", command=partial(self.sort, column))
        self._head()

    def _head(self) -> None:
        for column in self.columns:
            mark = ARROWS[self.sorted_by[1]] if self.sorted_by is not None and self.sorted_by[0] == column else ""
            self.tree.heading(column.key, text=self.look.say(column.title) + mark)

    def sort(self, column: Column) -> None:
        """Sort by a column; again, the other way round; a third time, as they were opened."""
        if self.sorted_by is None or self.sorted_by[0] != column:
            self.sorted_by = (column, False)
        else:
            self.sorted_by = None if self.sorted_by[1] else (column, True)
        self._head()
        self.event_generate("<<Sorted>>")

    def restyle(self) -> None:
        """Take the theme."""
        p = self.look.palette
        self._drawn = {}
        self.tree.tag_configure("bad", foreground=p.bad)
        self.tree.tag_configure("waiting", foreground=p.muted)

    def go_to(self, run: Run) -> None:
        """Put the keys on a run."""
        self.go(f"run{id(run)}")

    def _do(self, what: Callable[[Run], None]) -> str:
        if self.here is not None:
            what(self.here)
        return "break"

    def _clicked(self, event: tk.Event[tk.Misc], *, toggles: bool = False) -> str | None:
        row = str(self.tree.identify_row(event.y))
        if self.tree.identify_region(event.x, event.y) in ("heading", "separator") or row not in self._rows:
            return None
        self.tree.focus_set()
        self.go(row)
        at_tick = self.tree.identify_column(event.x) == "#0"
        (self._told.toggle if toggles or at_tick else self._told.show)(self._rows[row])
        return "break"

    def _menu(self, event: tk.Event[tk.Misc]) -> str:
        if self.tree.identify_region(event.x, event.y) == "heading":
            number = int(str(self.tree.identify_column(event.x)).removeprefix("#"))
            if number:
                self._told.heading(self.columns[number - 1], event.x_root, event.y_root)
            return "break"
        row = str(self.tree.identify_row(event.y))
        if row in self._rows:
            self.go(row)
            self._told.menu(self._rows[row], event.x_root, event.y_root)
        return "break"

    def _menu_here(self) -> str:
        box = self.tree.bbox(self.at) if self.at else ""
        if self.here is not None and box:
            x, y = self.tree.winfo_rootx() + self.look.px(40), self.tree.winfo_rooty() + box[1] + box[3]
            self._told.menu(self.here, x, y)
        return "break"
