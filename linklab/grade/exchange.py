# SPDX-License-Identifier: BSD-3-Clause
"""Carries files between a folder of ours and one that hostile programs write.

Only plain files come out of it, as plain files of ours, and never more than `Room`.  In a lab, whose networks follow
each other in one folder, the next one is also given the folders, links, and rights that the last one had, and not what
that had deleted.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import stat
import time
from dataclasses import dataclass, field
from pathlib import Path

from linklab.grade.their_folder import (
    IN_ITS_PLACE,
    OF_THE_GRADER,
    OF_THE_MACHINE,
    FoundThere,
    Seen,
    look,
    may_fail,
    opened,
    parent,
    seen,
)

_TICK_NS = 10_000_000
"""After which a file that is written has another time: the longest tick of a machine's clock (CONFIG_HZ=100)."""
_UNSETTLED: Seen = (0, 0, 0, 0)
_WRITE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_READABLE, _PERMISSIONS = 0o600, 0o777
"""Rights that a file of ours has in any case, and those that it may have from theirs."""


@dataclass(frozen=True)
class Room:
    """How much comes out: files, and bytes of all of them; of those of one look the smallest come first.

    written: bytes in all; a file that has changed counts again.
    """

    files: int = 10_000
    size: int = 192 * 2**20
    written: int = 2**30


@dataclass
class LeftFolder:
    """How a network has left its folder, beside the plain files there that came out.

    folders: their names; links: name → where it leads.
    """

    folders: tuple[str, ...] = ()
    links: dict[str, str] = field(default_factory=dict)


@dataclass
class CameOut:
    """What has come out of all networks of a submission, since one can begin as many as it likes.

    written: bytes in all; taken: our folder → name there → bytes, which stay when a network deletes the file.
    full: whether something had to stay inside because of the bytes in all.
    left: our folder → how the last network left it, so that the next one begins with that; None where each network
        begins with our files alone.
    """

    written: int = 0
    full: bool = False
    taken: dict[Path, dict[str, int]] = field(default_factory=dict)
    left: dict[Path, LeftFolder] | None = None


