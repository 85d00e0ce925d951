# SPDX-License-Identifier: BSD-3-Clause
"""What processes hold open: proc_pid_fd(5), of every thread, since each may have a table of its own (clone(2)).

Not seen are those that are mapped and closed.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path


def paths(pid: int) -> Iterator[str]:
    """Of each open file of a process the path below /proc, once for each thread that has it; none that is hidden.

    Raises:
        OSError: this process, or the machine, has no more open files.
    """
    for thread in _threads(pid):
        with contextlib.suppress(PermissionError):
            yield from _held(thread)


def count(pids: Iterable[int], most: int) -> int:
    """How many files processes hold open, once for each thread that has it; where it is more than `most`, `most` + 1.

    So it is where one of them may not be looked into, since a program that cannot be read hides its files (proc(5)).

    Raises:
        OSError: this process, or the machine, has no more open files.
    """
    try:
        return sum(
            1 for _ in islice((file for pid in pids for thread in _threads(pid) for file in _held(thread)), most + 1)
        )
    except PermissionError:
        return most + 1


def _threads(pid: int) -> Iterator[str]:
    """The folder of each thread of a process."""
    with _gone(), os.scandir(f"/proc/{pid}/task") as threads:
        yield from (thread.path for thread in threads)


def _held(thread: str) -> Iterator[str]:
    """The path of each open file of a thread.

    Raises:
        PermissionError: it may not be looked into.
    """
    with _gone():
        try:
            with os.scandir(f"{thread}/fd") as entries:
                yield from (entry.path for entry in entries)
        except PermissionError:
            if _has_memory(thread):
                raise


def _has_memory(thread: str) -> bool:
    """Whether a thread has not ended: one that ends may not be looked into any more either, and holds nothing."""
    return not Path(thread, "statm").read_text(encoding="ascii").startswith("0 ")


def _gone() -> contextlib.AbstractContextManager[None]:
    """Passes over what has gone meanwhile."""
    return contextlib.suppress(FileNotFoundError, ProcessLookupError)
