# SPDX-License-Identifier: BSD-3-Clause
"""The links of the program at one interface: set by one call of the kernel, read with their state, and removed.

Works where `linklab.linux.edt_program` does, on the maps that it holds open. What goes wrong raises `StageError`, one
sentence, and leaves everything as it was.
"""

from __future__ import annotations

import errno
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from linklab.linux import bpf
from linklab.linux.edt_maps import ABOUT, DISTRIBUTIONS, FQ_HANDLE, ID, LINK, NUMBER, STATE, table
from linklab.linux.edt_program import (
    ABOUT_MAP,
    LEAST_HELD,
    LINKS,
    MOST_HELD,
    STATES,
    TABLES,
    ZERO,
    EdtProgram,
    StageError,
)
from linklab.linux.edt_rows import EdtRows, Wanted
from linklab.linux.edt_words import LinkSpec
from linklab.linux.tc_attributes import TCA_FQ_PLIMIT

__all__ = ["EdtStage", "StageError", "StagedLink"]

There: TypeAlias = dict[bytes, tuple[int, int]]
"""Links that are there: key → number, packets that fq may have to hold."""
ONE_BY_ONE = 64
"""Up to so many links are looked up one by one."""


@dataclass(frozen=True)
class StagedLink:
    """A link as the kernel has it: keys, what it does, number, and state, which is empty before its first packet."""

    keys: tuple[bytes, ...]
    spec: LinkSpec
    number: int
    state: Mapping[str, int]


