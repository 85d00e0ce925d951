# SPDX-License-Identifier: BSD-3-Clause
"""A packet socket on one interface: every packet that passes it, with the kernel's time of each in nanoseconds.

Specified by packet(7), Documentation/networking/packet_mmap.rst (TPACKET_V2) and, for filters, filter.rst. A packet is
seen where it leaves its queueing discipline or comes in. The kernel copies it into a ring of memory at once and lets go
of it: a socket that is read would hold on to the packet's data, and TCP does not merge data that somebody else holds.
Made in the network namespace that the thread is in, and stays there. Standard library only.
"""

from __future__ import annotations

import ctypes
import errno
import fcntl
import mmap
import os
import socket
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

SOL_PACKET, PACKET_RX_RING, PACKET_STATISTICS, PACKET_VERSION = 263, 5, 6, 10
TPACKET_V2, SO_ATTACH_FILTER = 1, 26
ETH_P_ALL = 3
SIOCGIFFLAGS, SIOCGIFHWADDR = 0x8913, 0x8927
IFF_UP = 1
OUTGOING = socket.PACKET_OUTGOING
VLAN_VALID, VLAN_TPID_VALID = 0x10, 0x40
"""TP_STATUS_VLAN_VALID and TP_STATUS_VLAN_TPID_VALID of linux/if_packet.h."""
ETH_P_8021Q = 0x8100
LOOPBACK = 772
ETHERNET_KINDS, IP_KINDS = (1, LOOPBACK), (65534, 768, 769, 776, 778)
"""Kinds of interface, net/if_arp.h: Ethernet and loopback; tun, and tunnels of IP, whose packets begin with IP."""
HEADER = struct.Struct("=IIIHHIIHH")
"""struct tpacket2_hdr: status, length, bytes kept, offsets of frame and packet, time in s and ns, VLAN tag and type."""
STATUS = struct.Struct("=I")
TO_KERNEL, TO_USER = 0, 1
DIRECTION_AT = 32 + 10
"""Where the kind of a packet stands in its slot: sll_pkttype of the struct sockaddr_ll behind the header."""
SLOT_BYTES = 96
"""What a slot holds before the packet, at most."""
LARGEST_PACKET = 65_600
"""A bundle of TCP segments, with its Ethernet header and tags."""
INSTRUCTION = struct.Struct("=HBBI")
RING_BYTES = 32 * 2**20
FEWEST_SLOTS, MOST_SLOTS = 64, 8192
RETURN = 6
"""BPF_RET | BPF_K: how many bytes of the packet to keep."""
MOST_INSTRUCTIONS = 4096
ADDRESSES_BYTES = 12

Program = Sequence[Sequence[int]]
"""Instructions: code, jt, jf, k of struct sock_filter."""


class UnknownKindError(OSError):
    """An interface whose packets begin with something else than Ethernet or IP."""


@dataclass(frozen=True)
class SeenPacket:
    """A packet: when (ns of the kernel's real-time clock), what was kept, its length, whether it was going out."""

    time_ns: int
    data: bytes
    length: int
    outgoing: bool


