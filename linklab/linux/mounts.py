# SPDX-License-Identifier: BSD-3-Clause
"""The file systems that this process sees: proc_pid_mountinfo(5)."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_NUMBER, _PARENT, _DEVICE, _ROOT, _POINT = range(5)


@dataclass(frozen=True)
class Mount:
    """One of them.

    number, parent: its own, and that of the one which it stands on; device: major and minor number, "8:1".
    root: the folder of that file system which is seen; point: where; kind: of file system, such as "tmpfs".
    """

    number: int
    parent: int
    device: str
    root: Path
    point: Path
    kind: str


@dataclass(frozen=True)
class Location:
    """A file or folder, whichever mounts it is seen by: the device of its file system, and its path in there."""

    device: str
    path: Path

    def is_in(self, other: Location) -> bool:
        """Whether it is the other one, or lies below it."""
        return self.device == other.device and self.path.is_relative_to(other.path)


def mounts(text: bytes | None = None) -> list[Mount]:
    """All, in the kernel's order.

    text: content of /proc/self/mountinfo, which is read by default.
    """
    lines = Path("/proc/self/mountinfo").read_bytes() if text is None else text
    return [*map(_mount, lines.splitlines())]


def location(path: Path, among: list[Mount]) -> Location:
    """Where a path without links lies; its device is "" if no mount has it.

    It is walked from the root, as the kernel does, since a mount may be covered by a later one at a folder above it.
    """
    numbers = {each.number for each in among}
    lowest = [each for each in among if each.parent not in numbers - {each.number} and path.is_relative_to(each.point)]
    if not lowest:
        return Location("", path)
    on = {(each.parent, each.point): each for each in among if each.parent != each.number}
    top = max(lowest, key=lambda each: len(each.point.parts))  # in a chroot the root itself may be no mount
    for folder in (*reversed(path.parents), path):
        while (upper := on.get((top.number, folder))) is not None:
            top = upper
    return Location(top.device, top.root / path.relative_to(top.point))


def locations_below(folder: Path, among: list[Mount]) -> Iterator[Location]:
    """Where a folder without links lies, and what is mounted below it."""
    yield location(folder, among)
    yield from (Location(each.device, each.root) for each in among if folder in each.point.parents)


def _mount(line: bytes) -> Mount:
    words = line.split()
    kind = words[words.index(b"-") + 1]
    number, parent, device = int(words[_NUMBER]), int(words[_PARENT]), words[_DEVICE].decode()
    return Mount(number, parent, device, _path(words[_ROOT]), _path(words[_POINT]), kind.decode())


def _path(word: bytes) -> Path:
    r"""In which \040 stands for a space."""
    return Path(os.fsdecode(re.sub(rb"\\([0-7]{3})", lambda octal: bytes([int(octal[1], 8)]), word)))
