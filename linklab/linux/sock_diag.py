# SPDX-License-Identifier: BSD-3-Clause
"""TCP sockets as `ss -ti` shows them, read from the kernel in one dump: struct tcp_info and what the algorithm says.

Specified by sock_diag(7), linux/inet_diag.h, linux/tcp.h and net/ipv4/inet_diag.c. Called by the agent's samplers; it
finds a socket by its addresses and ports, and needs no process. tests/unit/test_sock_diag.py compares the layout with
the kernel's headers. A field that this kernel's tcp_info does not have, or that it marks as unknown, is None.
"""

from __future__ import annotations

import contextlib
import operator
import socket
import struct
from collections.abc import Callable, Collection, Iterator
from typing import Any

from linklab.linux import netlink

NETLINK_SOCK_DIAG, SOCK_DIAG_BY_FAMILY = 4, 20
SKNLGRP_INET_TCP_DESTROY, SKNLGRP_INET6_TCP_DESTROY = 1, 3
SOL_NETLINK, ADD_MEMBERSHIP, SO_RCVBUFFORCE = 270, 1, 33
INET_DIAG_INFO, INET_DIAG_VEGASINFO, INET_DIAG_CONG = 2, 3, 4
INET_DIAG_DCTCPINFO, INET_DIAG_BBRINFO = 9, 16
TCP_ESTABLISHED, TCP_SYN_SENT, TCP_SYN_RECV, TCP_FIN_WAIT1, TCP_FIN_WAIT2 = 1, 2, 3, 4, 5
TCP_TIME_WAIT, TCP_CLOSE, TCP_CLOSE_WAIT, TCP_LAST_ACK, TCP_LISTEN, TCP_CLOSING = 6, 7, 8, 9, 10, 11
STATES = {
    TCP_ESTABLISHED: "ESTAB",
    TCP_SYN_SENT: "SYN-SENT",
    TCP_SYN_RECV: "SYN-RECV",
    TCP_FIN_WAIT1: "FIN-WAIT-1",
    TCP_FIN_WAIT2: "FIN-WAIT-2",
    TCP_CLOSE_WAIT: "CLOSE-WAIT",
    TCP_LAST_ACK: "LAST-ACK",
    TCP_CLOSING: "CLOSING",
}
"""Those that carry data or did, with the names that ss(8) prints; others have no tcp_info worth reading."""
WANTED = sum(1 << state for state in STATES)
CA_STATES = ("Open", "Disorder", "CWR", "Recovery", "Loss")
"""enum tcp_ca_state of linux/tcp.h, without its prefix."""

TCP_INFO = (
    *((name, "B") for name in ("state", "ca_state", "retransmits", "probes", "backoff", "options")),
    ("wscales", "B"),  # snd_wscale:4, rcv_wscale:4
    ("flags", "B"),  # delivery_rate_app_limited:1, fastopen_client_fail:2
    *((name, "I") for name in ("rto", "ato", "snd_mss", "rcv_mss", "unacked", "sacked", "lost", "retrans", "fackets")),
    *((name, "I") for name in ("last_data_sent", "last_ack_sent", "last_data_recv", "last_ack_recv")),
    *((name, "I") for name in ("pmtu", "rcv_ssthresh", "rtt", "rttvar", "snd_ssthresh", "snd_cwnd", "advmss")),
    *((name, "I") for name in ("reordering", "rcv_rtt", "rcv_space", "total_retrans")),
    *((name, "Q") for name in ("pacing_rate", "max_pacing_rate", "bytes_acked", "bytes_received")),
    *((name, "I") for name in ("segs_out", "segs_in", "notsent_bytes", "min_rtt", "data_segs_in", "data_segs_out")),
    *((name, "Q") for name in ("delivery_rate", "busy_time", "rwnd_limited", "sndbuf_limited")),
    *((name, "I") for name in ("delivered", "delivered_ce")),
    *((name, "Q") for name in ("bytes_sent", "bytes_retrans")),
    *((name, "I") for name in ("dsack_dups", "reord_seen", "rcv_ooopack", "snd_wnd")),
    *((name, "I") for name in ("rcv_wnd", "rehash")),
    *((name, "H") for name in ("total_rto", "total_rto_recoveries")),
    ("total_rto_time", "I"),
)
"""The members of struct tcp_info, tcpi_ left out, with their types; bit fields are the byte that holds them."""
_INFO = struct.Struct("=" + "".join(kind for _, kind in TCP_INFO))
_PLACES = {name: number for number, (name, _) in enumerate(TCP_INFO)}
_ENDS = [struct.calcsize("=" + "".join(kind for _, kind in TCP_INFO[: n + 1])) for n in range(len(TCP_INFO))]
REQUEST = struct.Struct("=BBBxI48s")  # struct inet_diag_req_v2
MESSAGE = struct.Struct("=BBBB48sIIIII")  # struct inet_diag_msg
SOCKID = struct.Struct("=2s2s16s16sIII")  # struct inet_diag_sockid
VEGAS = struct.Struct("=4I")  # struct tcpvegas_info
DCTCP = struct.Struct("=HHIII")  # struct tcp_dctcp_info
BBR = struct.Struct("=5I")  # struct tcp_bbr_info
U32_MAX, U64_MAX = 2**32 - 1, 2**64 - 1
INFINITE_SSTHRESH = 0x7FFFFFFF
"""TCP_INFINITE_SSTHRESH of net/tcp.h: no loss so far."""
GAIN = 256  # BBR_UNIT of net/ipv4/tcp_bbr.c
ALPHA = 1024  # DCTCP_MAX_ALPHA of net/ipv4/tcp_dctcp.c


