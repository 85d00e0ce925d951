# SPDX-License-Identifier: BSD-3-Clause
"""The file systems that this process sees: proc_pid_mountinfo(5)."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_DEVICE, _ROOT, _POINT = 2, 3, 4


@dataclass(frozen=True)
class Mount:
    """One of them.

    device: major and minor number, "8:1"; root: the folder of that file system which is seen; point: where; kind: of
    file system, such as "tmpfs".
    """

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
    """All, in the kernel's order, in which of two at one point the later lies on top.

    text: content of /proc/self/mountinfo, which is read by default.
    """
    lines = Path("/proc/self/mountinfo").read_bytes() if text is None else text
    return [*map(_mount, lines.splitlines())]


def location(path: Path, among: list[Mount]) -> Location:
    """Where a path without links lies; its device is "" if no mount has it."""
    found = [each for each in among if path.is_relative_to(each.point)]
    if not found:
        return Location("", path)
    top = max(enumerate(found), key=lambda each: (len(each[1].point.parts), each[0]))[1]
    return Location(top.device, top.root / path.relative_to(top.point))


def locations_below(folder: Path, among: list[Mount]) -> Iterator[Location]:
    """Where a folder without links lies, and what is mounted below it."""
    yield location(folder, among)
    yield from (Location(each.device, each.root) for each in among if folder in each.point.parents)


def _mount(line: bytes) -> Mount:
    words = line.split()
    kind = words[words.index(b"-") + 1]
    return Mount(words[_DEVICE].decode(), _path(words[_ROOT]), _path(words[_POINT]), kind.decode())


def _path(word: bytes) -> Path:
    r"""In which \040 stands for a space."""
    return Path(os.fsdecode(re.sub(rb"\\([0-7]{3})", lambda octal: bytes([int(octal[1], 8)]), word)))
