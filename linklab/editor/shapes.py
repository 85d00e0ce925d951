# SPDX-License-Identifier: BSD-3-Clause
"""What a drawing is made of: lines, boxes, texts, icons, pictures, in pixels, y down; plain data.

`scene` makes them; the canvas, `vector` and `raster` draw them. A colour is the name of one of the palette's, "" is
none, so that one scene serves both themes. `tag` says what a shape is part of.
"""

from __future__ import annotations

from dataclasses import dataclass

from linklab.editor.lanes import Path


@dataclass(frozen=True)
class LineShape:
    """A line through points."""

    path: Path
    colour: str
    width: float
    dash: tuple[int, ...] = ()
    tag: str = "link"


@dataclass(frozen=True)
class BoxShape:
    """A rectangle."""

    x0: float
    y0: float
    x1: float
    y1: float
    fill: str = ""
    edge: str = ""
    width: float = 1.0
    dash: tuple[int, ...] = ()
    tag: str = ""


@dataclass(frozen=True)
class OvalShape:
    """A circle or an ellipse in a rectangle."""

    x0: float
    y0: float
    x1: float
    y1: float
    fill: str = ""
    edge: str = ""
    width: float = 1.0
    tag: str = ""


@dataclass(frozen=True)
class TextShape:
    """A text of one or more lines by its middle, or by its left upper corner; font: "name", "note" or "port"."""

    x: float
    y: float
    text: str
    font: str
    colour: str
    corner: bool = False
    tag: str = "label"


@dataclass(frozen=True)
class IconShape:
    """One of our own icons (`icons.DRAWN`) by its middle."""

    x: float
    y: float
    size: int
    name: str
    colour: str
    tag: str = "icon"


@dataclass(frozen=True)
class PictureShape:
    """A picture of the person's by its left upper corner and a scale; `file` as the topology has it."""

    x: float
    y: float
    file: str
    scale: float
    opacity: float
    tag: str = "background"


Shape = LineShape | BoxShape | OvalShape | TextShape | IconShape | PictureShape

POINTS = {"name": 10.0, "note": 9.0, "port": 9.0}
"""Sizes of the fonts at a zoom of 1; names are bold."""
LEAST_POINTS, MOST_POINTS = 5.0, 40.0
PIXELS_A_POINT = 96 / 72


def points(font: str, zoom: float) -> int:
    """Size of a font at a zoom: text grows as the icons do, and stays large enough to be read."""
    least = LEAST_POINTS + 1 if font == "name" else LEAST_POINTS
    return round(min(MOST_POINTS, max(least, POINTS[font] * zoom)))
