# SPDX-License-Identifier: BSD-3-Clause
"""Who may use a lab's page: decided from what a request carries, without a server.

The address that is printed carries the token; the first visit turns it into a cookie. The cookie is bound to a path
that only the printed address reveals, because browsers send cookies of 127.0.0.1 to every port, also to that of a
server of another user. The name in `Host` keeps pages of other sites out whose name was made to lead here (DNS
rebinding).
"""

from __future__ import annotations

import hmac
import re
import secrets
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from tornado.web import RequestHandler

HOST = re.compile(r"([A-Za-z0-9.-]+)(?::[0-9]{1,5})?")
LOCAL_NAMES = frozenset({"127.0.0.1", "localhost"})


def _secret() -> str:
    return secrets.token_urlsafe(32)


@dataclass(frozen=True)
class Access:
    """What opens one page.

    token: in the printed address.
    session: value of the cookie.
    prefix: path of the page, with a slash at both ends.
    hosts: names by which the page may be addressed; any port, because SSH may forward from another one.
    """

    token: str = field(default_factory=_secret)
    session: str = field(default_factory=_secret)
    prefix: str = field(default_factory=lambda: f"/{secrets.token_urlsafe(9)}/")
    hosts: frozenset[str] = LOCAL_NAMES

    @property
    def cookie(self) -> str:
        """Name of the cookie."""
        return "linklab-session"

    def has_token(self, given: str | None) -> bool:
        """Whether this is the token; takes equally long for every wrong one."""
        return _same(given, self.token)

    def has_session(self, given: str | None) -> bool:
        """Whether this is the value of the cookie."""
        return _same(given, self.session)

    async def why_not(self, visitor: RequestHandler) -> str:
        """Why a request is refused, as a sentence; "" if it is this user's.

        One that asks somewhere else who the visitor is may also send the browser there, which finishes the request.
        """
        if self.has_session(visitor.get_cookie(self.cookie)):
            return ""
        return "Open the address that linklab lab has printed; it carries the key to this page."

    def is_host(self, host: str | None) -> bool:
        """Whether a `Host` header names this page's machine."""
        return _name_of(host) in self.hosts

    def is_own_origin(self, origin: str | None, host: str | None) -> bool:
        """Whether an `Origin` header names the page itself: the same name and port as `Host`, by http or https."""
        if not origin or not host:
            return False
        try:
            parts = urlsplit(origin)
        except ValueError:
            return False
        return parts.scheme in ("http", "https") and parts.netloc.lower() == host.lower() and parts.path in ("", "/")


def _same(given: str | None, wanted: str) -> bool:
    return given is not None and hmac.compare_digest(given.encode("utf-8", "replace"), wanted.encode())


def _name_of(host: str | None) -> str | None:
    """The name in a `Host` header, without its port; RFC 9110, section 7.2."""
    found = HOST.fullmatch(host or "")
    return found[1].lower() if found else None
