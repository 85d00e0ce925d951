# SPDX-License-Identifier: BSD-3-Clause
"""One end of a connection of requests, and the lines that both ends print: parts of `trial_rpc.py`."""

from __future__ import annotations

import json
import os
import socket
import time
from contextlib import suppress

from linklab.linux.sock_diag import tcp_info

BLOCK = 1 << 20
ZEROS = memoryview(bytes(BLOCK))
ROOM = bytearray(BLOCK)
PRINT_BYTES = 1 << 16


class EndedError(Exception):
    """A connection is over; the sentence says why."""


class Peer:
    """One end of a connection, which sends and receives as much as it is told; its socket never waits."""

    def __init__(self, connection: socket.socket) -> None:
        self.socket = connection
        self.to_send = self.to_take = 0
        self.answers = 0

    def send(self) -> bool:
        """Send what is to be sent, as far as there is room; whether all is sent."""
        while self.to_send:
            try:
                self.to_send -= self.socket.send(ZEROS[: self.to_send])
            except BlockingIOError:
                return False
            except OSError as error:
                raise EndedError(error.strerror or str(error)) from None
        return True

    def take(self) -> bool:
        """Take what is to be received, as far as it is there, without copying it; whether all is there."""
        while self.to_take:
            wanted = min(self.to_take, BLOCK)
            try:
                count = self.socket.recv_into(ROOM, wanted, socket.MSG_TRUNC)
            except BlockingIOError:
                return False
            except OSError as error:
                raise EndedError(error.strerror or str(error)) from None
            if not count:
                raise EndedError("the other end has closed the connection")
            self.to_take -= count
            if count < wanted:
                break
        return not self.to_take

    def final(self, number: int, peer_port: int = 0) -> str:
        """What is known of it in the end, as JSON; peer_port: where the kernel may have forgotten it."""
        with suppress(OSError):
            known = {"port": self.socket.getsockname()[1], "info": tcp_info(self.socket), "peer_port": peer_port}
            with suppress(OSError):
                known["peer_port"] = self.socket.getpeername()[1]
            found = {"connection": number, "ended_ns": time.monotonic_ns(), "answers": self.answers}
            return json.dumps(found | known)
        return json.dumps({"connection": number, "why": "its kernel says nothing"})


class Said:
    """Lines for standard output, written in large pieces."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.size = 0

    def say(self, line: str) -> None:
        """Keep a line, and write all where they are many."""
        self.lines.append(line)
        self.size += len(line)
        if self.size > PRINT_BYTES:
            self.out()

    def out(self) -> None:
        """Write them all."""
        data = "".join(f"{line}\n" for line in self.lines).encode()
        self.lines.clear()
        self.size = 0
        while data:
            data = data[os.write(1, data) :]
