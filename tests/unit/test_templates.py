# SPDX-License-Identifier: BSD-3-Clause
"""Templates: what each draws, that those of `mn` are Mininet's own, and that no two nodes lie on each other."""

import math
from itertools import combinations

import pytest

from linklab.errors import InputError
from linklab.topology import Topology
from linklab.topology.arrange import arranged
from linklab.topology.parts import position
from linklab.topology.plan import plan
from linklab.topology.templates import TEMPLATES, made

ALL = [each.name for each in TEMPLATES]
NEAREST = 55
"""Pixels between two nodes, whose icons are 40 wide with a name below."""


@pytest.mark.parametrize("text", [*ALL, "dumbbell:12", "star:40", "ring:12", "tree:3,3", "linear:6,3", "fat-tree:6"])
def test_a_template_is_a_clean_drawing(text):
    """It is a file of MiniEdit's kind, it can be planned, and no node lies on another; there is nothing to warn of."""
    topology = made(text)
    assert topology.problems() == []
    assert Topology.loads(topology.dumps()).dumps() == topology.dumps()
    assert plan(topology)["format"] == 1
    places = [position(node) for node in topology.nodes]
    assert min(math.dist(*pair) for pair in combinations(places, 2)) >= NEAREST
    assert min(min(place) for place in places) >= 0


@pytest.mark.parametrize(
    ("text", "hosts", "switches", "links"),
    [
        ("dumbbell:3", 6, 2, 7),
        ("parking-lot:4", 10, 5, 14),
        ("rtt-fairness:4", 8, 2, 9),
        ("star:7", 7, 1, 7),
        ("ring:6", 6, 6, 12),
        ("fat-tree:4", 16, 20, 48),
        ("fat-tree:6", 54, 45, 162),
        ("tree:2,3", 9, 4, 12),
        ("torus:3,4,2", 24, 12, 48),
    ],
)
def test_the_numbers_of_a_template(text, hosts, switches, links):
    """As the literature counts them: a fat tree of k ports has k³/4 hosts and 5k²/4 switches."""
    topology = made(text)
    assert (len(topology.hosts), len(topology.switches), len(topology.links)) == (hosts, switches, links)


def test_the_bottleneck_of_a_dumbbell():
    """The link between the switches, with its rate and delay in MiniEdit's own fields."""
    assert made("dumbbell:2,rate=50,delay=20").links[-1].opts == {"bw": 50, "delay": "20ms"}


def test_each_sender_of_rtt_fairness_is_twice_as_far_away():
    """5, 10 and 20 ms one way."""
    topology = made("rtt-fairness:3")
    assert [link.opts.get("delay") for link in topology.links[:3]] == ["5ms", "10ms", "20ms"]


def test_openflow_switches_ask_a_controller():
    """As MiniEdit stores it."""
    topology = made("tree:2,2,openflow=1")
    assert {switch.type for switch in topology.switches} == {"default"}
    assert {switch.controllers for switch in topology.switches} == {("c0",)}
    assert [controller.name for controller in topology.all_controllers] == ["c0"]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("dumb", 'no template "dumb"; there are dumbbell, parking-lot'),
        ("dumbbell:0", '"pairs" must be a whole number from 1 to 200, not 0'),
        ("dumbbell:x", '"pairs" must be a whole number, not "x"'),
        ("dumbbell:hosts=3", 'has no "hosts"; it takes pairs=2, rate=10, delay=10, openflow=0'),
        ("star:1,2,3", "takes 2 numbers at most"),
        ("fat-tree:5", "even number, not 5"),
        ("tree:8,64", "more than 2000"),
        ("torus:40,40,50", "more than 2000"),
    ],
)
def test_what_cannot_be_is_refused(text, why):
    """With what can be."""
    with pytest.raises(InputError, match=why):
        made(text)


def mininet_ports(topo):
    """Which port of which node each link of a Topo of Mininet's joins."""
    found = []
    for src, dest, info in topo.links(withInfo=True):
        one, other = (info["node1"], info["port1"]), (info["node2"], info["port2"])
        assert {src, dest} == {one[0], other[0]}
        found.append(frozenset({one, other}))
    return set(found)


@pytest.mark.parametrize(
    ("text", "name", "arguments"),
    [
        ("minimal", "MinimalTopo", ()),
        ("single,5", "SingleSwitchTopo", (5,)),
        ("reversed,5", "SingleSwitchReversedTopo", (5,)),
        ("linear,12", "LinearTopo", (12,)),
        ("linear,3,4", "LinearTopo", (3, 4)),
        ("tree,3,2", "TreeTopo", (3, 2)),
        ("torus,3,4", "TorusTopo", (3, 4)),
        ("torus,4,3,2", "TorusTopo", (4, 3, 2)),
    ],
)
def test_what_mn_offers_is_mininet_s_own(text, name, arguments):
    """Names, ports, and the order in which Mininet gives addresses, compared with the Mininet of this machine."""
    topo = pytest.importorskip("mininet.topo", reason="Mininet is not installed")
    topolib = pytest.importorskip("mininet.topolib")
    theirs = getattr(topo, name, None) or getattr(topolib, name)
    built, drawn = theirs(*arguments), made(text)
    assert [host.name for host in drawn.hosts] == built.hosts()
    assert {switch.name for switch in drawn.switches} == set(built.switches())
    ours = {
        frozenset({(link.src, one), (link.dest, other)})
        for link, (one, other) in zip(drawn.links, drawn.ports(), strict=True)
    }
    assert ours == mininet_ports(built)


def test_laying_out_is_the_same_every_time_and_leaves_nothing_out():
    """Every node and controller once."""
    topology = made("fat-tree:4,openflow=1")
    places = arranged(topology)
    assert places == arranged(topology)
    assert set(places) == {node.name for node in (*topology.nodes, *topology.all_controllers)}
    assert len(set(places.values())) == len(places)
