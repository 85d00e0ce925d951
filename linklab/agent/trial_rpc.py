# SPDX-License-Identifier: BSD-3-Clause
"""Requests and answers of fixed sizes, back to back, on any number of connections of one process.

`python3 trial_rpc.py serve PORT[:ALGORITHM[:BUFFER]]…`, which answers any client, each port with a congestion control
and a buffer of its own, and `python3 trial_rpc.py ask ADDRESS PORT --length S --request BYTES --response BYTES
[--connections N] [--congestion NAME] [--buffer BYTES] [--tos N] [--from PORT]`, which asks until its time is over and
then breaks its connections off. A request of `stream` bytes never ends. With --from the connections have this port and
those after it, because a server tells its clients apart by their ports.

Prints a line for each answer, "CONNECTION WHEN TOOK", nanoseconds of this kernel's monotonic clock, and at the end of
each connection a JSON object: "connection", "port", "peer_port", "ended_ns", "answers", and "info", its struct
tcp_info; the server prints the latter for its ends. The program itself takes no time on the virtual clock.
"""

from __future__ import annotations

import sys
from pathlib import Path

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from linklab.agent.own_kernel import cost_nothing

if __name__ == "__main__":
    cost_nothing()

import argparse
import errno
import os
import resource
import select
import socket
import struct
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress

from linklab.agent.rpc_peer import EndedError, Peer, Said

HEAD = struct.Struct("!QQ")
"""What a client sends first: bytes of each request and of each answer."""
STREAM = 2**63
"""Bytes of a request that never ends."""
FULL = (errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM)
"""Why accept(2) leaves a client in the queue, of which epoll(7) then tells for ever."""
WAITS = (errno.EAGAIN, errno.EINPROGRESS)


# --- the server


class Answering(Peer):
    """The server's end: the head, then requests and answers in turn."""

    def __init__(self, connection: socket.socket) -> None:
        super().__init__(connection)
        self.head = b""
        self.request = self.response = 0
        self.peer_port = connection.getpeername()[1]

    def tell(self, said: Said) -> None:
        """Say what is known of it in the end."""
        said.say(self.final(0, peer_port=self.peer_port))

    def go(self) -> None:
        """Do what can be done without waiting."""
        if not self.response and not self._begin():
            return
        while self.send() and self.take():
            self.answers += 1
            self.to_take, self.to_send = self.request, self.response

    def _begin(self) -> bool:
        try:
            data = self.socket.recv(HEAD.size - len(self.head))
        except BlockingIOError:
            return False
        except OSError as error:
            raise EndedError(error.strerror or str(error)) from None
        if not data:
            raise EndedError("the other end has closed the connection")
        self.head += data
        if len(self.head) < HEAD.size:
            return False
        self.request, self.response = HEAD.unpack(self.head)
        self.to_take = self.request
        return True


def listening(words: str) -> socket.socket:
    """A socket for PORT, PORT:ALGORITHM, or PORT:ALGORITHM:BUFFER, on which it listens."""
    port, algorithm, buffer = [*words.split(":"), "", ""][:3]
    try:
        found = socket.socket(socket.AF_INET6, socket.SOCK_STREAM)
        found.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
        where: tuple[str, int] = ("::", int(port))
    except OSError:  # no IPv6 here
        found, where = socket.socket(socket.AF_INET, socket.SOCK_STREAM), ("", int(port))
    found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    found.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    prepare(found, algorithm, int(buffer or 0))
    found.bind(where)
    found.listen(1024)
    found.setblocking(False)
    return found


def prepare(connection: socket.socket, algorithm: str, buffer: int) -> None:
    """Set the congestion control and both buffers, which decide the window that the handshake offers."""
    if algorithm:
        try:
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, algorithm.encode())
        except OSError as error:
            raise OSError(error.errno, f"the congestion control {algorithm} cannot be had: {error.strerror}") from None
    if buffer:
        for option in (socket.SO_SNDBUF, socket.SO_RCVBUF):
            connection.setsockopt(socket.SOL_SOCKET, option, buffer)


def serve(ports: Sequence[str]) -> None:
    """Answer everybody, for ever."""
    said = Said()
    waiting = select.epoll()
    doors = {door.fileno(): door for door in map(listening, ports)}
    for file in doors:
        waiting.register(file, select.EPOLLIN)
    peers: dict[int, Answering] = {}
    try:
        answer_all(doors, peers, waiting, said)
    except KeyboardInterrupt:  # the last packets of some clients may have been lost
        for peer in peers.values():
            peer.tell(said)
        said.out()


def accepted(door: socket.socket) -> Answering | None:
    """A client that has come; None if it is gone again.

    Raises:
        OSError: one of FULL: this process may have no more files.
    """
    try:
        connection, _ = door.accept()
    except OSError as error:
        if error.errno in FULL:
            raise
        return None  # ECONNABORTED and others of accept(2)
    try:
        connection.setblocking(False)
        return Answering(connection)
    except OSError:  # ENOTCONN: it was reset before it was looked at
        connection.close()
        return None


def allow_many() -> None:
    """As many files as this user may have: each connection is one."""
    with suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)


