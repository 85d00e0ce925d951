# SPDX-License-Identifier: BSD-3-Clause
"""What of a drawing answers to a few words: by name, address, kind, port or text; pure."""

from __future__ import annotations

import contextlib

from linklab.editor.decorations import decorations
from linklab.editor.document import AnyNode, Key, everyone
from linklab.editor.edits import kind_of
from linklab.editor.scene import link_note
from linklab.topology import Host, Topology

KIND_WORDS = {
    "host": "host",
    "switch": "openflow switch",
    "legacySwitch": "legacy switch",
    "legacyRouter": "legacy router",
    "controller": "controller",
}


def hits(topology: Topology, words: str) -> list[Key]:
    """Everything that holds each of the words, whatever their case: exact names first, then in the order of the file.

    "10.0.0.1" finds an address, "router" every router, "s1-eth2" the link there.
    """
    wanted = words.casefold().split()
    if not wanted:
        return []
    found = [key for key, text in _described(topology) if all(word in text for word in wanted)]
    exact = " ".join(wanted)
    return sorted(found, key=lambda key: str(key).casefold() != exact)


def _described(topology: Topology) -> list[tuple[Key, str]]:
    """Every thing with all that it can be found by, in small letters."""
    described: list[tuple[Key, str]] = [(node.name, _of_node(topology, node)) for node in everyone(topology)]
    try:
        ends = topology.link_ends()
    except KeyError:
        ends = [(link.src, link.dest) for link in topology.links]
    for place, (link, pair) in enumerate(zip(topology.links, ends, strict=True)):
        described.append((place, f"link {link.name} {' '.join(pair)} {link_note(link)}"))
    described += [(key, each.described) for key, each in decorations(topology).items()]
    return [(key, text.casefold()) for key, text in described]


def _of_node(topology: Topology, node: AnyNode) -> str:
    address = str(node.opts.get("ip", node.opts.get("remoteIP", "")))
    if isinstance(node, Host):
        with contextlib.suppress(ValueError):  # what is written there is found as it is
            address = topology.address(node)
    return f"{node.name} {address} {KIND_WORDS[kind_of(node)]}"
