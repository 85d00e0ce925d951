# SPDX-License-Identifier: BSD-3-Clause
"""`link h1 s1 down` and `up` of Mininet's CLI, without the loss of routes that Linux forgets with an interface."""

from __future__ import annotations

from typing import Any

from linklab.linux import routes_kept

Kept = dict[str, list[str]]
"""For each interface that is down the commands that bring back its routes."""


def change(net: Any, src: str, dst: str, status: str, kept: Kept) -> None:
    """Do what Mininet's `configLinkStatus` does; `kept` is changed."""
    ends = []
    if src in net and dst in net:
        ends = [i for pair in net[src].connectionsTo(net[dst]) for i in pair if i.node.inNamespace]
    for interface in ends if status == "down" else ():
        if lines := routes_kept.kept(lambda line, node=interface.node: str(node.cmd(line)), interface.name):  # type: ignore[misc]
            kept[interface.name] = lines
    net.configLinkStatus(src, dst, status)
    for interface in ends if status == "up" else ():
        for line in kept.pop(interface.name, _planned(interface)):
            interface.node.cmd(line)


def _planned(interface: Any) -> list[str]:
    """The default route that Mininet was told of, for a link that somebody else took down."""
    node = interface.node
    route = node.params.get("defaultRoute")
    if not route or interface is not node.defaultIntf() or node.cmd("ip route show default").strip():
        return []
    return [f"ip route replace default {route}"]
