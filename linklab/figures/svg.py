# SPDX-License-Identifier: BSD-3-Clause
"""Small diagrams for the theory of a manual, as SVG text: lines, boxes, curves and labels on a canvas in pixels.

Needs nothing but Python and gives the same bytes everywhere. Colours are given twice: as attributes for a picture
opened alone, and as classes that the page's style.css colours in the dark. There are no ids save those of title and
description, because several pictures stand in one page.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from html import escape

BLUE, VERMILLION, GREEN, PURPLE = "#0072B2", "#D55E00", "#009E73", "#AA4499"
"""Accents that can be told apart by the colour-blind (after Okabe and Ito, 2008) and seen on white and on black."""

_CLASSES = {
    "ink": "#16202a",
    "muted": "#55636f",
    "line": "#66788a",
    "host": "#e3eefc",
    "switch": "#e6f4ea",
    "router": "#fdf0dc",
    "other": "#eeeeee",
}
_EDGE = "#2f4a66"

Point = tuple[float, float]


class Sketch:
    """A canvas; each method adds one thing, in the order of painting.

    A colour is one of BLUE, VERMILLION, GREEN, PURPLE, or a class of the page: "ink" and "muted" for text, "line" for
    lines; "host", "switch", "router" and "other" fill boxes.
    """

    def __init__(self, name: str, width: float, height: float, title: str, description: str) -> None:
        """Begin a picture.

        Args:
            name: of the file, unique among all figures; part of its ids.
            width: pixels; about 560 fills the column of a page.
            height: pixels.
            title: what a screen reader says first.
            description: what the picture shows, for who cannot see it.
        """
        self.width, self.height = width, height
        self._head = (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_n(width)} {_n(height)}" class="topology" '
            f'role="img" style="max-width:{_n(width * 1.15)}px" aria-labelledby="{name}-title {name}-desc">\n'
            f'<title id="{name}-title">{escape(title)}</title>\n<desc id="{name}-desc">{escape(description)}</desc>\n'
            '<g font-family="system-ui, sans-serif" font-size="12">'
        )
        self._parts: list[str] = []

    def text(
        self,
        x: float,
        y: float,
        words: str,
        *,
        colour: str = "ink",
        anchor: str = "middle",
        size: float = 12,
        bold: bool = False,
        turn: float = 0,
    ) -> None:
        """Words whose middle line is at y; `anchor` "start", "middle" or "end" is at x; `turn` in degrees."""
        weight = ' font-weight="600"' if bold else ""
        turned = f' transform="rotate({_n(turn)} {_n(x)} {_n(y)})"' if turn else ""
        self._parts.append(
            f'<text x="{_n(x)}" y="{_n(y + 0.35 * size)}" text-anchor="{anchor}" font-size="{_n(size)}"{weight}'
            f"{_fill(colour)}{turned}>{escape(words)}</text>"
        )

    def line(
        self,
        points: Sequence[Point],
        *,
        colour: str = "line",
        width: float = 1.5,
        dash: str = "",
        arrow: bool = False,
    ) -> None:
        """A line through the points; `dash` as SVG has it ("5 3"); `arrow` puts a head at its end."""
        dashed = f' stroke-dasharray="{dash}"' if dash else ""
        path = " ".join(f"{_n(x)},{_n(y)}" for x, y in points)
        self._parts.append(
            f'<polyline points="{path}" fill="none" stroke-width="{_n(width)}" stroke-linejoin="round"{dashed}'
            f"{_stroke(colour)}/>"
        )
        if arrow:
            self._head_at(points[-2], points[-1], colour, 4.5 + 1.5 * width)

    def box(
        self, x: float, y: float, width: float, height: float, *, fill: str = "other", corner: float = 4, edge: str = ""
    ) -> None:
        """A box by its upper left corner; `fill` "none" leaves it empty, `edge` is the page's edge colour if empty."""
        self._parts.append(
            f'<rect x="{_n(x)}" y="{_n(y)}" width="{_n(width)}" height="{_n(height)}" rx="{_n(corner)}" '
            f'stroke-width="1.5"{_shape(fill, edge)}/>'
        )

    def dot(self, x: float, y: float, radius: float = 4, *, fill: str = "other", edge: str = "") -> None:
        """A circle."""
        self._parts.append(
            f'<circle cx="{_n(x)}" cy="{_n(y)}" r="{_n(radius)}" stroke-width="1.5"{_shape(fill, edge)}/>'
        )

    def axes(self, x: float, y: float, width: float, height: float, *, across: str, up: str) -> None:
        """Two axes with their names; (x, y) is the origin, lower left."""
        self.line([(x, y), (x + width, y)], arrow=True)
        self.line([(x, y), (x, y - height)], arrow=True)
        self.text(x + width, y + 16, across, anchor="end")
        self.text(x - 14, y - height / 2, up, turn=-90)

    def svg(self) -> str:
        """The picture."""
        return "\n".join([self._head, *self._parts, "</g>", "</svg>", ""])

    def _head_at(self, before: Point, tip: Point, colour: str, size: float) -> None:
        angle = math.atan2(tip[1] - before[1], tip[0] - before[0])
        wings = [
            (tip[0] - size * math.cos(angle + turn), tip[1] - size * math.sin(angle + turn)) for turn in (0.42, -0.42)
        ]
        path = " ".join(f"{_n(x)},{_n(y)}" for x, y in [tip, *wings])
        # A page colours the stroke of class "line" and the inside of class "muted".
        fill = _fill("muted" if colour == "line" else colour)
        self._parts.append(f'<polygon points="{path}"{fill}/>')


def scaled(points: Iterable[Point], origin: Point, per_x: float, per_y: float) -> list[Point]:
    """Points of a curve in its own units as points of the canvas, y upwards from `origin`."""
    return [(origin[0] + x * per_x, origin[1] - y * per_y) for x, y in points]


def _n(value: float) -> str:
    """At most one decimal, and none where it would be 0."""
    text = f"{value:.1f}".removesuffix(".0")
    return "0" if text == "-0" else text


def _fill(colour: str) -> str:
    return f' fill="{_CLASSES[colour]}" class="{colour}"' if colour in _CLASSES else f' fill="{colour}"'


def _stroke(colour: str) -> str:
    if colour == "line":
        return f' stroke="{_CLASSES["line"]}" class="line"'
    return f' stroke="{_CLASSES.get(colour, colour)}"'


def _shape(fill: str, edge: str) -> str:
    if fill in _CLASSES and not edge:
        return f' fill="{_CLASSES[fill]}" stroke="{_EDGE}" class="{fill}"'
    return f'{_fill(fill)} stroke="{edge or _EDGE}"'
