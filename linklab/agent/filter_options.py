# SPDX-License-Identifier: BSD-3-Clause
"""Options of filters (linux/pkt_cls.h) as rtnetlink tells them → plain data, as `queue_options` does for disciplines.

Actions, policers, hash tables and keys that are not read are named in "unread".
"""

from __future__ import annotations

import socket
import struct
from collections.abc import Callable, Mapping

from linklab.agent.queue_options import Options
from linklab.agent.queue_options import u32 as number
from linklab.linux.netlink import attributes, handle_text

PROTOCOLS = {0x0003: "all", 0x0800: "ip", 0x0806: "arp", 0x8100: "802.1Q", 0x86DD: "ipv6"}
IP_PROTOCOLS = {1: "icmp", 6: "tcp", 17: "udp", 132: "sctp"}


def u32(raw: bytes, handle: int) -> Options | None:
    """A u32 filter's matches as "VALUE/MASK@OFFSET"; None for the hash table that tc makes for each priority."""
    data = attributes(raw)
    if not handle & 0xFFF:
        return None if handle >> 20 >= 0x800 else {"unread": ["hash table"]}
    flags, shift, count = data[5][:3]  # struct tc_u32_sel: 16 bytes, then keys of 16
    matches, unread = [], []
    for key in range(count):
        bits, value = struct.unpack_from(">II", data[5], 16 + 16 * key)
        offset, offset_mask = struct.unpack_from("=ii", data[5], 24 + 16 * key)
        matches.append(f"{value:08x}/{bits:08x}@{offset}")
        unread += ["nexthdr"] if offset_mask else []
    unread += ["link"] if 3 in data else []
    unread += ["offset"] if flags & ~1 or shift or any(data[5][12:16]) or handle >> 12 & 0xFF else []
    unread += _more(data, {1, 2, 5, 9, 10, 11, 12})
    unread += ["mark"] if 10 in data else []
    return _with(_classid(data, 1) | {"match": matches}, unread)


def matchall(raw: bytes, handle: int) -> Options:
    """Takes every packet."""
    data = attributes(raw)
    return _with(_classid(data, 1), _more(data, {1, 3, 4, 5}))


def fw(raw: bytes, handle: int) -> Options:
    """Takes packets with a mark."""
    data = attributes(raw)
    return _with({"mark": handle, **_classid(data, 1), "mask": number(data, 5)}, _more(data, {1, 5}))


def flower(raw: bytes, handle: int) -> Options:
    """Takes packets by fields of their headers."""
    data = attributes(raw)
    options: Options = _classid(data, 1)
    known = {1, 8, 9, 22, 86}  # class, ethernet type, protocol, flags, offload count
    for name, kind in (("src_ip", 10), ("dst_ip", 12)):
        if kind in data:
            mask = int.from_bytes(data[kind + 1], "big")
            options[name] = f"{socket.inet_ntoa(data[kind])}/{mask.bit_count()}"
            known |= {kind, kind + 1}
    for name, kind, mask_kind in (
        ("src_port", 18, 35),
        ("dst_port", 19, 36),
        ("src_port", 20, 37),
        ("dst_port", 21, 38),
    ):
        if kind in data and data.get(mask_kind, b"\xff\xff") == b"\xff\xff":
            options[name] = int.from_bytes(data[kind], "big")
            known |= {kind, mask_kind}
    if 9 in data:
        options["ip_proto"] = IP_PROTOCOLS.get(data[9][0], str(data[9][0]))
    return _with(options, _more(data, known))


def _classid(data: Mapping[int, bytes], kind: int) -> Options:
    return {"classid": handle_text(number(data, kind))} if kind in data else {}


def _more(data: Mapping[int, bytes], known: set[int]) -> list[str]:
    """Attributes that are none of those known: actions, policers, further keys."""
    return [f"attribute {kind}" for kind in sorted(set(data) - known) if any(data[kind])]


def _with(options: Options, unread: list[str]) -> Options:
    return {**options, **({"unread": unread} if unread else {})}


FILTERS: dict[str, Callable[[bytes, int], Options | None]] = {
    "u32": u32,
    "matchall": matchall,
    "fw": fw,
    "flower": flower,
}
