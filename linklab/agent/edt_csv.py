# SPDX-License-Identifier: BSD-3-Clause
"""A CSV of links, or of links over time → rows. The first line names the columns.

`from`, `to` (nodes or addresses; a source may be any) and the words of `linklab link set`; `time` in seconds where
links move. An empty cell says nothing of that property. ValueError says line and column.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from operator import itemgetter
from typing import NamedTuple

from linklab.linux.edt_words import WORDS, LinkSpec, read, time_ns

FROM, TO, TIME = "from", "to", "time"


class CsvLink(NamedTuple):
    """A line of the file: what to set, and when (0 where there is no column of times)."""

    line: int
    time_ns: int
    source: str
    target: str
    words: tuple[str, ...]


def rows(lines: Sequence[str], *, timed: bool) -> Iterator[CsvLink]:
    """The rows of a file; timed: it must have times, else it must not.

    Raises:
        ValueError: a column is missing or unknown, a line is short, or a time cannot be read.
    """
    reader = csv.reader(lines)
    names = [name.strip() for name in next(reader, [])]
    needed = [FROM, TO, *([TIME] if timed else [])]
    for name in needed:
        if name not in names:
            raise ValueError(
                f"line 1: there is no column {name}; the first line names the columns, such as {_example(timed)}"
            )
    for name in names:
        if name not in (*needed, *WORDS):
            raise ValueError(f'line 1: "{name}" is no column of links; there are {", ".join((*needed, *WORDS))}')
    columns = [names.index(name) for name in needed]
    wanted = [(number, name) for number, name in enumerate(names) if name in WORDS]
    properties = itemgetter(0, 0, *(number for number, _ in wanted))  # gives a tuple, however many there are
    known: dict[tuple[str, ...], tuple[str, ...]] = {}
    for cells in reader:
        line = reader.line_num
        if not cells:
            continue
        if len(cells) != len(names):
            raise ValueError(f"line {line}: {len(cells)} cells where line 1 names {len(names)} columns")
        source, target, *times = [cells[column].strip() for column in columns]
        given = properties(cells)[2:]
        words = known.get(given)
        if words is None:
            pairs = zip(wanted, given, strict=True)
            words = known[given] = tuple(word for (_, name), cell in pairs if cell for word in (name, *cell.split()))
        yield CsvLink(line, _time_ns(times[0], line) if timed else 0, source, target, words)


def _time_ns(text: str, line: int) -> int:
    """Nanoseconds of a time in seconds, with or without its unit."""
    try:
        return time_ns(text if text[-1:].isalpha() else f"{text}s", TIME)
    except ValueError as error:
        raise ValueError(f"line {line}: {error}") from None


def _example(timed: bool) -> str:
    return "time,from,to,rate,delay" if timed else "from,to,rate,delay"


class Specs:
    """The same words mean the same; a file repeats them, and reading them takes longer than looking them up."""

    def __init__(self) -> None:
        self.known: dict[tuple[tuple[str, ...], LinkSpec | None], LinkSpec] = {}

    def read(self, row: CsvLink, before: LinkSpec | None = None) -> LinkSpec:
        """What a row asks for; ValueError with its line."""
        found = self.known.get((row.words, before))
        if found is None:
            try:
                found = self.known[row.words, before] = read(row.words, before)
            except ValueError as error:
                raise ValueError(f"line {row.line}: {error}") from None
        return found
