# SPDX-License-Identifier: BSD-3-Clause
"""The clock on a lab's page, and the socket of all events.

`POST clock {"words": [...]}` obeys what follows `clock` at the Mininet CLI; the event `clock` gives its state: now_s,
speed ("max" for as fast as it goes), paused, behind_s, on_way. It is read twice a second while a page is open; the
page itself counts on in between.
"""

from __future__ import annotations

import json
import math
import threading
import time
from typing import Any

from tornado.web import RequestHandler
from tornado.websocket import WebSocketClosedError

from linklab.errors import EngineError
from linklab.page.context import Lane, PageContext
from linklab.page.handlers import PageHandler, PageSocket, RequestError

READ_S = 0.5
MOST_WORDS = 4


class ClockHands:
    """Publishes the state of the clock while somebody looks."""

    def __init__(self, context: PageContext) -> None:
        self.context = context
        self._ended = threading.Event()
        context.when_ready(self._begin)
        context.on_close(self._ended.set)

    def _begin(self) -> None:
        threading.Thread(target=self._read, name="clock of the page", daemon=True).start()

    def _read(self) -> None:
        while not self._ended.wait(READ_S) and self.context.ready:
            if self.context.events.watched:
                self.tell()

    def tell(self) -> None:
        """Publish what the clock shows now; nothing where it has ended or cannot be read."""
        try:
            words = self.context.attach.clock
            state = words.state() if words is not None else None
        except EngineError:
            return
        if state is None:
            self.context.events.publish("clock", settable=False)
            return
        self.context.events.publish(
            "clock",
            settable=True,
            now_s=state["now_s"],
            speed="max" if math.isinf(state["speed"]) else state["speed"],
            paused=bool(state["paused"]),
            behind_s=state["behind_s"],
            on_way=state.get("until_ns") is not None,
            read_s=time.time(),
        )


class ClockHandler(PageHandler):
    """Orders to the clock."""

    def initialize(self, context: PageContext, hands: ClockHands) -> None:  # type: ignore[override] # one more
        """Take what the route gives."""
        super().initialize(context)
        self.hands = hands

    async def post(self) -> None:
        """Obey, and answer with the sentence that `clock` prints."""
        words = self.fields(words=list)["words"]
        if len(words) > MOST_WORDS or not all(isinstance(word, str) for word in words):
            raise RequestError(400, "The words after clock are a few short texts.")
        text, status = await self.context.in_lane(Lane.CLOCK, self.context.attach.obey_clock, words)
        await self.context.in_lane(Lane.CLOCK, self.hands.tell)
        self.answer(text=text, status=status)


class EventsSocket(PageSocket):
    """All events of the page, as JSON."""

    def open(self, *_: str, **__: str) -> None:
        """First what is known so far."""
        self.set_nodelay(True)
        self.context.events.watch(self.tell)

    def on_message(self, _: str | bytes) -> None:
        """Only a sign of life."""

    def on_close(self) -> None:
        """The page was closed."""
        self.context.events.leave(self.tell)

    def tell(self, event: dict[str, Any]) -> None:
        """Called in any thread."""
        self.context.soon(self._send, json.dumps(event))

    def _send(self, message: str) -> None:
        try:
            self.write_message(message)
        except WebSocketClosedError:
            return


def routes(context: PageContext) -> list[tuple[str, type[RequestHandler], dict[str, Any]]]:
    """The routes of this module."""
    return [
        (f"{context.prefix}clock", ClockHandler, {"context": context, "hands": ClockHands(context)}),
        (f"{context.prefix}events", EventsSocket, {"context": context}),
    ]
