# SPDX-License-Identifier: BSD-3-Clause
"""Showing one's progress to the instructor: off until the student switches it on, and over when it is switched off.

The choice is the student's for all labs and is kept in their folder. While it is on, the server tells the instructor's
page every half minute, and as soon as a step changes, which lab and step the student is at; nothing that was typed.
"""

from __future__ import annotations

import asyncio
import json
import time
from pathlib import Path
from typing import Any

from tornado.httpclient import AsyncHTTPClient, HTTPError
from tornado.web import RequestHandler

from linklab.base.files import write_json
from linklab.classroom.hub_settings import HubSettings
from linklab.classroom.progress_watch import ProgressWatch
from linklab.page.context import PageContext
from linklab.page.handlers import PageHandler

FILE = "show-progress.json"
TELL_S = 30.0
SOON_S = 1.0
"""After a change; several steps may change at once."""
REQUEST_S = 10


class Sharing:
    """A student's choice, and who is told.

    Args:
        settings: where the instructor's page is.
        folder: of the student.
    """

    def __init__(self, settings: HubSettings, folder: Path) -> None:
        self.settings, self.path = settings, folder / FILE
        self.on = self.possible and self._kept()
        self.watch: ProgressWatch | None = None
        self._changed = asyncio.Event()
        self._told = False

    @property
    def possible(self) -> bool:
        """Whether there is a page to show it on."""
        return bool(self.settings.class_url)

    def _kept(self) -> bool:
        try:
            return json.loads(self.path.read_text(encoding="utf-8")).get("on") is True
        except (OSError, ValueError, AttributeError):
            return False  # never switched on, or not our file: nothing is shown without the student's word

    def attend(self, context: PageContext) -> None:
        """Follow this lab from now on, and offer the choice on its pages."""
        self.watch = watch = ProgressWatch(context.lab.number, context.lab.heading, time.monotonic())

        def take(event: dict[str, Any]) -> None:
            if event["kind"] == "guide":
                context.soon(self._take, watch, event)

        context.events.watch(take)
        self.publish(context)
        self._changed.set()

    def _take(self, watch: ProgressWatch, event: dict[str, Any]) -> None:
        watch.take(event.get("steps", ()), event.get("next"), time.monotonic())
        self._changed.set()

    def publish(self, context: PageContext) -> None:
        """Tell the pages of a lab what is chosen."""
        context.events.publish("sharing", on=self.on)

    def choose(self, on: bool) -> None:
        """Switch it on or off. OSError if the choice cannot be kept, and then it is as before."""
        write_json(self.path, {"on": on})
        self.on = on
        self._changed.set()

    async def tell(self) -> None:
        """Keep the instructor's page informed until the server ends."""
        while True:
            if self.on and self.watch is not None:
                self._told = await self._send("POST", self.watch.report(time.monotonic())) or self._told
            elif self._told and await self._send("DELETE", None):
                self._told = False
            try:
                await asyncio.wait_for(self._changed.wait(), TELL_S)
                await asyncio.sleep(SOON_S)
            except asyncio.TimeoutError:  # TimeoutError itself since Python 3.11
                continue
            finally:
                self._changed.clear()

    async def _send(self, method: str, report: dict[str, Any] | None) -> bool:
        headers = {"Authorization": f"token {self.settings.token}", "Content-Type": "application/json"}
        body = None if report is None else json.dumps(report)
        url = f"{self.settings.class_url.rstrip('/')}/progress"
        try:
            await AsyncHTTPClient().fetch(url, method=method, headers=headers, body=body, request_timeout=REQUEST_S)
        except (HTTPError, OSError):
            return False  # said again in half a minute
        return True


class SharingHandler(PageHandler):
    """The switch on a lab's page."""

    def initialize(self, context: PageContext, sharing: Sharing) -> None:  # type: ignore[override] # one more
        """Take what the route gives."""
        super().initialize(context)
        self.sharing = sharing

    def post(self) -> None:
        """Switch it."""
        on = self.fields(on=bool)["on"]
        self.sharing.choose(on)
        self.sharing.publish(self.context)
        said = "The instructor sees which step you are at." if on else "The instructor does not see your progress."
        self.answer(text=said)


def sharing_routes(context: PageContext, sharing: Sharing) -> list[tuple[str, type[RequestHandler], dict[str, Any]]]:
    """The routes of this module, for a lab's page; none where there is no instructor's page."""
    if not sharing.possible:
        return []
    return [(f"{context.prefix}sharing", SharingHandler, {"context": context, "sharing": sharing})]
