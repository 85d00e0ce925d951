# SPDX-License-Identifier: BSD-3-Clause
"""Round-trip times of pings as a node's interfaces see them: echo requests that leave, and the replies that come back.

A packet socket (packet(7)) with a filter in the kernel, so whatever pings, in whatever terminal, is seen, and nothing
has to be read from its output. The kernel stamps each packet, so a reading may come any time later.
A request is seen when it leaves the interface, behind its queue and what netem delays there. So the time of sending is
the one that ping itself has written into it, if it has (iputils, ping_common.c). ICMP: RFC 792, RFC 4443.
"""

from __future__ import annotations

import contextlib
import ctypes
import socket
import struct
import time
from dataclasses import dataclass

ETH_P_ALL, ETH_P_IP, ETH_P_IPV6 = 0x0003, 0x0800, 0x86DD
PACKET_HOST, PACKET_OUTGOING = 0, 4
SO_ATTACH_FILTER, SO_TIMESTAMPNS = 26, 35
"""The second is also the type of the ancillary message, a struct timespec (socket(7), asm-generic/socket.h)."""
SNAP_BYTES = 96
"""Enough for the longest header of IPv4, 60 bytes, and the 8 of an echo."""
ECHO_TYPES = {8: "request", 0: "reply", 128: "request", 129: "reply"}
TIMEVAL = struct.Struct("@qq")
WAIT_S = 10.0
"""A request without a reply for so long counts as lost."""
MOST_WAITING = 10_000
MOST_READ = 2000
"""Packets of one reading, so that a flood of pings does not hold up the others."""


def _filter() -> bytes:
    """Echoes of IPv4 and IPv6 pass, as struct sock_filter (linux/filter.h); the network header is at 0."""
    load_half, load_byte, jump_equal, jump_set = 0x28, 0x30, 0x15, 0x45
    header_length, load_byte_behind, ret = 0xB1, 0x50, 0x06
    protocol = 0xFFFFF000  # SKF_AD_OFF + SKF_AD_PROTOCOL
    lines = [  # operation, lines to skip where it is so, where it is not, operand
        (load_half, 0, 0, protocol),
        (jump_equal, 0, 8, ETH_P_IP),
        (load_byte, 0, 0, 9),
        (jump_equal, 0, 13, 1),  # ICMP
        (load_half, 0, 0, 6),
        (jump_set, 11, 0, 0x1FFF),  # not the first fragment
        (header_length, 0, 0, 0),
        (load_byte_behind, 0, 0, 0),
        (jump_equal, 7, 0, 8),
        (jump_equal, 6, 7, 0),
        (jump_equal, 0, 6, ETH_P_IPV6),
        (load_byte, 0, 0, 6),
        (jump_equal, 0, 4, 58),  # ICMPv6
        (load_byte, 0, 0, 40),
        (jump_equal, 1, 0, 128),
        (jump_equal, 0, 1, 129),
        (ret, 0, 0, SNAP_BYTES),
        (ret, 0, 0, 0),
    ]
    return b"".join(struct.pack("=HBBI", *line) for line in lines)


@dataclass(frozen=True)
class Echo:
    """An echo request or reply.

    peer: the address at the other end. written_ns: the date, ns since 1970, that ping writes into what it sends and
    gets back; None where there is none.
    """

    what: str
    own: str
    peer: str
    identifier: int
    sequence: int
    written_ns: int | None = None


def _written_ns(data: bytes) -> int | None:
    """The struct timeval at the beginning of ping's data."""
    if len(data) < TIMEVAL.size:
        return None
    seconds, micros = TIMEVAL.unpack_from(data)
    return seconds * 10**9 + micros * 1000 if 0 < seconds < 2**33 and 0 <= micros < 10**6 else None


def echo_of(data: bytes, *, outgoing: bool) -> Echo | None:
    """The echo in a packet that begins with its network header; None if it is no echo, or is cut short.

    outgoing: whether it leaves, so that its source is ours.
    """
    try:
        if data[0] >> 4 == 4:
            family, at, source, target = socket.AF_INET, (data[0] & 15) * 4, data[12:16], data[16:20]
        else:
            family, at, source, target = socket.AF_INET6, 40, data[8:24], data[24:40]
        kind, _, _, identifier, sequence = struct.unpack_from("!BBHHH", data, at)
        ours, other = (source, target) if outgoing else (target, source)
        ends = [socket.inet_ntop(family, address) for address in (ours, other)]
        return Echo(ECHO_TYPES[kind], ends[0], ends[1], identifier, sequence, _written_ns(data[at + 8 :]))
    except (IndexError, KeyError, struct.error, ValueError):
        return None


