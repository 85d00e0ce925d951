# SPDX-License-Identifier: BSD-3-Clause
"""`python3 -m linklab.agent.capture ORDER`: what passes some interfaces, as pcapng with network time, until Ctrl+C.

ORDER is JSON: {"places": ["h1:h1-eth0", …], "out": a folder, "snaplen": bytes, "filter": as typed,
"programs": {"ethernet": [[code, jt, jf, k], …], "ip": …}, "count": packets or 0, "seconds": network time or 0,
"user": who captures}. `--list` prints the interfaces of each node instead, {"h1": ["h1-eth0", "lo"], …}.
Prints a line of JSON when it listens, {"listens": […]}, for each interface that goes away, {"gone": place}, and at the
end, {"ended": why}; what cannot be is {"error": sentence} and status 1.
Costs no network time: it is woken for each packet and writes it before time goes on, so a pause leaves nothing behind.
The folder's files are parts of one stream. Who reads them removes each; while too many are left, packets are dropped
and counted, and nobody waits.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import selectors
import signal
import socket
import sys
import termios
import time
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from linklab.agent.own_kernel import cost_nothing
from linklab.agent.terminal import no_echo
from linklab.agent.trial_nodes import NodeError, Nodes, NodeSpace
from linklab.linux import pcapng
from linklab.linux.packet_socket import IFF_UP, RING_BYTES, PacketSocket, SeenPacket, flags_of

PART_BYTES = 2 * 2**20
MOST_PARTS = 32
"""Parts that nobody has taken: 64 MiB, beyond which packets are dropped."""
WRITE_BYTES = 2**18
MOST_RINGS_BYTES, LEAST_RING_BYTES = 128 * 2**20, 4 * 2**20
AT_ONCE = 512
"""Packets taken from one interface before the others have their turn."""
COUNT_EVERY_S = 0.25
BEGAN = "LINKLAB_BEGAN_NS"
"""The kernel's monotonic clock at network time 0, which the agent tells its live terminals."""
MOVED_NS = 1_000_000
"""A change of the kernel's date by less is what reading two clocks after each other leaves."""


class CaptureError(Exception):
    """What was asked for cannot be captured; the sentence says why."""


# --- which interfaces there are


def interfaces(found: dict[str, NodeSpace]) -> dict[str, list[str]]:
    """Return the interfaces of each node that has any, loopback last; a switch's are those named after it."""
    at_root = [name for name, node in found.items() if not node.apart and name != "client"]
    there: dict[str, list[str]] = {}
    rooted = [name for _, name in socket.if_nameindex()]
    for name, node in found.items():
        if node.apart:
            names = [each for _, each in node.inside(socket.if_nameindex)]
        elif name == "client":
            own = [each for each in rooted if not any(_is_of(each, switch) for switch in at_root)]
            names = [each for each in own if flags_of(each) & IFF_UP]  # every kernel has a few that nobody uses
        else:
            names = [each for each in rooted if _is_of(each, name)]
        if names := [each for each in sorted(names, key=lambda each: each == "lo") if not _is_fallback(each)]:
            there[name] = names
    return there


def _is_of(interface: str, switch: str) -> bool:
    return interface == switch or interface.startswith(f"{switch}-")


def _is_fallback(interface: str) -> bool:
    """Whether the kernel makes it in every namespace for its own use (as `namespace_state.FALLBACK` has it)."""
    from linklab.agent.namespace_state import FALLBACK  # noqa: PLC0415 - much to read, and only a list needs it

    return bool(FALLBACK.fullmatch(interface)) or interface == "ovs-system"


def located(place: str, there: dict[str, list[str]]) -> tuple[str, str]:
    """Return node and interface of a place as a person types it: "h1:h1-eth0", "h1:eth0", or "h1" if it has only one.

    Raises:
        CaptureError: there is no such node or interface; names those that there are.
    """
    node, _, name = place.partition(":")
    if node not in there:
        raise CaptureError(f"{place}: there is no node {node} with interfaces here; there are {', '.join(there)}")
    own = [each for each in there[node] if each != "lo"]
    if not name and len(own) == 1:
        return node, own[0]
    for each in (name, f"{node}-{name}"):
        if each in there[node]:
            return node, each
    said = f"has no interface {name}" if name else "has several interfaces"
    raise CaptureError(f"{place}: {node} {said}; there are {', '.join(f'{node}:{each}' for each in there[node])}")


