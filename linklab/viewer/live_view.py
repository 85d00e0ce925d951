# SPDX-License-Identifier: BSD-3-Clause
"""Live plots as a picture in a window: the whole figure is drawn when its scales change, its lines ten times a second.

Drawing axes, ticks and words takes Matplotlib twenty times as long as drawing the lines, so what is behind the lines is
kept as a picture, and the time axis moves on in steps.
"""

from __future__ import annotations

import math
import tkinter as tk
from collections.abc import Sequence
from tkinter import ttk
from typing import Any

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from PIL import Image, ImageTk

from linklab.plots import style
from linklab.plots.live_panels import LiveAxes, LiveDrawn, draw_live, top_of
from linklab.viewer.colours import dress
from linklab.windows.theme import Look

DOTS = 96
STEPS = 10
"""Of the time that is shown, the time axis moves on by so many parts."""
ROUND = (1.0, 1.5, 2.0, 3.0, 5.0, 7.5, 10.0)
KEEP = 0.45
"""A vertical axis shrinks when what is drawn needs less than this part of it."""


def round_top(value: float) -> float:
    """The next round number above a value; 1 for nothing."""
    if value <= 0:
        return 1.0
    unit = 10.0 ** math.floor(math.log10(value))
    return next(unit * step for step in ROUND if unit * step >= value * 0.999999)


class LiveView(ttk.Frame):
    """The figure; `show` is called whenever something may be new."""

    def __init__(self, master: tk.Misc, look: Look) -> None:
        super().__init__(master, name="live")
        self.look = look
        self.figure = Figure(dpi=DOTS * look.scale)
        self.canvas = FigureCanvasAgg(self.figure)
        self.widget = tk.Canvas(self, name="figure", takefocus=True, highlightthickness=look.px(1), borderwidth=0)
        self.widget.pack(fill="both", expand=True)
        self.drawn: dict[str, LiveDrawn] = {}
        self.whole = 0
        """How often everything was drawn."""
        self._picture: ImageTk.PhotoImage | None = None
        self._behind: Any = None
        self._like: object = None
        self._tops: dict[str, float] = {}
        self._size = (0, 0)
        self.widget.bind("<Configure>", self._resized)
        self.restyle()

    def restyle(self) -> None:
        """Take the theme."""
        p = self.look.palette
        self.widget.configure(background=p.canvas, highlightbackground=p.canvas, highlightcolor=p.accent)
        self._like = None

    def _resized(self, event: tk.Event[tk.Misc]) -> None:
        if (event.width, event.height) != self._size and min(event.width, event.height) > 1:
            self._size = (event.width, event.height)
            dots = DOTS * self.look.scale
            self.figure.set_size_inches(event.width / dots, event.height / dots)
            self._like = None

    def show(self, panels: dict[str, LiveAxes], from_s: float, to_s: float, cursor_s: float | None = None) -> None:
        """Draw the panels between two network times, with a line at one of them."""
        if self._size == (0, 0):
            return
        step_s = (to_s - from_s) / STEPS
        last_s = math.ceil(to_s / step_s - 1e-9) * step_s
        first_s = last_s - (to_s - from_s) - step_s
        for name, panel in panels.items():
            needs, kept = round_top(1.05 * top_of(panel, first_s, last_s)), self._tops.get(name, 0.0)
            if needs > kept or needs < KEEP * kept:
                self._tops[name] = needs
        like = (
            [(name, [line.label for line in panel.lines], panel.levels) for name, panel in panels.items()],
            [self._tops[name] for name in panels],
            (first_s, last_s, cursor_s, self._size),
        )
        with style.context():
            if like != self._like:
                self._like = like
                self._draw_all(panels, first_s, last_s, cursor_s)
            self._draw_lines(panels)
        self._put()

    def _draw_all(self, panels: dict[str, LiveAxes], first_s: float, last_s: float, cursor_s: float | None) -> None:
        self.whole += 1
        self.figure.clear()
        self.figure.set_layout_engine("constrained")
        drawn: Sequence[LiveDrawn] = ()
        if panels:
            drawn = draw_live(
                self.figure, list(panels.values()), first_s, last_s, [self._tops[name] for name in panels]
            )
        else:
            self.figure.text(0.5, 0.5, self.look.say("Nothing moves yet."), ha="center", va="center")
        self.drawn = dict(zip(panels, drawn, strict=True))
        if cursor_s is not None:
            for each in drawn:
                each.axes.axvline(cursor_s, color=self.look.palette.accent, linewidth=1)
        dress(self.figure, self.look)
        for each in drawn:
            for line in each.lines:
                line.set_animated(True)
        self.canvas.draw()
        self._behind = self.canvas.copy_from_bbox(self.figure.bbox)

    def _draw_lines(self, panels: dict[str, LiveAxes]) -> None:
        self.canvas.restore_region(self._behind)
        for name, drawn in self.drawn.items():
            for artist, line in zip(drawn.lines, panels[name].lines, strict=True):
                artist.set_data(line.time_s, line.value / drawn.scale)
                drawn.axes.draw_artist(artist)

    def _put(self) -> None:
        picture = Image.frombuffer("RGBA", self.canvas.get_width_height(), self.canvas.buffer_rgba())
        if self._picture is None or (self._picture.width(), self._picture.height()) != picture.size:
            self._picture = ImageTk.PhotoImage(picture, master=self)
            self.widget.delete("figure")
            self.widget.create_image(0, 0, image=self._picture, anchor="nw", tags="figure")
        else:
            self._picture.paste(picture)

    def time_at(self, x: int) -> float | None:
        """The network time below a pixel of the widget; None beside the axes."""
        for drawn in self.drawn.values():
            left, right = drawn.axes.bbox.x0, drawn.axes.bbox.x1
            if left <= x <= right:
                first_s, last_s = drawn.axes.get_xlim()
                return float(first_s + (last_s - first_s) * (x - left) / (right - left))
        return None
