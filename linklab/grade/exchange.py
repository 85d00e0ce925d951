# SPDX-License-Identifier: BSD-3-Clause
"""Carries files between a folder of ours and one that hostile programs write.

The other folder is known by an open file alone and entered without following links; only plain files come out of it, as
plain files of ours, and never more than `Room`.
"""

from __future__ import annotations

import contextlib
import errno
import itertools
import os
import stat
import time
from collections.abc import Generator, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

_SEEN = tuple[int, int, int, int]
_DEPTH = 8
_TICK_NS = 10_000_000
"""After which a file that is written has another time: the longest tick of a machine's clock (CONFIG_HZ=100)."""
_UNSETTLED: _SEEN = (0, 0, 0, 0)
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_FOLDER = _READ | os.O_DIRECTORY
_WRITE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
IN_ITS_PLACE = (errno.EISDIR, errno.ENOTDIR, errno.ELOOP)
"""Errors that mean a folder or a link has taken the place of a file of ours."""
_OF_THE_MACHINE = (errno.EIO, errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.EFBIG)
OF_THE_GRADER = (errno.ENOSPC, errno.EDQUOT, errno.EROFS, *_OF_THE_MACHINE)
"""Errors of our own disk, limits, and memory; in `pull`, their side is memory that is only read."""


@dataclass(frozen=True)
class Room:
    """How much comes out: files, and bytes of all of them; of those of one look the smallest come first.

    written: bytes in all; a file that has changed counts again.
    """

    files: int = 10_000
    size: int = 192 * 2**20
    written: int = 2**30


@dataclass
class CameOut:
    """What has come out of all networks of a submission, since one can begin as many as it likes.

    written: bytes in all; taken: our folder → name there → bytes, which stay when a network deletes the file.
    full: whether something had to stay inside because of the bytes in all.
    """

    written: int = 0
    full: bool = False
    taken: dict[Path, dict[str, int]] = field(default_factory=dict)


class Exchange:
    """Keeps `ours` and the folder behind the descriptor `theirs` alike; what one side deletes stays on the other.

    owner: the user whose folder theirs is, where that is another than ours: files that come in become that user's, and
    only that user's come out, since a link may lead to a file that only we can read.
    came_out: what has come out of other networks already, and counts.
    own_disk: whether their folder lies in a file system of their own, so that it is their doing if that is full.
    """

    def __init__(
        self,
        ours: Path,
        theirs: int,
        room: Room,
        owner: int | None = None,
        came_out: CameOut | None = None,
        *,
        own_disk: bool = False,
    ) -> None:
        self.ours = ours
        self.theirs = theirs
        self.room = room
        self.owner = owner
        self._own_disk = own_disk
        self._known: dict[str, tuple[_SEEN, _SEEN]] = {}  # name → our file and theirs when they were alike
        self._came_out = came_out or CameOut()
        self._taken = self._came_out.taken.setdefault(ours, {})

    def push(self) -> list[str]:
        """Bring in what is new or changed on our side; the names of files that their folder does not take.

        Raises:
            OSError: a file of ours cannot be read, or something has taken the place of one; or our side fails.
        """
        left_out = []
        for path in sorted(self.ours.rglob("*")):
            name = path.relative_to(self.ours).as_posix()
            if path.is_symlink() or not path.is_file():
                continue
            about = path.stat()
            if self._known.get(name, (None, None))[0] == _seen(about):
                continue
            content, theirs = path.read_bytes(), _UNSETTLED
            try:
                number = self._brought(name, content, about.st_mode & 0o777)
            except OSError as error:
                ours = _OF_THE_MACHINE if self._own_disk else OF_THE_GRADER
                if error.errno in (*IN_ITS_PLACE, *ours):
                    raise
                left_out.append(name)
            else:
                try:
                    if self.owner is not None:
                        os.fchown(number, self.owner, self.owner)
                    theirs = _seen(os.fstat(number))
                finally:
                    os.close(number)
            self._known[name] = (_seen(about), theirs)
        return left_out

    def _brought(self, name: str, content: bytes, mode: int) -> int:
        """Write a file there, whole or not at all; the caller closes it."""
        with _parent(self.theirs, name, make=True, owner=self.owner) as folder:
            last = name.rpartition("/")[2]
            with contextlib.suppress(FileNotFoundError):  # a new file: not what a link of theirs points to
                os.unlink(last, dir_fd=folder)
            number = os.open(last, _WRITE, mode, dir_fd=folder)
            try:
                with os.fdopen(os.dup(number), "wb") as file:
                    file.write(content)
            except OSError:
                os.close(number)
                with contextlib.suppress(OSError):  # half of it would come out as theirs
                    os.unlink(last, dir_fd=folder)
                raise
            return number

    def pull(self) -> list[str]:
        """Take out what is new or changed on their side; the names of files for which there was no room.

        Raises:
            OSError: our side has no room for it, or fails.
        """
        left_out = []
        found = sorted(_files(self.theirs, self.room.files), key=lambda entry: (entry[1][1], entry[0]))
        for name, theirs in found:
            if self._known.get(name, (None, None))[1] == theirs:
                continue
            if not self._has_room(name, theirs[1]):
                left_out.append(name)
                continue
            with _theirs_may_fail():
                self._take(name, theirs)
        return left_out

    def _has_room(self, name: str, size: int) -> bool:
        others = sum(self._taken.values()) - self._taken.get(name, 0)
        if others + size > self.room.size or len({*self._taken, name}) > self.room.files:
            return False
        self._came_out.full |= self._came_out.written + size > self.room.written
        return not self._came_out.full

    def _take(self, name: str, theirs: _SEEN) -> None:
        with _parent(self.theirs, name) as folder, _opened(name.rpartition("/")[2], folder) as file:
            about = os.fstat(file.fileno())
            if not stat.S_ISREG(about.st_mode) or (self.owner is not None and about.st_uid != self.owner):
                return
            content = file.read(theirs[1])
            # in the same tick it may be written again, and would have the same time: then it is taken once more
            settled = time.time_ns() - theirs[3] > _TICK_NS
        path = self.ours / name
        if not settled and path.is_file() and path.read_bytes() == content:
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        self._taken[name] = max(len(content), self._taken.get(name, 0))  # also where only a part can be written
        self._came_out.written += len(content)
        path.write_bytes(content)
        self._taken[name] = len(content)
        self._known[name] = (_seen(path.stat()), theirs if settled else _UNSETTLED)


