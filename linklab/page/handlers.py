# SPDX-License-Identifier: BSD-3-Clause
"""What every handler of a lab's page derives from; the checks of a request are made here and nowhere else.

A request must name this machine (`Host`) and carry the cookie; one that changes something, and every WebSocket, must
come from the page itself (`Origin`). There is no CORS header, so no other site reads an answer.
"""

from __future__ import annotations

import base64
import hashlib
import http.client
import json
from typing import Any, Protocol

from tornado.web import HTTPError, RequestHandler
from tornado.websocket import WebSocketHandler

from linklab.errors import InputError, LinklabError
from linklab.page.access import Access
from linklab.page.context import NotReadyError, PageContext

READING = frozenset({"GET", "HEAD"})
LONGEST_BODY = 2**20
"""Bytes of a request's body; what students write is far shorter."""

CONTENT_POLICY = "; ".join(
    [
        "default-src 'none'",
        "script-src 'self'{script}",
        "style-src 'self' 'unsafe-inline'",  # xterm.js and the figures of manuals set styles of their own
        "img-src 'self' data:",
        "font-src 'self'",
        "connect-src 'self'{socket}",
        "form-action 'self'",
        "frame-ancestors 'none'",
        "base-uri 'none'",
    ]
)
"""Source: Content Security Policy Level 3; no script but files of the page's own."""


class RequestError(HTTPError):
    """A request that is not answered; the sentence is for the person."""

    def __init__(self, status: int, sentence: str) -> None:
        super().__init__(status)
        self.sentence = sentence


class PageGuard(Protocol):
    """What the checks need of what a handler serves."""

    @property
    def access(self) -> Access:
        """Who may use it."""
        ...

    def touch(self) -> None:
        """The person has done something."""
        ...


class _Checked(RequestHandler):
    """Checks and headers that pages and sockets share."""

    def initialize(self, context: PageContext) -> None:
        """Take what the route gives."""
        self.context = context

    @property
    def guard(self) -> PageGuard:
        """What is served here."""
        return self.context

    @property
    def host(self) -> str | None:
        return self.request.headers.get("Host")

    def set_default_headers(self) -> None:
        """Headers of every answer, also of refusals."""
        self._set_policy("")
        self.set_header("X-Content-Type-Options", "nosniff")
        self.set_header("X-Frame-Options", "DENY")
        self.set_header("Referrer-Policy", "no-referrer")  # the first address carries the token
        self.set_header("Cross-Origin-Resource-Policy", "same-origin")
        self.set_header("Cross-Origin-Opener-Policy", "same-origin")
        self.set_header("Cache-Control", "no-store")
        self.clear_header("Server")

    def allow_script(self, text: str) -> None:
        """Let this very script run within the page of this answer; all others are in files of their own."""
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        self._set_policy(f" 'sha256-{digest}'")

    def _set_policy(self, script: str) -> None:
        host = self.request.headers.get("Host", "")
        plain = all(letter.isalnum() or letter in ".:-" for letter in host)
        socket = f" ws://{host} wss://{host}" if host and plain else ""
        self.set_header("Content-Security-Policy", CONTENT_POLICY.format(socket=socket, script=script))

    async def refuse_strangers(self, *, from_page: bool) -> None:
        """HTTPError 403 unless the request is this user's; `from_page`: it must come from the page itself.

        Raises:
            RequestError: with the reason as a sentence.
        """
        access = self.guard.access
        if not access.is_host(self.host):
            raise RequestError(403, "This page is served to this machine only, by the name 127.0.0.1 or localhost.")
        if from_page and not access.is_own_origin(self.request.headers.get("Origin"), self.host):
            raise RequestError(403, "This request does not come from the page of the lab.")
        if sentence := await access.why_not(self):
            raise RequestError(403, sentence)

    def write_error(self, status_code: int, **kwargs: Any) -> None:
        """One sentence, as JSON; an error of ours is its own sentence, and its kind the status."""
        error = kwargs.get("exc_info", (None, None, None))[1]
        text = http.client.responses.get(status_code, "Error")
        if isinstance(error, RequestError):
            text = error.sentence
        elif isinstance(error, LinklabError):
            text = " ".join(str(error).split())
            self.set_status(503 if isinstance(error, NotReadyError) else 400 if isinstance(error, InputError) else 500)
        self.set_header("Content-Type", "application/json; charset=utf-8")
        self.finish(json.dumps({"error": text}))

    def log_exception(self, *args: Any) -> None:
        """Errors of a request are answered; only a fault of the page itself is logged."""
        if not isinstance(args[1], (HTTPError, LinklabError)):
            super().log_exception(*args)


class PageHandler(_Checked):
    """Answers one request of this user's browser."""

    async def prepare(self) -> None:
        """Refuse whoever is not this user, before anything is looked at."""
        changes = self.request.method not in READING
        await self.refuse_strangers(from_page=changes)
        if changes:
            self.guard.touch()

    def data_received(self, chunk: bytes) -> None:
        """Bodies are read whole."""

    def fields(self, **kinds: type) -> dict[str, Any]:
        """The named fields of the JSON object in the body; RequestError if one is missing or of another kind."""
        try:
            given = json.loads(self.request.body or b"{}")
        except ValueError:
            raise RequestError(400, "The body of the request is not JSON.") from None
        if not isinstance(given, dict):
            raise RequestError(400, "The body of the request is not a JSON object.")
        for name, kind in kinds.items():
            if not isinstance(given.get(name), kind):
                raise RequestError(400, f"The field {name} is missing or has another type.")
        return {name: given[name] for name in kinds}

    def answer(self, **fields: Any) -> None:
        """Answer with a JSON object."""
        self.set_header("Content-Type", "application/json; charset=utf-8")
        self.finish(json.dumps(fields))


class PageSocket(_Checked, WebSocketHandler):
    """A WebSocket of the page."""

    async def prepare(self) -> None:
        """Refuse before the upgrade; tornado asks `check_origin` after it has read the headers of the protocol."""
        await self.refuse_strangers(from_page=True)

    def check_origin(self, origin: str) -> bool:
        """`prepare` has checked it already."""
        return self.guard.access.is_own_origin(origin, self.host)

    def get_compression_options(self) -> dict[str, Any] | None:
        """Nothing is gained on one machine."""
        return None

    def data_received(self, chunk: bytes) -> None:
        """A socket has no body."""
