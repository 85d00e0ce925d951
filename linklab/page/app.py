# SPDX-License-Identifier: BSD-3-Clause
"""The application of a lab's page: the routes of its parts; the first visit turns the token into a cookie."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from urllib.parse import urlencode

from tornado.web import Application, RequestHandler

from linklab.page import captures, clock, files, front, guidance, live, notes, terminals, topology
from linklab.page.context import PageContext
from linklab.page.handlers import PageHandler, RequestError

PARTS = (front, terminals, clock, files, notes, guidance, captures, topology, live)
"""Modules with `routes(context)`; a part of the page is one more."""

PING_S = 20
LARGEST_MESSAGE = 2**20
"""Bytes of a message from a browser; more than is pasted into a terminal."""


class VisitHandler(PageHandler):
    """The printed address."""

    async def prepare(self) -> None:
        """The token takes the place of the cookie, which does not exist yet."""
        access = self.context.access
        if not access.is_host(self.host):
            await self.refuse_strangers(from_page=False)
        if not access.has_token(self.get_query_argument("token", None)):
            raise RequestError(
                403, "This is not the whole address, or that of an earlier page; use the one printed last."
            )

    def get(self) -> None:
        """Set the cookie and go on without the token, which so stays out of the history and of bookmarks."""
        access = self.context.access
        secure = self.request.protocol == "https"
        self.set_cookie(
            access.cookie, access.session, path=access.prefix, httponly=True, samesite="Strict", secure=secure
        )
        # not a redirect by status: a cookie of SameSite=Strict would not be sent after one that began elsewhere
        self.set_header("Refresh", f"0; url={access.prefix}")
        self.set_header("Content-Type", "text/html; charset=utf-8")
        self.finish(
            '<!DOCTYPE html><html lang="en"><meta charset="utf-8"><link rel="icon" href="data:,"><title>Linklab</title>'
            f'<p><a href="{access.prefix}">Go on to the lab</a></p></html>'
        )


class NowhereHandler(PageHandler):
    """Every other path."""

    async def prepare(self) -> None:
        """Say nothing of what there is to a stranger."""
        await super().prepare()
        raise RequestError(404, "There is no such page here.")


def application(context: PageContext, more: Sequence[Any] = (), **settings: Any) -> Application:
    """The page of one lab as a Tornado application, with more routes and with further settings of Tornado's."""
    routes: list[Any] = [("/", VisitHandler, {"context": context}), *more]
    for part in PARTS:
        routes += part.routes(context)
    return Application(
        routes,
        default_handler_class=NowhereHandler,
        default_handler_args={"context": context},
        websocket_ping_interval=PING_S,
        websocket_max_message_size=LARGEST_MESSAGE,
        log_function=no_log,
        **settings,
    )


def no_log(_: RequestHandler) -> None:
    """A line for each request would hide what the command prints."""


def address(context: PageContext, port: int, host: str = "127.0.0.1") -> str:
    """What a browser opens first."""
    return f"http://{host}:{port}/?{urlencode({'token': context.token})}"
