# SPDX-License-Identifier: BSD-3-Clause
"""A Matplotlib figure in the window: drawn in its colours, laid out, as large as there is room, and put on the screen.

What a person does with it is `chart`'s.
"""

from __future__ import annotations

import tkinter as tk
from collections.abc import Callable, Sequence
from tkinter import ttk
from typing import Any

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from PIL import Image, ImageTk

from linklab.errors import LinklabError
from linklab.plots import style
from linklab.viewer.colours import dress
from linklab.viewer.scale import AxisLimits, alike, limits_of, take
from linklab.windows.theme import Look

RESIZE_MS = 120
DOTS = 96
ENOUGH_IN = (4.8, 3.0)
"""A smaller figure has smaller letters, down to `SMALLEST` of their size, so that the data have room."""
SMALLEST = 0.6
SETTLE_MS = 300
MOST_PLACES = 200
MOVED = 0.004
"""Of the figure's width or height; axes that would move by less stay."""

Draw = Callable[[Figure], None]


class FigureView(ttk.Frame):
    """One figure on a canvas of tkinter."""

    def __init__(self, master: tk.Misc, look: Look) -> None:
        super().__init__(master, name="plot")
        self.look = look
        self.figure = Figure(dpi=DOTS * look.scale)
        self.canvas = FigureCanvasAgg(self.figure)
        self.widget = tk.Canvas(self, name="figure", takefocus=True, highlightthickness=look.px(1), borderwidth=0)
        self.widget.pack(fill="both", expand=True)
        self._picture: ImageTk.PhotoImage | None = None
        self.names: Sequence[str] = ()
        self._draw: Draw = lambda figure: None
        self._home: tuple[AxisLimits, ...] = ()
        self._waiting = ""
        self._size = (0, 0)
        self._is_late = False
        self._like: object = None
        self._places: dict[tuple[object, ...], list[Any]] = {}
        self._settling = ""
        self.widget.bind("<Configure>", self._resized)
        self.restyle()

    def forget_point(self) -> None:
        """Take away what lies over the figure, since that changes; for the class that derives from it."""

    # --- drawing

    def show(self, draw: Draw, names: Sequence[str], keep: Sequence[AxisLimits] = (), like: object = None) -> bool:
        """Draw another plot, with the limits `keep` if its axes are of the same kind.

        names: of the data sets that are drawn.
        like: what the figure is of; figures of the same have about the same places for their axes.

        Returns:
            Whether the limits of `keep` are those that are seen.
        """
        self._draw, self.names, self._like = draw, names, like
        return self._paint(keep)

    def _paint(self, keep: Sequence[AxisLimits] = ()) -> bool:
        self.forget_point()
        for axes in self.figure.axes:  # what is cleared is made anew first, which costs more than a drawing
            self.figure.delaxes(axes)
        with style.context():
            try:
                self._draw(self.figure)
            except LinklabError as error:
                self._say_why(str(error))
            self._home = limits_of(self.figure)
            kept = bool(keep) and take(self.figure, keep)
            dress(self.figure, self.look)
            self._lay_out()
            self._put()
        return kept

    def _lay_out(self) -> None:
        """Place the axes as in the last figure of this kind, or find their places.

        Finding them takes as long as drawing. Zooming and moving keep the places.
        """
        if self._settling:
            self.after_cancel(self._settling)
            self._settling = ""
        known = self._places.get(self._kind)
        if known is not None and len(known) == len(self.figure.axes):
            self.figure.set_layout_engine("none")
            for axes, place in zip(self.figure.axes, known, strict=True):
                axes.set_position(place)
            self._settling = self.after(SETTLE_MS, self._settle)
        else:
            self._find_places()

    @property
    def _kind(self) -> tuple[object, ...]:
        return (self._like, self._size, self.figure.dpi)

    def _find_places(self) -> list[Any]:
        """Find places where no words are cut off, and remember them."""
        engine = self.figure.get_layout_engine()
        if self._size != (0, 0) and engine is not None and self.figure.axes:
            engine.execute(self.figure)
        self.figure.set_layout_engine("none")
        found = [axes.get_position() for axes in self.figure.axes]
        if len(self._places) > MOST_PLACES:
            self._places.clear()
        self._places[self._kind] = found
        return found

    def _settle(self) -> None:
        """Once nothing else is drawn, see whether the places of the last figure are right for this one."""
        self._settling = ""
        before = [axes.get_position() for axes in self.figure.axes]
        with style.context():
            self.figure.set_layout_engine("constrained")
            after = self._find_places()
            moved_by = [
                abs(np.subtract(one.bounds, other.bounds)).max() for one, other in zip(before, after, strict=True)
            ]
            if max(moved_by, default=0.0) > MOVED:
                self.forget_point()
                self._put()

    def _say_why(self, why: str) -> None:
        self.figure.clear()
        self._like = None
        self.figure.text(0.5, 0.5, why.replace("$", "\\$"), ha="center", va="center", wrap=True, size=9)

    @property
    def limits(self) -> tuple[AxisLimits, ...]:
        """The limits of all axes."""
        return limits_of(self.figure)

    @property
    def is_zoomed(self) -> bool:
        """Whether the axes show another part than at first."""
        return not alike(self.limits, self._home)

    def restyle(self) -> None:
        """Take the theme."""
        p = self.look.palette
        self.widget.configure(background=p.canvas, highlightbackground=p.canvas, highlightcolor=p.accent)
        if self._size != (0, 0):
            self._paint(self.limits if self.is_zoomed else ())

    def _resized(self, event: tk.Event[tk.Misc]) -> None:
        """Draw anew in the new size, once it stays."""
        size = (event.width, event.height)
        if size == self._size or min(size) < 2:
            return
        first, self._size = self._size == (0, 0), size
        if self._waiting:
            self.after_cancel(self._waiting)
        self._waiting = self.after(1 if first else RESIZE_MS, self._fit)

    def _fit(self) -> None:
        self._waiting = ""
        wide, high = self._size
        keep = self.limits if self.is_zoomed else ()
        full = DOTS * self.look.scale
        dots = full * max(SMALLEST, min(1.0, wide / (ENOUGH_IN[0] * full), high / (ENOUGH_IN[1] * full)))
        self.figure.dpi = dots
        self.figure.set_size_inches(wide / dots, high / dots)
        self._paint(keep)

    def _put(self) -> None:
        """Put the figure, as it is now, on the screen."""
        if self._size == (0, 0):
            return
        self.canvas.draw()
        picture = Image.frombuffer("RGBA", self.canvas.get_width_height(), self.canvas.buffer_rgba())
        if self._picture is None or (self._picture.width(), self._picture.height()) != picture.size:
            self._picture = ImageTk.PhotoImage(picture, master=self)
            self.widget.delete("figure")
            self.widget.create_image(0, 0, image=self._picture, anchor="nw", tags="figure")
            self.widget.tag_lower("figure")
        else:
            self._picture.paste(picture)

    def _put_late(self) -> None:
        """Show the figure when the window is idle, because the mouse moves faster than figures are drawn."""
        if not self._is_late:
            self._is_late = True
            self.after_idle(self._now)

    def _now(self) -> None:
        self._is_late = False
        with style.context():
            self._put()
