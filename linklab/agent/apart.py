# SPDX-License-Identifier: BSD-3-Clause
"""A program of ours that looks on: it leaves no trace in what others run, not even by having been started.

In a pocket a program's chance depends on its process ID, `tty` prints the number of a pty, and execve(2) draws numbers
that others would draw next. So what looks on is a copy of the agent: with a process ID far from those to come, which
the kernel gives without moving on its own count (clone(2), set_tid), with a socket in place of a pty, and without an
exec. Where the kernel refuses the ID, as it does without CAP_SYS_ADMIN, the next one is taken.
"""

from __future__ import annotations

import ctypes
import errno
import importlib
import os
import resource
import signal
import socket
from pathlib import Path

from linklab.agent import own_kernel
from linklab.agent.terminal import as_at_login
from linklab.linux import children

SYS_CLONE3 = 435  # the same on every architecture
HIGHEST = Path("/proc/sys/kernel/pid_max")
TRIES = 64
PROGRAMS = {"live_readings": "linklab.agent.live_readings"}
"""What may look on: a name, and the module whose `main` takes arguments."""


class _CloneArguments(ctypes.Structure):
    """struct clone_args of linux/sched.h."""

    _fields_ = tuple(
        (name, ctypes.c_uint64)
        for name in (
            *("flags", "pidfd", "child_tid", "parent_tid", "exit_signal", "stack", "stack_size", "tls"),
            *("set_tid", "set_tid_size", "cgroup"),
        )
    )


def start(name: str) -> tuple[int, int]:
    """Start one of PROGRAMS: its process ID, and our end of its standard input and output.

    Raises:
        ValueError: no program has that name.
    """
    if name not in PROGRAMS:
        raise ValueError(f"no program {name} looks on; there are {', '.join(PROGRAMS)}")
    ours, theirs = socket.socketpair()
    pid = _fork_with_high_id()
    if pid == 0:  # pragma: no cover - the child

        def look_on() -> object:
            own_kernel.cost_nothing()
            os.setsid()
            for standard in range(3):
                os.dup2(theirs.fileno(), standard)
            os.closerange(3, resource.getrlimit(resource.RLIMIT_NOFILE)[0])  # the channel, and masters of ptys
            as_at_login()
            return importlib.import_module(PROGRAMS[name]).main([])

        children.live(look_on)
    theirs.close()
    return pid, ours.detach()


def _fork_with_high_id() -> int:
    """As os.fork, with one of the highest process IDs that are free."""
    # PyDLL holds the interpreter's lock, so in the child it is still held; the agent has no other thread
    call = ctypes.PyDLL(None, use_errno=True).syscall
    highest = int(HIGHEST.read_text(encoding="ascii"))
    for number in range(highest - 1, highest - 1 - TRIES, -1):
        wanted = ctypes.c_int(number)
        arguments = _CloneArguments(exit_signal=signal.SIGCHLD, set_tid=ctypes.addressof(wanted), set_tid_size=1)
        pid = int(call(ctypes.c_long(SYS_CLONE3), ctypes.byref(arguments), ctypes.c_size_t(ctypes.sizeof(arguments))))
        if pid >= 0:
            return pid
        if ctypes.get_errno() != errno.EEXIST:
            break
    return os.fork()
