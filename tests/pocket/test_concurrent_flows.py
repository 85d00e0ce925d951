# SPDX-License-Identifier: BSD-3-Clause
"""`concurrent` and the scripts that use it, at the Mininet CLI of a real network."""

import json
import re

import pytest
from pockets import TOPOLOGY, needs_pocket, type_

from linklab.engine.api import Clock
from linklab.engine.pocket import PocketEngine
from linklab.topology import Topology

pytestmark = needs_pocket
INDEX = r"fairness index: (0\.[5-9]\d{4}|1\.00000)\n"
"""Jain's index of two flows: from 1/2, where one gets everything, to 1."""
LAB_10 = TOPOLOGY.with_name("Lab 10.mn")


def starts(folder, *names):
    """When the clients of these results began to send, in seconds of the kernel's clock."""
    return [json.loads((folder / f"{name}.json").read_text())["start"]["timestamp"]["timesecs"] for name in names]


def shaped(network):
    """20 ms and 20 Mbps on the bottleneck: cheap to compute."""
    for command in (
        "tc qdisc add dev s1-eth1 root handle 1: netem delay 20ms",
        "tc qdisc add dev s1-eth1 parent 1: handle 2: tbf rate 20mbit burst 20000 limit 50000",
    ):
        assert type_(network, command).exit_status == 0


@pytest.mark.parametrize("clock", [Clock.VIRTUAL, Clock.PACED])
def test_flows_start_together_and_leave_results(tmp_path, clock):
    """Both flows, JSON and plots in a folder beside the sourced file, the index; no server stays."""
    (tmp_path / "two_flows").write_text("# a comment\nconcurrent -t 2 h1:h2:reno h3:h4 -- -i 0.5\n")
    with PocketEngine().start(Topology.load(LAB_10), workdir=tmp_path, clock=clock) as network:
        shaped(network)
        shown = type_(network, "source two_flows", "mininet").output
        assert "2 flows of 2 s, started together: h1 to h2 (reno), h3 to h4\n" in shown
        assert re.search(INDEX, shown)
        assert type_(network, "ss -Hltn | wc -l", "h2").output.strip() == "0"
        assert "h9 is not in the network" in type_(network, "concurrent h1:h9", "mininet").output
    folder = tmp_path / "two_flows.results"
    first, second = starts(folder, "h1-reno", "h3")
    assert abs(first - second) <= 1
    assert (folder / "results" / "throughput.pdf").is_file()


@pytest.mark.long
def test_a_shipped_script_is_found_by_name_again_and_again(tmp_path):
    """PATH leads to it, also when its folder of results is there already; a broken network is named."""
    with PocketEngine().start(Topology.load(LAB_10), workdir=tmp_path) as network:
        shaped(network)
        for number in range(2):
            shown = type_(network, "source concurrent_diff_algo", "mininet").output
            assert "h1 to h2 (reno), h3 to h4 (bbr)" in shown and re.search(INDEX, shown)
            moved = "The results that were in concurrent_diff_algo are in concurrent_diff_algo.earlier-1 now."
            assert (moved in shown) == (number == 1)
        for node in ("h1", "h4", "client"):
            assert type_(network, "which plot_iperf.sh fairness.sh plot_q.sh", node).exit_status == 0
        type_(network, "ip link set h4-eth0 down", "h4")
        assert "h3 gets no answer from h4 (10.0.0.4)" in type_(network, "source concurrent_diff_algo", "mininet").output
    for folder in ("concurrent_diff_algo", "concurrent_diff_algo.earlier-1"):
        assert sorted(path.name for path in (tmp_path / folder).iterdir()) == [
            "h1-reno.json",
            "h3-bbr.json",
            "results",
        ]
    first, second = (
        json.loads((tmp_path / folder / "h1-reno.json").read_text())["start"]["timestamp"]["timesecs"]
        for folder in ("concurrent_diff_algo.earlier-1", "concurrent_diff_algo")
    )
    assert first < second


def test_each_flow_has_its_own_parallel_streams(tmp_path):
    """Three of h1 and one of h3; the results say so."""
    with PocketEngine().start(Topology.load(LAB_10), workdir=tmp_path) as network:
        shaped(network)
        shown = type_(network, "concurrent -t 2 h1:h2 -P 3 h3:h4", "mininet").output
    assert "h1 to h2 (3 streams), h3 to h4" in shown and re.search(INDEX, shown)
    streams = {path.name: json.loads(path.read_text()) for path in (tmp_path / "concurrent").glob("*.json")}
    counts = {name: found["start"]["test_start"]["num_streams"] for name, found in streams.items()}
    assert counts == {"h1-P3.json": 3, "h3.json": 1}
