# SPDX-License-Identifier: BSD-3-Clause
"""The table of metadata: a tree of keys and values, a line to search in it, and buttons for what can be done."""

from __future__ import annotations

import tkinter as tk
from collections.abc import Callable
from tkinter import ttk
from typing import Any

from linklab.viewer import metadata
from linklab.viewer.metadata import MetadataRow, Path
from linklab.viewer.tables import ViewerTable
from linklab.windows.theme import Look


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
