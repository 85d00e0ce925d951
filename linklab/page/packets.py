# SPDX-License-Identifier: BSD-3-Clause
"""The packets that a lab's page has captured: a shelf of the last ones, filled by a thread, read by the handlers.

One capture at a time, of one, several or all interfaces. What is older than the shelf holds is forgotten and counted.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from linklab import __version__
from linklab.capture.decode import Decoded, decode
from linklab.capture.session import SNAPLEN, CaptureOrder, CaptureSession, interfaces
from linklab.errors import InputError, LinklabError
from linklab.linux import pcapng
from linklab.page.flights import Flight, FlightFinder
from linklab.terminal.attach_server import AttachServer

MOST_BYTES = 64 * 2**20
MOST_PACKETS = 100_000
MOST_DECODED = 2000
"""Packets of one batch whose flights are looked for; in a faster flow nobody can follow a single packet."""
END_S = 5.0


@dataclass(frozen=True)
class ShelvedPacket:
    """A captured packet: its number on this page, its interface "NODE:IF", and its link type."""

    number: int
    place: str
    link_type: int
    packet: pcapng.CapturedPacket

    def decoded(self) -> Decoded:
        """Say what it is."""
        return decode(self.packet.data, self.packet.length, self.link_type)

    def row(self) -> list[Any]:
        """Its line: number, time in ns, interface, direction, protocol, source, target, length, info."""
        what = self.decoded()
        way = {pcapng.INBOUND: "in", pcapng.OUTBOUND: "out"}.get(self.packet.direction, "")
        packet = self.packet
        line = [self.number, packet.time_ns, self.place, way]
        return [*line, what.protocol, what.source, what.target, packet.length, what.info]


class PacketShelf:
    """The last packets, and the capture that brings more.

    changed: called, in any thread, when the capture begins, ends or fails.
    """

    def __init__(self, changed: Callable[[], None] = lambda: None) -> None:
        self.changed = changed
        self.finder: FlightFinder | None = None
        self._flights: deque[Flight] = deque(maxlen=MOST_DECODED)
        self._packets: deque[ShelvedPacket] = deque()
        self._bytes = 0
        self._count = 0
        self._session: CaptureSession | None = None
        self._thread: threading.Thread | None = None
        self._said = ""
        self._is_bad = False
        self._filter = ""
        self._lock = threading.Lock()
        self._turn = threading.RLock()  # one starts or stops at a time

    # --- the capture

    def start(self, attach: AttachServer, folder: Path, places: Sequence[str], filter_text: str) -> None:
        """Begin a capture, in place of the one that goes on; no places are all interfaces but loopbacks.

        Raises:
            LinklabError: as `CaptureSession`, and `interfaces` where all are wanted.
        """
        with self._turn:
            self.stop()
            if not places:
                there = interfaces(attach.connect())
                places = [f"{node}:{name}" for node, names in there.items() for name in names if name != "lo"]
            user = f"Linklab {__version__}, {attach.name}"
            order = CaptureOrder(places, filter=filter_text, snaplen=SNAPLEN, user=user)
            session = CaptureSession(attach.connect(), folder, order)
            begun = threading.Event()
            with self._lock:
                self._session, self._said, self._is_bad, self._filter = session, "", False, filter_text
                self._thread = threading.Thread(target=self._run, args=(session, begun), name="packets", daemon=True)
            self._thread.start()
            begun.wait(END_S)
            if self._is_bad:
                raise InputError(self._said)
            self.changed()

    def stop(self) -> None:
        """End the capture that goes on, if one does; the packets stay."""
        with self._turn:
            with self._lock:
                session, thread = self._session, self._thread
            if session is not None and thread is not None:
                session.stop()
                thread.join(END_S)

    def clear(self) -> None:
        """Forget all packets; their numbers go on."""
        with self._lock:
            self._packets.clear()
            self._flights.clear()
            self._bytes = 0
        self.changed()

    def _run(self, session: CaptureSession, begun: threading.Event) -> None:
        places: list[tuple[str, int]] = []
        said, is_bad = "", False
        try:
            with session:
                for blocks in session.stream():
                    if session.listens:
                        begun.set()
                    self._take(blocks, places)
            said = {"network": "the network has ended", "gone": "the interface is gone"}.get(session.ended, "")
        except (LinklabError, OSError, ValueError) as error:
            said, is_bad = str(error), True
        with self._lock:
            if self._session is session:  # and not the one that has taken its place
                self._session, self._thread, self._said, self._is_bad = None, None, said, is_bad
        begun.set()
        self.changed()

    def _take(self, blocks: Sequence[tuple[int, bytes]], places: list[tuple[str, int]]) -> None:
        found = []
        for kind, block in blocks:
            if kind == pcapng.INTERFACE:
                places.append(pcapng.read_interface(block))
            elif kind == pcapng.PACKET:
                found.append(pcapng.read_packet(block))
        if not found:
            return
        with self._lock:
            fresh = []
            for packet in found:
                self._count += 1
                fresh.append(ShelvedPacket(self._count, *places[packet.interface], packet))
                self._bytes += len(packet.data)
            self._packets.extend(fresh)
            while self._packets and (self._bytes > MOST_BYTES or len(self._packets) > MOST_PACKETS):
                self._bytes -= len(self._packets.popleft().packet.data)
            finder = self.finder
        if finder is not None and len(fresh) <= MOST_DECODED:
            self._look_for_flights(finder, fresh)

    def _look_for_flights(self, finder: FlightFinder, fresh: Sequence[ShelvedPacket]) -> None:
        for each in fresh:
            flight = finder.add(each.place, each.number, each.packet, each.decoded().same)
            if flight is not None:
                with self._lock:
                    self._flights.append(flight)

    # --- what handlers ask

    def state(self) -> dict[str, Any]:
        """Say what is captured, how much there is, and what went wrong."""
        with self._lock:
            session = self._session
            return {
                "running": session is not None,
                "places": list(session.listens) if session is not None else [],
                "filter": self._filter if session is not None else "",
                "dropped": session.dropped if session is not None else 0,
                "first": self._packets[0].number if self._packets else self._count + 1,
                "last": self._count,
                "said": self._said,
                "bad": self._is_bad,
            }

    def after(self, number: int, most: int) -> list[ShelvedPacket]:
        """Return the packets with larger numbers, at most the last `most` of them."""
        with self._lock:
            wanted = min(self._count - number, most, len(self._packets))
            return (
                [self._packets[i] for i in range(len(self._packets) - wanted, len(self._packets))] if wanted > 0 else []
            )

    def find(self, number: int) -> ShelvedPacket | None:
        """Return the packet of that number; None if it is forgotten or was never there."""
        with self._lock:
            if not self._packets:
                return None
            at = number - self._packets[0].number
            return self._packets[at] if 0 <= at < len(self._packets) else None

    def take_flights(self) -> list[Flight]:
        """Return the flights that were found since the last call."""
        with self._lock:
            found = list(self._flights)
            self._flights.clear()
        return found

    def as_file(self) -> bytes:
        """Return all packets of the shelf as a file of pcapng."""
        with self._lock:
            packets = list(self._packets)
        numbers: dict[tuple[str, int], int] = {}
        for each in packets:
            numbers.setdefault((each.place, each.link_type), len(numbers))
        comment = "times are network time, since the network was ready"
        blocks = [pcapng.section(f"Linklab {__version__}", comment)]
        blocks += [pcapng.interface(place, link_type=kind, snaplen=SNAPLEN) for place, kind in numbers]
        for each in packets:
            packet, number = each.packet, numbers[each.place, each.link_type]
            blocks.append(pcapng.packet(number, packet.time_ns, packet.data, packet.length, packet.direction))
        return b"".join(blocks)
