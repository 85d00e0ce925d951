# SPDX-License-Identifier: BSD-3-Clause
"""The picture behind a drawing: read from its file, brought to a size and paled; says why where it cannot be shown.

A file that a stranger names is read only if it is an ordinary file of a bearable size, and only by Pillow.
"""

from __future__ import annotations

import warnings
from functools import lru_cache
from pathlib import Path

from PIL import Image

MOST_BYTES = 50_000_000
MOST_PIXELS = 40_000_000
FORMATS = ("PNG", "JPEG", "GIF", "BMP", "TIFF", "WEBP")
ENDINGS = (".png", ".jpg", ".jpeg", ".gif", ".bmp", ".tif", ".tiff", ".webp")
NO_SIZE = (400, 300)
"""Of the frame drawn where there is no picture."""


def where(folder: Path, file: str) -> Path:
    """The path of a picture that a topology in `folder` names."""
    return folder / Path(file).expanduser()


def trouble(path: Path) -> str:
    """Why a picture cannot be shown, "" if it can."""
    try:
        if not path.exists():
            return f"the background picture {path} does not exist"
        size(path, path.stat().st_mtime_ns)
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError) as error:
        return f"the background picture {path} cannot be shown: {getattr(error, 'strerror', None) or error}"
    return ""


@lru_cache(maxsize=8)
def size(path: Path, _changed: int) -> tuple[int, int]:
    """Width and height of a picture.

    Raises:
        OSError, ValueError: it is not one that can be shown.
    """
    if not path.is_file():
        raise ValueError("it is not an ordinary file")
    if path.stat().st_size > MOST_BYTES:
        raise ValueError(f"it is larger than {MOST_BYTES // 10**6} MB")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", Image.DecompressionBombWarning)  # we look at the size ourselves
        with Image.open(path, formats=FORMATS) as image:
            wide, high = image.size
    if wide * high > MOST_PIXELS:
        raise ValueError(f"it has more than {MOST_PIXELS // 10**6} million pixels")
    return wide, high


@lru_cache(maxsize=4)
def paled(path: Path, _changed: int, wide: int, high: int, opacity: float) -> Image.Image:
    """The picture at a size, as transparent as `opacity` says (1 is not at all). Raises what `size` does."""
    size(path, _changed)
    with Image.open(path, formats=FORMATS) as image:
        image.draft("RGB", (wide, high))
        shown = image.convert("RGBA").resize((max(1, wide), max(1, high)), Image.Resampling.BILINEAR)
    shown.putalpha(shown.getchannel("A").point(lambda value: round(value * opacity)))
    return shown


def pixels(folder: Path, file: str) -> tuple[int, int]:
    """Width and height of what is drawn for a picture: its own, or of the frame in its place."""
    path = where(folder, file)
    return NO_SIZE if trouble(path) else size(path, path.stat().st_mtime_ns)


def picture(folder: Path, file: str, scale: float, opacity: float, most: int = 6000) -> Image.Image | None:
    """The picture at a scale and opacity, None where it cannot be shown; no side is longer than `most` pixels."""
    path = where(folder, file)
    if trouble(path):
        return None
    changed = path.stat().st_mtime_ns
    wide, high = size(path, changed)
    bounded = min(scale, most / max(wide, high, 1))
    try:
        return paled(path, changed, round(wide * bounded), round(high * bounded), opacity)
    except (OSError, ValueError, SyntaxError):  # cut off, or damaged inside
        return None
