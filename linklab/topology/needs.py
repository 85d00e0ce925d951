# SPDX-License-Identifier: BSD-3-Clause
"""What a drawing needs of a kernel: the disciplines and links that it is built of."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from linklab.tc.needs import BY_TIME, Needs
from linklab.topology.model import Topology
from linklab.topology.plan import plan

_OVS_KINDS = ("ovs", "default")


def of_topology(topology: Topology | None) -> Needs:
    """What a drawing needs; links are pairs of veth, hosts use CUBIC."""
    found = Needs(links=frozenset({"veth"}), congestion=frozenset({"cubic"}))
    if topology is None:
        return found
    built = plan(topology)
    kinds = {node["kind"] for node in built["nodes"]}
    if "legacySwitch" in kinds:
        found |= Needs(links=frozenset({"bridge"}))
    if kinds & set(_OVS_KINDS):
        found |= Needs(families=frozenset({"ovs_datapath"}))
    if any(node.get("vlan_interfaces") for node in built["nodes"]):
        found |= Needs(links=frozenset({"vlan"}))
    for link in built["links"]:
        found |= _of_options(link["opts"])
        for end in (link["src"], link["dest"]):
            found |= Needs(qdiscs=frozenset(qdisc["kind"] for qdisc in end.get("tc", {}).get("qdiscs", ())))
            if any(line.startswith("linklab link ") for line in end.get("tc", {}).get("lines", ())):
                found |= BY_TIME
    return found


def _of_options(options: Mapping[str, Any]) -> Needs:
    """Of Mininet's own link options (mininet.link, TCIntf)."""
    shaped = {"htb"} if "bw" in options else set()
    if {"delay", "jitter", "loss", "max_queue_size"} & set(options):
        shaped.add("netem")
    return Needs(qdiscs=frozenset(shaped))
