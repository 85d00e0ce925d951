# SPDX-License-Identifier: BSD-3-Clause
"""What the measuring tools share: a pocket on a busy machine, its processor time, and TCP buffers without a limit.

Used by validate/, bench_speed.py, selftests.py, mininet_suite.py, and strangers.py.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from linklab.engine.pocket import PocketEngine, PocketNetwork
from linklab.errors import BootError
from linklab.topology import Topology

TRIES = 4
BUFFERS = "sysctl -qw net.ipv4.tcp_rmem='10240 87380 52428800' net.ipv4.tcp_wmem='10240 87380 52428800'"
"""Buffers that hold far more than any bandwidth-delay product measured here."""


@contextlib.contextmanager
def started(topology: Topology | None, **options: Any) -> Iterator[PocketNetwork]:
    """A pocket; `options` are those of `PocketEngine.start`.

    A busy machine may need longer to start the kernel than the engine waits, so a BootError is raised only after the
    last of TRIES attempts.
    """
    with contextlib.ExitStack() as stack:
        for left in reversed(range(TRIES)):
            try:
                network = stack.enter_context(PocketEngine().start(topology, **options))
                break
            except BootError:
                if not left:
                    raise
        yield network


def processor_s(kernel: int) -> float:
    """User and system time of a pocket, seconds: its kernel, its guest processes, and those that have ended.

    Args:
        kernel: process ID of the pocket's kernel, which is the parent of every guest process (proc(5), stat).
    """
    ticks = 0
    for path in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):  # a process that ends meanwhile is counted with those that have ended
            fields = path.read_text().rpartition(")")[2].split()
            if path.parent.name == str(kernel):
                ticks += sum(map(int, fields[11:15]))
            elif fields[1] == str(kernel):
                ticks += sum(map(int, fields[11:13]))
    return ticks / os.sysconf("SC_CLK_TCK")
