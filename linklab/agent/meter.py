# SPDX-License-Identifier: BSD-3-Clause
"""`python3 -m linklab.agent.meter [--nodes h1,r1] [--controllers] [--tree]`: what every interface does, for ever.

Each line: {"t": s on this kernel's clock, "i": {"s1-eth1": [bytes received, bytes sent, bytes queued, drops, packets
received, packets sent, state]}}, where state is 0 (down), 1 (up, but its link is not) or 2 (up).
The queue is that of the innermost discipline, never netem's, which holds packets in flight.
--nodes: look into the namespaces of these nodes as well; --controllers: say every few seconds what Open vSwitch says of
its controllers, {"c": {"s1": {"tcp:127.0.0.1:6633": true}}}; --tree: say what the spanning tree does,
{"stp": {"ports": {"s2-eth1": "blocking"}, "roots": ["s1"]}}, with all ports that do not forward.
"""

from __future__ import annotations

import argparse
import json
import os
import struct
import sys
import time
from contextlib import suppress
from typing import Any

from linklab.agent import sampler, spanning_tree
from linklab.agent.node_state import nodes
from linklab.agent.ovs_tables import UnreadableError, table
from linklab.linux import netlink
from linklab.linux.kernelcalls import CLONE_NEWNET, setns
from linklab.linux.route_attributes import IFLA_IFNAME, IFLA_STATS64, RTM_GETLINK, RTM_NEWLINK

PERIOD_S = 0.25
OVS_EVERY_S = 2.0
NOT_QUEUES = ("netem", "noqueue")
IFF_UP, IFF_LOWER_UP = 0x1, 0x10000
STATS = struct.Struct("=4Q")  # struct rtnl_link_stats64: packets received and sent, bytes received and sent


class EveryQdisc(sampler.QdiscReader):
    """Reads the disciplines of all interfaces in one dump."""

    def __init__(self) -> None:
        self.index = 0
        self.socket = netlink.connect()
        self.sequence = 0

    def queues(self) -> dict[int, tuple[int, int]]:
        """(bytes queued, drops of all disciplines) by interface index."""
        found: dict[int, list[dict[str, Any]]] = {}
        for kind, body in netlink.messages(self.raw()):
            if kind == sampler.RTM_NEWQDISC:
                found.setdefault(sampler.interface_of(body), []).append(sampler.discipline(body))
        return {index: _queue(qdiscs) for index, qdiscs in found.items()}


def _queue(qdiscs: list[dict[str, Any]]) -> tuple[int, int]:
    parents = {str(qdisc.get("parent", "")).partition(":")[0] for qdisc in qdiscs}
    leaves = [q for q in qdiscs if q["handle"].partition(":")[0] not in parents and q["kind"] not in NOT_QUEUES]
    return sum(q.get("backlog", 0) for q in leaves), sum(q.get("drops", 0) for q in qdiscs)


class Namespace:
    """The interfaces of the network namespace in which it was made; it reads them from wherever we are."""

    def __init__(self) -> None:
        self.qdiscs = EveryQdisc()
        self.socket = netlink.connect()
        self.sequence = 0

    def read(self) -> dict[str, list[int]]:
        """What the module's docstring gives for each port of a node."""
        queues = self.qdiscs.queues()
        found = {}
        for index, name, flags, stats in self._links():
            if "-eth" in name:
                packets_in, packets_out, bytes_in, bytes_out = stats
                state = 0 if not flags & IFF_UP else 2 if flags & IFF_LOWER_UP else 1
                queue = queues.get(index, (0, 0))
                found[name] = [bytes_in, bytes_out, *queue, packets_in, packets_out, state]
        return found

    def _links(self) -> list[tuple[int, str, int, tuple[int, ...]]]:
        self.sequence += 1
        body = netlink.IFINFO.pack(0, 0, 0, 0, 0)
        self.socket.send(netlink.message(RTM_GETLINK, netlink.DUMP, self.sequence, body))
        found: list[tuple[int, str, int, tuple[int, ...]]] = []
        while True:
            for kind, answer in netlink.messages(self.socket.recv(1 << 16)):
                if kind in (netlink.NLMSG_DONE, netlink.NLMSG_ERROR):
                    return found
                if kind == RTM_NEWLINK:
                    _, _, index, flags, _ = netlink.IFINFO.unpack_from(answer)
                    attributes = netlink.attributes(answer[netlink.IFINFO.size :])
                    name = attributes[IFLA_IFNAME].rstrip(b"\0").decode()
                    found.append((index, name, flags, STATS.unpack_from(attributes[IFLA_STATS64])))


