# SPDX-License-Identifier: BSD-3-Clause
"""Gives a person what root wrote in their working folder, where its file system could not do that by itself.

Nothing is followed: neither links, nor what is mounted below, nor a folder that has changed places with another.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Mapping
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


def _give(folder: int, device: int, uid: int, gid: int, began: float) -> None:
    """What root owns below and was changed since the network began, but for what has names elsewhere."""
    for _, folders, files, here in os.fwalk(".", dir_fd=folder):
        for name in (*folders, *files):
            with contextlib.suppress(OSError):
                about = os.stat(name, dir_fd=here, follow_symlinks=False)
                only = about.st_nlink == 1 or name in folders
                if about.st_uid == 0 and about.st_dev == device and about.st_ctime >= began and only:
                    os.chown(name, uid, gid, dir_fd=here, follow_symlinks=False)
        folders[:] = [name for name in folders if _device(name, here) == device]


def _device(name: str, folder: int) -> int | None:
    try:
        return os.stat(name, dir_fd=folder, follow_symlinks=False).st_dev
    except OSError:
        return None
