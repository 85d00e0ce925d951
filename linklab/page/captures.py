# SPDX-License-Identifier: BSD-3-Clause
"""Captures on a lab's page: `POST capture`, the socket `packets`, one packet's headers, and the file.

`POST capture {"do": "start" | "stop" | "clear", "places": ["h1:h1-eth0", …], "filter": words}`; no places are all.
`GET packets/interfaces` lists them; `GET packets/N` answers a packet's headers and bytes; `GET packets/file` is pcapng.
Socket `packets`: to the browser {"state"}, {"rows"} (lines of `ShelvedPacket.row`) and, once it has sent {"motion":
true}, {"flights"}, all as they come, at most ten times a second.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
from typing import Any

from tornado.web import RequestHandler
from tornado.websocket import WebSocketClosedError

from linklab.capture import tshark
from linklab.capture.decode import Decoded, Header
from linklab.capture.session import interfaces
from linklab.errors import LinklabError, MissingError
from linklab.page.context import Lane, PageContext
from linklab.page.flights import Flight, FlightFinder, port_delays
from linklab.page.handlers import PageHandler, PageSocket, RequestError
from linklab.page.packets import PacketShelf, ShelvedPacket
from linklab.terminal.attached import STATE_PROGRAM, output_of

EVERY_S = 0.1
MOST_ROWS = 300
"""Rows of one message; of a faster flow the last ones are shown."""
FIRST_ROWS = 1000
MOST_FLIGHTS = 400
MOST_PLACES = 256
DELAYS_DEADLINE_S = 5.0


class CapturesOnPage:
    """The captures of one page, and the browsers that watch them."""

    def __init__(self, context: PageContext) -> None:
        self.context = context
        self.shelf = PacketShelf(lambda: context.soon(self._tell_state))
        self.sockets: set[PacketsSocket] = set()
        self._task: asyncio.Task[None] | None = None
        context.on_close(self.shelf.stop)

    def watch(self, socket: PacketsSocket) -> None:
        """Begin to tell a browser; in the loop."""
        self.sockets.add(socket)
        socket.tell(state=self.shelf.state())
        if self._task is None:
            self._task = asyncio.get_running_loop().create_task(self._feed())

    def leave(self, socket: PacketsSocket) -> None:
        """Tell it nothing more; a capture goes on, since the page may only be loaded again."""
        self.sockets.discard(socket)
        self.set_motion()

    def _tell_state(self) -> None:
        for socket in self.sockets:
            socket.tell(state=self.shelf.state())

    def set_motion(self) -> None:
        """Look for flights as long as somebody watches them."""
        wanted = any(socket.motion for socket in self.sockets)
        if wanted and self.shelf.finder is None and self.context.topology is not None:
            topology = self.context.topology
            ends = [
                (f"{link.src}:{a}", f"{link.dest}:{b}")
                for link, (a, b) in zip(topology.links, topology.link_ends(), strict=True)
            ]
            self.shelf.finder = FlightFinder(ends)
        elif not wanted:
            self.shelf.finder = None

    async def _feed(self) -> None:
        """Tell every browser what is new, until none is left."""
        while self.sockets:
            flights = [self._told(flight) for flight in self.shelf.take_flights()[-MOST_FLIGHTS:]]
            for socket in list(self.sockets):
                socket.tell_new(self.shelf, flights if socket.motion else [])
            await asyncio.sleep(EVERY_S)
        self._task = None

    def _told(self, flight: Flight) -> list[Any]:
        """A flight as the page takes it: its own fields, then its packet's protocol and what it is."""
        found = self.shelf.find(flight.number)
        what = found.decoded() if found is not None else Decoded()
        own = [flight.link, flight.forward, flight.from_ns, flight.to_ns, flight.delay_ns, flight.number, flight.known]
        return [*own, what.protocol, what.info]

    def _read_delays(self) -> dict[str, int]:
        """Return what netem delays where; nothing is known where time is paused. Waits for the network."""
        attach = self.context.attach
        state = attach.clock.state() if attach.clock is not None else None
        network = {"id": attach.id, "name": attach.name, "paused": bool(state and state["paused"])}
        with contextlib.suppress(LinklabError, ValueError):
            text = output_of(network, STATE_PROGRAM, what="reading the delays", deadline_s=DELAYS_DEADLINE_S)
            return port_delays(json.loads(text))
        return {}

    def start(self, places: list[str], words: str) -> None:
        """Begin a capture; LinklabError as `PacketShelf.start`.

        Delays are read before it, since slow motion begins after it, and then no program inside has an answer soon.
        """
        finder = self.shelf.finder
        if finder is not None:
            finder.delays = self._read_delays()
        self.shelf.start(self.context.attach, self.context.folder, places, words)

    def there(self) -> dict[str, list[str]]:
        """Return the interfaces of each node."""
        return interfaces(self.context.attach.connect())


class _OfCaptures(PageHandler):
    """A handler that knows the captures."""

    def initialize(self, context: PageContext, captures: CapturesOnPage) -> None:  # type: ignore[override] # one more
        """Take what the route gives."""
        super().initialize(context)
        self.captures = captures


