# SPDX-License-Identifier: BSD-3-Clause
"""The files that a script of either kind may read: those in its search path, and nothing else.

Symbolic links are followed before the path is compared, and only ordinary files are read: a device or a pipe might
never end.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Sequence
from pathlib import Path

from linklab.base.text import excerpt, file_name
from linklab.errors import InputError

MOST_BYTES = 64 * 2**20
"""Of a file; an exp.csv of 100,000 experiments has about so many."""


def within(name: str, folders: Sequence[Path]) -> Path | None:
    """The file of this name in the first folder that has it; None if no folder has one.

    Args:
        name: as a script gives it, relative to a folder of the search path, or absolute.
        folders: the search path.

    Raises:
        InputError: there is a file, but outside all of the folders, or it is not an ordinary one.
    """
    if not name or "\0" in name:
        raise InputError(f'"{excerpt(name)}" must be the name of a file')
    roots = [Path(os.path.realpath(folder)) for folder in folders]
    outside = False
    for root in roots:
        try:
            path = Path(os.path.realpath(root / name))
            about = path.stat()
        except OSError:
            continue
        if not any(path.is_relative_to(other) for other in roots):
            outside = True
        elif stat.S_ISREG(about.st_mode):
            return path
        elif not stat.S_ISDIR(about.st_mode):
            raise InputError(f'"{excerpt(name)}" is not an ordinary file')
    if outside or ".." in Path(name).parts or Path(name).is_absolute():
        raise InputError(
            f'"{excerpt(name)}" is outside the search path ({listed(folders)}); copy it there, or add its folder with '
            "--search FOLDER"
        )
    return None


def listed(folders: Sequence[Path]) -> str:
    """The search path as a sentence names it."""
    shown = {os.path.realpath(folder): folder for folder in reversed(folders)}
    named = [shown.pop(real) for real in map(os.path.realpath, folders) if real in shown]
    return ", ".join("this folder" if str(folder) == "." else file_name(folder) for folder in named)


def near(path: Path) -> Path:
    """The path as seen from the working directory if it lies below it."""
    here = Path(os.path.realpath("."))
    return path.relative_to(here) if path.is_relative_to(here) else path


def bytes_of(path: Path, shown: str, most: int) -> bytes:
    """What a file of at most so many bytes holds; shown: what messages call it.

    Raises:
        InputError: it cannot be read, or is too large.
    """
    try:
        with path.open("rb") as file:
            data = file.read(most + 1)
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", where=shown) from error
    if len(data) > most:
        raise InputError(f"is larger than {most:,} bytes, the most that is read; divide it", where=shown)
    return data


def text_of(path: Path, most: int = MOST_BYTES) -> str:
    """The text of a file of at most so many bytes.

    Raises:
        InputError: it cannot be read, is too large, or is not UTF-8.
    """
    shown = file_name(path)
    data = bytes_of(path, shown, most)
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise InputError("is not text in UTF-8", where=f"{shown}:{line}") from error
