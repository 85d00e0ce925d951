# SPDX-License-Identifier: BSD-3-Clause
"""Pockets for what strangers wrote inside a container that is thrown away: another user, where no namespace can be had.

Platforms grade in a container, as root and without the right to make user namespaces, so bubblewrap starts nothing
there.  The container is the sandbox then: the keeper and its kernel, hence all that a student types, run as a user
that owns nothing, gains no privilege (PR_SET_NO_NEW_PRIVS), cannot read what grading needs, makes the system calls of
the sandbox alone, and writes (by Landlock) in its own two folders alone.  Why: docs/harness.md.
"""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import itertools
import json
import os
import signal
import stat
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any

from linklab import pocket_kernel
from linklab.base import installation, open_files, place
from linklab.base.processes import children
from linklab.base.processor_time import Taken, taken_by
from linklab.base.signals import TO_STOP, signals_wait
from linklab.base.text import visible
from linklab.engine.pocket import PACKAGE, Places, PocketNetwork
from linklab.errors import EngineError, LinklabError, MissingError
from linklab.exercise.places import search_path
from linklab.grade import enter
from linklab.grade.bubblewrap import PYTHON
from linklab.grade.limits import HANG_S, MOST_HELD, Limits
from linklab.grade.sandbox import SandboxEngine, SandboxNetwork
from linklab.grade.syscalls import program
from linklab.linux.mounts import mounts

FIRST_USER, USERS = 61_000, 100
"""Numbers of users that no distribution gives away (Debian Policy 9.2.2: 60000 to 64999 are reserved, unused here)."""
EVERY_USER = range(FIRST_USER, FIRST_USER + USERS)
_INSTRUCTORS = ("exercises", "problems", "labs")
"""Folders beside the package with solutions, hidden checks, and answers."""
_ENTER = PACKAGE / "grade/enter.py"
_DEPTH = 32
"""Of folders within each other; an exercise makes none."""
_LOOK = """
for path; do
    { test -r "$path" || { test -d "$path" && test -x "$path"; }; } && printf "%s\\0" "$path"
done
true
"""
"""A folder that can be entered shows what lies in it to everybody who knows its name."""
_SHOWN = 4
_BLOCK = 512
"""Bytes of what stat(2) counts in st_blocks."""
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_PREFIX = "linklab-container-"
_OF_KERNEL = ("proc", "sysfs", "cgroup", "cgroup2", "devpts")
"""File systems in which nobody leaves a file."""
_LOCK = Path("/run/linklab-container.lock")
_WORKING = Path("/run/linklab-container.working")
_BEGAN = Path("/run/linklab-container.began")
"""Where root alone writes (FHS 3.0, 3.15): held by `linklab grade`, held by the process that grades a submission, and
there while one is graded, with its beginning and where its files may lie."""
_STAYS = "{shown}, which an earlier submission has made, cannot be removed: use a new container"
_STATE, _THREADS = 0, 17
"""Places of fields 3 and 20 of a process's stat behind its name."""
_DEAD = ("Z", "X")
_KILLS = (
    "import os, sys; user, other = map(int, sys.argv[1:]); os.setresgid(other, other, other); "
    "os.setresuid(other, user, other); os.kill(-1, 9)"
)
"""What ends all processes of a user at once; its real number is another's, so that they cannot stop it (kill(2))."""
_KILLER, _LOOKER = FIRST_USER - 1, FIRST_USER - 2
_KILLS_S, _LOOK_S = 5.0, 60.0


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
        _hold(_LOCK)
        os.close(_hold(_WORKING))  # by a grading process that goes on though its `linklab grade` was killed
        remove_leftovers()  # of a grading that was killed: such a process could end what is asked below
        needed = [PACKAGE / "agent/agent.py", _ENTER, built.path, Path(PYTHON)]
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

    def __init__(self, limits: Limits, user: int, **options: Any) -> None:
        super().__init__(limits, user, **options)
        self._account = user
        self._looking = threading.Lock()  # either the folders are looked at, or they are closed
        self._held: list[int] = []  # our folders, open: where there is no Landlock, they can be moved
        self._base = self._folder(_folder_without_blanks())
        self._memory: Path | None = None
        self._kernels: tuple[int, int] | None = None  # device and number of the deleted file that is its memory

    def boot(self) -> None:
        """Start the kernel, whose memory is a deleted file: the largest before anything of a student's runs."""
        super().boot()
        with ThreadPoolExecutor(max_workers=1) as thread:  # not the main one: see _deleted
            found, _ = thread.submit(_deleted, self._account).result()
        self._kernels = max(found, key=lambda each: found[each], default=None)
        if self._kernels is None:
            raise EngineError("the open files of the network cannot be seen, so what it writes could not be limited")

    def _end(self) -> None:
        try:
            super()._end()
        finally:
            try:
                end_all(self._account)
            finally:
                self._remove_folders()

    def _kill(self) -> None:
        """Every process of its user, of which one may hold the keeper's socket, whose end is waited for."""
        with contextlib.suppress(EngineError, OSError):  # which `_end` says
            end_all(self._account)

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
        made = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=where))
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
        return taken_by(_processes(self._account))

    def _open_files(self) -> int:
        """None: they are counted with what was written."""
        return 0

    def _overfull(self) -> str:
        """Why it has written too much; a file system of its own would count that, which cannot be had here."""
        found, whole = _deleted(self._account)
        if not whole:
            return f"more than {MOST_HELD:,} files were held open inside"
        found.pop(self._kernels or max(found, key=lambda each: found[each], default=(0, 0)), None)
        count, size = len(found), sum(found.values())
        with self._looking:
            for about, depth in chain.from_iterable(map(_files, self._held)):
                if depth > _DEPTH:
                    return f"folders more than {_DEPTH} deep were made inside"
                count, size = count + 1, size + about.st_blocks * _BLOCK
                if count > self.limits.files:
                    break
        if count > self.limits.files:
            return f"more than {self.limits.files} files were made inside"
        most = self.limits.work_mib * 2**20
        return f"more than {self.limits.work_mib} MiB were written inside" if size > most else ""


