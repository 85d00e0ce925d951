# SPDX-License-Identifier: BSD-3-Clause
"""Our own icons, drawn at any size and in any colour: nodes for the canvas, tools for the bar.

Each is a few shapes on a field of 24 × 24 units, painted four times as large and brought down for smooth edges. Needs
Pillow, which comes with matplotlib's part for tkinter.
"""

from __future__ import annotations

import tkinter as tk
from collections.abc import Callable

from PIL import Image, ImageDraw, ImageTk

UNITS = 24
OVERSAMPLING = 4


class Pen:
    """Draws in units of the field."""

    def __init__(self, draw: ImageDraw.ImageDraw, unit: float, ink: str, paper: str) -> None:
        self.draw, self.unit, self.ink, self.paper = draw, unit, ink, paper

    def box(
        self, x0: float, y0: float, x1: float, y1: float, radius: float = 2, *, fill: str | None = "", line: float = 1.6
    ) -> None:
        """A rounded rectangle; fill "" is the paper's colour, None is open."""
        self.draw.rounded_rectangle(
            self._scale(x0, y0, x1, y1),
            radius * self.unit,
            fill=self.paper if fill == "" else fill,
            outline=self.ink,
            width=max(1, round(line * self.unit)),
        )

    def circle(self, x: float, y: float, r: float, *, fill: str | None = "", line: float = 1.6) -> None:
        """A circle, as `box`."""
        self.draw.ellipse(
            self._scale(x - r, y - r, x + r, y + r),
            fill=self.paper if fill == "" else fill,
            outline=self.ink,
            width=max(1, round(line * self.unit)),
        )

    def line(self, *points: float, width: float = 1.6, ink: str | None = None) -> None:
        """A line through points with round ends."""
        at = self._scale(*points)
        thick = max(1, round(width * self.unit))
        self.draw.line(at, fill=ink or self.ink, width=thick, joint="curve")
        for i in (0, len(at) - 2):
            r = thick / 2
            self.draw.ellipse((at[i] - r, at[i + 1] - r, at[i] + r, at[i + 1] + r), fill=ink or self.ink)

    def shape(self, *points: float) -> None:
        """A filled polygon."""
        self.draw.polygon(self._scale(*points), fill=self.ink)

    def arrow(self, x0: float, y0: float, x1: float, y1: float, head: float = 2.2) -> None:
        """A line with a head at its second end, along an axis."""
        self.line(x0, y0, x1, y1)
        if y0 == y1:
            back = head if x1 < x0 else -head
            self.line(x1 + back, y1 - head, x1, y1, x1 + back, y1 + head)
        else:
            back = head if y1 < y0 else -head
            self.line(x1 - head, y1 + back, x1, y1, x1 + head, y1 + back)

    def _scale(self, *values: float) -> list[float]:
        return [value * self.unit for value in values]


def _select(pen: Pen) -> None:
    pen.shape(6, 3, 6, 19, 10.2, 15.2, 12.8, 21, 15.4, 19.8, 12.9, 14.2, 18.5, 13.8)


def _host(pen: Pen) -> None:
    pen.box(2.5, 3.5, 21.5, 16.5)
    pen.line(9, 20.5, 15, 20.5)
    pen.line(12, 16.5, 12, 20.5)


def _switch(pen: Pen) -> None:
    pen.box(1.5, 5.5, 22.5, 18.5, 3)
    pen.arrow(12, 9.7, 18.5, 9.7)
    pen.arrow(12, 14.3, 5.5, 14.3)


def _openflow(pen: Pen) -> None:
    _switch(pen)
    pen.circle(6.5, 9.7, 1, fill=pen.ink, line=0.5)
    pen.circle(17.5, 14.3, 1, fill=pen.ink, line=0.5)


def _router(pen: Pen) -> None:
    pen.circle(12, 12, 10)
    for x0, y0, x1, y1 in ((12, 9.5, 12, 4.8), (12, 14.5, 12, 19.2), (4.8, 12, 9.5, 12), (19.2, 12, 14.5, 12)):
        pen.arrow(x0, y0, x1, y1, 1.7)


def _link(pen: Pen) -> None:
    pen.line(6, 18, 18, 6, width=2)
    pen.circle(5, 19, 3)
    pen.circle(19, 5, 3)


def _controller(pen: Pen) -> None:
    pen.box(3, 2.5, 21, 9.5)
    pen.circle(7, 6, 1.1, fill=pen.ink)
    pen.line(11, 6, 17, 6)
    pen.line(12, 9.5, 12, 14)
    pen.line(5, 18, 5, 14, 19, 14, 19, 18)
    for x in (5, 12, 19):
        pen.circle(x, 19, 2)
    pen.line(12, 14, 12, 17)


def _run(pen: Pen) -> None:
    pen.shape(7, 4, 7, 20, 20, 12)


def _stop(pen: Pen) -> None:
    pen.box(5.5, 5.5, 18.5, 18.5, 2, fill=pen.ink)


