# SPDX-License-Identifier: BSD-3-Clause
"""A topology → a picture in a file: SVG, PNG or PDF by the file's ending; needs no display.

The window's File > Export Picture and `linklab edit --picture` call it; both get what the drawing shows at its own
size, in the light theme, since pictures are printed.
"""

from __future__ import annotations

import io
import logging
from collections.abc import Iterable
from pathlib import Path

from linklab.base.files import write
from linklab.editor import backdrop, lettering, raster, svg
from linklab.editor.scene import DrawingScene, Style
from linklab.editor.settings import EditorSettings
from linklab.editor.shapes import BoxShape, IconShape, LineShape, OvalShape, PictureShape, Shape, TextShape
from linklab.editor.surface import Rectangle
from linklab.errors import InputError, MissingError
from linklab.topology import Topology
from linklab.windows.palette import LIGHT

ENDINGS = (".svg", ".png", ".pdf")
MARGIN = 24.0
DOTS = 2.0
"""Of a PNG for one of the drawing's pixels: 192 dots an inch."""
MOST_SIDE = 14_000.0
"""PDF readers show no larger page (200 inches, ISO 32000-1 annex C) and few programs a larger picture."""


def write_picture(topology: Topology, path: Path, folder: Path, settings: EditorSettings | None = None) -> None:
    """Write the picture of a topology, in the format of the path's ending.

    folder: what the background's file is relative to; settings: which labels are shown, None for all.

    Raises:
        InputError: no such format, nothing is drawn, or the file cannot be written.
        MissingError: PDF without WeasyPrint.
    """
    kind = path.suffix.lower()
    if kind not in ENDINGS:
        raise InputError(
            f'{path}: a picture ends in {", ".join(ENDINGS[:-1])} or {ENDINGS[-1]}, not in "{path.suffix}"'
        )
    scene = DrawingScene(topology, style(settings or EditorSettings()))
    shapes = [shape for _, each in scene.everything() for shape in each]
    if not shapes:
        raise InputError(f"{path}: the drawing is empty, so there is no picture of it")
    box = bounds(shapes, folder)
    if max(box.x1 - box.x0, box.y1 - box.y0) > MOST_SIDE:
        raise InputError(f"{path}: the drawing is over {MOST_SIDE:,.0f} pixels wide or high; move its parts together")
    try:
        if kind == ".png":
            memory = io.BytesIO()
            raster.picture(shapes, box, LIGHT, dots=DOTS, folder=folder).save(memory, "PNG", dpi=(96 * DOTS, 96 * DOTS))
            write(path, memory.getvalue())
            return
        text = svg.picture(shapes, box, LIGHT, title=topology.name, description=described(scene), folder=folder)
        write(path, text if kind == ".svg" else pdf(text, box))
    except OSError as error:
        raise InputError(f"{path} could not be written: {error.strerror or error}") from error


def style(settings: EditorSettings) -> Style:
    """The drawing at its own size, with the labels that are chosen."""
    measure, heights = lettering.metrics()
    chosen = {name: getattr(settings, name) for name in ("names", "addresses", "ports", "rates")}
    return Style(1.0, 1.0, measure, heights, **chosen)


def described(scene: DrawingScene) -> str:
    """The drawing in words: its nodes with their addresses, its links by their ports, its notes."""
    nodes = [f"{name} {scene.addresses[name]}".strip() for name in scene.nodes]
    links = [" to ".join(filter(None, pair)) for pair in scene.ends if any(pair)]
    drawn = [each.described for each in scene.decorations.values()]
    parts = [", ".join(nodes)] + (["Links: " + "; ".join(links)] if links else []) + drawn
    return ". ".join(filter(None, parts)) + "."


def bounds(shapes: Iterable[Shape], folder: Path) -> Rectangle:
    """The rectangle that holds them all, with a margin."""
    boxes = [_box(shape, folder) for shape in shapes]
    return Rectangle(
        min(box.x0 for box in boxes) - MARGIN,
        min(box.y0 for box in boxes) - MARGIN,
        max(box.x1 for box in boxes) + MARGIN,
        max(box.y1 for box in boxes) + MARGIN,
    )


def _box(shape: Shape, folder: Path) -> Rectangle:
    match shape:
        case LineShape():
            xs, ys = shape.path[::2], shape.path[1::2]
            return Rectangle(min(xs), min(ys), max(xs), max(ys))
        case BoxShape() | OvalShape():
            return Rectangle(shape.x0, shape.y0, shape.x1, shape.y1)
        case IconShape():
            return Rectangle.around(shape.x, shape.y, shape.size, shape.size)
        case TextShape():
            lines = shape.text.split("\n")
            wide = max(lettering.width(shape.font, line) for line in lines)
            high = lettering.LINE * lettering.pixels(shape.font) * len(lines)
            if shape.corner:
                return Rectangle(shape.x, shape.y, shape.x + wide, shape.y + high)
            return Rectangle.around(shape.x, shape.y, wide, high)
        case PictureShape():
            wide, high = (side * shape.scale for side in backdrop.pixels(folder, shape.file))
            return Rectangle(shape.x, shape.y, shape.x + wide, shape.y + high)


def pdf(text: str, box: Rectangle) -> bytes:
    """An SVG picture as one page of its own size.

    Raises:
        MissingError: WeasyPrint, or a library of the system that it needs, is not there.
    """
    try:
        import weasyprint  # noqa: PLC0415 - takes a second, and needs libraries that SVG and PNG do without
        from weasyprint.urls import URLFetcher  # noqa: PLC0415 - as above
    except (ImportError, OSError) as error:
        raise MissingError(f"a picture as PDF needs WeasyPrint and Pango; SVG and PNG need neither: {error}") from error
    for name in ("weasyprint", "fontTools"):
        logging.getLogger(name).setLevel(logging.ERROR)
    wide, high = box.x1 - box.x0, box.y1 - box.y0
    page = f"@page {{ size: {wide:.2f}px {high:.2f}px; margin: 0 }} body {{ margin: 0 }} svg {{ display: block }}"
    inside = URLFetcher(allowed_protocols=("data",), fail_on_errors=True)
    document = weasyprint.HTML(string=f"<html><style>{page}</style><body>{text}</body></html>", url_fetcher=inside)
    content: bytes = document.write_pdf()
    return content