def _ms(value: int) -> float:
    return value / 1000


def _ms_if_known(value: int) -> float | None:
    return value / 1000 if value != U32_MAX else None


def _bits(value: int) -> int | None:
    return 8 * value if value < U64_MAX else None


def _bits_if_limited(value: int) -> int | None:
    return 8 * value if value not in (U32_MAX, U64_MAX) else None


def _ssthresh(value: int) -> int | None:
    return value if value < INFINITE_SSTHRESH else None


_PLAIN = {
    "cwnd": "snd_cwnd",
    "mss": "snd_mss",
    "pmtu": "pmtu",
    "retransmits": "total_retrans",
    "lost": "lost",
    "retrans": "retrans",
    "sacked": "sacked",
    "unacked": "unacked",
    "reordering": "reordering",
    "backoff": "backoff",
    "bytes_sent": "bytes_sent",
    "bytes_acked": "bytes_acked",
    "bytes_received": "bytes_received",
    "bytes_retrans": "bytes_retrans",
    "segs_out": "segs_out",
    "segs_in": "segs_in",
    "delivered": "delivered",
    "delivered_ce": "delivered_ce",
    "dsack_dups": "dsack_dups",
    "out_of_order": "rcv_ooopack",
    "notsent_bytes": "notsent_bytes",
    "snd_wnd": "snd_wnd",
    "rcv_space": "rcv_space",
    "data_segs_out": "data_segs_out",
    "data_segs_in": "data_segs_in",
}
"""What is read of tcp_info as it is: our name and the kernel's."""
_CHANGED: dict[str, tuple[str, Callable[[int], Any]]] = {
    "ssthresh": ("snd_ssthresh", _ssthresh),
    "rtt_ms": ("rtt", _ms),
    "rttvar_ms": ("rttvar", _ms),
    "min_rtt_ms": ("min_rtt", _ms_if_known),
    "rto_ms": ("rto", _ms),
    "delivery_bps": ("delivery_rate", _bits),
    "app_limited": ("flags", lambda flags: flags & 1),
    "pacing_bps": ("pacing_rate", _bits_if_limited),
    "rcv_rtt_ms": ("rcv_rtt", _ms),
    "busy_ms": ("busy_time", _ms),
    "rwnd_limited_ms": ("rwnd_limited", _ms),
    "sndbuf_limited_ms": ("sndbuf_limited", _ms),
}
"""What is read in another unit, or is not always known: our name, the kernel's, how the one becomes the other."""
HEADING = ("local", "peer", "state", "algorithm", "ca_state", "recv_q", "send_q")
FIELDS = (*HEADING, *_PLAIN, *_CHANGED, "own")
"""The columns of a reading. cwnd, ssthresh, lost, sacked, unacked, delivered: segments; own: what the algorithm says
of itself, an object such as {"bw_bps": …, "min_rtt_ms": …, "pacing_gain": …, "cwnd_gain": …} of BBR, or None."""
_PLAIN_PLACES = tuple(_PLACES[theirs] for theirs in _PLAIN.values())
_CHANGED_PLACES = tuple((_PLACES[theirs], change) for theirs, change in _CHANGED.values())
_WANTED_END = max(_ENDS[_PLACES[theirs]] for theirs in (*_PLAIN.values(), *(theirs for theirs, _ in _CHANGED.values())))
_plain_of = operator.itemgetter(*_PLAIN_PLACES)


