# SPDX-License-Identifier: BSD-3-Clause
"""What stands where in the network that runs: namespaces, interfaces, which link joins which two, addresses.

Asks the kernel over rtnetlink(7), in the namespace of each node that Mininet keeps a shell on; starts no process.
"""

from __future__ import annotations

import contextlib
import re
import socket
import struct
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from ipaddress import ip_address
from pathlib import Path

from linklab.agent.namespace_state import Netlink
from linklab.agent.trial_nodes import Nodes, NodeSpace
from linklab.agent.trial_plan import CLIENT
from linklab.linux import route_attributes as attr
from linklab.linux.netlink import NLMSG_ERROR, attribute, attributes, error, message, messages

FORWARDING = "3"
"""BR_STATE_FORWARDING of include/uapi/linux/if_bridge.h."""
GLOBAL = 0
"""RT_SCOPE_UNIVERSE: of addresses, those that other nodes can use."""
NONE = -1
"""NETNSA_NSID_NOT_ASSIGNED of include/uapi/linux/net_namespace.h."""
FAMILIES = {4: socket.AF_INET, 6: socket.AF_INET6}


class WayError(Exception):
    """There is no such node or no way; the sentence says why."""


@dataclass(frozen=True)
class MapInterface:
    """An interface of a node.

    space: the network namespace that it is in. link: the index of its other end, or of what it stands upon.
    other: how its namespace calls that of the other end; NONE where both are in the same.
    """

    node: str
    name: str
    space: int
    index: int
    link: int
    other: int
    kind: str
    master: str
    is_up: bool

    @property
    def place(self) -> tuple[str, str]:
        """Node and name, as a plan wants it."""
        return self.node, self.name


@dataclass
class MapSpace:
    """A network namespace, by the node that leads there."""

    node: NodeSpace
    interfaces: dict[int, MapInterface] = field(default_factory=dict)
    addresses: list[tuple[int, str]] = field(default_factory=list)
    """Index of the interface, and an address that others can use; in the kernel's order."""
    forwards: bool = False


