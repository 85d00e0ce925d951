# SPDX-License-Identifier: BSD-3-Clause
"""What happens to packets from one node to another, whichever backend does it: "h1>h2.delay" → 0.02.

Pure. Follows IPv4 routes and switches through a state, and adds up what netem, shapers, and links by departure time do
on the way. Facts of `linklab.state.facts` say what is set where. These follow from them, so they are asked for one
by one, and are not compared with those of another state.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from socket import inet_aton
from typing import Any

from linklab.state.disciplines import queues
from linklab.state.facts import ARROW, of_all, of_interface, peers
from linklab.state.model import CLIENT, State
from linklab.state.node import Interface, Node, Route
from linklab.tc import EdtLink
from linklab.topology import Topology

MOST_HOPS = 64
"""Of a packet, by its first time to live (ip-sysctl.rst, ip_default_ttl)."""
_ALL = 0xFFFFFFFF
_AS_SLOW = 1.05
"""Interfaces up to so many times as fast as the slowest on a way are taken for as slow: the smallest queue counts."""


def _added(values: Sequence[float]) -> float:
    return round(sum(values), 12)


def _combined(shares: Sequence[float]) -> float:
    """The share of packets that at least one of several takes."""
    return round(1 - math.prod(1 - share for share in shares), 12)


_TOGETHER: Mapping[str, Callable[[Sequence[Any]], float | str]] = {
    **dict.fromkeys(("delay", "jitter"), _added),
    **dict.fromkeys(("loss", "duplicate", "corrupt", "reorder"), _combined),
    **dict.fromkeys(("rate", "queue"), min),
    "loss_model": "; ".join,
}
"""What several interfaces on a way do together."""


class _Addressed:
    """The addresses and routes of a node, by number: a hostile state has thousands, and they are asked for often."""

    def __init__(self, node: Node) -> None:
        self.of_interface = {name: {*map(_number, each.addresses)} for name, each in node.interfaces.items()}
        self.own = set[int]().union(*self.of_interface.values())
        self._loopback = dict[int, set[int]]()
        for address in node.interfaces["lo"].addresses if "lo" in node.interfaces else ():
            mask = _mask(address)
            self._loopback.setdefault(mask, set()).add(_number(address) & mask)
        self._routes = dict[int, dict[int, Route]]()
        for route in sorted(node.routes, key=lambda route: route.metric):
            if not route.tos:
                to = "0.0.0.0/0" if route.to == "default" else route.to
                self._routes.setdefault(_mask(to), {}).setdefault(_number(to) & _mask(to), route)

    def answers(self, address: int) -> bool:
        """Whether it takes packets to an address for its own.

        Of an address on the loopback interface the whole prefix is its own, and it answers for what any of its
        interfaces has on all others too (Linux's fib_add_ifaddr in net/ipv4/fib_frontend.c; ip-sysctl.rst, arp_ignore).
        """
        return address in self.own or any(address & mask in prefixes for mask, prefixes in self._loopback.items())

    def route(self, address: int) -> Route | None:
        """The one that the kernel takes for packets of no type of service: longest prefix, then least metric."""
        for mask in sorted(self._routes, reverse=True):
            route = self._routes[mask].get(address & mask)
            if route is not None:
                return route if route.type == "unicast" and route.dev and not route.unread else None
        return None


class StateWays:
    """The ways through a network that is set to a state."""

    def __init__(self, state: State, topology: Topology) -> None:
        self.state = state
        self.peers = peers(topology)
        self.interfaces = state.interfaces()
        client = state.nodes[CLIENT].interfaces
        self._bridges = {name for name, interface in client.items() if interface.kind == "bridge"}
        self.up = {name for name, (_, interface) in self.interfaces.items() if interface.up and self._at_home(name)}
        self._nodes = {name: _Addressed(node) for name, node in state.nodes.items()}
        self._known: dict[str, float | str | None] = {}
        self._ports: dict[tuple[str, str], list[str] | None] = {}
        self._facts: dict[str, dict[str, float | str]] = {}

    def _at_home(self, port: str) -> bool:
        """Whether a switch's port is not in another switch, where switches are bridges of the kernel's."""
        owner, interface = self.interfaces[port]
        return owner != CLIENT or _switch(port) not in self._bridges or interface.master == _switch(port)

    def fact(self, name: str) -> float | str | None:
        """The value of such a fact; None for other names, where there is no one way, or where nothing does it.

        Two are words: "h1>h2.way", the interfaces by which packets leave ("h1-eth0 s1-eth2 s2-eth2"), and
        "s1-eth2.queues", "one" or "several", which is not compared with that of another state.
        """
        if name not in self._known:  # who judges asks for all of them, again for each run
            self._known[name] = self._found(name)
        return self._known[name]

    def _found(self, name: str) -> float | str | None:
        head, _, what = name.rpartition(".")
        source, arrow, target = head.partition(ARROW)
        if what == "queues" and head in self.interfaces:
            return queues(self.interfaces[head][1])
        if not arrow or CLIENT in (source, target) or not {source, target} <= self.state.nodes.keys():
            return None
        ports = self.ports(source, target)
        if what == "way":
            return " ".join(ports) if ports else None
        found = [self._at(port, source, target) for port in ports or ()]
        if what == "queue":  # of the bottleneck, and of a shaper before it that would hide it
            rates = [float(at.get("rate", math.inf)) for at in found]
            most = _AS_SLOW * min(rates, default=0.0)
            found = [at for at, rate in zip(found, rates, strict=True) if math.isfinite(rate) and rate <= most]
        values = [at[what] for at in found if what in at]
        return _TOGETHER[what](values) if values and what in _TOGETHER else None

    def _at(self, port: str, source: str, target: str) -> dict[str, float | str]:
        """What an interface does to packets of this pair, by the names of facts."""
        interface = self.interfaces[port][1]
        if not interface.links:
            if port not in self._facts:  # each way is asked for a dozen facts
                self._facts[port] = of_interface(interface)
            return self._facts[port]
        link = self._link(interface, source, target)
        return {**link.facts()} if link else {}

    def _link(self, interface: Interface, source: str, target: str) -> EdtLink | None:
        """The link that takes them: of the pair, else of the target, else of all."""
        address = self._address(target)
        for sender in (self._sender(source, address), "any"):
            for link in interface.links:
                if (sender, address) in link.pairs:
                    return link
        return of_all(interface)

    def _sender(self, source: str, target: str) -> str:
        """The address that a node sends from: its route's, else its interface's in the gateway's network, or first.

        Without a gateway it is the first (fib_info_update_nhc_saddr in net/ipv4/fib_semantics.c, inet_select_addr in
        net/ipv4/devinet.c).
        """
        route = self._nodes[source].route(_number(target)) if target else None
        if route is None:
            return ""
        if route.src:
            return route.src
        interface = self.state.nodes[source].interfaces.get(route.dev)
        addresses = interface.addresses if interface else ()
        hop = _number(route.via) if route.via else None
        near = [each for each in addresses if hop is not None and (_number(each) ^ hop) & _mask(each) == 0]
        return [*near, *addresses, ""][0].partition("/")[0]

    # --- the way

    def ports(self, source: str, target: str) -> list[str] | None:
        """The interfaces by which packets leave on their way; None where there is none, or switches form a loop."""
        if (source, target) not in self._ports:
            self._ports[source, target] = self._way(source, target)
        return self._ports[source, target]

    def _way(self, source: str, target: str) -> list[str] | None:
        to = self._address(target)
        if not to:
            return None
        node, address, found = source, _number(to), list[str]()
        for _ in range(MOST_HOPS + 1):
            if node == target:
                return found
            if self._nodes[node].answers(address):
                return None
            route = self._nodes[node].route(address)
            hop = self._hop(route.dev, _number(route.via) if route.via else address) if route is not None else None
            if route is None or hop is None:
                return None
            node, more = hop
            found += [route.dev, *more]
        return None

    def _address(self, node: str) -> str:
        """By which others reach it: that of its first interface; "" if it has none."""
        interfaces = self.state.nodes[node].interfaces
        found = [interfaces[name].addresses for name in sorted(interfaces) if name != "lo"]
        return next((addresses[0].partition("/")[0] for addresses in found if addresses), "")

    def _hop(self, port: str, address: int) -> tuple[str, list[str]] | None:
        """The node that has an address on the other side of a port, and the ports of switches before it."""
        peer = self.peers.get(port, "")
        if not {port, peer} <= self.up:
            return None
        owner = self.interfaces[peer][0]
        if owner != CLIENT:
            return (owner, []) if address in self._nodes[owner].own else None
        if address in self._nodes[CLIENT].own:  # whose answer is first, as the owner's that is farther away is not
            return None
        reached = [
            (node, self.peers[name])
            for name, (node, _) in self.interfaces.items()
            if node != CLIENT
            and address in self._nodes[node].of_interface[name]
            and {name, self.peers.get(name, "")} <= self.up
        ]
        answering = [name for name, each in self._nodes.items() if name != CLIENT and each.answers(address)]
        if len(reached) != 1 or len(answering) != 1:
            return None
        node, last = reached[0]
        ports = self._through(_switch(peer), _switch(last))
        return None if ports is None else (node, [*ports, last])

    def _through(self, first: str, last: str) -> list[str] | None:
        """The ports from one switch to another; None where switches form a loop, which a state does not decide."""
        way: dict[str, list[str]] = {first: []}
        waiting, links = deque([first]), set[frozenset[str]]()
        while waiting:
            switch = waiting.popleft()
            for port, other in self._links_of(switch):
                links.add(frozenset((port, other)))
                if _switch(other) not in way:
                    way[_switch(other)] = [*way[switch], port]
                    waiting.append(_switch(other))
        return way.get(last) if len(links) == len(way) - 1 else None

    def _links_of(self, switch: str) -> Iterator[tuple[str, str]]:
        for port, other in self.peers.items():
            ends = {port, other}
            if _switch(port) == switch and ends <= self.up and {self.interfaces[end][0] for end in ends} == {CLIENT}:
                yield port, other


def _switch(port: str) -> str:
    return port.rpartition("-eth")[0]


def _number(address: str) -> int:
    """Of an address, with a prefix or without."""
    return int.from_bytes(inet_aton(address.partition("/")[0]), "big")


def _mask(address: str) -> int:
    return (_ALL << 32 - int(address.partition("/")[2])) & _ALL
