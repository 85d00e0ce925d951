# SPDX-License-Identifier: BSD-3-Clause
"""What processes hold open: proc_pid_fd(5), of every thread, since each may have a table of its own (clone(2)).

Not seen are the files of a process that may not be looked into, and those that are mapped and closed.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Iterator
from itertools import chain, islice


def paths(pid: int) -> Iterator[str]:
    """Of each open file of a process the path below /proc, once for each thread that has it.

    Raises:
        OSError: this process, or the machine, has no more open files.
    """
    for table in _tables(pid):
        with _of_others(), os.scandir(table) as entries:
            yield from (entry.path for entry in entries)


def count(pids: Iterable[int], most: int) -> int:
    """How many files processes hold open, once for each thread that has it; where it is more than `most`, `most` + 1.

    Raises:
        OSError: this process, or the machine, has no more open files.
    """
    return sum(1 for _ in islice(chain.from_iterable(map(paths, pids)), most + 1))


def _tables(pid: int) -> Iterator[str]:
    """The folder of open files of each thread."""
    with _of_others(), os.scandir(f"/proc/{pid}/task") as threads:
        yield from (f"{thread.path}/fd" for thread in threads)


def _of_others() -> contextlib.AbstractContextManager[None]:
    """Passes over what has gone, or may not be looked into."""
    return contextlib.suppress(FileNotFoundError, ProcessLookupError, PermissionError)
