# SPDX-License-Identifier: BSD-3-Clause
"""Whether what was started in a terminal has come to wait for something, as a server does once it listens.

On a clock that stops, what is typed next comes after all of that by itself; on the wall clock a person would look.
"""

from __future__ import annotations

import contextlib
import os
from pathlib import Path


def foreground(master: int, proc: Path = Path("/proc")) -> dict[str, int]:
    """The processes in the foreground of a pty: how many, how many of them do not sleep, and their processor ticks."""
    group = os.tcgetpgrp(master)
    found = {"processes": 0, "busy": 0, "ticks": 0}
    for entry in proc.iterdir():
        if not entry.name.isdecimal():
            continue
        with contextlib.suppress(OSError, ValueError, IndexError):  # it has ended meanwhile
            fields = (entry / "stat").read_text(errors="replace").rpartition(")")[2].split()
            if int(fields[2]) == group:
                found["processes"] += 1
                found["busy"] += fields[0] != "S"
                found["ticks"] += int(fields[11]) + int(fields[12])
    return found
