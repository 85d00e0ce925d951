# SPDX-License-Identifier: BSD-3-Clause
"""Editor blocks of a manual, replayed without a window."""

import pytest

from linklab.errors import TopologyError
from linklab.manual.editing import EMPTY, edited
from linklab.topology import Topology

BY_HAND = [
    "host h1 at 150 250",
    "host h2 at 550 250",
    "switch s1 at 350 250",
    "link h1 s1",
    "link h2 s1",
    "set h1 ip 10.0.0.1/8",
    "set h2 ip 10.0.0.2/8",
]


def build(*lines: str, start: Topology = EMPTY) -> Topology:
    """The topology after these lines of an editor block."""
    for line in lines:
        start = edited(start, line.split())
    return start


def test_network_built_by_hand() -> None:
    """Hosts, switch and links of Lab 1 are a topology that can be run, with its ports in the order of the links."""
    topology = build(*BY_HAND)
    topology.check()
    assert topology.interfaces() == {"h1": ("h1-eth0",), "h2": ("h2-eth0",), "s1": ("s1-eth1", "s1-eth2")}
    assert [topology.address(host) for host in topology.hosts] == ["10.0.0.1/8", "10.0.0.2/8"]


def test_emptied_addresses_follow_the_base() -> None:
    """A host without an address gets the one of its number in the base of the preferences."""
    topology = build("set h1 ip", "set h2 ip", "preferences ip-base 15.0.0.0/8", start=build(*BY_HAND))
    assert [topology.address(host) for host in topology.hosts] == ["15.0.0.1/8", "15.0.0.2/8"]


def test_saved_and_opened_is_the_same() -> None:
    """What the replay saves it opens again."""
    topology = build(*BY_HAND, "preferences start-cli on")
    again = Topology.loads(topology.dumps())
    assert again == topology
    assert again.preferences.start_cli


def test_deleting_takes_the_links_along() -> None:
    """A node goes with its links; a link goes alone; New leaves nothing."""
    topology = build(*BY_HAND)
    assert [link.name for link in build("delete h1", start=topology).links] == ["h2-s1"]
    assert [link.name for link in build("delete s1 h2", start=topology).links] == ["h1-s1"]
    assert build("new", start=topology) == EMPTY


def test_deleting_leaves_the_others_their_ports() -> None:
    """What the reader saw as s1-eth2 stays it, as in the editor; a new link takes the lowest free number."""
    topology = build("delete h1 s1", start=build(*BY_HAND))
    assert topology.link_ends() == [("h2-eth0", "s1-eth2")]
    assert build("link h1 s1", start=topology).link_ends() == [("h2-eth0", "s1-eth2"), ("h1-eth0", "s1-eth1")]
    twice = build("link h1 s1", start=build(*BY_HAND))
    assert build("delete h1 s1", start=twice).link_ends() == [("h2-eth0", "s1-eth2"), ("h1-eth1", "s1-eth3")]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("link h1 s9", 'there is no node "s9"; there are h1, h2, s1'),
        ("host h1 at 1 1", 'there is a node "h1" already'),
        ("host x at 1 1", "a name ends in a number"),
        ("set s1 ip 10.0.0.9/8", 'there is no host "s1"'),
        ("delete h9", 'there is no node "h9"'),
        ("delete h1 h2", "there is no link between h1 and h2"),
        ("run", "does not change a topology"),
    ],
)
def test_impossible_steps(line: str, message: str) -> None:
    """What the editor could not do either is said."""
    with pytest.raises(TopologyError, match=message):
        build(line, start=build(*BY_HAND))
