# SPDX-License-Identifier: BSD-3-Clause
"""The ready topologies, drawn from a path: `Dumbbell.mn`, `RTT fairness.mn` and `Parking lot.mn` in topologies/.

    h1 ── r1 ══ r2 ── h2, h3, …      the bottleneck is between two routers, shaper and discipline at r1-eth0 and r2-eth0

Routers and not switches, because a packet that a router forwards no longer counts as waiting in the host that sent it
(docs/architecture.md, "Stock Mininet's switch ports"), so on every engine the queue fills at the bottleneck. The delay
stands behind the bottleneck of each direction, where nothing queues and nothing overtakes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from linklab.experiment.path import NetworkPath, parse_path
from linklab.topology import Topology
from linklab.topology.builder import Builder

DUMBBELL, RTT_FAIRNESS, PARKING_LOT, STAR = "Dumbbell", "RTT fairness", "Parking lot", "Star"
TCP_MEM = (10240, 87380, 16777216)
"""Mininet's for every host (mininet/util.py, fixLimits); the last is raised where a path holds more than a flow could
fill with it."""
ROUND_UP = 1 << 20
LEFT, TOP, PITCH, HIGH = 120.0, 90.0, 280.0, 150.0
"""Places in the drawing: the first node, and the distances of columns and rows."""
_ENDS = ("forward", "backward")
WORDS = {
    DUMBBELL: "10mbit 50ms fifo",
    RTT_FAIRNESS: "10mbit 20ms,40ms,80ms,160ms fifo",
    PARKING_LOT: "10mbit 30ms fifo",
}
"""The paths of the files in topologies/."""


class _Drawing:
    """Hosts at routers, each in a subnet of its own: 10.0.N.0/24 and fd00:0:0:N::/64; the host is .1, the router .254.

    version6: whether there are IPv6 addresses too.
    """

    def __init__(self, name: str, path: NetworkPath, *, version6: bool) -> None:
        self.to = Builder(name)
        self.path, self.version6 = path, version6
        self.command = _start_command(path)
        self.impaired: dict[int, dict[str, Any]] = {}
        self.routes: dict[str, list[dict[str, str]]] = {}
        self.subnets: list[tuple[int, str]] = []
        """Number of the subnet, and the router it is at."""

    def router(self, name: str) -> str:
        self.routes[name] = []
        return self.to.switch(name, "legacyRouter")

    def host(self, router: str, name: str = "") -> str:
        """A host with its link, named by its number if no name is given; its number is its subnet's."""
        number = len(self.to.hosts) + 1
        routes = [{"to": "default", "via": f"fd00:0:0:{number:x}::fe"}] if self.version6 else []
        opts = {"startCommand": self.command} if self.command else {}
        name = self.to.host(name, ip=f"10.0.{number}.1/24", defaultRoute=f"10.0.{number}.254", routes=routes, **opts)
        at = [f"10.0.{number}.254/24"], [f"10.0.{number}.1/24"]
        if self.version6:
            at[0].append(f"fd00:0:0:{number:x}::fe/64")
        self.to.link(router, name, addresses=(at[0], [f"fd00:0:0:{number:x}::1/64"] if self.version6 else []))
        self.subnets.append((number, router))
        return name

    def bottleneck(self, left: str, right: str, number: int) -> None:
        """The link between two routers, with its shapers; number: of its subnet among those of bottlenecks."""
        addresses = [f"10.1.{number}.1/30"], [f"10.1.{number}.2/30"]
        if self.version6:
            addresses[0].append(f"fd00:0:1:{number:x}::1/64")
            addresses[1].append(f"fd00:0:1:{number:x}::2/64")
        self.impair(self.path.bottleneck(self.path.up_mbit), self.path.bottleneck(self.path.down_mbit))
        self.to.link(left, right, addresses=addresses)

    def impair(self, forward: Mapping[str, Any] | None, backward: Mapping[str, Any] | None) -> None:
        """What the directions of the next link have."""
        ends = zip(_ENDS, (forward, backward), strict=True)
        self.impaired[len(self.to.links)] = {key: dict(found) for key, found in ends if found}

    def done(self, chain: tuple[str, ...]) -> Topology:
        """The topology; chain: the routers in their order from the source."""
        for at, router in enumerate(chain):
            for number, owner in self.subnets:
                if owner != router:
                    self.routes[router] += self._routes(number, at, chain.index(owner))
        switches = [replace(each, own={"routes": self.routes[each.name]}) for each in self.to.switches]
        self.to.switches = switches
        self.to.links = [
            replace(link, own={**link.own, **self.impaired.get(i, {})}) for i, link in enumerate(self.to.links)
        ]
        return self.to.done()

    def _routes(self, number: int, at: int, there: int) -> list[dict[str, str]]:
        """From the router at this place of the chain to a subnet behind another."""
        onwards = there > at
        link, end = (at + 1, 2) if onwards else (at, 1)
        found = [{"to": f"10.0.{number}.0/24", "via": f"10.1.{link}.{end}"}]
        if self.version6:
            found.append({"to": f"fd00:0:0:{number:x}::/64", "via": f"fd00:0:1:{link:x}::{end}"})
        return found


