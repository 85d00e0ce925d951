# SPDX-License-Identifier: BSD-3-Clause
"""Loops of switches, and how the drawing says that switches behave: spanning tree, no controller. Pure.

The file keeps the choices under "linklab" "run": "stp" ("1": every switch speaks the Spanning Tree Protocol) and
"alone" ("drop": an OpenFlow switch without a controller forwards nothing, as MiniEdit has it).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, TypeVar

from linklab.topology.drawn import DrawnNetwork
from linklab.topology.parts import Switch

N = TypeVar("N", bound=DrawnNetwork)
OPENFLOW = ("default", "ovs", "ivs", "user", "userns")


def run_settings(network: DrawnNetwork) -> Mapping[str, Any]:
    """The file's settings for a run; empty if it has none that can be read."""
    ours = network.extra.get("linklab")
    run = ours.get("run") if isinstance(ours, Mapping) else None
    return run if isinstance(run, Mapping) else {}


def has_spanning_tree(network: DrawnNetwork) -> bool:
    """Whether the switches speak STP."""
    return run_settings(network).get("stp") == "1"


def lone_switches_drop(network: DrawnNetwork) -> bool:
    """Whether an OpenFlow switch without a controller forwards nothing."""
    return run_settings(network).get("alone") == "drop"


def with_spanning_tree(topology: N) -> N:
    """The topology whose switches speak STP."""
    ours = topology.extra.get("linklab")
    ours = ours if isinstance(ours, Mapping) else {}
    run = {**run_settings(topology), "stp": "1"}
    return replace(topology, extra={**topology.extra, "linklab": {**ours, "run": run}})


def is_switch(node: object) -> bool:
    """Whether this is a switch of any kind, but not a router."""
    return isinstance(node, Switch) and node.type != "legacyRouter"


def lone_switches(network: DrawnNetwork) -> list[str]:
    """The names of the OpenFlow switches without a controller."""
    known = {controller.name for controller in network.all_controllers}
    if network.version == "1" and "c0" in known:
        return []
    return [
        switch.name for switch in network.switches if switch.type in OPENFLOW and not known & set(switch.controllers)
    ]


def closing_links(network: DrawnNetwork) -> list[int]:
    """The links that close a loop of switches, by their places in the file; the others are a tree, or several."""
    return _trees(network)[0]


def loops(network: DrawnNetwork, most: int | None = None) -> dict[int, tuple[str, ...]]:
    """For each link that closes a loop of switches, by its place in the file, the switches of the loop, in order.

    Each loop may be as long as there are switches; most: how many to find, the first ones; None for all.
    """
    closing, trees = _trees(network)
    return {i: _path(trees, network.links[i].src, network.links[i].dest) for i in closing[:most]}


def _trees(network: DrawnNetwork) -> tuple[list[int], Mapping[str, list[str]]]:
    """The links that close a loop, and for each switch those beside it without these links."""
    beside: dict[str, list[str]] = {node.name: [] for node in network.switches if is_switch(node)}
    group = {name: name for name in beside}

    def root(name: str) -> str:
        while group[name] != name:
            group[name] = group[group[name]]  # halves the way for the next search
            name = group[name]
        return name

    closing = []
    for i, link in enumerate(network.links):
        if link.src not in beside or link.dest not in beside:
            continue
        src, dest = root(link.src), root(link.dest)
        if src == dest:
            closing.append(i)
        else:
            group[src] = dest
            beside[link.src].append(link.dest)
            beside[link.dest].append(link.src)
    return closing, beside


def _path(beside: Mapping[str, list[str]], start: str, end: str) -> tuple[str, ...]:
    """The switches on the path between two switches of a tree."""
    before: dict[str, str] = {start: start}
    waiting = deque([start])
    while waiting and end not in before:
        at = waiting.popleft()
        for following in beside[at]:
            if following not in before:
                before[following] = at
                waiting.append(following)
    path = [end]
    while path[-1] != start:
        path.append(before[path[-1]])
    return tuple(reversed(path))


def loop_words(network: DrawnNetwork, most: int = 3) -> str:
    """The loops as a sentence, "" if there are none: "s1 – s2 – s3 – s1 and s4 – s5 – s4 are loops of switches"."""
    count = len(closing_links(network))
    if not count:
        return ""
    shown = [" – ".join((*path, path[0])) for path in loops(network, most).values()]
    if count > most:
        shown.append(f"{count - most} more")
    if count == 1:
        return f"{shown[0]} is a loop of switches"
    return f"{', '.join(shown[:-1])} and {shown[-1]} are loops of switches"
