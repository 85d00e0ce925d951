# SPDX-License-Identifier: BSD-3-Clause
"""Who has an address, and by which ports a flow leaves on its way; pure, from the drawing."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping

from linklab.topology import Topology


def name_of(address: str, owners: Mapping[str, str]) -> str:
    """The node that has an address; the address itself where nobody is known to have it."""
    return owners.get(address, address)


def owners_of(addresses: Mapping[str, Iterable[str]]) -> dict[str, str]:
    """Node by address, of the addresses of each node."""
    return {address: node for node, own in addresses.items() for address in own}


def split_end(end: str) -> tuple[str, str]:
    """Address and port of ADDRESS:PORT or [ADDRESS]:PORT."""
    address, _, port = end.rpartition(":")
    return address.strip("[]"), port


class FlowWays:
    """The shortest ways through a drawing, by the number of links."""

    def __init__(self, topology: Topology | None) -> None:
        self._next: dict[str, list[tuple[str, str]]] = {}
        self._known: dict[tuple[str, str], tuple[str, ...]] = {}
        if topology is None:
            return
        for link, (source_port, target_port) in zip(topology.links, topology.link_ends(), strict=True):
            self._next.setdefault(link.src, []).append((link.dest, source_port))
            self._next.setdefault(link.dest, []).append((link.src, target_port))

    def ports(self, source: str, target: str) -> tuple[str, ...]:
        """The ports that packets leave by from one node to another; () where no way is known."""
        pair = (source, target)
        if pair not in self._known:
            self._known[pair] = self._found(source, target)
        return self._known[pair]

    def _found(self, source: str, target: str) -> tuple[str, ...]:
        came: dict[str, tuple[str, str]] = {}
        waiting = deque([source])
        while waiting and target not in came:
            node = waiting.popleft()
            for neighbour, port in self._next.get(node, ()):
                if neighbour != source and neighbour not in came:
                    came[neighbour] = (node, port)
                    waiting.append(neighbour)
        ports: list[str] = []
        node = target
        while node in came:
            node, port = came[node]
            ports.append(port)
        return tuple(reversed(ports))
