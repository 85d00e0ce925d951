# SPDX-License-Identifier: BSD-3-Clause
"""The instructor's page: who of a class is at which step, and who may need help. A service of JupyterHub.

    PREFIX            the page, for whom the Hub gives the scope access:services!service=NAME
    PREFIX rows       its table as JSON, which the page asks for every ten seconds
    PREFIX progress   POST and DELETE by students' servers, with their own tokens: the Hub says whose they are

Started by the Hub as `python -m linklab.classroom.class_page`, which sets the environment (`hub_settings`).
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import sys
import time
from dataclasses import asdict
from typing import Any

from jupyterhub.services.auth import HubOAuth
from tornado.httpserver import HTTPServer
from tornado.web import Application

from linklab.classroom.hub_access import HubAccess, log_in_routes
from linklab.classroom.hub_settings import HubSettings
from linklab.classroom.lobby import HERE, TEMPLATES
from linklab.classroom.roster import ClassRoster
from linklab.errors import LinklabError
from linklab.page.app import no_log
from linklab.page.handlers import PageHandler, RequestError

LONGEST_REPORT = 2**14
SCHEME = "token "


class ClassDesk:
    """What the pages of this service share."""

    def __init__(self, access: HubAccess, roster: ClassRoster, hub_prefix: str) -> None:
        self.access, self.roster, self.hub_prefix = access, roster, hub_prefix

    def touch(self) -> None:
        """Nothing ends for want of activity here."""


class ClassHandler(PageHandler):
    """A page for the instructor."""

    def initialize(self, desk: ClassDesk) -> None:  # type: ignore[override] # another thing is served
        """Take what the route gives."""
        self.desk = desk

    @property
    def guard(self) -> ClassDesk:
        """What is served here."""
        return self.desk


class TableHandler(ClassHandler):
    """The page."""

    def get(self) -> None:
        """Show the table as it is now; its script renews it."""
        desk = self.desk
        self.set_header("Content-Type", "text/html; charset=utf-8")
        rows, page = desk.roster.rows(time.monotonic()), TEMPLATES.get_template("class.html.j2")
        self.finish(page.render(base=desk.access.base, hub=desk.hub_prefix, rows=rows))


class RowsHandler(ClassHandler):
    """The table for the script."""

    def get(self) -> None:
        """Answer with the lines."""
        self.answer(rows=[asdict(row) for row in self.desk.roster.rows(time.monotonic())])


class ClassScriptHandler(ClassHandler):
    """The script of the page."""

    def get(self) -> None:
        """Answer with the file."""
        self.set_header("Content-Type", "text/javascript; charset=utf-8")
        self.finish((HERE / "class.js").read_text(encoding="utf-8"))


class ReportHandler(ClassHandler):
    """Takes reports of students' servers, which carry a token and no cookie, so that no browser can send one."""

    async def prepare(self) -> None:
        """Learn from the Hub whose token it is."""
        given = self.request.headers.get("Authorization", "")
        hub = self.desk.access.hub
        assert hub is not None
        model = None
        if given.startswith(SCHEME):
            model = await hub.user_for_token(given.removeprefix(SCHEME), sync=False)
        if not model or model.get("kind") != "user":
            raise RequestError(403, "A report carries the token that the Hub gave to a student's server.")
        self.student = str(model["name"])

    def post(self) -> None:
        """Take a report."""
        try:
            report = json.loads(self.request.body)
        except ValueError:
            raise RequestError(400, "A report is JSON.") from None
        self.desk.roster.take(self.student, report, time.monotonic())
        self.answer()

    def delete(self) -> None:
        """Forget the student's reports."""
        self.desk.roster.leave(self.student)
        self.answer()


def class_application(settings: HubSettings, hub: HubOAuth, roster: ClassRoster) -> Application:
    """The service as a Tornado application."""
    access = HubAccess(prefix=settings.prefix, hub=hub, base=settings.prefix, owner="the instructor")
    own: dict[str, Any] = {"desk": ClassDesk(access, roster, settings.hub_prefix)}
    base = settings.prefix
    routes: list[Any] = [
        *log_in_routes(access),
        (base, TableHandler, own),
        (f"{base}rows", RowsHandler, own),
        (f"{base}class.js", ClassScriptHandler, own),
        (f"{base}progress", ReportHandler, own),
    ]
    return Application(routes, cookie_secret=os.urandom(32), log_function=no_log)


async def _serve(settings: HubSettings, roster: ClassRoster) -> None:
    server = HTTPServer(class_application(settings, HubOAuth.instance(), roster), max_body_size=LONGEST_REPORT)
    server.listen(settings.port, settings.host)
    await asyncio.Event().wait()


def main() -> None:
    """Serve until the Hub stops this program."""
    parser = argparse.ArgumentParser(description="The instructor's page, a service of JupyterHub.")
    parser.add_argument("--stuck-minutes", type=float, default=10.0, help="without a step done (default: 10)")
    args = parser.parse_args()
    try:
        asyncio.run(_serve(HubSettings.read(os.environ), ClassRoster(args.stuck_minutes)))
    except KeyboardInterrupt:
        return
    except LinklabError as error:
        sys.exit(f"linklab: {error}")


if __name__ == "__main__":
    main()
