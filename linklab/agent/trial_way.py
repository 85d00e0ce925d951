# SPDX-License-Identifier: BSD-3-Clause
"""`python3 trial_way.py SOURCE TARGET…`: which way packets take through the network that runs here, as JSON.

A source is a node, an address of one, or "" for the first host; a target likewise, "" for the last host. Run as root in
the root namespace. Each node's own routes are asked, as its packets would ask them; between two nodes the shortest way
over bridges whose ports forward counts. Says also which ports are in use, so that tests at once share none. Changes
nothing and starts no process; read by `linklab.experiment.running`.
"""

from __future__ import annotations

import sys
from pathlib import Path

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from linklab.agent.own_kernel import cost_nothing

if __name__ == "__main__":
    cost_nothing()

import contextlib
import fcntl
import json
import re
import time
from collections import deque
from collections.abc import Callable, Sequence
from ipaddress import ip_address
from typing import Any

from linklab.agent.trial_map import Map, MapInterface, WayError
from linklab.agent.trial_nodes import NodeError

FORMAT = 1
MOST_HOPS = 64
ASKED = Path("/run/linklab/tests-asked")
"""When somebody asked: nanoseconds of this kernel's clock."""
RECENT_NS = 10_000_000_000
"""Within it the servers of a test listen."""


class Ways(Map):
    """Nodes by their names and addresses, and the ways between them."""

    # --- nodes

    def owner(self, address: str) -> str:
        """The node that an address belongs to; "" if there is none."""
        for space in self.spaces.values():
            for index, own in space.addresses:
                if own == address:
                    return space.interfaces[index].node if index in space.interfaces else space.node.name
        return ""

    def addresses(self, node: str) -> list[str]:
        """Those that others can use, IPv4 first."""
        space = self.spaces[self.space_of[node]]
        found = [own for index, own in space.addresses if space.interfaces[index].node == node]
        return sorted(found, key=lambda own: ip_address(own).version)

    def hosts(self) -> list[str]:
        """The nodes with a network of their own and an address that do not forward, in the order of their numbers."""
        found = [
            name
            for name, node in self.nodes.found.items()
            if node.apart and not self.spaces[self.space_of[name]].forwards and self.addresses(name)
        ]
        return sorted(found, key=_in_order)

    def find(self, word: str, otherwise: Callable[[list[str]], str]) -> tuple[str, str]:
        """The node that a word means, and the address by which it is reached ("" for one without)."""
        hosts = self.hosts()
        if not word:
            if len(hosts) < 2:
                raise WayError(f"a test needs two hosts with addresses, and this network has {len(hosts)}")
            word = otherwise(hosts)
        if word in self.nodes.found:
            return word, next(iter(self.addresses(word)), "")
        with contextlib.suppress(ValueError):
            word = str(ip_address(word))
            if found := self.owner(word):
                return found, word
        there = ", ".join(f"{name} ({', '.join(self.addresses(name))})" for name in hosts[:12])
        more = f" and {len(hosts) - 12} more" if len(hosts) > 12 else ""
        raise WayError(
            f"{word} is neither a node of this network nor an address of one; there are {there or 'none'}{more}"
        )

    # --- ways

    def way(self, source: str, address: str) -> list[tuple[str, str]]:
        """The ports by which packets leave on their way from a node to an address."""
        found: list[tuple[str, str]] = []
        node, target = source, self.owner(address)
        for _ in range(MOST_HOPS):
            if node == target:
                return found
            out, onward, _ = self.route(node, address)
            reached = self.owner(onward) or target
            hop = self._hop(self.ground(out), reached)
            if hop is None:
                towards = "" if onward == address else f", the next router on the way to {address}"
                raise WayError(f"no link that is up leads from {out.name} of {node} to {onward}{towards}")
            if out != self.ground(out):
                found.append(out.place)
            found += hop
            node = reached
        raise WayError(f"packets from {source} to {address} go round in circles between routers")

    def _hop(self, out: MapInterface, reached: str) -> list[tuple[str, str]] | None:
        """The ports from one node's interface to another node, over bridges."""
        waiting = deque([[out]])
        seen = {out}
        while waiting:
            ports = waiting.popleft()
            end = self.other_end(ports[-1])
            if end is None or end in seen:
                continue
            seen.add(end)
            if end.node == reached:
                return [port.place for port in ports]
            for port in self.onward(end):
                if port not in seen:
                    seen.add(port)
                    waiting.append([*ports, port])
        return None


def _in_order(name: str) -> list[tuple[int, str]]:
    """h2 before h10."""
    return [(int(part), "") if part.isdecimal() else (-1, part) for part in re.split(r"(\d+)", name)]


def ways(source: str, targets: Sequence[str]) -> dict[str, Any]:
    """All that a plan needs to know of the network.

    Raises:
        WayError, NodeError: a node is not there, or cannot be reached.
    """
    there = Ways()
    first, _ = there.find(source, lambda hosts: hosts[0])
    found: list[dict[str, Any]] = []
    for word in targets or [""]:
        target, address = there.find(word, lambda hosts: next(name for name in reversed(hosts) if name != first))
        if target == first:
            raise WayError(f"{word or target}: the target is {first}, where the test starts; a test needs two nodes")
        if not address:
            raise WayError(f"{target} has no address; give it one")
        out, _, from_address = there.route(first, address)
        up, down = there.way(first, address), there.way(target, from_address)
        found.append({"node": target, "address": address, "egress": out.name, "up": up, "down": down[::-1]})
    space = there.spaces[there.space_of[first]]
    return {
        "format": FORMAT,
        "source": first,
        "targets": found,
        "addresses": {name: there.addresses(name) for name in there.nodes.found},
        "interfaces": {
            one.name: [own for index, own in space.addresses if index == one.index]
            for one in space.interfaces.values()
            if one.node == first
        },
        "hosts": there.hosts(),
        "taken": {protocol: sorted(taken(there, protocol)) for protocol in ("tcp", "udp")},
        "recent": asked_recently(),
    }


def taken(there: Ways, protocol: str) -> set[int]:
    """The ports that something on any node uses."""
    spaces = {node.network: node for node in there.nodes.found.values()}
    return {port for node in spaces.values() for port in node.taken(protocol)}


def asked_recently() -> int:
    """How many asked before us within RECENT_NS: their tests may begin just now, though nothing listens yet."""
    ASKED.parent.mkdir(parents=True, exist_ok=True)
    with ASKED.open("a+", encoding="ascii") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        file.seek(0)
        now = time.monotonic_ns()
        before = [line for line in file.read().split() if 0 <= now - int(line) < RECENT_NS]
        file.truncate(0)
        file.write("\n".join([*before, str(now)]))
    return len(before)


def main() -> int:
    """Print what was found, or {"error": why not}."""
    source, *targets = sys.argv[1:] or [""]
    try:
        found = ways(source, targets)
    except (WayError, NodeError) as failed:
        found = {"format": FORMAT, "error": str(failed)}
    print(json.dumps(found, separators=(",", ":")))
    return 0


if __name__ == "__main__":
    sys.exit(main())
