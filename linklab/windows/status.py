# SPDX-License-Identifier: BSD-3-Clause
"""The line at the bottom of a window that says what is happening."""

from __future__ import annotations

import tkinter as tk
from bisect import bisect
from collections.abc import Callable
from tkinter import font as tkfont
from tkinter import ttk

from linklab.windows.theme import Look

LEAST_LETTERS = 40
"""Of the newest message; where there is less room the progress and the count give way."""


class StatusBar(ttk.Frame):
    """What is happening, how far it is, and a button to cancel it; at the right the zoom.

    A line that is too long is cut off with "…", and the button More shows it whole.
    """

    def __init__(self, master: tk.Misc, look: Look, cancel: Callable[[], None], more: Callable[[], None]) -> None:
        super().__init__(master, style="Panel.TFrame", padding=(look.px(10), look.px(4)))
        self._look, self._busy, self._bad = look, False, False
        self.said = ""
        self.zoom = ttk.Label(self, text="100 %", style="PanelMuted.TLabel")
        self.zoom.pack(side="right")
        self.count = ttk.Label(self, text="", style="PanelMuted.TLabel")
        self.count.pack(side="right", padx=look.px(16))
        self.cancel = ttk.Button(self, text=look.say("Cancel"), command=cancel, style="Flat.TButton")
        self.progress = ttk.Progressbar(self, mode="indeterminate", length=look.px(120))
        self.more = ttk.Button(self, text=look.say("More"), command=more, style="Flat.TButton")
        # as high as with the button, so that what is above does not move when that appears
        ttk.Frame(self, style="Panel.TFrame", height=self.more.winfo_reqheight()).pack(side="left")
        self.text = ttk.Label(self, text="", style="Panel.TLabel")
        self.text.pack(side="left", fill="x", expand=True)
        self.bind("<Configure>", lambda _: self._fit())

    def restyle(self) -> None:
        """Take the theme."""
        p = self._look.palette
        self.text.configure(foreground=p.bad if self._bad else p.ink)

    def say(self, text: str, *, bad: bool = False) -> None:
        """One line, the newest."""
        self.said, self._bad = " ".join(text.split("\n")), bad
        self.restyle()
        self._fit()

    def _fit(self) -> None:
        """Show as much of it as there is room for; where that is little, other things give way."""
        font = tkfont.nametofont("TkDefaultFont", self)
        wanted = min(font.measure(self.said), font.measure("n" * LEAST_LETTERS))
        given_up: list[ttk.Widget] = []
        for each in (self.count, self.progress):
            if self._room(given_up) >= wanted:
                break
            given_up.append(each)
        self._place(given_up)
        room = self._room(given_up)
        if self.winfo_width() == 1 or font.measure(self.said) <= room:
            self.text.configure(text=self.said)
            self.more.pack_forget()
            return
        room -= self.more.winfo_reqwidth()
        fitting = bisect(range(len(self.said)), room, key=lambda letters: font.measure(f"{self.said[:letters]}…"))
        self.text.configure(text=f"{self.said[: max(0, fitting - 1)].rstrip()}…")
        self.more.pack(side="right", before=self.text)

    def _room(self, without: list[ttk.Widget]) -> int:
        """Pixels for the line."""
        gaps = {self.zoom: 0, self.count: 32, self.cancel: 0, self.progress: 24}
        shown = [each for each in self._beside() if each not in without]
        taken = sum(each.winfo_reqwidth() + self._look.px(gaps[each]) for each in shown)
        return self.winfo_width() - taken - self._look.px(28)

    def _beside(self) -> list[ttk.Widget]:
        """What stands at the right of the line, from the right."""
        return [self.zoom, self.count, *([self.cancel, self.progress] if self._busy else [])]

    def _place(self, without: list[ttk.Widget]) -> None:
        px = self._look.px
        gaps = {self.zoom: 0, self.count: px(16), self.cancel: 0, self.progress: px(12)}
        wanted = [each for each in self._beside() if each not in without]
        for each, gap in gaps.items():
            if each not in wanted:
                each.pack_forget()
            elif not each.winfo_manager():
                each.pack(side="right", padx=gap, before=self.text)

    def share(self, done: float | None) -> None:
        """How much of what goes on is done, from 0 to 1; None where that is not known."""
        if done is None:
            if str(self.progress.cget("mode")) == "determinate":
                self.progress.configure(mode="indeterminate")
                self._run()
        else:
            self.progress.stop()
            self.progress.configure(mode="determinate", maximum=1.0, value=min(max(done, 0.0), 1.0))

    def _run(self) -> None:
        if self._busy:
            self.progress.start(30)

    def busy(self, is_busy: bool) -> None:
        """Show that something goes on and may be cancelled."""
        if is_busy == self._busy:
            return
        self._busy = is_busy
        if is_busy:
            self.progress.start(30)
        else:
            self.progress.stop()
        self._fit()
