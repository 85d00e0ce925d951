# SPDX-License-Identifier: BSD-3-Clause
"""Files written whole or not at all: the contents go into a new file beside the old one, which then takes its place.

Whoever reads meanwhile sees the old contents or the new. `rename(2)` replaces a name atomically within a file system.
"""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import shutil
import stat
import subprocess
from pathlib import Path

from linklab.errors import InputError


def write(path: Path | str, content: str | bytes, *, durable: bool = False, private: bool = False) -> None:
    r"""Write a file whole or not at all; after a failure no part of the new contents is left.

    A file that is there keeps its mode and, where root writes, its owner; a new one gets what the umask allows.
    A symbolic link is followed. A device or a pipe has no contents to replace, so it is written to directly.

    Args:
        path: the file; its folder must be there.
        content: text becomes UTF-8 with the line ends that it has; half a surrogate pair becomes "\\udcff".
        private: whether it holds a secret: nobody but its owner may read it, whatever mode it had.
        durable: whether the contents must be on the disk before the name is (fsync), since they cannot be made again.

    Raises:
        OSError: it cannot be written; `filename` is `path`.
    """
    path = Path(path)
    data = content.encode("utf-8", "backslashreplace") if isinstance(content, str) else content
    try:
        target = Path(os.path.realpath(path)) if path.is_symlink() else path
        about = _about(path)
        if about is not None and not stat.S_ISREG(about.st_mode):
            with path.open("wb") as file:
                file.write(data)
            return
        _replace(target, data, about, durable=durable, private=private)
    except OSError as error:
        if error.errno is None:
            raise
        raise OSError(error.errno, error.strerror, str(path)) from error


_REMOVE_S = 60.0


def remove_folder(folder: Path) -> None:
    """Remove a folder with all in it as far as it can be, also where Python's own removal lacks stack or open files."""
    with contextlib.suppress(RecursionError):
        shutil.rmtree(folder, ignore_errors=True)
    if folder.is_dir() and not folder.is_symlink():
        with contextlib.suppress(OSError, subprocess.TimeoutExpired):
            subprocess.run(["rm", "-rf", "--", folder], stderr=subprocess.DEVNULL, check=False, timeout=_REMOVE_S)


def write_asked(path: Path, content: str | bytes, *, private: bool = False) -> Path:
    """Write a file that a person asked for, whole or not at all, with the folders above it; gives its path.

    Args:
        path: the file.
        content: as `write` takes it.
        private: as in `write`.

    Raises:
        InputError: it cannot be written there.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write(path, content, private=private)
    except OSError as error:
        raise InputError(f"{path}: cannot be written: {error.strerror}") from error
    return path


def write_json(path: Path, data: object) -> None:
    """Write JSON whole or not at all and see it on the disk; OSError and ValueError (NaN is allowed) as they come."""
    # In a JSON string "\udcff" is the escape for half a surrogate pair, so such a file name reads back as it was.
    write(path, json.dumps(data, indent=2, ensure_ascii=False) + "\n", durable=True)


def _about(path: Path) -> os.stat_result | None:
    try:
        return path.stat()
    except FileNotFoundError:
        return None


def _replace(target: Path, data: bytes, about: os.stat_result | None, *, durable: bool, private: bool) -> None:
    # The name is short, so that a file may have as long a name as the file system allows.
    part = target.with_name(f".{secrets.token_hex(6)}.part")
    handle = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600 if private else 0o666)
    try:
        with os.fdopen(handle, "wb") as file:
            if about is not None:
                if about.st_uid != os.geteuid():
                    with contextlib.suppress(PermissionError):  # only root may give a file away
                        os.fchown(handle, about.st_uid, about.st_gid)
                os.fchmod(handle, stat.S_IMODE(about.st_mode) & (0o600 if private else 0o7777))
            file.write(data)
            file.flush()
            if durable:
                os.fsync(handle)
        part.replace(target)
    except BaseException:
        part.unlink(missing_ok=True)
        raise
