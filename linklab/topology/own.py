# SPDX-License-Identifier: BSD-3-Clause
"""What Linklab keeps of links and nodes under the top-level key "linklab", where MiniEdit does not stumble over it.

    "linklab": {"links": [{"src": "r1", "dest": "h2", "ports": [2, null], "addresses": [["10.0.1.254/24"], []],
                           "forward": {...}, "backward": {...}}, …],
                "nodes": {"r1": {"routes": [{"to": "10.0.3.0/24", "via": "10.0.2.2"}]}, …}}

The n-th entry for a pair of nodes belongs to the n-th link of that pair. Unknown keys, and entries that belong to no
link or node, are kept. Pure.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from linklab.base.text import excerpt, quoted
from linklab.topology.parts import Json, Link, Node

KEY = "linklab"
N = TypeVar("N", bound=Node)


def give_to(links: tuple[Link, ...], rest: dict[str, Any]) -> tuple[Link, ...]:
    """The links with what is theirs; it is taken out of `rest`, the file's unknown keys.

    Raises:
        ValueError: our key does not hold what it should.
    """
    if KEY not in rest:
        return links
    ours = _object(rest[KEY], f'"{KEY}"')
    filed = ours.get("links")
    if filed is None:
        return links
    if not isinstance(filed, list):
        raise ValueError(f'"{KEY}": "links" must be a list')
    waiting: dict[tuple[str, str], list[dict[str, Any]]] = defaultdict(list)
    for i, entry in enumerate(filed):
        data = _object(entry, f'"{KEY}" links[{i}]')
        _check_ports(data.get("ports", [None, None]), f'"{KEY}" links[{i}]')
        waiting[str(data.get("src")), str(data.get("dest"))].append(data)
    found = []
    for link in links:
        entries = waiting[link.src, link.dest]
        own = {key: value for key, value in entries.pop(0).items() if key not in ("src", "dest")} if entries else {}
        found.append(replace(link, own=own) if own else link)
    left = [entry for entries in waiting.values() for entry in entries]
    rest[KEY] = {key: value for key, value in ours.items() if key != "links"} | ({"links": left} if left else {})
    return tuple(found)


def take_from(links: Sequence[Link], extra: Json) -> dict[str, Any]:
    """`extra` with the links' own data back in it."""
    said = {(link.src, link.dest) for link in links if link.own}
    # A pair that has an entry has one for each of its links, so that the n-th stays the n-th.
    entries = [{"src": k.src, "dest": k.dest, **k.own} for k in links if (k.src, k.dest) in said]
    if not entries:
        return dict(extra)
    ours = dict(extra.get(KEY, {}))
    return {**extra, KEY: {**ours, "links": [*entries, *ours.get("links", ())]}}


def give_to_nodes(nodes: tuple[N, ...], rest: dict[str, Any]) -> tuple[N, ...]:
    """The nodes with what is theirs; it is taken out of `rest`, the file's unknown keys. Of two of a name the first.

    Raises:
        ValueError: our key does not hold what it should.
    """
    if KEY not in rest or "nodes" not in (ours := _object(rest[KEY], f'"{KEY}"')):
        return nodes
    filed = _object(ours["nodes"], f'"{KEY}" "nodes"')
    found = []
    for node in nodes:
        own = _object(filed.get(node.name, {}), f'"{KEY}" nodes "{excerpt(node.name)}"')
        found.append(replace(node, own=own) if own else node)
        if own:
            del filed[node.name]
    if len(filed) < len(ours["nodes"]):
        rest[KEY] = {key: value for key, value in ours.items() if key != "nodes"} | ({"nodes": filed} if filed else {})
    return tuple(found)


def take_from_nodes(nodes: Sequence[Node], extra: Json) -> dict[str, Any]:
    """`extra` with the nodes' own data back in it."""
    entries = {node.name: dict(node.own) for node in nodes if node.own}
    if not entries:
        return dict(extra)
    ours = dict(extra.get(KEY, {}))
    return {**extra, KEY: {**ours, "nodes": {**ours.get("nodes", {}), **entries}}}


def _object(data: Any, where: str) -> dict[str, Any]:
    if not isinstance(data, Mapping):
        raise ValueError(f"{where} must be a JSON object, found {quoted(data)}")
    return dict(data)


def _check_ports(ports: Any, where: str) -> None:
    good = isinstance(ports, list) and len(ports) == 2
    if not good or not all(port is None or (type(port) is int and 0 <= port < 10000) for port in ports):
        raise ValueError(f'{where}: "ports" must be two numbers, or null where a port is counted')
