# SPDX-License-Identifier: BSD-3-Clause
"""The machines that a script names → the nodes of a topology, given or drawn for it.

A name is a node's as it stands, or without what follows its first dot, or by the person's own map: --map, or a file
`hosts.map` beside the script, with a line NAME=NODE for each.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from linklab.base.text import excerpt
from linklab.base.toml import read_text
from linklab.errors import InputError
from linklab.experiment.path import parse_path
from linklab.experiment.ready import draw_star
from linklab.netesto.command_table import ANY_HOST
from linklab.netesto.expansion import TimedCommand
from linklab.netesto.experiments import machines
from linklab.topology import Topology

MAP_FILE = "hosts.map"
PATH = "1gbit 0ms 1000p"
"""Of a network that is drawn for a script, unless another is asked for."""
_NODE = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,8}")
"""What may be a node's name: an interface of it has a few letters more, and Linux allows 15."""


@dataclass(frozen=True)
class Machines:
    """The network that a script runs on, and which node each of its machines is."""

    topology: Topology
    nodes: Mapping[str, str]


def read_map(words: Sequence[str], script: Path) -> dict[str, str]:
    """Name → node of `hosts.map` beside the script and of the words NAME=NODE,…, which come first.

    Raises:
        InputError: a line or word is not NAME=NODE.
    """
    found: dict[str, str] = {}
    file = script.parent / MAP_FILE
    if file.exists():
        for number, line in enumerate(read_text(file).splitlines(), 1):
            if line.strip():
                name, node = _pair(line.strip(), f"{file}:{number}")
                found[name] = node
    for word in words:
        for part in filter(None, word.split(",")):
            name, node = _pair(part, "--map")
            found[name] = node
    return found


def _pair(text: str, where: str) -> tuple[str, str]:
    name, equals, node = (part.strip() for part in text.partition("="))
    if not equals or not name or not node:
        raise InputError(f'{where}: "{excerpt(text)}" must be NAME=NODE, such as kerneltest010=h1')
    return name, node


def on_topology(commands: Sequence[TimedCommand], topology: Topology, given: Mapping[str, str]) -> Machines:
    """The machines of a script on a topology.

    Raises:
        InputError: some machines are no nodes; the message names all of them, and the nodes that there are.
    """
    there = [node.name for node in topology.nodes]
    return Machines(topology, nodes_of(commands, there, given, topology.name))


def nodes_of(
    commands: Sequence[TimedCommand], there: Sequence[str], given: Mapping[str, str], network: str
) -> dict[str, str]:
    """The node that each machine of a script is.

    Args:
        commands: of the script.
        there: the nodes of the network.
        given: nodes that the person chose.
        network: its name, for people.

    Raises:
        InputError: some machines are no nodes; the message names all of them, and the nodes that there are.
    """
    names = machines(commands)
    nodes = {name: _node(name, there, given) for name in names}
    missing = [name for name, node in nodes.items() if node not in there]
    if missing:
        raise InputError(
            f"{network} has no {_listed(missing, 'or')}, which the script names; "
            f"it has {_listed(there, 'and')}. The script names {_listed(names, 'and')}; "
            f"say which is which with --map {missing[0]}={there[0] if there else 'NODE'},… or in a file {MAP_FILE} "
            "beside the script"
        )
    return nodes


def _node(name: str, there: Sequence[str], given: Mapping[str, str]) -> str:
    short = name.partition(".")[0]
    for each in (name, short):
        if each in given:
            return given[each]
    return name if name in there else short


def _listed(names: Iterable[str], last: str) -> str:
    """The names as a sentence has them."""
    quoted = [excerpt(name) for name in names]
    return f" {last} ".join(filter(None, (", ".join(quoted[:-1]), quoted[-1]))) if quoted else "none"


def drawn_for(
    commands: Sequence[TimedCommand], given: Mapping[str, str], *, words: str = "", version6: bool = False
) -> Machines:
    """A network for the machines of a script: a router with a port for each.

    A machine that no flow begins or ends at, and on which the script sets a rate, is that router. What cannot be the
    name of a node is called h1, h2, and so on.

    Args:
        commands: of the script.
        given: nodes that the person chose.
        words: of the path to each host (`linklab.experiment.path`); "" for PATH.
        version6: whether it needs IPv6.
    """
    names = machines(commands)
    router = _router(names, commands)
    shown = {name: _node(name, (), given) for name in names}
    taken: set[str] = set()
    nodes: dict[str, str] = {}
    for name in names:
        node = shown[name]
        if _same_machine(name, [other for other in nodes if nodes[other] == node], given):
            nodes[name] = node
            continue
        if not _NODE.fullmatch(node) or node.lower() in taken:
            kind = "r" if name == router else "h"
            free = (f"{kind}{number}" for number in range(1, len(names) + 2))
            node = next(each for each in free if each not in taken | {other.lower() for other in shown.values()})
        taken.add(node.lower())
        nodes[name] = node
    middle = nodes[router] if router else next(each for each in ("r1", "r0", "rt") if each not in taken)
    hosts = [node for node in dict.fromkeys(nodes.values()) if node != middle]
    if len(hosts) < 2:
        raise InputError(f"the script has flows between {len(hosts)} machines, and a network needs two")
    return Machines(draw_star(parse_path(words or PATH), hosts, middle, version6=version6), nodes)


def _same_machine(name: str, others: Sequence[str], given: Mapping[str, str]) -> bool:
    """Whether a name is of the machine of the others: the person says so, or one is another without its suffix."""
    if others and (name in given or name.partition(".")[0] in given):
        return True
    return any(name.partition(".")[0] == other or other.partition(".")[0] == name for other in others)


def _router(names: Sequence[str], commands: Sequence[TimedCommand]) -> str:
    """The machine that stands between the others; "" if the script names none."""
    ends: set[str] = set()
    shaped: set[str] = set()
    for command in commands:
        given = command.arguments
        if command.word in ("DO_SERVER", "DO_CLIENT"):
            ends |= {given[key] for key in ("host", "server") if key in given}
        elif command.word == "DO_TCPDUMP" and given["server"] != ANY_HOST:
            ends.add(given["server"])
        elif command.word == "SET_QDISC" and given["rate"]:
            shaped.add(given["host"])
    return next((name for name in names if name in shaped - ends), "")
