# SPDX-License-Identifier: BSD-3-Clause
"""Folders that belong to a process and go with it; a note in each names the process, so what SIGKILL left is known.

The note holds more than the number of the process, which the system gives to another one later.
"""

from __future__ import annotations

import contextlib
import json
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

from linklab.base.files import remove_folder

OWNER = "owner.json"
"""The note: {"pid": N, "began": clock ticks since the machine's start, "pids": namespace of the number}."""
FOLDERS = ("linklab-test-", "linklab-selftest-", "linklab-unit-", "linklab-shared-")
"""How folders for temporary files begin."""
HIDDEN = ".linklab-test-"
"""How one in the working folder of a network begins."""


def make(prefix: str, folder: Path | None = None) -> Path:
    """Make a folder that belongs to this process, in `folder` or where temporary files go.

    Raises:
        OSError: it cannot be made.
    """
    made = Path(tempfile.mkdtemp(prefix=prefix, dir=folder))
    pid = os.getpid()
    (made / OWNER).write_text(json.dumps({"pid": pid, "began": _began(pid), "pids": _namespace()}), encoding="ascii")
    return made


@contextlib.contextmanager
def temporary(prefix: str) -> Iterator[Path]:
    """Within the block there is a folder of ours for temporary files."""
    made = make(prefix)
    try:
        yield made
    finally:
        remove_folder(made)


def left(folder: Path) -> list[Path]:
    """Folders whose processes have gone: of temporary files, and those of tests in `folder`."""
    places = [(Path(tempfile.gettempdir()), prefix) for prefix in FOLDERS] + [(folder, HIDDEN)]
    found = [path for place, prefix in places for path in sorted(place.glob(f"{prefix}*")) if _is_left(path)]
    return list(dict.fromkeys(found))


def _is_left(folder: Path) -> bool:
    """Whether it is a folder of this user's with a note, whose process has gone."""
    try:
        about = (folder / OWNER).lstat()
        if folder.is_symlink() or folder.lstat().st_uid != os.getuid() or about.st_uid != os.getuid():
            return False
        note = json.loads((folder / OWNER).read_text(encoding="ascii"))
        return bool(note["pids"] == _namespace() and _began(int(note["pid"])) != note["began"])
    except (OSError, ValueError, LookupError, TypeError):  # no note: it is not ours, or is just being made
        return False


def _began(pid: int) -> int | None:
    """When a process began, clock ticks since boot; None if none has that number, or it waits to be reaped."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text(encoding="latin-1")
    except OSError:
        return None
    words = text.rpartition(")")[2].split()  # the name before it may hold anything; proc_pid_stat(5)
    return None if words[0] in "ZX" else int(words[19])


def _namespace() -> int:
    """In which the numbers of processes count: that of a network is another."""
    return Path("/proc/self/ns/pid").stat().st_ino