def namespaces(names: list[str]) -> list[Namespace]:
    """Of these nodes, as far as they have a shell; the first is ours."""
    found = [Namespace()]
    if not names:
        return found
    shells, ours = nodes(), os.open("/proc/self/ns/net", os.O_RDONLY)
    for pid in (shells[name] for name in names if name in shells):
        theirs = os.open(f"/proc/{pid}/ns/net", os.O_RDONLY)
        setns(theirs, CLONE_NEWNET)
        found.append(Namespace())
        setns(ours, CLONE_NEWNET)
        os.close(theirs)
    os.close(ours)
    return found


def controllers() -> dict[str, dict[str, bool]]:
    """For each bridge of Open vSwitch its controllers, and whether each is connected; may raise UnreadableError."""
    bridges = table("Bridge", "name,controller")
    state = {uuid: (target, connected) for uuid, target, connected in table("Controller", "_uuid,target,is_connected")}
    found: dict[str, dict[str, bool]] = {}
    for name, given in bridges:
        uuids = given if isinstance(given, list) else [given]
        found[name] = {state[uuid][0]: bool(state[uuid][1]) for uuid in uuids if uuid in state}
    return found


class Tree:
    """What the Spanning Tree Protocol does; Open vSwitch is asked at times only, since each question is a program."""

    def __init__(self) -> None:
        self._ovs_ports: dict[str, str] = {}
        self._ovs_roots: list[str] = []

    def read(self, *, ask_ovs: bool) -> dict[str, Any]:
        """Ports that do not forward, and root bridges; of an Open vSwitch that does not answer, the last known."""
        if ask_ovs:
            with suppress(UnreadableError):
                self._ovs_ports, self._ovs_roots = spanning_tree.ovs_ports(), spanning_tree.ovs_roots()
        ports = {**spanning_tree.bridge_ports(), **self._ovs_ports}
        waiting = {port: state for port, state in ports.items() if state not in ("forwarding", "disabled")}
        return {"ports": waiting, "roots": [*spanning_tree.bridge_roots(), *self._ovs_roots]}


def reading(
    watched: list[Namespace], tree: Tree, *, ask_ovs: bool, ask_controllers: bool, ask_tree: bool
) -> dict[str, Any]:
    """One line, as the module's docstring says; without "c" where Open vSwitch does not answer."""
    line: dict[str, Any] = {"t": round(time.monotonic(), 6), "i": {}}
    for namespace in watched:
        line["i"].update(namespace.read())
    if ask_controllers and ask_ovs:
        with suppress(UnreadableError):
            line["c"] = controllers()
    if ask_tree:
        line["stp"] = tree.read(ask_ovs=ask_ovs)
    return line


def main() -> int:
    """Print readings until the terminal is hung up."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--nodes", default="")
    parser.add_argument("--controllers", action="store_true")
    parser.add_argument("--tree", action="store_true")
    args = parser.parse_args()
    watched = namespaces([name for name in args.nodes.split(",") if name])
    tree = Tree()
    start, number, asked = time.monotonic(), 0, float("-inf")
    while True:
        if ask_ovs := time.monotonic() - asked >= OVS_EVERY_S:
            asked = time.monotonic()
        line = reading(watched, tree, ask_ovs=ask_ovs, ask_controllers=args.controllers, ask_tree=args.tree)
        os.write(1, json.dumps(line, separators=(",", ":")).encode() + b"\n")
        number += 1
        time.sleep(max(0.01, start + number * PERIOD_S - time.monotonic()))


if __name__ == "__main__":
    sys.exit(main())
