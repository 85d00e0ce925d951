# SPDX-License-Identifier: BSD-3-Clause
"""How many processes this program may run side by side, and which others a process has started."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path


def processors() -> int:
    """Return how many processors this process may use: so many pockets or compilers do not slow each other down."""
    return len(os.sched_getaffinity(0))


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
