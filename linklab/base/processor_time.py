# SPDX-License-Identifier: BSD-3-Clause
"""What a process and all below it have taken: processor time, and memory of their own.

The wall clock also counts what other programs of the machine do. Source: proc_pid_stat(5), fields 14 to 17;
proc_pid_statm(5).
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Collection, Set
from dataclasses import dataclass, replace

_TICKS = os.sysconf("SC_CLK_TCK")
_PAGE = os.sysconf("SC_PAGE_SIZE")
_OF_KERNEL = 2
"""The parent of the machine's kernel's own threads."""
_MOST = 4096
"""Bytes; more than 52 numbers and a name of at most 64 bytes take."""
_PARENT, _USER, _WAITED_SYSTEM = 1, 11, 14
"""Places of fields 4, 14, and 17 behind the name, which is field 2 and may hold anything."""


@dataclass(frozen=True)
class Taken:
    """What a process and its descendants have taken.

    processor_s: seconds, those included of processes that have been waited for.
    processes: how many there are.
    own_bytes: of their memory, what is no file's, and not shared with other processes.
    """

    processor_s: float = 0.0
    processes: int = 0
    own_bytes: int = 0


@dataclass(frozen=True)
class Member:
    """A process of a family.

    ticks: of processor time, those included of processes that it has waited for.
    value: what `Family.look` was asked for.
    """

    pid: int
    parent: int
    ticks: int
    value: int = 0


class Family:
    """A process and its descendants, looked at repeatedly.

    Each is read whole at once, first those that the last look did not find, the newest of them first: they end soonest,
    and one that hands on what it holds to a child and ends is to be read before it has gone.  Numbers do not show age,
    because they wrap at /proc/sys/kernel/pid_max, and so they order only what is new since that look.
    A descendant whose parent has gone belongs to whoever has adopted it.
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
                if (read := _parent_and_ticks(str(one))) is not None:
                    found[one] = Member(one, *read, value(one) if read[0] != _OF_KERNEL else 0)
        for one, each in found.items():
            if each.parent not in found and (read := _parent_and_ticks(str(one))) is not None:
                found[one] = replace(each, parent=read[0])  # it was adopted while this looked
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
        found = self.look(_own_bytes)
        return Taken(sum(each.ticks for each in found) / _TICKS, len(found), sum(each.value for each in found))


def processor_s(pid: int) -> float:
    """Seconds of processor time of a process and its descendants; see `Family.taken`."""
    return sum(each.ticks for each in Family(pid).look()) / _TICKS


def taken_by(pids: Collection[int]) -> Taken:
    """What these processes have taken, whatever their parents; one that has gone adds nothing."""
    found = [read[1] for pid in pids if (read := _parent_and_ticks(str(pid))) is not None]
    return Taken(sum(found) / _TICKS, len(found), sum(map(_own_bytes, pids)))


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


def _parent_and_ticks(name: str) -> tuple[int, int] | None:
    """The parent, and the ticks of the process and of those it has waited for; None if it has gone."""
    fields = _read(f"/proc/{name}/stat").rpartition(b")")[2].split(None, _WAITED_SYSTEM + 1)
    return (int(fields[_PARENT]), sum(map(int, fields[_USER : _WAITED_SYSTEM + 1]))) if fields else None


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
