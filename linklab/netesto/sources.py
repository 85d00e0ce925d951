# SPDX-License-Identifier: BSD-3-Clause
"""Where SOURCE finds its files: the script's own folder, the folders of --search, then the library; nowhere else.

A name may hold folders, and links are followed, but what it leads to must lie within the folder it was looked for in.
"""

from __future__ import annotations

import stat
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from linklab.base.text import excerpt
from linklab.errors import InputError
from linklab.netesto.limits import MOST_BYTES

LIBRARY = Path(__file__).resolve().parent / "library"


@dataclass(frozen=True)
class SourceFile:
    """A file of a script, and what messages call it."""

    path: Path
    shown: str


TABLES = ".exp"
"""How the names of table scripts end, which SOURCE has no use for."""


def library_files() -> list[str]:
    """The files of the library, sorted: scripts, and what table scripts include."""
    return sorted(file.name for file in LIBRARY.iterdir() if file.is_file() and not file.name.startswith("."))


def library_names() -> list[str]:
    """The scripts of the library, sorted."""
    return [name for name in library_files() if not name.endswith(TABLES)]


def find(name: str, folders: Sequence[Path]) -> SourceFile:
    """The file that SOURCE means, in the first folder that has it, else in the library.

    Raises:
        InputError: there is none, or it lies outside; the message has no place.
    """
    if not name or "\0" in name or Path(name).is_absolute():
        raise InputError(f'it takes the name of a file in the search path, not "{excerpt(name)}"')
    for folder in [*folders, LIBRARY]:
        try:
            path = (folder / name).resolve()
            inside = path.is_relative_to(folder.resolve())
            there = path.is_file()
        except (OSError, RuntimeError):  # such as a name that is too long, or links in a circle
            continue
        if not inside:
            raise InputError(f'"{excerpt(name)}" is outside {folder}; only files within the search path are read')
        if there:
            return SourceFile(path, f"library/{name}" if folder == LIBRARY else str(folder / name))
    looked = ", ".join(str(folder) for folder in folders)
    raise InputError(
        f'there is no file "{excerpt(name)}" in {looked} or the library ({", ".join(library_names())});'
        " --search names further folders"
    )


def read(path: Path, shown: str) -> str:
    """The text of a script.

    Raises:
        InputError: it cannot be read, is too long, or no text.
    """
    try:
        if not stat.S_ISREG(path.stat().st_mode):  # opening a pipe would wait
            raise InputError("this is not a file", where=shown)
        with path.open("rb") as file:
            data = file.read(MOST_BYTES + 1)
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror or error}", where=shown) from error
    if len(data) > MOST_BYTES:
        raise InputError(f"a script may have up to {MOST_BYTES:,} bytes", where=shown)
    if b"\0" in data:
        raise InputError("this is not a script: it holds bytes that no text has", where=shown)
    return data.decode("utf-8", errors="replace")
