# SPDX-License-Identifier: BSD-3-Clause
"""Tables of a test's file, read key by key: limits on sizes, and messages that name the nearest known word."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from typing import Any, TypeVar

from linklab.base.text import excerpt
from linklab.base.toml import Table
from linklab.experiment.entries import Condition
from linklab.experiment.places import nearest

MOST_ENTRIES = 500
MOST_CHARACTERS = 4000

T = TypeVar("T")


class EntryTable(Table):
    """A table whose unknown keys are named with the nearest known one."""

    def end(self) -> None:
        """Refuse a key that nobody took."""
        for key in self.data:
            near = difflib.get_close_matches(key, self.known, 1, 0.6)
            hint = f'did you mean "{near[0]}"?' if near else f"the keys here are {', '.join(dict.fromkeys(self.known))}"
            raise self.wrong(f'unknown key "{excerpt(key)}"; {hint}')

    def take(self, key: str, kind: type | tuple[type, ...], default: Any = ...) -> Any:
        """As `Table.take`; text has a longest length."""
        value = super().take(key, kind, default)
        if isinstance(value, str) and len(value) > MOST_CHARACTERS:
            raise self.wrong(f'"{key}" has {len(value):,} characters; at most {MOST_CHARACTERS:,} are allowed')
        return value

    def entries(self, key: str) -> list[EntryTable]:
        """A list of tables, named in messages by what they are called."""
        found = self.take(key, list, [])
        if len(found) > MOST_ENTRIES:
            raise self.wrong(f"there are {len(found):,} of [[{key}]]; at most {MOST_ENTRIES} are allowed")
        tables = []
        for number, item in enumerate(found, 1):
            called = item.get("series", item.get("name", "")) if isinstance(item, dict) else ""
            name = f'{key} "{excerpt(called)}"' if isinstance(called, str) and called else f"{key} {number}"
            tables.append(EntryTable(item, f"{self.where}: {name}"))
        return tables

    def choice(self, key: str, known: Mapping[str, T], default: Any = ...) -> T:
        """One of several words."""
        word = self.take(key, str, default)
        if isinstance(word, str) and word in known:
            return known[word]
        raise self.wrong(f'"{key}" cannot be "{excerpt(str(word))}"; {nearest(str(word), known)}')


def texts(table: EntryTable, key: str) -> Mapping[str, str]:
    """A table of texts, by its key; empty if it is not there."""
    found = table.take(key, dict, {})
    for name, value in found.items():
        if not isinstance(value, (str, int, float, bool)):
            raise table.wrong(f'"{key}": "{excerpt(name)}" must be text or a number')
    return {str(name): str(value) for name, value in found.items()}


def when_of(table: EntryTable) -> tuple[Condition, ...]:
    """A parameter's name: it is given. A table: each named parameter is one of the values."""
    found = table.take("when", (str, dict), {})
    if isinstance(found, str):
        return (Condition(found),)
    return tuple(
        Condition(str(name), tuple(str(value) for value in (values if isinstance(values, list) else [values])))
        for name, values in found.items()
    )
