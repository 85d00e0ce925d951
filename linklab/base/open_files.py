# SPDX-License-Identifier: BSD-3-Clause
"""What processes hold open: proc_pid_fd(5), of every thread, since each may have a table of its own (clone(2)).

Not seen are the files of a process that may not be looked into, and those that are mapped and closed.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Iterator


def paths(pid: int) -> Iterator[str]:
    """Of each open file of a process the path below /proc, once for each thread that has it.

    Raises:
        OSError: this process, or the machine, has no more open files.
    """
    for table in _tables(pid):
        with _of_others(), os.scandir(table) as entries:
            yield from (entry.path for entry in entries)


def count(pids: Iterable[int], most: int) -> int:
    """How many files processes hold open, once for each thread that has it; beyond `most`, it need not be all.

    Raises:
        OSError: this process, or the machine, has no more open files.
    """
    found = 0
    for table in (table for pid in pids for table in _tables(pid)):
        with _of_others():
            found += len(os.listdir(table))  # noqa: PTH208 - of thousands of processes, twice a second
        if found > most:
            break
    return found


def _tables(pid: int) -> Iterator[str]:
    with _of_others():
        for thread in os.listdir(f"/proc/{pid}/task"):  # noqa: PTH208 - as above
            yield f"/proc/{pid}/task/{thread}/fd"


def _of_others() -> contextlib.AbstractContextManager[None]:
    """Passes over what has gone, or may not be looked into."""
    return contextlib.suppress(FileNotFoundError, ProcessLookupError, PermissionError)
