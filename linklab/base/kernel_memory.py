# SPDX-License-Identifier: BSD-3-Clause
"""What processes have the machine's kernel keep for them, which is in no process's own memory.

Source: proc_pid_status(5), VmPTE, FDSize, and Threads; fs/file.c; proc_net(5), sockstat.
"""

from __future__ import annotations

import errno
from dataclasses import dataclass
from pathlib import Path

from linklab.base.open_files import gone

_FILE_BYTES = 8
"""Of a place for an open file in a table, without its bits in the maps beside it (fs/file.c)."""


def table_bytes(pid: int) -> int:
    """Return the bytes of a process's tables of pages and of open files, 0 if it has gone.

    Threads may have tables of open files of their own (unshare(2)), so that of each is counted, also where they share
    one.  Once its first thread has ended, its own status says nothing of them, and the other threads' still does.

    Raises:
        OSError: they cannot be read.
    """
    process = Path(f"/proc/{pid}")
    found = _tables(process)
    if found.pages and found.threads < 2:
        return found.pages + found.files
    threads: list[Path] = []
    with gone():
        threads = list((process / "task").iterdir())
    each = [_tables(thread) for thread in threads]
    return max((one.pages for one in each), default=0) + sum(one.files for one in each)


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


@dataclass(frozen=True)
class _Tables:
    """Of a thread: bytes of its tables of pages and of open files, and how many threads its process has."""

    pages: int = 0
    files: int = 0
    threads: int = 0


def _tables(thread: Path) -> _Tables:
    """The tables of a thread; none if it has ended or gone."""
    said = b""
    with gone():
        said = (thread / "status").read_bytes()
    pages_kib, files, threads = (_number(said, name) for name in (b"VmPTE", b"FDSize", b"Threads"))
    return _Tables(pages_kib * 1024, files * _FILE_BYTES, threads)


def _number(status: bytes, name: bytes) -> int:
    _, found, rest = status.partition(b"\n" + name + b":")
    return int(rest.split(None, 1)[0]) if found else 0
