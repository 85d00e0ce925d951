# SPDX-License-Identifier: BSD-3-Clause
"""The bar above the drawing to find things by name, address or kind; each hit is selected and brought into view.

Return and F3 go on, Shift with them goes back, Escape closes.
"""

from __future__ import annotations

import tkinter as tk
from collections.abc import Callable
from functools import partial
from tkinter import ttk

from linklab.editor.canvas import Drawing
from linklab.editor.document import Document, Key
from linklab.editor.find import hits
from linklab.windows.theme import Look
from linklab.windows.words import Phrase

HINT, SHORT_HINT = Phrase("a name, an address, a kind, a port"), ""


class FindBar(ttk.Frame):
    """A field, how many hits there are, and buttons to step through them."""

    def __init__(
        self, master: tk.Misc, look: Look, document: Document, drawing: Drawing, say: Callable[[str], None]
    ) -> None:
        super().__init__(master, style="Panel.TFrame", padding=(look.px(10), look.px(5)))
        self.document, self.drawing, self.say = document, drawing, say
        self.at, self.look = 0, look
        close = ttk.Button(self, text=look.say("Close"), style="Flat.TButton", width=-6, command=self.close)
        self.next = self._button("Next", 5, 1)
        self.previous = self._button("Previous", 8, -1)
        if not look.is_narrow:  # there the buttons say what the field is for
            ttk.Label(self, text=look.say("Find"), style="Panel.TLabel").pack(side="left", padx=(0, look.px(8)))
        self.words = tk.StringVar(self)
        self.entry = ttk.Entry(self, textvariable=self.words, width=8 if look.is_narrow else 24)
        for button in (self.previous, self.next, close):
            button.lift()  # Tab reaches the field first
        for button in (close, self.next, self.previous):  # the first to be packed is the last to be cut off
            button.pack(side="right")
        self.entry.pack(side="left")
        self.hint = HINT if not look.is_narrow else SHORT_HINT
        self.count = ttk.Label(self, text="", style="PanelMuted.TLabel")
        self.count.pack(side="left", padx=look.px(12))
        for widget in (self.entry, self.previous, self.next, close):
            widget.bind("<Escape>", lambda _: self.close())
        self.entry.bind("<Return>", lambda _: self.step(1))
        self.entry.bind("<Shift-Return>", lambda _: self.step(-1))
        self.entry.bind("<F3>", lambda _: self.step(1))
        self.entry.bind("<Shift-F3>", lambda _: self.step(-1))
        self.words.trace_add("write", lambda *_: self._typed())

    def _button(self, text: str, letters: int, direction: int) -> ttk.Button:
        """A button that goes on; at least so many letters wide."""
        said, step = self.look.say(text), partial(self.step, direction)
        return ttk.Button(self, text=said, style="Flat.TButton", width=-letters, command=step)

    def open(self) -> None:
        """Show the bar above the drawing, with what was looked for selected to be typed over."""
        if not self.winfo_manager():
            self.pack(side="top", fill="x", before=self.drawing)
        self.entry.focus_set()
        self.entry.selection_range(0, "end")
        self._typed()

    def close(self) -> None:
        """Put the bar away; the hit stays selected."""
        self.pack_forget()
        self.drawing.focus_set()

    def step(self, direction: int) -> str:
        """Go to the next hit (1) or the one before (-1); opens the bar where nothing was looked for."""
        if not self.words.get().strip():
            self.open()
            return "break"
        found = hits(self.document.topology, self.words.get())
        if found:
            self.at = (self.at + direction) % len(found)
        self._go(found)
        return "break"

    def _typed(self) -> None:
        self.at = 0
        self._go(hits(self.document.topology, self.words.get()))

    def _go(self, found: list[Key]) -> None:
        if found:
            self.at = min(self.at, len(found) - 1)
            self.document.select({found[self.at]})
            self.drawing.reveal(found[self.at])
            told: str = Phrase("{at} of {count}", at=self.at + 1, count=len(found))
        else:
            told = Phrase("nothing found") if self.words.get().strip() else self.hint
        self.count.configure(text=self.look.say(told))
        if self.winfo_manager() == "":
            self.say(told)