@contextlib.contextmanager
def as_user(
    user: int, limits: Limits, writable: Sequence[Path] = (), processor: int | None = None
) -> Iterator[tuple[list[str], list[int]]]:
    """The command that runs another one as a user without any privilege nor a way to one, and the files it inherits.

    Args:
        user: its number.
        limits: of each process.
        writable: the only files and folders that can be written, beside /dev/null.
        processor: number of the only one that it runs on; None for all of ours.
    """
    number = program()
    places = [*map(str, writable), os.devnull]
    settings = {"filter": number, "user": user, "limits": limits.of_a_process()}
    settings |= {"processor": processor, "writable": places}
    try:
        yield [PYTHON, "-I", "-S", str(_ENTER), json.dumps(settings)], [number]
    finally:
        os.close(number)


def readable(paths: Sequence[Path]) -> list[Path]:
    """Those that the student's commands could read; MissingError if they cannot be started."""
    asked = [str(path.resolve()) for path in paths]
    with as_user(_LOOKER, Limits()) as (command, more):  # whom no network has, so that what is left hinders nothing
        look = [*command, "/bin/sh", "-c", _LOOK, "sh", *asked]
        try:
            done = subprocess.run(
                look, capture_output=True, text=True, check=False, cwd="/", pass_fds=more, env={}, timeout=_LOOK_S
            )
        except subprocess.TimeoutExpired as error:
            raise MissingError(f"a command that was run as another user did not end within {_LOOK_S:g} s") from error
    if done.returncode:
        said = done.stderr.strip().splitlines() or [f"status {done.returncode}"]
        raise MissingError(f"no command can be run as another user here: {said[-1]}")
    found = set(done.stdout.split("\0"))
    return [path for path, name in zip(paths, asked, strict=True) if name in found]


def hold_working() -> None:
    """Keep this container from other gradings until this process, which grades a submission, ends.

    Raises:
        MissingError: as `_hold`.
    """
    _hold(_WORKING)


