# SPDX-License-Identifier: BSD-3-Clause
"""The server of one student's labs, as JupyterHub starts it: the list of labs and, below it, the page of the open one.

One address serves all: requests below the open lab's prefix go to that lab's application, the others to the lobby's.
"""

from __future__ import annotations

import asyncio
import secrets
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Any

from jupyterhub.services.auth import HubOAuth
from tornado.httputil import HTTPMessageDelegate, HTTPServerRequest
from tornado.netutil import bind_sockets
from tornado.routing import Router
from tornado.web import Application

from linklab.classroom.activity import ActivityReporter
from linklab.classroom.hub_access import HubAccess, log_in_routes
from linklab.classroom.hub_settings import HubSettings
from linklab.classroom.lab_desk import LabDesk, OpenLab
from linklab.classroom.lobby import Lobby, lobby_routes
from linklab.classroom.sharing import Sharing, sharing_routes
from linklab.errors import EngineError, InputError
from linklab.lab.model import Lab, lab_folders, load_card
from linklab.page import app
from linklab.page.context import PageContext
from linklab.page.server import ServingThread


class LabRouter(Router):
    """Sends each request to the open lab or to the lobby."""

    def __init__(self, desk: LabDesk, lobby: Application) -> None:
        self.desk, self.lobby = desk, lobby

    def find_handler(self, request: HTTPServerRequest, **kwargs: Any) -> HTTPMessageDelegate | None:
        """The handler of a request; one below a lab that has ended is the lobby's, which opens it anew."""
        opened = self.desk.current
        if opened is not None and not opened.context.ended and request.path.startswith(opened.context.prefix):
            return opened.application.find_handler(request, **kwargs)
        return self.lobby.find_handler(request, **kwargs)


class HubServer:
    """Serves one student until the end of the `with` block.

    Args:
        settings: of the Hub.
        folder: of the student.
        idle_minutes: after which it ends by itself; 0 for never.
        first: number of the lab to begin with; None for the list.

    Raises:
        InputError: the port cannot be used, or there is no such lab.
    """

    def __init__(self, settings: HubSettings, folder: Path, *, idle_minutes: float, first: int | None = None) -> None:
        self.settings = settings
        entries = [load_card(folder) for folder in lab_folders()]
        if first is not None and all(entry.number != first for entry in entries):
            raise InputError(f"there is no Lab {first}")
        self._secret = secrets.token_bytes(32)  # of this process: whoever comes after a restart logs in again
        self.access = HubAccess(
            prefix=settings.prefix, hub=HubOAuth.instance(), base=settings.prefix, owner=settings.user
        )
        self.desk = LabDesk(folder, self._page)
        self.sharing: Sharing | None = None
        self._lobby = Lobby(self.access, self.desk, entries, settings.hub_prefix, first)
        self._folder, self._idle_minutes = folder, idle_minutes
        self._loop: asyncio.AbstractEventLoop | None = None
        self._tasks: list[asyncio.Task[None]] = []
        self.ended = ""
        try:
            sockets = bind_sockets(settings.port, settings.host)
        except OSError as error:
            raise EngineError(f"{settings.host}:{settings.port} cannot be used: {error.strerror}") from error
        self._serving = ServingThread(sockets, self._router)

    def __enter__(self) -> HubServer:
        self._serving.begin()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.desk.leave("the server was stopped")
        self._serving.end()

    def _router(self) -> Router:
        """What is served; called in the loop."""
        self._loop = asyncio.get_running_loop()
        self.sharing = Sharing(self.settings, self._folder)
        activity = ActivityReporter(self.settings, self.desk, self._idle_minutes, self._end)
        self._tasks = [self._loop.create_task(task) for task in (activity.watch(), self.sharing.tell())]
        routes = [*log_in_routes(self.access), *lobby_routes(self._lobby)]
        lobby = Application(routes, cookie_secret=self._secret, log_function=app.no_log)
        return LabRouter(self.desk, lobby)

    def _page(self, lab: Lab, folder: Path) -> OpenLab:
        """The page of a lab; called in the loop."""
        assert self.sharing is not None
        prefix = f"{self.settings.prefix}lab/{lab.number}/"
        access = replace(self.access, prefix=prefix)
        context = PageContext(lab, lab.load_topology(), folder, access=access, name=self.settings.user)
        context.loop = self._loop
        context.events.publish("classroom", labs=self.settings.prefix)
        more = sharing_routes(context, self.sharing)
        if more:
            self.sharing.attend(context)
        return OpenLab(context, app.application(context, more, cookie_secret=self._secret))

    def _end(self, why: str) -> None:
        self.ended = why
        self.desk.close(why)
