# SPDX-License-Identifier: BSD-3-Clause
"""The window of live plots: which panels and lines, how much time, scroll back, values at a moment, and saving.

It looks at a history ten times a second, and keeps what it has when the network ends. Space pauses and goes on, the
arrow keys move a line that tells the values of a moment.
"""

from __future__ import annotations

import math
import tkinter as tk
from collections.abc import Callable
from functools import partial
from pathlib import Path
from tkinter import ttk

import numpy as np

from linklab import data
from linklab.base.files import write_asked
from linklab.live import PANELS, LiveFeed, LiveSeries
from linklab.live.picture import axes_of, dataset, svg
from linklab.plots.palette import axis_unit
from linklab.viewer.live_view import LiveView
from linklab.windows.chooser import Chooser
from linklab.windows.theme import Look
from linklab.windows.toplevel import Dialog
from linklab.windows.words import Phrase

LOOK_MS = 100
SPANS = {"10 s": 10.0, "30 s": 30.0, "1 min": 60.0, "5 min": 300.0, "all": math.inf}
FIRST = ("rate", "queue", "cwnd", "rtt")
SIZE = (860, 640)


class LiveWindow(Dialog):
    """Looks at a feed until it is closed.

    name: of the network, for the names of files. folder: where they are saved at first.
    """

    def __init__(
        self,
        master: tk.Misc,
        look: Look,
        feed: LiveFeed,
        *,
        name: str,
        folder: Path,
    ) -> None:
        super().__init__(master, look, Phrase("Live Plots: {network}", network=name))
        self.feed, self.name, self.folder = feed, name, folder
        self.end_s: float | None = None
        """Network time at the right end; None follows."""
        self.cursor_s: float | None = None
        self.asked: dict[str, bool] = {}
        """Whether somebody wants a line, by its key; others are shown unless they are minor."""
        self.closed: Callable[[], None] = lambda: None
        """Called when the window has been closed."""
        self._version = -1
        self._make()
        self.feed.look()
        self.geometry(f"{look.px(SIZE[0])}x{look.px(SIZE[1])}")
        self.open(self.view.widget)
        self.geometry(f"{look.px(SIZE[0])}x{look.px(SIZE[1])}")
        self._timer = self.after(LOOK_MS, self._look)

    # --- widgets

    def _make(self) -> None:
        px, say = self.look.px, self.look.say
        bar = ttk.Frame(self.body)
        bar.pack(side="top", fill="x")
        self.following = tk.BooleanVar(self, True)
        ttk.Checkbutton(bar, text=say("Follow"), variable=self.following, command=self._turn).pack(side="left")
        self.span = tk.StringVar(self, "30 s")
        spans = ttk.Combobox(bar, textvariable=self.span, values=list(SPANS), state="readonly", width=6)
        spans.pack(side="left", padx=px(8))
        spans.bind("<<ComboboxSelected>>", lambda _: self.draw())
        self.panels = {name: tk.BooleanVar(self, name in FIRST) for name in PANELS}
        chooser = ttk.Menubutton(bar, text=say("Panels"))
        chooser.pack(side="left")
        menu = tk.Menu(chooser, tearoff=False)
        for name, panel in PANELS.items():
            menu.add_checkbutton(label=say(panel.words), variable=self.panels[name], command=self.draw)
        chooser.configure(menu=menu)
        self.lines = ttk.Menubutton(bar, text=say("Lines"))
        self.lines.pack(side="left", padx=px(8))
        menu = tk.Menu(self.lines, tearoff=False)
        menu.configure(postcommand=partial(self._fill_lines, menu))
        self.lines.configure(menu=menu)
        self.values = ttk.Label(self.body, text="", style="Muted.TLabel", anchor="w", wraplength=px(SIZE[0] - 40))
        self.values.pack(side="bottom", fill="x")
        self.scroll = ttk.Scrollbar(self.body, orient="horizontal", command=self._scrolled)
        self.scroll.pack(side="bottom", fill="x")
        self.view = LiveView(self.body, self.look)
        self.view.pack(side="top", fill="both", expand=True, pady=px(6))
        self.button("Close", self.destroy)
        self.button("Save Data…", partial(self._ask, ".flent.gz", "Save the Data"))
        self.button("Save Figure…", partial(self._ask, ".svg", "Save the Figure"))
        canvas = self.view.widget
        canvas.bind("<space>", lambda _: self.follow(not self.following.get()))
        canvas.bind("<Left>", lambda _: self.step(-1))
        canvas.bind("<Right>", lambda _: self.step(1))
        canvas.bind("<Motion>", lambda event: self.point(self.view.time_at(event.x)))
        canvas.bind("<Leave>", lambda _: self.point(None))
        canvas.bind("<Button-1>", lambda _: canvas.focus_set())

    def _fill_lines(self, menu: tk.Menu) -> None:
        menu.delete(0, "end")
        with self.feed.history.lock:
            tracks = [track.series for track in self.feed.history.tracks.values()]
        for panel in PANELS.values():
            for series in tracks:
                if series.panel == panel.name and self.panels[panel.name].get():
                    is_shown = self.is_shown(series)
                    toggle = partial(self.show, series.key, not is_shown)
                    mark = tk.BooleanVar(self, is_shown)
                    menu.add_checkbutton(label=f"{panel.words}: {series.label}", variable=mark, command=toggle)
        if menu.index("end") is None:
            menu.add_command(label=self.look.say("Nothing moves yet."), state="disabled")

    def is_shown(self, series: LiveSeries) -> bool:
        """Whether a line is drawn in its panel."""
        return self.asked.get(series.key, not self.feed.history.is_minor(series))

    def show(self, key: str, shown: bool) -> None:
        """Draw a line, or leave it out."""
        self.asked[key] = shown
        self.draw()

    def restyle(self) -> None:
        """Take the theme."""
        super().restyle()
        self._version = -1

    # --- time

    @property
    def window_s(self) -> tuple[float, float]:
        """From when to when is shown, network time."""
        first_s, now_s = self._known_s()
        to_s = now_s if self.end_s is None else self.end_s
        span_s = SPANS[self.span.get()]
        if math.isinf(span_s):
            return first_s, max(to_s, first_s + 0.01)
        return (first_s, first_s + span_s) if to_s - first_s < span_s else (to_s - span_s, to_s)

    def _known_s(self) -> tuple[float, float]:
        history = self.feed.history
        with history.lock:
            firsts = [float(track.arrays[0][0]) for track in history.tracks.values() if track.count]
            now_s = history.time_s if math.isfinite(history.time_s) else 1.0
        return min(firsts, default=0.0), now_s

    def _turn(self) -> None:
        self.follow(self.following.get())

    def follow(self, on: bool) -> None:
        """Go on with the network, or stay where it is."""
        self.following.set(on)
        self.end_s = None if on else min(self.window_s[1], self._known_s()[1])
        self.draw()

    def _scrolled(self, what: str, amount: str, unit: str = "") -> None:
        first_s, now_s = self._known_s()
        from_s, to_s = self.window_s
        if what == "moveto":
            end_s = first_s + float(amount) * (now_s - first_s) + (to_s - from_s)
        else:
            end_s = to_s + int(amount) * (to_s - from_s) * (0.9 if unit == "pages" else 0.1)
        self.following.set(end_s >= now_s)
        self.end_s = None if end_s >= now_s else max(end_s, first_s + min(to_s - from_s, now_s - first_s))
        self.draw()

    # --- what is shown

    def _look(self) -> None:
        if self.feed.history.version != self._version:
            self.draw()
        elif not self.feed.is_reading:
            self._say()
        self._timer = self.after(LOOK_MS, self._look)

    def draw(self) -> None:
        """Show what there is now."""
        history = self.feed.history
        self._version = history.version
        from_s, to_s = self.window_s
        chosen = [name for name, shown in self.panels.items() if shown.get()]
        with history.lock:
            keys = [key for key, track in history.tracks.items() if self.is_shown(track.series)]
        first_s, now_s = self._known_s()
        margin_s = 0.2 * (to_s - from_s)  # the axis moves on in steps, beyond what is asked for
        self.view.show(axes_of(history, from_s - margin_s, to_s, keys=keys, panels=chosen), from_s, to_s, self.cursor_s)
        length_s = max(now_s - first_s, 1e-9)
        self.scroll.set(max(0.0, (from_s - first_s) / length_s), min(1.0, (to_s - first_s) / length_s))
        self._say()

    def _say(self) -> None:
        """The values of the moment, in words; why there are none, if readings have ended."""
        if self.feed.why and not self.feed.is_reading:
            self.values.configure(text=Phrase("Readings have ended: {why}", why=self.feed.why))
            return
        at_s = min(self.window_s[1], self._known_s()[1]) if self.cursor_s is None else self.cursor_s
        parts = [f"{at_s:.3f} s", *self.values_at(at_s)]
        text = ";  ".join(parts) if len(parts) > 1 else self.look.say("Readings begin when the network's time goes on.")
        self.values.configure(text=text)

    def values_at(self, time_s: float) -> list[str]:
        """Each line of the panels that are shown, with its value at a network time."""
        found = []
        with self.feed.history.lock:
            for track in self.feed.history.tracks.values():
                panel = track.series.panel
                if not self.panels[panel].get() or not self.is_shown(track.series):
                    continue
                times, values = track.arrays
                place = int(np.searchsorted(times, time_s, side="right")) - 1
                if place >= 0 and not math.isnan(values[place]):
                    scale, unit = axis_unit(track.series.unit, float(values[place]))
                    found.append(f"{PANELS[panel].words} {track.series.label} {values[place] / scale:.4g} {unit}")
        return found

    def point(self, time_s: float | None) -> None:
        """Tell the values of this moment; None for the newest."""
        if time_s != self.cursor_s:
            self.cursor_s = time_s
            self.draw()

    def step(self, by: int) -> None:
        """Move the line by one reading; what one reads does not move away meanwhile."""
        from_s, to_s = self.window_s
        if self.following.get():
            self.follow(False)
        at_s = min(to_s, self._known_s()[1]) if self.cursor_s is None else self.cursor_s
        with self.feed.history.lock:
            shown = [track for track in self.feed.history.tracks.values() if self.panels[track.series.panel].get()]
            every = np.unique(np.concatenate([track.arrays[0] for track in shown])) if shown else np.empty(0)
        inside = every[(every >= from_s) & (every <= to_s)]
        others = inside[inside > at_s + 1e-9] if by > 0 else inside[inside < at_s - 1e-9][::-1]
        if others.size:
            self.point(float(others[0]))

    # --- files

    def _ask(self, ending: str, title: str) -> None:
        take = partial(self.save, ending)
        name = f"live-{self.name}{ending}"
        Chooser(self, self.look, title, folder=self.folder, ending=ending, name=name, save=True, take=take)

    def save(self, ending: str, path: Path) -> None:
        """Save what is shown, as a figure or as a data set.

        Raises:
            InputError: it cannot be written there.
        """
        from_s, to_s = self.window_s
        with self.feed.history.lock:
            tracks = list(self.feed.history.tracks.items())
        shown = [track.series for _, track in tracks if self.panels[track.series.panel].get()]
        keys = [series.key for series in shown if self.is_shown(series)]
        if ending == ".svg":
            write_asked(path, svg(self.feed.history, from_s, to_s, keys))
        else:
            data.save(dataset(self.feed.history, from_s, to_s, {"network": self.name}, keys), path)
        self.folder = path.parent
        self.values.configure(text=Phrase("wrote {path}", path=path))

    def destroy(self) -> None:
        """Close it; nothing is read from the network any more."""
        self.after_cancel(self._timer)
        self.feed.leave()
        super().destroy()
        self.closed()