class PacketSocket:
    """Receives what passes an interface, without waiting.

    Args:
        interface: its name, in this namespace.
        snaplen: bytes to keep of each packet.
        programs: filters as classic BPF programs, "ethernet" and "ip" by what packets of an interface begin with; a
            packet for which the program gives 0 is left out.

    Raises:
        OSError: there is no such interface, or we may not.
        UnknownKindError: its packets begin with neither Ethernet nor IP.
    """

    def __init__(
        self,
        interface: str,
        snaplen: int,
        programs: Mapping[str, Program | None] | None = None,
        *,
        ring_bytes: int = RING_BYTES,
    ) -> None:
        self.index = socket.if_nametoindex(interface)
        self.snaplen = min(snaplen, LARGEST_PACKET)
        # bound to no protocol at first, so that nothing comes before filter and ring are there
        self.socket = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
        try:
            kind = kind_of(interface)
            if kind not in (*ETHERNET_KINDS, *IP_KINDS):
                raise UnknownKindError(errno.EPFNOSUPPORT, f"{interface} is of kind {kind}, neither Ethernet nor IP")
            program: Program | None = [(RETURN, 0, 0, self.snaplen)]
            if programs:
                program = programs.get("ethernet" if kind in ETHERNET_KINDS else "ip")
            if program is None:
                raise UnknownKindError(errno.EPFNOSUPPORT, f"the filter does not fit packets of {interface}")
            attach(self.socket, program)
            self._ring = Ring(self.socket, self.snaplen, ring_bytes)
            self.socket.bind((interface, ETH_P_ALL))
        except OSError:
            self.socket.close()
            raise
        self.has_ethernet, self._is_loopback = kind in ETHERNET_KINDS, kind == LOOPBACK

    def fileno(self) -> int:
        """Return its descriptor, for a selector."""
        return self.socket.fileno()

    def receive(self) -> SeenPacket | None:
        """Return the next packet, None where none waits.

        Raises:
            OSError: the interface went down (ENETDOWN); once it is up again packets come again.
        """
        while (slot := self._ring.filled()) is not None:
            packet = self._read(slot)
            self._ring.give_back()
            if not (packet.outgoing and self._is_loopback):  # there what goes out comes in at once, and is shown once
                return packet
        if number := self.socket.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR):
            raise OSError(number, os.strerror(number))
        return None

    def _read(self, at: int) -> SeenPacket:
        """Make a packet of a slot."""
        memory = self._ring.memory
        status, length, size, frame, _, seconds, rest, tag, protocol = HEADER.unpack_from(memory, at)
        size = min(size, self.snaplen)
        kept = memory[at + frame : at + frame + size]
        if status & VLAN_VALID and self.has_ethernet:  # the kernel has taken the tag out
            put_back = struct.pack(">HH", protocol if status & VLAN_TPID_VALID else ETH_P_8021Q, tag)
            kept = (kept[:ADDRESSES_BYTES] + put_back + kept[ADDRESSES_BYTES:])[: self.snaplen]
            length += len(put_back)
        return SeenPacket(seconds * 1_000_000_000 + rest, kept, length, memory[at + DIRECTION_AT] == OUTGOING)

    def dropped(self) -> int:
        """Return how many packets found no room since the last call."""
        return int(struct.unpack("II", self.socket.getsockopt(SOL_PACKET, PACKET_STATISTICS, 8))[1])

    def close(self) -> None:
        """Give it back."""
        self._ring.memory.close()
        self.socket.close()


class Ring:
    """Slots of memory that the kernel fills one after the other, and we empty.

    Args:
        to: the socket.
        snaplen: bytes of a packet that a slot has room for.
        size: bytes of all slots, about.
    """

    def __init__(self, to: socket.socket, snaplen: int, size: int) -> None:
        self.slot_bytes = -(-(snaplen + SLOT_BYTES) // 16) * 16
        block_bytes = -(-max(self.slot_bytes, mmap.PAGESIZE * 16) // mmap.PAGESIZE) * mmap.PAGESIZE
        self.in_block, self.block_bytes = block_bytes // self.slot_bytes, block_bytes
        wanted = min(max(size // self.slot_bytes, FEWEST_SLOTS), MOST_SLOTS)
        blocks = -(-wanted // self.in_block)
        self.count = blocks * self.in_block
        to.setsockopt(SOL_PACKET, PACKET_VERSION, TPACKET_V2)
        request = struct.pack("IIII", block_bytes, blocks, self.slot_bytes, self.count)
        to.setsockopt(SOL_PACKET, PACKET_RX_RING, request)
        self.memory = mmap.mmap(to.fileno(), blocks * block_bytes)
        self._next = 0

    def _at(self) -> int:
        block, inside = divmod(self._next, self.in_block)
        return block * self.block_bytes + inside * self.slot_bytes

    def filled(self) -> int | None:
        """Return where the next slot begins; None while the kernel has not filled it."""
        at = self._at()
        return at if STATUS.unpack_from(self.memory, at)[0] & TO_USER else None

    def give_back(self) -> None:
        """Let the kernel have this slot again, and go to the next."""
        STATUS.pack_into(self.memory, self._at(), TO_KERNEL)
        self._next = (self._next + 1) % self.count


def kind_of(interface: str) -> int:
    """Return the kind of an interface (net/if_arp.h)."""
    return _asked(interface, SIOCGIFHWADDR)


def flags_of(interface: str) -> int:
    """Return the flags of an interface, IFF_UP among them."""
    return _asked(interface, SIOCGIFFLAGS)


def _asked(interface: str, what: int) -> int:
    """Return the first number of what netdevice(7) answers; OSError where there is no such interface."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asking:
        answer = fcntl.ioctl(asking, what, interface.encode().ljust(40, b"\0"))
    return int(struct.unpack_from("H", answer, 16)[0])


def attach(to: socket.socket, program: Program) -> None:
    """Attach a classic BPF program to a socket; OSError where the kernel does not take it."""
    if len(program) > MOST_INSTRUCTIONS:
        raise OSError(errno.E2BIG, f"a filter of {len(program)} instructions; the kernel takes {MOST_INSTRUCTIONS}")
    packed = b"".join(INSTRUCTION.pack(*instruction) for instruction in program)
    held = ctypes.create_string_buffer(packed, len(packed))
    to.setsockopt(socket.SOL_SOCKET, SO_ATTACH_FILTER, struct.pack("HL", len(program), ctypes.addressof(held)))