def _pause(pen: Pen) -> None:
    pen.box(6, 5, 10, 19, 1, fill=pen.ink)
    pen.box(14, 5, 18, 19, 1, fill=pen.ink)


def _step(pen: Pen) -> None:
    pen.box(5, 5, 8.4, 19, 1, fill=pen.ink)
    pen.shape(11, 5, 11, 19, 20, 12)


def _forward(pen: Pen) -> None:
    pen.shape(4, 5, 4, 19, 12, 12)
    pen.shape(12, 5, 12, 19, 20, 12)


def _fit(pen: Pen) -> None:
    for x, y, dx, dy in ((4, 4, 5, 5), (20, 4, -5, 5), (4, 20, 5, -5), (20, 20, -5, -5)):
        pen.line(x + dx, y, x, y, x, y + dy, width=1.8)


def _unticked(pen: Pen) -> None:
    pen.box(3, 3, 19, 19, 4)


def _ticked(pen: Pen) -> None:
    pen.box(3, 3, 19, 19, 4, fill=pen.ink)
    pen.line(6.5, 11.5, 9.8, 14.8, 15.6, 7.6, width=2.2, ink=pen.paper)


def _app(pen: Pen) -> None:
    pen.box(1, 1, 23, 23, 5, fill=pen.ink)
    pen.line(7, 16.5, 12, 8, 17, 16.5, width=1.8, ink=pen.paper)
    for x, y in ((7, 16.5), (12, 8), (17, 16.5)):
        pen.circle(x, y, 2.4, fill=pen.paper, line=0.5)


def _chart(pen: Pen) -> None:
    pen.box(1, 1, 23, 23, 5, fill=pen.ink)
    pen.line(6, 6, 6, 18, 18, 18, width=1.6, ink=pen.paper)
    pen.line(8.5, 14.5, 12, 9.5, 14.5, 12, 18, 6.5, width=2, ink=pen.paper)


def _on(pen: Pen) -> None:
    pen.line(9, 5, 16, 12, 9, 19, width=2)


def _back(pen: Pen) -> None:
    pen.line(15, 5, 8, 12, 15, 19, width=2)


def _save(pen: Pen) -> None:
    pen.line(12, 4, 12, 15, width=1.8)
    pen.line(7.5, 10.5, 12, 15, 16.5, 10.5, width=1.8)
    pen.line(4, 16, 4, 20, 20, 20, 20, 16, width=1.8)


def _options(pen: Pen) -> None:
    for y, x in ((6, 15), (12, 8), (18, 13)):
        pen.line(3.5, y, 20.5, y)
        pen.circle(x, y, 2.4)


def _flip(pen: Pen) -> None:
    pen.arrow(4, 8, 20, 8, 3)
    pen.arrow(20, 16, 4, 16, 3)


DRAWN: dict[str, Callable[[Pen], None]] = {
    "select": _select,
    "host": _host,
    "switch": _openflow,
    "legacySwitch": _switch,
    "legacyRouter": _router,
    "link": _link,
    "controller": _controller,
    "run": _run,
    "stop": _stop,
    "pause": _pause,
    "step": _step,
    "forward": _forward,
    "fit": _fit,
    "unticked": _unticked,
    "ticked": _ticked,
    "app": _app,
    "chart": _chart,
    "on": _on,
    "back": _back,
    "save": _save,
    "options": _options,
    "flip": _flip,
}


class Icons:
    """Painted icons by name, size and colours; each is painted once."""

    def __init__(self, master: tk.Misc) -> None:
        self._master = master
        self._painted: dict[tuple[str, int, str, str, str], ImageTk.PhotoImage] = {}

    def get(self, name: str, size: int, ink: str, paper: str, ring: str = "") -> ImageTk.PhotoImage:
        """An icon of `size` pixels; `ring` is the colour of a frame around it, for a state."""
        key = (name, size, ink, paper, ring)
        if key not in self._painted:
            self._painted[key] = ImageTk.PhotoImage(paint(name, size, ink, paper, ring), master=self._master)
        return self._painted[key]


def paint(name: str, size: int, ink: str, paper: str, ring: str = "") -> Image.Image:
    """The icon as an image with a transparent ground."""
    large = size * OVERSAMPLING
    clear = ink + "00" if len(ink) == 7 else ink
    image = Image.new("RGBA", (large, large), clear)
    draw = ImageDraw.Draw(image)
    if ring:
        draw.rounded_rectangle((0, 0, large - 1, large - 1), large / 5, outline=ring, width=max(2, large // 16))
        inner = Image.new("RGBA", (large, large), clear)
        DRAWN[name](Pen(ImageDraw.Draw(inner), large / UNITS, ink, paper))
        small = inner.resize((round(large * 0.78),) * 2, Image.Resampling.LANCZOS)
        image.alpha_composite(small, ((large - small.width) // 2,) * 2)
    else:
        DRAWN[name](Pen(draw, large / UNITS, ink, paper))
    return image.resize((size, size), Image.Resampling.LANCZOS)
