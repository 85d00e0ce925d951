# SPDX-License-Identifier: BSD-3-Clause
"""Links that are to be set by one call of bpf(2), as the bytes that it takes: keys, and structures edt_link.

Columns are written into the structures at once, because Python makes 65,000 objects more slowly than the kernel sets
as many links.
"""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence
from typing import TypeAlias

from linklab.linux.edt_maps import KEY, LINK
from linklab.linux.edt_words import LinkSpec

Wanted: TypeAlias = tuple[Sequence[bytes], LinkSpec]
"""A link that is to be set: its keys, and what it does."""


class EdtRows:
    """Links in the order in which they are to be set; several keys may be one link's.

    keys, values: of all of them, one after the other; a value has no id until `give_ids`.
    counts: how many keys each link has. held: the packets that fq may have to hold for each.
    """

    def __init__(self) -> None:
        self.keys, self.values = bytearray(), bytearray()
        self.counts, self.held = array("I"), array("Q")
        self.distributions: set[str] = set()

    @classmethod
    def of(cls, links: Sequence[Wanted]) -> EdtRows:
        """Those of a list."""
        found = cls()
        packed: dict[int, tuple[bytes, int]] = {}  # by the object, as the same one is asked for thousands of times
        for keys, spec in links:
            known = packed.get(id(spec))
            if known is None:
                known = packed[id(spec)] = LINK.pack(spec.values(0)), spec.held_pkts
                found.distributions.add(spec.distribution)
            for key in keys:
                found.keys += key
                found.values += known[0]
            found.counts.append(len(keys))
            found.held.append(known[1])
        return found

    def extend(self, keys: Sequence[bytes], fields: Mapping[str, array[int]], held: array[int]) -> None:
        """Add links of one key each, which do nothing but what the fields say; each has a value for each link."""
        values = bytearray(LINK.pack(LinkSpec().values(0)) * len(keys))
        for name, column in fields.items():
            LINK.write(values, name, column)
        self.keys += b"".join(keys)
        self.values += values
        self.counts.extend([1] * len(keys))
        self.held.extend(held)

    def __len__(self) -> int:
        """How many links."""
        return len(self.counts)

    @property
    def key_count(self) -> int:
        """How many keys they have together."""
        return len(self.keys) // KEY.size

    def key(self, number: int) -> bytes:
        """One of them, counted from 0."""
        return bytes(self.keys[number * KEY.size : (number + 1) * KEY.size])

    def all_keys(self) -> list[bytes]:
        """All of them."""
        return [self.key(number) for number in range(self.key_count)]

    def give_ids(self, ids: array[int]) -> None:
        """Write the number of its link to each key's value."""
        LINK.write(self.values, "id", ids)
