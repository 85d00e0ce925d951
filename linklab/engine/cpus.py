# SPDX-License-Identifier: BSD-3-Clause
"""One processor for each pocket: its processes hand over to each other constantly, which across processors is slow.

A pocket holds a lock on a file per processor, so pockets of different programs do not choose the same one.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
from collections.abc import Sequence
from pathlib import Path
from typing import IO

from linklab.base import place
from linklab.errors import EngineError


class CpuLock:
    """A processor that is ours until `release`; where all are taken, one that is shared."""

    def __init__(self) -> None:
        self._file: IO[bytes] | None = None
        allowed = sorted(os.sched_getaffinity(0), reverse=True)
        # even a shared processor is many times faster than wandering between two
        self.number = allowed[os.getpid() % len(allowed)]
        # Without the locks two pockets may share a processor, which costs speed and nothing else.
        with contextlib.suppress(OSError, EngineError):
            self._take(place.private("cpus"), allowed)

    def _take(self, folder: Path, allowed: Sequence[int]) -> None:
        for number in allowed:
            file = (folder / str(number)).open("wb")
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError as error:
                file.close()
                if isinstance(error, BlockingIOError):
                    continue
                raise  # a file system without locks
            self.number, self._file = number, file
            return

    def release(self) -> None:
        """Give it back."""
        if self._file is not None:
            self._file.close()
            self._file = None
