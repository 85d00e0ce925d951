# SPDX-License-Identifier: BSD-3-Clause
"""A program held at its first instruction, so that several begin at one instant: what loading takes lies before that.

The child is a shell that stops itself and then becomes the program (HOLD). When it has stopped we trace it, let it go
on, and the kernel stops it again when the program is loaded (ptrace(2), PTRACE_EVENT_EXEC); letting go of it then is
one system call. Where tracing is not allowed it stays stopped before it becomes the program. A fork of our own instead
of a shell takes five times as long in a pocket, since all of our memory would have to be mapped once more.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
from collections.abc import Iterator

HOLD = 'kill -STOP $$; exec "$@"'
"""For `sh -c`, followed by a name for what the shell says and the words of the program."""
PTRACE_CONT, PTRACE_DETACH, PTRACE_SEIZE = 7, 17, 0x4206
PTRACE_EVENT_EXEC = 4
PTRACE_O_TRACEEXEC, PTRACE_O_EXITKILL = 1 << PTRACE_EVENT_EXEC, 1 << 20
PR_SET_TIMERSLACK, PR_GET_TIMERSLACK, PR_SET_CHILD_SUBREAPER = 29, 30, 36

_libc = ctypes.CDLL(None, use_errno=True)
_libc.ptrace.restype = ctypes.c_long


def _ptrace(request: int, pid: int, data: int = 0) -> None:
    if _libc.ptrace(ctypes.c_long(request), ctypes.c_long(pid), ctypes.c_void_p(0), ctypes.c_void_p(data)) < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"ptrace: {os.strerror(number)}")


def stopped(pid: int, status: int) -> bool:
    """Take notice of a stop that waitpid(2) told of; whether the child is held now, as far as it can be."""
    event = status >> 16
    if event == PTRACE_EVENT_EXEC:
        return True
    try:
        _ptrace(PTRACE_CONT, pid, 0 if event else os.WSTOPSIG(status))
    except ProcessLookupError:  # not traced yet: it has just stopped itself
        try:
            _ptrace(PTRACE_SEIZE, pid, PTRACE_O_TRACEEXEC | PTRACE_O_EXITKILL)
        except PermissionError:
            return True
        os.kill(pid, signal.SIGCONT)
    return False


def let_go(pid: int) -> None:
    """Let a held child run; ProcessLookupError if it has gone."""
    try:
        _ptrace(PTRACE_DETACH, pid)
    except ProcessLookupError:  # not traced
        os.kill(pid, signal.SIGCONT)


@contextlib.contextmanager
def undisturbed() -> Iterator[None]:
    """Within this block we run as soon as we can, before any ordinary process, if we may ask for that (sched(7)).

    Nothing may be started meanwhile: it would have timers as exact as ours, and no way back.
    """
    slack = timer_slack(1)
    try:
        os.sched_setscheduler(0, os.SCHED_FIFO | os.SCHED_RESET_ON_FORK, os.sched_param(1))
        ours = True
    except OSError:
        ours = False
    try:
        yield
    finally:
        if ours:
            os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))
        timer_slack(slack)


def timer_slack(nanoseconds: int) -> int:
    """Set how late a sleep of this process may end, and of those that it forks from now on; what it was (prctl(2))."""
    was = int(_libc.prctl(PR_GET_TIMERSLACK, 0, 0, 0, 0))
    _libc.prctl(PR_SET_TIMERSLACK, ctypes.c_ulong(nanoseconds), 0, 0, 0)
    return was


def adopt_orphans() -> None:
    """Be the parent of every descendant whose own parent has gone."""
    _libc.prctl(PR_SET_CHILD_SUBREAPER, ctypes.c_ulong(1), 0, 0, 0)
