# SPDX-License-Identifier: BSD-3-Clause
"""What live plots read of one network namespace: counters of its ports, their queues and disciplines, its TCP sockets.

A namespace in which no packet moves costs one dump of counters. The rest is read when a counter has changed, while
something waits in a queue, and at every thorough reading. Sources: rtnetlink(7), linux/if_link.h, sock_diag(7).
`live_readings` says what the numbers are called.
"""

from __future__ import annotations

import contextlib
import ipaddress
import struct
import sys
from collections.abc import Callable, Iterator
from typing import Any

from linklab.agent import sampler
from linklab.agent.namespace_state import FALLBACK
from linklab.agent.ping_tap import PingTap, RoundTrip
from linklab.linux import netlink, tc_options
from linklab.linux import route_attributes as attr
from linklab.linux.sock_diag import FIELDS, SocketReader
from linklab.linux.tc_attributes import TCA_KIND, TCA_OPTIONS

RTM_NEWSTATS, RTM_GETSTATS, IFLA_STATS_LINK_64 = 92, 94, 1
STATS_HEAD = struct.Struct("=BxxxII")  # struct if_stats_msg: family, interface, which statistics
FOUR_COUNTERS = struct.Struct("=4Q")  # struct rtnl_link_stats64: packets received and sent, bytes received and sent
IFF_UP, IFF_LOWER_UP = 0x1, 0x10000
NOT_QUEUES = ("netem", "noqueue", "ingress", "clsact", "mq")
"""netem's packets are in flight on the link that it plays; the others hold none."""
MARKS = ("marked", "ecn_mark", "ce_mark", "prob_mark", "forced_mark", "prob_mark_head", "forced_mark_head")
SOCKET_FIELDS = (
    *("state", "algorithm", "cwnd", "ssthresh", "rtt_ms", "min_rtt_ms", "pacing_bps", "delivery_bps", "bytes_sent"),
    *("bytes_acked", "bytes_received", "retransmits", "unacked", "mss"),
)
_PLACES = tuple(FIELDS.index(name) for name in SOCKET_FIELDS)
_SENT, _RECEIVED = FIELDS.index("bytes_sent"), FIELDS.index("bytes_received")
MOST_SOCKETS = 500
"""Of a namespace, those with the most bytes."""


