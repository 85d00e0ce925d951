# SPDX-License-Identifier: BSD-3-Clause
"""Processes that do a part of the work and end with whoever started them."""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import time
from collections.abc import Sequence
from multiprocessing.context import ForkProcess

PR_SET_PDEATHSIG = 1
GRACE_S = 20.0
"""Wall-clock seconds that a process has to tear its network down."""


def settle_in(parent: int) -> bool:
    """First thing in such a process: it is ended by Ctrl+C from its parent alone, and when the parent is killed.

    Returns:
        Whether the parent still lives.
    """
    os.setpgid(0, 0)  # Ctrl+C in the terminal is for the parent, which passes it on once
    signal.signal(signal.SIGINT, signal.default_int_handler)
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGINT)  # prctl(2)
    return os.getppid() == parent


def processors() -> int:
    """How many pockets run at once without getting in each other's way."""
    return len(os.sched_getaffinity(0))


def end(processes: Sequence[ForkProcess], *, grace_s: float = GRACE_S) -> None:
    """Ctrl+C to each, so that it tears its network down; then by force. Another Ctrl+C does not stop this."""
    if not processes:
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        _end(processes, grace_s)
    finally:
        signal.signal(signal.SIGINT, before)


def _end(processes: Sequence[ForkProcess], grace_s: float) -> None:
    for process in processes:
        if process.pid and process.is_alive():
            with contextlib.suppress(ProcessLookupError):
                os.kill(process.pid, signal.SIGINT)
    until = time.monotonic() + grace_s
    for process in processes:
        process.join(max(0.0, until - time.monotonic()))
        if process.is_alive():
            process.kill()
            process.join()