class Map:
    """What stands where in the network that runs."""

    def __init__(self) -> None:
        self.nodes = Nodes()
        self.at_root = {name for name, node in self.nodes.found.items() if not node.apart}
        self.spaces: dict[int, MapSpace] = {}
        self.space_of: dict[str, int] = {}
        for name, node in self.nodes.found.items():
            number = Path(node.network).stat().st_ino
            self.space_of[name] = number
            if number not in self.spaces:
                self.spaces[number] = node.inside(lambda number=number, node=node: self._read(number, node))  # type: ignore[misc]
        self.ends: dict[tuple[int, int], list[MapInterface]] = {}
        for space in self.spaces.values():
            for one in space.interfaces.values():
                self.ends.setdefault((one.index, one.link), []).append(one)

    # --- what the kernel says

    def _read(self, number: int, node: NodeSpace) -> MapSpace:
        """The namespace that this thread is in."""
        space = MapSpace(node)
        with contextlib.closing(Netlink()) as netlink:
            links = list(netlink.dump(attr.RTM_GETLINK, struct.pack("=BxHiII", 0, 0, 0, 0, 0)))
            names = {_index(body): _text(attributes(body[16:])[attr.IFLA_IFNAME]) for body in links}
            for body in links:
                one = self._interface(body, names, number, node)
                space.interfaces[one.index] = one
            for body in netlink.dump(attr.RTM_GETADDR, struct.pack("=BBBBi", 0, 0, 0, 0, 0)):
                _, _, _, scope, index = struct.unpack_from("=BBBBi", body)
                data = attributes(body[8:])
                raw = data.get(attr.IFA_LOCAL, data.get(attr.IFA_ADDRESS, b""))
                if scope == GLOBAL and len(raw) in (4, 16):
                    space.addresses.append((index, str(ip_address(raw))))
        with contextlib.suppress(OSError):
            space.forwards = Path("/proc/sys/net/ipv4/ip_forward").read_text(encoding="ascii").strip() != "0"
        return space

    def _interface(self, body: bytes, names: Mapping[int, str], number: int, node: NodeSpace) -> MapInterface:
        (flags,) = struct.unpack_from("=I", body, 8)
        data = attributes(body[16:])
        name = _text(data[attr.IFLA_IFNAME])
        master = names.get(_number(data[attr.IFLA_MASTER]), "") if attr.IFLA_MASTER in data else ""
        return MapInterface(
            node=self._owner(name, master) if not node.apart else node.name,
            name=name,
            space=number,
            index=_index(body),
            link=_number(data.get(attr.IFLA_LINK, bytes(4))),
            other=_signed(data[attr.IFLA_LINK_NETNSID]) if attr.IFLA_LINK_NETNSID in data else NONE,
            kind=_text(attributes(data.get(attr.IFLA_LINKINFO, b"")).get(attr.IFLA_INFO_KIND, b"")),
            master=master,
            is_up=bool(flags & 1),
        )

    def _owner(self, name: str, master: str) -> str:
        """The node of the root namespace that an interface belongs to: its bridge, or the one it is named after.

        All ports of Open vSwitch's bridges have one master, so the name decides for them.
        """
        if master in self.at_root:
            return master
        named = re.match(r"(.+)-eth\d+(?:[.@].*)?\Z", name)
        return named[1] if named and named[1] in self.at_root else name if name in self.at_root else CLIENT

    def route(self, node: str, address: str) -> tuple[MapInterface, str, str]:
        """The interface by which a node sends to an address, whom it sends to next, and from which address."""
        version = ip_address(address).version
        raw = ip_address(address).packed
        body = struct.pack("=8BI", FAMILIES[version], len(raw) * 8, *[0] * 6, 0) + attribute(attr.RTA_DST, raw)

        def ask() -> dict[int, bytes]:
            with contextlib.closing(Netlink()) as netlink:
                netlink.socket.send(message(attr.RTM_GETROUTE, 0, 1, body))
                for kind, answer in messages(netlink.socket.recv(1 << 16)):
                    if kind == NLMSG_ERROR and error(answer):
                        return {}
                    return attributes(answer[12:])
            return {}

        data = self.nodes[node].inside(ask)
        space = self.spaces[self.space_of[node]]
        out = space.interfaces.get(_number(data.get(attr.RTA_OIF, bytes(4))))
        if out is None:
            raise WayError(f"{node} has no route to {address}; set its address or its routes")
        source = str(ip_address(data[attr.RTA_PREFSRC])) if attr.RTA_PREFSRC in data else ""
        return out, str(ip_address(data[attr.RTA_GATEWAY])) if attr.RTA_GATEWAY in data else address, source

    # --- links

    def other_end(self, one: MapInterface) -> MapInterface | None:
        """The other end of a pair of veth; where several could be it, the kernel is asked for their namespaces."""
        candidates = [
            end
            for end in self.ends.get((one.link, one.index), ())
            if end.kind == one.kind and (end.space == one.space) == (one.other == NONE)
        ]
        if len(candidates) > 1:
            candidates = [end for end in candidates if self._called(one, end) == one.other]
        return candidates[0] if candidates else None

    def _called(self, one: MapInterface, end: MapInterface) -> int:
        """How the namespace of an interface calls that of another."""
        theirs = self.spaces[end.space].node.network

        def ask() -> int:
            with contextlib.closing(Netlink()) as netlink, Path(theirs).open("rb") as file:
                body = struct.pack("=Bxxx", 0) + attribute(attr.NETNSA_FD, struct.pack("=I", file.fileno()))
                netlink.socket.send(message(attr.RTM_GETNSID, 0, 1, body))
                for kind, answer in messages(netlink.socket.recv(1 << 16)):
                    if kind != NLMSG_ERROR:
                        return _signed(attributes(answer[4:]).get(attr.NETNSA_NSID, b"\xff" * 4))
            return NONE

        return self.spaces[one.space].node.inside(ask)

    def ground(self, one: MapInterface) -> MapInterface:
        """What an interface such as a VLAN stands upon; itself where it is a link of its own."""
        below = self.spaces[one.space].interfaces.get(one.link)
        return self.ground(below) if one.kind in ("vlan", "macvlan") and below not in (None, one) else one

    def onward(self, one: MapInterface) -> Iterator[MapInterface]:
        """The ports by which a switch passes on what comes in at one of its ports; empty for other nodes."""
        if not one.master or not _forwards(one):
            return
        for port in self.spaces[one.space].interfaces.values():
            if port != one and port.node == one.node and port.master == one.master and port.is_up and _forwards(port):
                yield port


def _forwards(port: MapInterface) -> bool:
    """Whether a port of a bridge passes frames on; of Open vSwitch's ports that is not seen here."""
    try:
        return Path(f"/sys/class/net/{port.name}/brport/state").read_text(encoding="ascii").strip() == FORWARDING
    except OSError:
        return True


def _index(body: bytes) -> int:
    return int(struct.unpack_from("=i", body, 4)[0])


def _number(data: bytes) -> int:
    return int.from_bytes(data[:4], sys.byteorder)


def _signed(data: bytes) -> int:
    return int.from_bytes(data[:4], sys.byteorder, signed=True)


def _text(data: bytes) -> str:
    return data.rstrip(b"\0").decode("utf-8", "replace")
