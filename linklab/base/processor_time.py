# SPDX-License-Identifier: BSD-3-Clause
"""What a process and all below it have taken: processor time, and memory of their own.

The wall clock also counts what other programs of the machine do. Source: proc_pid_stat(5), fields 3, 4, 14 to 17, and
20; proc_pid_statm(5).
"""

from __future__ import annotations

import contextlib
import os
import threading
import time
from collections.abc import Callable, Collection, Iterator, Set
from dataclasses import dataclass, replace

_TICKS = os.sysconf("SC_CLK_TCK")
_PAGE = os.sysconf("SC_PAGE_SIZE")
_OF_KERNEL = 2
"""The parent of the machine's kernel's own threads."""
_MOST = 4096
"""Bytes; more than 52 numbers and a name of at most 64 bytes take."""
_STATE, _PARENT, _USER, _WAITED_SYSTEM, _THREADS = 0, 1, 11, 14, 17
"""Places of fields 3, 4, 14, 17, and 20 behind the name, which is field 2 and may hold anything."""
_BUSY = (b"R", b"D")
"""States of a process that computes, is next to, or waits for the machine and cannot be ended."""


class _Apart:
    """Seconds of processor time of this process that are not counted as its own."""

    def __init__(self) -> None:
        self.s = 0.0
        self._one_adds = threading.Lock()

    @contextlib.contextmanager
    def counting(self) -> Iterator[None]:
        """Count what this thread takes meanwhile apart."""
        began_s = time.thread_time()
        try:
            yield
        finally:
            with self._one_adds:
                self.s += time.thread_time() - began_s


LOOKING = _Apart()
"""Looking at other processes: how long that takes follows from how many there are on the machine."""


def own_s() -> float:
    """Seconds of processor time of all threads of this process, without `LOOKING`."""
    return time.process_time() - LOOKING.s


@dataclass(frozen=True)
class Taken:
    """What a process and its descendants have taken.

    processor_s: seconds, those included of processes that have been waited for.
    processes: how many there are.
    own_bytes: of their memory, what is no file's, and not shared with other processes.
    busy: how many compute, are next to, or wait for the machine, where further threads of a process count as busy.
    """

    processor_s: float = 0.0
    processes: int = 0
    own_bytes: int = 0
    busy: int = 0


@dataclass(frozen=True)
class Member:
    """A process of a family.

    ticks: of processor time, those included of processes that it has waited for.
    busy: as of `Taken`.
    value: what `Family.look` was asked for.
    """

    pid: int
    parent: int
    ticks: int
    busy: int
    value: int = 0


class Family:
    """A process and its descendants, looked at repeatedly.

    Each is read whole at once, first those that the last look did not find, the newest of them first: they end soonest,
    and one that hands on what it holds to a child and ends is to be read before it has gone.  Numbers do not show age,
    because they wrap at /proc/sys/kernel/pid_max, and so they order only what is new since that look.
    When a parent ends, its children stay in the family of the process that adopts them.
    """

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self._before: Set[int] = frozenset()

    def look(self, value: Callable[[int], int] = lambda _: 0, *, times: int = 1) -> list[Member]:
        """Its members, none if it has gone.

        Args:
            value: of a process, whether or not it is a member.
            times: how often to look for processes, each of which is read once: one that ended meanwhile is a member, as
                is the child to which it handed on what it held.
        """
        found: dict[int, Member] = {}
        for _ in range(times):
            names = os.listdir("/proc")  # noqa: PTH208 - of thousands of processes, a few times a second
            new = {int(name) for name in names if name.isdecimal()} - found.keys()
            for one in sorted(new, key=lambda one: (one in self._before, -one)):
                if (read := _member(one)) is not None:
                    found[one] = replace(read, value=value(one)) if read.parent != _OF_KERNEL else read
        for one, each in found.items():
            if each.parent not in found and (read := _member(one)) is not None:
                found[one] = replace(each, parent=read.parent)  # it was adopted while this looked
        self._before = frozenset(found)
        below: dict[int, list[int]] = {}
        for one, each in found.items():
            below.setdefault(each.parent, []).append(one)
        mine, waiting = [], [self.pid] if self.pid in found else []
        while waiting:
            one = waiting.pop()
            mine.append(found[one])
            waiting += below.get(one, [])
        return mine

    def taken(self) -> Taken:
        """What all of them have taken, nothing if they have gone.

        One that nobody waits for counts as long as it lives.  Memory that changes its process faster than this looks
        may be missed, as by vfork(2) whose child ends its parent.
        """
        return _sum(self.look(_own_bytes))


def processor_s(pid: int) -> float:
    """Seconds of processor time of a process and its descendants; see `Family.taken`."""
    return sum(each.ticks for each in Family(pid).look()) / _TICKS


def taken_by(pids: Collection[int]) -> Taken:
    """What these processes have taken, whatever their parents; one that has gone adds nothing."""
    return _sum([replace(read, value=_own_bytes(pid)) for pid in pids if (read := _member(pid)) is not None])


def _sum(found: Collection[Member]) -> Taken:
    """Of all of them; their values are their memory."""
    return Taken(
        sum(each.ticks for each in found) / _TICKS,
        len(found),
        sum(each.value for each in found),
        sum(each.busy for each in found),
    )


def _own_bytes(pid: int) -> int:
    """Resident memory without that of files, which is where shared memory lies too; 0 if the process has gone.

    Once its first thread has ended, its own statm shows 0, and the other threads' still shows it.
    """
    fields = _read(f"/proc/{pid}/statm").split()
    if fields and fields[0] == b"0":
        with contextlib.suppress(OSError):
            threads = os.listdir(f"/proc/{pid}/task")  # noqa: PTH208 - of thousands of processes, a few times a second
            others = (_read(f"/proc/{pid}/task/{name}/statm").split() for name in threads)
            fields = next((found for found in others if found and found[0] != b"0"), fields)
    return (int(fields[1]) - int(fields[2])) * _PAGE if fields else 0


def _member(pid: int) -> Member | None:
    """A process without its value; None if it has gone."""
    fields = _read(f"/proc/{pid}/stat").rpartition(b")")[2].split(None, _THREADS + 1)
    if not fields:
        return None
    ticks = sum(map(int, fields[_USER : _WAITED_SYSTEM + 1]))
    busy = (fields[_STATE] in _BUSY) + max(0, int(fields[_THREADS]) - 1)  # one that has ended may say it has none
    return Member(pid, int(fields[_PARENT]), ticks, busy)


def _read(name: str) -> bytes:
    """A short file of /proc, nothing if its process has gone."""
    try:
        number = os.open(name, os.O_RDONLY | os.O_CLOEXEC)
        try:
            return os.read(number, _MOST)
        finally:
            os.close(number)
    except OSError:
        return b""
