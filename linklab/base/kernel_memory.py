# SPDX-License-Identifier: BSD-3-Clause
"""What processes have the machine's kernel keep for them, which is in no process's own memory.

Source: proc_pid_status(5), VmPTE; proc_net(5), sockstat.
"""

from __future__ import annotations

import contextlib
import os
from pathlib import Path


def table_bytes(pid: int) -> int:
    """Of the page tables of a process; 0 if it has gone.

    Once its first thread has ended, its own status says nothing of them, and the other threads' still does.
    """
    with contextlib.suppress(OSError):
        if found := _tables(f"/proc/{pid}"):
            return found
        names = os.listdir(f"/proc/{pid}/task")  # noqa: PTH208 - of thousands of processes, twice a second
        return next(filter(None, (_tables(f"/proc/{pid}/task/{name}") for name in names)), 0)
    return 0


def sockets(pid: int) -> int:
    """How many there are in the network namespace of a process, of any kind; 0 if it has gone."""
    with contextlib.suppress(FileNotFoundError, ProcessLookupError):
        words = Path(f"/proc/{pid}/net/sockstat").read_text(encoding="ascii").split()
        return int(words[words.index("used") + 1])
    return 0


def _tables(folder: str) -> int:
    """Of the page tables of a thread, 0 if it has ended.

    Raises:
        OSError: it has gone.
    """
    with open(f"{folder}/status", "rb") as status:  # noqa: PTH123 - as above
        said = status.read()
    _, found, rest = said.partition(b"\nVmPTE:")
    return int(rest.split(None, 1)[0]) * 1024 if found else 0
