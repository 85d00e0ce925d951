# SPDX-License-Identifier: BSD-3-Clause
"""Messages of netlink(7) as bytes ↔ Python: what all that talk to the kernel by it have in common.

Pure but for `connect`. What the messages ask for: rtnetlink(7), linux/pkt_sched.h, linux/genetlink.h, by whom they do.
"""

from __future__ import annotations

import socket
import struct
from collections.abc import Iterator

HEAD = struct.Struct("=IHHII")  # length, type, flags, sequence, port
TCMSG = struct.Struct("=BxxxiIII")  # family, interface, handle, parent, info
IFINFO = struct.Struct("=BxHiII")  # family, kind of device, interface, flags, which of them
ATTRIBUTE = struct.Struct("=HH")
NLMSG_ERROR, NLMSG_DONE = 2, 3
REQUEST, ACK, DUMP, EXCL, CREATE, REPLACE = 0x1, 0x4, 0x300, 0x200, 0x400, 0x100
ROOT, INGRESS, INGRESS_HANDLE = 0xFFFFFFFF, 0xFFFFFFF1, 0xFFFF0000
"""Parents of queueing disciplines, and the handle of the one for what comes in."""


def connect(protocol: int = socket.NETLINK_ROUTE) -> socket.socket:
    """A conversation with the network namespace that this thread is in, even after the thread has left it."""
    kernel = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, protocol)
    kernel.bind((0, 0))
    return kernel


def message(kind: int, flags: int, sequence: int, body: bytes) -> bytes:
    """A request, padded so that another may follow."""
    head = HEAD.pack(HEAD.size + len(body), kind, REQUEST | flags, sequence, 0)
    return head + body + b"\0" * (-len(body) % 4)


def messages(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Type and body of each message in what the kernel sent."""
    at = 0
    while at + HEAD.size <= len(data):
        size, kind, *_ = HEAD.unpack_from(data, at)
        yield kind, data[at + HEAD.size : at + size]
        at += (size + 3) & ~3


def error(body: bytes) -> int:
    """The errno(3) in the body of an NLMSG_ERROR or NLMSG_DONE; 0 where all is well."""
    return -int(struct.unpack_from("=i", body)[0]) if len(body) >= 4 else 0


def attribute(kind: int, data: bytes) -> bytes:
    """An attribute, padded."""
    return ATTRIBUTE.pack(ATTRIBUTE.size + len(data), kind) + data + b"\0" * (-len(data) % 4)


def text(kind: int, value: str) -> bytes:
    """An attribute of text."""
    return attribute(kind, value.encode() + b"\0")


def attributes(data: bytes) -> dict[int, bytes]:
    """The attributes in a row of them, by type; the last of a type."""
    found, at = {}, 0
    while at + ATTRIBUTE.size <= len(data):
        size, kind = ATTRIBUTE.unpack_from(data, at)
        if size < ATTRIBUTE.size:
            break
        found[kind & 0x3FFF] = data[at + ATTRIBUTE.size : at + size]
        at += (size + 3) & ~3
    return found


def handle_text(number: int) -> str:
    """Name of a discipline or class as tc(8) writes it: `1:` or `1:10`."""
    major, minor = number >> 16, number & 0xFFFF
    return f"{major:x}:" + (f"{minor:x}" if minor else "")
