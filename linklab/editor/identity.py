# SPDX-License-Identifier: BSD-3-Clause
"""Which thing of a drawing is which, however it is now called and wherever it now stands in the file.

A `Key` names a thing in one topology: a name, or a place in a list, which the next change may give to another. Whoever
keeps hold of a thing longer than that keeps its identity. Pure.
"""

from __future__ import annotations

from collections.abc import Collection

from linklab.editor.document import Key, everyone
from linklab.topology import Topology


def identity_of(topology: Topology, key: Key) -> int | None:
    """What the thing that `key` names keeps; None where there is no such thing, or it is a switch's controller line."""
    if isinstance(key, int):
        return topology.links[key].identity if 0 <= key < len(topology.links) else None
    return next((node.identity for node in everyone(topology) if node.name == key), None)


def key_of(topology: Topology, identity: int | None) -> Key | None:
    """What names that thing in this topology; None where it is no longer there."""
    for node in everyone(topology):
        if node.identity == identity:
            return node.name
    return next((place for place, link in enumerate(topology.links) if link.identity == identity), None)


def keys_of(topology: Topology, identities: Collection[int]) -> list[Key]:
    """Those of them that are still there, nodes first, in the order of the file."""
    wanted = set(identities)
    names: list[Key] = [node.name for node in everyone(topology) if node.identity in wanted]
    return names + [place for place, link in enumerate(topology.links) if link.identity in wanted]
