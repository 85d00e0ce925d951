# SPDX-License-Identifier: BSD-3-Clause
"""What a running network does, in numbers and in words: every node, every link, both directions.

`Watch` takes the samples of `linklab.agent.meter`; `NetworkState` is what they say, for the drawing, for the status
line, and for readers who do not see the drawing. Pure.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from linklab.editor.meter import short_rate
from linklab.topology import Controller, Link, Switch, Topology
from linklab.topology.parts import Node
from linklab.topology.switching import OPENFLOW, closing_links, has_spanning_tree
from linklab.windows.words import Phrase, joined, of_number

DOWN, NO_CARRIER, UP = 0, 1, 2
BLOCKING = "blocking"
FORMING = (Phrase("listening"), Phrase("learning"))
"""What else a port does before it forwards, as the kernel calls it."""
RUNNING, ATTENTION, UNKNOWN = "running", "attention", "building"
"""States of nodes for the drawing: all as it should be, something that a person should know, not known yet."""
Sample = Mapping[str, Any]


@dataclass(frozen=True)
class LinkFlow:
    """One direction of a link over the last period: src→dest in names of nodes."""

    src: str
    dest: str
    rate_bps: float
    packets_per_s: float

    @property
    def short(self) -> str:
        """For a small label: "h1→s1 9.4 Mb/s, 810 pkt/s"."""
        return f"{self.src}→{self.dest} {short_rate(self.rate_bps)}, {self.packets_per_s:.0f} pkt/s"

    @property
    def words(self) -> str:
        """Such as "h1→s1: 9.4 Mb/s, 810 packets/s"."""
        values = {"src": self.src, "dest": self.dest, "rate": short_rate(self.rate_bps)}
        return Phrase("{src}→{dest}: {rate}, {packets:.0f} packets/s", packets=self.packets_per_s, **values)


@dataclass(frozen=True)
class LinkState:
    """A link; why: what is down, "" for one that is up. flows: src→dest and back, none before two samples.

    waiting: for both ends, src first, what the spanning tree has the port do, and "" for one that forwards.
    """

    name: str
    up: bool = True
    why: str = ""
    flows: tuple[LinkFlow, ...] = ()
    waiting: tuple[str, str] = ("", "")
    ports: tuple[str, str] = ("", "")

    @property
    def words(self) -> str:
        """The link as a sentence."""
        if not self.up:
            return Phrase("link {link}: down ({why})", link=self.name, why=self.why)
        tree = [_waiting_words([port], state) for port, state in zip(self.ports, self.waiting, strict=True) if state]
        up = Phrase("link {link}: up", link=self.name)
        return joined("; ", [up, *tree, *(flow.words for flow in self.flows)])


@dataclass(frozen=True)
class NodeState:
    """A node or controller; state: RUNNING, ATTENTION or UNKNOWN; what: the details as words."""

    name: str
    state: str = RUNNING
    what: str = Phrase("running")

    @property
    def words(self) -> str:
        """The node as a sentence."""
        return Phrase("{node}: {what}", node=self.name, what=self.what)


@dataclass(frozen=True)
class NetworkState:
    """All of it; links by their place in the file."""

    nodes: Mapping[str, NodeState] = field(default_factory=dict)
    links: Mapping[int, LinkState] = field(default_factory=dict)
    waiting: Mapping[str, str] = field(default_factory=dict)
    """Ports that the spanning tree keeps from forwarding, and what they do instead: "blocking", "listening" …"""

    @property
    def down(self) -> frozenset[int]:
        """Places of the links that are down."""
        return frozenset(place for place, link in self.links.items() if not link.up)

    @property
    def node_words(self) -> dict[str, str]:
        """The state of each node, for the drawing."""
        return {name: node.state for name, node in self.nodes.items()}

    @property
    def text(self) -> str:
        """Everything, a line each: what needs attention first."""
        nodes = sorted(self.nodes.values(), key=lambda node: node.state == RUNNING)
        links = sorted(self.links.values(), key=lambda link: link.up)
        return joined("\n", [*(node.words for node in nodes), "", *(link.words for link in links)])


def _waiting_words(ports: Sequence[str], state: str) -> Phrase:
    """What ports do instead of forwarding."""
    names, count = ", ".join(ports), len(ports)
    if state == BLOCKING:
        one, many = "{ports} is blocked by the spanning tree", "{ports} are blocked by the spanning tree"
        return of_number(count, one, many, ports=names)
    one, many = "{ports} is {state} while the spanning tree forms", "{ports} are {state} while the spanning tree forms"
    return of_number(count, one, many, ports=names, state=Phrase(state))


def tree_words(before: Mapping[str, str], after: Mapping[str, str]) -> str:
    """What has changed of the ports that the spanning tree keeps from forwarding; "" if nothing has."""
    by_state: dict[str, list[str]] = {}
    for port in sorted(after):
        if before.get(port) != after[port]:
            by_state.setdefault(after[port], []).append(port)
    said = [_waiting_words(ports, state) for state, ports in sorted(by_state.items())]
    if opened := sorted(set(before) - set(after)):
        said.append(of_number(len(opened), "{ports} forwards now", "{ports} forward now", ports=", ".join(opened)))
    return joined("; ", said)


class Watch:
    """The last samples of one running network."""

    def __init__(self, topology: Topology | None = None, ends: Sequence[tuple[str, str]] = ()) -> None:
        self.topology, self.ends = topology or Topology(), list(ends)
        self._ports: dict[str, list[str]] = {node.name: [] for node in self.topology.nodes}
        for link, pair in zip(self.topology.links, self.ends, strict=True):
            for node, port in zip((link.src, link.dest), pair, strict=True):
                self._ports[node].append(port)
        self._peers = {a: b for pair in self.ends for a, b in (pair, pair[::-1])}
        self._last: Sample | None = None
        self._controllers: Mapping[str, Mapping[str, bool]] | None = None
        self._waiting: dict[str, str] = {}
        self._roots: frozenset[str] = frozenset()
        self.state = NetworkState(
            {node.name: NodeState(node.name) for node in self.topology.nodes}
            | {c.name: self._controller(c) for c in self.topology.all_controllers},
            {i: LinkState(link.name) for i, link in enumerate(self.topology.links)},
        )

    def add(self, sample: Sample) -> NetworkState:
        """Take a sample; what it says."""
        last, self._last = self._last, sample
        if "c" in sample:
            self._controllers = sample["c"]
        if "stp" in sample:
            self._roots = frozenset(sample["stp"]["roots"])
            self._waiting = {port: state for port, state in sample["stp"]["ports"].items() if port in self._peers}
        ports = {name: values[6] for name, values in sample["i"].items() if len(values) > 6}
        links = {
            i: self._link(link, pair, sample, last, ports)
            for i, (link, pair) in enumerate(zip(self.topology.links, self.ends, strict=True))
        }
        nodes: dict[str, NodeState] = {}
        for node in self.topology.nodes:
            nodes[node.name] = self._node(node, ports)
        for controller in self.topology.all_controllers:
            nodes[controller.name] = self._controller(controller)
        waiting = {
            port: state
            for link in links.values()
            for port, state in zip(link.ports, link.waiting, strict=True)
            if state
        }
        self.state = NetworkState(nodes, links, waiting)
        return self.state

    def _link(
        self, link: Link, pair: tuple[str, str], sample: Sample, last: Sample | None, ports: Mapping[str, int]
    ) -> LinkState:
        down = [name for name in pair if ports.get(name) == DOWN]
        # a port that is up and hears nothing has its other end down, where we may not see
        unseen = [pair[1 - i] for i, name in enumerate(pair) if ports.get(name) == NO_CARRIER]
        if down:
            return LinkState(link.name, False, Phrase("{ports} taken down", ports=joined(" and ", down)))
        if unseen:
            return LinkState(link.name, False, Phrase("{port} is down or gone", port=unseen[0]))
        waiting = (self._waiting.get(pair[0], ""), self._waiting.get(pair[1], ""))
        if last is None or sample["t"] <= last["t"]:
            return LinkState(link.name, waiting=waiting, ports=pair)
        period_s = sample["t"] - last["t"]
        names = (link.src, link.dest)
        flows = []
        for end in (0, 1):
            counted = _sent(pair, end, sample, last)
            if counted is not None:
                octets, packets = counted
                flows.append(LinkFlow(names[end], names[1 - end], octets * 8 / period_s, packets / period_s))
        return LinkState(link.name, True, "", tuple(flows), waiting, pair)

    def _node(self, node: Node, ports: Mapping[str, int]) -> NodeState:
        mine = self._ports[node.name]
        down = [name for name in mine if ports.get(name) == DOWN]
        unlinked = (DOWN, NO_CARRIER)
        cut = [name for name in mine if ports.get(name) == NO_CARRIER or ports.get(self._peers[name]) in unlinked]
        words = []
        if down:
            words.append(of_number(len(down), "{ports} is down", "{ports} are down", ports=", ".join(down)))
        if cut := [name for name in cut if name not in down]:
            words.append(of_number(len(cut), "{ports} has no link", "{ports} have no link", ports=", ".join(cut)))
        served, missing = self._served(node)
        if missing:
            words.append(Phrase("controller {names} is not connected", names=", ".join(missing)))
        if words:
            return NodeState(node.name, ATTENTION, Phrase("running, but {faults}", faults=joined("; ", words)))
        template = "running, controller {names} connected" if served else "running"
        words = [Phrase(template, names=", ".join(served)), *self._tree(node)]
        return NodeState(node.name, RUNNING, joined("; ", words))

    def _tree(self, node: Node) -> list[Phrase]:
        """What the spanning tree makes of a switch and its ports; nothing of that needs attention."""
        mine = {port: self._waiting[port] for port in self._ports[node.name] if port in self._waiting}
        root = [Phrase("root of the spanning tree")] if node.name in self._roots else []
        states = sorted(set(mine.values()))
        return root + [_waiting_words([port for port in mine if mine[port] == state], state) for state in states]

    def _served(self, node: Node) -> tuple[list[str], list[str]]:
        """Names of the controllers that a switch is connected to, and of those it is not."""
        if self._controllers is None or not isinstance(node, Switch):
            return [], []
        wanted = [name for name in node.controllers if node.type in OPENFLOW]
        seen = {_port_of(target): connected for target, connected in self._controllers.get(node.name, {}).items()}
        ports = {c.name: str(c.opts.get("remotePort", 6633)) for c in self.topology.all_controllers}
        served = [name for name in wanted if seen.get(ports.get(name, ""))]
        return served, [name for name in wanted if name not in served]

    def _controller(self, controller: Controller) -> NodeState:
        name = controller.name
        switches = [s for s in self.topology.switches if s.type in OPENFLOW and name in s.controllers]
        if not switches:
            return NodeState(name, ATTENTION, Phrase("no switch is linked to it"))
        if self._controllers is None:
            return NodeState(name, UNKNOWN, Phrase("its connections are not known yet"))
        served = [s.name for s in switches if name in self._served(s)[0]]
        missing = [s.name for s in switches if name in self._served(s)[1]]
        if missing:
            words = [Phrase("not connected to {names}", names=", ".join(missing))]
            if served:
                words.insert(0, Phrase("connected to {names}", names=", ".join(served)))
            said = joined(", ", words)
            if controller.opts.get("controllerType") == "remote":
                port = controller.opts.get("remotePort", 6633)
                said = Phrase("{state}; start it in the Root Terminal, listening on port {port}", state=said, port=port)
            return NodeState(name, ATTENTION, said)
        return NodeState(name, RUNNING, Phrase("connected to {names}", names=", ".join(served)))


def _sent(pair: tuple[str, str], end: int, sample: Sample, last: Sample) -> tuple[int, int] | None:
    """Bytes and packets that went out at this end, counted there or where they came in."""
    here, there = pair[end], pair[1 - end]
    for name, octets, packets in ((here, 1, 5), (there, 0, 4)):
        now, before = sample["i"].get(name), last["i"].get(name)
        if now is not None and before is not None and len(now) > 6:
            return now[octets] - before[octets], now[packets] - before[packets]
    return None


def _port_of(target: str) -> str:
    """The port of "tcp:127.0.0.1:6633"."""
    return target.rpartition(":")[2]


def meter_arguments(topology: Topology) -> list[str]:
    """Tell the meter which nodes to look into, and whether to ask about controllers and the spanning tree.

    The ports of switches are in the root namespace; a link between hosts and routers has no end there.
    """
    switches = {switch.name for switch in topology.switches if switch.type != "legacyRouter"}
    ends = [link.src for link in topology.links if not {link.src, link.dest} & switches]
    arguments = ["--nodes", ",".join(dict.fromkeys(ends))] if ends else []
    asked = any(s.controllers and s.type in OPENFLOW for s in topology.switches)
    # without a loop nothing is blocked; with one, somebody may begin STP in a terminal
    tree = has_spanning_tree(topology) or bool(closing_links(topology))
    return [*arguments, *(["--controllers"] if asked else []), *(["--tree"] if tree else [])]
