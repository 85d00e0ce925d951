# SPDX-License-Identifier: BSD-3-Clause
"""The images of a manual inside its page: plots of the recorded run, the topology, and files beside the manual."""

from __future__ import annotations

import base64
import re
from html import escape, unescape

from linklab.base.catalogue import Say, unchanged
from linklab.base.numbers import format_number
from linklab.manual.chapter import Chapter, Recorded
from linklab.manual.info import Place
from linklab.manual.model import Figure


def figure_image(chapter: Chapter, figure: Figure, caption: str, words: str = "", *, paper: bool = False) -> str:
    """The image of a figure as HTML.

    Args:
        chapter: whose recording, topology and files are drawn from.
        figure: which image.
        caption: what stands below it.
        words: for readers who cannot see an image that holds none itself.
        paper: whether drawings stand apart from the text's own colours.

    Raises:
        ManualError: an image file that is not there.
    """
    match figure.kind:
        case "topology":
            return _svg(chapter.picture, caption, paper=paper) if chapter.picture else missing(chapter.say)
        case "run":
            content = chapter.recorded.figures.get(f"{figure.step}/{figure.name}")
            alt = escape(caption + _told(figure, chapter.recorded))
            return f'<img class="plot" src="{data_uri(content)}" alt="{alt}">' if content else missing(chapter.say)
        case _:
            return _file(chapter, figure, caption, words, paper=paper)


def missing(say: Say = unchanged) -> str:
    """What stands where nothing is recorded, as HTML."""
    return f'<span class="missing">{escape(say("not recorded yet"))}</span>'


def data_uri(content: bytes) -> str:
    """An image inside the page: SVG or PNG by its first bytes."""
    kind = "image/png" if content.startswith(b"\x89PNG") else "image/svg+xml"
    return f"data:{kind};base64,{base64.b64encode(content).decode('ascii')}"


def spoken(svg: str) -> str:
    """What a picture says of itself for readers who cannot see it: its title and description; "" if it has none."""
    found = [re.search(rf"<{tag}\b[^>]*>(.*?)</{tag}>", svg, re.DOTALL) for tag in ("title", "desc")]
    return ". ".join(unescape(part[1]).strip().rstrip(".") for part in found if part)


def _told(figure: Figure, recorded: Recorded) -> str:
    """The numbers of a plot, for readers who cannot see it."""
    wanted = "|".join(re.escape(name.rpartition("-")[2]) for name in figure.names)
    several = len(figure.steps) > 1 or len(figure.names) > 1
    found = [
        f"{f'{step} {told[1]} ' if several else ''}{told[2]} {format_number(*quantity)}"
        for step in figure.steps
        for name, quantity in recorded.scalars.get(step, {}).items()
        if (told := re.fullmatch(rf"\w+\.({wanted})\.(min|mean|max|receiver)", name))
    ]
    return f"; plot over time, {', '.join(found)}" if found else ""


def _file(chapter: Chapter, figure: Figure, caption: str, words: str, *, paper: bool) -> str:
    path = chapter.manual.path.parent / figure.name
    try:
        content = path.read_bytes()
    except OSError:
        raise Place(str(chapter.manual.path), figure.line).error(f"there is no image {path}") from None
    if path.suffix == ".svg":
        return _svg(content.decode("utf-8"), caption, paper=paper)
    return f'<img src="{data_uri(content)}" alt="{escape(words or caption)}">'


def _svg(svg: str, caption: str, *, paper: bool) -> str:
    """A drawing: inside the page rather than as an image, so that it takes the page's colours in the dark."""
    svg = svg[svg.index("<svg") :]
    if not paper:
        return svg
    width = re.search(r'viewBox="0 0 (\d+)', svg)
    style = f' style="width:{width[1]}px"' if width else ""
    return f'<img src="{data_uri(svg.encode())}" alt="{escape(spoken(svg) or caption)}"{style}>'
