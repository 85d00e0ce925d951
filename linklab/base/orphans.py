# SPDX-License-Identifier: BSD-3-Clause
"""Processes below this one that have lost their parent, such as those of a sandbox whose supervisor was killed."""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import threading
import time
from collections.abc import Iterator

from linklab.base.processes import children
from linklab.base.signals import TO_STOP, signals_wait

_PR_SET_CHILD_SUBREAPER, _PR_GET_CHILD_SUBREAPER = 36, 37
_LOOK_S = 0.05


@contextlib.contextmanager
def orphans_end(within_s: float) -> Iterator[None]:
    """On the way out, end the sessions below this process that have lost their parent meanwhile, and wait for them.

    The machine may take half a minute to take one apart.  Of the processes that this one has begun itself meanwhile,
    those that lead a session are taken for such too.  In another thread than the main one nothing is done: who adopts
    is the process, and its other threads may be somebody else's.  Source: prctl(2), PR_SET_CHILD_SUBREAPER.

    within_s: wall-clock seconds to wait at most.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    libc, adopts = ctypes.CDLL(None, use_errno=True), ctypes.c_int()
    libc.prctl(_PR_GET_CHILD_SUBREAPER, ctypes.byref(adopts), 0, 0, 0)
    libc.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    before = {*children(os.getpid())}
    try:
        yield
    finally:
        with signals_wait(*TO_STOP):
            _end_sessions(before, within_s)
            libc.prctl(_PR_SET_CHILD_SUBREAPER, adopts.value, 0, 0, 0)


def _end_sessions(before: set[int], within_s: float) -> None:
    until = time.monotonic() + within_s
    while (left := _sessions({*children(os.getpid())} - before)) and time.monotonic() < until:
        for pid in left:
            with contextlib.suppress(ProcessLookupError, PermissionError):  # another user's end by themselves
                os.kill(pid, signal.SIGKILL)
            with contextlib.suppress(ChildProcessError):
                os.waitpid(pid, os.WNOHANG)
        time.sleep(_LOOK_S)


def _sessions(pids: set[int]) -> list[int]:
    """Those of the processes that lead a session."""
    found = []
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            if os.getsid(pid) == pid:
                found.append(pid)
    return found
