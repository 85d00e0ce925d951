# SPDX-License-Identifier: BSD-3-Clause
"""A drawing with two routers for the tests of addresses and routes: h1, h2 - s1 - r1 - r2 - h3."""

from dataclasses import replace

from linklab.editor import edits
from linklab.topology import Topology

ORDER = (("h1", "s1"), ("h2", "s1"), ("r2", "s1"), ("r2", "r3"), ("h3", "r3"))


def drawn():
    """Three hosts, a switch and two routers, without addresses of their own; the routers are called r2 and r3."""
    topology = Topology()
    for kind in ("host", "host", "host", "legacySwitch", "legacyRouter", "legacyRouter"):
        topology, _ = edits.add_node(topology, kind, 0, 0)
    for pair in ORDER:
        topology = edits.add_link(topology, *pair)
    return topology


def addressed(**changes):
    """The drawing with an address at every port and routes; `changes` replaces those of ports or nodes."""
    ours = {
        "r2-eth0": ["10.0.1.254/24"],
        "r2-eth1": ["10.0.2.1/24"],
        "r3-eth0": ["10.0.2.2/24"],
        "r3-eth1": ["10.0.3.254/24", "2001:db8:3::1/64"],
        "h3-eth0": [],
        "r2": [{"to": "10.0.3.0/24", "via": "10.0.2.2"}],
        "r3": [{"to": "default", "via": "10.0.2.1"}],
        **{key.replace("_", "-"): value for key, value in changes.items()},
    }
    topology = drawn()
    for name, ip, gateway in (
        ("h1", "10.0.1.1/24", "10.0.1.254"),
        ("h2", "10.0.1.2/24", "10.0.1.254"),
        ("h3", "10.0.3.1/24", "10.0.3.254"),
    ):
        topology = edits.set_opts(topology, name, {"ip": ip, "defaultRoute": gateway})
    for i, ends in enumerate(topology.link_ends()):
        given = [ours.get(end, []) for end in ends]
        if any(given):
            topology = edits.set_link(topology, i, {}, {**topology.links[i].own, "addresses": given})
    switches = [replace(s, own={"routes": ours[s.name]} if ours.get(s.name) else {}) for s in topology.switches]
    return replace(topology, switches=tuple(switches))
