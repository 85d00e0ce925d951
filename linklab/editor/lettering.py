# SPDX-License-Identifier: BSD-3-Clause
"""Widths and heights of texts without a display: of DejaVu Sans where it is there, else about.

Pictures and the window both place labels by them, so that a label has room in both or in neither.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache

from PIL import ImageFont

from linklab.editor.shapes import PIXELS_A_POINT, POINTS

FAMILY = "DejaVu Sans, Bitstream Vera Sans, Verdana, Arial, sans-serif"
TK_FAMILY = "DejaVu Sans"
"""What Tk calls the letters that are measured here."""
FILES = {"name": "DejaVuSans-Bold.ttf", "note": "DejaVuSans.ttf", "port": "DejaVuSans.ttf"}
LINE = 1.25
"""Height of a line in sizes of its font, as Tk has it."""
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


@lru_cache(maxsize=1024)
def _letter(font: str, letter: str) -> float:
    """Width of a letter in pixels of the drawing: whole dots at a zoom of 1, as Tk has it."""
    try:
        return float(_dots(font).getlength(letter))
    except OSError:
        return LETTER * pixels(font)


@lru_cache(maxsize=8)
def _dots(font: str) -> ImageFont.FreeTypeFont:
    return ImageFont.truetype(FILES[font], round(pixels(font)), layout_engine=ImageFont.Layout.BASIC)


@lru_cache(maxsize=4096)
def width(font: str, text: str) -> float:
    """Width of a text in pixels of the drawing, letter by letter as Tk draws it; of several lines the widest counts."""
    return max(sum(_letter(font, letter) for letter in line) for line in text.split("\n"))


def metrics() -> tuple[Callable[[str, str], float], Mapping[str, float]]:
    """What a scene's style asks at a zoom of 1: a width for a font and a text, the height of a line of each font."""
    return width, {font: LINE * pixels(font) for font in POINTS}
