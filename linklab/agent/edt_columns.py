# SPDX-License-Identifier: BSD-3-Clause
"""The lines of a plain CSV of links → what the kernel takes, a column at a time.

65,000 rows read one by one take a second and more in Python; most files have nothing that needs it. What is not plain
(quotes, ends with several addresses, words that hang together such as jitter and delay) or is wrong is left to
`edt_csv`, which knows the line of each fault.
"""

from __future__ import annotations

import socket
from array import array
from collections.abc import Callable, Sequence
from itertools import repeat
from operator import itemgetter, methodcaller
from typing import TypeAlias

from linklab.agent.edt_csv import FROM, TO
from linklab.linux.edt_maps import LINK, MAPPED
from linklab.linux.edt_rows import EdtRows
from linklab.linux.edt_words import QUEUE_NS, held_pkts, read

PLAIN = {
    "rate": ("rate_bit", "queue_ns"),
    "delay": ("delay_ns",),
    "loss": ("to_bad", "to_good", "loss_good", "loss_bad"),
    "duplicate": ("duplicate",),
    "corrupt": ("corrupt",),
    "orphan": ("holds_socket",),
}
"""Words that mean the same whatever else a row says, with the fields that each decides alone."""
CHUNK = 4096
"""Lines that are taken apart at a time, so that their memory is used again: new pages cost more than the work."""
Addresses: TypeAlias = Callable[[str], "list[tuple[bytes, int]]"]
"""A word of a row → its packed addresses, each with its version (0 for any); an exception if it has none."""


class NotPlainError(Exception):
    """A file must be read row by row."""


def columns(lines: Sequence[str], addresses: Addresses) -> EdtRows | None:
    """The links of a file; None if it must be read row by row."""
    try:
        return _columns(lines, addresses)
    except NotPlainError:
        return None


def _columns(lines: Sequence[str], addresses: Addresses) -> EdtRows:
    names = [name.strip() for name in lines[0].split(",")] if lines else []
    words = [name for name in names if name in PLAIN]
    if len(set(names)) != len(names) or not {FROM, TO} <= set(names) or len(words) + 2 != len(names):
        raise NotPlainError
    rows, ends, held = EdtRows(), _Ends(addresses), _Held()
    known = {word: _Cells(word) for word in words}
    for begin in range(1, len(lines), CHUNK):
        cells = _cells(lines[begin : begin + CHUNK], len(names))
        keys = ends.keys(*(cells[names.index(name) :: len(names)] for name in (FROM, TO)))
        fields: dict[str, array[int]] = {}
        for word in words:
            found = list(map(known[word].__getitem__, cells[names.index(word) :: len(names)]))
            for number, name in enumerate(PLAIN[word]):
                fields[name] = array(LINK.fields[name], map(itemgetter(number), found))
        none = array("Q", [0]) * len(keys)
        rates, delays = fields.get("rate_bit", none), fields.get("delay_ns", none)
        rows.extend(keys, fields, array("Q", map(held.__getitem__, zip(rates, delays, strict=True))))
    ends.check(len(rows))
    return rows


def _cells(lines: Sequence[str], width: int) -> list[str]:
    """The cells of all rows, one after the other; empty lines are none."""
    full = list(filter(None, lines))
    text = ",".join(full)
    if '"' in text or set(map(methodcaller("count", ","), full)) - {width - 1}:
        raise NotPlainError
    return text.split(",") if full else []


class _Ends:
    """The two columns that name the ends of links; checks that each pair is there once."""

    def __init__(self, addresses: Addresses) -> None:
        self.addresses = addresses
        self.sides = _Side(addresses), _Side(addresses)
        self.seen: set[bytes] = set()

    def keys(self, sources: list[str], targets: list[str]) -> list[bytes]:
        """A key for each row."""
        found = list(map(bytes.__add__, self.sides[0].of(sources), self.sides[1].of(targets)))
        self.seen.update(found)
        return found

    def check(self, count: int) -> None:
        """NotPlainError if keys are there twice, or the ends of some have no addresses of one version."""
        sources, targets = (side.versions for side in self.sides)
        if len(self.seen) != count or 0 in targets or len((sources | targets) - {0}) > 1:
            raise NotPlainError


class _Side(dict[str, bytes]):
    """Cells that name one end → its packed address."""

    def __init__(self, addresses: Addresses) -> None:
        super().__init__()
        self.addresses = addresses
        self.versions: set[int] = set()

    def of(self, cells: list[str]) -> list[bytes]:
        """The address of each."""
        if len(set(cells)) * 2 > len(cells):  # hardly any repeats: numbers are read at once, and not kept
            try:
                found = list(map(MAPPED.__add__, map(socket.inet_pton, repeat(socket.AF_INET), cells)))
            except OSError:
                pass
            else:
                self.versions.add(4)
                return found
        return list(map(self.__getitem__, cells))

    def __missing__(self, cell: str) -> bytes:
        try:
            found = self.addresses(cell.strip())
        except Exception as error:
            raise NotPlainError from error
        if len(found) != 1:
            raise NotPlainError
        self[cell], version = found[0]
        self.versions.add(version)
        return self[cell]


class _Cells(dict[str, tuple[int, ...]]):
    """Cells of one word → the values of its fields."""

    def __init__(self, word: str) -> None:
        super().__init__()
        self.word = word
        self.take = PLAIN[word]

    def __missing__(self, cell: str) -> tuple[int, ...]:
        try:
            values = read([self.word, *cell.split()] if cell else []).values(0)
        except ValueError as error:
            raise NotPlainError from error
        self[cell] = tuple(values[name] for name in self.take)
        return self[cell]


class _Held(dict[tuple[int, int], int]):
    """Rate and delay → packets that fq may have to hold."""

    def __missing__(self, pair: tuple[int, int]) -> int:
        rate_bit, delay_ns = pair
        self[pair] = held_pkts(rate_bit, QUEUE_NS if rate_bit else 0, delay_ns)
        return self[pair]
