# SPDX-License-Identifier: BSD-3-Clause
"""The columns of the table of runs: what stands in each, and sorting by them. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from linklab.viewer.metadata import MADE, SEPARATOR, Path, shown, tree_of, value_at
from linklab.viewer.runs import Run
from linklab.windows.words import Phrase

_NUMBERS = re.compile(r"(\d+(?:\.\d+)?)")


@dataclass(frozen=True)
class Column:
    """A column: of the file ("name", without a path) or of a path of its metadata."""

    key: str
    title: str
    path: Path = ()
    wide: int = 120

    @classmethod
    def of(cls, path: Path) -> Column:
        """The column of a path of metadata."""
        return cls(SEPARATOR.join(path), path[-1] if len(path) < 3 else SEPARATOR.join(path[-2:]), path)


FIXED = (
    Column("name", Phrase("Name"), wide=290),
    Column("title", Phrase("Title"), ("TITLE",), wide=150),
    Column("time", Phrase("Time"), ("TIME",), wide=120),
    Column("test", Phrase("Test"), ("NAME",), wide=90),
)
"""Columns of every table. "Test" shows the name here, if the file has another one for Flent."""

OUR_TEST = ("LINKLAB", "test")


def text_of(run: Run, column: Column) -> str:
    """What stands in a cell; "" where a file has no such key."""
    value = value_of(run, column)
    if column.key == "time" and isinstance(value, str):
        return value[:19].replace("T", " ")
    return "" if value is None else shown(value)


def value_of(run: Run, column: Column) -> Any:
    """The value of a cell, to sort by; None where there is none."""
    if not column.path:
        return run.name
    if run.data is None:
        return None
    tree = tree_of(run.data) if column.path[0] in MADE else {**run.data.flent, "LINKLAB": run.data.metadata}
    if column.key == "test":
        ours = run.data.metadata.get("test")
        if isinstance(ours, str) and ours:
            return ours
    try:
        return value_at(tree, column.path)
    except KeyError:
        return None


def in_order(runs: Sequence[Run], column: Column, *, backwards: bool = False) -> list[Run]:
    """The runs by what stands in a column: numbers by size, "run 2" before "run 10", those without a value last."""
    having = [run for run in runs if text_of(run, column) != ""]
    ordered = sorted(having, key=lambda run: _sorts(value_of(run, column)), reverse=backwards)
    return [*ordered, *(run for run in runs if run not in having)]


def _sorts(value: Any) -> tuple[Any, ...]:
    if isinstance(value, int | float) and not isinstance(value, bool):
        return (0, value)
    parts = _NUMBERS.split(shown(value).casefold())
    return (1, *((0, float(part)) if at % 2 else (1, part) for at, part in enumerate(parts)))
