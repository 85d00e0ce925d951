# SPDX-License-Identifier: BSD-3-Clause
"""Nothing of a trial is left running, not even where its runner was killed.

Each program leads a session of its own (setsid(2)), whose number stands in memory that the runner shares with a keeper,
a child that waits for the runner's end and does nothing else. A program's own children are in its session, unless they
left it, as a daemon does; those the runner ends, whom they have for a parent then (PR_SET_CHILD_SUBREAPER).
"""

from __future__ import annotations

import mmap
import os
import signal
import struct
from collections.abc import Callable, Iterator
from contextlib import suppress

from linklab.agent.own_kernel import cost_nothing
from linklab.linux import children

ROUNDS = 20
"""A program may fork while its session is being ended."""
_NUMBER = struct.Struct("=Q")


class Sessions:
    """The sessions of a trial's programs, in memory that all its processes share."""

    def __init__(self, most: int) -> None:
        self.memory = mmap.mmap(-1, _NUMBER.size * (most + 1))
        self.used = 0

    def add(self, leader: int) -> None:
        """One more."""
        _NUMBER.pack_into(self.memory, self.used * _NUMBER.size, leader)
        self.used += 1

    def __iter__(self) -> Iterator[int]:
        for (leader,) in _NUMBER.iter_unpack(self.memory):
            if leader == 0:
                return
            yield leader

    def kill(self) -> None:
        """End all that is left in them."""
        ours = set(self)
        for _ in range(ROUNDS):
            left = [pid for pid, _, session in processes() if session in ours]
            if not left:
                return
            for pid in left:
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)


def processes() -> Iterator[tuple[int, int, int]]:
    """Number, parent and session of each process except zombies."""
    for name in os.listdir("/proc"):  # noqa: PTH208 - names are all that is wanted
        if name.isdecimal():
            with suppress(OSError), open(f"/proc/{name}/stat", encoding="latin-1") as file:  # noqa: PTH123
                state, parent, _, session, *_ = file.read().rpartition(")")[2].split()
                if state != "Z":
                    yield int(name), int(parent), int(session)


def kill_children(spared: int) -> None:
    """End our own children, and theirs as they become ours, but not the `spared` one."""
    us = os.getpid()
    for _ in range(ROUNDS):
        left = [pid for pid, parent, _ in processes() if parent == us and pid != spared]
        if not left:
            return
        for pid in left:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
            with suppress(ChildProcessError):
                os.waitpid(pid, 0)


def keep(sessions: Sessions) -> tuple[int, Callable[[], None]]:
    """Start a keeper; its process, and what tells it that all has been ended."""
    theirs, ours = os.pipe()

    def wait() -> None:  # pragma: no cover - the child
        os.close(ours)
        os.setsid()
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM, signal.SIGHUP})
        cost_nothing()
        if not os.read(theirs, 1):
            sessions.kill()

    keeper = os.fork()
    if keeper == 0:  # pragma: no cover - the child
        children.live(wait)
    os.close(theirs)

    def done() -> None:
        os.write(ours, b"1")
        os.close(ours)
        os.waitpid(keeper, 0)

    return keeper, done
