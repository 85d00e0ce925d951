# SPDX-License-Identifier: BSD-3-Clause
"""How many processes we may run side by side, which there are, and which the OOM killer ends."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

_VMSTAT = Path("/proc/vmstat")


def processors() -> int:
    """Return how many processors this process may use: so many pockets or compilers do not slow each other down."""
    return len(os.sched_getaffinity(0))


def oom_kills(vmstat: Path = _VMSTAT) -> int | None:
    """Return how many processes the OOM killer has ended since the machine's start, None if the machine does not say.

    Source: mm/oom_kill.c; /proc/vmstat has it since Linux 4.13.
    """
    return _kills(vmstat)


def own_oom_kills(
    groups: Path = Path("/proc/self/cgroup"), mounted: Path = Path("/sys/fs/cgroup"), vmstat: Path = _VMSTAT
) -> int | None:
    """Return how many processes of our control group the OOM killer has ended, whichever limit was reached.

    Of version 2 the groups below it count, too, and where it counts no memory, the next one above that does; of version
    1 it is this group alone.  Where no group says it, the number is the whole machine's.
    Source: `memory.events` in the kernel's admin-guide/cgroup-v2.rst, `memory.oom_control` in cgroup-v1/memory.rst.

    Args:
        groups: the groups of this process, cgroups(7).
        mounted: where the file systems of control groups are; in a container its own group may be on top.
        vmstat: of the machine.
    """
    lines: list[str] = []
    with contextlib.suppress(OSError):
        lines = groups.read_text(encoding="utf-8").splitlines()
    for line in lines:
        _, controllers, path = line.split(":", 2)
        if controllers == "":
            group = mounted / path.lstrip("/")
            above = [group, *(each for each in group.parents if mounted in (each, *each.parents))]
            places = [each / "memory.events" for each in above]
        elif controllers == "memory":
            places = [
                each / "memory.oom_control" for each in (mounted / "memory" / path.lstrip("/"), mounted / "memory")
            ]
        else:
            continue
        for place in places:
            if (found := _kills(place)) is not None:
                return found
    return oom_kills(vmstat)


def _kills(file: Path) -> int | None:
    """The number behind the word oom_kill in a file, None if it does not stand there."""
    with contextlib.suppress(OSError):
        for line in file.read_text(encoding="utf-8").splitlines():
            name, _, count = line.partition(" ")
            if name == "oom_kill":
                return int(count)
    return None


FIRST_TO_END = 1000
"""The largest value of oom_score_adj: where memory runs out, such a process is ended before all others (proc(5))."""
_SCORE = Path("/proc/self/oom_score_adj")
_ENDED_FIRST = f'{{ echo {FIRST_TO_END} >{_SCORE}; }} 2>/dev/null; exec "$@"'


def ended_first() -> list[str]:
    """The beginning of a command that the OOM killer ends before all others: "sh -c … sh", then the command itself.

    Where the value cannot be written, nothing changes.  Whoever raised it may lower it again, but for a process that
    root started; the sandbox's /proc is read-only.
    """
    return ["/bin/sh", "-c", _ENDED_FIRST, "sh"]


def be_ended_before_others(score: int) -> None:
    """Raise oom_score_adj of this process, and of those that it starts from now on, to `score`; never lower it."""
    with contextlib.suppress(OSError, ValueError):
        _SCORE.write_text(str(max(score, int(_SCORE.read_text(encoding="utf-8")))), encoding="utf-8")


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


def owners() -> Iterator[tuple[int, int]]:
    """Each process, dead or not, and its user: the folder's owner, whether it may be looked at or not (proc_pid(5))."""
    with os.scandir("/proc") as entries:
        for entry in entries:
            if entry.name.isdecimal():
                with contextlib.suppress(OSError):  # it has gone
                    yield int(entry.name), entry.stat().st_uid