class Exchange:
    """Keeps `ours` and the folder behind the descriptor `theirs` alike; what they deleted stays in ours until `end`.

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
        self._known: dict[str, tuple[Seen, Seen]] = {}  # name → our file and theirs when they were alike
        self._came_out = came_out or CameOut()
        self._taken = self._came_out.taken.setdefault(ours, {})
        self._taken_as: dict[str, Seen] = {}  # name → what theirs was known by when it was taken last
        before = (self._came_out.left or {}).get(ours, LeftFolder())
        self._to_make: LeftFolder | None = before
        self._refused: set[str] = set()  # files that their folder has not taken
        self._gone: dict[str, Seen] = {}  # files that were there and are no longer → what ours are known by
        self._links: dict[str, tuple[Seen, str]] = {}  # name there → what it was known by, and where it leads

    def push(self) -> list[str]:
        """Bring in what is new or changed on our side; the names of files that their folder does not take.

        Raises:
            OSError: a file of ours cannot be read, or something has taken the place of one; or our side fails.
        """
        left_out = []
        if self._to_make is not None:
            self._make_again(self._to_make)
            self._to_make = None
        for path in sorted(self.ours.rglob("*")):
            name = path.relative_to(self.ours).as_posix()
            if path.is_symlink() or not path.is_file():
                continue
            about = path.stat()
            if self._known.get(name, (None, None))[0] == seen(about):
                continue
            content, theirs = path.read_bytes(), _UNSETTLED
            try:
                number = self._brought(name, content, about.st_mode & 0o777)
            except OSError as error:
                ours = OF_THE_MACHINE if self._own_disk else OF_THE_GRADER
                if error.errno in (*IN_ITS_PLACE, *ours):
                    raise
                left_out.append(name)
                self._refused.add(name)
            else:
                self._refused.discard(name)
                try:
                    if self.owner is not None:
                        os.fchown(number, self.owner, self.owner)
                    theirs = seen(os.fstat(number))
                finally:
                    os.close(number)
            self._known[name] = (seen(about), theirs)
        return left_out

    def _make_again(self, left: LeftFolder) -> None:
        """Make the folders and links that the network before had, where they can be made."""
        for name in (*(f"{folder}/" for folder in left.folders), *left.links):
            with may_fail(), parent(self.theirs, name, make=True, owner=self.owner) as folder:
                if name in left.links:
                    last = name.rpartition("/")[2]
                    os.symlink(left.links[name], last, dir_fd=folder)
                    if self.owner is not None:
                        os.chown(last, self.owner, self.owner, dir_fd=folder, follow_symlinks=False)

    def _brought(self, name: str, content: bytes, mode: int) -> int:
        """Write a file there, whole or not at all; the caller closes it."""
        with parent(self.theirs, name, make=True, owner=self.owner) as folder:
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
        there = look(self.theirs, self.room.files)
        self._note_left(there)
        for name, theirs in sorted(there.files, key=lambda entry: (entry[1][1], entry[0])):
            if self._known.get(name, (None, None))[1] == theirs:
                continue
            if not self._has_room(name, theirs[1]):
                left_out.append(name)
                continue
            with may_fail():
                self._take(name, theirs)
        return left_out

    def end(self) -> None:
        """The network has ended: what it had deleted is not to be brought into the next one.

        Raises:
            OSError: our side fails.
        """
        for name, ours in self._gone.items():
            path = self.ours / name
            if path.is_file() and seen(path.stat()) == ours:
                path.unlink()

    def _note_left(self, there: FoundThere) -> None:
        """Note what the next network is to begin with."""
        if self._came_out.left is None:
            return
        names = {*self._refused, *(name for name, _ in there.files)}
        if there.whole:
            self._gone = {name: ours for name, (ours, _) in self._known.items() if name not in names}
        before, self._links = self._links, {}
        for name, known_by in there.links:
            if before.get(name, (None, ""))[0] == known_by:
                self._links[name] = before[name]
                continue
            with may_fail(), parent(self.theirs, name) as folder:
                self._links[name] = known_by, os.readlink(name.rpartition("/")[2], dir_fd=folder)
        links = {name: target for name, (_, target) in self._links.items()}
        self._came_out.left[self.ours] = LeftFolder(tuple(there.folders), links)

    def _has_room(self, name: str, size: int) -> bool:
        others = sum(self._taken.values()) - self._taken.get(name, 0)
        if others + size > self.room.size or len({*self._taken, name}) > self.room.files:
            return False
        self._came_out.full |= self._came_out.written + size > self.room.written
        return not self._came_out.full

    def _take(self, name: str, theirs: Seen) -> None:
        with parent(self.theirs, name) as folder, opened(name.rpartition("/")[2], folder) as file:
            about = os.fstat(file.fileno())
            if not stat.S_ISREG(about.st_mode) or (self.owner is not None and about.st_uid != self.owner):
                return
            content = file.read(theirs[1])
            # in the same tick it may be written again, and would have the same time: then it is taken once more
            settled = time.time_ns() - theirs[3] > _TICK_NS
        path = self.ours / name
        # a file that was written again is written here too, so that whoever measures sees a change
        once_more = self._taken_as.get(name) == theirs
        if not (once_more and path.is_file() and path.read_bytes() == content):
            self._make_way(path)
            path.parent.mkdir(parents=True, exist_ok=True)
            self._taken[name] = max(len(content), self._taken.get(name, 0))  # also where only a part can be written
            self._came_out.written += len(content)
            path.write_bytes(content)
            self._taken[name] = len(content)
        self._copy_rights(path, about)
        self._known[name] = (seen(path.stat()), theirs if settled else _UNSETTLED)
        self._taken_as[name] = theirs

    def _copy_rights(self, path: Path, theirs: os.stat_result) -> None:
        """Give a file of ours the rights of theirs, with which the next network gets it."""
        mode = _READABLE | stat.S_IMODE(theirs.st_mode) & _PERMISSIONS
        if self._came_out.left is not None and stat.S_IMODE(path.stat().st_mode) != mode:
            path.chmod(mode)

    def _make_way(self, path: Path) -> None:
        """Remove a file of ours in whose place they have a folder, or a folder in whose place they have a file."""
        if self._came_out.left is None:
            return
        if path.is_dir():
            shutil.rmtree(path)
        for folder in path.parents:
            if folder == self.ours:
                return
            if folder.is_file():
                folder.unlink()