class CaptureHandler(_OfCaptures):
    """Begins and ends captures."""

    async def post(self) -> None:
        """Do it, and answer the state; an error is a sentence."""
        given = self.fields(do=str, places=list, filter=str)
        places = given["places"]
        if len(places) > MOST_PLACES or not all(isinstance(place, str) for place in places):
            raise RequestError(400, "The interfaces to capture are a few short texts.")
        shelf = self.captures.shelf
        match given["do"]:
            case "start":
                await self.context.in_thread(self.captures.start, places, given["filter"].strip())
            case "stop":
                await self.context.in_thread(shelf.stop)
            case "clear":
                shelf.clear()
            case _:
                raise RequestError(400, "A capture can be started, stopped, and cleared.")
        self.answer(**shelf.state())


class InterfacesHandler(_OfCaptures):
    """Lists what can be captured."""

    async def get(self) -> None:
        """Answer with the interfaces of each node."""
        self.answer(interfaces=await self.context.in_thread(self.captures.there))


class PacketHandler(_OfCaptures):
    """One packet."""

    _reading: asyncio.Task[tuple[list[Header], str]] | None = None

    async def get(self, number: str) -> None:
        """Answer with its headers, by tshark where that is installed, and with its bytes."""
        found = self.captures.shelf.find(int(number))
        if found is None:
            raise RequestError(404, "This packet is no longer kept; the page keeps the last ones.")
        self._reading = asyncio.create_task(self.context.in_lane(Lane.TOOLS, headers_of, found))
        try:
            headers, by = await self._reading
        except asyncio.CancelledError:
            return
        self.answer(
            row=found.row(),
            by=by,
            headers=[{"name": header.name, "fields": header.fields} for header in headers],
            bytes=found.packet.data[:2048].hex(),
        )

    def on_connection_close(self) -> None:
        """The page has gone on to another packet: tshark does not begin with this one."""
        if self._reading is not None:
            self._reading.cancel()


def headers_of(found: ShelvedPacket) -> tuple[list[Header], str]:
    """Return a packet's headers and who has read them, "tshark" or "Linklab"."""
    if tshark.is_installed():
        with contextlib.suppress(MissingError):
            return tshark.headers(found.packet, found.place, found.link_type), "tshark"
    return found.decoded().headers, "Linklab"


class PacketsFileHandler(_OfCaptures):
    """The capture as a file."""

    async def get(self) -> None:
        """Answer with pcapng."""
        data = await self.context.in_thread(self.captures.shelf.as_file)
        self.set_header("Content-Type", "application/vnd.tcpdump.pcap")
        self.set_header("Content-Disposition", f'attachment; filename="{self.context.lab.slug}.pcapng"')
        self.finish(data)


class PacketsSocket(PageSocket):
    """One browser's view of the packets."""

    def initialize(self, context: PageContext, captures: CapturesOnPage) -> None:  # type: ignore[override] # one more
        """Take what the route gives."""
        super().initialize(context)
        self.captures = captures
        self.motion, self._wants_rows = False, True
        self._shown = -1

    def open(self, *_: str, **__: str) -> None:
        """Tell the state, then the packets."""
        self.set_nodelay(True)
        self.captures.watch(self)

    def on_message(self, message: str | bytes) -> None:
        """Whether flights are wanted; what is anything else is refused by closing."""
        try:
            given = json.loads(message)
        except ValueError:
            given = None
        if isinstance(given, dict) and isinstance(given.get("motion"), bool):
            self.motion, self._wants_rows = given["motion"], False  # the picture shows no rows
            self.captures.set_motion()
        else:
            self.close(4400, "not a message of the packet list")

    def on_close(self) -> None:
        """The page was closed."""
        self.captures.leave(self)

    def tell_new(self, shelf: PacketShelf, flights: list[list[Any]]) -> None:
        """Tell the rows since the last time, and flights."""
        state = shelf.state()
        if self._wants_rows and (self._shown < 0 or state["last"] > self._shown):
            rows = [
                each.row() for each in shelf.after(max(self._shown, 0), FIRST_ROWS if self._shown < 0 else MOST_ROWS)
            ]
            skipped = state["last"] - max(self._shown, state["first"] - 1) - len(rows) if self._shown >= 0 else 0
            self._shown = state["last"] if not rows else rows[-1][0]
            if rows:
                self.tell(rows=rows, skipped=max(skipped, 0), dropped=state["dropped"])
        if flights:
            self.tell(flights=flights)

    def tell(self, **fields: Any) -> None:
        """Send an object; in the loop."""
        with contextlib.suppress(WebSocketClosedError):
            self.write_message(json.dumps(fields))


def routes(context: PageContext) -> list[tuple[str, type[RequestHandler], dict[str, Any]]]:
    """The routes of this module."""
    given = {"context": context, "captures": CapturesOnPage(context)}
    return [
        (f"{context.prefix}capture", CaptureHandler, given),
        (f"{context.prefix}packets", PacketsSocket, given),
        (f"{context.prefix}packets/interfaces", InterfacesHandler, given),
        (f"{context.prefix}packets/file", PacketsFileHandler, given),
        (f"{context.prefix}packets/([0-9]{{1,12}})", PacketHandler, given),
    ]
