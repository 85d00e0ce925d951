# SPDX-License-Identifier: BSD-3-Clause
"""The pages around a student's labs: the list, opening one, leaving it, and what the Hub asks.

Below the path of the server:

- "": the list of labs; after the start, the lab that the Hub was asked for
- lab/14/: the page of Lab 14, which is opened if no other lab is
- lab/14/open (POST): leave the lab that is open, and open this one
- leave (POST): leave it
- api: the Hub looks whether the server answers
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from tornado.web import RequestHandler

from linklab import __version__
from linklab.classroom.hub_access import HubAccess
from linklab.classroom.lab_desk import LabDesk
from linklab.lab.model import LabCard, load_lab
from linklab.page.handlers import PageHandler, RequestError

HERE = Path(__file__).resolve().parent
TEMPLATES = Environment(loader=FileSystemLoader(HERE), autoescape=True, undefined=StrictUndefined)


@dataclass
class Lobby:
    """What the pages around the labs share.

    first: number of the lab to which the first visit leads; None for the list.
    """

    access: HubAccess
    desk: LabDesk
    entries: list[LabCard]
    hub_prefix: str
    first: int | None = None
    opening: asyncio.Lock = field(default_factory=asyncio.Lock)

    def touch(self) -> None:
        """The student has done something."""
        self.desk.touch()

    def entry(self, number: str) -> LabCard:
        """The lab of that number; RequestError if there is none."""
        for entry in self.entries:
            if str(entry.number) == number:
                return entry
        raise RequestError(404, f"There is no Lab {number}.")


class LobbyHandler(PageHandler):
    """A page outside of a lab's."""

    def initialize(self, lobby: Lobby) -> None:  # type: ignore[override] # another thing is served
        """Take what the route gives."""
        self.lobby = lobby

    @property
    def guard(self) -> Lobby:
        """What is served here."""
        return self.lobby

    def set_default_headers(self) -> None:
        """As a lab's page, but forms send their origin, which no-referrer would hide."""
        super().set_default_headers()
        self.set_header("Referrer-Policy", "same-origin")

    def show(self, template: str, **fields: Any) -> None:
        """Answer with a page."""
        lobby = self.lobby
        self.set_header("Content-Type", "text/html; charset=utf-8")
        base, owner = lobby.access.base, lobby.access.owner
        page = TEMPLATES.get_template(template)
        self.finish(page.render(base=base, hub=lobby.hub_prefix, owner=owner, now=lobby.desk.facts(), **fields))

    async def open(self, entry: LabCard) -> None:
        """Open a lab, and go to its page."""
        lobby = self.lobby
        async with lobby.opening:
            if lobby.desk.facts()["number"] != entry.number:
                lab = await asyncio.get_running_loop().run_in_executor(None, load_lab, entry.folder)
                lobby.desk.open(lab)
        self.redirect(f"{lobby.access.base}lab/{entry.number}/", status=303)


class LabsHandler(LobbyHandler):
    """The list."""

    async def get(self) -> None:
        """Show it; the first time go to the lab that the Hub was asked for."""
        self.lobby.touch()
        first, self.lobby.first = self.lobby.first, None
        if first is not None:
            self.redirect(f"{self.lobby.access.base}lab/{first}/")
        else:
            self.show("labs.html.j2", labs=self.lobby.entries)


class DoorHandler(LobbyHandler):
    """A lab that is not open."""

    async def get(self, number: str) -> None:
        """Open it; while another one is open, ask first."""
        self.lobby.touch()
        entry = self.lobby.entry(number)
        if self.lobby.desk.facts()["number"] is None:
            await self.open(entry)
        else:
            self.show("change.html.j2", lab=entry)

    async def post(self, number: str) -> None:
        """Open it."""
        await self.open(self.lobby.entry(number))


class LeaveHandler(LobbyHandler):
    """Ends the network of the lab that is open."""

    def post(self) -> None:
        """Leave it."""
        self.lobby.desk.leave("you have left this lab")
        self.redirect(self.lobby.access.base, status=303)


class GoneHandler(LobbyHandler):
    """What a page of a lab asks that is not open any more."""

    def get(self, *_: str) -> None:
        """Refuse."""
        raise RequestError(410, "This lab is not open any more: open it again from the list of labs.")

    post = delete = get


class HubProbeHandler(RequestHandler):
    """The Hub waits for any answer here before it sends browsers; so it comes without a log-in."""

    def get(self) -> None:
        """Say who answers."""
        self.clear_header("Server")
        self.finish({"program": "linklab", "version": __version__})


def lobby_routes(lobby: Lobby) -> list[Any]:
    """The routes of this module."""
    base, own = lobby.access.base, {"lobby": lobby}
    return [
        (base, LabsHandler, own),
        (base.rstrip("/") or "/", LabsHandler, own),
        (f"{base}api", HubProbeHandler),
        (f"{base}leave", LeaveHandler, own),
        (f"{base}lab/([0-9]+)/?", DoorHandler, own),
        (f"{base}lab/([0-9]+)/open", DoorHandler, own),
        (f"{base}lab/[0-9]+/.*", GoneHandler, own),
    ]
