# SPDX-License-Identifier: BSD-3-Clause
"""A file to which several programs add lines of JSON: each line is added whole, and a damaged one stays and is told.

Called by `linklab.guide.progress`, which knows what the lines say. Nothing here ever removes or changes a byte that is
in the file. Writers exclude each other by flock(2), which works between programs of this machine. It does not work
between this machine and a program inside a network: there the folder is a hostfs, whose locks the kernel inside keeps
for itself and whose appended lines go to where the file ended a moment ago. So nothing inside may call `append`.
"""

from __future__ import annotations

import codecs
import fcntl
import json
import os
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

LOCK_S = 2.0
"""Wall seconds to wait for a writer; writing a line takes milliseconds, so a longer one has been stopped."""
LOOK_S = 0.01
MOST_TURNS = 100
"""How often a file may be renamed while a line waits for it."""


@dataclass(frozen=True)
class ProgressLine:
    """A line of the file; data: what it says, None if it cannot be read, and then `why`."""

    number: int
    raw: bytes
    data: dict[str, Any] | None = None
    why: str = ""


@dataclass
class LineWriter:
    """Adds lines to one file; first: what an empty file begins with, with its line end."""

    path: Path
    first: bytes = b""
    _patience_s: float = field(default=LOCK_S, init=False)

    def begin(self) -> None:
        """Write `first` if the file is empty or not there; OSError as `append`."""
        self.append(b"")

    def append(self, line: bytes) -> None:
        """Put a line at the end, in one write, as a line of its own also where the last one was cut off.

        If another program keeps the lock beyond the deadline, the line is written all the same, with a line end in
        front of it, and the next lines do not wait: a write at the end of a local file is not mixed with another one.

        Raises:
            OSError: it cannot be written; what was written of it then is a damaged line.
        """
        for _ in range(MOST_TURNS):
            file = os.open(self.path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o666)
            try:
                alone = locked(file, fcntl.LOCK_EX, self._patience_s)
                self._patience_s = LOCK_S if alone else 0.0
                if not _is_at(file, self.path):
                    continue  # it was renamed while we waited, and another one has its name
                size = os.fstat(file).st_size
                before = b"" if size else self.first
                if size and line and (not alone or os.pread(file, 1, size - 1) != b"\n"):
                    before = b"\n"
                _write(file, before + line + b"\n" * bool(line))
                return
            finally:
                os.close(file)  # and so the lock
        raise OSError(f"it was renamed {MOST_TURNS} times")


def locked(file: int, how: int, wait_s: float) -> bool:
    """Whether the lock of an open file could be had in that time; no where its file system has none."""
    until_s = time.monotonic() + wait_s
    while True:
        try:
            fcntl.flock(file, how | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() >= until_s:
                return False
            time.sleep(LOOK_S)
        except OSError:
            return False
        else:
            return True


def read_lines(path: Path) -> list[ProgressLine]:
    """All lines that are not empty, with their numbers in the file; OSError if it cannot be read.

    A line that is being written is waited for.
    """
    with path.open("rb") as file:
        locked(file.fileno(), fcntl.LOCK_SH, LOCK_S)
        raw = file.read().removeprefix(codecs.BOM_UTF8)  # which some editors put there
    return [_read(number, line) for number, line in enumerate(raw.split(b"\n"), 1) if line.strip()]


def _is_at(file: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(file), path.stat())
    except FileNotFoundError:
        return False


def _write(file: int, data: bytes) -> None:
    """In one write; only a disk that is nearly full takes less at once, and then refuses the rest."""
    while data:
        data = data[os.write(file, data) :]


def _read(number: int, raw: bytes) -> ProgressLine:
    try:
        data = json.loads(raw.decode("utf-8"))
    except UnicodeDecodeError as error:
        return ProgressLine(number, raw, why=f"byte {error.start + 1} is not UTF-8")
    except json.JSONDecodeError as error:
        return ProgressLine(number, raw, why=f"it is not JSON at character {error.pos + 1}: {error.msg}")
    except (ValueError, RecursionError) as error:
        return ProgressLine(number, raw, why=f"it is not JSON: {error}")
    if not isinstance(data, dict) or not isinstance(data.get("kind"), str):
        return ProgressLine(number, raw, why="it does not say what kind of line it is")
    return ProgressLine(number, raw, data)
