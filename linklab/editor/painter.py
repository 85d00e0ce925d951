# SPDX-License-Identifier: BSD-3-Clause
"""Shapes (`shapes`) → items of a canvas, in the fonts and colours of the window."""

from __future__ import annotations

import tkinter as tk
from collections.abc import Iterable
from pathlib import Path
from tkinter import font as tkfont
from typing import Any

from PIL import Image, ImageTk

from linklab.editor import backdrop
from linklab.editor.icons import Icons, paint
from linklab.editor.shapes import POINTS, Box, Glyph, Line, Oval, Picture, Shape, Text, points
from linklab.editor.theme import Look

OPAQUE_FROM = 64
"""Of 255: where an icon is at least so opaque, it is drawn over the canvas's colour and covers."""
MOST_SIDE = 4000


class Painter:
    """Draws on one canvas."""

    def __init__(self, canvas: tk.Canvas, icons: Icons) -> None:
        self.canvas, self.icons = canvas, icons
        self.folder = Path()
        self._look: Look | None = None
        self._fonts: dict[str, tkfont.Font] = {}
        self._widths: dict[tuple[str, str], int] = {}
        self._glyphs: dict[tuple[str, int, str], ImageTk.PhotoImage] = {}
        self._background: tuple[object, ImageTk.PhotoImage] | None = None
        self.heights: dict[str, float] = {}

    def dress(self, look: Look, zoom: float) -> None:
        """Take a theme and a zoom."""
        if look is not self._look:
            self._glyphs = {}
        self._look = look
        self._fonts = {
            name: tkfont.Font(
                self.canvas, family=look.family, size=points(name, zoom), weight="bold" if name == "name" else "normal"
            )
            for name in POINTS
        }
        self.heights = {name: float(font.metrics("linespace")) for name, font in self._fonts.items()}
        self._widths = {}

    def measure(self, font: str, text: str) -> float:
        """Width of a text."""
        if (font, text) not in self._widths:
            self._widths[font, text] = self._fonts[font].measure(text)
        return self._widths[font, text]

    def draw(self, shapes: Iterable[Shape]) -> tuple[int, ...]:
        """Draw them; the items, in the same order."""
        return tuple(self._item(shape) for shape in shapes)

    def _item(self, shape: Shape) -> int:
        canvas, tags = self.canvas, tuple(shape.tag.split())
        match shape:
            case Line():
                ends: Any = shape.path
                return canvas.create_line(
                    *ends,
                    fill=self._colour(shape.colour),
                    width=shape.width,
                    dash=shape.dash,
                    tags=tags,
                    joinstyle="round",
                )
            case Box():
                look: dict[str, Any] = {"fill": self._colour(shape.fill), "outline": self._colour(shape.edge)}
                box = (shape.x0, shape.y0, shape.x1, shape.y1)
                return canvas.create_rectangle(*box, **look, width=shape.width, dash=shape.dash, tags=tags)
            case Oval():
                look = {"fill": self._colour(shape.fill), "outline": self._colour(shape.edge)}
                return canvas.create_oval(shape.x0, shape.y0, shape.x1, shape.y1, **look, width=shape.width, tags=tags)
            case Text():
                return canvas.create_text(
                    shape.x,
                    shape.y,
                    text=shape.text,
                    font=self._fonts[shape.font],
                    fill=self._colour(shape.colour),
                    anchor="nw" if shape.corner else "center",
                    tags=tags,
                )
            case Glyph():
                return canvas.create_image(shape.x, shape.y, image=self._glyph(shape), tags=tags)
            case Picture():
                return self._picture(shape, tags)

    def _colour(self, name: str) -> str:
        assert self._look is not None
        return getattr(self._look.palette, name) if name else ""

    def _glyph(self, shape: Glyph) -> ImageTk.PhotoImage:
        """The icon, either opaque or clear at each pixel.

        Tk draws an image with half-clear pixels by asking the display for what is below it, each time anew; without
        them dragging is twice as fast.
        """
        key = (shape.name, shape.size, shape.colour)
        if key not in self._glyphs:
            image = paint(shape.name, shape.size, self._colour(shape.colour), self._colour("panel"))
            ground = Image.new("RGBA", image.size, self._colour("canvas"))
            ground.alpha_composite(image)
            ground.putalpha(image.getchannel("A").point(lambda value: 255 if value >= OPAQUE_FROM else 0))
            self._glyphs[key] = ImageTk.PhotoImage(ground, master=self.canvas)
        return self._glyphs[key]

    def _picture(self, shape: Picture, tags: tuple[str, ...]) -> int:
        image = backdrop.picture(self.folder, shape.file, shape.scale, shape.opacity, MOST_SIDE)
        if image is None:
            wide, high = (side * shape.scale for side in backdrop.NO_SIZE)
            look: dict[str, Any] = {"outline": self._colour("faint"), "dash": (3, 5), "tags": tags}
            return self.canvas.create_rectangle(shape.x, shape.y, shape.x + wide, shape.y + high, **look)
        key = (shape.file, image.size, shape.opacity, self._colour("canvas"), id(image))
        if self._background is None or self._background[0] != key:
            ground = Image.new("RGBA", image.size, self._colour("canvas"))
            ground.alpha_composite(image)
            self._background = (key, ImageTk.PhotoImage(ground.convert("RGB"), master=self.canvas))
        return self.canvas.create_image(shape.x, shape.y, image=self._background[1], anchor="nw", tags=tags)
