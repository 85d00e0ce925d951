# SPDX-License-Identifier: BSD-3-Clause
"""What a packet is, in a line and header by header, without a program that would have to be installed.

Ethernet (IEEE 802.3), VLAN tags (802.1Q), ARP (RFC 826), IPv4 (RFC 791), IPv6 (RFC 8200), ICMP (RFC 792, RFC 4443),
TCP (RFC 9293) and UDP (RFC 768); the rest is bytes. Cut packets are read as far as they go. Pure.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import dataclass, field
from ipaddress import IPv4Address, IPv6Address

from linklab.linux.pcapng import ETHERNET

Field = tuple[str, str]
ETHER_TYPES = {0x0800: "IPv4", 0x0806: "ARP", 0x86DD: "IPv6", 0x8100: "VLAN", 0x88A8: "VLAN", 0x88CC: "LLDP"}
IP_PROTOCOLS = {1: "ICMP", 6: "TCP", 17: "UDP", 58: "ICMPv6", 2: "IGMP", 89: "OSPF", 132: "SCTP", 47: "GRE"}
ICMP_TYPES = {0: "echo reply", 3: "destination unreachable", 5: "redirect", 8: "echo request", 11: "time exceeded"}
ICMP6_TYPES = {
    1: "destination unreachable",
    2: "packet too big",
    3: "time exceeded",
    128: "echo request",
    129: "echo reply",
    133: "router solicitation",
    134: "router advertisement",
    135: "neighbour solicitation",
    136: "neighbour advertisement",
    143: "multicast listener report",
}
TCP_FLAGS = ("FIN", "SYN", "RST", "PSH", "ACK", "URG", "ECE", "CWR")
ECN = ("Not-ECT", "ECT(1)", "ECT(0)", "CE")
TCP_OPTIONS = {2: "MSS", 3: "window scale", 4: "SACK permitted", 5: "SACK", 8: "timestamps", 34: "fast open"}


@dataclass
class Header:
    """One header: its name and its fields as they are shown."""

    name: str
    fields: list[Field] = field(default_factory=list)


@dataclass
class Decoded:
    """A packet in words.

    protocol: the innermost that is known, such as "TCP". source, target: addresses, of the innermost that has any.
    info: the rest of its line. same: what does not change on a packet's way through switches and routers, so that it is
    known again at another interface.
    """

    protocol: str = "?"
    source: str = ""
    target: str = ""
    info: str = ""
    same: bytes = b""
    headers: list[Header] = field(default_factory=list)


def decode(data: bytes, length: int, link_type: int = ETHERNET) -> Decoded:
    """Say what a packet of `length` bytes is, of which `data` was kept."""
    found = Decoded(info=f"{length} bytes", same=data)
    try:
        if link_type == ETHERNET:
            _ethernet(data, found)
        elif data:
            _network(0x0800 if data[0] >> 4 == 4 else 0x86DD, data, found)
    except (struct.error, IndexError, ValueError):  # cut, or not what its type says
        found.info = f"{found.info} (cut)".strip()
    return found


def _mac(data: bytes) -> str:
    return data.hex(":")


def _ethernet(data: bytes, found: Decoded) -> None:
    found.protocol = "Ethernet"
    found.target, found.source = _mac(data[:6]), _mac(data[6:12])
    (kind,) = struct.unpack_from(">H", data, 12)
    shown = [("Destination", found.target), ("Source", found.source), ("Type", _named(kind, ETHER_TYPES))]
    found.headers.append(Header("Ethernet", shown))
    at = 14
    while kind in (0x8100, 0x88A8):
        tag, kind = struct.unpack_from(">HH", data, at)
        tagged = [("VLAN", str(tag & 0xFFF)), ("Priority", str(tag >> 13)), ("Type", _named(kind, ETHER_TYPES))]
        found.headers.append(Header("802.1Q", tagged))
        at += 4
    if kind < 0x0600:  # a length: 802.2, as the spanning tree has it
        found.protocol, found.info = ("STP", "spanning tree") if data[at : at + 2] == b"\x42\x42" else ("LLC", "")
        return
    _network(kind, data[at:], found)


def _named(value: int, names: dict[int, str], *, digits: int = 4) -> str:
    return f"{names[value]} (0x{value:0{digits}x})" if value in names else f"0x{value:0{digits}x}"


def _network(kind: int, data: bytes, found: Decoded) -> None:
    readers: dict[int, Callable[[bytes, Decoded], None]] = {0x0800: _ipv4, 0x0806: _arp, 0x86DD: _ipv6}
    if kind in readers:
        readers[kind](data, found)
    else:
        found.protocol = ETHER_TYPES.get(kind, f"0x{kind:04x}")


def _arp(data: bytes, found: Decoded) -> None:
    found.protocol = "ARP"
    _, _, _, _, operation = struct.unpack_from(">HHBBH", data)
    sender, target = str(IPv4Address(data[14:18])), str(IPv4Address(data[24:28]))
    found.info = f"who has {target}? tell {sender}" if operation == 1 else f"{sender} is at {_mac(data[8:14])}"
    fields = [
        ("Operation", {1: "request (1)", 2: "reply (2)"}.get(operation, str(operation))),
        ("Sender", f"{sender}, {_mac(data[8:14])}"),
        ("Target", f"{target}, {_mac(data[18:24])}"),
    ]
    found.headers.append(Header("ARP", fields))


def _ipv4(data: bytes, found: Decoded) -> None:
    first, tos, total, number, flags, ttl, protocol, checksum = struct.unpack_from(">BBHHHBBH", data)
    found.protocol = "IPv4"
    found.source, found.target = str(IPv4Address(data[12:16])), str(IPv4Address(data[16:20]))
    words = [name for bit, name in ((0x4000, "DF"), (0x2000, "MF")) if flags & bit]
    fields = [
        ("Source", found.source),
        ("Destination", found.target),
        ("Total length", f"{total} bytes"),
        ("Identification", f"0x{number:04x}"),
        ("Flags", ", ".join(words) or "none"),
        ("Fragment offset", f"{(flags & 0x1FFF) * 8} bytes"),
        ("TTL", str(ttl)),
        ("Protocol", f"{IP_PROTOCOLS.get(protocol, '?')} ({protocol})"),
        ("DSCP", str(tos >> 2)),
        ("ECN", ECN[tos & 3]),
        ("Header checksum", f"0x{checksum:04x}"),
    ]
    found.headers.append(Header("IPv4", fields))
    size = (first & 15) * 4
    rest = data[size : total if total else None]
    found.same = struct.pack(">HHB", number, flags & 0x1FFF, protocol) + data[12:20] + rest[:64]
    if flags & 0x1FFF:
        found.info = f"fragment at {(flags & 0x1FFF) * 8}"
        return
    _transport(protocol, rest, found, total - size)
    if tos & 3 == 3:
        found.info += ", CE"


def _ipv6(data: bytes, found: Decoded) -> None:
    first, payload, following, hops = struct.unpack_from(">IHBB", data)
    found.protocol = "IPv6"
    found.source, found.target = str(IPv6Address(data[8:24])), str(IPv6Address(data[24:40]))
    fields = [
        ("Source", found.source),
        ("Destination", found.target),
        ("Payload length", f"{payload} bytes"),
        ("Next header", f"{IP_PROTOCOLS.get(following, '?')} ({following})"),
        ("Hop limit", str(hops)),
        ("DSCP", str(first >> 22 & 63)),
        ("ECN", ECN[first >> 20 & 3]),
        ("Flow label", f"0x{first & 0xFFFFF:05x}"),
    ]
    found.headers.append(Header("IPv6", fields))
    at = 40
    while following in (0, 43, 60):  # hop-by-hop, routing, destination options
        following, size = data[at], (data[at + 1] + 1) * 8
        at, payload = at + size, payload - size
    found.same = bytes([following]) + data[8:40] + data[at : at + 64]
    _transport(following, data[at:], found, payload)


def _transport(protocol: int, data: bytes, found: Decoded, size: int) -> None:
    found.protocol = IP_PROTOCOLS.get(protocol, f"IP {protocol}")
    found.info = f"{size} bytes"
    if protocol == 6:
        _tcp(data, found, size)
    elif protocol == 17:
        _udp(data, found)
    elif protocol in (1, 58):
        _icmp(data, found, ICMP_TYPES if protocol == 1 else ICMP6_TYPES)


def _tcp(data: bytes, found: Decoded, size: int) -> None:
    source, target, sequence, acknowledged, bits, window, checksum, urgent = struct.unpack_from(">HHIIHHHH", data)
    offset = (bits >> 12) * 4
    names = [name for i, name in enumerate(TCP_FLAGS) if bits >> i & 1]
    carried = max(size - offset, 0)
    fields = [
        ("Source port", str(source)),
        ("Destination port", str(target)),
        ("Sequence number", str(sequence)),
        ("Acknowledgement number", str(acknowledged)),
        ("Flags", ", ".join(names) or "none"),
        ("Window", f"{window} (before scaling)"),
        ("Header length", f"{offset} bytes"),
        ("Data", f"{carried} bytes"),
        ("Checksum", f"0x{checksum:04x}"),
        *([("Urgent pointer", str(urgent))] if urgent else []),
        *(("Option", each) for each in _tcp_options(data[20:offset])),
    ]
    found.headers.append(Header("TCP", fields))
    found.source, found.target = f"{_bracketed(found.source)}:{source}", f"{_bracketed(found.target)}:{target}"
    found.info = f"{' '.join(names)} seq {sequence}, ack {acknowledged}, {carried} bytes"


def _bracketed(address: str) -> str:
    return f"[{address}]" if ":" in address else address


def _tcp_options(data: bytes) -> list[str]:
    shown, at = [], 0
    while at < len(data) and data[at]:
        if data[at] == 1:  # no operation
            at += 1
            continue
        kind, size = data[at], data[at + 1]
        if size < 2:
            break
        value = data[at + 2 : at + size]
        numbers = {2: ">H", 3: ">B", 8: ">II"}.get(kind)
        said = ", ".join(map(str, struct.unpack(numbers, value))) if numbers else value.hex()
        if kind == 5:
            edges = struct.unpack(f">{len(value) // 4}I", value)
            said = ", ".join(f"{left}-{right}" for left, right in zip(edges[::2], edges[1::2], strict=True))
        shown.append(f"{TCP_OPTIONS.get(kind, kind)} {said}".strip())
        at += size
    return shown


def _udp(data: bytes, found: Decoded) -> None:
    source, target, size, checksum = struct.unpack_from(">HHHH", data)
    fields = [
        ("Source port", str(source)),
        ("Destination port", str(target)),
        ("Length", f"{size} bytes"),
        ("Checksum", f"0x{checksum:04x}"),
    ]
    found.headers.append(Header("UDP", fields))
    found.source, found.target = f"{_bracketed(found.source)}:{source}", f"{_bracketed(found.target)}:{target}"
    found.info = f"{max(size - 8, 0)} bytes"


def _icmp(data: bytes, found: Decoded, types: dict[int, str]) -> None:
    kind, code, checksum = struct.unpack_from(">BBH", data)
    name = types.get(kind, f"type {kind}")
    fields = [("Type", f"{name} ({kind})"), ("Code", str(code)), ("Checksum", f"0x{checksum:04x}")]
    found.info = name
    if "echo" in name:
        number, sequence = struct.unpack_from(">HH", data, 4)
        fields += [("Identifier", str(number)), ("Sequence number", str(sequence))]
        found.info = f"{name}, id {number}, seq {sequence}"
    found.headers.append(Header(found.protocol, fields))
