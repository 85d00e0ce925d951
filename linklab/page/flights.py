# SPDX-License-Identifier: BSD-3-Clause
"""Captured packets of both ends of links → flights: which packet was on which link, from when to when. Pure.

An interface shows a packet that goes out when it leaves its queues, behind a delay by netem. When it entered them is
known where the node had received it before, at another interface: a switch or a router sends on at once. A packet of
the node's own entered as long ago as netem delays there; a wait in that queue cannot be seen.
"""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from linklab.linux.pcapng import INBOUND, OUTBOUND, CapturedPacket

KEPT_PACKETS = 4096
"""Packets that a node has received and may send on yet."""
UNDERWAY = 512
"""Packets that have left one end of a link and have not come in at the other."""
LONGEST_NS = 10_000_000_000
"""A packet that came in longer ago is another one that looks the same."""


@dataclass(frozen=True)
class Flight:
    """A packet on a link, network time in ns.

    link: its place in the drawing. forward: from the link's first node to its second.
    from_ns: when it entered the sending interface; to_ns: when it came in at the other end.
    delay_ns: how long netem delays there: as long it flies, and before that it waits.
    number: of the packet that went out. known: whether `from_ns` was seen, not computed from the delay.
    """

    link: int
    forward: bool
    from_ns: int
    to_ns: int
    delay_ns: int
    number: int
    known: bool


class FlightFinder:
    """Finds flights in the packets of all ends of links.

    Args:
        ends: for each link of the drawing, its two ends as "NODE:IF".
    """

    def __init__(self, ends: Sequence[tuple[str, str]]) -> None:
        self._links = {place: (i, side == 0) for i, pair in enumerate(ends) for side, place in enumerate(pair)}
        self._peers = {place: pair[1 - side] for pair in ends for side, place in enumerate(pair)}
        self._underway: dict[str, deque[tuple[bytes, int, int]]] = {}
        self._received: dict[str, OrderedDict[bytes, tuple[int, str]]] = {}
        self.delays: Mapping[str, int] = {}

    def add(self, place: str, number: int, packet: CapturedPacket, same: bytes) -> Flight | None:
        """Take a packet, in the order of their times; the flight that it ends, if it does.

        place: its interface, "NODE:IF". number: its number in the list of packets.
        same: what of it does not change on its way.
        """
        if place not in self._links:
            return None
        if packet.direction == OUTBOUND:
            waiting = self._underway.setdefault(place, deque(maxlen=UNDERWAY))
            waiting.append((packet.data, packet.time_ns, number))
            return None
        if packet.direction != INBOUND:
            return None
        self._remember(place, same, packet.time_ns)
        return self._landed(place, packet.data, same, packet.time_ns)

    def _remember(self, place: str, same: bytes, time_ns: int) -> None:
        held = self._received.setdefault(place.partition(":")[0], OrderedDict())
        held[same] = (time_ns, place)
        held.move_to_end(same)
        while len(held) > KEPT_PACKETS:
            held.popitem(last=False)

    def _landed(self, place: str, data: bytes, same: bytes, time_ns: int) -> Flight | None:
        sender = self._peers[place]
        waiting = self._underway.get(sender, deque())
        sent = next((each for each in waiting if each[0] == data), None)
        if sent is None:
            return None  # it left before the capture began
        while waiting and waiting[0] is not sent:
            waiting.popleft()  # lost on the way, or overtaken
        waiting.popleft()
        _, out_ns, number = sent
        link, forward = self._links[sender]
        delay_ns = self.delays.get(sender, 0)
        received = self._received.get(sender.partition(":")[0]) or OrderedDict()
        came_ns, came_at = received.get(same, (0, sender))
        known = came_at != sender and 0 <= out_ns - came_ns < LONGEST_NS
        from_ns = came_ns if known else max(0, out_ns - delay_ns)
        return Flight(link, forward, from_ns, time_ns, min(delay_ns, time_ns - from_ns), number, known)


def port_delays(state: Mapping[str, Mapping[str, object]]) -> dict[str, int]:
    """Return how long netem delays at each interface, "NODE:IF" → ns, from what `linklab.agent.node_state` prints.

    Ports of switches are found under "client", and are called "SWITCH:IF" after their names.
    """
    found: dict[str, int] = {}
    nodes = state.get("nodes", {})
    for node, facts in nodes.items():
        interfaces = facts.get("interfaces", {}) if isinstance(facts, Mapping) else {}
        for name, interface in interfaces.items():
            delays = [
                int(qdisc.get("options", {}).get("delay_ns") or 0)
                for qdisc in interface.get("qdiscs", ())
                if qdisc.get("kind") == "netem"
            ]
            owner = name.rpartition("-")[0] if node == "client" else node
            if sum(delays):
                found[f"{owner}:{name}"] = sum(delays)
    return found
