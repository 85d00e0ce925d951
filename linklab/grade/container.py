# SPDX-License-Identifier: BSD-3-Clause
"""Pockets for what strangers wrote inside a container that is thrown away: another user, where no namespace can be had.

Platforms grade in a container, as root and without the right to make user namespaces, so bubblewrap starts nothing
there.  The container is the sandbox then: the keeper and its kernel, hence all that a student types, run as a user
that owns nothing, gains no privilege (PR_SET_NO_NEW_PRIVS), cannot read what grading needs, makes the system calls of
the sandbox alone, and writes (by Landlock) in its own two folders alone.  Why: docs/harness.md.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import stat
import subprocess
import tempfile
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any

from linklab import pocket_kernel
from linklab.base import installation, place
from linklab.base.kernel_memory import table_bytes
from linklab.base.processor_time import Taken, taken_by
from linklab.engine.bytecode import PACKAGE
from linklab.engine.pocket import Places, PocketNetwork, virtual_environment
from linklab.errors import EngineError, MissingError
from linklab.exercise.places import search_path
from linklab.grade.accounts import (
    BLOCK,
    ENTER,
    EVERY_USER,
    USERS,
    as_user,
    deleted,
    end_all,
    killer,
    processes,
    readable,
)
from linklab.grade.bubblewrap import PYTHON
from linklab.grade.guard import NetworkGuard
from linklab.grade.leftovers import PREFIX, folder_without_blanks, hold_container, remove_leftovers
from linklab.grade.limits import MOST_HELD, Limits
from linklab.grade.sandbox import SandboxEngine, SandboxNetwork

_INSTRUCTORS = ("exercises", "problems", "labs")
"""Folders beside the package with solutions, hidden checks, and answers."""
_DEPTH = 32
"""Of folders within each other; an exercise makes none."""
_SHOWN = 4
_SILENT = 20
"""Wakes of the guard in a row without a word; a look at files takes half of that."""
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


class ContainerEngine(SandboxEngine):
    """Starts networks in pocket kernels that run as users of their own; for root in a container."""

    _users = itertools.count()

    def __init__(self, secret: Sequence[Path] = (), limits: Limits | None = None) -> None:
        self.secret = secret
        super().__init__(limits)

    def check(self) -> None:
        """See `SandboxEngine.check`.

        Raises:
            MissingError: no kernel, not root, a program lacks, or the student's commands could read what is secret, or
                could not read what they need.
        """
        built = pocket_kernel.require()
        if os.geteuid() != 0:
            raise MissingError("--in-container is for root: it gives the student's commands another user")
        hold_container()
        remove_leftovers()  # of a grading that was killed: such a process could end what is asked below
        needed = [PACKAGE / "agent/agent.py", ENTER, built.path, Path(PYTHON)]
        if (venv := virtual_environment()) is not None:
            needed.append(venv / "pyvenv.cfg")
        if lacking := [path for path in needed if path not in readable(needed)]:
            raise MissingError(
                f"the student's commands cannot read {_shown(lacking)}, which the network needs: "
                "chmod o+rX it and the folders above it"
            )
        hidden = [*_instructors(), *map(Path, search_path()), *self.secret]
        if theirs := [path for path in hidden if path.exists() and path.stat().st_uid in EVERY_USER]:
            raise MissingError(
                f"{_shown(theirs)} belongs to a user whom the student's commands may run as: chown root it"
            )
        if shows := readable(hidden):
            raise MissingError(
                f"the student's commands could read {_shown(shows)}, which is for instructors: chmod -R go-rwx it"
            )

    def _network(self, **options: Any) -> PocketNetwork:
        user = EVERY_USER[next(self._users) % USERS]
        return self._noted(ContainerNetwork(replace(self.limits, processor_s=self.left_s()), user, **options))


class ContainerNetwork(SandboxNetwork):
    """A network whose kernel runs as a user of its own; its files lie in a folder that ends with it."""

    own_disk = False

    def __init__(self, limits: Limits, user: int, **options: Any) -> None:
        super().__init__(limits, user, **options)
        self._account = user
        self._looking = threading.Lock()  # either the folders are looked at, or they are closed
        self._killer: subprocess.Popen[bytes] | None = None
        self._held: list[int] = []  # our folders, open: where there is no Landlock, they can be moved
        self._base = self._folder(folder_without_blanks())
        self._memory: Path | None = None
        self._kernels: tuple[int, int] | None = None  # device and number of the deleted file that is its memory

    def boot(self) -> None:
        """Start the kernel, whose memory is a deleted file: the largest before anything of a student's runs."""
        self._killer = killer(self._account)
        super().boot()
        with ThreadPoolExecutor(max_workers=1) as thread:  # not the main one: see deleted
            found, _ = thread.submit(deleted, self._account).result()
        self._kernels = max(found, key=lambda each: found[each], default=None)
        if self._kernels is None:
            raise EngineError("the open files of the network cannot be seen, so what it writes could not be limited")

    def _guarded(self) -> NetworkGuard:
        """One that also ends what nobody looks at: only we can see what is written."""
        assert self._killer is not None
        assert self._killer.stdin is not None
        told = [self._killer.stdin.fileno()]
        return NetworkGuard(self._bounds, user=self._account, handles=self._inits, told=told, silent=_SILENT)

    def _end(self) -> None:
        try:
            super()._end()
        finally:
            try:
                self._kill_at_once()
                end_all(self._account)
            finally:
                self._remove_folders()

    def _kill(self) -> None:
        """Every process of its user, of which one may hold the keeper's socket, whose end is waited for."""
        self._kill_at_once()
        with contextlib.suppress(EngineError, OSError):  # which `_end` says
            end_all(self._account)

    def _kill_at_once(self) -> None:
        """What is there now, before anything is looked at."""
        if self._killer is not None and self._killer.stdin is not None:
            with contextlib.suppress(OSError, ValueError):
                self._killer.stdin.write(b"!")  # the guard has it open, too
                self._killer.stdin.flush()
            with contextlib.suppress(OSError):
                self._killer.stdin.close()
            self._killer.wait()

    def _remove_folders(self) -> None:
        try:
            for folder in self._held:
                _empty(folder)
        finally:
            with self._looking:
                while self._held:
                    os.close(self._held.pop())

    def _folder(self, where: str | Path) -> Path:
        """A new folder there that its user alone has."""
        made = Path(tempfile.mkdtemp(prefix=PREFIX, dir=where))
        os.chown(made, self._account, self._account)
        self._held.append(os.open(made, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC))
        return made

    def _folders(self) -> list[Path]:
        return [self._base, *([self._memory] if self._memory else [])]

    def _places(self) -> Places:
        self._memory = self._memory or self._folder(place.memory_dir(self.memory_mib * 2**20))
        return replace(
            super()._places(),
            code=PACKAGE.parent,
            kernel=self.kernel.path,
            work=self._base / "lab",
            memory=self._memory,
            run_base=self._base,
            known_as="",
            venv=virtual_environment(),
        )

    def _start_keeper(self, argv: list[str], fds: list[int]) -> subprocess.Popen[bytes]:
        with as_user(self._account, self.limits, self._folders(), self.processor) as (command, more):
            return subprocess.Popen(
                [*command, *argv],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                pass_fds=[*fds, *more],
                start_new_session=True,
                cwd="/",
                umask=0o077,
                env={},
            )

    def _taken(self) -> Taken:
        """By all processes of its user; those that have lost their parent are adopted outside."""
        return taken_by(processes(self._account))

    def _open_files(self) -> int:
        """None: they are counted with what was written."""
        return 0

    def _in_kernel(self) -> tuple[int, int]:
        """Without sockets: all networks of a container share a namespace, and its limit of memory counts them."""
        return sum(map(table_bytes, processes(self._account))), 0

    def _overfull(self) -> str:
        """Why it has written too much; a file system of its own would count that, which cannot be had here."""
        found, whole = deleted(self._account)
        if not whole:
            return f"more than {MOST_HELD:,} files were held open inside"
        found.pop(self._kernels or max(found, key=lambda each: found[each], default=(0, 0)), None)
        count, size = len(found), sum(found.values())
        with self._looking:
            for about, depth in chain.from_iterable(map(_files, self._held)):
                if depth > _DEPTH:
                    return f"folders more than {_DEPTH} deep were made inside"
                count, size = count + 1, size + about.st_blocks * BLOCK
                if count > self.limits.files:
                    break
        if count > self.limits.files:
            return f"more than {self.limits.files} files were made inside"
        most = self.limits.work_mib * 2**20
        return f"more than {self.limits.work_mib} MiB were written inside" if size > most else ""


