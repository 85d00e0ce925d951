# SPDX-License-Identifier: BSD-3-Clause
"""What is mended by itself, when the person agrees, in a file with faults that a drawing cannot show.

Other faults are left to be mended in the dialogs of what has them. Pure.
"""

from __future__ import annotations

from dataclasses import replace

from linklab.editor import edits
from linklab.editor.document import everyone
from linklab.topology import Controller, Topology


def mend(topology: Topology) -> tuple[Topology, list[str]]:
    """Names that stand twice, links and controllers that lead nowhere; a sentence for each change."""
    topology, said = _names(topology)
    names = {node.name for node in topology.nodes}
    lost = [i for i, k in enumerate(topology.links) if not {k.src, k.dest} <= names or k.src == k.dest]
    for i in lost:
        said.append(f"the link {topology.links[i].name} led nowhere and is removed")
    links = tuple(link for i, link in enumerate(topology.links) if i not in lost)
    controllers = {controller.name for controller in topology.all_controllers}
    switches = []
    for switch in topology.switches:
        given = list(switch.opts.get("controllers", ()))
        kept = [name for name in given if name in controllers]
        if kept != given:
            said.append(
                f"{switch.name} no longer asks {', '.join(sorted(set(given) - set(kept)))}, which does not exist"
            )
        switches.append(switch if kept == given else replace(switch, opts={**switch.opts, "controllers": kept}))
    return replace(topology, links=links, switches=tuple(switches)), said


def _names(topology: Topology) -> tuple[Topology, list[str]]:
    """Give every node but the first of a name a new one, by its own number if that is free."""
    said = []
    for node in everyone(topology):
        if edits.named(topology)[node.name] is node:
            continue
        kind = edits.kind_of(node)
        fresh = "" if isinstance(node, Controller) else f"{edits.PREFIXES[kind]}{node.node_num}"
        opts = {**node.opts, "hostname": fresh}
        if not fresh or fresh in edits.named(topology):
            number = edits.free_number(topology, kind)
            fresh = f"{edits.PREFIXES[kind]}{number}"
            opts = {**node.opts, "hostname": fresh} | ({} if kind == "controller" else {"nodeNum": number})
        topology = edits.exchanged(topology, node, replace(node, opts=opts))
        said.append(f"a second {node.name} is now {fresh}")
    return topology, said
