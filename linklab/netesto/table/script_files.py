# SPDX-License-Identifier: BSD-3-Clause
"""The files that a table script names: where each lies, and the variables that `source` gives it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from linklab.base.text import excerpt, file_name
from linklab.errors import InputError
from linklab.netesto.lines import LIBRARY_FILES
from linklab.netesto.search_path import listed, within
from linklab.netesto.sources import LIBRARY
from linklab.netesto.table.located import Located


def file_of(name: Located, folders: Sequence[Path], home: Path, *suffixes: str) -> Path:
    """The file of this name in the search path, or of the name with one of the suffixes.

    Args:
        name: as the script has it.
        folders: the search path.
        home: the folder of the script.
        suffixes: tried before the name as it is.

    Raises:
        TableError: there is none, or it lies outside.
    """
    for each in (*(name.text + suffix for suffix in suffixes), name.text):
        try:
            found = within(each, folders)
        except InputError as error:
            raise name.error(str(error)) from error
        if found is not None:
            return found
    shown = excerpt(name.text + (suffixes[0] if suffixes and not name.text.endswith(suffixes) else ""))
    last = Path(shown).name
    beside = last != shown and (home / last).is_file()
    cure = f"; {last} is beside the script, and names count from its folder" if beside else ""
    raise name.error(f'there is no file "{shown}" in the search path: {listed(folders)}{cure}')


def source_variables(parts: Sequence[Located]) -> dict[str, str]:
    """The variables that follow the name of a file in `source`.

    Raises:
        TableError: one is not VARIABLE=VALUE.
    """
    found = {}
    for part in filter(None, parts):
        variable, equals, text = part.partition("=")
        if not equals or not variable.text.isidentifier():
            raise part.error(f'"{excerpt(part.text)}" must be VARIABLE=VALUE, since it follows the name of a file')
        found[variable.text] = text.unquoted().text
    return found


def shown_name(path: Path) -> str:
    """What messages call a script."""
    return f"{LIBRARY_FILES}{path.name}" if path.is_relative_to(LIBRARY) else file_name(path)
