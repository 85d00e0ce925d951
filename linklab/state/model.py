# SPDX-License-Identifier: BSD-3-Clause
"""What a network is set to, as plain data: JSON text of `linklab.agent.node_state` ↔ `State`.

A state may come from a hostile student: every name, number and word is checked here, so that what is made of them later
(`linklab.exercise.restore`) is safe to give to a shell. Options of disciplines are in `linklab.tc`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from linklab.errors import InputError
from linklab.state.node import Interface, Node, read_node
from linklab.state.strict import At, load_json

FORMAT = 1
CLIENT = "client"
FOR_FREE = "free=/sys/module/pocket/parameters/free; [ ! -w $free ] || echo 1 >|$free; "
"""Begins a subshell that costs no network time; nor does the program that it becomes (kernel/README.md, `free`)."""
READ_STATE = f"({FOR_FREE}PYTHONSAFEPATH=1 exec python3 -S -m linklab.agent.node_state)"
"""What is typed in a network to read it.

Reading costs almost no network time, so a run depends neither on the size of our modules nor on whether they are
compiled.
What lies in the working folder is not ours: no json.py there may stand in for the standard one (Python 3.11). -S leaves
out the packages that are installed, which would take as long as Python itself.
"""
_MOST_BEGUN = 10**6
_NODE = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,14}")  # as a drawing may name one


@dataclass(frozen=True)
class SetEnv:
    """How many of a lab's set_env.sh have begun in the network since its start, and whether one runs."""

    begun: int = 0
    running: bool = False


@dataclass(frozen=True)
class State:
    """What a whole network is set to; nodes by name, "client" among them.

    set_env: what a lab's set_env.sh has had to do with it.
    """

    nodes: Mapping[str, Node]
    set_env: SetEnv = SetEnv()

    @classmethod
    def loads(cls, text: str, where: str = "the state") -> State:
        """Read JSON text.

        where: what the text is called in messages.

        Raises:
            InputError: anything that the agent would not say; the sentence names the place.
        """
        try:
            data = load_json(text)
        except ValueError as error:
            raise InputError(f"{where}: no state of a network: {error}") from error
        at = At(where)
        top = at.mapping(data, {"format", "nodes", "set_env"})
        if top.get("format") != FORMAT:
            raise InputError(f"{where}: of format {top.get('format')!r}; I know {FORMAT}")
        nodes = {name: read_node(at / name, node) for name, node in at.named(top.get("nodes"), _NODE).items()}
        if CLIENT not in nodes:
            raise InputError(f"{where}: has no {CLIENT}, the root namespace")
        owners: dict[str, str] = {}
        for name, node in nodes.items():
            for interface in node.interfaces:
                if interface != "lo" and owners.setdefault(interface, name) != name:
                    raise InputError(f"{where}: {interface} is both at {owners[interface]} and at {name}")
        return cls(nodes, _read_set_env(at / "set_env", top["set_env"]) if "set_env" in top else SetEnv())

    def dumps(self) -> str:
        """Canonical JSON text: sorted keys, one line for each value; what is empty is left out."""
        told: dict[str, Any] = {"format": FORMAT, "nodes": _full(asdict(self)["nodes"])}
        if self.set_env != SetEnv():
            told["set_env"] = asdict(self.set_env)
        return json.dumps(told, indent=1, sort_keys=True) + "\n"

    def interfaces(self) -> dict[str, tuple[str, Interface]]:
        """Node and settings of each interface by name; without lo, which each node has."""
        return {
            name: (node, interface)
            for node, settings in self.nodes.items()
            for name, interface in settings.interfaces.items()
            if name != "lo"
        }


def _read_set_env(at: At, data: Any) -> SetEnv:
    table = at.mapping(data, {"begun", "running"})
    begun = (at / "begun").number(table.get("begun"), _MOST_BEGUN, "how many have begun")
    return SetEnv(begun, (at / "running").flag(table.get("running")))


def _full(value: Any) -> Any:
    """Without empty words, lists and objects, which loads() fills in."""
    if isinstance(value, Mapping):
        return {key: _full(item) for key, item in value.items() if item not in ("", (), [], {}) or key == "interfaces"}
    return [_full(item) for item in value] if isinstance(value, (list, tuple)) else value
