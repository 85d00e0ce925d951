# SPDX-License-Identifier: BSD-3-Clause
"""Offers the terminals of a running network to other programs of the same user, over a Unix socket.

Runs in the program that holds the network (`linklab shell`, the editor) and reaches nodes through the agent's link
alone. The other side, and the frames, are in `linklab.terminal.attach`.
"""

from __future__ import annotations

import contextlib
import os
import socket
import struct
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from linklab.agent.asks import NO_CLOCK
from linklab.engine.api import Channel
from linklab.errors import AgentError, EngineError, InputError, LinklabError
from linklab.terminal.attach import Connection, alone, served
from linklab.terminal.clock import ClockWords, sentence

OPEN_DEADLINE_S = 24 * 3600.0
"""A terminal opens when time goes on; a paused clock may stand for long."""
SLOW_READER = struct.pack("@ll", 10, 0)
"""struct timeval of SO_SNDTIMEO (socket(7)): who takes nothing for 10 s is given up, since the agent waits for it."""


class Taker(Protocol):
    """Who gets what a terminal shows."""

    def tell(self, message: Mapping[str, Any]) -> None:
        """Take an event "data" or "closed" of the agent, in the thread that reads its link."""
        ...


class AttachServer:
    """Offers the terminals of one network, until the end of the `with` block.

    Args:
        link: to the agent.
        nodes: names of the network's nodes.
        name: of the network, for lists.
        clock: makes the object that obeys `clock`; None where the clock cannot be set.
        workdir: the folder of the host in which the network's terminals are.
    """

    def __init__(
        self,
        link: Channel,
        nodes: Sequence[str],
        name: str,
        clock: Callable[[Callable[[dict[str, Any]], None]], ClockWords] | None = None,
        workdir: Path | None = None,
    ) -> None:
        self.link, self.nodes, self.name, self.workdir = link, list(nodes), name, workdir
        self.clock = clock(self._clock_changed) if clock else None
        self.state: dict[str, Any] | None = None
        self.started = time.time()
        self.id = ""
        self._path: Path | None = None
        self._listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._clients: set[_Client] = set()
        self._lock = threading.Lock()
        self._early: dict[str, list[dict[str, Any]]] = {}
        self._owners: dict[str, Taker] = {}
        self._left: set[str] = set()
        for event in ("data", "closed"):
            link.on(event, self._from_terminal)
        link.on("end", lambda _: self._network_ended())

    def __enter__(self) -> AttachServer:
        with alone() as here:
            for path in here.glob("*.sock"):
                if not served(path):
                    path.unlink(missing_ok=True)
            number = next(n for n in range(1, 10**6) if not (here / f"{n}.sock").exists())
            self._path = here / f"{number}.sock"
            self._listener.bind(str(self._path))
            self._listener.listen(16)
        self.id = str(number)
        threading.Thread(target=self._accept, name="attach", daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        if self._path is not None:
            self._path.unlink(missing_ok=True)
        with self._lock:
            clients = list(self._clients)
        for client in clients:
            client.tell({"event": "error", "text": "the network has been ended", "kind": "end"})
            client.connection.close()

    def connect(self) -> Connection:
        """A connection for the program that holds the network itself."""
        ours, theirs = socket.socketpair()
        self._serve(theirs)
        return Connection(ours)

    def obey_clock(self, words: Sequence[str]) -> tuple[str, int]:
        """Do what the words after `clock` say; answer and exit status."""
        if self.clock is None:
            return NO_CLOCK, 2
        return self.clock.obey(words)

    def _accept(self) -> None:
        while True:
            try:
                stream, _ = self._listener.accept()
            except OSError:
                return
            self._serve(stream)

    def _serve(self, stream: socket.socket) -> None:
        client = _Client(self, Connection(stream))
        with self._lock:
            self._clients.add(client)
        threading.Thread(target=self._run, args=(client,), name="attached terminal", daemon=True).start()

    def _run(self, client: _Client) -> None:
        try:
            client.serve()
        finally:
            with self._lock:
                self._clients.discard(client)
            if client.terminal is not None:
                self.leave(client.terminal)
            client.connection.close()

    def _clock_changed(self, state: dict[str, Any]) -> None:
        self.state = state
        message = clock_event(state)
        with self._lock:
            clients = list(self._clients)
        for client in clients:
            client.tell(message)

    def _network_ended(self) -> None:
        why = self.link.ended or "the network has ended"
        with self._lock:
            clients = list(self._clients)
        for client in clients:
            client.tell({"event": "error", "text": why, "kind": "engine"})

    # --- from the agent, in the thread that reads its link

    def _from_terminal(self, message: dict[str, Any]) -> None:
        with self._lock:
            owner = self._owners.get(message["terminal"])
            if owner is None:
                if message["terminal"] in self._left:
                    return
                # its name is on the way to whoever opened it
                self._early.setdefault(message["terminal"], []).append(message)
                return
        owner.tell(message)

    def own(self, terminal: str, taker: Taker) -> None:
        """What `terminal` shows goes to this taker from now on; first what it has shown already."""
        with self._lock:
            early = self._early.pop(terminal, [])
            if terminal in self._left:
                return
            for message in early:
                taker.tell(message)
            self._owners[terminal] = taker

    def leave(self, terminal: str) -> None:
        """Nobody wants any more what `terminal` shows."""
        with self._lock:
            self._owners.pop(terminal, None)
            self._early.pop(terminal, None)
            self._left.add(terminal)

    def console_is_open(self) -> bool:
        """Whether the Mininet CLI is open: two would type into the same shells."""
        with self._lock:
            return any(client.node == "mininet" for client in self._clients)


class _Client:
    """One connection and its terminal."""

    def __init__(self, server: AttachServer, connection: Connection) -> None:
        self.server, self.connection = server, connection
        connection.stream.settimeout(None)
        self.node = ""
        self.terminal: str | None = None
        self.gone = False
        connection.stream.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, SLOW_READER)

    def tell(self, message: Mapping[str, Any]) -> None:
        """Send; whoever does not listen any more has gone."""
        try:
            self.connection.send({key: value for key, value in message.items() if key != "terminal"})
        except OSError:
            self.connection.close()

    def serve(self) -> None:
        """Until the connection ends."""
        try:
            while (messages := self.connection.receive()) is not None:
                for message in messages:
                    self._handle(message)
        except (EngineError, ValueError) as error:
            self.tell({"event": "error", "text": str(error), "kind": "engine"})
        finally:
            self.gone = True
            self._hang_up()

    def _hang_up(self) -> None:
        if self.terminal is not None:
            with contextlib.suppress(EngineError):
                self.server.link.send("hangup", terminal=self.terminal)

    def _handle(self, message: Any) -> None:
        """Do what a frame asks; ValueError for one that is none, before anything of it reaches the agent."""
        if not isinstance(message, dict):
            raise ValueError("a frame that is no object")
        op = message.get("op")
        if op == "info":
            self.tell(self._info())
        elif op == "open":
            fields = _fields(message, node=_is_text, rows=_is_size, columns=_is_size, term=_is_text)
            if "argv" in message:
                fields |= _fields(message, argv=_is_texts)
            # in a thread of its own: while the clock is paused the answer waits, and orders to the clock must not
            threading.Thread(target=self._open, kwargs=fields, daemon=True).start()
        elif op == "clock":
            text, status = self.server.obey_clock(_fields(message, words=_is_texts)["words"])
            self.tell({"event": "answer", "text": text, "status": status})
        elif op == "input" and self.terminal is not None:
            self.server.link.send(op, terminal=self.terminal, **_fields(message, data=_is_text))
        elif op == "resize" and self.terminal is not None:
            self.server.link.send(op, terminal=self.terminal, **_fields(message, rows=_is_size, columns=_is_size))

    def _info(self) -> dict[str, Any]:
        server = self.server
        info = {
            "event": "info",
            "name": server.name,
            "nodes": server.nodes,
            "pid": os.getpid(),
            "started": server.started,
        }
        if server.workdir is not None:
            info["workdir"] = str(server.workdir.resolve())
        if server.clock is not None:
            state = server.clock.state()
            info["clock"], info["paused"] = sentence(state), bool(state["paused"])
        return info

    def _open(self, *, node: str, rows: int, columns: int, term: str, argv: list[str] | None = None) -> None:
        try:
            if node not in (*self.server.nodes, "client", "mininet"):
                raise InputError(
                    f"{node}: no such node here; there are client, mininet, {', '.join(self.server.nodes)}"
                )
            if node == "mininet" and self.server.console_is_open():
                raise InputError(
                    "the Mininet CLI is open in another terminal already; `client` or a node can be opened"
                )
            self.node = node
            if self.server.state is not None:
                self.tell(clock_event(self.server.state))
            answer = self.server.link.request(
                "open",
                deadline_s=OPEN_DEADLINE_S,
                what=f"opening a terminal on {node}",
                node=node,
                rows=rows,
                columns=columns,
                term=term,
                **({"argv": argv} if argv else {}),
            )
        except LinklabError as error:
            self.node = ""
            kind = "input" if isinstance(error, (InputError, AgentError)) else "engine"
            self.tell({"event": "error", "text": str(error), "kind": kind})
            return
        self.terminal = answer["terminal"]
        if self.gone:  # while it was being opened
            self._hang_up()
            self.server.leave(answer["terminal"])
            return
        self.tell({"event": "opened"})
        self.server.own(answer["terminal"], self)


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_texts(value: Any) -> bool:
    return isinstance(value, list) and all(map(_is_text, value))


def _is_size(value: Any) -> bool:
    """A terminal's rows or columns, unsigned short in struct winsize (ioctl_tty(2))."""
    return isinstance(value, int) and 0 <= value < 2**16


def _fields(message: dict[str, Any], **wanted: Callable[[Any], bool]) -> dict[str, Any]:
    """Those fields of a frame; ValueError if one is missing or of the wrong kind."""
    for name, fits in wanted.items():
        if not fits(message.get(name)):
            found = f"is {message[name]!r}" if name in message else "is missing"
            raise ValueError(f'a frame "{message["op"]}" whose "{name}" {found}')
    return {name: message[name] for name in wanted}


def clock_event(state: dict[str, Any]) -> dict[str, Any]:
    """The clock's state for whoever has a terminal."""
    on_way = state.get("until_ns") is not None
    return {"event": "clock", "paused": bool(state["paused"]), "on_way": on_way, "text": sentence(state)}
