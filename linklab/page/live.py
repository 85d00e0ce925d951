# SPDX-License-Identifier: BSD-3-Clause
"""Live plots on a lab's page: a socket that tells what is new ten times a second, and what is seen as a file.

The socket takes {"watch": bool}: a page whose plots are hidden does not watch, and when none watches nothing is read
from the network. What it tells: `linklab.live.messages`. `GET live.svg` and `GET live.flent.gz` give the part from
`from` to `to` (network time, s) of the tracks named by `key`, of all without one.
"""

from __future__ import annotations

import asyncio
import json
import math
from typing import Any

from tornado.ioloop import PeriodicCallback
from tornado.iostream import StreamClosedError
from tornado.web import RequestHandler
from tornado.websocket import WebSocketClosedError

from linklab.data.files import packed
from linklab.live import LiveFeed, LiveHistory
from linklab.live.messages import LiveMessages
from linklab.page.context import PageContext
from linklab.page.handlers import PageHandler, PageSocket, RequestError
from linklab.terminal.attach import Connection

TELL_MS = 100


class LivePlots:
    """The one feed of a page, made when somebody first looks."""

    def __init__(self, context: PageContext) -> None:
        self.context = context
        self.feed = LiveFeed(self._connect, LiveHistory(context.topology))

    def _connect(self) -> Connection:
        """NotReadyError while the network starts."""
        return self.context.attach.connect()


class LivePlotsSocket(PageSocket):
    """One page's plots."""

    def initialize(self, context: PageContext, plots: LivePlots) -> None:  # type: ignore[override] # one more
        """Take what the route gives."""
        super().initialize(context)
        self.plots = plots
        self.watches = self.looks = False
        self.flushed = True
        self.timer = PeriodicCallback(self.tell, TELL_MS)

    def open(self, *_: str, **__: str) -> None:
        """Nothing is read before the page watches."""
        self.set_nodelay(True)
        self.messages = LiveMessages(self.plots.feed)

    def on_message(self, message: str | bytes) -> None:
        """The plots came into view, or went out of it."""
        try:
            watches = bool(json.loads(message)["watch"])
        except (ValueError, TypeError, KeyError):
            return
        self._watch(watches)

    def on_close(self) -> None:
        """The page was closed."""
        self._watch(False)

    def _watch(self, watches: bool) -> None:
        if watches is self.watches:
            return
        self.watches = watches
        if watches:
            self.timer.start()
            return
        self.timer.stop()
        if self.looks:
            self.looks = False
            self.plots.feed.leave()

    def tell(self) -> None:
        """Tell what is new, unless the page has yet to take the last; the network may become ready meanwhile."""
        if not self.looks and self.context.ready:
            self.looks = True
            self.plots.feed.look()
        found = self.messages.next() if self.flushed else None
        if found is not None:
            self.flushed = False
            asyncio.get_running_loop().create_task(self._send(json.dumps(found, allow_nan=False)))

    async def _send(self, message: str) -> None:
        try:
            await self.write_message(message)
        except (WebSocketClosedError, StreamClosedError):
            return
        finally:
            self.flushed = True


class LiveFileHandler(PageHandler):
    """What is seen, as a file."""

    def initialize(self, context: PageContext, plots: LivePlots, kind: str) -> None:  # type: ignore[override] # more
        """Take what the route gives."""
        super().initialize(context)
        self.plots, self.kind = plots, kind

    async def get(self) -> None:
        """Answer with the part that is asked for."""
        from_s, to_s = self._time("from", -math.inf), self._time("to", math.inf)
        keys = self.get_query_arguments("key") or None
        content = await self.context.in_thread(self._made, from_s, to_s, keys)
        self.set_header("Content-Type", "image/svg+xml" if self.kind == "svg" else "application/gzip")
        name = f"live-{self.context.lab.slug}.{'svg' if self.kind == 'svg' else 'flent.gz'}"
        self.set_header("Content-Disposition", f'attachment; filename="{name}"')
        self.finish(content)

    def _made(self, from_s: float, to_s: float, keys: list[str] | None) -> bytes:
        from linklab.live import picture  # noqa: PLC0415 - Matplotlib takes a second to load

        history = self.plots.feed.history
        if self.kind == "svg":
            return picture.svg(history, from_s, to_s, keys)
        told = {"lab": self.context.lab.slug, "student": self.context.name}
        return packed(picture.dataset(history, from_s, to_s, told, keys))

    def _time(self, name: str, otherwise: float) -> float:
        text = self.get_query_argument(name, None)
        if text is None:
            return otherwise
        try:
            found = float(text)
        except ValueError:
            found = math.nan
        if math.isnan(found):
            raise RequestError(400, f"The {name} of the part must be a network time in seconds.")
        return found


def routes(context: PageContext) -> list[tuple[str, type[RequestHandler], dict[str, Any]]]:
    """The routes of this module."""
    own = {"context": context, "plots": LivePlots(context)}
    return [
        (f"{context.prefix}live", LivePlotsSocket, own),
        (f"{context.prefix}live.svg", LiveFileHandler, own | {"kind": "svg"}),
        (f"{context.prefix}live.flent.gz", LiveFileHandler, own | {"kind": "flent.gz"}),
    ]
