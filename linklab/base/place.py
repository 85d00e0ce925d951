# SPDX-License-Identifier: BSD-3-Clause
"""Where a pocket keeps its memory, found by looking, not by name; and folders that only this user may write.

Memory is a sparse, deleted file that the kernel maps executable: its folder must not be mounted noexec (Docker's
/dev/shm is) and must have room for what the network will really use.
"""

from __future__ import annotations

import contextlib
import mmap
import os
import stat
import tempfile
from collections.abc import Sequence
from pathlib import Path

from linklab.errors import EngineError, MissingError

LIKELY_USE = 0.25
"""Share of a pocket's memory that a lab at most fills (10 Gbps with 50 MB buffers: 0.9 of 4 GiB never seen filled)."""
LONGEST_FOLDER = 90
"""Bytes; sun_path of unix(7) holds 108, and the socket's own name comes after the folder's."""
PROT_EXEC_FILE_BYTES = mmap.PAGESIZE
_user: int | None = None


def user_number() -> int:
    """The number by which folders are named that all programs of this user share."""
    return os.getuid() if _user is None else _user


def keep_user() -> None:
    """Go on with the number and the home that we have, since we will soon see others (`linklab.grade.subordinate`)."""
    global _user  # noqa: PLW0603 - as the number itself is the whole process's
    _user = user_number()
    with contextlib.suppress(RuntimeError):  # an account without a home
        os.environ.setdefault("HOME", str(Path.home()))


def candidates() -> list[Path]:
    """Folders for memory, best first: what LINKLAB_TMP or TMPDIR name, then memory file systems, then disk."""
    named = [
        os.environ.get("LINKLAB_TMP"),
        os.environ.get("TMPDIR"),
        "/dev/shm",
        f"/run/user/{user_number()}",
        "/tmp",
        "/var/tmp",
    ]
    return [Path(name) for name in named if name]


def why_not(folder: Path, size_bytes: int) -> str | None:
    """Why memory of this size cannot lie in the folder; None if it can."""
    if not folder.is_dir():
        return "is not a folder"
    try:
        with tempfile.TemporaryFile(dir=folder) as file:
            file.truncate(PROT_EXEC_FILE_BYTES)
            mmap.mmap(file.fileno(), PROT_EXEC_FILE_BYTES, mmap.MAP_PRIVATE, mmap.PROT_READ | mmap.PROT_EXEC).close()
    except PermissionError:
        return "is mounted noexec" if os.access(folder, os.W_OK) else "cannot be written"
    except OSError as error:
        return f"cannot be written ({error.strerror})"
    free = os.statvfs(folder).f_bavail * os.statvfs(folder).f_frsize
    if free < size_bytes * LIKELY_USE:
        return f"has only {free // 2**20} MiB free"
    return None


def memory_dir(size_bytes: int) -> Path:
    """The first folder in which memory of this size can lie; MissingError says of each why not."""
    reasons = []
    for folder in candidates():
        reason = why_not(folder, size_bytes)
        if reason is None:
            return folder
        reasons.append(f"{folder} {reason}")
    raise MissingError(
        f"no folder for {size_bytes // 2**20} MiB of memory: {'; '.join(reasons)}. "
        "Set LINKLAB_TMP to one with room, not mounted noexec"
    )


def runtime_folder() -> Path | None:
    """The folder for sockets that the log-in made for this user (XDG Base Directory Specification); None without one.

    Root started by `sudo` often has that of the user, where a folder of root's would lock the user out.
    """
    named = os.environ.get("XDG_RUNTIME_DIR")
    folder = Path(named) if named else None
    try:
        ours = folder is not None and folder.stat().st_uid == os.getuid() and os.access(folder, os.W_OK)
    except OSError:
        return None
    return folder if ours else None


def private(name: str) -> Path:
    """A folder among the temporary files that this user alone may use; `linklab-UID-NAME`, made if it is not there.

    Somebody else may have taken that name, since all users share `/tmp`: then it lies below the home folder.

    Raises:
        EngineError: it can be made in neither place.
    """
    return first_private(
        [Path(tempfile.gettempdir()) / f"linklab-{user_number()}-{name}", private_at_home() / name],
    )


def of_account(name: str) -> Path:
    """As `private`, but the same folder also for processes that each have a place for temporary files of their own.

    Raises:
        EngineError: it can be made in neither place.
    """
    return first_private([Path("/tmp") / f"linklab-{user_number()}-{name}", private_at_home() / name])


def for_sockets() -> Path:
    """The private folder of the sockets of this user's networks, whose path is short enough for a socket's name in it.

    Raises:
        EngineError: there is no place for it that belongs to this user.
    """
    runtime, name = runtime_folder(), f"linklab-{user_number()}"
    tried = [
        *([runtime / "linklab"] if runtime else []),
        Path(tempfile.gettempdir()) / name,
        Path("/tmp") / name,
        private_at_home() / "sockets",
    ]
    return first_private([path for path in tried if len(os.fsencode(path)) <= LONGEST_FOLDER])


def private_at_home() -> Path:
    """Where private folders lie for which there is no place among the temporary files."""
    return of_home("XDG_CACHE_HOME", ".cache") / "private"


def of_home(variable: str, usual: str) -> Path:
    """Return this user's folder for Linklab's files of one sort (XDG Base Directory Specification); it may not exist.

    Args:
        variable: names the place of that sort, such as XDG_CACHE_HOME.
        usual: the place below the home folder where the variable is empty or not set.
    """
    named = os.environ.get(variable)
    return (Path(named) if named else Path.home() / usual) / "linklab"


def first_private(folders: Sequence[Path]) -> Path:
    """The first of these folders that is this user's alone or can be made so; EngineError, with all reasons, if none.

    Programs of one user find each other in it, so the folders must be tried in the same order by all.
    """
    reasons = []
    for folder in folders:
        try:
            return make_private(folder)
        except EngineError as error:
            reasons.append(str(error))
    raise EngineError("; ".join(reasons))


def make_private(folder: Path) -> Path:
    """Make a folder that only this user may read and write.

    Raises:
        EngineError: it cannot be made, or what has its name is not a folder of this user's: files in it could lead
            anywhere.
    """
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        about = folder.lstat()
    except FileExistsError:
        about = folder.lstat()
    except OSError as error:
        raise EngineError(f"{folder} cannot be made: {error.strerror}") from error
    if not stat.S_ISDIR(about.st_mode) or about.st_uid != os.getuid():
        raise EngineError(f"{folder} is not a folder of yours; remove it, or set TMPDIR to a folder of your own")
    if about.st_mode & 0o077:
        folder.chmod(0o700)
    return folder
