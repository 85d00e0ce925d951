# SPDX-License-Identifier: BSD-3-Clause
"""Links, addresses and routes by rtnetlink(7), without starting a program for each: for networks of many nodes.

A socket speaks of the network namespace in which it was made. Every request is acknowledged by the kernel; what it
refuses raises OSError with its reason.
"""

from __future__ import annotations

import ipaddress
import os
import socket
import struct

from linklab.linux.netlink import (
    ACK,
    CREATE,
    EXCL,
    IFINFO,
    NLMSG_ERROR,
    REPLACE,
    attribute,
    connect,
    error,
    message,
    messages,
    text,
)
from linklab.linux.route_attributes import (
    IFA_ADDRESS,
    IFA_BROADCAST,
    IFA_LOCAL,
    IFLA_ADDRESS,
    IFLA_IFNAME,
    IFLA_INFO_DATA,
    IFLA_INFO_KIND,
    IFLA_LINKINFO,
    IFLA_MASTER,
    IFLA_NET_NS_FD,
    RT_SCOPE_UNIVERSE,
    RT_TABLE_MAIN,
    RTA_GATEWAY,
    RTM_NEWADDR,
    RTM_NEWLINK,
    RTM_NEWROUTE,
    RTN_UNICAST,
    RTPROT_BOOT,
    VETH_INFO_PEER,
)

IFADDR = struct.Struct("=BBBBi")
RTMSG = struct.Struct("=BBBBBBBBI")
IFF_UP = 1
MOST = 32
"""Requests in one message to the kernel, whose answers then come together."""


class NamespaceLinks:
    """The links of one network namespace."""

    def __init__(self) -> None:
        self.socket = connect()
        self.sequence = 0
        self.waiting: list[tuple[bytes, str]] = []

    def close(self) -> None:
        """Let go of it."""
        self.socket.close()

    def add_veth(self, one: tuple[str, str, int | None], other: tuple[str, str, int | None]) -> None:
        """A pair of interfaces: name, hardware address, and namespace (an open file; None for this one) of each."""
        peer = attribute(IFLA_INFO_DATA, attribute(VETH_INFO_PEER, _interface(*other)))
        info = attribute(IFLA_LINKINFO, attribute(IFLA_INFO_KIND, b"veth") + peer)
        self._do(RTM_NEWLINK, CREATE | EXCL, _interface(*one) + info, f"adding the link {one[0]} - {other[0]}")

    def add_bridge(self, name: str) -> None:
        """A bridge, down."""
        info = attribute(IFLA_LINKINFO, attribute(IFLA_INFO_KIND, b"bridge"))
        body = IFINFO.pack(0, 0, 0, 0, 0) + text(IFLA_IFNAME, name) + info
        self._do(RTM_NEWLINK, CREATE | EXCL, body, f"adding the bridge {name}")

    def set_up(self, name: str, *, up: bool = True, master: str | None = None) -> None:
        """Bring an interface up (or down), and make it a port of a bridge."""
        body = IFINFO.pack(0, 0, socket.if_nametoindex(name), IFF_UP if up else 0, IFF_UP)
        if master is not None:
            body += attribute(IFLA_MASTER, struct.pack("=I", socket.if_nametoindex(master)))
        self._do(RTM_NEWLINK, 0, body, f"bringing {name} {'up' if up else 'down'}")

    def add_address(self, name: str, address: str) -> None:
        """An IPv4 address with its prefix, such as 10.0.0.1/8."""
        there = ipaddress.IPv4Interface(address)
        body = IFADDR.pack(socket.AF_INET, there.network.prefixlen, 0, 0, socket.if_nametoindex(name))
        body += attribute(IFA_LOCAL, there.ip.packed) + attribute(IFA_ADDRESS, there.ip.packed)
        body += attribute(IFA_BROADCAST, there.network.broadcast_address.packed)
        self._do(RTM_NEWADDR, CREATE | REPLACE, body, f"giving {name} the address {address}")

    def set_default_route(self, gateway: str) -> None:
        """The way to everywhere else."""
        body = RTMSG.pack(socket.AF_INET, 0, 0, 0, RT_TABLE_MAIN, RTPROT_BOOT, RT_SCOPE_UNIVERSE, RTN_UNICAST, 0)
        body += attribute(RTA_GATEWAY, ipaddress.IPv4Address(gateway).packed)
        self._do(RTM_NEWROUTE, CREATE | REPLACE, body, f"setting the default route via {gateway}")

    def _do(self, kind: int, flags: int, body: bytes, what: str) -> None:
        self.sequence += 1
        self.waiting.append((message(kind, ACK | flags, self.sequence, body), what))
        if len(self.waiting) >= MOST:
            self.flush()

    def flush(self) -> None:
        """Send what waits; OSError, naming it, for the first that is refused."""
        waiting, self.waiting = self.waiting, []
        if not waiting:
            return
        self.socket.send(b"".join(request for request, _ in waiting))
        refused: OSError | None = None
        answers = 0
        while answers < len(waiting):
            for kind, answer in messages(self.socket.recv(1 << 16)):
                if kind != NLMSG_ERROR:
                    continue
                if (number := error(answer)) and refused is None:
                    refused = OSError(number, f"{waiting[answers][1]}: {os.strerror(number)}")
                answers += 1
        if refused is not None:
            raise refused


def _interface(name: str, mac: str, namespace: int | None) -> bytes:
    found = IFINFO.pack(0, 0, 0, 0, 0) + text(IFLA_IFNAME, name) + attribute(IFLA_ADDRESS, _mac(mac))
    return found if namespace is None else found + attribute(IFLA_NET_NS_FD, struct.pack("=i", namespace))


def _mac(address: str) -> bytes:
    return bytes.fromhex(address.replace(":", ""))
