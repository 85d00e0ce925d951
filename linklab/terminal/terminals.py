# SPDX-License-Identifier: BSD-3-Clause
"""The live terminals of one network: opened with a deadline, and what each shows goes to its taker.

Works through the agent's link alone; `linklab.terminal.attach_server` gives them to other programs.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeoutError
from typing import Any, Protocol

from linklab.engine.agent_link import value_of
from linklab.engine.api import Channel
from linklab.errors import DeadlineError, EngineError, LinklabError

OPEN_DEADLINE_S = 30.0
"""For opening a terminal, wall seconds at 1x; they count for less while time is slowed, and not while it stands."""
LOOK_S = 0.5


class Taker(Protocol):
    """Takes what a terminal shows; must not wait."""

    def tell(self, message: Mapping[str, Any]) -> None:
        """An event of the terminal: "data" or "closed"."""
        ...


class Terminals:
    """Those of the network at the other end of the link."""

    def __init__(self, link: Channel) -> None:
        self.link = link
        self._lock = threading.Lock()
        self._early: dict[str, list[dict[str, Any]]] = {}
        self._takers: dict[str, Taker] = {}
        self._left: set[str] = set()
        for event in ("data", "closed"):
            link.on(event, self._shown)

    def open(self, pace: Callable[[], float], **fields: Any) -> str:
        """Open a terminal and wait for it; its name, under which `own` takes what it shows.

        Args:
            pace: how much of a second of wall time counts now, 0..1: 0 while the network's time stands still.
            fields: of the agent's operation `open`: node, rows, columns, term, argv.

        Raises:
            AgentError: the agent cannot open it; its words and whose fault it is.
            DeadlineError: it did not answer in time, although time went on; what still opens is hung up.
            EngineError: the network has ended.
        """
        asked = self.link.send("open", **fields)
        try:
            return self._opened(asked, pace, fields["node"])
        except LinklabError:
            asked.add_done_callback(self._too_late)
            raise

    @staticmethod
    def _opened(asked: Future[dict[str, Any]], pace: Callable[[], float], node: str) -> str:
        spent_s, looked_s = 0.0, time.monotonic()
        while spent_s < OPEN_DEADLINE_S:
            try:
                answer = asked.result(LOOK_S)
            except FutureTimeoutError:
                now_s = time.monotonic()
                spent_s, looked_s = spent_s + (now_s - looked_s) * pace(), now_s
                continue
            return str(value_of(answer)["terminal"])
        raise DeadlineError(
            f"opening a terminal on {node} did not end within {OPEN_DEADLINE_S:g} s of wall time; "
            "the network may be overloaded: try again, or end it and start it anew"
        )

    def _too_late(self, asked: Future[dict[str, Any]]) -> None:
        if asked.exception() is None and "ok" in asked.result():
            self.hang_up(asked.result()["ok"]["terminal"])

    def own(self, terminal: str, taker: Taker) -> None:
        """What `terminal` shows goes to this taker from now on; first what it has shown already."""
        with self._lock:
            early = self._early.pop(terminal, [])
            if terminal in self._left:
                return
            for message in early:
                taker.tell(message)
            self._takers[terminal] = taker

    def hang_up(self, terminal: str) -> None:
        """Close `terminal`, as closing its window does; what it still shows is dropped."""
        with self._lock:
            self._takers.pop(terminal, None)
            self._early.pop(terminal, None)
            self._left.add(terminal)
        with contextlib.suppress(EngineError):
            self.link.send("hangup", terminal=terminal)

    def flow(self, terminal: str, *, on: bool) -> None:
        """Have the agent read what `terminal` shows, or leave it there, so that its programs wait to write."""
        with contextlib.suppress(EngineError):
            self.link.send("flow", terminal=terminal, on=on)

    def _shown(self, message: dict[str, Any]) -> None:
        """From the agent, in the thread that reads its link."""
        with self._lock:
            taker = self._takers.get(message["terminal"])
            if taker is None:
                if message["terminal"] not in self._left:  # its name is on the way to whoever opened it
                    self._early.setdefault(message["terminal"], []).append(message)
                return
        taker.tell(message)
