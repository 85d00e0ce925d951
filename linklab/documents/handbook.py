# SPDX-License-Identifier: BSD-3-Clause
"""Labs and exercises as documents: HTML and PDF of each, the handbook of all, and a page that lists them.

Puts what a lab's folder holds into chapters, and takes those of exercises as they are; what they look like is the
business of `linklab.manual.html` and `linklab.manual.paper`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from linklab.base import installation
from linklab.exercise.handout import book_chapters
from linklab.exercise.model import Exercise
from linklab.lab.model import Lab
from linklab.lab.reference import load_reference
from linklab.manual.chapter import Chapter, Recorded
from linklab.manual.html import page, render_manual
from linklab.manual.paper import paper_html, to_pdf
from linklab.manual.parse import load_manual
from linklab.manual.picture import topology_parts, topology_svg

TITLE = "TCP/IP labs"
MESSAGES = installation.ROOT / "docs" / "when-tc-complains.md"
MESSAGES_TITLE = "When tc complains"
MESSAGES_NAME = "when-tc-complains"
"""Name of the documents that explain the messages of commands; every manual leads to them."""

PAGE_MARK = '<meta name="generator" content="Linklab">'
"""What tells a page of Linklab from one that a person wrote; it is in `page.html.j2`."""


def chapter(lab: Lab) -> Chapter:
    """A lab's manual with what its reference recorded; LabError and TopologyError as their readers raise them."""
    reference = load_reference(lab)
    topology = lab.load_topology()
    return Chapter(
        manual=lab.manual,
        heading=lab.heading,
        objectives=lab.objectives,
        fields={"title": lab.title, "number": str(lab.number)},
        recorded=reference.recorded if reference else Recorded(),
        picture=topology_svg(*topology_parts(topology), title=f"Topology of {lab.heading}") if topology else "",
        minutes=lab.minutes,
        answers=lab.load_answers(),
    )


def messages_chapter() -> Chapter:
    """What the messages of tc and of other commands mean; ManualError as `load_manual`."""
    return Chapter(load_manual(MESSAGES), MESSAGES_TITLE, fields={"number": "M"})


def manual_html(lab: Lab) -> str:
    """A lab's manual as one page."""
    return chapter_html(chapter(lab))


def chapter_html(written: Chapter, *, messages: bool = True) -> str:
    """A chapter as one page; `messages` says whether it leads to the page of messages beside it."""
    return render_manual(written, messages=f"{MESSAGES_NAME}.html" if messages else "")


def chapter_pdf(written: Chapter) -> bytes:
    """A chapter as PDF; MissingError without WeasyPrint."""
    return to_pdf(paper_html([written], title=written.heading, messages=MESSAGES_TITLE))


def messages_html() -> str:
    """The page that explains the messages of commands."""
    return render_manual(messages_chapter())


def messages_pdf() -> bytes:
    """The same as PDF."""
    return to_pdf(paper_html([messages_chapter()], title=MESSAGES_TITLE))


def manual_pdf(lab: Lab) -> bytes:
    """A lab's manual as PDF; MissingError without WeasyPrint."""
    return chapter_pdf(chapter(lab))


def handout_slug(exercise: Exercise) -> str:
    """Name of a handout's documents: "exercise-3-tcp-and-switch-buffers"."""
    return f"{exercise.kind}-{exercise.folder.name}"


def handbook_pdf(labs: Sequence[Lab], exercises: Sequence[Exercise] = ()) -> bytes:
    """All labs and the handouts of all exercises in one PDF: cover, contents, a chapter each."""
    handouts = book_chapters(exercises) if exercises else []
    chapters = [*(chapter(lab) for lab in labs), *handouts, messages_chapter()]
    return to_pdf(paper_html(chapters, title=TITLE, book=True, messages=MESSAGES_TITLE))


def index_html(
    labs: Sequence[Lab], exercises: Sequence[Exercise] = (), languages: Mapping[str, Sequence[str]] | None = None
) -> str:
    """The page that leads to the documents of all labs and exercises; `languages` are those of a lab's slug."""
    handouts = [(exercise, handout_slug(exercise)) for exercise in exercises]
    return page(
        "index.html.j2", title=TITLE, labs=labs, handouts=handouts, messages=MESSAGES_NAME, languages=languages or {}
    )
