# SPDX-License-Identifier: BSD-3-Clause
"""Shapes (`shapes`) → items of a canvas, in the fonts and colours of the window."""

from __future__ import annotations

import tkinter as tk
from collections.abc import Iterable
from pathlib import Path
from tkinter import font as tkfont
from typing import Any

from PIL import Image, ImageTk

from linklab.editor import backdrop, lettering
from linklab.editor.shapes import (
    POINTS,
    BoxShape,
    IconShape,
    LineShape,
    OvalShape,
    PictureShape,
    Shape,
    TextShape,
    points,
)
from linklab.windows.icons import paint
from linklab.windows.theme import Look

OPAQUE_FROM = 64
"""Of 255: where an icon is at least so opaque, it is drawn over the canvas's colour and covers."""
MOST_SIDE = 4000


class Painter:
    """Draws on one canvas."""

    def __init__(self, canvas: tk.Canvas) -> None:
        self.canvas, self._window = canvas, str(canvas)
        self.folder = Path()
        self.zoom = 0.0
        """Of the fonts, 0 before there are any."""
        self._look: Look | None = None
        self._fonts: dict[str, tkfont.Font] = {}
        self._widths: dict[tuple[str, str], int] = {}
        self._glyphs: dict[tuple[object, ...], ImageTk.PhotoImage] = {}
        self._background: tuple[object, ImageTk.PhotoImage] | None = None
        self._ratios: dict[str, float] = {}
        """By font, how much larger than at a zoom of 1; empty where the window's letters are not those of pictures."""
        self.heights: dict[str, float] = {}

    def dress(self, look: Look, zoom: float) -> None:
        """Take a theme and a zoom."""
        self._look, self.zoom = look, zoom
        self._fonts = {
            name: tkfont.Font(
                self.canvas, family=look.family, size=points(name, zoom), weight="bold" if name == "name" else "normal"
            )
            for name in POINTS
        }
        self.canvas.delete("ruler")
        for font in self._fonts.values():
            # A font that nothing uses is opened and closed anew for each text that is measured, which takes 3 ms.
            self.canvas.create_text(0, 0, text="", font=font, state="hidden", tags="ruler")
        self._widths = {}
        self._ratios = {}
        if look.family == lettering.TK_FAMILY:
            self._ratios = {name: points(name, zoom) / POINTS[name] * look.scale for name in POINTS}
            self.heights = {name: high * self._ratios[name] for name, high in lettering.metrics()[1].items()}
        else:
            self.heights = {name: float(font.metrics("linespace")) for name, font in self._fonts.items()}

    def font(self, name: str) -> str:
        """What Tk calls a font."""
        return self._fonts[name].name

    def measure(self, font: str, text: str) -> float:
        """Width of a text: as pictures have it, or Tk's own if the window's letters are others.

        Letter by letter, because Tk knows no kerning, and asking it for 12,000 labels took 17 s.
        """
        if self._ratios:
            return lettering.width(font, text) * self._ratios[font]
        for letter in set(text):
            if (font, letter) not in self._widths:
                self._widths[font, letter] = self._fonts[font].measure(letter)
        return float(max(sum(self._widths[font, letter] for letter in line) for line in text.split("\n")))

    def draw(self, shapes: Iterable[Shape]) -> tuple[int, ...]:
        """Draw them; the items, in the same order."""
        return tuple(self._item(shape) for shape in shapes)

    def _item(self, shape: Shape) -> int:
        look: tuple[Any, ...]
        match shape:
            case LineShape():
                look = ("-fill", self._colour(shape.colour), "-joinstyle", "round")
                return self._create("line", shape.path, shape, *look, "-width", shape.width, "-dash", shape.dash)
            case BoxShape():
                look = (*self._ground(shape), "-dash", shape.dash)
                return self._create("rectangle", (shape.x0, shape.y0, shape.x1, shape.y1), shape, *look)
            case OvalShape():
                return self._create("oval", (shape.x0, shape.y0, shape.x1, shape.y1), shape, *self._ground(shape))
            case TextShape():
                look = ("-text", shape.text, "-font", self.font(shape.font), "-fill", self._colour(shape.colour))
                anchor = "nw" if shape.corner else "center"
                look = (*look, "-anchor", anchor, "-justify", "left" if shape.corner else "center")
                return self._create("text", (shape.x, shape.y), shape, *look)
            case IconShape():
                return self._create("image", (shape.x, shape.y), shape, "-image", str(self._glyph(shape)))
            case PictureShape():
                return self._picture(shape)

    def _create(self, kind: str, at: tuple[float, ...], shape: Shape, *look: Any) -> int:
        """Create an item; tkinter's own wrapper takes three times as long."""
        made = self.canvas.tk.call(self._window, "create", kind, *at, *look, "-tags", tuple(shape.tag.split()))
        return int(made)

    def _ground(self, shape: BoxShape | OvalShape) -> tuple[Any, ...]:
        return "-fill", self._colour(shape.fill), "-outline", self._colour(shape.edge), "-width", shape.width

    def _colour(self, name: str) -> str:
        assert self._look is not None
        return getattr(self._look.palette, name) if name else ""

    def _glyph(self, shape: IconShape) -> ImageTk.PhotoImage:
        """The icon, either opaque or clear at each pixel.

        Tk draws an image with half-clear pixels by asking the display for what is below it, each time anew; without
        them dragging is twice as fast.
        """
        colours = [self._colour(name) for name in (shape.colour, "panel", "canvas")]
        key = (shape.name, shape.size, *colours)
        if key not in self._glyphs:
            image = paint(shape.name, shape.size, *colours[:2])
            ground = Image.new("RGBA", image.size, colours[2])
            ground.alpha_composite(image)
            ground.putalpha(image.getchannel("A").point(lambda value: 255 if value >= OPAQUE_FROM else 0))
            self._glyphs[key] = ImageTk.PhotoImage(ground, master=self.canvas)
        return self._glyphs[key]

    def _picture(self, shape: PictureShape) -> int:
        image = backdrop.picture(self.folder, shape.file, shape.scale, shape.opacity, MOST_SIDE)
        if image is None:
            wide, high = (side * shape.scale for side in backdrop.NO_SIZE)
            box = (shape.x, shape.y, shape.x + wide, shape.y + high)
            return self._create("rectangle", box, shape, "-outline", self._colour("faint"), "-dash", (3, 5))
        key = (shape.file, image.size, shape.opacity, self._colour("canvas"), id(image))
        if self._background is None or self._background[0] != key:
            ground = Image.new("RGBA", image.size, self._colour("canvas"))
            ground.alpha_composite(image)
            self._background = (key, ImageTk.PhotoImage(ground.convert("RGB"), master=self.canvas))
        return self._create("image", (shape.x, shape.y), shape, "-image", str(self._background[1]), "-anchor", "nw")
