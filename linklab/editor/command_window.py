# SPDX-License-Identifier: BSD-3-Clause
"""A window with commands, what they printed, and what that means; the commands can be run again."""

from __future__ import annotations

import tkinter as tk
from collections.abc import Callable
from tkinter import ttk

from linklab.windows.questions import text_area
from linklab.windows.theme import Look
from linklab.windows.toplevel import Dialog

SIZE = (84, 16)
"""Letters across, lines down."""


class CommandWindow(Dialog):
    """Shows a text that changes; `on_close` is called once when the window goes."""

    def __init__(self, master: tk.Misc, look: Look, title: str, note: str = "") -> None:
        super().__init__(master, look, title)
        self.on_close: Callable[[], None] = lambda: None
        wide = min(look.px(640), self.maxsize()[0] - look.px(40))
        self.said = ttk.Label(self.body, text="", style="Title.TLabel", wraplength=wide, justify="left")
        self.said.pack(anchor="w", pady=(0, look.px(6)))
        if note:
            label = ttk.Label(self.body, text=look.say(note), style="Muted.TLabel", wraplength=wide, justify="left")
            label.pack(anchor="w", pady=(0, look.px(8)))
        frame = ttk.Frame(self.body)
        frame.pack(fill="both", expand=True)
        self.area = text_area(frame, look, "")
        self.area.configure(width=SIZE[0], height=SIZE[1])
        self.button("Close", self.destroy)
        self.button("Copy", self._copy)
        self.text = ""

    def again(self, label: str, command: Callable[[], None]) -> None:
        """Add the button that runs the commands again; F5 presses it, and Return where no button has the focus."""
        self.button(label, command, style="Accent.TButton")
        for key in ("<Return>", "<F5>"):
            self.bind(key, lambda _: command())

    def show(self, text: str) -> None:
        """Show this text instead; what is read stays in view, and a text that was seen to its end is so again."""
        if not self.winfo_exists() or text == self.text:
            return
        top, bottom = self.area.yview()
        grows = text.startswith(self.text) and bottom >= 1.0
        self.text = text
        self.area.configure(state="normal")
        self.area.replace("1.0", "end", text)
        self.area.configure(state="disabled")
        self.area.yview_moveto(1.0 if grows else top)

    def say(self, text: str) -> None:
        """What it means, above the text."""
        if self.winfo_exists():
            self.said.configure(text=self.look.say(text))

    def destroy(self) -> None:
        """Close, and end what is still going on for it."""
        done, self.on_close = self.on_close, lambda: None
        done()
        super().destroy()

    def _copy(self) -> None:
        self.clipboard_clear()
        self.clipboard_append(self.text)
