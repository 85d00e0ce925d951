# SPDX-License-Identifier: BSD-3-Clause
"""The clock above the drawing while a network runs, and the line below it that says what is happening.

Each button calls back with the words of `clock`.
"""

from __future__ import annotations

import math
import tkinter as tk
from bisect import bisect
from collections.abc import Callable
from tkinter import font as tkfont
from tkinter import ttk
from typing import Any

from linklab.editor.icons import Icons
from linklab.editor.preference_fields import SPEEDS
from linklab.editor.theme import Look
from linklab.editor.toolbar import Tip

Words = Callable[[list[str]], None]


class ClockBar(ttk.Frame):
    """Network time, speed, how far behind; pause, step, speed, fast-forward."""

    def __init__(self, master: tk.Misc, look: Look, icons: Icons, order: Words) -> None:
        super().__init__(master, style="Panel.TFrame", padding=(look.px(10), look.px(5)))
        self.look, self.icons, self.order = look, icons, order
        self.clock: dict[str, Any] = {}
        self._buttons: dict[str, ttk.Button] = {}
        self.time = ttk.Label(self, text="0.000 s", style="Clock.TLabel", width=12, anchor="e")
        self.time.pack(side="left", padx=(0, look.px(8)))
        self.pause = self._button("pause", "Pause or resume time (Ctrl+P)", self.toggle)
        self.step_button = self._button("step", "Step (Ctrl+.)", self.step)
        self.step_size = tk.StringVar(self, "10ms")
        sizes = ttk.Combobox(self, textvariable=self.step_size, values=("1ms", "10ms", "100ms", "1s"), width=6)
        sizes.pack(side="left", padx=look.px(4))
        ttk.Label(self, text="Speed", style="PanelMuted.TLabel").pack(side="left", padx=(look.px(12), look.px(4)))
        self.speed = ttk.Combobox(self, values=[_speed_label(s) for s in SPEEDS], state="readonly", width=7)
        self.speed.pack(side="left")
        self.speed.bind("<<ComboboxSelected>>", lambda _: self.set_speed(SPEEDS[self.speed.current()]))
        ttk.Label(self, text="Go to", style="PanelMuted.TLabel").pack(side="left", padx=(look.px(12), look.px(4)))
        self.target = ttk.Entry(self, width=8)
        self.target.pack(side="left")
        self.target.bind("<Return>", lambda _: self.go())
        self._button("forward", "Fast-forward to this network time (Ctrl+J)", self.go)
        self.behind = ttk.Label(self, text="", style="PanelMuted.TLabel")
        self.behind.pack(side="left", padx=look.px(12))

    def _button(self, icon: str, tip: str, command: Callable[[], None]) -> ttk.Button:
        button = ttk.Button(self, command=command, style="Flat.TButton", takefocus=True)
        self._buttons[icon] = button
        button.configure(image=self._image(icon))
        button.pack(side="left", padx=self.look.px(2))
        Tip(button, self.look, tip)
        return button

    def _image(self, icon: str) -> Any:
        return self.icons.get(icon, self.look.px(18), self.look.palette.ink, self.look.palette.panel)

    def restyle(self) -> None:
        """Take the theme."""
        for icon, button in self._buttons.items():
            shown = "run" if icon == "pause" and self.clock.get("paused") else icon
            button.configure(image=self._image(shown))

    def show(self, state: dict[str, Any]) -> None:
        """Show the clock's state."""
        paused = bool(state["paused"])
        if paused != bool(self.clock.get("paused")):
            image = self.icons.get(
                "run" if paused else "pause", self.look.px(18), self.look.palette.ink, self.look.palette.panel
            )
            self.pause.configure(image=image)
        if state["speed"] != self.clock.get("speed") and not self.speed.instate(["pressed"]):
            self.speed.set(_speed_label("max" if math.isinf(state["speed"]) else f"{state['speed']:g}"))
        self.clock = state
        self.time.configure(text=f"{max(0.0, state['now_s']):.3f} s")
        words = "paused" if paused else "running"
        if state.get("until_ns") is not None:
            words = "on the way to a time asked for"
        if state["behind_s"] >= 0.01:
            words += f", {state['behind_s']:.2f} s behind the wall clock"
        self.behind.configure(text=words)

    def toggle(self) -> None:
        """Pause, or resume."""
        self.order(["resume" if self.clock.get("paused") else "pause"])

    def step(self) -> None:
        """Let a little time pass, then stand."""
        self.order(["step", self.step_size.get()])

    def set_speed(self, speed: str) -> None:
        """Network seconds a second."""
        self.order(["speed", speed])

    def change_speed(self, direction: int) -> None:
        """The next faster (1) or slower (-1) of the list."""
        now = self.clock.get("speed", 1.0)
        values = [math.inf if s == "max" else float(s) for s in SPEEDS]
        further = [
            s for s, value in zip(SPEEDS, values, strict=True) if (value > now if direction > 0 else value < now)
        ]
        if further:
            self.set_speed(further[0] if direction > 0 else further[-1])

    def go(self) -> None:
        """Fast-forward to the time typed; a bare number is seconds."""
        text = self.target.get().strip()
        if not text:
            self.target.focus_set()
            return
        self.order(["until", f"{text}s" if text.replace(".", "", 1).isdecimal() else text])


def _speed_label(speed: str) -> str:
    return "max" if speed == "max" else f"{speed} ×"


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
        self.cancel = ttk.Button(self, text="Cancel", command=cancel, style="Flat.TButton")
        self.progress = ttk.Progressbar(self, mode="indeterminate", length=look.px(120))
        self.more = ttk.Button(self, text="More", command=more, style="Flat.TButton")
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
        """Show as much of it as there is room for."""
        beside = (self.zoom, self.count, self.cancel, self.progress)
        taken = sum(each.winfo_reqwidth() for each in beside if each.winfo_manager()) + self._look.px(70)
        room, font = self.winfo_width() - taken, tkfont.nametofont("TkDefaultFont", self)
        if self.winfo_width() == 1 or font.measure(self.said) <= room:
            self.text.configure(text=self.said)
            self.more.pack_forget()
            return
        room -= self.more.winfo_reqwidth()
        fitting = bisect(range(len(self.said)), room, key=lambda letters: font.measure(f"{self.said[:letters]}…"))
        self.text.configure(text=f"{self.said[: max(0, fitting - 1)].rstrip()}…")
        self.more.pack(side="right", before=self.text)

    def busy(self, is_busy: bool) -> None:
        """Show that something goes on and may be cancelled."""
        if is_busy == self._busy:
            return
        self._busy = is_busy
        if is_busy:
            self.cancel.pack(side="right", before=self.text)
            self.progress.pack(side="right", padx=self._look.px(12), before=self.text)
            self.progress.start(30)
        else:
            self.progress.stop()
            self.progress.pack_forget()
            self.cancel.pack_forget()
        self._fit()