def _empty(folder: int) -> None:
    """Remove an open folder, wherever it has been moved, and all in it."""
    place_of = Path(f"/proc/self/fd/{folder}")
    # no depth stops find(1), and it follows no link
    empty = ["find", ".", "-mindepth", "1", "-delete"]
    subprocess.run(empty, cwd=place_of, stderr=subprocess.DEVNULL, check=False)
    with contextlib.suppress(OSError):  # which removes what is empty, and no link
        place_of.readlink().rmdir()


def _instructors() -> list[Path]:
    """What lies beside the package and is not for students."""
    return [installation.ROOT / name for name in _INSTRUCTORS if (installation.ROOT / name).exists()]


def _files(top: int, depth: int = 1) -> Iterator[tuple[os.stat_result, int]]:
    """Everything below an open folder that strangers write to, and how deep it lies; links are not followed.

    Of what lies deeper than `_DEPTH` nothing is looked at, since each folder on the way down is open meanwhile.  A
    folder may be replaced while this looks; os.fwalk of Python 3.11 would block if a pipe had taken its place.
    """
    folders: list[str] = []
    with contextlib.suppress(OSError), os.scandir(top) as entries:
        for entry in entries:
            with contextlib.suppress(OSError):
                about = entry.stat(follow_symlinks=False)
                if stat.S_ISDIR(about.st_mode):
                    folders.append(entry.name)
                yield about, depth
    for name in folders if depth <= _DEPTH else []:
        with contextlib.suppress(OSError):
            inner = os.open(name, _FOLDER, dir_fd=top)
            try:
                yield from _files(inner, depth + 1)
            finally:
                os.close(inner)


def _shown(paths: Sequence[Path]) -> str:
    names = ", ".join(map(str, paths[:_SHOWN]))
    return f"{names} and {len(paths) - _SHOWN} more" if len(paths) > _SHOWN else names
