# SPDX-License-Identifier: BSD-3-Clause
"""The tables of the viewer: runs, plots and metadata, each a tree of ttk with bars.

A table shows what it is given and tells what a person does with it; it decides nothing.
"""

from __future__ import annotations

import tkinter as tk
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from tkinter import ttk
from typing import Any

from linklab.plots.spec import PlotSpec
from linklab.viewer import metadata
from linklab.viewer.columns import FIXED, Column, in_order, text_of
from linklab.viewer.metadata import MetadataRow, Path
from linklab.viewer.runs import Run
from linklab.windows.icons import Icons
from linklab.windows.theme import TICK, Look

ARROWS = {False: " ▾", True: " ▴"}
TITLES = ("", "Plot", "What it shows")
"""Of the columns of the table of plots."""


class ViewerTable(ttk.Frame):
    """A tree with bars, in which the keys of the window come before Tk's."""

    def __init__(self, master: tk.Misc, look: Look, name: str, **options: Any) -> None:
        super().__init__(master, name=name)
        self.look = look
        self.tree = ttk.Treeview(self, selectmode="browse", **options)
        down = ttk.Scrollbar(self, orient="vertical", command=self.tree.yview)
        across = ttk.Scrollbar(self, orient="horizontal", command=self.tree.xview)
        self.tree.configure(yscrollcommand=down.set, xscrollcommand=across.set)
        self.rowconfigure(0, weight=1)
        self.columnconfigure(0, weight=1)
        self.tree.grid(row=0, column=0, sticky="nsew")
        down.grid(row=0, column=1, sticky="ns")
        across.grid(row=1, column=0, sticky="ew")
        self.tree.bindtags((str(self.tree), str(self.winfo_toplevel()), "Treeview", "all"))

    @property
    def at(self) -> str:
        """The row where the keys are; "" if there is none."""
        return str(self.tree.focus())

    def go(self, row: str) -> None:
        """Put the keys on a row, and let it be seen."""
        if self.tree.exists(row):
            self.tree.focus(row)
            self.tree.selection_set(row)
            self.tree.see(row)


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


class PlotsTable(ViewerTable):
    """The plots of what is shown, by number, name and description."""

    def __init__(self, master: tk.Misc, look: Look, choose: Callable[[PlotSpec], None]) -> None:
        super().__init__(master, look, "plots", show="headings", columns=("number", "name", "what"))
        self._choose = choose
        self._specs: dict[str, PlotSpec] = {}
        tree = self.tree
        for key, title, wide in zip(("number", "name", "what"), TITLES, (34, 150, 300), strict=True):
            tree.column(key, width=look.px(wide), minwidth=look.px(30), stretch=False)
            tree.heading(key, text=look.say(title), anchor="w")
        tree.bind("<<TreeviewSelect>>", lambda _: self._selected())
        self._drawn = ""

    def show(self, specs: Sequence[PlotSpec], chosen: PlotSpec | None) -> None:
        """Show these plots, and which of them is drawn."""
        names = {spec.name: spec for spec in specs}
        if list(names.items()) != list(self._specs.items()):
            self._specs = names
            self.tree.delete(*self.tree.get_children())
            for number, spec in enumerate(specs, 1):
                self.tree.insert("", "end", iid=spec.name, values=(number, spec.name, spec.description))
        self._drawn = "" if chosen is None else chosen.name
        if self._drawn and self.tree.selection() != (self._drawn,):
            self.go(self._drawn)

    def _selected(self) -> None:
        """Tk tells this later, also of what `show` selected."""
        chosen = self.tree.selection()
        if chosen and chosen[0] != self._drawn and chosen[0] in self._specs:
            self._choose(self._specs[chosen[0]])


