# SPDX-License-Identifier: BSD-3-Clause
"""The metadata of a data set as a tree of rows: what is found in it, and values by the path of their keys. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from linklab.data import Dataset

Path = tuple[str, ...]
"""The keys that lead to a value, such as ("LINKLAB", "seed"); an item of a list has its number."""

SHORT = 120
"""Letters of a value in the tree; the whole is copied."""

PLOTS = "plots"
"""The key of ours under which a test's plots stand; the list of plots shows them."""

SEPARATOR = " › "

MADE = ("NUMBERS", "NOTES", "SERIES")
"""Keys of the tree that this module adds to those of the file."""


@dataclass(frozen=True)
class MetadataRow:
    """A key of the tree and what stands there, with what is below it."""

    path: Path
    value: str
    below: tuple[MetadataRow, ...] = ()

    @property
    def key(self) -> str:
        """The last of its keys."""
        return self.path[-1]


def tree_of(data: Dataset) -> dict[str, Any]:
    """All metadata of a data set as one tree: Flent's first, then ours, then those of the series."""
    known: dict[str, Any] = dict(sorted(data.flent.items()))
    ours = {key: value for key, value in data.metadata.items() if key != PLOTS}
    if ours:
        known["LINKLAB"] = ours
    if data.scalars:
        known["NUMBERS"] = {name: str(scalar) for name, scalar in data.scalars.items()}
    if data.notes:
        known["NOTES"] = list(data.notes)
    known["SERIES"] = {
        name: {"unit": series.unit, "samples": len(series), **series.meta} for name, series in data.series.items()
    }
    return known


def rows_of(tree: Mapping[str, Any], wanted: str = "") -> list[MetadataRow]:
    """The rows of a tree; if words are wanted, only rows that have them, with all rows above and below."""
    rows = [_row((key,), value) for key, value in tree.items()]
    words = wanted.casefold().split()
    return [found for row in rows if (found := _found(row, words)) is not None] if words else rows


def _row(path: Path, value: Any) -> MetadataRow:
    match value:
        case Mapping():
            return MetadataRow(path, _count(len(value)), tuple(_row((*path, key), each) for key, each in value.items()))
        case list() | tuple() if any(isinstance(each, Mapping | list | tuple) for each in value):
            items = enumerate(value, 1)
            return MetadataRow(path, _count(len(value)), tuple(_row((*path, str(at)), each) for at, each in items))
        case _:
            return MetadataRow(path, shown(value))


def _count(number: int) -> str:
    return f"({number})" if number else ""


def _found(row: MetadataRow, words: Sequence[str]) -> MetadataRow | None:
    """The row with what matches below it; every word must be in the key, the value, or a key above."""
    text = " ".join((*row.path, row.value)).casefold()
    if all(word in text for word in words):
        return row
    below = tuple(found for each in row.below if (found := _found(each, words)) is not None)
    return MetadataRow(row.path, row.value, below) if below else None


def shown(value: Any) -> str:
    """A value on one line: text and numbers as they are, nothing as "–", a list with commas."""
    match value:
        case None:
            return "–"
        case str():
            return " ".join(value.split())
        case bool():
            return "yes" if value else "no"
        case float():
            return f"{value:.10g}"
        case list() | tuple():
            return ", ".join(shown(each) for each in value)
        case _:
            return str(value)


def value_at(tree: Any, path: Path) -> Any:
    """What stands at a path of keys; KeyError if there is nothing."""
    for key in path:
        match tree:
            case Mapping() if key in tree:
                tree = tree[key]
            case list() | tuple() if key.isdecimal() and 1 <= int(key) <= len(tree):
                tree = tree[int(key) - 1]
            case _:
                raise KeyError(key)
    return tree


def to_copy(value: Any) -> str:
    """A value whole, for the clipboard: text as it is, anything with parts as JSON."""
    if isinstance(value, Mapping | list | tuple):
        return json.dumps(value, indent=2, ensure_ascii=False)
    return value if isinstance(value, str) else shown(value)


def every(rows: Sequence[MetadataRow]) -> Iterator[MetadataRow]:
    """All rows, each before those below it."""
    for row in rows:
        yield row
        yield from every(row.below)