class EdtStage(EdtProgram):
    """The program at an interface with its links; a context as `EdtProgram` is."""

    def get(self, keys: Iterable[bytes]) -> StagedLink | None:
        """The link that has the first of these keys; None if none has one."""
        for key in keys:
            if (found := bpf.lookup(self.files[LINKS], key, LINK.size)) is not None:
                return self._link((key,), LINK.unpack(found))
        return None

    def _link(self, keys: tuple[bytes, ...], values: dict[str, int]) -> StagedLink:
        state = bpf.lookup(self.files[STATES], ID.pack(values["id"]), STATE.size)
        return StagedLink(keys, LinkSpec.of_values(values), values["id"], STATE.unpack(state) if state else {})

    def set_link(self, keys: Sequence[bytes], spec: LinkSpec) -> None:
        """Set one link under all its keys; what it has counted stays, and its line goes on.

        Raises:
            StageError: there is no room for it.
        """
        self.set_links([(keys, spec)])

    def set_links(self, links: Sequence[Wanted]) -> None:
        """As `set_rows`."""
        self.set_rows(EdtRows.of(links))

    def set_rows(self, rows: EdtRows) -> None:
        """Set many by one call; a link under a key that is there is changed. Where the maps are full, they grow.

        Raises:
            StageError: there is no memory for all of them; none of the new ones is left.
        """
        about = self.about()
        there = self._there(rows, about)
        changed = self._number(rows, there, about)
        self._fill_tables(rows.distributions)
        self._let_hold(changed["held_pkts"])
        try:
            bpf.update(self.files[ABOUT_MAP], ZERO, ABOUT.pack(changed))
            self._write(rows, there)
        except (OSError, StageError) as error:
            bpf.update(self.files[ABOUT_MAP], ZERO, ABOUT.pack(about))
            raise (error if isinstance(error, StageError) else self.failure(error)) from error

    def _number(self, rows: EdtRows, there: There, about: Mapping[str, int]) -> dict[str, int]:
        """Give each link the number that it has, or the next one; what is known of the interface afterwards."""
        ids, number, held = array("Q"), about["next_id"], about["held_pkts"] + sum(rows.held)
        if not there and len(rows) == rows.key_count:
            ids.extend(range(number, number + len(rows)))
            number += len(rows)
        else:
            first = 0
            for count in rows.counts:
                own = (there.get(rows.key(first + each)) for each in range(count))
                before = next((each for each in own if each is not None), None)
                if before is None:
                    ids.extend([number] * count)
                    number += 1
                else:
                    ids.extend([before[0]] * count)
                    held -= before[1]
                first += count
        rows.give_ids(ids)
        return {**about, "next_id": number, "held_pkts": max(0, held)}

    def _write(self, rows: EdtRows, there: There) -> None:
        """Put them into the map, which may have to grow for it; on failure those are removed that were not there."""
        try:
            self._update(rows, there)
        except OSError as error:
            if error.errno != errno.E2BIG:
                raise
            self.grow(sum(key not in there for key in rows.all_keys()))
            self._update(rows, there)

    def _update(self, rows: EdtRows, there: There) -> None:
        try:
            bpf.update_all(self.files[LINKS], rows.keys, rows.values, rows.key_count)
        except bpf.PartlyError as error:
            new = [key for key in rows.all_keys()[: error.done] if key not in there]
            bpf.delete_all(self.files[LINKS], b"".join(new), len(new))
            raise

    def _there(self, rows: EdtRows, about: Mapping[str, int]) -> There:
        """Number and packets held of those that are there, by each of their keys."""
        if about["next_id"] == 1:
            return {}
        if len(rows) > ONE_BY_ONE:
            found = bpf.elements(self.files[LINKS])
        else:
            asked = ((key, bpf.lookup(self.files[LINKS], key, LINK.size)) for key in rows.all_keys())
            found = ((key, value) for key, value in asked if value is not None)
        held: dict[bytes, int] = {}
        there = {}
        for key, value in found:
            (number,), body = ID.unpack_from(value), value[ID.size :]
            if body not in held:
                held[body] = LinkSpec.of_values(LINK.unpack(value)).held_pkts
            there[key] = number, held[body]
        return there

    def _fill_tables(self, distributions: set[str]) -> None:
        for name in sorted(distributions - {"uniform"}):
            try:
                bpf.update(self.files[TABLES], NUMBER.pack(DISTRIBUTIONS.index(name) - 1), table(name))
            except (FileNotFoundError, ValueError) as error:
                raise StageError(f"the distribution {name}: {error}") from error

    def _let_hold(self, held: int) -> None:
        """Raise fq's limits to what all links may have on their way; they are never lowered, which could drop."""
        wanted = min(MOST_HELD, LEAST_HELD + held)
        there = next((one for one in self.control.disciplines(self.index) if one.handle == FQ_HANDLE), None)
        if there is None:
            raise StageError(
                f"{self.interface} has lost its fq, so no packet waits there; linklab link clear, then set the links"
            )
        if wanted > int(NUMBER.unpack(there.options[TCA_FQ_PLIMIT])[0]):
            self.control.set_root(self.index, "fq", FQ_HANDLE, self.fq(wanted), new=False)

    def delete(self, keys: Sequence[bytes]) -> bool:
        """Remove a link with all its keys; whether there was one. Packets on their way go on."""
        link = self.get(keys)
        if link is None:
            return False
        for key in keys:
            bpf.delete(self.files[LINKS], key)
        bpf.delete(self.files[STATES], ID.pack(link.number))
        about = self.about()
        about["held_pkts"] = max(0, about["held_pkts"] - link.spec.held_pkts)
        bpf.update(self.files[ABOUT_MAP], ZERO, ABOUT.pack(about))
        return True

    def links(self) -> Iterator[StagedLink]:
        """All links, in the order in which they were set."""
        keys: dict[int, list[bytes]] = {}
        values: dict[int, bytes] = {}
        for key, value in bpf.elements(self.files[LINKS]):
            (number,) = ID.unpack_from(value)
            keys.setdefault(number, []).append(key)
            values[number] = value
        states = {ID.unpack(key)[0]: value for key, value in bpf.elements(self.files[STATES])}
        for number in sorted(keys):
            state = STATE.unpack(states[number]) if number in states else {}
            spec = LinkSpec.of_values(LINK.unpack(values[number]))
            yield StagedLink(tuple(sorted(keys[number])), spec, number, state)

    def count(self) -> int:
        """How many links there are."""
        return len({value[: ID.size] for _, value in bpf.elements(self.files[LINKS])})
