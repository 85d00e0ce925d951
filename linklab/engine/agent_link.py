# SPDX-License-Identifier: BSD-3-Clause
"""Requests to an agent and its answers, over a stream socket; the same for every engine.

A thread reads what the agent sends: answers end the wait of whoever asked, events go to the handlers, which must not
wait. Asking never waits either, so neither side can hold up the other. Specified in `linklab.agent.protocol`.
"""

from __future__ import annotations

import contextlib
import socket
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeoutError
from typing import Any, TypeAlias

from linklab.agent.protocol import LARGEST
from linklab.engine.frames import FrameStream
from linklab.errors import AgentError, DeadlineError, EngineError, Fault

Handler = Callable[[dict[str, Any]], None]
REASON_WAIT_S = 5.0
"""How long the end of the stream waits for whoever holds the network to say why, as the kernel's last words."""


Patience: TypeAlias = Callable[[float], Iterable[float]]
"""From a deadline in seconds: how many seconds to wait, and, each time these have passed, how many more."""


class AgentLink:
    """One agent.

    patience: of every request; until it is set, its deadline alone.
    """

    def __init__(self, connection: socket.socket, largest: int = LARGEST, most_values: int | None = None) -> None:
        """The link over this socket, which it closes when the agent has gone or `end` is called.

        Args:
            connection: to the agent.
            largest: bytes of a message of the agent's.
            most_values: in it, as of `linklab.agent.protocol.Decoder`.
        """
        self.patience: Patience = lambda deadline_s: (deadline_s,)
        self._stream = FrameStream(connection, largest, most_values)
        self._waiting: dict[int, Future[dict[str, Any]]] = {}
        self._handlers: dict[str, list[Handler]] = {}
        self._count = 0
        self._lock = threading.Lock()
        self._ended: str | None = None
        self._ended_by: type[EngineError] = EngineError
        self._reason = threading.Event()
        self._taken_s = 0.0
        self._reader = threading.Thread(target=self._read, name="agent link", daemon=True)

    def on(self, event: str, handler: Handler) -> None:
        """Call `handler` (in the reading thread) for every event of that name."""
        self._handlers.setdefault(event, []).append(handler)

    @property
    def ended(self) -> str | None:
        """Why nothing more will come; None while the agent is there."""
        return self._ended

    @property
    def taken_s(self) -> float:
        """Processor time that reading what the agent sends has taken here, in seconds."""
        return self._taken_s

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
            DeadlineError: no answer within `deadline_s` wall seconds, or the time that `patience` gives; names `what`.
            EngineError: the agent has gone.
        """
        waited_s, waits = 0.0, self.patience(deadline_s)
        future = self.send(op, **fields)
        for wait_s in waits:
            waited_s += wait_s
            with contextlib.suppress(FutureTimeoutError):
                return value_of(future.result(wait_s))
        raise DeadlineError(f"{what} did not end within {round(waited_s, 2):g} s")

    def send(self, op: str, **fields: Any) -> Future[dict[str, Any]]:
        """Ask without waiting, not even for an agent that does not listen; `value_of` reads the answer.

        Raises:
            EngineError: the agent has gone.
        """
        future: Future[dict[str, Any]] = Future()
        with self._lock:
            if self._ended is not None:
                raise self._ended_by(self._ended)
            self._count += 1
            try:
                self._stream.send({"id": self._count, "op": op, **fields})
            except OSError as error:
                raise EngineError(f"the network has ended ({error.strerror})") from error
            self._waiting[self._count] = future
        return future

    def end(self, why: str, error: type[EngineError] = EngineError) -> None:
        """Nothing more will come or go: `error` says why to all who wait or ask; the first reason stays."""
        with self._lock:
            if self._ended is None:
                self._ended, self._ended_by = why, error
            waiting, self._waiting = self._waiting, {}
        for future in waiting.values():
            future.set_exception(self._ended_by(self._ended))
        self._reason.set()
        if self._reader.ident is None:  # it never began
            self._stream.close()
        else:
            self._stream.end()

    def _read(self) -> None:
        try:
            while messages := self._messages():
                for message in messages:
                    self._dispatch(message)
        except Exception as error:
            # nobody reads any more: whoever waits must not wait for the deadline
            self.end(f"what came from the network could not be handled: {type(error).__name__}: {error}")
            raise
        finally:
            try:
                for handler in self._handlers.get("end", []):
                    handler({})
            finally:
                self._reason.wait(REASON_WAIT_S)  # whoever holds the network may know more
                self.end("the network has ended")
                self._stream.close()

    def _messages(self) -> list[dict[str, Any]]:
        """The next messages; [] at the end, and also where what came cannot be read, which ends the link."""
        try:
            while True:
                self._taken_s = time.thread_time()  # after what came last, also while a message comes byte by byte
                if (messages := self._stream.receive()) is None:
                    return []
                if messages:
                    return [_message(each) for each in messages]
        except ValueError as error:  # no fault of ours: a program inside may write to the agent's channel
            self.end(f"what came from the network cannot be read: {error}")
        return []

    def _dispatch(self, message: dict[str, Any]) -> None:
        if isinstance(event := message.get("event"), str):
            for handler in self._handlers.get(event, []):
                handler(message)
            return
        with self._lock:
            future = self._waiting.pop(message["id"], None)
        if future is not None:
            future.set_result(message)


def _message(found: Any) -> dict[str, Any]:
    """An event or an answer; ValueError if it is neither."""
    if isinstance(found, dict) and (isinstance(found.get("event"), str) or type(found.get("id")) is int):
        return found
    raise ValueError("it must be an event or an answer")


def value_of(answer: Mapping[str, Any]) -> dict[str, Any]:
    """Return what an answer of the agent says.

    Args:
        answer: {"ok": object}, or {"error": sentence, "fault": whose}; our own fault where it names none.

    Raises:
        AgentError: the agent says that it cannot; its words, and whose fault that is.
    """
    if "error" in answer:
        fault = next((fault for fault in Fault if fault.value == answer.get("fault")), Fault.TOOL)
        raise AgentError(str(answer["error"]), fault=fault)
    ok: dict[str, Any] = answer["ok"]
    return ok
