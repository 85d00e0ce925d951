# SPDX-License-Identifier: BSD-3-Clause
"""Offers the terminals of a running network to other programs of the same user, over a Unix socket.

Runs in the program that holds the network (`linklab shell`, the editor) and reaches nodes through the agent's link
alone. The other side, and the frames, are in `linklab.terminal.attach`.
"""

from __future__ import annotations

import contextlib
import math
import os
import socket
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from pathlib import Path
from typing import Any

from linklab.agent.asks import NO_CLOCK
from linklab.engine.api import Channel
from linklab.errors import AgentError, EngineError, InputError, LinklabError
from linklab.terminal.attach import Connection, alone, remove_stale_in
from linklab.terminal.clock import ClockWords, sentence
from linklab.terminal.terminals import Taker, Terminals

MOST_UNSHOWN_BYTES = 256 * 2**10
"""What a client has not taken of its terminal's output; beyond it the agent leaves the rest in the terminal, whose
programs then wait to write, as at any terminal that has stopped."""
MOST_UNTYPED_BYTES = 16 * 2**20
"""Input of one client that the agent has not taken, as while time stands still; more is refused."""
GOODBYE_S = 1.0
"""For the last words to those who still have others to take."""


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
        self.on_open: Callable[[str], None] = lambda _: None
        """Told the node of each shell that somebody opens, in any thread; must not wait."""
        self.on_close: Callable[[str], None] = lambda _: None
        """Told the node whose last shell has ended or was closed, in any thread; must not wait."""
        self.id = ""
        self._path: Path | None = None
        self._listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._clients: set[_Client] = set()
        self._lock, self._telling = threading.Lock(), threading.Lock()
        self.terminals = Terminals(link)
        link.on("end", lambda _: self._network_ended())

    def __enter__(self) -> AttachServer:
        with alone() as here:
            remove_stale_in(here)
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
        until_s = time.monotonic() + GOODBYE_S
        while any(client.connection.unsent for client in clients) and time.monotonic() < until_s:
            time.sleep(0.01)
        for client in clients:
            client.connection.end()

    def connect(self) -> Connection:
        """A connection for the program that holds the network itself."""
        ours, theirs = socket.socketpair()
        self._serve(theirs)
        return Connection(ours)

    def obey_clock(self, words: Sequence[str], *, wait: bool = False) -> tuple[str, int]:
        """Do what the words after `clock` say; answer and exit status. `wait` as `ClockWords.obey`."""
        if self.clock is None:
            return NO_CLOCK, 2
        return self.clock.obey(words, wait=wait)

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

    def own(self, terminal: str, taker: Taker) -> None:
        """What `terminal` shows goes to this taker from now on; first what it has shown already."""
        self.terminals.own(terminal, taker)

    def claim(self, client: _Client, node: str) -> None:
        """Give the client the one terminal it may have; the Mininet CLI goes to one client at a time.

        Raises:
            InputError: there is no such node, the client has a terminal, or another has the CLI.
        """
        if node not in (*self.nodes, "client", "mininet"):
            raise InputError(f"{node}: no such node here; there are client, mininet, {', '.join(self.nodes)}")
        with self._lock:
            if client.node:
                raise InputError(f"{node}: this connection has a terminal on {client.node} already")
            if node == "mininet" and self._holds(node):
                raise InputError(
                    "the Mininet CLI is open in another terminal already; `client` or a node can be opened"
                )
            client.node = node

    def open_shells(self) -> list[str]:
        """The nodes on which somebody has a shell, each once."""
        with self._lock:
            return sorted({client.node for client in self._clients if client.shell and not client.gone})

    def note_shell(self, client: _Client, *, is_open: bool) -> None:
        """A client's shell has begun or ended; what changes is told in its order, and once."""
        with self._telling:
            if client.shell == is_open:
                return
            client.shell = is_open
            if is_open:
                self.on_open(client.node)
            elif client.node not in self.open_shells():
                self.on_close(client.node)

    def is_open(self, node: str) -> bool:
        """Whether some client has a terminal of this node, or is getting one."""
        with self._lock:
            return self._holds(node)

    def _holds(self, node: str) -> bool:
        return any(client.node == node for client in self._clients)

    def disclaim(self, client: _Client) -> None:
        """The client's terminal was not opened."""
        with self._lock:
            client.node = ""

    def pace(self) -> float:
        """How much of a second of wall time counts for what is done inside: 0 while time stands, 1 at 1x and above."""
        state = self.clock.state() if self.clock is not None else None
        if state is None:
            return 1.0
        return 0.0 if state["paused"] else min(1.0, float(state["speed"]))


