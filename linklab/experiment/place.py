# SPDX-License-Identifier: BSD-3-Clause
"""Where a trial runs: a topology, the source, the targets, and what lies between them.

From words (`path`), from a `.mn` file, or both: words alone give one of the ready topologies.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from ipaddress import ip_interface
from pathlib import Path
from typing import Any

from linklab.base import installation
from linklab.base.text import excerpt
from linklab.errors import InputError
from linklab.experiment import ready
from linklab.experiment.path import parse_path
from linklab.topology import Topology
from linklab.topology.plan import plan as plan_of


@dataclass(frozen=True)
class PathPort:
    """An interface of a node."""

    node: str
    interface: str


@dataclass(frozen=True)
class TrialPlace:
    """What a plan needs to know of a network.

    name: of the topology, for people.
    words: of the path, whole; "" where a file says it all.
    addresses: of each node, by version of IP: the first of each.
    ports: interfaces that packets leave by between source and targets, in both directions, in the order of the way up.
    egress: the source's interface towards the first target.
    """

    topology: Topology
    name: str
    words: str
    source: str
    targets: tuple[str, ...]
    addresses: Mapping[str, Mapping[int, str]]
    ports: tuple[PathPort, ...]
    egress: str
    up_mbit: float | None = None
    """Rate of the bottleneck on the way up, if it is known."""
    commands: tuple[str, ...] = field(default=())
    """What sets the shapers and disciplines, as a person would type it, each with its node."""
    slot: int = 0
    """Which of the tests that run in this network at once; each slot has ports of its own."""

    def known(self, node: str) -> str:
        """The node of that name or address, if the network has it.

        Raises:
            InputError: it has not; the message says which there are.
        """
        if node not in self.addresses:
            owner = next((name for name, own in self.addresses.items() if node in own.values()), None)
            if owner is not None:
                return owner
            raise InputError(f"{self.name}: there is no node {excerpt(node)}; there are {', '.join(self.addresses)}")
        return node

    def address(self, node: str, version: int | None) -> str:
        """The node's address of this version of IP, or of the oldest that it has.

        Raises:
            InputError: it has none.
        """
        known = self.addresses.get(node, {})
        found = known.get(version) if version is not None else next((known[v] for v in sorted(known)), None)
        if found is None:
            what = f"no IPv{version} address" if version is not None else "no address"
            raise InputError(f"{self.name}: {node} has {what}, and this test needs one; set it in the editor")
        return found


def place_of(
    words: str, topology: str, source: str, targets: Sequence[str], *, hosts: int, version6: bool = False
) -> TrialPlace:
    """Where a trial runs.

    Args:
        words: of a path; "" where `topology` is given.
        topology: a .mn file or its name; "" for the path's own.
        source: a node; "" for the path's own, or the first host of the file.
        targets: nodes; () for the path's own, or the last host of the file.
        hosts: how many targets the test needs; those that are there take turns.
        version6: whether a path's own network needs IPv6.

    Raises:
        InputError: the words, the file, or a node cannot be.
    """
    if topology and words:
        raise InputError("give either a path in words or a topology: the file says what its links are")
    if not topology and not words:
        raise InputError('give a path, such as --path "10mbit 50ms fq_codel", or a topology with --topology')
    if words:
        path = parse_path(words)
        drawn = ready.draw(path, targets=max(1, hosts), version6=version6)
        source = source or "h1"
        targets = tuple(targets) or tuple(host.name for host in drawn.hosts[1:])
        return replace(place_in(drawn, str(path), source, targets, hosts), up_mbit=path.up_mbit)
    file = installation.topology_file(Path(topology))
    drawn = Topology.load(file)
    return place_in(drawn, "", source, targets, hosts)


def place_in(drawn: Topology, words: str, source: str, targets: Sequence[str], hosts: int) -> TrialPlace:
    """The place in a topology; see `place_of`."""
    built = plan_of(drawn)
    names = [host.name for host in drawn.hosts]
    if len(names) < 2:
        raise InputError(f"{drawn.name}: a test needs two hosts, and there are {len(names)}")
    source = source or names[0]
    targets = tuple(targets) or (next(name for name in reversed(names) if name != source),)
    known = {node["name"] for node in built["nodes"] if node["kind"] in ("host", "legacyRouter")}
    for name in (source, *targets):
        if name not in known:
            raise InputError(f"{drawn.name}: there is no host {excerpt(name)}; there are {', '.join(names)}")
    if source in targets:
        raise InputError(f"{drawn.name}: {source} cannot be the source and a target")
    place = place_between(drawn, words, [(source, target) for target in dict.fromkeys(targets)], built)
    return replace(place, targets=tuple(targets[i % len(targets)] for i in range(max(hosts, len(targets)))))


def place_between(
    drawn: Topology, words: str, pairs: Sequence[tuple[str, str]], built: Mapping[str, Any] | None = None
) -> TrialPlace:
    """The place of flows between these pairs of nodes, from the first of each to the second.

    built: the topology's plan, if it is there already.

    Raises:
        InputError: no way leads from one node of a pair to the other.
    """
    built = built or plan_of(drawn)
    ways = [way_between(drawn, *pair) for pair in pairs]
    return TrialPlace(
        topology=drawn,
        name=drawn.name,
        words=words,
        source=pairs[0][0],
        targets=tuple(dict.fromkeys(target for _, target in pairs)),
        addresses={node["name"]: _addresses(node) for node in built["nodes"]},
        ports=tuple(dict.fromkeys(port for up, down in ways for port in (*up, *down[::-1]))),
        egress=ways[0][0][0].interface,
        commands=tuple(_commands(built)),
    )


def _addresses(node: Mapping[str, Any]) -> dict[int, str]:
    found: dict[int, str] = {}
    given = [node["address"]] if node.get("address") else []
    given += [address for port in node.get("ports", ()) for address in port["addresses"]]
    for address in given:
        interface = ip_interface(address)
        found.setdefault(interface.version, str(interface.ip))
    return found


def way_between(drawn: Topology, source: str, target: str) -> tuple[list[PathPort], list[PathPort]]:
    """The ports that packets leave by on the shortest way up, and on the way down, both as they pass them.

    Raises:
        InputError: no way leads there.
    """
    near: dict[str, list[tuple[str, PathPort, PathPort]]] = defaultdict(list)
    for link, (src, dest) in zip(drawn.links, drawn.link_ends(), strict=True):
        here, there = PathPort(link.src, src), PathPort(link.dest, dest)
        near[link.src].append((link.dest, here, there))
        near[link.dest].append((link.src, there, here))
    came: dict[str, tuple[str, PathPort, PathPort]] = {source: ("", PathPort("", ""), PathPort("", ""))}
    waiting = deque([source])
    while waiting:
        node = waiting.popleft()
        for other, out, back in near[node]:
            if other not in came:
                came[other] = (node, out, back)
                waiting.append(other)
    if target not in came:
        raise InputError(f"{drawn.name}: no way leads from {source} to {target}")
    up, down, node = [], [], target
    while node != source:
        before, out, back = came[node]
        up.append(out)
        down.append(back)
        node = before
    return up[::-1], down


def _commands(built: Mapping[str, Any]) -> list[str]:
    lines = [f"{node['name']}: {node['start_command']}" for node in built["nodes"] if node.get("start_command")]
    for link in built["links"]:
        for end in (link["src"], link["dest"]):
            lines += [f"{end['node']}: {line}" for line in end.get("tc", {}).get("lines", ())]
    return lines
