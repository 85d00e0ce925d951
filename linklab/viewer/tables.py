# SPDX-License-Identifier: BSD-3-Clause
"""What all tables of the viewer have in common, a tree of ttk with scrollbars; and the table of plots.

A table shows what it is given and tells what a person does with it; it decides nothing.
"""

from __future__ import annotations

import tkinter as tk
from collections.abc import Callable, Sequence
from tkinter import ttk
from typing import Any

from linklab.plots.spec import PlotSpec
from linklab.windows.theme import Look

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
