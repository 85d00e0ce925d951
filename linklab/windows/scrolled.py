# SPDX-License-Identifier: BSD-3-Clause
"""A frame that scrolls where its contents do not fit: bars appear when needed, and what has the focus is in view.

Contents go into `body`. The dialog it is in calls `see` (for the focus) and `wheel`.
"""

from __future__ import annotations

import tkinter as tk
from tkinter import ttk

from linklab.windows.theme import Look

MOST = 520
"""Height that a scrolled frame asks for at most, in pixels of a plain display; it takes more where it is given more."""


class Scrolled(ttk.Frame):
    """A frame with bars."""

    def __init__(self, master: tk.Misc, look: Look, *, most: int = MOST) -> None:
        super().__init__(master)
        self.look, self._most = look, look.px(most)
        self.canvas = tk.Canvas(self, highlightthickness=0, borderwidth=0)
        self.body = ttk.Frame(self.canvas, padding=look.px(12))
        self._item = self.canvas.create_window(0, 0, anchor="nw", window=self.body)
        self._down = ttk.Scrollbar(self, orient="vertical", command=self.canvas.yview)
        self._across = ttk.Scrollbar(self, orient="horizontal", command=self.canvas.xview)
        self.canvas.configure(yscrollcommand=self._down.set, xscrollcommand=self._across.set)
        self.rowconfigure(0, weight=1)
        # Room for the bar is kept also where it is not shown: else showing it could make it needless, and so on.
        self.columnconfigure(0, weight=1)
        self.columnconfigure(1, minsize=self._down.winfo_reqwidth())
        self.canvas.grid(row=0, column=0, sticky="nsew")
        self.body.bind("<Configure>", lambda _: self.fit())
        self.canvas.bind("<Configure>", lambda _: self.fit())
        self.restyle()

    def restyle(self) -> None:
        """Take the theme."""
        self.canvas.configure(background=self.look.palette.window)

    def fit(self) -> None:
        """Ask for the room that the contents want now, and show the bars that are needed in the room that there is."""
        wide, high = self.body.winfo_reqwidth(), self.body.winfo_reqheight()
        self.canvas.configure(width=wide, height=min(high, self._most), scrollregion=(0, 0, wide, high))
        has_wide, has_high = self.canvas.winfo_width(), self.canvas.winfo_height()
        self.canvas.itemconfigure(self._item, width=max(wide, has_wide), height=max(high, has_high))
        _show(self._down, high > has_high > 1, {"row": 0, "column": 1, "sticky": "ns"})
        _show(self._across, wide > has_wide > 1, {"row": 1, "column": 0, "sticky": "ew"})

    def see(self, widget: tk.Misc) -> None:
        """Scroll so that a widget inside, with a line above and below it, is in view."""
        self.update_idletasks()
        high = max(1, self.body.winfo_height())
        margin = self.look.px(28)
        top = widget.winfo_rooty() - self.body.winfo_rooty() - margin
        bottom = top + widget.winfo_height() + 2 * margin
        first = self.canvas.canvasy(0)
        last = first + self.canvas.winfo_height()
        if top < first:
            self.canvas.yview_moveto(max(0, top) / high)
        elif bottom > last:
            self.canvas.yview_moveto((bottom - self.canvas.winfo_height()) / high)

    def wheel(self, steps: int) -> None:
        """Scroll by the mouse's wheel, down where positive; not where everything is in view."""
        if self.canvas.yview() != (0.0, 1.0):
            self.canvas.yview_scroll(steps, "units")


def _show(bar: ttk.Scrollbar, wanted: bool, place: dict[str, object]) -> None:
    if wanted != bool(bar.winfo_manager()):
        bar.grid(**place) if wanted else bar.grid_remove()  # type: ignore[arg-type]


def around(widget: object) -> Scrolled | None:
    """The scrolled frame that a widget is in."""
    while isinstance(widget, tk.Misc):
        if isinstance(widget, Scrolled):
            return widget
        widget = widget.master
    return None


def pages_in(widget: tk.Misc) -> list[Scrolled]:
    """The scrolled frames inside a widget."""
    found: list[Scrolled] = []
    for child in widget.children.values():
        found += [child] if isinstance(child, Scrolled) else pages_in(child)
    return found