class LiveSpace:
    """Made within a namespace; it reads from wherever we are.

    named: what a port is called for an interface of that name, None if it is not to be read.
    """

    def __init__(self, node: str, named: Callable[[str], str | None]) -> None:
        self.node, self.named = node, named
        self.routes = _Dumps()
        self.reader = SocketReader()
        self.tap = None
        with contextlib.suppress(OSError):
            self.tap = PingTap()
        self.ports: dict[int, tuple[str, int]] = {}
        self._counters: list[bytes] = []
        self._queues: dict[int, list[bytes]] = {}
        self._described: dict[str, Any] = {}
        self._addresses: list[str] = []
        self._sockets: dict[str, list[Any]] = {}
        self.moved = self._waits = True
        """Whether a counter changed at the last reading, and whether something waits in a queue."""
        self._waiting: dict[str, bool] = {}
        self._ends: dict[int, int] = {}
        """Of each port its number and, where it is one of a pair (veth(4)), that of the other end; 0 of another."""

    def is_still(self, root: LiveSpace) -> bool:
        """Whether nothing can have moved here since the last reading, because nothing did at the other ends, in `root`.

        What a node sends to itself is missed; a thorough reading finds its sockets.
        """
        return not (root.moved or self._waits) and all(
            root._ends.get(end) == number for number, end in self._ends.items()
        )

    def read(self, *, thorough: bool) -> dict[str, Any]:
        """What has changed since it was read last: "p", "q", "s", "e", "d" and "a" of `live_readings`; often {}."""
        found: dict[str, Any] = {}
        if thorough:
            self._look_again(found)
        bodies = list(self.routes.dump(RTM_GETSTATS, STATS_HEAD.pack(0, 0, 1 << IFLA_STATS_LINK_64 - 1)))
        self.moved = bodies != self._counters
        if self.moved or thorough:
            self._read_ports(bodies, found)
        if self.moved or thorough or self._waits:
            queues = self._read_queues(found)
            if thorough:
                self._describe(queues, found)
            self._read_sockets(found)
        self._counters = bodies
        return found

    def pings(self) -> list[RoundTrip]:
        """The round trips that have ended since they were read last."""
        return self.tap.read() if self.tap is not None and (self.moved or self.tap.pairs.waits) else []

    # --- what seldom changes

    def _look_again(self, found: dict[str, Any]) -> None:
        ports, ends = {}, {}
        for body in self.routes.dump(attr.RTM_GETLINK, netlink.IFINFO.pack(0, 0, 0, 0, 0)):
            _, _, index, flags, _ = netlink.IFINFO.unpack_from(body)
            data = netlink.attributes(body[netlink.IFINFO.size :])
            name = data[attr.IFLA_IFNAME].rstrip(b"\0").decode()
            port = None if name == "lo" or FALLBACK.fullmatch(name) else self.named(name)
            if port is not None:
                ends[index] = int.from_bytes(data.get(attr.IFLA_LINK, b""), sys.byteorder)
                ports[index] = (port, 0 if not flags & IFF_UP else 2 if flags & IFF_LOWER_UP else 1)
        self._ends = ends
        if ports != self.ports:
            self._counters = []
            self.ports = ports
        addresses = sorted(self._own_addresses())
        if self.tap is not None:
            self.tap.pairs.addresses = frozenset(addresses)
        if addresses != self._addresses:
            self._addresses = addresses
            found["a"] = {self.node: addresses}

    def _own_addresses(self) -> Iterator[str]:
        for body in self.routes.dump(attr.RTM_GETADDR, struct.pack("=BBBBi", 0, 0, 0, 0, 0)):
            data = netlink.attributes(body[8:])
            raw = data.get(attr.IFA_LOCAL, data.get(attr.IFA_ADDRESS, b""))
            if len(raw) in (4, 16):
                address = ipaddress.ip_address(raw)
                if not address.is_loopback:
                    yield str(address)

    def _describe(self, queues: dict[int, list[bytes]], found: dict[str, Any]) -> None:
        """The disciplines of each port and their options, where they are others than before."""
        described = {}
        for index, (port, _) in self.ports.items():
            qdiscs = [_described(body) for body in queues.get(index, ())]
            classes = []
            if any(qdisc["kind"] in tc_options.CLASSES for qdisc in qdiscs):
                classes = [_class(body) for body in self.routes.dump(attr.RTM_GETTCLASS, _about(index))]
            described[port] = {"qdiscs": qdiscs, "classes": [one for one in classes if one is not None]}
        changed = {port: told for port, told in described.items() if told != self._described.get(port)}
        gone = dict.fromkeys(port for port in self._described if port not in described)
        if changed or gone:
            found["d"] = {**changed, **gone}
        self._described = described

    # --- what changes

    def _read_ports(self, bodies: list[bytes], found: dict[str, Any]) -> None:
        before = set(self._counters)
        counters = {}
        for body in bodies:
            index = STATS_HEAD.unpack_from(body)[1]
            if index in self.ports and body not in before:
                stats = netlink.attributes(body[STATS_HEAD.size :]).get(IFLA_STATS_LINK_64)
                if stats is not None:
                    packets_in, packets_out, bytes_in, bytes_out = FOUR_COUNTERS.unpack_from(stats)
                    port, state = self.ports[index]
                    counters[port] = [bytes_in, bytes_out, packets_in, packets_out, state]
        if counters:
            found["p"] = counters

    def _read_queues(self, found: dict[str, Any]) -> dict[int, list[bytes]]:
        queues: dict[int, list[bytes]] = {}
        for body in self.routes.dump(attr.RTM_GETQDISC, _about(0)):
            index = sampler.interface_of(body)
            if index in self.ports:
                queues.setdefault(index, []).append(body)
        changed = {}
        for index, bodies in queues.items():
            if bodies != self._queues.get(index) and (queue := _queue(bodies)) is not None:
                changed[self.ports[index][0]] = queue
        if changed:
            found["q"] = changed
            self._waiting |= {port: bool(queue[0]) for port, queue in changed.items()}
        named = {port for port, _ in self.ports.values()}
        self._waits = any(waits for port, waits in self._waiting.items() if port in named)
        self._queues = queues
        return queues

    def _read_sockets(self, found: dict[str, Any]) -> None:
        try:
            rows = [row for row in self.reader.read() if row[_SENT] or row[_RECEIVED]]
        except OSError:  # a kernel that does not list its sockets
            return
        if len(rows) > MOST_SOCKETS:
            rows = sorted(rows, key=lambda row: -(row[_SENT] or 0) - (row[_RECEIVED] or 0))[:MOST_SOCKETS]
        now = {f"{self.node} {row[0]} {row[1]}": [row[place] for place in _PLACES] for row in rows}
        changed = {key: values for key, values in now.items() if values != self._sockets.get(key)}
        if changed:
            found["s"] = changed
        if gone := [key for key in self._sockets if key not in now]:
            found["e"] = gone
        self._sockets = now


