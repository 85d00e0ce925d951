# SPDX-License-Identifier: BSD-3-Clause
"""Blocks of pcapng, the file format of captures: written, walked through, and read; nothing but bytes.

Little endian, times in nanoseconds. Written by `linklab.agent.capture` inside a network and by `linklab.capture`
outside of it. Specified by draft-ietf-opsawg-pcapng, sections 3.1 and 4.1 to 4.6. Standard library only.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass

SECTION, INTERFACE, STATISTICS, PACKET = 0x0A0D0D0A, 1, 5, 6
BYTE_ORDER = 0x1A2B3C4D
ETHERNET, RAW_IP = 1, 101
"""Link types, draft-ietf-opsawg-pcaplinktype."""
INBOUND, OUTBOUND = 1, 2
"""The direction of a packet, the two lowest bits of epb_flags (section 4.3.1)."""
NANOSECONDS = 9
HEAD = struct.Struct("<II")
LARGEST_BLOCK = 16 * 2**20
COMMENT, USER_PROGRAM = 1, 4
IF_NAME, IF_DESCRIPTION, IF_RESOLUTION, IF_FILTER = 2, 3, 9, 11
PACKET_FLAGS = 2
STARTED, ENDED, RECEIVED, DROPPED = 2, 3, 4, 5
_PACKET = struct.Struct("<IIIIIII")
_PACKET_HEAD_BYTES = _PACKET.size
_FLAGS_AND_END = struct.Struct("<HHIHHI")


@dataclass(frozen=True)
class CapturedPacket:
    """One packet: interface by its number in the file, time in ns, what was kept of it and how long it was.

    direction: INBOUND, OUTBOUND, or 0 where the file does not say.
    """

    interface: int
    time_ns: int
    data: bytes
    length: int
    direction: int = 0


def block(kind: int, body: bytes) -> bytes:
    """Return a block with its two lengths, its body padded to four bytes."""
    body += bytes(-len(body) % 4)
    size = struct.pack("<I", len(body) + 12)
    return struct.pack("<I", kind) + size + body + size


def _options(options: Sequence[tuple[int, bytes]]) -> bytes:
    """Return options and their end (section 3.5), or nothing where there are none."""
    if not options:
        return b""
    packed = [struct.pack("<HH", code, len(value)) + value + bytes(-len(value) % 4) for code, value in options]
    return b"".join(packed) + bytes(4)


def section(program: str, comment: str = "") -> bytes:
    """Return the block that begins a file: which program wrote it, and a comment."""
    options = [(COMMENT, comment.encode())] if comment else []
    options.append((USER_PROGRAM, program.encode()))
    return block(SECTION, struct.pack("<IHHq", BYTE_ORDER, 1, 0, -1) + _options(options))


def interface(name: str, *, link_type: int, snaplen: int, description: str = "", filtered: str = "") -> bytes:
    """Return the block that describes an interface; interfaces are numbered from 0 in the order of these blocks.

    filtered: the capture filter as it was typed.
    """
    options = [(IF_NAME, name.encode())]
    if description:
        options.append((IF_DESCRIPTION, description.encode()))
    options.append((IF_RESOLUTION, bytes([NANOSECONDS])))
    if filtered:
        options.append((IF_FILTER, b"\0" + filtered.encode()))
    return block(INTERFACE, struct.pack("<HHI", link_type, 0, snaplen) + _options(options))


def packet(number: int, time_ns: int, data: bytes, length: int, direction: int) -> bytes:
    """Return the block of a packet of interface `number`, of which `data` was kept; `length` is its real one."""
    padding = -len(data) % 4
    size = _PACKET_HEAD_BYTES + len(data) + padding + _FLAGS_AND_END.size
    # made in one piece, since a busy interface has a hundred thousand packets a second
    return b"".join(
        (
            _PACKET.pack(PACKET, size, number, time_ns >> 32, time_ns & 0xFFFFFFFF, len(data), length),
            data,
            bytes(padding),
            _FLAGS_AND_END.pack(PACKET_FLAGS, 4, direction, 0, 0, size),
        )
    )


def statistics(number: int, time_ns: int, *, started_ns: int, received: int, dropped: int) -> bytes:
    """Return the block that counts an interface's packets from the start to now; a later one replaces it.

    received: packets that passed the filter, those that were dropped among them. dropped: those for which there was
    no room because what reads the capture was too slow.
    """

    def time(value_ns: int) -> bytes:
        return struct.pack("<II", value_ns >> 32, value_ns & 0xFFFFFFFF)

    options = [
        (STARTED, time(started_ns)),
        (ENDED, time(time_ns)),
        (RECEIVED, struct.pack("<Q", received)),
        (DROPPED, struct.pack("<Q", dropped)),
    ]
    return block(STATISTICS, struct.pack("<I", number) + time(time_ns) + _options(options))


class BlockReader:
    """Bytes as they come → whole blocks, each as its kind and all its bytes."""

    def __init__(self) -> None:
        self._rest = b""

    def feed(self, data: bytes) -> list[tuple[int, bytes]]:
        """Return the blocks that `data` completes.

        Raises:
            ValueError: this is no pcapng in little endian.
        """
        held, at = self._rest + data, 0
        found = []
        while len(held) - at >= HEAD.size:
            kind, size = HEAD.unpack_from(held, at)
            if size < 12 or size % 4 or size > LARGEST_BLOCK:
                raise ValueError(f"a pcapng block of {size} bytes")
            if len(held) - at < size:
                break
            found.append((kind, held[at : at + size]))
            at += size
        self._rest = held[at:]
        return found


def read_packet(whole: bytes) -> CapturedPacket:
    """Read the block of a packet as `BlockReader` gives it; ValueError for one whose lengths do not fit."""
    if len(whole) < _PACKET_HEAD_BYTES + 4:
        raise ValueError(f"a packet's block of {len(whole)} bytes")
    _, _, number, high, low, kept, length = _PACKET.unpack_from(whole)
    if _PACKET_HEAD_BYTES + kept > len(whole) - 4:
        raise ValueError(f"a packet of {kept} bytes in a block of {len(whole)}")
    data = whole[_PACKET_HEAD_BYTES : _PACKET_HEAD_BYTES + kept]
    flags = read_options(whole, _PACKET_HEAD_BYTES + kept + -kept % 4).get(PACKET_FLAGS, bytes(4))
    return CapturedPacket(number, high << 32 | low, data, length, flags[0] & 3 if flags else 0)


def read_interface(whole: bytes) -> tuple[str, int]:
    """Return the name and the link type that an interface's block says."""
    name = read_options(whole, 16).get(IF_NAME, b"").decode(errors="replace")
    return name, int(struct.unpack_from("<H", whole, 8)[0])


def read_statistics(whole: bytes) -> tuple[int, int, int]:
    """Return interface, packets received and packets dropped of a statistics block; what it does not say is 0."""
    options = read_options(whole, 20)

    def count(code: int) -> int:
        return int.from_bytes(options.get(code, b""), "little")

    return int(struct.unpack_from("<I", whole, 8)[0]), count(RECEIVED), count(DROPPED)


def read_options(whole: bytes, at: int) -> dict[int, bytes]:
    """Return the options of a block that begin at byte `at`; of several with one code the last."""
    found: dict[int, bytes] = {}
    end = len(whole) - 4
    while at + 4 <= end:
        code, size = struct.unpack_from("<HH", whole, at)
        if code == 0:
            break
        found[code] = whole[at + 4 : min(at + 4 + size, end)]
        at += 4 + size + -size % 4
    return found