def _seen(about: os.stat_result) -> _SEEN:
    """What a file is known by.

    The change time is the machine's own; the pocket's kernel sets the modification time, in whole seconds (hostfs).
    """
    return about.st_ino, about.st_size, about.st_mtime_ns, about.st_ctime_ns


@contextlib.contextmanager
def _theirs_may_fail() -> Iterator[None]:
    """It was there when we looked, and what is gone is gone; but what fails on our side is an error."""
    try:
        yield
    except OSError as error:
        if error.errno in OF_THE_GRADER:
            raise


@contextlib.contextmanager
def _parent(top: int, name: str, *, make: bool = False, owner: int | None = None) -> Iterator[int]:
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


def _opened(name: str, folder: int) -> BinaryIO:
    """A file there to be read; where a folder has taken its place, nothing stays open."""
    number = os.open(name, _READ, dir_fd=folder)
    try:
        return os.fdopen(number, "rb")
    except OSError:
        os.close(number)
        raise


def _files(top: int, most: int) -> list[tuple[str, _SEEN]]:
    """Plain files with printable names, not too deep and not too many.

    At most twice as many entries are looked at, because folders and links without end would cost as much time as files.
    """
    found: list[tuple[str, _SEEN]] = []
    with contextlib.closing(_entries(top, "")) as entries:
        for name, about in itertools.islice(entries, 2 * most):
            if about is not None and stat.S_ISREG(about.st_mode) and name.isprintable():
                found.append((name, _seen(about)))
            if len(found) == most:
                break
    return found


def _entries(top: int, below: str) -> Generator[tuple[str, os.stat_result | None]]:
    """What lies in a folder, then what lies in the folders there; None for what has gone meanwhile."""
    folders: list[str] = []
    with os.scandir(top) as entries:
        for entry in entries:
            about = None
            with _theirs_may_fail():
                about = entry.stat(follow_symlinks=False)
                if stat.S_ISDIR(about.st_mode):
                    folders.append(entry.name)
            yield below + entry.name, about
    for name in sorted(folders) if below.count("/") < _DEPTH else []:
        with _theirs_may_fail():
            inner = os.open(name, _FOLDER, dir_fd=top)
            try:
                yield from _entries(inner, f"{below}{name}/")
            finally:
                os.close(inner)