# --- where packets go


class Parts:
    """A stream as files of a folder, numbered from 1; who reads it removes those that are done with."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.number, self.oldest, self.size = folder, 0, 1, 0
        self._file = -1
        self._next()

    def _next(self) -> None:
        if self._file >= 0:
            os.close(self._file)
        self.number += 1
        self.size = 0
        self._file = os.open(self.folder / f"{self.number:06}", os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644)

    def has_room(self) -> bool:
        """Return whether more can be written; false while the reader has too much left to take."""
        if self.size < PART_BYTES:
            return True
        while self.oldest < self.number and not (self.folder / f"{self.oldest:06}").exists():
            self.oldest += 1
        if self.number - self.oldest >= MOST_PARTS:
            return False
        self._next()
        return True

    def write(self, data: bytes) -> None:
        """Add whole blocks, all in one part."""
        self.size += len(data)
        left = memoryview(data)
        while left:
            left = left[os.write(self._file, left) :]


@dataclass
class Tapped:
    """One interface: its number in the file and its counters since the start."""

    number: int
    place: str
    socket: PacketSocket
    received: int = 0
    dropped: int = 0
    written: tuple[int, int] = (-1, -1)


@dataclass
class RunningCapture:
    """One capture, of several interfaces."""

    taps: list[Tapped]
    parts: Parts
    began_ns: int
    most: int = 0
    started_ns: int = 0
    captured: int = 0
    _offset_ns: int = 0
    _has_failed: bool = False
    _counted_s: float = field(default_factory=time.monotonic)

    def begin(self, order: dict[str, Any]) -> None:
        """Write what a file begins with."""
        self._read_offset()
        self.started_ns = self.now_ns()
        head = [pcapng.section(order.get("user") or "Linklab", "times are network time, since the network was ready")]
        for tap in self.taps:
            kind = pcapng.ETHERNET if tap.socket.has_ethernet else pcapng.RAW_IP
            snaplen, filtered = int(order["snaplen"]), str(order.get("filter") or "")
            head.append(pcapng.interface(tap.place, link_type=kind, snaplen=snaplen, filtered=filtered))
        self.parts.write(b"".join(head))

    def now_ns(self) -> int:
        """Return network time."""
        return time.monotonic_ns() - self.began_ns

    def _read_offset(self) -> None:
        """Learn what leads from the date, in which the kernel gives the times of packets, to network time."""
        offset = time.clock_gettime_ns(time.CLOCK_REALTIME) - time.monotonic_ns() + self.began_ns
        if abs(offset - self._offset_ns) > MOVED_NS:  # somebody has set the date, or this is the first time
            self._offset_ns = offset

    def take(self) -> bool:
        """Write all packets that wait; return whether the number that was asked for is reached."""
        self._read_offset()
        while waiting := self._waiting():
            waiting.sort(key=lambda each: each[0].time_ns)  # stable: at one instant in the order of interfaces
            if self.most:
                waiting = waiting[: self.most - self.captured]
            self._write(waiting)
            if self.most and self.captured >= self.most:
                return True
        return False

    def _waiting(self) -> list[tuple[SeenPacket, Tapped]]:
        found = []
        for tap in self.taps:
            for _ in range(AT_ONCE):
                try:
                    packet = tap.socket.receive()
                except OSError as error:
                    if error.errno != errno.ENETDOWN:
                        raise
                    self._has_failed = True  # it may come up again, or be gone for good
                    continue
                if packet is None:
                    break
                found.append((packet, tap))
        return found

    def _write(self, packets: list[tuple[SeenPacket, Tapped]]) -> None:
        blocks, size = [], 0
        has_room = self.parts.has_room()
        for packet, tap in packets:
            tap.received += 1
            if not has_room:
                tap.dropped += 1
                continue
            self.captured += 1
            way = pcapng.OUTBOUND if packet.outgoing else pcapng.INBOUND
            time_ns = max(0, packet.time_ns - self._offset_ns)
            blocks.append(pcapng.packet(tap.number, time_ns, packet.data, packet.length, way))
            size += len(blocks[-1])
            if size > WRITE_BYTES:  # a batch of bundled segments may be larger than a part
                self.parts.write(b"".join(blocks))
                blocks, size = [], 0
                has_room = self.parts.has_room()
        if blocks:
            self.parts.write(b"".join(blocks))

    def count(self, *, always: bool = False) -> None:
        """Write the counters if they say something new of drops, at most four times a second, or `always`."""
        now_s = time.monotonic()
        if not always and now_s - self._counted_s < COUNT_EVERY_S:
            return
        self._counted_s = now_s
        for tap in self.taps:
            lost = tap.socket.dropped()
            tap.received, tap.dropped = tap.received + lost, tap.dropped + lost
            is_new = tap.written[1] != tap.dropped and (tap.dropped or tap.written[1] > 0)
            if always or is_new:
                tap.written = tap.received, tap.dropped
                counters = {"received": tap.received, "dropped": tap.dropped}
                self.parts.write(pcapng.statistics(tap.number, self.now_ns(), started_ns=self.started_ns, **counters))

    def gone(self) -> list[Tapped]:
        """Return the interfaces that are no longer there, and leave them out from now on."""
        if not self._has_failed:
            return []
        self._has_failed = False
        lost = [tap for tap in self.taps if tap.socket.socket.getsockname()[0] == ""]
        self.taps = [tap for tap in self.taps if tap not in lost]
        return lost


# --- the program


def opened(order: dict[str, Any], found: dict[str, NodeSpace]) -> list[Tapped]:
    """Open a packet socket for each place of an order, each in its node's namespace; CaptureError where one cannot."""
    there = interfaces(found)
    taps: list[Tapped] = []
    for place in order["places"]:
        node, name = located(str(place), there)
        said = f"{node}:{name}"
        if any(tap.place == said for tap in taps):
            continue
        share = max(LEAST_RING_BYTES, min(RING_BYTES, MOST_RINGS_BYTES // len(order["places"])))
        make = partial(PacketSocket, name, int(order["snaplen"]), order.get("programs"), ring_bytes=share)
        try:
            taps.append(Tapped(len(taps), said, found[node].inside(make)))
        except OSError as error:
            raise CaptureError(f"{said} cannot be captured: {error.strerror}") from error
    return taps


def capture(order: dict[str, Any]) -> str:
    """Capture until Ctrl+C, or until the order's count or time is reached; return which of these it was."""
    found = Nodes().found
    taps = opened(order, found)
    began_ns = int(order.get("began_ns") or os.environ.get(BEGAN) or 0)
    running = RunningCapture(taps, Parts(Path(order["out"])), began_ns, int(order.get("count") or 0))
    seconds = float(order.get("seconds") or 0)
    reader, writer = socket.socketpair()
    writer.setblocking(False)
    signal.set_wakeup_fd(writer.fileno())
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: None)
    with selectors.DefaultSelector() as selector:
        selector.register(reader, selectors.EVENT_READ)
        for tap in taps:
            selector.register(tap.socket, selectors.EVENT_READ)
        running.begin(order)
        said({"listens": [tap.place for tap in taps]})
        try:
            return _loop(running, selector, reader, seconds)
        finally:
            running.count(always=True)


def _loop(running: RunningCapture, selector: selectors.BaseSelector, reader: socket.socket, seconds: float) -> str:
    until_s = time.monotonic() + seconds
    while True:
        left_s = until_s - time.monotonic() if seconds else None
        ready = selector.select(None if left_s is None else max(0.0, left_s))
        if running.take():
            return "count"
        running.count()
        if any(key.fileobj is reader for key, _ in ready):
            return "stopped"
        if seconds and time.monotonic() >= until_s:
            return "time"
        for tap in running.gone():
            selector.unregister(tap.socket)
            said({"gone": tap.place})
        if not running.taps:
            return "gone"


def said(line: dict[str, Any]) -> None:
    """Print a line for who started us."""
    print(json.dumps(line), flush=True)


def main(arguments: list[str]) -> int:
    """Do what the order says; the exit status."""
    cost_nothing()
    try:
        if arguments == ["--list"]:
            said(interfaces(Nodes().found))
            return 0
        order = json.loads(arguments[0])
        with contextlib.suppress(termios.error):  # no terminal
            no_echo(0)  # or the ^C of a Ctrl+C would stand before the last line
        said({"ended": capture(order)})
    except (CaptureError, NodeError) as error:
        said({"error": str(error)})
        return 1
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        said({"error": f"the capture has ended: {where}{error.strerror}"})
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
