# SPDX-License-Identifier: BSD-3-Clause
"""What programs inside ask of the host: open a window, show a file, set the clock.

A shim (linklab/agent/shims) connects to the agent's socket and sends one JSON line {"argv": [...], "cwd": ...}; the
answer is one JSON line {"text": ..., "status": n}. The agent passes it to the engine as an event and the answer back.
On a clock that stops for the engine nobody watches, so the agent answers by itself where the file is.
"""

from __future__ import annotations

import contextlib
import json
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

NO_CLOCK = "the clock of this network cannot be set: only the pocket's paced clock can"
SOCKET = "/run/linklab/agent"
LARGEST = 65536


class Asks:
    """Open questions of programs inside."""

    def __init__(self, send: Callable[[dict[str, Any]], None], *, answers_itself: bool) -> None:
        self.send = send
        self.answers_itself = answers_itself
        self.host_answers = False
        self.open: dict[int, socket.socket] = {}
        self.count = 0
        self.server: socket.socket | None = None

    def listen(self) -> socket.socket:
        """The socket to watch for programs that ask."""
        with contextlib.suppress(FileNotFoundError):
            Path(SOCKET).unlink()
        self.server = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.server.bind(SOCKET)
        self.server.listen(8)
        return self.server

    def accept(self) -> socket.socket:
        """A program has connected."""
        assert self.server is not None
        return self.server.accept()[0]

    def read(self, connection: socket.socket) -> None:
        """Read its question and pass it on."""
        try:
            asked = json.loads(connection.recv(LARGEST))
            argv = [str(word) for word in asked["argv"]]
            kind, cwd = argv[0], str(asked.get("cwd", "/lab"))
        except (ValueError, LookupError, TypeError, OSError):
            connection.close()  # no question of our shims
            return
        if self.answers_itself or not (self.host_answers or kind == "clock"):
            # a live plot must know that nobody opened it, and where the file is, is no answer to `clock`
            self._reply(connection, without_display(argv), 1 if kind in ("clock", "queue") else 0)
            return
        self.count += 1
        self.open[self.count] = connection
        self.send({"event": "ask", "ask": self.count, "argv": argv, "cwd": cwd})

    def answer(self, message: dict[str, Any]) -> None:
        """The engine's answer to a question."""
        connection = self.open.pop(message["ask"], None)
        if connection is not None:
            self._reply(connection, message["text"], message["status"])

    @staticmethod
    def _reply(connection: socket.socket, text: str, status: int) -> None:
        with contextlib.suppress(OSError):
            connection.sendall(json.dumps({"text": text, "status": status}).encode() + b"\n")
        connection.close()


def without_display(argv: list[str]) -> str:
    """What to say where no window can be opened."""
    if argv[0] == "clock":
        return NO_CLOCK
    if argv[0] == "terminal":
        return f"no display: use `linklab attach {argv[1] if len(argv) > 1 else 'h1'}` in another terminal"
    return f"no display: the file is {argv[1] if len(argv) > 1 else '?'}"