class SocketReader:
    """Reads the TCP sockets of the network namespace in which it was made, from wherever we are."""

    def __init__(self, ports: Collection[int] = ()) -> None:
        """ports: only sockets with one of these at either end; () for all."""
        self.ports = {struct.pack("!H", port) for port in ports}
        self.socket = netlink.connect(NETLINK_SOCK_DIAG)
        self.room = bytearray(1 << 16)
        self.names: dict[bytes, tuple[str, str]] = {}
        self.families = [socket.AF_INET, *([socket.AF_INET6] if socket.has_ipv6 else [])]
        extensions = sum(1 << number - 1 for number in (INET_DIAG_INFO, INET_DIAG_VEGASINFO, INET_DIAG_CONG))
        self.requests = [
            netlink.message(
                SOCK_DIAG_BY_FAMILY,
                netlink.DUMP,
                number,
                REQUEST.pack(family, socket.IPPROTO_TCP, extensions, WANTED, bytes(48)),
            )
            for number, family in enumerate(self.families, 1)
        ]

    def read(self) -> list[list[Any]]:
        """The sockets now, each a row of FIELDS, in the order of their ends.

        Raises:
            OSError: this kernel tells nothing about its sockets.
        """
        rows = [self.row(body) for body in self._bodies() if not self.ports or self.wanted(body)]
        rows.sort(key=lambda row: (row[0], row[1]))
        return rows

    def wanted(self, body: bytes) -> bool:
        """Whether a struct inet_diag_msg is about one of our ports."""
        return body[4:6] in self.ports or body[6:8] in self.ports

    def _bodies(self) -> Iterator[bytes]:
        for request in self.requests:
            self.socket.send(request)
            going = True
            while going:
                size = self.socket.recv_into(self.room)
                for kind, body in netlink.messages(bytes(memoryview(self.room)[:size])):
                    if kind == SOCK_DIAG_BY_FAMILY:
                        yield body
                        continue
                    going = False
                    if number := netlink.error(body):
                        raise OSError(number, "sock_diag: this kernel does not list its TCP sockets")

    def row(self, body: bytes) -> list[Any]:
        """A reading, from a struct inet_diag_msg and its attributes."""
        _, state, _, _, identity, _, receive, send, _, _ = MESSAGE.unpack_from(body)
        names = self.names.get(identity)
        if names is None:
            names = self.names[identity] = ends(body[0], identity)
        attributes = netlink.attributes(body[MESSAGE.size :])
        algorithm = attributes.get(INET_DIAG_CONG, b"").rstrip(b"\0").decode("ascii", "replace")
        head = [*names, STATES.get(state, str(state)), algorithm]
        info = attributes.get(INET_DIAG_INFO)
        if info is None:
            return [*head, None, receive, send, *[None] * (len(FIELDS) - len(HEADING))]
        ca_state = CA_STATES[info[1]] if info[1] < len(CA_STATES) else info[1]
        return [*head, ca_state, receive, send, *_read(info), own(attributes)]


