# SPDX-License-Identifier: BSD-3-Clause
"""Serves a lab's page in a thread of its own, on this machine only, until the end of the `with` block."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Callable
from types import TracebackType

from tornado.httpserver import HTTPServer
from tornado.httputil import HTTPServerConnectionDelegate
from tornado.netutil import bind_sockets
from tornado.web import Application

from linklab.errors import InputError
from linklab.page import app
from linklab.page.context import PageContext
from linklab.page.handlers import LONGEST_BODY

LOCAL = "127.0.0.1"
GOODBYE_S = 2.0
LAST_WORDS_S = 0.05
"""For what was said last, such as why the network has ended, to leave."""


class ServingThread:
    """A server of web pages with an asyncio loop in a thread of its own.

    Args:
        sockets: where it listens.
        make: what is served; called in the loop.
    """

    def __init__(self, sockets: list[socket.socket], make: Callable[[], HTTPServerConnectionDelegate]) -> None:
        self._sockets, self._make = sockets, make
        self._ready = threading.Event()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stop: asyncio.Event | None = None
        self._thread = threading.Thread(target=lambda: asyncio.run(self._serve()), name="page", daemon=True)

    def begin(self) -> None:
        """Serve from now on."""
        self._thread.start()
        self._ready.wait()

    def end(self) -> None:
        """Close every connection, after what was said last has left."""
        if self._loop is not None and self._stop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(GOODBYE_S)

    async def _serve(self) -> None:
        self._loop, self._stop = asyncio.get_running_loop(), asyncio.Event()
        try:
            server = HTTPServer(self._make(), max_body_size=LONGEST_BODY)
            server.add_sockets(self._sockets)
        finally:
            self._ready.set()
        await self._stop.wait()
        server.stop()
        await asyncio.sleep(LAST_WORDS_S)
        await server.close_all_connections()


class PageServer:
    """The server of one page.

    Args:
        context: what is served.
        port: 0 for any free one.

    Raises:
        InputError: the port is taken or may not be used, or a part of the page refuses the folder.
    """

    def __init__(self, context: PageContext, port: int = 0) -> None:
        self.context = context
        try:
            self._sockets = bind_sockets(port, LOCAL, family=socket.AF_INET)
        except OSError as error:
            raise InputError(f"port {port} cannot be used: {error.strerror}; leave --port out") from error
        self.port: int = self._sockets[0].getsockname()[1]
        self._app = app.application(context)  # here, so that what its parts refuse reaches whoever starts the page
        self._serving = ServingThread(self._sockets, self._application)

    @property
    def address(self) -> str:
        """What a browser opens first, with the token."""
        return app.address(self.context, self.port)

    def __enter__(self) -> PageServer:
        self._serving.begin()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.context.close()
        self._serving.end()

    def _application(self) -> Application:
        self.context.loop = asyncio.get_running_loop()
        return self._app