def _hold(lock: Path) -> int:
    """Hold this container by an open file, since another grading would end its networks.

    Raises:
        MissingError: another one holds it, or nobody can.
    """
    try:
        number = os.open(lock, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    except OSError as error:
        why = f"{lock}, which keeps two gradings in one container apart, cannot be written: {error.strerror}"
        raise MissingError(why) from error
    try:
        fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(number)
        raise MissingError(
            "another `linklab grade --in-container` runs in this container: wait for its end, or use another container"
        ) from None
    return number


def remove_leftovers(users: range = EVERY_USER) -> None:
    """End what networks that have ended, or whose grading was killed, have left: processes, then files.

    Nothing of one submission may reach the next.  That holds for dead processes too: Linux counts them against their
    user's limit until somebody has waited for them, which this process does if it has adopted them.  No network may run
    meanwhile.

    Raises:
        EngineError: as `end_all`, or a folder cannot be removed.
        OSError: no program can be started.
    """
    for user in sorted({owner for _, owner in _owners() if owner in users}):
        end_all(user)
    for pid in {pid for pid, owner in _owners() if owner in users} & {*children(os.getpid())}:
        with contextlib.suppress(ChildProcessError):
            os.waitpid(pid, os.WNOHANG)
    places = {*_folders_to_write()}
    with contextlib.suppress(FileNotFoundError):
        places |= {*_BEGAN.read_text().splitlines()}  # of a grading with another TMPDIR
    if lacks_landlock():  # then they write wherever anybody may
        places |= {str(each.point) for each in mounts() if each.kind not in _OF_KERNEL}
    theirs = ["-uid", f"+{users.start - 1}", "-uid", f"-{users.stop}"]
    # nobody who could put something else in their place runs any more
    for folder in _folders_of(users, places):  # with what a push of ours, broken off, has not given to its user yet
        subprocess.run(["rm", "-rf", folder], stderr=subprocess.DEVNULL, check=False)
    if stays := _folders_of(users, places):  # for want of a capability, such as CAP_FOWNER in sticky folders
        raise EngineError(_STAYS.format(shown=stays[0]))
    if _BEGAN.exists():
        # nothing that was there before: an archive may have been unpacked with the numbers of somebody else's users
        find = ["find", *places, "-xdev", "-depth", "-cnewer", str(_BEGAN), *theirs]
        subprocess.run([*find, "-delete"], stderr=subprocess.DEVNULL, check=False)
        look = subprocess.run(
            [*find, "-print", "-quit"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False
        )
        if look.stdout:
            raise EngineError(_STAYS.format(shown=visible(os.fsdecode(look.stdout.rstrip(b"\n")))))
        _BEGAN.unlink()


def _folders_to_write() -> list[str]:
    """Where networks get folders, without links."""
    return [os.path.realpath(each) for each in map(str, (_folder_without_blanks(), *place.candidates()))]


def _folders_of(users: range, places: Iterable[str]) -> list[Path]:
    """The folders of networks that these users have there."""
    found = chain.from_iterable(Path(each).glob(f"{_PREFIX}*") for each in places)
    return [folder for folder in found if folder.lstat().st_uid in users]


def begin_empty() -> None:
    """`remove_leftovers` before a submission; what its networks leave anywhere is told from other files by their times.

    Raises:
        EngineError: as `end_all`.
        OSError: /run cannot be written.
    """
    remove_leftovers()
    _BEGAN.write_text("\n".join(_folders_to_write()))


def leave_empty() -> None:
    """`remove_leftovers` when all is graded: no signal breaks it off, and what it cannot do is said and no error."""
    with signals_wait(*TO_STOP):
        try:
            remove_leftovers()
        except (LinklabError, OSError) as error:
            sys.stderr.write(f"linklab: something of the submissions stays in this container: {error}\n")


def lacks_landlock() -> bool:
    """Whether this container's kernel cannot keep commands from writing elsewhere than in their own folders."""
    return not enter.has_landlock(ctypes.CDLL(None))


def _empty(folder: int) -> None:
    """Remove an open folder, wherever it has been moved, and all in it."""
    place_of = Path(f"/proc/self/fd/{folder}")
    # no depth stops find(1), and it follows no link
    empty = ["find", ".", "-mindepth", "1", "-delete"]
    subprocess.run(empty, cwd=place_of, stderr=subprocess.DEVNULL, check=False)
    with contextlib.suppress(OSError):  # which removes what is empty, and no link
        place_of.readlink().rmdir()


def end_all(user: int) -> None:
    """Kill every process of a user, also those that are started meanwhile.

    Raises:
        EngineError: some do not end.
    """
    until = time.monotonic() + HANG_S  # to take a hundred full lists of mappings apart takes 15 s
    while mine := _processes(user):
        if time.monotonic() > until:
            raise EngineError(f"{len(mine)} processes of the student's commands (user {user}) do not end")
        # one call for all, since what starts others is faster than who ends one after the other (kill(2), -1)
        try:
            killer = [PYTHON, "-I", "-S", "-c", _KILLS, str(user), str(_KILLER)]
            subprocess.run(killer, stderr=subprocess.DEVNULL, check=False, timeout=_KILLS_S)
        except (subprocess.TimeoutExpired, OSError):  # they have all processes that this container may
            for pid in mine:
                with contextlib.suppress(OSError):
                    os.kill(pid, signal.SIGKILL)
        time.sleep(0.01)


def _processes(user: int) -> list[int]:
    """Those that run; one that is dead and has not been waited for does no harm."""
    return [pid for pid, owner in _owners() if owner == user and _is_running(pid)]


def _owners() -> Iterator[tuple[int, int]]:
    """Each process, dead or not, and its user: the folder's owner, whether it may be looked at or not (proc_pid(5))."""
    with os.scandir("/proc") as entries:
        for entry in entries:
            if entry.name.isdecimal():
                with contextlib.suppress(OSError):  # it has gone
                    yield int(entry.name), entry.stat().st_uid


def _is_running(pid: int) -> bool:
    with contextlib.suppress(OSError):
        return _runs(Path(f"/proc/{pid}/stat").read_text(encoding="latin-1"))
    return False


def _runs(about: str) -> bool:
    """Whether a process is not dead, by its stat, in which its name may hold anything.

    Where the first thread has ended and others go on, its state is that of a dead one too (proc_pid_stat(5)).
    """
    fields = about.rpartition(")")[2].split()
    return fields[_STATE] not in _DEAD or int(fields[_THREADS]) > 1


def _instructors() -> list[Path]:
    """What lies beside the package and is not for students."""
    return [installation.ROOT / name for name in _INSTRUCTORS if (installation.ROOT / name).exists()]


def _deleted(user: int) -> tuple[dict[tuple[int, int], int], bool]:
    """Device and number → bytes of each deleted file that a process of that user still has open; whether all were seen.

    /proc/N/fd opens to the same user alone, or to a right that containers do not have (proc_pid_fd(5), ptrace(2)), so
    this thread takes the user's number for what it does with files, and is root with it for nothing else (setfsuid(2)).
    It must not be the main thread: the kernel clears a thread's PR_SET_PDEATHSIG when that number changes, and grading
    would outlive a grader that is killed.  Processes may share one table of files, in each of which it is looked at
    again.
    """
    pids, libc = _processes(user), ctypes.CDLL(None)
    found: dict[tuple[int, int], int] = {}
    libc.setfsgid(user)
    libc.setfsuid(user)
    try:
        for count, path in enumerate(chain.from_iterable(map(open_files.paths, pids))):
            if count == MOST_HELD:
                return found, False
            with contextlib.suppress(OSError):
                about = os.stat(path)  # noqa: PTH116 - for thousands of files, four times a second
                if stat.S_ISREG(about.st_mode) and about.st_nlink == 0:
                    found[about.st_dev, about.st_ino] = about.st_blocks * _BLOCK
    finally:
        libc.setfsuid(0)
        libc.setfsgid(0)
    return found, True


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


def _folder_without_blanks() -> str:
    """Where the folder lies, whose path goes onto a kernel's command line."""
    folder = tempfile.gettempdir()
    return folder if not any(each.isspace() for each in folder) else "/tmp"  # noqa: S108


def _shown(paths: Sequence[Path]) -> str:
    names = ", ".join(map(str, paths[:_SHOWN]))
    return f"{names} and {len(paths) - _SHOWN} more" if len(paths) > _SHOWN else names
