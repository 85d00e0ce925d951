# SPDX-License-Identifier: BSD-3-Clause
"""A program held at its first instruction, so that several begin at one instant: what loading takes lies before that.

The child asks to be traced and becomes its program; the kernel stops it when it is loaded (ptrace(2), PTRACE_TRACEME
and execve), and letting go of it is one system call. Where tracing is not allowed the child stops itself just before
it becomes the program. Either way waitpid(2) with WUNTRACED tells that it is held.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
from collections.abc import Iterator

PTRACE_TRACEME, PTRACE_DETACH = 0, 17
PR_SET_TIMERSLACK, PR_GET_TIMERSLACK, PR_SET_CHILD_SUBREAPER = 29, 30, 36

_libc = ctypes.CDLL(None, use_errno=True)
_libc.ptrace.restype = ctypes.c_long


def _ptrace(request: int, pid: int, data: int = 0) -> None:
    if _libc.ptrace(ctypes.c_long(request), ctypes.c_long(pid), ctypes.c_void_p(0), ctypes.c_void_p(data)) < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"ptrace: {os.strerror(number)}")


def hold_me() -> None:
    """In the child, right before its exec: hold the program."""
    try:
        _ptrace(PTRACE_TRACEME, 0)
    except OSError:
        os.kill(os.getpid(), signal.SIGSTOP)


def let_go(pid: int) -> None:
    """Let a held child run; ProcessLookupError if it has gone."""
    try:
        _ptrace(PTRACE_DETACH, pid)
    except ProcessLookupError:  # ESRCH: not traced by us
        os.kill(pid, signal.SIGCONT)


@contextlib.contextmanager
def undisturbed() -> Iterator[None]:
    """Within this block no ordinary process takes the processor from us, if we may ask for that (sched(7))."""
    slack = timer_slack(1)
    try:
        os.sched_setscheduler(0, os.SCHED_FIFO | os.SCHED_RESET_ON_FORK, os.sched_param(1))
    except OSError:
        timer_slack(slack)
        yield
        return
    try:
        yield
    finally:
        os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))
        timer_slack(slack)  # another policy has another one, and the way back gives the usual one


def timer_slack(nanoseconds: int) -> int:
    """Set how late a sleep of this process may end, and of those that it forks from now on; what it was (prctl(2))."""
    was = int(_libc.prctl(PR_GET_TIMERSLACK, 0, 0, 0, 0))
    _libc.prctl(PR_SET_TIMERSLACK, ctypes.c_ulong(nanoseconds), 0, 0, 0)
    return was


def adopt_orphans() -> None:
    """Be the parent of every descendant whose own parent has gone."""
    _libc.prctl(PR_SET_CHILD_SUBREAPER, ctypes.c_ulong(1), 0, 0, 0)