class _Client:
    """One connection and its terminal."""

    def __init__(self, server: AttachServer, connection: Connection) -> None:
        self.server, self.connection = server, connection
        self.node = ""
        self.shell = False
        self.terminal: str | None = None
        self.gone = False
        self._held = False
        self._untyped = 0
        self._lock = threading.Lock()

    def tell(self, message: Mapping[str, Any]) -> None:
        """Send without waiting; whoever does not listen any more has gone."""
        try:
            self.connection.send({key: value for key, value in message.items() if key != "terminal"})
        except OSError:
            self.connection.end()
        if message.get("event") == "closed":
            self.server.note_shell(self, is_open=False)
        self._hold_or_release()

    def _hold_or_release(self) -> None:
        """Have the agent leave the terminal's output where it is while this client has not taken the last."""
        with self._lock:
            unsent = self.connection.unsent
            hold = unsent > MOST_UNSHOWN_BYTES if not self._held else unsent > 0
            if self.terminal is None or hold is self._held:
                return
            self._held = hold
            self.server.terminals.flow(self.terminal, on=not hold)

    def serve(self) -> None:
        """Until the connection ends."""
        try:
            while (messages := self.connection.receive()) is not None:
                for message in messages:
                    self._handle(message)
                self._hold_or_release()
        except (EngineError, ValueError) as error:
            self.tell({"event": "error", "text": str(error), "kind": "engine"})
        finally:
            with self._lock:
                self.gone = True
            if self.terminal is not None:
                self.server.terminals.hang_up(self.terminal)
            self.server.note_shell(self, is_open=False)

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
            if "apart" in message:
                fields |= _fields(message, apart=_is_text)
            # in a thread of its own: while the clock is paused the answer waits, and orders to the clock must not
            threading.Thread(target=self._open, kwargs=fields, daemon=True).start()
        elif op == "clock":
            text, status = self.server.obey_clock(_fields(message, words=_is_texts)["words"])
            self.tell({"event": "answer", "text": text, "status": status})
        elif op == "input" and self.terminal is not None:
            self._type(self.terminal, _fields(message, data=_is_text)["data"])
        elif op == "resize" and self.terminal is not None:
            self.server.link.send(op, terminal=self.terminal, **_fields(message, rows=_is_size, columns=_is_size))

    def _type(self, terminal: str, data: str) -> None:
        """Pass input on, and say when the network has taken it."""
        with self._lock:
            fits = self._untyped + len(data) <= MOST_UNTYPED_BYTES
            self._untyped += len(data) if fits else 0
        if not fits:
            text = f"the network has not yet taken {MOST_UNTYPED_BYTES // 2**20} MiB that were typed; this is left out"
            self.tell({"event": "answer", "text": text, "status": 1})
            return

        def taken(_: Future[dict[str, Any]]) -> None:
            with self._lock:
                self._untyped -= len(data)
            self.tell({"event": "typed", "bytes": len(data)})

        self.server.link.send("input", terminal=terminal, data=data).add_done_callback(taken)

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

    def _open(self, *, node: str, rows: int, columns: int, term: str, **more: Any) -> None:
        try:
            self.server.claim(self, node)
        except InputError as error:
            self._refuse(error)
            return
        try:
            if self.server.state is not None:
                self.tell(clock_event(self.server.state))
            terminal = self.server.terminals.open(
                self.server.pace, node=node, rows=rows, columns=columns, term=term, **more
            )
        except LinklabError as error:
            self.server.disclaim(self)
            self._refuse(error)
            return
        with self._lock:
            gone, self.terminal = self.gone, terminal
        if gone:  # while it was being opened
            self.server.terminals.hang_up(terminal)
            return
        self.tell({"event": "opened", "name": terminal})
        if "argv" not in more:
            self.server.note_shell(self, is_open=True)
        self.server.own(terminal, self)  # of which the end may be known already
        if self.gone:  # since we looked
            self.server.note_shell(self, is_open=False)

    def _refuse(self, error: LinklabError) -> None:
        kind = "input" if isinstance(error, (InputError, AgentError)) else "engine"
        self.tell({"event": "error", "text": str(error), "kind": kind})


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
    """The clock's state for whoever has a terminal; the speed is None for as fast as it goes, which JSON cannot say."""
    on_way = state.get("until_ns") is not None
    speed = None if math.isinf(state["speed"]) else state["speed"]
    paused = bool(state["paused"])
    return {"event": "clock", "paused": paused, "on_way": on_way, "speed": speed, "text": sentence(state)}
