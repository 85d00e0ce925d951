# SPDX-License-Identifier: BSD-3-Clause
"""Valid and unique names, for files whose names Linux or Mininet would refuse.

A new name resembles the old one: "Büro PC" becomes "Buro_PC". Links and switches refer to the new names. Pure.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from itertools import count
from typing import Any

from linklab.topology.checks import LONGEST_INTERFACE_NAME, NAME
from linklab.topology.model import Topology
from linklab.topology.parts import Controller, Host, Node, Switch

PREFIXES = {"legacyRouter": "r"}


def prefix_of(node: Node | Controller) -> str:
    """The letter that begins the name of a new node of this kind: h, s, r or c."""
    if isinstance(node, Switch):
        return PREFIXES.get(node.type, "s")
    return "h" if isinstance(node, Host) else "c"


def plain_name(name: str) -> str:
    """The name reduced to characters that Linux and Mininet accept; "" if no letter is left."""
    letters = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode()
    found = re.sub(r"[^A-Za-z0-9_.-]+", "_", letters.strip()).lstrip(".-_")
    return found if re.search("[A-Za-z]", found) else ""


class Names:
    """Gives names that are not taken yet."""

    def __init__(self, taken: set[str]) -> None:
        self.taken = taken
        self._counts: dict[str, Iterator[int]] = {}

    def fresh(self, wanted: str, longest: int) -> str:
        """The wanted name if it is free, else its stem with the next free number."""
        name = wanted[:longest]
        if not name or name in self.taken:
            stem = re.sub(r"\d+$", "", name) or "n"
            numbers = self._counts.setdefault(stem, count(1))
            name = next(each for n in numbers if (each := stem[: longest - len(str(n))] + str(n)) not in self.taken)
        self.taken.add(name)
        return name


def named_well(topology: Topology) -> tuple[Topology, list[str]]:
    """Give every node and controller a valid, unique name; a sentence for each new one."""
    everyone: list[Any] = [*topology.nodes, *topology.all_controllers]
    longest = _longest(topology)
    seen: set[str] = set()
    good = {node.name for node in everyone if NAME.fullmatch(node.name) and len(node.name) <= longest[node.name]}
    names = Names(set(good))
    linked = {name for link in topology.links for name in (link.src, link.dest)}
    said: list[str] = []
    renamed: dict[str, str] = {}
    controllers: dict[str, str] = {}
    changed: dict[int, Any] = {}
    for node in everyone:
        if node.name in good and node.name not in seen:
            seen.add(node.name)
            continue
        twice = node.name in seen
        seen.add(node.name)
        wanted = plain_name(node.name)
        if twice or not wanted:
            number = "" if isinstance(node, Controller) else str(node.node_num or "")
            wanted = prefix_of(node) + (number or ("0" if isinstance(node, Controller) else "1"))
        fresh = names.fresh(wanted, longest[node.name])
        # its number often is that of the name it lost, and then the links of that name are its own
        found = f", and the links to {fresh} lead to it" if twice and fresh in linked else ""
        said.append(f"a second {node.name} is now {fresh}{found}" if twice else f"{node.name} is now {fresh}")
        if not twice:
            (controllers if isinstance(node, Controller) else renamed)[node.name] = fresh
        after = replace(node, opts={**node.opts, "hostname": fresh})
        if isinstance(after, Controller) and after.key is not None:
            after = replace(after, key=fresh)
        changed[id(node)] = after
    if not said:
        return topology, said

    def asking(switch: Switch) -> Switch:
        switch = changed.get(id(switch), switch)
        asked = [controllers.get(name, name) for name in switch.controllers]
        return (
            switch if asked == list(switch.controllers) else replace(switch, opts={**switch.opts, "controllers": asked})
        )

    ends = renamed | {name: fresh for name, fresh in controllers.items() if name not in renamed}
    after = replace(
        topology,
        hosts=tuple(changed.get(id(node), node) for node in topology.hosts),
        switches=tuple(map(asking, topology.switches)),
        links=tuple(
            replace(link, src=ends.get(link.src, link.src), dest=ends.get(link.dest, link.dest))
            if link.src in ends or link.dest in ends
            else link
            for link in topology.links
        ),
        controllers=None
        if topology.controllers is None
        else tuple(changed.get(id(node), node) for node in topology.controllers),
    )
    return after, said


def _longest(topology: Topology) -> dict[str, int]:
    """The longest name that each node may have, so that the names of its interfaces fit."""
    links: Counter[str] = Counter()
    said: dict[str, int] = {}
    for link in topology.links:
        for name, port in zip((link.src, link.dest), link.ports, strict=True):
            links[name] += 1
            said[name] = max(said.get(name, 0), port or 0)
    found = dict.fromkeys((controller.name for controller in topology.all_controllers), 60)
    for node in topology.nodes:
        last = max(node.first_port + len(node.external_interfaces) + links[node.name], said.get(node.name, 0))
        found[node.name] = LONGEST_INTERFACE_NAME - (len(f"-eth{last}") if links[node.name] else 0)
    return found