class _Dumps:
    """Dumps over one rtnetlink socket, whose requests all have the same number, so that equal answers are equal."""

    def __init__(self) -> None:
        self.socket = netlink.connect()

    def dump(self, what: int, body: bytes) -> Iterator[bytes]:
        self.socket.send(netlink.message(what, netlink.DUMP, 1, body))
        while True:
            for kind, answer in netlink.messages(self.socket.recv(1 << 17)):
                if kind in (netlink.NLMSG_DONE, netlink.NLMSG_ERROR):
                    return
                yield answer


def _about(index: int) -> bytes:
    return netlink.TCMSG.pack(0, index, 0, 0, 0)


def _queue(bodies: list[bytes]) -> list[int] | None:
    """Bytes and packets that wait in the innermost disciplines, what those dropped and marked; None without one."""
    qdiscs = [sampler.discipline(body, all_counters=True) for body in bodies]
    parents = {str(qdisc.get("parent", "")).partition(":")[0] for qdisc in qdiscs}
    leaves = [q for q in qdiscs if q["kind"] not in NOT_QUEUES and q["handle"].partition(":")[0] not in parents]
    if not leaves:
        return None
    sums = [sum(int(leaf.get(name, 0)) for leaf in leaves) for name in ("backlog", "qlen", "drops")]
    return [*sums, sum(_marks(leaf) for leaf in leaves)]


def _marks(qdisc: dict[str, Any]) -> int:
    own = sum(int(qdisc.get(name, 0)) for name in MARKS)
    return own + sum(int(tin.get("ecn_mark", 0)) for tin in qdisc.get("tins", ()))


def _described(body: bytes) -> dict[str, Any]:
    """A discipline as `linklab.tc.Qdisc` has it."""
    _, _, handle, parent, _ = netlink.TCMSG.unpack_from(body)
    data = netlink.attributes(body[netlink.TCMSG.size :])
    kind = data[TCA_KIND].rstrip(b"\0").decode()
    place = "root" if parent == netlink.ROOT else netlink.handle_text(parent)
    options = _options(tc_options.QDISCS.get(kind), data.get(TCA_OPTIONS, b""))
    return {"kind": kind, "handle": netlink.handle_text(handle), "parent": place, "options": options}


def _class(body: bytes) -> dict[str, Any] | None:
    """A class as `linklab.tc.Class` has it; None of a kind that is not read."""
    _, _, handle, parent, _ = netlink.TCMSG.unpack_from(body)
    data = netlink.attributes(body[netlink.TCMSG.size :])
    kind = data[TCA_KIND].rstrip(b"\0").decode()
    if kind not in tc_options.CLASSES:
        return None
    place = "root" if parent == netlink.ROOT else netlink.handle_text(parent)
    options = _options(tc_options.CLASSES[kind], data.get(TCA_OPTIONS, b""))
    return {"kind": kind, "classid": netlink.handle_text(handle), "parent": place, "options": options}


def _options(read: Callable[[bytes], dict[str, Any]] | None, raw: bytes) -> dict[str, Any]:
    if read is None:
        return {"unread": ["everything"]}
    try:
        return read(raw)
    except (KeyError, struct.error, IndexError, ZeroDivisionError):
        return {"unread": ["everything"]}
