# SPDX-License-Identifier: BSD-3-Clause
"""What processes have the machine's kernel keep for them, which is in no process's own memory.

Source: proc_pid_status(5), VmPTE; proc_net(5), sockstat.
"""

from __future__ import annotations

import contextlib
import errno
import os
from pathlib import Path


def table_bytes(pid: int) -> int:
    """Return the bytes of a process's page tables, 0 if it has gone.

    Once its first thread has ended, its own status says nothing of them, and the other threads' still does.

    Raises:
        OSError: they cannot be read.
    """
    if found := _tables(f"/proc/{pid}"):
        return found
    names: list[str] = []
    with _gone():
        names = os.listdir(f"/proc/{pid}/task")  # noqa: PTH208 - of thousands of processes, twice a second
    return next(filter(None, (_tables(f"/proc/{pid}/task/{name}") for name in names)), 0)


def sockets(pid: int) -> int:
    """Return the number of sockets, of any kind, in a process's network namespace, 0 if it has gone.

    Raises:
        OSError: it cannot be read.
    """
    said = ""
    try:
        with _gone():
            said = Path(f"/proc/{pid}/net/sockstat").read_text(encoding="ascii")
    except OSError as error:
        if error.errno != errno.ENXIO:  # the namespace is being taken down
            raise
    words = said.split()
    return int(words[words.index("used") + 1]) if "used" in words else 0


def _tables(folder: str) -> int:
    """Bytes of the page tables of a thread, 0 if it has ended or gone."""
    said = b""
    with _gone(), open(f"{folder}/status", "rb") as status:  # noqa: PTH123 - as above
        said = status.read()
    _, found, rest = said.partition(b"\nVmPTE:")
    return int(rest.split(None, 1)[0]) * 1024 if found else 0


def _gone() -> contextlib.AbstractContextManager[None]:
    """Passes over what has gone meanwhile."""
    return contextlib.suppress(FileNotFoundError, ProcessLookupError)
