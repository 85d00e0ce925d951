# SPDX-License-Identifier: BSD-3-Clause
"""The labs of one student's server: which there are, and the one that is open.

One lab runs at a time, because a network holds memory. Pages open and leave labs in the server's loop; the networks are
started and ended by the thread that calls `hold`, which is the main one, since engines set signal handlers.
"""

from __future__ import annotations

import contextlib
import queue
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

from tornado.web import Application

from linklab.engine.api import Network
from linklab.errors import LinklabError
from linklab.lab.model import Lab
from linklab.page.context import PageContext

Starter: TypeAlias = Callable[[PageContext, contextlib.ExitStack], Network]
"""Starts the network of a page; the stack ends it."""


class OpenLab:
    """A lab whose page is served."""

    def __init__(self, context: PageContext, application: Application) -> None:
        self.context, self.application = context, application
        self.over = threading.Event()

    @property
    def lab(self) -> Lab:
        """What is open."""
        return self.context.lab

    def end(self, why: str) -> None:
        """Say on its pages that it has ended, and have its network ended."""
        self.context.has_ended(why)
        self.over.set()


class LabDesk:
    """Opens and leaves the labs of one student.

    Args:
        folder: of the student; each lab works in a folder of its own below.
        make: the page of a lab that works in a folder.
    """

    def __init__(self, folder: Path, make: Callable[[Lab, Path], OpenLab]) -> None:
        self.folder, self._make = folder, make
        self.current: OpenLab | None = None
        self._orders: queue.SimpleQueue[OpenLab | None] = queue.SimpleQueue()
        self._active_s = time.monotonic()

    # --- from the pages

    def touch(self) -> None:
        """The student has done something outside of a lab's page."""
        self._active_s = time.monotonic()

    def open(self, lab: Lab) -> OpenLab:
        """Open this lab, and leave the one that is open, which goes on if this one cannot be opened."""
        why = f"{lab.heading} was opened instead"
        if self.current is not None and self.current.lab.number == lab.number:
            self.leave(why)  # two pages would write one progress
        folder = self.folder / lab.slug
        folder.mkdir(mode=0o700, exist_ok=True)
        opened = self._make(lab, folder)
        self.leave(why)
        self.current = opened
        self._orders.put(opened)
        return opened

    def leave(self, why: str) -> None:
        """Close the lab that is open, if there is one."""
        opened, self.current = self.current, None
        if opened is not None:
            opened.end(why)

    def close(self, why: str) -> None:
        """Leave the lab, and have `hold` return."""
        self.leave(why)
        self._orders.put(None)

    def idle_s(self) -> float:
        """For how long nothing was done and no command has run, seconds."""
        opened = self.current
        if opened is not None and opened.context.at_work:
            self.touch()
        last_s = max(self._active_s, opened.context.active_s if opened is not None else 0.0)
        return max(0.0, time.monotonic() - last_s)

    def facts(self) -> dict[str, Any]:
        """What the list of labs shows of the one that is open."""
        opened = self.current
        if opened is None or opened.context.ended:
            return {"number": None, "heading": "", "ended": opened.context.ended if opened else ""}
        return {"number": opened.lab.number, "heading": opened.lab.heading, "ended": ""}

    # --- in the thread of the networks

    def hold(self, start: Starter) -> None:
        """Hold the networks of the labs that are opened, one after the other, until `close`."""
        while (opened := self._orders.get()) is not None:
            if not opened.over.is_set():
                self._hold_one(opened, start)

    @staticmethod
    def _hold_one(opened: OpenLab, start: Starter) -> None:
        with contextlib.ExitStack() as stack:
            stack.callback(opened.context.close)
            try:
                network = start(opened.context, stack)
                network.link.on("end", lambda _: opened.over.set())
                if not network.link.ended:
                    opened.over.wait()
            except LinklabError as error:
                opened.context.has_ended(str(error))
            except BaseException:
                opened.context.has_ended("the server was stopped")
                raise
