# SPDX-License-Identifier: BSD-3-Clause
"""Manuals as PDF: one lab, or the handbook of all, with contents, running headers, page numbers and bookmarks.

The same chapters as in HTML go into `paper.html.j2` with `print.css`, and WeasyPrint lays them out. The same chapters
and the same fonts give the same bytes: there is no date in the file unless the environment gives SOURCE_DATE_EPOCH
(https://reproducible-builds.org/specs/source-date-epoch/).
"""

from __future__ import annotations

import itertools
import logging
import os
from collections.abc import Sequence, Set
from dataclasses import dataclass
from datetime import datetime, timezone

from linklab import __version__
from linklab.base.catalogue import unchanged
from linklab.errors import InputError, MissingError
from linklab.manual.chapter import Chapter
from linklab.manual.html import page, render_body
from linklab.manual.images import data_uri
from linklab.manual.model import Section

DESCRIPTION = "Labs on TCP/IP networks, from the first ping to active queue management"


@dataclass(frozen=True)
class _Printed:
    """A chapter in the words of the template; `prefix` is its number, `ids` what its ids begin with."""

    heading: str
    minutes: int
    note: str
    prefix: str
    ids: str
    sections: Sequence[Section]
    english: Set[str]
    body: str


def paper_html(chapters: Sequence[Chapter], *, title: str, book: bool = False, messages: str = "") -> str:
    """The document that becomes a PDF; of a book each chapter's field "number" sets its ids and figures apart.

    Args:
        chapters: what to print.
        title: of the document.
        book: with a cover and contents; else a document of its own.
        messages: the name of the page that explains the messages of commands, in a book of its last chapter, whose
            number is "M"; "" leaves out what leads to it.

    Raises:
        ManualError: as `render_body`.
        InputError: SOURCE_DATE_EPOCH is no number.
    """
    printed = []
    for chapter in chapters:
        prefix = chapter.fields.get("number", "") if book else ""
        body = render_body(chapter, paper=True, prefix=prefix)
        ids = f"lab{prefix}-" if prefix else ""
        sections, english = chapter.manual.sections, chapter.english_sections
        printed.append(_Printed(chapter.heading, chapter.minutes, chapter.note, prefix, ids, sections, english, body))
    return page(
        "paper.html.j2",
        title=title,
        description=DESCRIPTION,
        version=__version__,
        date=_date(),
        book=book,
        messages=messages,
        language=chapters[0].language if chapters else "en",
        say=chapters[0].say if chapters else unchanged,
        chapters=printed,
        drawing=data_uri(cover_drawing().encode()),
    )


def to_pdf(html: str) -> bytes:
    """Lay out a document that loads nothing from elsewhere.

    Raises:
        MissingError: WeasyPrint, or a library of the system that it needs, is not there.
    """
    try:
        import weasyprint  # noqa: PLC0415 - takes a second, and needs libraries that HTML does without
        from weasyprint.urls import URLFetcher  # noqa: PLC0415 - as above
    except (ImportError, OSError) as error:
        raise MissingError(f"PDF needs WeasyPrint and Pango, which make setup installs: {error}") from error
    logging.getLogger("weasyprint").setLevel(logging.ERROR)
    logging.getLogger("fontTools").setLevel(logging.ERROR)
    inside = URLFetcher(allowed_protocols=("data",), fail_on_errors=True)
    document = weasyprint.HTML(string=html, url_fetcher=inside, media_type="print")
    content: bytes = document.write_pdf(pdf_variant="pdf/ua-1")
    return content


def cover_drawing() -> str:
    """The picture on the cover: two flows that share a link, each cut at a loss and rising again after CUBIC's law."""
    curves = []
    for top, cycles, colour in ((70.0, (0, 150, 330, 470, 600), "#7db8f5"), (130.0, (0, 90, 260, 410, 600), "#f0b35c")):
        points = []
        for begin, end in itertools.pairwise(cycles):
            for step in range(25):
                share = step / 24  # of the cycle; the plateau of the cubic lies at two thirds, RFC 9438 figure 1
                points.append((begin + share * (end - begin), top + 60 * -(((share - 0.66) * 1.52) ** 3)))
        path = " ".join(f"{'L' if number else 'M'}{x:.1f} {y:.1f}" for number, (x, y) in enumerate(points))
        curves.append(f'<path d="{path}" fill="none" stroke="{colour}" stroke-width="3" stroke-linejoin="round"/>')
    rules = "".join(f'<path d="M0 {y}H600" stroke="#2f4a66" stroke-width="1"/>' for y in range(20, 240, 40))
    return f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 600 240">{rules}{"".join(curves)}</svg>'


def _date() -> str:
    given = os.environ.get("SOURCE_DATE_EPOCH", "")
    if not given:
        return ""
    try:
        return datetime.fromtimestamp(int(given), timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    except (ValueError, OverflowError) as error:
        raise InputError(f'SOURCE_DATE_EPOCH is "{given}"; it must be seconds since 1970') from error
