# SPDX-License-Identifier: BSD-3-Clause
"""One processor for each pocket: its processes hand over to each other constantly, which across processors is slow.

A pocket holds a lock on a file per processor, so pockets of different programs do not choose the same one.
"""

from __future__ import annotations

import fcntl
import os
from typing import IO

from linklab.engine import place


class CpuLock:
    """A processor that is ours until `release`; where all are taken, one that is shared."""

    def __init__(self) -> None:
        self._file: IO[bytes] | None = None
        folder = place.private("cpus")
        allowed = sorted(os.sched_getaffinity(0), reverse=True)
        # even a shared processor is many times faster than wandering between two
        self.number = allowed[os.getpid() % len(allowed)]
        for number in allowed:
            file = (folder / str(number)).open("wb")
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                file.close()
                continue
            self.number, self._file = number, file
            return

    def release(self) -> None:
        """Give it back."""
        if self._file is not None:
            self._file.close()
            self._file = None
