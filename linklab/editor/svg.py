# SPDX-License-Identifier: BSD-3-Clause
"""A scene's shapes → an SVG picture in one file; the only file that it reads is the background.

For web pages, for drawing programs and, through WeasyPrint, for PDF. A title and a description serve those who cannot
see it. SVG 1.1, https://www.w3.org/TR/SVG11/.
"""

from __future__ import annotations

import base64
import io
import re
from collections.abc import Iterable, Sequence
from html import escape
from pathlib import Path

from PIL import ImageDraw

from linklab.editor import backdrop
from linklab.editor.lettering import FAMILY, LINE, MIDDLE, pixels
from linklab.editor.shapes import BoxShape, IconShape, LineShape, OvalShape, PictureShape, Shape, TextShape
from linklab.editor.surface import Rectangle
from linklab.windows.icons import DRAWN, UNITS, Pen
from linklab.windows.palette import Palette

MOST_SIDE = 1600
"""Pixels of the longer side of an embedded picture."""
_NOT_XML = re.compile(r"[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def picture(
    shapes: Iterable[Shape], box: Rectangle, palette: Palette, *, title: str, description: str, folder: Path
) -> str:
    """The picture as the text of a file. folder: what a background's file is relative to."""
    wide, high = box.x1 - box.x0, box.y1 - box.y0
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{_n(wide)}" height="{_n(high)}" '
        f'viewBox="{_n(box.x0)} {_n(box.y0)} {_n(wide)} {_n(high)}" role="img" aria-labelledby="title description">'
    )
    artist = _Artist(palette, folder)
    return "\n".join(
        [
            head,
            f'<title id="title">{_words(title)}</title>',
            f'<desc id="description">{_words(description)}</desc>',
            f'<rect x="{_n(box.x0)}" y="{_n(box.y0)}" width="{_n(wide)}" height="{_n(high)}" fill="{palette.canvas}"/>',
            *(artist.draw(shape) for shape in shapes),
            "</svg>\n",
        ]
    )


class _Artist:
    """Draws in the colours of one palette."""

    def __init__(self, palette: Palette, folder: Path) -> None:
        self.palette, self.folder = palette, folder

    def draw(self, shape: Shape) -> str:
        match shape:
            case LineShape():
                dash = f' stroke-dasharray="{" ".join(map(str, shape.dash))}"' if shape.dash else ""
                spots = " ".join(f"{_n(x)},{_n(y)}" for x, y in zip(shape.path[::2], shape.path[1::2], strict=True))
                look = f'stroke="{self._colour(shape.colour)}" stroke-width="{_n(shape.width)}"{dash}'
                return f'<polyline points="{spots}" fill="none" stroke-linejoin="round" {look}/>'
            case BoxShape():
                at = f'x="{_n(shape.x0)}" y="{_n(shape.y0)}"'
                size = f'width="{_n(shape.x1 - shape.x0)}" height="{_n(shape.y1 - shape.y0)}"'
                dash = f' stroke-dasharray="{" ".join(map(str, shape.dash))}"' if shape.dash else ""
                return f"<rect {at} {size} {self._look(shape)}{dash}/>"
            case OvalShape():
                middle = f'cx="{_n((shape.x0 + shape.x1) / 2)}" cy="{_n((shape.y0 + shape.y1) / 2)}"'
                radii = f'rx="{_n((shape.x1 - shape.x0) / 2)}" ry="{_n((shape.y1 - shape.y0) / 2)}"'
                return f"<ellipse {middle} {radii} {self._look(shape)}/>"
            case TextShape():
                return self._text(shape)
            case IconShape():
                pen = VectorPen(self._colour(shape.colour), self._colour("panel"))
                DRAWN[shape.name](pen)
                unit = shape.size / UNITS
                at = f"{_n(shape.x - shape.size / 2)} {_n(shape.y - shape.size / 2)}"
                return f'<g transform="translate({at}) scale({unit:.4g})">{"".join(pen.parts)}</g>'
            case PictureShape():
                return self._picture(shape)

    def _colour(self, name: str) -> str:
        return getattr(self.palette, name) if name else "none"

    def _look(self, shape: BoxShape | OvalShape) -> str:
        edge = f' stroke="{self._colour(shape.edge)}" stroke-width="{_n(shape.width)}"' if shape.edge else ""
        return f'fill="{self._colour(shape.fill)}"{edge}'

    def _text(self, shape: TextShape) -> str:
        size = pixels(shape.font)
        weight = ' font-weight="bold"' if shape.font == "name" else ""
        anchor = "start" if shape.corner else "middle"
        look = f'font-family="{FAMILY}" font-size="{_n(size)}"{weight} text-anchor="{anchor}"'
        parts = []
        lines = shape.text.split("\n")
        top = shape.y if shape.corner else shape.y - LINE * size * len(lines) / 2
        for i, line in enumerate(lines):
            y = top + (i + 0.5) * LINE * size
            at = f'x="{_n(shape.x)}" y="{_n(y + MIDDLE * size)}"'
            parts.append(f'<text {at} {look} fill="{self._colour(shape.colour)}">{_words(line)}</text>')
        return "".join(parts)

    def _picture(self, shape: PictureShape) -> str:
        image = backdrop.picture(self.folder, shape.file, 1.0, shape.opacity, MOST_SIDE)
        if image is None:
            wide, high = (_n(side * shape.scale) for side in backdrop.NO_SIZE)
            at = f'x="{_n(shape.x)}" y="{_n(shape.y)}" width="{wide}" height="{high}"'
            return f'<rect {at} fill="none" stroke="{self._colour("faint")}" stroke-dasharray="3 5"/>'
        wide, high = (_n(side * shape.scale) for side in backdrop.pixels(self.folder, shape.file))
        memory = io.BytesIO()
        image.save(memory, "PNG")
        data = base64.b64encode(memory.getvalue()).decode()
        at = f'x="{_n(shape.x)}" y="{_n(shape.y)}" width="{wide}" height="{high}"'
        return f'<image {at} href="data:image/png;base64,{data}"/>'


