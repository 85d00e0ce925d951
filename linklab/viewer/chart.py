# SPDX-License-Identifier: BSD-3-Clause
"""The plot in the window: a Matplotlib figure that is zoomed and moved by mouse and keys, and says the values under it.

What is drawn is told by `show`; what lies over it while the mouse moves (the point, the frame of a zoom) are shapes of
the canvas, so that the figure is drawn only when it changes.
"""

from __future__ import annotations

import tkinter as tk
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from tkinter import ttk
from typing import Any

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from PIL import Image, ImageTk

from linklab.errors import LinklabError
from linklab.plots import style
from linklab.viewer import hover
from linklab.viewer.colours import dress
from linklab.viewer.scale import AxisLimits, Free, alike, free, limits_of, moved, take, zoomed
from linklab.windows.theme import Look

RESIZE_MS = 120
DOTS = 96
ENOUGH_IN = (4.8, 3.0)
"""A smaller figure has smaller letters, down to `SMALLEST` of their size, so that the data have room."""
SMALLEST = 0.6
STEP = 0.8
"""A step of zooming in shows this much of what was seen."""
PAN = 0.1
SETTLE_MS = 300
MOST_PLACES = 200
MOVED = 0.004
"""Of the figure's width or height; axes that would move by less stay."""
LEAST_DRAG = 6
SHIFT, CONTROL = 0x1, 0x4
MARK = "mark"

Draw = Callable[[Figure], None]


@dataclass
class ChartNews:
    """What the chart tells the window: the values under the pointer, and that what is seen has changed."""

    values: Callable[[str], None]
    zoomed: Callable[[], None] = field(default=lambda: None)


class Chart(ttk.Frame):
    """One figure."""

    def __init__(self, master: tk.Misc, look: Look, told: ChartNews) -> None:
        super().__init__(master, name="plot")
        self.look, self._told = look, told
        self.figure = Figure(dpi=DOTS * look.scale)
        self.canvas = FigureCanvasAgg(self.figure)
        self.widget = tk.Canvas(self, name="figure", takefocus=True, highlightthickness=look.px(1), borderwidth=0)
        self.widget.pack(fill="both", expand=True)
        self._picture: ImageTk.PhotoImage | None = None
        self.names: Sequence[str] = ()
        self._draw: Draw = lambda figure: None
        self._home: tuple[AxisLimits, ...] = ()
        self._here: hover.NearestPoint | None = None
        self._drag: _Drag | None = None
        self._waiting = ""
        self._size = (0, 0)
        self._is_late = False
        self._like: object = None
        self._places: dict[tuple[object, ...], list[Any]] = {}
        self._settling = ""
        self._bind()
        self.restyle()

    def _bind(self) -> None:
        widget = self.widget
        # the keys of the window come first: "Ctrl+Down" is "Down" for Tk as well
        widget.bindtags((str(widget.winfo_toplevel()), str(widget), "Canvas", "all"))
        widget.bind("<Configure>", self._resized)
        widget.bind("<Motion>", self._pointed)
        widget.bind("<Leave>", lambda _: self._leave())
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
        widget.bind("<FocusOut>", lambda _: self._leave())

    # --- drawing

    def show(self, draw: Draw, names: Sequence[str], keep: Sequence[AxisLimits] = (), like: object = None) -> bool:
        """Draw something else; what `keep` says is seen of it, where the axes are of the same kind.

        names: of the data sets that are drawn.
        like: what the figure is of; figures of the same have about the same places for their axes.

        Returns:
            Whether the limits of `keep` are those that are seen.
        """
        self._draw, self.names, self._like = draw, names, like
        return self._paint(keep)

    def _paint(self, keep: Sequence[AxisLimits] = ()) -> bool:
        self._leave()
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
        """Give the axes the places that those of the last figure of its kind had, or else find them.

        To find them takes as long as to draw. What is zoomed or moved keeps its places.
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
                self._leave()
                self._put()

    def _say_why(self, why: str) -> None:
        self.figure.clear()
        self._like = None
        self.figure.text(0.5, 0.5, why.replace("$", "\\$"), ha="center", va="center", wrap=True, size=9)

    @property
    def limits(self) -> tuple[AxisLimits, ...]:
        """What is seen."""
        return limits_of(self.figure)

    @property
    def is_zoomed(self) -> bool:
        """Whether something else is seen than at first."""
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

    # --- zooming and moving

    def zoom(self, factor: float, *, x: bool = True, y: bool = True, place: tuple[float, float] | None = None) -> None:
        """Show `factor` times as much, around a place in pixels of the figure, or the middle of each pair of axes."""
        for one in self._free_at(place):
            across, up = one.axes.transAxes.inverted().transform(place) if place is not None else (0.5, 0.5)
            one.change(lambda axis, at: zoomed(axis.limits, factor, at, log=axis.log), (across, up), x=x, y=y)
        self._changed()

    def pan(self, x: float, y: float) -> str:
        """Move what is seen by these shares of it."""
        for one in self._free_at(None):
            one.change(lambda axis, share: moved(axis.limits, share, log=axis.log), (x, y))
        self._changed()
        return "break"

    def whole(self) -> None:
        """Show what was seen at first."""
        take(self.figure, self._home)
        self._changed()

    def _changed(self) -> None:
        self._leave()
        with style.context():
            self._put()
        self._told.zoomed()

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
        """Put it there when the mouse rests for a moment: it moves faster than figures are drawn."""
        if not self._is_late:
            self._is_late = True
            self.after_idle(self._now)

    def _now(self) -> None:
        self._is_late = False
        with style.context():
            self._put()

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
        self._leave()
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
        """Show what is in the frame that was drawn; one that is very flat or narrow changes one axis alone."""
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
            self._leave()
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

    def _leave(self) -> None:
        if self._here is not None:
            self._here = None
            self.widget.delete(MARK)
            self._told.values("")


@dataclass(frozen=True)
class _Drag:
    """What the mouse does while its button is down: move what is seen, or draw a frame around what is wanted."""

    moves: bool
    start: tuple[int, int]
    axes: list[Free]


def _outline(artist: Any, high: int) -> list[float]:
    """A line as points of the canvas, within its axes; nothing for what is no line or has gaps."""
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