class EndedSockets:
    """The TCP sockets of the network namespace in which it was made that have ended since, as they were in the end.

    The kernel tells who listens of each socket that it destroys (linux/sock_diag.h, SKNLGRP_INET_TCP_DESTROY).
    """

    ROOM = 64 << 20
    """Bytes that may wait: a few hundred flows may end at the same instant."""

    def __init__(self, ports: Collection[int] = ()) -> None:
        """ports: as of SocketReader."""
        self.reader = SocketReader(ports)
        self.socket = netlink.connect(NETLINK_SOCK_DIAG)
        with contextlib.suppress(OSError):  # not root of this machine's network
            self.socket.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, self.ROOM)
        for group in (SKNLGRP_INET_TCP_DESTROY, SKNLGRP_INET6_TCP_DESTROY):
            self.socket.setsockopt(SOL_NETLINK, ADD_MEMBERSHIP, group)
        self.socket.setblocking(False)

    def read(self) -> list[list[Any]]:
        """Return those that have ended since the last reading, each a row of FIELDS, in the order of their ends."""
        rows = []
        with contextlib.suppress(BlockingIOError):
            while True:
                for kind, body in netlink.messages(self.socket.recv(1 << 16)):
                    if kind == SOCK_DIAG_BY_FAMILY and (not self.reader.ports or self.reader.wanted(body)):
                        rows.append(self.reader.row(body))
        rows.sort(key=lambda row: (row[0], row[1]))
        return rows

    def read_last(self) -> list[list[Any]]:
        """Return those that have ended since the last reading, and behind them those that still live.

        A sender whose program has ended lives on while it repeats what the other side has not confirmed.
        """
        ca_state = FIELDS.index("ca_state")  # None of a socket of which the kernel has kept its ends alone
        return self.read() + [row for row in self.reader.read() if row[ca_state] is not None]


def _read(info: bytes) -> list[Any]:
    """The fields of a struct tcp_info, which may be longer or shorter than ours."""
    values = _INFO.unpack_from(info if len(info) >= _INFO.size else info.ljust(_INFO.size, b"\0"))
    read = [*_plain_of(values), *[change(values[place]) for place, change in _CHANGED_PLACES]]
    if len(info) < _WANTED_END:
        places = (*_PLAIN_PLACES, *(place for place, _ in _CHANGED_PLACES))
        read = [one if _ENDS[place] <= len(info) else None for place, one in zip(places, read, strict=True)]
    return read


def tcp_info(connection: socket.socket) -> dict[str, Any]:
    """What the kernel says of a connection of our own now, by the names of FIELDS (tcp(7), TCP_INFO)."""
    info = connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 2 * _INFO.size)
    return dict(zip((*_PLAIN, *_CHANGED), _read(info), strict=True))


def ends(family: int, identity: bytes) -> tuple[str, str]:
    """The local and the other end of a struct inet_diag_sockid, as ADDRESS:PORT or [ADDRESS]:PORT."""
    local_port, peer_port, local, peer, *_ = SOCKID.unpack(identity)
    return _end(family, local, local_port), _end(family, peer, peer_port)


def _end(family: int, address: bytes, port: bytes) -> str:
    number = int.from_bytes(port, "big")
    if family == socket.AF_INET:
        return f"{socket.inet_ntop(socket.AF_INET, address[:4])}:{number}"
    if address[:12] == b"\0" * 10 + b"\xff\xff":  # IPv4 over a socket of both: its other end sees IPv4
        return f"{socket.inet_ntop(socket.AF_INET, address[12:])}:{number}"
    return f"[{socket.inet_ntop(socket.AF_INET6, address)}]:{number}"


def own(attributes: dict[int, bytes]) -> dict[str, Any] | None:
    """What BBR, DCTCP or Vegas says of itself, None of another algorithm."""
    if (data := attributes.get(INET_DIAG_BBRINFO)) is not None:
        low, high, min_rtt, pacing, cwnd = BBR.unpack_from(data)
        known = {"bw_bps": 8 * (high << 32 | low), "min_rtt_ms": _ms_if_known(min_rtt)}
        return {**known, "pacing_gain": round(pacing / GAIN, 6), "cwnd_gain": round(cwnd / GAIN, 6)}
    if (data := attributes.get(INET_DIAG_DCTCPINFO)) is not None:
        enabled, ce_state, alpha, marked, total = DCTCP.unpack_from(data)
        if not enabled:  # no ECN on this connection: it behaves as Reno
            return {"enabled": 0}
        shares = {"alpha": round(alpha / ALPHA, 6), "ab_ecn": marked, "ab_tot": total}
        return {"enabled": enabled, "ce_state": ce_state, **shares}
    if (data := attributes.get(INET_DIAG_VEGASINFO)) is not None:
        enabled, count, rtt, min_rtt = VEGAS.unpack_from(data)
        times = {"rtt_ms": _ms_if_known(rtt), "min_rtt_ms": None if min_rtt >= INFINITE_SSTHRESH else min_rtt / 1000}
        return {"enabled": enabled, "rtt_count": count, **times}
    return None
