# SPDX-License-Identifier: BSD-3-Clause
"""Columns by name, and what to say of a name that none has."""

from __future__ import annotations

from collections.abc import Sequence

from linklab.base.spelling import nearest_words
from linklab.base.text import excerpt
from linklab.netesto.table.located import Located

_FEW, _MOST = 3, 8


def column_of(name: Located, columns: Sequence[str]) -> str:
    """The column that a piece of a script names, with or without quotes.

    Raises:
        TableError: there is no such column.
    """
    found = name.unquoted()
    if found.text in columns:
        return found.text
    if not found:
        raise found.error("the name of a column is missing here")
    raise found.error(unknown("column", found.text, columns))


def unknown(kind: str, name: str, known: Sequence[str]) -> str:
    """What to say of a name that is none of the known ones: the nearest of them."""
    near = nearest_words(name, known, _FEW)
    if near:
        return f'there is no {kind} "{excerpt(name)}"; the nearest {"is" if len(near) == 1 else "are"} {_list(near)}'
    some = _list(known[:_MOST]) + (f" and {len(known) - _MOST} more" if len(known) > _MOST else "")
    return f'there is no {kind} "{excerpt(name)}"; there {"is" if len(known) == 1 else "are"} {some or "none"}'


def _list(names: Sequence[str]) -> str:
    return ", ".join(excerpt(name) for name in names)
