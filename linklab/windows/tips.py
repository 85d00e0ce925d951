# SPDX-License-Identifier: BSD-3-Clause
"""A hint that appears when the mouse rests on a widget."""

from __future__ import annotations

import tkinter as tk

from linklab.windows.theme import Look


class Tip:
    """A hint that appears when the mouse rests on a widget."""

    def __init__(self, widget: tk.Misc, look: Look, text: str) -> None:
        self.widget, self.look, self.text = widget, look, look.say(text)
        self._window: tk.Toplevel | None = None
        self._waiting: str | None = None
        widget.bind("<Enter>", self._enter, add="+")
        widget.bind("<Leave>", lambda _: self._hide(), add="+")
        widget.bind("<Button>", lambda _: self._hide(), add="+")
        widget.bind("<Destroy>", lambda _: self._hide(), add="+")

    def _enter(self, _: tk.Event[tk.Misc]) -> None:
        self._hide()
        self._waiting = self.widget.after(600, self._show)

    def _show(self) -> None:
        p = self.look.palette
        self._window = tk.Toplevel(self.widget, background=p.border)
        self._window.overrideredirect(True)
        label = tk.Label(self._window, text=self.text, background=p.panel, foreground=p.ink, font=self.look.font(9))
        label.pack(padx=1, pady=1, ipadx=self.look.px(5), ipady=self.look.px(2))
        x = self.widget.winfo_rootx() + self.widget.winfo_width() + self.look.px(4)
        self._window.geometry(f"+{x}+{self.widget.winfo_rooty() + self.look.px(8)}")

    def _hide(self) -> None:
        if self._waiting is not None:
            self.widget.after_cancel(self._waiting)
            self._waiting = None
        if self._window is not None:
            self._window.destroy()
            self._window = None
