# SPDX-License-Identifier: BSD-3-Clause
"""The page itself, the manual on it, and the files of its front end: routes that need no network.

The manual is what `linklab manual` writes, without its page around it. What comes from the packages of the set-up
(xterm.js, uPlot) lies in `built/`; without it the page says what to do.
"""

from __future__ import annotations

import json
from html import escape
from pathlib import Path
from string import Template
from typing import Any

from tornado.web import StaticFileHandler

from linklab.documents.handbook import chapter
from linklab.manual import html as manual_html
from linklab.page import assets
from linklab.page.context import PageContext
from linklab.page.handlers import PageHandler
from linklab.page.page_terminal import PROMPT
from linklab.page.step_facts import facts_of_steps

HERE = Path(__file__).resolve().parent
STATIC = HERE / "static"
PICTURES = ("topology", "plots", "packets")
"""Modules of the front end that draw what happens in the network."""


class FrontHandler(PageHandler):
    """The page."""

    def get(self) -> None:
        """Answer with the page of this lab; what differs between labs stands in a block of data, not in a script."""
        context = self.context
        context.touch()
        facts = {
            "prefix": context.prefix,
            "lab": {"number": context.lab.number, "heading": context.lab.heading, "slug": context.lab.slug},
            "steps": facts_of_steps(context.manual),
            "predictions": [
                {"id": asked.id, "number": asked.number, "settled": asked.settled, "asks": asked.asks}
                for asked in context.manual.predictions
            ],
            "prompt": PROMPT.pattern,
            "pictures": [name for name in PICTURES if (STATIC / f"{name}.js").is_file()],
            "missing": assets.missing(),
        }
        text = Template((STATIC / "page.html").read_text(encoding="utf-8")).substitute(
            prefix=escape(context.prefix),
            heading=escape(context.lab.heading),
            facts=json.dumps(facts).replace("<", "\\u003c"),
        )
        self.set_header("Content-Type", "text/html; charset=utf-8")
        self.finish(text)


class ManualHandler(PageHandler):
    """The lab's manual as a piece of HTML."""

    async def get(self) -> None:
        """Answer with the body of the manual; written once."""
        self.set_header("Content-Type", "text/html; charset=utf-8")
        self.finish(await self.context.in_thread(manual_body, self.context))


def manual_body(context: PageContext) -> str:
    """What stands below the heading of the manual; ManualError as `render_body`."""
    return manual_html.render_body(chapter(context.lab))


class ManualFileHandler(PageHandler):
    """What manuals have everywhere: how they look, and where Tab stops in them."""

    def initialize(self, context: PageContext, name: str, kind: str) -> None:  # type: ignore[override] # two more
        """Take what the route gives."""
        super().initialize(context)
        self.name, self.kind = name, kind

    def get(self) -> None:
        """Answer with the file."""
        self.set_header("Content-Type", f"text/{self.kind}; charset=utf-8")
        self.finish((Path(manual_html.__file__).parent / self.name).read_text(encoding="utf-8"))


class FileHandler(PageHandler, StaticFileHandler):
    """Files of one folder; StaticFileHandler refuses a path that leads out of it."""

    def initialize(self, context: PageContext, path: str) -> None:  # type: ignore[override] # two parents' arguments
        """Take what the route gives."""
        PageHandler.initialize(self, context)
        StaticFileHandler.initialize(self, path)

    def set_default_headers(self) -> None:
        """As every answer's."""
        PageHandler.set_default_headers(self)

    def set_extra_headers(self, path: str) -> None:
        """A file may be kept, and is asked for again: another version has another digest."""
        self.set_header("Cache-Control", "no-cache")


def routes(context: PageContext) -> list[Any]:
    """The routes of this module."""
    own, given = {"context": context}, {"context": context, "path": str(STATIC)}
    built = {"context": context, "path": str(assets.BUILT)}
    return [
        (context.prefix, FrontHandler, own),
        (f"{context.prefix}manual", ManualHandler, own),
        (f"{context.prefix}manual.css", ManualFileHandler, {**own, "name": "style.css", "kind": "css"}),
        (f"{context.prefix}scroll.js", ManualFileHandler, {**own, "name": "scroll.js", "kind": "javascript"}),
        (f"{context.prefix}static/(.*)", FileHandler, given),
        (f"{context.prefix}built/(.*)", FileHandler, built),
    ]
