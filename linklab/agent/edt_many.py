# SPDX-License-Identifier: BSD-3-Clause
"""Many links from a CSV: all at once (`load`), or over time on the network's clock (`play`).

The links of one place are set by one call of bpf(2). Times of `play` are those of this kernel, which is the network's.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias, TypeVar

from linklab.agent.edt_columns import columns
from linklab.agent.edt_csv import CsvLink, Specs, rows
from linklab.agent.edt_place import ANY, HeldAt, LinkWays, PlaceError
from linklab.agent.trial_map import WayError
from linklab.linux import edt_maps
from linklab.linux.edt_maps import LINK
from linklab.linux.edt_program import ENTRIES
from linklab.linux.edt_rows import EdtRows, Wanted
from linklab.linux.edt_words import LinkSpec

Groups: TypeAlias = dict[HeldAt, list[Wanted]]
"""Links by their places."""
T = TypeVar("T")


@dataclass(frozen=True)
class LinkFile:
    """A file of links, read before we leave the folders that its name was typed in."""

    name: str
    lines: list[str]

    @classmethod
    def read(cls, file: Path) -> LinkFile:
        """ValueError if it cannot be read; "-" is the standard input."""
        try:
            data = sys.stdin.buffer.read() if str(file) == "-" else file.read_bytes()
            return cls(str(file), data.decode("utf-8-sig").splitlines())
        except OSError as error:
            raise ValueError(f"{file}: {error.strerror}") from None
        except UnicodeDecodeError:
            raise ValueError(f"{file}: this is no text; a CSV of links is needed") from None

    def named(self, make: Callable[[], T]) -> T:
        """What `make` gives; its errors name the file."""
        try:
            return make()
        except ValueError as error:
            raise ValueError(f"{self.name}: {error}") from None


def load(file: LinkFile, places: LinkWays, at: str = "", entries: int = 0, say: Callable[[str], None] = print) -> None:
    """Set all links of a file, each place's by one call.

    entries: how many links a new place has room for; 0 for ENTRIES, or the links of the file where they are more.
    """
    for place, links in file.named(lambda: _read(file.lines, places, at)).items():
        room = entries or max(ENTRIES, links.key_count)
        with places.stage(place) as stage, stage.standing(room):
            stage.set_rows(links)
        say(f"{place}: {len(links)} link{'s' if len(links) > 1 else ''} set")
        for note in _notes(links, places, place, at):
            say(f"note: {note}")


def _notes(links: EdtRows, places: LinkWays, place: HeldAt, at: str) -> list[str]:
    """What a person should know of links that are held there; where `at` names the place, by the way of the first."""
    if at:
        source, target = map(edt_maps.address_text, edt_maps.KEY.unpack(links.key(0)))
        place = places.place(source, target, at)
    orphans = {not holds for holds in LINK.read(links.values, "holds_socket")}
    return sorted({place.note(orphan=orphan) for orphan in orphans} - {""})


def _read(lines: Sequence[str], places: LinkWays, at: str) -> dict[HeldAt, EdtRows]:
    """The links of a file by their places."""
    if at:
        keys = Keys(places, at)
        if (found := columns(lines, keys.side)) is not None and keys.fixed is not None:
            return {keys.fixed: found} if len(found) else {}
    return {place: EdtRows.of(links) for place, links in _grouped(rows(lines, timed=False), places, at).items()}


def _grouped(found: Iterator[CsvLink], places: LinkWays, at: str) -> Groups:
    """The links of a file by their places."""
    specs, groups, seen = Specs(), Groups(), dict[tuple[str, str], int]()
    keys = Keys(places, at)
    for row in found:
        pair = (row.source, row.target)
        if pair in seen:
            raise ValueError(f"line {row.line}: {row.source} → {row.target} is on line {seen[pair]} already")
        seen[pair] = row.line
        groups.setdefault(keys.place(row), []).append((keys.of(row), specs.read(row)))
    return groups


def play(
    file: LinkFile,
    places: LinkWays,
    there: Mapping[tuple[str, str], LinkSpec],
    at: str = "",
    say: Callable[[str], None] = print,
) -> None:
    """Change links at the times of a file, in seconds from now on; a cell that is empty changes nothing.

    there: what the links do that are there, by the names of their ends.
    """
    moments = file.named(lambda: _moments(rows(file.lines, timed=True), places, there, at))
    began = time.monotonic_ns()
    for at_ns, groups in moments:
        time.sleep(max(0, began + at_ns - time.monotonic_ns()) / 1e9)
        for place, links in groups.items():
            with places.stage(place) as stage, stage.standing():
                stage.set_links(links)
        count = sum(map(len, groups.values()))
        say(f"{at_ns / 1e9:.3f} s: {count} link{'s' if count > 1 else ''} changed")


def _moments(
    found: Iterator[CsvLink], places: LinkWays, there: Mapping[tuple[str, str], LinkSpec], at: str
) -> list[tuple[int, Groups]]:
    """What is to be set when, in order of time; each row goes on from the one before of its pair."""
    specs, keys, now = Specs(), Keys(places, at), dict(there)
    moments: list[tuple[int, Groups]] = []
    for row in sorted(found, key=lambda row: row.time_ns):
        pair = (row.source, row.target)
        now[pair] = specs.read(row, now.get(pair))
        if not moments or moments[-1][0] != row.time_ns:
            moments.append((row.time_ns, {}))
        moments[-1][1].setdefault(keys.place(row), []).append((keys.of(row), now[pair]))
    return moments


class Keys:
    """Keys and places of the rows of a file, where names repeat."""

    def __init__(self, places: LinkWays, at: str) -> None:
        self.places = places
        self.fixed = places.place(ANY, ANY, at) if at else None
        self.packed: dict[str, list[tuple[bytes, int]]] = {}
        self.found: dict[tuple[str, str], HeldAt] = {}

    def of(self, row: CsvLink) -> list[bytes]:
        """The keys of a row; ValueError with its line."""
        sources, targets = self._side(row, row.source), self._side(row, row.target)
        found = [source + target for source, own in sources for target, other in targets if own in (0, other)]
        if not found or row.target == ANY != row.source:
            raise ValueError(f"line {row.line}: {row.source} and {row.target} have no addresses of one version")
        return found

    def _side(self, row: CsvLink, word: str) -> list[tuple[bytes, int]]:
        """As `side`; ValueError with the row's line."""
        if (known := self.packed.get(word)) is not None:
            return known
        try:
            found = self.packed[word] = self.side(word)
        except (PlaceError, ValueError) as error:
            raise ValueError(f"line {row.line}: {error}") from None
        return found

    def side(self, word: str) -> list[tuple[bytes, int]]:
        """Packed addresses of a word with their versions, 0 for any; PlaceError or ValueError if it has none."""
        # a number is quicker read than asked for as a node
        texts = [word] if word and word[0].isdecimal() else self.places.addresses(word)
        versions = [0 if text == ANY else 6 if ":" in text else 4 for text in texts]
        return list(zip(map(edt_maps.address, texts), versions, strict=True))

    def place(self, row: CsvLink) -> HeldAt:
        """Where the packets of a row are held."""
        if self.fixed is not None:
            return self.fixed
        pair = (row.source, row.target)
        if pair not in self.found:
            try:
                self.found[pair] = self.places.place(*pair)
            except (PlaceError, WayError) as error:
                raise ValueError(f"line {row.line}: {error}") from None
        return self.found[pair]
