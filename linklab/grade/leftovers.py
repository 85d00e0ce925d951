# SPDX-License-Identifier: BSD-3-Clause
"""What the networks of one submission leave in a container goes before the next; only one grading has a container.

Called by the process that grades a submission and by `linklab grade --in-container` when it begins and ends; no network
may run meanwhile.
"""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from itertools import chain
from pathlib import Path

from linklab.base import place
from linklab.base.processes import children, owners
from linklab.base.signals import TO_STOP, signals_wait
from linklab.base.text import visible
from linklab.errors import EngineError, LinklabError, MissingError
from linklab.grade import enter
from linklab.grade.accounts import EVERY_USER, end_all
from linklab.linux.mounts import mounts

PREFIX = "linklab-container-"
"""How the folders of networks are called."""
_OF_KERNEL = ("proc", "sysfs", "cgroup", "cgroup2", "devpts")
"""File systems in which nobody leaves a file."""
_LOCK = Path("/run/linklab-container.lock")
_WORKING = Path("/run/linklab-container.working")
_BEGAN = Path("/run/linklab-container.began")
"""Where root alone writes (FHS 3.0, 3.15): held by `linklab grade`, held by the process that grades a submission, and
there while one is graded, with its beginning and where its files may lie."""
_STAYS = "{shown}, which an earlier submission has made, cannot be removed: use a new container"


def hold_container() -> None:
    """Keep this container from other gradings until this `linklab grade` ends.

    Raises:
        MissingError: another one, or a grading process that goes on though its `linklab grade` was killed, runs in it.
    """
    _hold(_LOCK)
    os.close(_hold(_WORKING))


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
    for user in sorted({owner for _, owner in owners() if owner in users}):
        end_all(user)
    for pid in {pid for pid, owner in owners() if owner in users} & {*children(os.getpid())}:
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
    return [os.path.realpath(each) for each in map(str, (folder_without_blanks(), *place.candidates()))]


def _folders_of(users: range, places: Iterable[str]) -> list[Path]:
    """The folders of networks that these users have there."""
    found = chain.from_iterable(Path(each).glob(f"{PREFIX}*") for each in places)
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


def folder_without_blanks() -> str:
    """Where the folder lies, whose path goes onto a kernel's command line."""
    folder = tempfile.gettempdir()
    return folder if not any(each.isspace() for each in folder) else "/tmp"  # noqa: S108
