# SPDX-License-Identifier: BSD-3-Clause
"""Where SOURCE finds its files: the script's own folder, the folders of --search, then the library; nowhere else.

The rule for what lies within them is that of `linklab.netesto.search_path`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from linklab.base.text import excerpt
from linklab.errors import InputError
from linklab.netesto.limits import MOST_BYTES
from linklab.netesto.lines import LIBRARY_FILES
from linklab.netesto.search_path import bytes_of, listed, within

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
    path = within(name, [*folders, LIBRARY])
    if path is None:
        raise InputError(
            f'there is no file "{excerpt(name)}" in {listed(folders)} or the library ({", ".join(library_names())});'
            " --search names further folders"
        )
    if path.is_relative_to(LIBRARY):
        return SourceFile(path, f"{LIBRARY_FILES}{path.relative_to(LIBRARY)}")
    as_named = (folder / name for folder in folders if (folder / name).resolve() == path)
    return SourceFile(path, str(next(as_named, path)))


def read(path: Path, shown: str) -> str:
    """The text of a script.

    Raises:
        InputError: it cannot be read, is too long, or no text.
    """
    if path.exists() and not path.is_file():  # opening a pipe would wait
        raise InputError("this is not a file", where=shown)
    data = bytes_of(path, shown, MOST_BYTES)
    if b"\0" in data:
        raise InputError("this is not a script: it holds bytes that no text has", where=shown)
    return data.decode("utf-8", errors="replace")