class MetadataTable(ttk.Frame):
    """The metadata of the current run as a tree, a line to search in it, and what can be done with a value."""

    def __init__(
        self,
        master: tk.Misc,
        look: Look,
        *,
        copy: Callable[[Path], None],
        column: Callable[[Path], None],
    ) -> None:
        super().__init__(master, name="metadata")
        self.look = look
        self._copy, self._column = copy, column
        self._tree_of: Any = None
        self._open: set[Path] = set()
        self._rows: dict[str, MetadataRow] = {}
        top = ttk.Frame(self, padding=(0, 0, 0, look.px(4)))
        top.pack(side="top", fill="x")
        ttk.Label(top, text=look.say("Search")).pack(side="left", padx=(look.px(4), look.px(6)))
        self.wanted = tk.StringVar(self)
        self.entry = ttk.Entry(top, textvariable=self.wanted, width=12)
        self.entry.pack(side="left", fill="x", expand=True)
        self.wanted.trace_add("write", lambda *_: self._fill())
        bottom = ttk.Frame(self, padding=(0, look.px(4), 0, 0))
        bottom.pack(side="bottom", fill="x")
        copying = ttk.Button(bottom, text=look.say("Copy"), command=self.copy)
        making = ttk.Button(bottom, text=look.say("Make a Column"), command=self.make_column)
        making.pack(side="right", padx=(look.px(6), 0))
        copying.pack(side="right")
        self.table = ViewerTable(self, look, "tree", columns=("value",), show="tree headings")
        self.table.pack(side="top", fill="both", expand=True)
        tree = self.table.tree
        tree.heading("#0", text=look.say("Key"), anchor="w")
        tree.heading("value", text=look.say("Value"), anchor="w")
        tree.column("#0", width=look.px(150), minwidth=look.px(80), stretch=False)
        tree.column("value", width=look.px(240), minwidth=look.px(80), stretch=True)
        tree.bind("<<TreeviewOpen>>", lambda _: self._opened(True))
        tree.bind("<<TreeviewClose>>", lambda _: self._opened(False))
        tree.bind("<Control-c>", lambda _: self.copy())
        tree.bind("<Key-c>", lambda _: self.make_column())
        tree.bind("<slash>", lambda _: self._search())
        for key in ("<Down>", "<Return>"):
            self.entry.bind(key, lambda _: self._to_tree())
        self.entry.bind("<Escape>", lambda _: self._forget())

    def show(self, tree: dict[str, Any] | None) -> None:
        """Show the metadata of a run; what was open stays open."""
        if tree is not self._tree_of:
            self._tree_of = tree
            self._fill()

    def _fill(self) -> None:
        tree = self.table.tree
        at = self._rows.get(self.table.at)
        tree.delete(*tree.get_children())
        self._rows = {}
        wanted = self.wanted.get()
        for row in metadata.rows_of(self._tree_of or {}, wanted):
            self._add("", row, opened=bool(wanted.strip()))
        if at is not None:
            here = next((iid for iid, row in self._rows.items() if row.path == at.path), "")
            if here:
                self.table.go(here)
        if not self.table.at and self._rows:
            tree.focus(next(iter(self._rows)))

    def _add(self, above: str, row: MetadataRow, *, opened: bool) -> None:
        value = row.value if len(row.value) <= metadata.SHORT else row.value[: metadata.SHORT - 1] + "…"
        is_open = opened or row.path in self._open
        iid = str(self.table.tree.insert(above, "end", text=row.key, values=(value,), open=is_open))
        self._rows[iid] = row
        for each in row.below:
            self._add(iid, each, opened=opened)

    def _opened(self, is_open: bool) -> None:
        row = self._rows.get(self.table.at)
        if row is not None and not self.wanted.get().strip():
            (self._open.add if is_open else self._open.discard)(row.path)

    def _here(self) -> MetadataRow | None:
        return self._rows.get(self.table.at)

    def copy(self) -> str:
        """Copy the value of the row where the keys are."""
        row = self._here()
        if row is not None:
            self._copy(row.path)
        return "break"

    def make_column(self) -> str:
        """Make its key a column of the table of runs."""
        row = self._here()
        if row is not None:
            self._column(row.path)
        return "break"

    def _search(self) -> str:
        self.entry.focus_set()
        return "break"

    def _to_tree(self) -> str:
        self.table.tree.focus_set()
        if self._rows and not self.table.tree.selection():
            self.table.go(next(iter(self._rows)))
        return "break"

    def _forget(self) -> str:
        self.wanted.set("")
        return self._to_tree()
