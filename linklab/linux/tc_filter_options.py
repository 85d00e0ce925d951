# SPDX-License-Identifier: BSD-3-Clause
"""Options of filters (linux/pkt_cls.h) as rtnetlink tells them → plain data, as `tc_options` does for disciplines.

Actions, policers, hash tables and keys that are not read are named in "unread".
"""

from __future__ import annotations

import socket
import struct
from collections.abc import Callable, Mapping

from linklab.linux import tc_attributes as attr
from linklab.linux.netlink import attributes, handle_text
from linklab.linux.tc_options import Options
from linklab.linux.tc_options import u32 as number

PROTOCOLS = {0x0003: "all", 0x0800: "ip", 0x0806: "arp", 0x8100: "802.1Q", 0x86DD: "ipv6"}
IP_PROTOCOLS = {1: "icmp", 6: "tcp", 17: "udp", 132: "sctp"}
_FLOWER_ADDRESSES = (
    ("src_ip", attr.TCA_FLOWER_KEY_IPV4_SRC, attr.TCA_FLOWER_KEY_IPV4_SRC_MASK),
    ("dst_ip", attr.TCA_FLOWER_KEY_IPV4_DST, attr.TCA_FLOWER_KEY_IPV4_DST_MASK),
)
_FLOWER_PORTS = (
    ("src_port", attr.TCA_FLOWER_KEY_TCP_SRC, attr.TCA_FLOWER_KEY_TCP_SRC_MASK),
    ("dst_port", attr.TCA_FLOWER_KEY_TCP_DST, attr.TCA_FLOWER_KEY_TCP_DST_MASK),
    ("src_port", attr.TCA_FLOWER_KEY_UDP_SRC, attr.TCA_FLOWER_KEY_UDP_SRC_MASK),
    ("dst_port", attr.TCA_FLOWER_KEY_UDP_DST, attr.TCA_FLOWER_KEY_UDP_DST_MASK),
)


def u32(raw: bytes, handle: int) -> Options | None:
    """A u32 filter's matches as "VALUE/MASK@OFFSET"; None for the hash table that tc makes for each priority."""
    data = attributes(raw)
    if not handle & 0xFFF:
        return None if handle >> 20 >= 0x800 else {"unread": ["hash table"]}
    flags, shift, count = data[attr.TCA_U32_SEL][:3]  # struct tc_u32_sel: 16 bytes, then keys of 16
    matches, unread = [], []
    for key in range(count):
        bits, value = struct.unpack_from(">II", data[attr.TCA_U32_SEL], 16 + 16 * key)
        offset, offset_mask = struct.unpack_from("=ii", data[attr.TCA_U32_SEL], 24 + 16 * key)
        matches.append(f"{value:08x}/{bits:08x}@{offset}")
        unread += ["nexthdr"] if offset_mask else []
    unread += ["link"] if attr.TCA_U32_LINK in data else []
    unread += ["offset"] if flags & ~1 or shift or any(data[attr.TCA_U32_SEL][12:16]) or handle >> 12 & 0xFF else []
    unread += _more(
        data,
        {
            attr.TCA_U32_CLASSID,
            attr.TCA_U32_HASH,
            attr.TCA_U32_SEL,
            attr.TCA_U32_PCNT,
            attr.TCA_U32_MARK,
            attr.TCA_U32_FLAGS,
            attr.TCA_U32_PAD,
        },
    )
    unread += ["mark"] if attr.TCA_U32_MARK in data else []
    return _with(_classid(data, attr.TCA_U32_CLASSID) | {"match": matches}, unread)


def matchall(raw: bytes, handle: int) -> Options:
    """Takes every packet."""
    data = attributes(raw)
    return _with(
        _classid(data, attr.TCA_MATCHALL_CLASSID),
        _more(
            data, {attr.TCA_MATCHALL_CLASSID, attr.TCA_MATCHALL_FLAGS, attr.TCA_MATCHALL_PCNT, attr.TCA_MATCHALL_PAD}
        ),
    )


def fw(raw: bytes, handle: int) -> Options:
    """Takes packets with a mark."""
    data = attributes(raw)
    return _with(
        {"mark": handle, **_classid(data, attr.TCA_FW_CLASSID), "mask": number(data, attr.TCA_FW_MASK)},
        _more(data, {attr.TCA_FW_CLASSID, attr.TCA_FW_MASK}),
    )


def flower(raw: bytes, handle: int) -> Options:
    """Takes packets by fields of their headers."""
    data = attributes(raw)
    options: Options = _classid(data, attr.TCA_FLOWER_CLASSID)
    known = {
        attr.TCA_FLOWER_CLASSID,
        attr.TCA_FLOWER_KEY_ETH_TYPE,
        attr.TCA_FLOWER_KEY_IP_PROTO,
        attr.TCA_FLOWER_FLAGS,
        attr.TCA_FLOWER_IN_HW_COUNT,
    }
    for name, kind, mask_kind in _FLOWER_ADDRESSES:
        if kind in data:
            mask = int.from_bytes(data[mask_kind], "big")
            options[name] = f"{socket.inet_ntoa(data[kind])}/{mask.bit_count()}"
            known |= {kind, mask_kind}
    for name, kind, mask_kind in _FLOWER_PORTS:
        if kind in data and data.get(mask_kind, b"\xff\xff") == b"\xff\xff":
            options[name] = int.from_bytes(data[kind], "big")
            known |= {kind, mask_kind}
    if attr.TCA_FLOWER_KEY_IP_PROTO in data:
        protocol = data[attr.TCA_FLOWER_KEY_IP_PROTO][0]
        options["ip_proto"] = IP_PROTOCOLS.get(protocol, str(protocol))
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
