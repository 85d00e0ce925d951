# SPDX-License-Identifier: BSD-3-Clause
"""Requests to an agent and its answers, over a stream socket; the same for every engine.

A thread reads what the agent sends: answers end the wait of whoever asked, events go to the handlers.
Specified in `linklab.agent.protocol`.
"""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeoutError
from typing import Any

from linklab.agent import protocol
from linklab.errors import AgentError, DeadlineError, EngineError, Fault

Handler = Callable[[dict[str, Any]], None]


class AgentLink:
    """One agent."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self._decoder = protocol.Decoder()
        self._waiting: dict[int, Future[dict[str, Any]]] = {}
        self._handlers: dict[str, list[Handler]] = {}
        self._count = 0
        self._lock = threading.Lock()
        self._ended: str | None = None
        self._reader = threading.Thread(target=self._read, name="agent link", daemon=True)

    def on(self, event: str, handler: Handler) -> None:
        """Call `handler` (in the reading thread) for every event of that name."""
        self._handlers.setdefault(event, []).append(handler)

    @property
    def ended(self) -> str | None:
        """Why nothing more will come; None while the agent is there."""
        return self._ended

    @property
    def busy(self) -> bool:
        """Whether an answer is still due, also to somebody who has stopped waiting for it."""
        with self._lock:
            return bool(self._waiting)

    def begin(self) -> None:
        """Start reading; handlers for the first events are set before."""
        self._reader.start()

    def request(self, op: str, *, deadline_s: float, what: str, **fields: Any) -> dict[str, Any]:
        """Ask and wait for the answer.

        Raises:
            AgentError: the agent says it cannot; its words.
            DeadlineError: no answer within `deadline_s` wall seconds; names `what`.
            EngineError: the agent has gone.
        """
        future = self.send(op, **fields)
        try:
            answer = future.result(deadline_s)
        except FutureTimeoutError:
            raise DeadlineError(f"{what} did not end within {deadline_s:g} s of wall time") from None
        if "error" in answer:
            raise AgentError(answer["error"], fault=_fault(answer.get("fault")))
        ok: dict[str, Any] = answer["ok"]
        return ok

    def send(self, op: str, **fields: Any) -> Future[dict[str, Any]]:
        """Ask without waiting; the answer comes as {"ok": …} or {"error": …}."""
        future: Future[dict[str, Any]] = Future()
        with self._lock:
            if self._ended is not None:
                raise EngineError(self._ended)
            self._count += 1
            number = self._count
            self._waiting[number] = future
            try:
                self._connection.sendall(protocol.encode({"id": number, "op": op, **fields}))
            except OSError as error:
                raise EngineError(self._ended or f"the network has ended ({error.strerror})") from error
        return future

    def end(self, why: str) -> None:
        """Nothing more will come: whoever waits is told why."""
        with self._lock:
            if self._ended is None:
                self._ended = why
            waiting, self._waiting = self._waiting, {}
        for future in waiting.values():
            future.set_exception(EngineError(self._ended))

    def _read(self) -> None:
        try:
            while data := self._receive():
                for message in self._decoder.feed(data):
                    self._dispatch(message)
        except Exception as error:
            # nobody reads any more: whoever waits must not wait for the deadline
            self.end(f"what came from the network could not be handled: {type(error).__name__}: {error}")
            raise
        finally:
            for handler in self._handlers.get("end", []):
                handler({})

    def _receive(self) -> bytes:
        try:
            return self._connection.recv(65536)
        except OSError:
            return b""

    def _dispatch(self, message: dict[str, Any]) -> None:
        if "event" in message:
            for handler in self._handlers.get(message["event"], []):
                handler(message)
            return
        with self._lock:
            future = self._waiting.pop(message["id"], None)
        if future is not None:
            future.set_result(message)


def _fault(said: object) -> Fault:
    """Whose fault the agent says an error is; our own where it does not say."""
    return next((fault for fault in Fault if fault.value == said), Fault.TOOL)
