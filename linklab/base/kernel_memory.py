# SPDX-License-Identifier: BSD-3-Clause
"""What processes have the machine's kernel keep for them, which is in no process's own memory.

Source: proc_pid_status(5), VmPTE; proc_net(5), sockstat.
"""

from __future__ import annotations

import errno
from pathlib import Path

from linklab.base.open_files import gone


def table_bytes(pid: int) -> int:
    """Return the bytes of a process's page tables, 0 if it has gone.

    Once its first thread has ended, its own status says nothing of them, and the other threads' still does.

    Raises:
        OSError: they cannot be read.
    """
    process = Path(f"/proc/{pid}")
    if found := _tables(process):
        return found
    threads: list[Path] = []
    with gone():
        threads = list((process / "task").iterdir())
    return next(filter(None, map(_tables, threads)), 0)


def sockets(pid: int) -> int:
    """Return the number of sockets, of any kind, in a process's network namespace, 0 if it has gone.

    Raises:
        OSError: it cannot be read.
    """
    said = ""
    try:
        with gone():
            said = Path(f"/proc/{pid}/net/sockstat").read_text(encoding="ascii")
    except OSError as error:
        if error.errno != errno.ENXIO:  # the namespace is being taken down
            raise
    words = said.split()
    return int(words[words.index("used") + 1]) if "used" in words else 0


def _tables(thread: Path) -> int:
    """Bytes of the page tables of a thread, 0 if it has ended or gone."""
    said = b""
    with gone():
        said = (thread / "status").read_bytes()
    _, found, rest = said.partition(b"\nVmPTE:")
    return int(rest.split(None, 1)[0]) * 1024 if found else 0