def draw(path: NetworkPath, *, targets: int = 1, sources: int = 1, version6: bool = False) -> Topology:
    """The network of a path: h1 and its companions, two routers, then the targets.

    With one round trip it is the dumbbell, whose delay back stands at the sources' ports; with several it is "RTT
    fairness", where each target delays what it sends itself.
    """
    several = len(set(path.rtts_s)) > 1
    to = _Drawing(RTT_FAIRNESS if several else DUMBBELL, path, version6=version6)
    left, right = to.router("r1"), to.router("r2")
    to.bottleneck(left, right, 1)
    for _ in range(sources):
        to.impair(None if several else path.delay(path.rtts_s[0]), None)
        host = to.host(left)
        to.to.places[host] = (LEFT, _height(len(to.to.hosts) - 1, sources, targets))
    for number in range(targets):
        one_way = path.delay(path.rtts_s[number % len(path.rtts_s)])
        to.impair(one_way, one_way if several else None)
        to.to.places[to.host(right)] = (LEFT + 3 * PITCH, _height(number, targets, sources))
    middle = _height(0, 1, max(sources, targets))
    to.to.places |= {left: (LEFT + PITCH, middle), right: (LEFT + 2 * PITCH, middle)}
    return to.done((left, right))


def draw_star(path: NetworkPath, hosts: Sequence[str], router: str, *, version6: bool = False) -> Topology:
    """A router with a host at each of its ports, which have the rate and the discipline towards their host.

    A host delays what it sends by half the round trip.
    """
    to = _Drawing(STAR, path, version6=version6)
    to.router(router)
    for number, name in enumerate(hosts):
        to.impair(path.bottleneck(path.up_mbit), path.delay(path.rtts_s[0]))
        to.host(router, name)
        to.to.places[name] = (LEFT + (PITCH * 2 if number else 0.0), _height(max(0, number - 1), len(hosts) - 1, 1))
    to.to.places[router] = (LEFT + PITCH, _height(0, 1, len(hosts) - 1))
    return to.done((router,))


def draw_parking_lot(path: NetworkPath, *, hops: int = 3, version6: bool = False) -> Topology:
    """Routers in a row with a bottleneck between each two: h1 → h2 over all of them, a pair of hosts over each.

    The round trip is that of h1 and h2; the pairs have what the path gives behind their own bottleneck.
    """
    to = _Drawing(PARKING_LOT, path, version6=version6)
    chain = tuple(to.router(f"r{number}") for number in range(1, hops + 2))
    for number in range(1, hops + 1):
        to.bottleneck(chain[number - 1], chain[number], number)
    one_way = path.delay(path.rtts_s[0])
    ends = [(chain[0], chain[-1]), *((chain[i], chain[i + 1]) for i in range(hops))]
    for pair, (source, target) in enumerate(ends):
        for router in (source, target):
            to.impair(one_way, None)
            host = to.host(router)
            at = chain.index(router) + (0 if pair else -1 if router == source else 1)
            aside = (70.0 if router == source else -70.0) if pair else 0.0
            to.to.places[host] = (LEFT + PITCH * (1 + at) + aside, TOP + (1.6 * HIGH if pair else 0.0))
    to.to.places |= {router: (LEFT + PITCH * (1 + number), TOP) for number, router in enumerate(chain)}
    return to.done(chain)


def ready() -> dict[str, Topology]:
    """The topologies that lie in topologies/, by name."""
    path = {name: parse_path(words) for name, words in WORDS.items()}
    return {
        DUMBBELL: draw(path[DUMBBELL], sources=2, targets=2),
        RTT_FAIRNESS: draw(path[RTT_FAIRNESS], targets=4),
        PARKING_LOT: draw_parking_lot(path[PARKING_LOT]),
    }


def _height(number: int, count: int, others: int) -> float:
    """Of a node of a column with `count`, beside one with `others`: both columns have one middle."""
    return TOP + HIGH * (number + (max(count, others) - count) / 2)


def _start_command(path: NetworkPath) -> str:
    """What the hosts set, so that one flow can fill the path, and ECN where it is asked for."""
    settings = []
    # a socket's buffer counts memory, two to three times the data that it holds
    least, default, most = TCP_MEM
    for name, factor in (("rmem", 3), ("wmem", 2)):
        needed = -(-factor * path.window_bytes() // ROUND_UP) * ROUND_UP
        if needed > most:
            settings.append(f'net.ipv4.tcp_{name}="{least} {default} {needed}"')
    if path.ecn:
        settings.append("net.ipv4.tcp_ecn=1")
    return f"sysctl -q -w {' '.join(settings)}" if settings else ""