def answer_all(
    doors: Mapping[int, socket.socket], peers: dict[int, Answering], waiting: select.epoll, said: Said
) -> None:
    """Answer everybody; a door at which nobody can be taken for want of files waits until a connection has ended."""
    full: list[int] = []
    while True:
        for file, _ in waiting.poll():
            if file in doors:
                try:
                    came = accepted(doors[file])
                except OSError:
                    waiting.unregister(file)
                    full.append(file)
                    continue
                if came is not None:
                    peers[came.socket.fileno()] = came
                    # what has come already is told at once
                    waiting.register(came.socket.fileno(), select.EPOLLIN | select.EPOLLOUT | select.EPOLLET)
                continue
            peer = peers[file]
            try:
                peer.go()
            except EndedError:
                peer.tell(said)
                said.out()
                del peers[file]
                peer.socket.close()
                while full:
                    waiting.register(full.pop(), select.EPOLLIN)


# --- the client


class RpcAsking(Peer):
    """The client's end: it asks again as soon as it has its answer."""

    def __init__(self, number: int, connection: socket.socket, args: argparse.Namespace) -> None:
        super().__init__(connection)
        self.number, self.request, self.response = number, args.request, args.response
        self.asked_ns = 0
        self.head = HEAD.pack(self.request, self.response)

    def go(self, said: Said) -> None:
        """Do what can be done without waiting."""
        if self.head:
            self._begin()
        while self.send() and self.take():
            now = time.monotonic_ns()
            self.answers += 1
            said.say(f"{self.number} {now} {now - self.asked_ns}")
            self._ask(now)

    def _begin(self) -> None:
        """Send the head, once there is a connection; its few bytes always have room."""
        if problem := self.socket.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR):
            raise EndedError(os.strerror(problem))
        try:
            self.socket.send(self.head)
        except OSError as error:
            raise EndedError(error.strerror or str(error)) from None
        self.head = b""
        self._ask(time.monotonic_ns())

    def _ask(self, now: int) -> None:
        self.asked_ns = now
        self.to_send, self.to_take = self.request, self.response


def connect(args: argparse.Namespace, number: int) -> socket.socket:
    """A connection that is being made, the number-th from 1; where its port is taken, the kernel chooses one."""
    family = socket.AF_INET6 if ":" in args.address else socket.AF_INET
    connection = socket.socket(family, socket.SOCK_STREAM)
    connection.setblocking(False)
    if args.from_port:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        with suppress(OSError):
            connection.bind(("", args.from_port + number - 1))
    prepare(connection, args.congestion, args.buffer)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    if args.tos:
        ours = family == socket.AF_INET6
        option = (socket.IPPROTO_IPV6, socket.IPV6_TCLASS) if ours else (socket.IPPROTO_IP, socket.IP_TOS)
        connection.setsockopt(*option, args.tos)
    begun = connection.connect_ex((args.address, args.port))
    if begun not in (0, *WAITS):
        raise OSError(begun, os.strerror(begun))
    return connection


def ask(args: argparse.Namespace) -> int:
    """Ask until the time is over."""
    until = time.monotonic_ns() + round(args.length * 1e9)
    said = Said()
    waiting = select.epoll()
    peers: dict[int, RpcAsking] = {}
    for number in range(1, args.connections + 1):
        connection = connect(args, number)
        peers[connection.fileno()] = RpcAsking(number, connection, args)
        waiting.register(connection.fileno(), select.EPOLLIN | select.EPOLLOUT | select.EPOLLET)
    why: list[str] = []
    try:
        while peers and (left := until - time.monotonic_ns()) > 0:
            for file, _ in waiting.poll(left / 1e9):
                try:
                    peers[file].go(said)
                except EndedError as ended:
                    why.append(f"connection {peers[file].number}: {ended}")
                    end(peers.pop(file), said)
    except KeyboardInterrupt:
        pass
    for peer in peers.values():
        end(peer, said)
    said.out()
    for sentence in why:
        print(sentence, file=sys.stderr)
    return 1 if why else 0


def end(peer: RpcAsking, said: Said) -> None:
    """Say what is known of a connection, and break it off: what it has still to send would burden other flows."""
    said.say(peer.final(peer.number))
    peer.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    peer.socket.close()


def _bytes(text: str) -> int:
    return STREAM if text == "stream" else int(text)


def main(argv: Sequence[str] | None = None) -> int:
    """Serve, or ask."""
    parser = argparse.ArgumentParser()
    verbs = parser.add_subparsers(dest="verb", required=True)
    serving, asking = verbs.add_parser("serve"), verbs.add_parser("ask")
    serving.add_argument("ports", nargs="+")
    asking.add_argument("address")
    asking.add_argument("port", type=int)
    asking.add_argument("--length", type=float, required=True)
    for name, size in (("request", 1), ("response", 1)):
        asking.add_argument(f"--{name}", type=_bytes, default=size)
    for name, number in (("connections", 1), ("buffer", 0), ("tos", 0)):
        asking.add_argument(f"--{name}", type=int, default=number)
    asking.add_argument("--congestion", default="")
    asking.add_argument("--from", dest="from_port", type=int, default=0)
    args = parser.parse_args(argv)
    allow_many()
    if args.verb == "serve":
        serve(args.ports)
        return 0
    return ask(args)


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (KeyboardInterrupt, BrokenPipeError):
        sys.exit(0)
    except OSError as error:
        print(error.strerror or error, file=sys.stderr)
        sys.exit(1)
