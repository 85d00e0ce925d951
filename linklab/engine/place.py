# SPDX-License-Identifier: BSD-3-Clause
"""Where a pocket keeps its memory and its run directory; found by looking, not by name.

Memory is a sparse, deleted file that the kernel maps executable: its folder must not be mounted noexec (Docker's
/dev/shm is) and must have room for what the network will really use.
"""

from __future__ import annotations

import mmap
import os
import tempfile
from pathlib import Path

from linklab.errors import MissingError

LIKELY_USE = 0.25
"""Share of a pocket's memory that a lab at most fills (10 Gbps with 50 MB buffers: 0.9 of 4 GiB never seen filled)."""
PROT_EXEC_FILE_BYTES = mmap.PAGESIZE


def candidates() -> list[Path]:
    """Folders for memory, best first: what LINKLAB_TMP or TMPDIR name, then memory file systems, then disk."""
    named = [
        os.environ.get("LINKLAB_TMP"),
        os.environ.get("TMPDIR"),
        "/dev/shm",
        f"/run/user/{os.getuid()}",
        "/tmp",
        "/var/tmp",
    ]
    return [Path(name) for name in named if name]


def why_not(folder: Path, size_bytes: int) -> str | None:
    """Why memory of this size cannot lie in the folder; None if it can."""
    if not folder.is_dir():
        return "is not a folder"
    try:
        with tempfile.TemporaryFile(dir=folder) as file:
            file.truncate(PROT_EXEC_FILE_BYTES)
            mmap.mmap(file.fileno(), PROT_EXEC_FILE_BYTES, mmap.MAP_PRIVATE, mmap.PROT_READ | mmap.PROT_EXEC).close()
    except PermissionError:
        return "is mounted noexec" if os.access(folder, os.W_OK) else "cannot be written"
    except OSError as error:
        return f"cannot be written ({error.strerror})"
    free = os.statvfs(folder).f_bavail * os.statvfs(folder).f_frsize
    if free < size_bytes * LIKELY_USE:
        return f"has only {free // 2**20} MiB free"
    return None


def memory_dir(size_bytes: int) -> Path:
    """The first folder in which memory of this size can lie; MissingError says of each why not."""
    reasons = []
    for folder in candidates():
        reason = why_not(folder, size_bytes)
        if reason is None:
            return folder
        reasons.append(f"{folder} {reason}")
    raise MissingError(
        f"no folder for {size_bytes // 2**20} MiB of memory: {'; '.join(reasons)}. "
        "Set LINKLAB_TMP to one with room, not mounted noexec"
    )
