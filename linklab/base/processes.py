# SPDX-License-Identifier: BSD-3-Clause
"""How many processes may run side by side, which of them a process has started, and waiting for those left over."""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path

_PR_SET_CHILD_SUBREAPER, _PR_GET_CHILD_SUBREAPER = 36, 37
_TO_STOP = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_LOOK_S = 0.05


def processors() -> int:
    """Return how many processors this process may use: so many pockets or compilers do not slow each other down."""
    return len(os.sched_getaffinity(0))


def children(pid: int) -> list[int]:
    """The processes whose parent is `pid`, also those that have ended and that it has not waited for.

    Source: proc_pid_stat(5); /proc/PID/task/TID/children is not in every kernel.
    """
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            with contextlib.suppress(OSError):  # it has gone
                behind_name = (entry / "stat").read_bytes().rpartition(b")")[2].split()
                if int(behind_name[1]) == pid:
                    found.append(int(entry.name))
    return found


@contextlib.contextmanager
def deaf() -> Iterator[None]:
    """Ctrl+C, SIGTERM, and the terminal's end change nothing here, since what is done ends what runs."""
    if threading.current_thread() is not threading.main_thread():  # which alone hears them
        yield
        return
    before = {number: signal.signal(number, signal.SIG_IGN) for number in _TO_STOP}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextlib.contextmanager
def adopting(within_s: float) -> Iterator[None]:
    """On the way out, end the sessions below this process that have lost their parent meanwhile, and wait for them.

    For sandboxes whose supervisor was killed: the machine may take half a minute to take one apart.  Of the processes
    that this one has begun itself meanwhile, those that lead a session are taken for such too.  Source: prctl(2),
    PR_SET_CHILD_SUBREAPER.

    within_s: wall-clock seconds to wait at most.
    """
    libc, adopts = ctypes.CDLL(None, use_errno=True), ctypes.c_int()
    libc.prctl(_PR_GET_CHILD_SUBREAPER, ctypes.byref(adopts), 0, 0, 0)
    libc.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    before = {*children(os.getpid())}
    try:
        yield
    finally:
        with deaf():
            _wait_for_sessions(before, within_s)
        libc.prctl(_PR_SET_CHILD_SUBREAPER, adopts.value, 0, 0, 0)


def _wait_for_sessions(before: set[int], within_s: float) -> None:
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
