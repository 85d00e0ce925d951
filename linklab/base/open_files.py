# SPDX-License-Identifier: BSD-3-Clause
"""What processes hold open: proc_pid_fd(5), of every thread, since each may have a table of its own (clone(2)).

Not seen are those that are mapped and closed.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from linklab.base.processor_time import Family

_ROUNDS = 4
"""A process may hand its files to a child and end while we look, so one count looks four times."""


def paths(pid: int) -> Iterator[str]:
    """Of each open file of a process the path below /proc, once for each thread that has it; none that is hidden.

    Raises:
        OSError: this process, or the machine, has no more open files.
    """
    for thread in _threads(pid):
        with contextlib.suppress(PermissionError):
            yield from _held(thread)


def count(family: Family, most: int) -> int:
    """About how many files a family holds open, each once for each thread that has it.

    A process that ends during the count may be counted along with the child that has its files from it.
    Before Linux 6.2 the names of all files are read.  That takes long, passes over a process that has ended before its
    turn comes, and gives `most` + 1 for more than `most`; so it does where one of them may not be looked into, since a
    program that cannot be read hides its files (proc(5)).

    Raises:
        OSError: this process, or the machine, has no more open files.
    """
    if _sized("/proc/self"):
        return sum(each.value for each in family.look(_held_by, times=_ROUNDS))
    return listed((each.pid for each in family.look()), most)


def listed(pids: Iterable[int], most: int) -> int:
    """How many files processes hold open, by the names of all of them; otherwise as `count`."""
    try:
        return sum(
            1 for _ in islice((file for pid in pids for thread in _threads(pid) for file in _held(thread)), most + 1)
        )
    except PermissionError:
        return most + 1


def _held_by(pid: int) -> int:
    """How many files a process holds open, 0 if it has gone."""
    return sum(map(_sized, _threads(pid)))


def _sized(folder: str) -> int:
    """How many files a thread holds open, by the size of the folder of them: 0 before Linux 6.2 (fs/proc/fd.c).

    That is told of hidden files too; a process that hides even this number counts as over any limit.
    """
    with gone():
        try:
            return Path(folder, "fd").stat().st_size
        except PermissionError:
            return sys.maxsize
    return 0


def _threads(pid: int) -> Iterator[str]:
    """The folder of each thread of a process."""
    with gone(), os.scandir(f"/proc/{pid}/task") as threads:
        yield from (thread.path for thread in threads)


def _held(thread: str) -> Iterator[str]:
    """The path of each open file of a thread.

    Raises:
        PermissionError: it may not be looked into.
    """
    with gone():
        try:
            with os.scandir(f"{thread}/fd") as entries:
                yield from (entry.path for entry in entries)
        except PermissionError:
            if _has_memory(thread):
                raise


def _has_memory(thread: str) -> bool:
    """Whether a thread has not ended: one that ends may not be looked into any more either, and holds nothing."""
    return not Path(thread, "statm").read_text(encoding="ascii").startswith("0 ")


def gone() -> contextlib.AbstractContextManager[None]:
    """Passes over what has gone meanwhile."""
    return contextlib.suppress(FileNotFoundError, ProcessLookupError)
