# SPDX-License-Identifier: BSD-3-Clause
"""What processes hold open: proc_pid_fd(5), of every thread, since each may have a table of its own (clone(2)).

Not seen are those that are mapped and closed.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Iterator
from itertools import chain, islice


def paths(pid: int) -> Iterator[str]:
    """Of each open file of a process the path below /proc, once for each thread that has it; none that is hidden.

    Raises:
        OSError: this process, or the machine, has no more open files.
    """
    with contextlib.suppress(PermissionError):
        yield from _all(pid)


def count(pids: Iterable[int], most: int) -> int:
    """How many files processes hold open, once for each thread that has it; where it is more than `most`, `most` + 1.

    So it is where one of them may not be looked into, since a program that cannot be read hides its files (proc(5)).

    Raises:
        OSError: this process, or the machine, has no more open files.
    """
    try:
        return sum(1 for _ in islice(chain.from_iterable(map(_all, pids)), most + 1))
    except PermissionError:
        return most + 1


def _all(pid: int) -> Iterator[str]:
    """As `paths`; PermissionError where the process may not be looked into."""
    for table in _tables(pid):
        with _gone(), os.scandir(table) as entries:
            yield from (entry.path for entry in entries)


def _tables(pid: int) -> Iterator[str]:
    """The folder of open files of each thread."""
    with _gone(), os.scandir(f"/proc/{pid}/task") as threads:
        yield from (f"{thread.path}/fd" for thread in threads)


def _gone() -> contextlib.AbstractContextManager[None]:
    """Passes over what has gone meanwhile."""
    return contextlib.suppress(FileNotFoundError, ProcessLookupError)