@dataclass(frozen=True)
class RoundTrip:
    """When its reply came (the kernel's monotonic clock, s), the address that was pinged, and how long it took.

    rtt_ms: None of a request that was not answered; its time is then when that was seen.
    """

    time_s: float
    peer: str
    rtt_ms: float | None


class EchoPairs:
    """Requests that leave and replies that come, in the order of their stamps → round trips; pure."""

    def __init__(self) -> None:
        self.addresses: frozenset[str] = frozenset()
        """The node's own; a request that the node forwards for another is left out."""
        self._waiting: dict[tuple[str, int, int], int] = {}

    @property
    def waits(self) -> bool:
        """Whether a request has no reply yet."""
        return bool(self._waiting)

    def see(self, echo: Echo, stamp_ns: int, *, outgoing: bool, ahead_ns: int = 0) -> RoundTrip | None:
        """Take a packet; the round trip that it ends.

        stamp_ns: of the kernel's monotonic clock, when it passed the interface. ahead_ns: the date less that clock.
        """
        key = (echo.peer, echo.identifier, echo.sequence)
        if outgoing and echo.what == "request" and echo.own in self.addresses:
            if len(self._waiting) < MOST_WAITING:
                self._waiting[key] = stamp_ns
        elif not outgoing and echo.what == "reply":
            sent_ns = self._waiting.pop(key, None)
            if sent_ns is not None:
                written_ns = None if echo.written_ns is None else echo.written_ns - ahead_ns
                if written_ns is not None and stamp_ns - WAIT_S * 1e9 < written_ns <= sent_ns:
                    sent_ns = written_ns
                return RoundTrip(stamp_ns / 1e9, echo.peer, (stamp_ns - sent_ns) / 1e6)
        return None

    def lost(self, now_s: float) -> list[RoundTrip]:
        """The requests that have waited for too long; they are forgotten."""
        late = [key for key, sent_ns in self._waiting.items() if now_s - sent_ns / 1e9 > WAIT_S]
        for key in late:
            del self._waiting[key]
        return [RoundTrip(now_s, key[0], None) for key in late]


class PingTap:
    """Listens in the network namespace in which it was made, and is read from wherever we are."""

    def __init__(self) -> None:
        """OSError where this user may open no packet socket."""
        self.pairs = EchoPairs()
        code = _filter()
        self._kept = ctypes.create_string_buffer(code)
        self._socket = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, socket.htons(ETH_P_ALL))
        program = struct.pack("@HP", len(code) // 8, ctypes.addressof(self._kept))  # struct sock_fprog
        self._socket.setsockopt(socket.SOL_SOCKET, SO_ATTACH_FILTER, program)
        self._socket.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
        self._socket.setblocking(False)
        with contextlib.suppress(BlockingIOError):  # what came before the filter
            while True:
                self._socket.recv(1)

    def read(self) -> list[RoundTrip]:
        """The round trips that have ended since it was read last."""
        found = []
        ahead_ns = time.clock_gettime_ns(time.CLOCK_REALTIME) - time.monotonic_ns()  # stamps are of the date
        with contextlib.suppress(BlockingIOError):
            for _ in range(MOST_READ):
                data, notes, _, (interface, _, kind, *_) = self._socket.recvmsg(SNAP_BYTES, 64)
                stamp = next(
                    (struct.unpack("@qq", note[:16]) for _, what, note in notes if what == SO_TIMESTAMPNS), None
                )
                outgoing = kind == PACKET_OUTGOING
                echo = echo_of(data, outgoing=outgoing)
                if echo is None or stamp is None or interface == "lo" or kind not in (PACKET_HOST, PACKET_OUTGOING):
                    continue
                at_ns = stamp[0] * 10**9 + stamp[1] - ahead_ns
                if (ended := self.pairs.see(echo, at_ns, outgoing=outgoing, ahead_ns=ahead_ns)) is not None:
                    found.append(ended)
        return [*found, *self.pairs.lost(time.monotonic())]
