# SPDX-License-Identifier: BSD-3-Clause
"""A scene's shapes → dots, drawn by Pillow several times as large and brought down for smooth edges; no display."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from pathlib import Path

from PIL import Image, ImageDraw

from linklab.editor import backdrop
from linklab.editor.lettering import LINE, face, pixels
from linklab.editor.shapes import BoxShape, IconShape, LineShape, OvalShape, PictureShape, Shape, TextShape
from linklab.editor.surface import Rectangle
from linklab.windows.icons import paint
from linklab.windows.palette import Palette

OVERSAMPLING = 2
MOST_DOTS = 80_000_000
"""Of the large image; a huge drawing gets fewer dots instead of all the memory."""


def picture(shapes: Iterable[Shape], box: Rectangle, palette: Palette, *, dots: float, folder: Path) -> Image.Image:
    """The picture; dots: for one of the drawing's pixels, fewer where that would be too many."""
    wide, high = max(1.0, box.x1 - box.x0), max(1.0, box.y1 - box.y0)
    factor = min(dots * OVERSAMPLING, math.sqrt(MOST_DOTS / (wide * high)))
    image = Image.new("RGB", (max(1, round(wide * factor)), max(1, round(high * factor))), palette.canvas)
    artist = _Artist(image, box, palette, factor, folder)
    for shape in shapes:
        artist.draw(shape)
    size = (max(1, image.width // OVERSAMPLING), max(1, image.height // OVERSAMPLING))
    return image.resize(size, Image.Resampling.LANCZOS)


class _Artist:
    def __init__(self, image: Image.Image, box: Rectangle, palette: Palette, factor: float, folder: Path) -> None:
        self.image, self.box, self.palette, self.factor, self.folder = image, box, palette, factor, folder
        self.pen = ImageDraw.Draw(image)

    def draw(self, shape: Shape) -> None:
        match shape:
            case LineShape():
                self._line(self._at(*shape.path), shape)
            case BoxShape():
                self._box(shape)
            case OvalShape():
                at = self._at(shape.x0, shape.y0, shape.x1, shape.y1)
                edge = self._colour(shape.edge)
                self.pen.ellipse(at, fill=self._colour(shape.fill), outline=edge, width=self._wide(shape.width))
            case TextShape():
                self._text(shape)
            case IconShape():
                size = max(1, round(shape.size * self.factor))
                icon = paint(shape.name, size, self._colour(shape.colour) or "", self.palette.panel)
                x, y = self._at(shape.x, shape.y)
                self.image.paste(icon, (round(x - size / 2), round(y - size / 2)), icon)
            case PictureShape():
                self._picture(shape)

    def _at(self, *values: float) -> list[float]:
        origin = (self.box.x0, self.box.y0)
        return [(value - origin[i % 2]) * self.factor for i, value in enumerate(values)]

    def _wide(self, width: float) -> int:
        return max(1, round(width * self.factor))

    def _colour(self, name: str) -> str | None:
        return getattr(self.palette, name) if name else None

    def _line(self, at: Sequence[float], shape: LineShape | BoxShape, colour: str = "") -> None:
        ink = self._colour(colour or (shape.colour if isinstance(shape, LineShape) else shape.edge))
        wide = self._wide(shape.width)
        if not shape.dash:
            self.pen.line(list(at), fill=ink, width=wide, joint="curve")
            return
        for i in range(0, len(at) - 2, 2):
            for piece in dashes(at[i : i + 4], [part * self.factor for part in shape.dash]):
                self.pen.line(piece, fill=ink, width=wide)

    def _box(self, shape: BoxShape) -> None:
        x0, y0, x1, y1 = self._at(shape.x0, shape.y0, shape.x1, shape.y1)
        if shape.fill:
            self.pen.rectangle((x0, y0, x1, y1), fill=self._colour(shape.fill))
        if shape.edge:
            self._line((x0, y0, x1, y0, x1, y1, x0, y1, x0, y0), shape)

    def _text(self, shape: TextShape) -> None:
        font = face(shape.font, max(1, round(pixels(shape.font) * self.factor)))
        x, y = self._at(shape.x, shape.y)
        ink = self._colour(shape.colour)
        step = LINE * pixels(shape.font) * self.factor
        lines = shape.text.split("\n")
        top_line = y if shape.corner else y - step * len(lines) / 2
        for i, line in enumerate(lines):
            middle = top_line + (i + 0.5) * step
            wide = font.getlength(line)
            left = x if shape.corner else x - wide / 2
            top, bottom = font.getbbox("Mg")[1::2]
            self.pen.text((left, middle - (top + bottom) / 2), line, fill=ink, font=font)

    def _picture(self, shape: PictureShape) -> None:
        x, y = (round(each) for each in self._at(shape.x, shape.y))
        image = backdrop.picture(self.folder, shape.file, shape.scale * self.factor, shape.opacity)
        if image is not None:
            self.image.paste(image, (x, y), image)
            return
        wide, high = (side * shape.scale for side in backdrop.NO_SIZE)
        self._box(BoxShape(shape.x, shape.y, shape.x + wide, shape.y + high, edge="faint", dash=(3, 5)))


def dashes(segment: Sequence[float], pattern: Sequence[float]) -> list[list[float]]:
    """The drawn pieces of a dashed line; pattern: drawn and left out by turns."""
    x0, y0, x1, y1 = segment
    length = math.hypot(x1 - x0, y1 - y0)
    pieces: list[list[float]] = []
    at, turn = 0.0, 0
    while at < length:
        end = min(length, at + max(1.0, pattern[turn % len(pattern)]))
        if turn % 2 == 0:
            a, b = at / length, end / length
            pieces.append([x0 + (x1 - x0) * a, y0 + (y1 - y0) * a, x0 + (x1 - x0) * b, y0 + (y1 - y0) * b])
        at, turn = end, turn + 1
    return pieces
