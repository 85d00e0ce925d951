# SPDX-License-Identifier: BSD-3-Clause
"""The topologies of the labs: what is wired to what, which the manuals name port by port."""

from itertools import combinations
from pathlib import Path

import pytest

from linklab.topology import Topology

FOLDER = Path(__file__).parents[2] / "topologies"
ONE_SWITCH = "s1-eth1:h1 s1-eth2:h2"
TWO_SWITCHES = "s1-eth1:h1 s1-eth2:s2-eth2 s2-eth1:h2"
TWO_PAIRS = "s1-eth1:s2-eth1 s1-eth2:h1 s1-eth3:h3 s2-eth2:h2 s2-eth3:h4"
FOUR_PAIRS = "s1-eth1:s2-eth1 s1-eth2:h1 s1-eth3:h3 s1-eth4:h5 s1-eth5:h7 s2-eth2:h2 s2-eth3:h4 s2-eth4:h6 s2-eth5:h8"
CHAIN = "s1-eth1:s2-eth1 s2-eth2:s3-eth1 s1-eth2:h1 s1-eth3:h2 s3-eth2:h3"
WIRED = {
    **dict.fromkeys((1, 2, 3, 4), ONE_SWITCH),
    **dict.fromkeys((5, 6, 7, 8, 9, 13), TWO_SWITCHES),
    **dict.fromkeys((10, 11), TWO_PAIRS),
    12: FOUR_PAIRS,
    14: "s1-eth1:h1 s1-eth2:h3 s1-eth3:h2",
    15: "s1-eth1:h1 s1-eth2:s2-eth1 s2-eth2:h2",
    **dict.fromkeys((16, 19), CHAIN),
    **dict.fromkeys((17, 18, 20), f"{CHAIN} s3-eth3:h4"),
    **dict.fromkeys((21, 22), "s1-eth1:s2-eth1 s2-eth2:s3-eth1 s1-eth2:h1 s3-eth2:h2"),
    23: "r1-eth0:h1 r1-eth1:h2",
    24: "s1-eth1:s2-eth1 s2-eth2:h1 s1-eth2:h2 s1-eth3:h3 s1-eth4:h4",
}
ROUTED = (23,)
"""Labs of routers, which have addresses of their own."""
LABS = sorted(WIRED)


def test_every_lab_has_its_row():
    """A lab's topology is held to the table as soon as it is there."""
    assert sorted(int(path.stem.split()[1]) for path in FOLDER.glob("Lab *.mn")) == LABS


@pytest.mark.parametrize("lab", LABS)
def test_ports_are_those_the_manual_names(lab):
    """Each port leads where the table of the labs says, and there are no others."""
    topology = Topology.load(FOLDER / f"Lab {lab}.mn")
    wanted = {}
    for pair in WIRED[lab].split():
        port, other = pair.split(":")
        other = other if "-" in other else f"{other}-eth0"
        wanted |= {port: other, other: port}
    assert topology.port_names() == wanted


@pytest.mark.parametrize("lab", [lab for lab in LABS if lab not in ROUTED])
def test_addresses_and_switches(lab):
    """hN is 10.0.0.N/8; switches learn by themselves; nothing is doubtful; the file is as MiniEdit lays it out."""
    path = FOLDER / f"Lab {lab}.mn"
    topology = Topology.load(path)
    assert {host.name: topology.address(host) for host in topology.hosts} == {
        f"h{n}": f"10.0.0.{n}/8" for n in (host.node_num for host in topology.hosts)
    }
    assert {switch.type for switch in topology.switches} == {"legacySwitch"}
    assert topology.problems() == []
    assert topology.dumps() == path.read_text()


@pytest.mark.parametrize("lab", ROUTED)
def test_addresses_and_routers(lab):
    """hN is 10.0.N.N/24 behind a router, .254 there; nothing is doubtful; the file is as MiniEdit lays it out."""
    path = FOLDER / f"Lab {lab}.mn"
    topology = Topology.load(path)
    for host in topology.hosts:
        assert topology.address(host) == f"10.0.{host.node_num}.{host.node_num}/24"
        assert host.opts["defaultRoute"] == f"10.0.{host.node_num}.254"
    assert {switch.type for switch in topology.switches} == {"legacyRouter"}
    assert topology.problems() == []
    assert topology.dumps() == path.read_text()


@pytest.mark.parametrize("lab", LABS)
def test_room_for_labels(lab):
    """Nodes are so far apart that names, addresses and port names fit between them."""
    for one, other in combinations(Topology.load(FOLDER / f"Lab {lab}.mn").nodes, 2):
        across, down = abs(float(one.x) - float(other.x)), abs(float(one.y) - float(other.y))
        assert across >= 150 or down >= 100, f"{one.name} and {other.name}"
