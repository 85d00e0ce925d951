# SPDX-License-Identifier: BSD-3-Clause
"""Requests and answers on one connection: how long each takes.

`python3 trial_requests.py serve PORT`, and
`python3 trial_requests.py ask ADDRESS PORT --interval S --length S [--request BYTES] [--response BYTES] [--tos N]`,
both with --sctp. Prints a line for each answer: when it was complete (s since 1970), and how long it took (ms). A
request that takes longer than the interval delays the next. Sizes travel at the head of a request, so a server answers
any client.
"""

from __future__ import annotations

import sys
from pathlib import Path

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from linklab.agent.own_kernel import cost_nothing

if __name__ == "__main__":
    cost_nothing()  # as all that measures and is not measured

import argparse
import socket
import struct
import threading
import time
from collections.abc import Sequence

HEAD = struct.Struct("!II")  # bytes of the request that follow, and of the answer
MOST_BYTES = 1 << 30
BLOCK = 1 << 16


def main(argv: Sequence[str] | None = None) -> int:
    """Serve, or ask."""
    parser = argparse.ArgumentParser()
    verbs = parser.add_subparsers(dest="verb", required=True)
    serving, asking = verbs.add_parser("serve"), verbs.add_parser("ask")
    serving.add_argument("port", type=int)
    asking.add_argument("address")
    asking.add_argument("port", type=int)
    for name, default in (("interval", None), ("length", None)):
        asking.add_argument(f"--{name}", type=float, default=default, required=True)
    for name, size in (("request", 1), ("response", 1), ("tos", 0)):
        asking.add_argument(f"--{name}", type=int, default=size)
    for each in (serving, asking):
        each.add_argument("--sctp", action="store_true")
    args = parser.parse_args(argv)
    protocol = socket.IPPROTO_SCTP if args.sctp else socket.IPPROTO_TCP
    if args.verb == "serve":
        serve(args.port, protocol)
        return 0
    return ask(args, protocol)


def serve(port: int, protocol: int) -> None:
    """Answer everybody, each in a thread, for ever."""
    try:
        listening = socket.socket(socket.AF_INET6, socket.SOCK_STREAM, protocol)
        listening.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
        where: tuple[str, int] = ("::", port)
    except OSError:  # no IPv6 here
        listening, where = socket.socket(socket.AF_INET, socket.SOCK_STREAM, protocol), ("", port)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listening.bind(where)
    listening.listen(64)
    while True:
        connection, _ = listening.accept()
        threading.Thread(target=answer, args=(connection,), daemon=True).start()


def answer(connection: socket.socket) -> None:
    """Answer one client until it goes."""
    with connection:
        while head := take(connection, HEAD.size, keep=True):
            asked, wanted = HEAD.unpack(head)
            if take(connection, min(asked, MOST_BYTES)) is None:
                return
            connection.sendall(bytes(max(1, min(wanted, MOST_BYTES))))


def take(connection: socket.socket, size: int, *, keep: bool = False) -> bytes | None:
    """Receive so many bytes, which are given if they are to be kept; None where the connection ends before."""
    kept = b""
    while size > 0:
        try:
            part = connection.recv(min(size, BLOCK))
        except OSError:
            return None
        if not part:
            return None
        size -= len(part)
        kept += part if keep else b""
    return kept


def ask(args: argparse.Namespace, protocol: int) -> int:
    """Ask until the time is over."""
    begun = due = time.monotonic()
    family = socket.AF_INET6 if ":" in args.address else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM, protocol) as connection:
        if args.tos:
            level, option = (
                (socket.IPPROTO_IPV6, socket.IPV6_TCLASS)
                if family == socket.AF_INET6
                else (socket.IPPROTO_IP, socket.IP_TOS)
            )
            connection.setsockopt(level, option, args.tos)
        connection.connect((args.address, args.port))
        if protocol == socket.IPPROTO_TCP:
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        message = HEAD.pack(args.request, args.response) + bytes(args.request)
        while due - begun < args.length:
            time.sleep(max(0.0, due - time.monotonic()))
            asked = time.monotonic()
            connection.sendall(message)
            if take(connection, max(1, args.response)) is None:
                print("the server has closed the connection", file=sys.stderr)
                return 1
            print(f"{time.time():.6f} {(time.monotonic() - asked) * 1e3:.6f}", flush=True)
            due = max(due + args.interval, time.monotonic())
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (KeyboardInterrupt, BrokenPipeError):
        sys.exit(0)
    except OSError as error:
        print(error, file=sys.stderr)
        sys.exit(1)
