# SPDX-License-Identifier: BSD-3-Clause
"""Signals that wait until something is done that must not be broken off."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Iterator

TO_STOP = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
"""What asks a program to end: Ctrl+C, kill(1), and the terminal that closes."""


@contextlib.contextmanager
def signals_wait(*others: signal.Signals) -> Iterator[None]:
    """Ctrl+C waits; a process started here inherits that, and takes it back when it is ready (`worker.settle_in`).

    A signal that this thread blocks goes to another one, and Python's handler still runs here, perhaps in a hook of
    os.fork(), where an exception is lost: so it only takes note.  In another thread than the main one, which hears no
    signals, handlers do not wait.

    others: signals whose handlers wait too; each is heard once, however often it came.
    """
    heard: list[int] = []
    handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, *others)}
    if threading.current_thread() is not threading.main_thread():  # which alone sets and hears
        handlers.clear()
    handlers = {number: handler for number, handler in handlers.items() if handler is not None}  # None: not Python's
    try:
        for number in handlers:
            signal.signal(number, lambda number, _: heard.append(number))
        blocked = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
        try:
            yield
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, blocked)
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
        for waiting in dict.fromkeys(heard):
            signal.raise_signal(waiting)
