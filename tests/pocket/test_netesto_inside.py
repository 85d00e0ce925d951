# SPDX-License-Identifier: BSD-3-Clause
"""`linklab netesto run` in a terminal of a network: each experiment on it, and the network as it was afterwards."""

import csv
from pathlib import Path

import pytest
from pockets import needs_pocket, type_

from linklab.engine.api import Clock
from linklab.engine.choice import load_engine
from linklab.topology import Topology

pytestmark = needs_pocket

SCRIPT = """SOURCE inlib
SET_NETEM host=h1 netem_delay=10
SET_QDISC host=s1 qdisc=tbf rate=10mbit burst=1600 limit=50000
SET_SYSCTL host=h2 net.ipv4.tcp_wmem=4096,16384,200000
RUN MServerStream,2 servers=h1 clients=h2,there ca=cubic dur=2 instances=1 expName=one
SET_QDISC host=s1 qdisc=tbf rate=20mbit burst=1600 limit=50000
RUN MServerStream servers=h1 clients=h2,there ca=bbr dur=2 instances=1 expName=two
"""
WMEM = "cat /proc/sys/net/ipv4/tcp_wmem"


@pytest.fixture(scope="module")
def network(tmp_path_factory):
    """That of Lab 24: three clients, two switches, a server."""
    topology = Topology.load(Path(__file__).parents[2] / "topologies" / "Lab 24.mn")
    folder = tmp_path_factory.mktemp("netesto")
    with load_engine("pocket").start(topology, workdir=folder, clock=Clock.VIRTUAL, seed=1) as running:
        running.folder = folder
        yield running


@pytest.mark.long
def test_experiments_follow_each_other_and_leave_no_trace(network):
    """With the settings of each, from the Client's terminal; machines by another name are mapped."""
    (network.folder / "mine").write_text(SCRIPT)
    before = type_(network, WMEM, "h2").output
    done = type_(network, "linklab netesto run mine --map there=h3", "client", deadline_s=300)
    assert done.exit_status == 0, done.output
    assert done.output.splitlines()[:4] == [
        "3 experiments with 6 flows, one after the other: 6 s of network time.",
        "1/3 1 one: done",
        "2/3 2 one: done",
        "3/3 3 two: done",
    ]
    with (network.folder / "netesto-mine" / "exp.csv").open() as file:
        rows = [row for row in csv.DictReader(file) if row["exp"].endswith(".0")]
    assert [(row["expName"], row["ca"], row["netem"], row["bw"]) for row in rows] == [
        ("one", "cubic", "10", "10mbit"),
        ("one", "cubic", "10", "10mbit"),
        ("two", "bbr", "10", "20mbit"),
    ]
    rates = [float(row["rate"]) for row in rows]
    assert rates == pytest.approx([9.4, 9.4, 18.5], rel=0.1)
    assert all(10_000 < float(row["pingRtt"]) < 60_000 for row in rows)
    group = (network.folder / "netesto-mine" / "1" / "exp.out.1").read_text()
    assert "tcpWmem = 200000" in " ".join(group.split())
    assert type_(network, WMEM, "h2").output == before
    for port in ("h1-eth0", "s1-eth1"):
        terminal = "h1" if port.startswith("h1") else "client"
        assert type_(network, f"tc qdisc show dev {port}", terminal).output.startswith("qdisc noqueue 0:")


def test_what_somebody_set_is_not_replaced(network):
    """It could not be put back; nothing runs, and the message says what to do."""
    (network.folder / "mine").write_text(SCRIPT.replace("there", "h3"))
    type_(network, "tc qdisc add dev s1-eth1 root pfifo limit 7", "client")
    refused = type_(network, "linklab netesto run mine -o other", "client", deadline_s=60)
    type_(network, "tc qdisc del dev s1-eth1 root", "client")
    assert refused.exit_status == 2
    assert "s1-eth1 has a discipline already (pfifo" in refused.output
    assert "sudo tc qdisc del dev s1-eth1 root" in refused.output
    assert not (network.folder / "other").exists()


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ("--topology x.mn", "leave the option out"),
        ("--jobs 2", "one experiment at a time"),
        ("--map h9=h7", "h9"),
    ],
)
def test_what_only_another_network_has_is_refused(network, words, says):
    """Before anything runs."""
    (network.folder / "mine").write_text(SCRIPT.replace("there", "h9"))
    refused = type_(network, f"linklab netesto run mine -o none {words}", "client", deadline_s=60)
    assert (refused.exit_status, says in refused.output) == (2, True), refused.output
    assert not (network.folder / "none").exists()