class VectorPen(Pen):
    """Draws an icon as SVG instead of as dots."""

    draw: ImageDraw.ImageDraw

    def __init__(self, ink: str, paper: str) -> None:
        self.unit, self.ink, self.paper = 1.0, ink, paper
        self.parts: list[str] = []

    def box(
        self, x0: float, y0: float, x1: float, y1: float, radius: float = 2, *, fill: str | None = "", line: float = 1.6
    ) -> None:
        """A rounded rectangle; the line lies inside, as Pillow draws it."""
        at = f'x="{_n(x0 + line / 2)}" y="{_n(y0 + line / 2)}" rx="{_n(max(0.0, radius - line / 2))}"'
        size = f'width="{_n(x1 - x0 - line)}" height="{_n(y1 - y0 - line)}"'
        self.parts.append(f"<rect {at} {size} {self._fill(fill)} {self._stroke(line)}/>")

    def circle(self, x: float, y: float, r: float, *, fill: str | None = "", line: float = 1.6) -> None:
        """A circle."""
        at = f'cx="{_n(x)}" cy="{_n(y)}" r="{_n(max(0.1, r - line / 2))}"'
        self.parts.append(f"<circle {at} {self._fill(fill)} {self._stroke(line)}/>")

    def line(self, *points: float, width: float = 1.6, ink: str | None = None) -> None:
        """A line with round ends."""
        look = f'fill="none" stroke="{ink or self.ink}" stroke-width="{_n(width)}"'
        self.parts.append(
            f'<polyline points="{_pairs(points)}" {look} stroke-linecap="round" stroke-linejoin="round"/>'
        )

    def shape(self, *points: float) -> None:
        """A filled polygon."""
        self.parts.append(f'<polygon points="{_pairs(points)}" fill="{self.ink}"/>')

    def _fill(self, fill: str | None) -> str:
        return f'fill="{self.paper if fill == "" else fill or "none"}"'

    def _stroke(self, line: float) -> str:
        return f'stroke="{self.ink}" stroke-width="{_n(line)}"'


def _pairs(points: Sequence[float]) -> str:
    return " ".join(f"{_n(x)},{_n(y)}" for x, y in zip(points[::2], points[1::2], strict=True))


def _n(value: float) -> str:
    """A number as short as a hundredth of a pixel allows."""
    return f"{value:.2f}".rstrip("0").rstrip(".")


def _words(text: str) -> str:
    """Text for XML, without what XML cannot hold."""
    return escape(_NOT_XML.sub("\ufffd", text))
