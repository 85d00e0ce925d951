# SPDX-License-Identifier: BSD-3-Clause
"""Looks into a folder that hostile programs write, known by an open file, without following a link of theirs."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from collections.abc import Generator, Iterator
from dataclasses import dataclass, field
from typing import BinaryIO

Seen = tuple[int, int, int, int]
"""What a file is known by, as `seen` gives it."""
_DEPTH = 8
"""Folders inside each other that are looked into."""
_MOST_LINKS = 500
"""Links, and folders, that are told."""
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_FOLDER = _READ | os.O_DIRECTORY
IN_ITS_PLACE = (errno.EISDIR, errno.ENOTDIR, errno.ELOOP)
"""Errors that mean a folder or a link has taken the place of a file of ours."""
OF_THE_MACHINE = (errno.EIO, errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.EFBIG)
OF_THE_GRADER = (errno.ENOSPC, errno.EDQUOT, errno.EROFS, *OF_THE_MACHINE)
"""Errors of our own disk, limits, and memory, where their folder is only read."""


def seen(about: os.stat_result) -> Seen:
    """What a file is known by.

    The change time is the machine's own; the pocket's kernel sets the modification time, in whole seconds (hostfs).
    """
    return about.st_ino, about.st_size, about.st_mtime_ns, about.st_ctime_ns


@contextlib.contextmanager
def may_fail() -> Iterator[None]:
    """It was there when we looked, and what is gone is gone; but what fails on our side is an error."""
    try:
        yield
    except OSError as error:
        if error.errno in OF_THE_GRADER:
            raise


@contextlib.contextmanager
def parent(top: int, name: str, *, make: bool = False, owner: int | None = None) -> Iterator[int]:
    """The folder that a name is in, step by step, so that no link is followed."""
    folder = os.dup(top)
    try:
        for step in name.split("/")[:-1]:
            if make:
                with contextlib.suppress(FileExistsError):
                    os.mkdir(step, 0o755, dir_fd=folder)
            inner = os.open(step, _FOLDER, dir_fd=folder)
            if owner is not None and make:
                os.fchown(inner, owner, owner)
            os.close(folder)
            folder = inner
        yield folder
    finally:
        os.close(folder)


def opened(name: str, folder: int) -> BinaryIO:
    """A file there to be read; where a folder has taken its place, nothing stays open."""
    number = os.open(name, _READ, dir_fd=folder)
    try:
        return os.fdopen(number, "rb")
    except OSError:
        os.close(number)
        raise


@dataclass
class FoundThere:
    """What lies in their folder: plain files and links with what they are known by, and folders, by printable names.

    whole: whether that is all.
    """

    files: list[tuple[str, Seen]] = field(default_factory=list)
    links: list[tuple[str, Seen]] = field(default_factory=list)
    folders: list[str] = field(default_factory=list)
    whole: bool = True


def look(top: int, most: int) -> FoundThere:
    """What lies there, not too deep, and not too many files, and `_MOST_LINKS` of links and of folders.

    At most twice as many entries are looked at, because folders and links without end would cost as much time as files.
    """
    found = FoundThere()
    with contextlib.closing(_entries(top, "")) as entries:
        for number, (name, about) in enumerate(entries):
            if number == 2 * most or len(found.files) == most:
                found.whole = False
                break
            found.whole &= about is not None
            if about is None or not name.isprintable():
                continue
            if stat.S_ISREG(about.st_mode):
                found.files.append((name, seen(about)))
            elif stat.S_ISLNK(about.st_mode) and len(found.links) < _MOST_LINKS:
                found.links.append((name, seen(about)))
            elif stat.S_ISDIR(about.st_mode) and len(found.folders) < _MOST_LINKS:
                found.folders.append(name)
    return found


def _entries(top: int, below: str) -> Generator[tuple[str, os.stat_result | None]]:
    """What lies in a folder, then what lies in the folders there; None for what was not looked at, as what has gone."""
    folders: list[str] = []
    with os.scandir(top) as entries:
        for entry in entries:
            about = None
            with may_fail():
                about = entry.stat(follow_symlinks=False)
                if stat.S_ISDIR(about.st_mode):
                    folders.append(entry.name)
            yield below + entry.name, about
    for name in sorted(folders):
        whole = False
        with may_fail():
            if below.count("/") < _DEPTH:
                inner = os.open(name, _FOLDER, dir_fd=top)
                try:
                    yield from _entries(inner, f"{below}{name}/")
                    whole = True
                finally:
                    os.close(inner)
        if not whole:
            yield f"{below}{name}/", None
