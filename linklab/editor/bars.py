# SPDX-License-Identifier: BSD-3-Clause
"""The clock above the drawing while a network runs.

Each button calls back with the words of `clock`.
"""

from __future__ import annotations

import math
import tkinter as tk
from bisect import bisect
from collections.abc import Callable
from itertools import accumulate
from tkinter import font as tkfont
from tkinter import ttk
from typing import Any

from linklab.editor.preference_fields import SPEEDS
from linklab.windows.icons import Icons
from linklab.windows.theme import Look
from linklab.windows.tips import Tip
from linklab.windows.words import Phrase

Words = Callable[[list[str]], None]


class ClockBar(ttk.Frame):
    """Network time, speed, how far behind; pause, step, speed, fast-forward."""

    def __init__(self, master: tk.Misc, look: Look, icons: Icons, order: Words) -> None:
        self._pad = look.px(4 if look.is_narrow else 10)
        super().__init__(master, style="Panel.TFrame", padding=(self._pad, look.px(5)))
        self.look, self.icons, self.order = look, icons, order
        self.clock: dict[str, Any] = {}
        self._buttons: dict[str, ttk.Button] = {}
        self.rows = [ttk.Frame(self, style="Panel.TFrame") for _ in range(2)]
        self.groups = [ttk.Frame(self, style="Panel.TFrame") for _ in range(4)]
        passing, pace, jump, state = self.groups
        self.time = ttk.Label(passing, text="0.000 s", style="Clock.TLabel", width=10, anchor="e")
        self.time.pack(side="left", padx=(0, look.px(8)))
        self.pause = self._button(passing, "pause", "Pause or resume time (Ctrl+P)", self.toggle)
        self.step_button = self._button(passing, "step", "Step (Ctrl+.)", self.step)
        self.step_size = tk.StringVar(self, "10ms")
        sizes = ttk.Combobox(passing, textvariable=self.step_size, values=("1ms", "10ms", "100ms", "1s"), width=6)
        sizes.pack(side="left", padx=look.px(4))
        ttk.Label(pace, text=look.say("Speed"), style="PanelMuted.TLabel").pack(
            side="left", padx=(look.px(8), look.px(4))
        )
        self.speed = ttk.Combobox(pace, values=[_speed_label(s) for s in SPEEDS], state="readonly", width=6)
        self.speed.pack(side="left")
        self.speed.bind("<<ComboboxSelected>>", lambda _: self.set_speed(SPEEDS[self.speed.current()]))
        ttk.Label(jump, text=look.say("Go to"), style="PanelMuted.TLabel").pack(
            side="left", padx=(look.px(8), look.px(4))
        )
        self.target = ttk.Entry(jump, width=7 if look.is_narrow else 8)
        self.target.pack(side="left")
        self.target.bind("<Return>", lambda _: self.go())
        self._button(jump, "forward", "Fast-forward to this network time (Ctrl+J)", self.go)
        self._widest = look.say(_behind(Phrase("running"), 0.0))
        self.behind = ttk.Label(state, text=self._widest, style="PanelMuted.TLabel")
        self.behind.pack(side="left", padx=(look.px(8), 0))
        self._wide, self._is_short = 0, False
        self.bind("<Configure>", lambda event: self.flow(event.width))

    def flow(self, wide: int) -> None:
        """Stand in one row, or in two where `wide` pixels are too few for all."""
        room = wide - 2 * self._pad
        if wide == self._wide:
            return
        self._wide = wide
        font = tkfont.nametofont("TkDefaultFont", self)
        state = font.measure(self._widest) + self.look.px(8)
        needs = list(accumulate([*(group.winfo_reqwidth() for group in self.groups[:-1]), state]))
        above = max(1, bisect(needs, room)) if needs[-1] > room else len(needs)
        self._is_short = above < len(needs)
        self._tell()
        for at, row in enumerate(self.rows):
            row.pack_forget()
            if not at or above < len(needs):
                row.pack(side="top", fill="x")
        for at, group in enumerate(self.groups):
            group.pack_forget()
            group.pack(in_=self.rows[0 if at < above else 1], side="left")

    def _button(self, frame: ttk.Frame, icon: str, tip: str, command: Callable[[], None]) -> ttk.Button:
        button = ttk.Button(frame, command=command, style="Flat.TButton", takefocus=True)
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
        self._tell()

    def _tell(self) -> None:
        """What the clock does; in two rows there is room for few words."""
        if not self.clock:
            return
        words = Phrase("paused") if self.clock["paused"] else Phrase("running")
        if self.clock.get("until_ns") is not None:
            words = Phrase("fast-forwarding")
        late = self.clock["behind_s"]
        if late >= 0.01:
            words = Phrase("{seconds:.2f} s behind", seconds=late) if self._is_short else _behind(words, late)
        self.behind.configure(text=self.look.say(words))

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


def _behind(state: Phrase, late_s: float) -> Phrase:
    return Phrase("{state}, {seconds:.2f} s behind the wall clock", state=state, seconds=late_s)


def _speed_label(speed: str) -> str:
    return "max" if speed == "max" else f"{speed} ×"
