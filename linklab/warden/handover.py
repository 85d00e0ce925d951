# SPDX-License-Identifier: BSD-3-Clause
"""Gives a person what root wrote in their working folder, where its file system could not do that by itself.

Nothing is followed: neither links, nor what is mounted below, nor a folder that has changed places with another.
"""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any


def open_folder(path: Path) -> int:
    """The folder itself, open; OSError (ELOOP, ENOTDIR) if it is a link, or none."""
    return os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)


def hand_over(record: Mapping[str, Any]) -> None:
    """Of the network of a record; nothing unless it says `folder`, which names the folder that is to be handed over."""
    device_and_inode = record.get("folder")
    if not device_and_inode:
        return
    with contextlib.suppress(OSError):  # it has gone, or is another one now
        folder = open_folder(Path(record["work"]))
        try:
            about = os.fstat(folder)
            if [about.st_dev, about.st_ino] == device_and_inode:
                _give(folder, about.st_dev, record["uid"], record["gid"], record["began"])
        finally:
            os.close(folder)


def _give(top: int, device: int, uid: int, gid: int, began: float) -> None:
    """What root owns below and was changed since the network began, but for what has names elsewhere.

    Folder by folder, each opened anew from the top, since os.fwalk calls itself for each level that a student made.
    """
    waiting: list[tuple[str, ...]] = [()]
    while waiting:
        steps = waiting.pop()
        with contextlib.suppress(OSError), _opened(top, steps) as here:
            for name in os.listdir(here):  # noqa: PTH208 - of an open folder
                with contextlib.suppress(OSError):
                    about = os.stat(name, dir_fd=here, follow_symlinks=False)
                    if about.st_dev != device:
                        continue
                    folder = stat.S_ISDIR(about.st_mode)
                    if about.st_uid == 0 and about.st_ctime >= began and (folder or about.st_nlink == 1):
                        os.chown(name, uid, gid, dir_fd=here, follow_symlinks=False)
                    if folder:
                        waiting.append((*steps, name))


@contextlib.contextmanager
def _opened(top: int, steps: tuple[str, ...]) -> Iterator[int]:
    """The folder that the steps lead to, open; no step follows a link."""
    here = os.dup(top)
    try:
        for step in steps:
            below = os.open(step, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=here)
            os.close(here)
            here = below
        yield here
    finally:
        os.close(here)
