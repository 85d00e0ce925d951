# SPDX-License-Identifier: BSD-3-Clause
"""What the pocket tests share: the skip, a small network, and what a pocket leaves behind."""

import os
import time
from pathlib import Path

import pytest

from linklab import pocket_kernel
from linklab.engine.api import Completed, Typed
from linklab.engine.pocket import run_base

needs_pocket = [
    pytest.mark.pocket,
    pytest.mark.skipif(pocket_kernel.find() is None, reason="the pocket kernel is not built (make kernel)"),
]
TOPOLOGY = Path(__file__).parents[2] / "topologies" / "Lab 8.mn"


def type_(network, text: str, terminal: str = "client", deadline_s: float = 60) -> Completed:
    """Type one command and wait for its end."""
    return network.run([Typed(terminal, text)], deadline_s=deadline_s)[0]


def run_dir_of(keeper: int) -> Path:
    """The run directory that this keeper owns; other programs may have pockets of their own."""
    owners = {path.parent: path.read_text() for path in run_base().glob(f"linklab-{os.getuid()}-*/owner")}
    (found,) = (folder for folder, owner in owners.items() if owner == f"{keeper}\n")
    return found


def group_of(pid: int) -> set[int]:
    """The process and all its descendants."""
    parents = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            try:
                parents[int(entry.name)] = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            except OSError:
                continue
    found, new = {pid}, {pid}
    while new:
        new = {child for child, parent in parents.items() if parent in new} - found
        found |= new
    return found


def alive(pids: set[int]) -> set[int]:
    """Those of the processes that still run."""
    left = set()
    for pid in pids:
        try:
            if Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z":
                left.add(pid)
        except OSError:
            continue
    return left


def all_gone(pids: set[int], folder: Path, within_s: float = 2.0) -> bool:
    """Whether neither process nor run directory is left in time."""
    deadline = time.monotonic() + within_s
    while alive(pids) or folder.exists():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.05)
    return True
