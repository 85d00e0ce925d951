# SPDX-License-Identifier: BSD-3-Clause
"""The structures of `linklab/bpf/edt.h` ↔ Python: what user space and the program tell each other in maps.

A structure is a list of fields as the header has them; tests/unit/test_edt_maps.py compares the two.
"""

from __future__ import annotations

import ipaddress
import socket
import struct
from array import array
from collections.abc import Mapping
from pathlib import Path

VERSION = 1
ALWAYS = 0xFFFFFFFF
NO_LIMIT = 0xFFFFFFFFFFFFFFFF
TABLE_SIZE, TABLE_SCALE = 4096, 8192
DISTRIBUTIONS = ("uniform", "normal", "pareto", "paretonormal")
"""The first needs no table; the others have those numbers in edt_tables, from 1."""
TABLES_AT = ("/usr/lib/tc", "/usr/lib/*/tc", "/lib/tc", "/usr/share/tc")
"""Where distributions put iproute2's tables, as patterns below the root."""

FQ_HANDLE = 0x0ED70000
"""Of the fq that holds packets until their time; `tc qdisc show` calls it ed7:."""
PRIORITY = 0xED7
"""Of the classifier, among others at its hook."""
KEY = struct.Struct("=16s16s")
ANY_SOURCE = bytes(16)
MAPPED = bytes(10) + b"\xff\xff"
"""What stands before an IPv4 address (RFC 4291, 2.5.5.2)."""
NUMBER = struct.Struct("=I")
ID = struct.Struct("=Q")


class Structure:
    """Fields of one structure, in order; "Q" has 64 bits, "I" 32."""

    def __init__(self, **fields: str) -> None:
        self.fields = fields
        self.layout = struct.Struct("=" + "".join(fields.values()))
        self.size = self.layout.size

    def pack(self, values: Mapping[str, int]) -> bytes:
        """The bytes; a field that is not given is 0."""
        return self.layout.pack(*(values.get(name, 0) for name in self.fields))

    def unpack(self, data: bytes) -> dict[str, int]:
        """The fields by their names."""
        return dict(zip(self.fields, self.layout.unpack(data), strict=True))

    def write(self, structures: bytearray, name: str, column: array[int]) -> None:
        """Write a field of as many structures as there are, which stand one after the other; column: of its letter."""
        words, place = self._words(structures, name)
        words[place] = column

    def read(self, structures: bytearray, name: str) -> list[int]:
        """A field of all structures that stand one after the other."""
        words, place = self._words(structures, name)
        return words[place].tolist()

    def _words(self, structures: bytearray, name: str) -> tuple[memoryview[int], slice]:
        """Memory as words of a field's size, and where among them that field is."""
        letter, before = self.fields[name], list(self.fields.values())[: list(self.fields).index(name)]
        size = struct.calcsize(f"={letter}")
        place = slice(struct.calcsize("=" + "".join(before)) // size, None, self.size // size)
        return memoryview(structures).cast("Q" if letter == "Q" else "I"), place


LINK = Structure(
    id="Q",
    rate_bit="Q",
    delay_ns="Q",
    jitter_ns="Q",
    queue_ns="Q",
    queue_bytes="Q",
    ecn_ns="Q",
    to_bad="I",
    to_good="I",
    loss_good="I",
    loss_bad="I",
    duplicate="I",
    reorder="I",
    corrupt="I",
    distribution="I",
    holds_socket="I",
    unused="I",
)
STATE = Structure(
    lock="I",
    is_bad="I",
    free_ns="Q",
    left="Q",
    packets="Q",
    bytes="Q",
    lost="Q",
    full="Q",
    marked="Q",
    duplicated="Q",
    reordered="Q",
    corrupted="Q",
    longest_ns="Q",
)
ABOUT = Structure(version="Q", next_id="Q", held_pkts="Q", untouched="Q", no_room="Q")
COUNTERS = ("packets", "bytes", "lost", "full", "marked", "duplicated", "reordered", "corrupted")
"""What of a state only ever grows."""


def address(text: str) -> bytes:
    """16 bytes of a key; "any" is zeros. ValueError if the text is no address of IPv4 or IPv6."""
    if text == "any":
        return ANY_SOURCE
    try:
        if ":" in text:
            return socket.inet_pton(socket.AF_INET6, text)
        return MAPPED + socket.inet_pton(socket.AF_INET, text)
    except OSError:
        raise ValueError(f"{text} is no address of IPv4 or IPv6") from None


def address_text(data: bytes) -> str:
    """The address of 16 bytes of a key."""
    if data == ANY_SOURCE:
        return "any"
    found = ipaddress.IPv6Address(data)
    return str(found.ipv4_mapped or found)


def key(source: str, target: str) -> bytes:
    """The key of a link from one address to another."""
    return KEY.pack(address(source), address(target))


def table(distribution: str, root: Path = Path("/")) -> bytes:
    """The table of a distribution, as iproute2 has it for netem.

    Raises:
        FileNotFoundError: it is in none of the places where distributions put it.
        ValueError: the file holds something else.
    """
    name = f"{distribution}.dist"
    found = next((file for place in TABLES_AT for file in sorted(root.glob(f"{place[1:]}/{name}"))), None)
    if found is None:
        raise FileNotFoundError(f"{name} is in none of {', '.join(TABLES_AT)}; install iproute2")
    lines = found.read_text(encoding="ascii").splitlines()
    values = [int(word) for line in lines if not line.startswith("#") for word in line.split()]
    if not values or TABLE_SIZE % len(values):
        raise ValueError(f"{found} has {len(values)} values; {TABLE_SIZE} are needed")
    return struct.pack(f"={TABLE_SIZE}h", *(value for value in values for _ in range(TABLE_SIZE // len(values))))
