# SPDX-License-Identifier: BSD-3-Clause
"""Widths and heights of texts without a display, for pictures: of DejaVu Sans where it is there, else about.

The window asks tkinter instead.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache

from PIL import ImageFont

from linklab.editor.shapes import PIXELS_A_POINT, POINTS

FAMILY = "DejaVu Sans, Bitstream Vera Sans, Verdana, Arial, sans-serif"
FILES = {"name": "DejaVuSans-Bold.ttf", "note": "DejaVuSans.ttf", "port": "DejaVuSans.ttf"}
LINE = 1.17
"""Height of a line in sizes of its font."""
MIDDLE = 0.35
"""From the middle of a line down to its base, in sizes of the font."""
LETTER = 0.62
"""Width of a letter in sizes of the font, where no font can be asked."""


def pixels(font: str) -> float:
    """Size of a font in pixels of the drawing."""
    return POINTS[font] * PIXELS_A_POINT


@lru_cache(maxsize=16)
def face(font: str, size: int) -> ImageFont.FreeTypeFont | ImageFont.ImageFont:
    """A font to draw with; Pillow's own small one where the system has no DejaVu."""
    try:
        return ImageFont.truetype(FILES[font], size)
    except OSError:
        return ImageFont.load_default()


@lru_cache(maxsize=8)
def _large(font: str) -> ImageFont.FreeTypeFont:
    return ImageFont.truetype(FILES[font], 100)


@lru_cache(maxsize=4096)
def width(font: str, text: str) -> float:
    """Width of a text in pixels of the drawing; of several lines the widest counts."""
    if "\n" in text:
        return max(width(font, line) for line in text.split("\n"))
    try:
        return float(_large(font).getlength(text)) * pixels(font) / 100
    except OSError:
        return LETTER * len(text) * pixels(font)


def metrics() -> tuple[Callable[[str, str], float], Mapping[str, float]]:
    """What a scene's style asks: a width for a font and a text, and the height of a line of each font."""
    return width, {font: LINE * pixels(font) for font in POINTS}
