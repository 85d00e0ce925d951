# SPDX-License-Identifier: BSD-3-Clause
"""Which way packets take through a running network, as its own nodes say: bridges, Open vSwitch, routers, VLANs."""

import json

import pytest
from pockets import needs_pocket, type_

from linklab.editor import edits
from linklab.engine.api import Clock
from linklab.engine.choice import load_engine
from linklab.topology import Topology

pytestmark = needs_pocket

WAY = "python3 /opt/linklab/linklab/agent/trial_way.py"


@pytest.fixture(scope="module")
def network(tmp_path_factory):
    """h1 - s1 (Open vSwitch) - s2 (a bridge) - h2, h3; h3 has a second network behind r4, with h5."""
    drawn = Topology()
    for kind in ("switch", "legacySwitch", "host", "host", "host", "legacyRouter", "host"):
        drawn, _ = edits.add_node(drawn, kind, 0, 0)
    names = [node.name for node in drawn.nodes]
    hosts = [name for name in names if name.startswith("h")]
    (router,) = [name for name in names if name.startswith("r")]
    for pair in (("s1", "s2"), ("h1", "s1"), ("h2", "s2"), ("h3", "s2"), (router, "s2"), (hosts[3], router)):
        drawn = edits.add_link(drawn, *pair)
    with load_engine("pocket").start(
        drawn, workdir=tmp_path_factory.mktemp("way"), clock=Clock.VIRTUAL, seed=1
    ) as running:
        running.router, running.far = router, hosts[3]
        lines = (
            (router, f"ip addr add 10.0.0.100/8 dev {router}-eth0; ip addr add 192.168.9.1/24 dev {router}-eth1"),
            (hosts[3], f"ip addr flush dev {hosts[3]}-eth0; ip addr add 192.168.9.2/24 dev {hosts[3]}-eth0"),
            (hosts[3], "ip route add default via 192.168.9.1"),
            ("h1", "ip route add 192.168.9.0/24 via 10.0.0.100"),
            ("h1", "ip link add link h1-eth0 name h1-eth0.5 type vlan id 5; ip link set h1-eth0.5 up"),
            ("h2", "ip link add link h2-eth0 name h2-eth0.5 type vlan id 5; ip link set h2-eth0.5 up"),
            ("h1", "ip addr add 10.5.0.1/24 dev h1-eth0.5"),
            ("h2", "ip addr add 10.5.0.2/24 dev h2-eth0.5"),
        )
        for node, line in lines:
            assert type_(running, line, node).exit_status == 0
        yield running


def asked(network, *words):
    """What the program says."""
    return json.loads(type_(network, f"{WAY} {' '.join(words)}").output)


def test_over_switches_of_both_kinds(network):
    """In both directions, each port by which packets leave; without a word, from the first host to the last."""
    found = asked(network, "h1", "h2")
    assert found["targets"] == [
        {
            "node": "h2",
            "address": "10.0.0.2",
            "egress": "h1-eth0",
            "up": [["h1", "h1-eth0"], ["s1", "s1-eth1"], ["s2", "s2-eth2"]],
            "down": [["s1", "s1-eth2"], ["s2", "s2-eth1"], ["h2", "h2-eth0"]],
        }
    ]
    assert found["hosts"] == ["h1", "h2", "h3", network.far]
    assert asked(network)["targets"][0]["node"] == network.far


def test_through_a_router_by_the_routes_of_each_node(network):
    """A router's own address is a target, too."""
    (target,) = asked(network, "10.0.0.1", "192.168.9.2")["targets"]
    assert target["node"] == network.far
    assert target["up"][-2:] == [["s2", "s2-eth4"], [network.router, f"{network.router}-eth1"]]
    assert target["down"][-1] == [network.far, f"{network.far}-eth0"]
    assert asked(network, "h1", "10.0.0.100")["targets"][0]["node"] == network.router


def test_over_a_vlan_and_what_it_stands_upon(network):
    """Both interfaces hold packets."""
    (target,) = asked(network, "h1", "10.5.0.2")["targets"]
    assert (target["egress"], target["address"]) == ("h1-eth0.5", "10.5.0.2")
    assert target["up"][:2] == [["h1", "h1-eth0.5"], ["h1", "h1-eth0"]]
    assert target["down"][-2:] == [["h2", "h2-eth0"], ["h2", "h2-eth0.5"]]


def test_what_leads_nowhere_is_said(network):
    """No such address, no route, the node itself, a link that is down."""
    assert asked(network, "h1", "9.9.9.9")["error"].startswith(
        "9.9.9.9 is neither a node of this network nor an address of one; there are h1 (10.0.0.1, 10.5.0.1), h2 ("
    )
    assert asked(network, "h2", "192.168.9.2")["error"] == (
        "h2 has no route to 192.168.9.2; set its address or its routes"
    )
    assert asked(network, "h1", "10.5.0.1")["error"].startswith("10.5.0.1: the target is h1, where the test starts")
    type_(network, "ip link set s1-eth1 down")
    assert asked(network, "h1", "h2")["error"] == "no link that is up leads from h1-eth0 of h1 to 10.0.0.2"
    far = asked(network, "h1", "192.168.9.2")["error"]
    assert far.endswith("h1-eth0 of h1 to 10.0.0.100, the next router on the way to 192.168.9.2")
