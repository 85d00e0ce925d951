# SPDX-License-Identifier: BSD-3-Clause
"""What every open page is told: how far the network is, the clock, the states of steps, and that it has ended.

An event is a JSON object with a `kind`. Of each kind the last one is kept for pages that open later. Published from any
thread; each watcher takes events in the thread of the server's loop.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, TypeAlias

Watcher: TypeAlias = Callable[[dict[str, Any]], None]
"""Takes an event, in whatever thread published it; must not wait or raise."""


class PageEvents:
    """The events of one page."""

    def __init__(self) -> None:
        self._lock = threading.RLock()  # held while watchers are told, so that all hear all in one order
        self._last: dict[str, dict[str, Any]] = {}
        self._watchers: list[Watcher] = []

    @property
    def watched(self) -> bool:
        """Whether a page is open."""
        with self._lock:
            return bool(self._watchers)

    def publish(self, kind: str, *, keep: bool = True, **fields: Any) -> None:
        """Tell every watcher, and those who come later where it is kept."""
        event = {"kind": kind, **fields}
        with self._lock:
            if keep:
                self._last[kind] = event
            for watcher in list(self._watchers):
                watcher(event)

    def watch(self, watcher: Watcher) -> None:
        """Begin to tell this watcher; first the last event of each kind."""
        with self._lock:
            self._watchers.append(watcher)
            for event in list(self._last.values()):
                watcher(event)

    def leave(self, watcher: Watcher) -> None:
        """Tell it nothing more."""
        with self._lock:
            if watcher in self._watchers:
                self._watchers.remove(watcher)
