# SPDX-License-Identifier: BSD-3-Clause
"""Who may use a student's labs, as JupyterHub says: its OAuth, and the routes that OAuth needs.

A browser is sent to the Hub once and comes back with a token, kept in a signed cookie; the Hub says whose it is and
whether its owner may use this server. Answers are kept for a few minutes (HubOAuth.cache_max_age).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from jupyterhub.services.auth import HubOAuth, HubOAuthCallbackHandler, HubOAuthenticated
from tornado.web import RequestHandler

from linklab.page.access import HOST, Access


@dataclass(frozen=True)
class HubAccess(Access):
    """Access by the Hub's OAuth.

    hub: asks the Hub.
    base: path of the server, with a slash at both ends; the prefix of a page lies below.
    owner: whose server it is, for sentences.
    """

    hub: HubOAuth | None = None
    base: str = "/"
    owner: str = ""

    def is_host(self, host: str | None) -> bool:
        """Any name: the Hub has its own, and a browser sends the cookie of that name only."""
        return HOST.fullmatch(host or "") is not None

    async def who(self, visitor: RequestHandler) -> Mapping[str, Any] | None:
        """The Hub's model of the user whose browser this is; None if it must log in first."""
        assert self.hub is not None
        token = visitor.get_secure_cookie(self.hub.cookie_name)
        if not token:
            return None
        session = self.hub.get_session_id(visitor)  # another one after a log-out, so that nothing kept is used
        found = await self.hub.user_for_token(token.decode("ascii", "replace"), session_id=session, sync=False)
        return dict(found) if found else None

    def may_enter(self, model: Mapping[str, Any]) -> bool:
        """Whether the Hub lets this user use the server."""
        assert self.hub is not None
        return bool(self.hub.check_scopes(self.hub.access_scopes, model))

    async def why_not(self, visitor: RequestHandler) -> str:
        """As a sentence; a browser that opens a page without being logged in is sent to the Hub."""
        model = await self.who(visitor)
        if model is not None:
            return "" if self.may_enter(model) else f"This page belongs to {self.owner}, and you are {model['name']}."
        if not _opens_page(visitor):
            return "You are not logged in any more: load the page again."
        visitor.redirect(f"{self.base}login?{urlencode({'next': visitor.request.uri or self.base})}")
        return ""


def _opens_page(visitor: RequestHandler) -> bool:
    """Whether a person opens a page, as opposed to a page that fetches something; Fetch Metadata where it is sent."""
    headers = visitor.request.headers
    if visitor.request.method != "GET" or headers.get("Upgrade"):
        return False
    return headers.get("Sec-Fetch-Mode", "navigate") == "navigate"


class LogInHandler(HubOAuthenticated, RequestHandler):  # type: ignore[misc] # JupyterHub has no types
    """Sends a browser to the Hub, and back to where it wanted to go."""

    def initialize(self, access: HubAccess) -> None:
        """Take what the route gives."""
        self.access = access

    async def get(self) -> None:
        """Go on if the browser has come back from the Hub, else go there."""
        wanted = self.get_query_argument("next", self.access.base)
        if not is_below(wanted, self.access.base):
            wanted = self.access.base
        self.redirect(wanted if await self.access.who(self) else self.get_login_url())


def is_below(path: str, base: str) -> bool:
    """Whether a path leads to this server and nowhere else, so that nobody is sent to another site."""
    return path.startswith(base) and not path.startswith("//") and not set(path) & set("\\\r\n\t")


def log_in_routes(access: HubAccess) -> list[Any]:
    """The routes that logging in needs; `oauth_callback` is where the Hub sends browsers back."""
    return [
        (f"{access.base}login", LogInHandler, {"access": access}),
        (f"{access.base}oauth_callback", HubOAuthCallbackHandler),
    ]
