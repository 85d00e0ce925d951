# SPDX-License-Identifier: BSD-3-Clause
"""When network time began, which the agent leaves for programs of ours that tell times of this network."""

from __future__ import annotations

from pathlib import Path

NOTE = Path("/run/linklab/ready-clock")


def prepare() -> None:
    """Make the note, before chance begins: a new file in memory draws a number of the kernel's, and a full one none."""
    NOTE.write_text("0", encoding="ascii")


def leave(ready_clock_s: float) -> None:
    """Note what the kernel's clock (CLOCK_MONOTONIC) shows at network time 0, s; after `prepare`."""
    NOTE.write_text(repr(ready_clock_s), encoding="ascii")


def ready_s() -> float:
    """What the kernel's clock showed at network time 0, s; 0 where no agent has left a note."""
    return float(NOTE.read_text(encoding="ascii")) if NOTE.exists() else 0.0
