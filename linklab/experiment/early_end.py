# SPDX-License-Identifier: BSD-3-Clause
"""SIGUSR1 and Ctrl+C while a test runs: what each does, depending on how far the test is.

Before the runner has begun, either ends the test without data. From then on the first of them ends it early, and keeps
what was measured; further SIGUSR1 do nothing, and a further Ctrl+C gives the data up.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable
from types import FrameType
from typing import Any


class NotBegunError(BaseException):
    """SIGUSR1 came before there was anything to keep."""


class EarlyEnd:
    """Takes the two signals for as long as the `with` block; in the main thread, since no other gets them."""

    def __init__(self) -> None:
        self._end: Callable[[], None] | None = None
        self._came = False
        self._before: dict[int, Any] = {}

    def __enter__(self) -> EarlyEnd:
        """Begin; a signal that this process ignores stays ignored."""
        if threading.current_thread() is threading.main_thread():
            for number, take in ((signal.SIGUSR1, self._usr1), (signal.SIGINT, self._interrupt)):
                if signal.getsignal(number) is not signal.SIG_IGN:
                    self._before[number] = signal.signal(number, take)
        return self

    def __exit__(self, *_: object) -> None:
        """End."""
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def begun(self, end: Callable[[], None]) -> None:
        """The runner has begun; `end` ends it, and may be called in between any two steps of the main thread."""
        self._end = end

    def ended(self) -> None:
        """The runner has ended, so there is nothing left to end early."""
        self._end = _nothing

    def _usr1(self, number: int, frame: FrameType | None) -> None:
        if self._end is None:
            raise NotBegunError
        self._first()

    def _interrupt(self, number: int, frame: FrameType | None) -> None:
        try:
            # of a process of a batch it interrupts only once, whatever comes (`linklab.base.worker`)
            before = self._before[number]
            before(number, frame) if callable(before) else signal.default_int_handler(number, frame)
        except KeyboardInterrupt:
            if self._end is None or not self._first():
                raise

    def _first(self) -> bool:
        """End the test, unless that has been done; whether this is the first signal."""
        first, self._came = not self._came, True
        if first and self._end is not None:
            self._end()
        return first


def _nothing() -> None:
    pass
