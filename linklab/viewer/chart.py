# SPDX-License-Identifier: BSD-3-Clause
"""The plot in the window: a figure that is zoomed and moved by mouse and keys, and says the values under the pointer.

`figure_view` draws it and lays it out. What lies over it while the mouse moves (the mark of a point, the frame of a
zoom) are shapes of the canvas, so the figure is drawn only when it changes.
"""

from __future__ import annotations

import tkinter as tk
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from matplotlib.colors import to_hex
from matplotlib.lines import Line2D

from linklab.plots import style
from linklab.viewer import hover
from linklab.viewer.figure_view import FigureView
from linklab.viewer.scale import Free, free, moved, take, zoomed
from linklab.windows.theme import Look

STEP = 0.8
"""A step of zooming in shows this much of what was seen."""
PAN = 0.1
LEAST_DRAG = 6
SHIFT, CONTROL = 0x1, 0x4
MARK = "mark"


@dataclass
class ChartNews:
    """What the chart tells the window: the values under the pointer, and that what is seen has changed."""

    values: Callable[[str], None]
    zoomed: Callable[[], None] = field(default=lambda: None)


class Chart(FigureView):
    """One figure that is zoomed, moved and read."""

    def __init__(self, master: tk.Misc, look: Look, told: ChartNews) -> None:
        self._told = told
        self._here: hover.NearestPoint | None = None
        self._drag: _Drag | None = None
        super().__init__(master, look)
        self._bind()

    def _bind(self) -> None:
        widget = self.widget
        # the keys of the window come first: "Ctrl+Down" is "Down" for Tk as well
        widget.bindtags((str(widget.winfo_toplevel()), str(widget), "Canvas", "all"))
        widget.bind("<Motion>", self._pointed)
        widget.bind("<Leave>", lambda _: self.forget_point())
        for button in (1, 2):
            widget.bind(f"<Button-{button}>", self._pressed)
            widget.bind(f"<B{button}-Motion>", self._dragged)
            widget.bind(f"<ButtonRelease-{button}>", self._released)
        widget.bind("<Double-Button-1>", lambda _: self.whole())
        for event, steps in (("<Button-4>", 1), ("<Button-5>", -1)):
            widget.bind(event, lambda e, s=steps: self._wheel(e, s))  # type: ignore[misc]
        for key, (dx, dy) in {"Left": (-1, 0), "Right": (1, 0), "Up": (0, 1), "Down": (0, -1)}.items():
            widget.bind(f"<{key}>", lambda _, x=dx, y=dy: self._read(x, -y))  # type: ignore[misc]
            widget.bind(f"<Shift-{key}>", lambda _, x=dx, y=dy: self.pan(x * PAN, y * PAN))  # type: ignore[misc]
        widget.bind("<FocusOut>", lambda _: self.forget_point())

    # --- zooming and moving

    def zoom(self, factor: float, *, x: bool = True, y: bool = True, place: tuple[float, float] | None = None) -> None:
        """Show `factor` times as much, around a place in pixels of the figure, or the middle of each pair of axes."""
        for one in self._free_at(place):
            across, up = one.axes.transAxes.inverted().transform(place) if place is not None else (0.5, 0.5)
            one.change(lambda axis, at: zoomed(axis.limits, factor, at, log=axis.log), (across, up), x=x, y=y)
        self._changed()

    def pan(self, x: float, y: float) -> str:
        """Move the axes by these shares of what they show."""
        for one in self._free_at(None):
            one.change(lambda axis, share: moved(axis.limits, share, log=axis.log), (x, y))
        self._changed()
        return "break"

    def whole(self) -> None:
        """Show the whole plot again."""
        take(self.figure, self._home)
        self._changed()

    def _changed(self) -> None:
        self.forget_point()
        with style.context():
            self._put()
        self._told.zoomed()

    def _free_at(self, place: tuple[float, float] | None) -> list[Free]:
        """The axes at a place, or all, each with what of it has to be set."""
        seen = [axes for axes in self.figure.axes if axes.axison]
        return free([axes for axes in seen if place is None or axes.bbox.contains(*place)])

    def _wheel(self, event: tk.Event[tk.Misc], steps: int) -> str:
        state = int(event.state)
        factor = STEP if steps > 0 else 1 / STEP
        self.zoom(factor, x=not state & CONTROL, y=not state & SHIFT, place=self._pixels(event))
        return "break"

    def _pixels(self, event: tk.Event[tk.Misc]) -> tuple[float, float]:
        """Where the pointer is, in pixels from the figure's lower left corner."""
        return float(event.x), float(self._size[1] - event.y)

    # --- dragging

    def _pressed(self, event: tk.Event[tk.Misc]) -> None:
        self.widget.focus_set()
        self.forget_point()
        found = self._free_at(self._pixels(event))
        if found:
            moves = event.num == 2 or bool(int(event.state) & SHIFT)
            self._drag = _Drag(moves, (event.x, event.y), found)

    def _dragged(self, event: tk.Event[tk.Misc]) -> None:
        drag = self._drag
        if drag is None:
            return
        if drag.moves:
            for one in drag.axes:
                box = one.axes.bbox
                by = ((drag.start[0] - event.x) / box.width, (event.y - drag.start[1]) / box.height)
                one.change(lambda axis, share: moved(axis.limits, share, log=axis.log), by)
            self._put_late()
            return
        self.widget.delete(MARK)
        look: dict[str, Any] = {"outline": self.look.palette.accent, "width": self.look.px(1), "dash": (4, 3)}
        self.widget.create_rectangle(*drag.start, event.x, event.y, **look, tags=MARK)

    def _released(self, event: tk.Event[tk.Misc]) -> None:
        drag, self._drag = self._drag, None
        self.widget.delete(MARK)
        if drag is None:
            return
        if not drag.moves and not self._frame(drag, event.x, event.y):
            return
        self._changed()

    def _frame(self, drag: _Drag, x: int, y: int) -> bool:
        """Zoom to the frame that was drawn; a very flat or narrow frame changes only one axis."""
        left, right = sorted((drag.start[0], x))
        top, bottom = sorted((drag.start[1], y))
        wide, high = (far - near >= self.look.px(LEAST_DRAG) for near, far in ((left, right), (top, bottom)))
        for one in drag.axes:
            back = one.axes.transData.inverted()
            low, far = back.transform((left, self._size[1] - bottom)), back.transform((right, self._size[1] - top))
            one.set((low[0], far[0]) if wide else None, (low[1], far[1]) if high else None)
        return wide or high

    # --- values

    def _pointed(self, event: tk.Event[tk.Misc]) -> None:
        if self._drag is None:
            x, y = self._pixels(event)
            self._tell(hover.nearest(self.figure, x, y, self.names, self.look.px(hover.WITHIN)))

    def _read(self, along: int, other: int) -> str:
        """The next point of the series, or of another one, from the point that was read last."""
        lines = hover.shown_lines(self.figure)
        if not lines:
            return "break"
        here = self._here
        if here is None or here.artist not in lines:
            points = hover.seen_points(lines[0])
            self._tell(hover.point_of(lines[0], int(points[0]), self.names) if points.size else None)
            return "break"
        if other:
            line = lines[(lines.index(here.artist) + other) % len(lines)]
            points = hover.seen_points(line)
            if points.size:
                xs, old = hover.data_of(line)[0][points], hover.data_of(here.artist)[0][here.at]
                at = int(points[abs(xs - old).argmin()])
                self._tell(hover.point_of(line, at, self.names))
        else:
            self._tell(hover.point_of(here.artist, hover.step(here.artist, here.at, along), self.names))
        return "break"

    def _tell(self, found: hover.NearestPoint | None) -> None:
        """Mark a point and say its values."""
        if found is None:
            self.forget_point()
            return
        self._here = found
        p, r = self.look.palette, self.look.px(5)
        x, y = found.place[0], self._size[1] - found.place[1]
        self.widget.delete(MARK)
        points = _outline(found.artist, self._size[1])
        if len(points) >= 4:
            self.widget.create_line(*points, fill=_colour(found.artist), width=self.look.px(3), tags=MARK)
        self.widget.create_oval(x - r, y - r, x + r, y + r, outline=p.ink, width=self.look.px(2), tags=MARK)
        self._told.values(found.words)

    def forget_point(self) -> None:
        """Take away the mark of the point that was read last."""
        if self._here is not None:
            self._here = None
            self.widget.delete(MARK)
            self._told.values("")


@dataclass(frozen=True)
class _Drag:
    """A drag of the mouse, which moves the axes or draws a frame to zoom to."""

    moves: bool
    start: tuple[int, int]
    axes: list[Free]


def _outline(artist: Any, high: int) -> list[float]:
    """The points of a line on the canvas, within its axes; empty for other artists and for lines with gaps."""
    if not isinstance(artist, Line2D) or artist.get_linestyle() == "None" or artist.get_drawstyle() != "default":
        return []
    places = artist.get_transform().transform(np.column_stack(hover.data_of(artist)))
    box = artist.axes.bbox
    places = places[(places[:, 0] >= box.x0) & (places[:, 0] <= box.x1)]
    if np.isnan(places).any():
        return []
    places[:, 1] = high - np.clip(places[:, 1], box.y0, box.y1)
    found: list[float] = places.ravel().tolist()
    return found


def _colour(artist: Any) -> str:
    return str(to_hex(artist.get_color()))
