# SPDX-License-Identifier: BSD-3-Clause
"""Switches in a pocket: loops broken by a spanning tree, switches without a controller, start commands that fail."""

import re
import subprocess
import sys
from dataclasses import replace

import pytest
from pockets import needs_pocket, type_

from linklab.editor import edits
from linklab.engine.api import FailedCommand
from linklab.engine.pocket import PocketEngine
from linklab.topology import Topology

pytestmark = needs_pocket


def ring(kind, **run):
    """h1 and h2 at two of three switches in a ring."""
    topology = Topology()
    for each in (kind, kind, kind, "host", "host"):
        topology, _ = edits.add_node(topology, each, 0, 0)
    for pair in (("s1", "s2"), ("s2", "s3"), ("s3", "s1"), ("h1", "s1"), ("h2", "s3")):
        topology = edits.add_link(topology, *pair)
    return replace(topology, extra={"linklab": {"run": run}})


@pytest.mark.parametrize("kind", ["legacySwitch", "switch"])
def test_a_ring_of_switches_runs_with_a_spanning_tree(tmp_path, kind):
    """Regression: it died after 120 s. One port is blocked, the first ping arrives, and no frame circles."""
    with PocketEngine().start(ring(kind, stp="1"), workdir=tmp_path) as network:
        assert type_(network, "ping -c 2 10.0.0.2", "h1").output.count("bytes from") == 2
        if kind == "legacySwitch":
            states = type_(network, "for s in s1 s2 s3; do brctl showstp $s; done | grep state").output
        else:
            states = type_(network, "ovs-vsctl --bare --columns=status list Port").output
        assert len(re.findall(r"\bblock", states)) == 1, states
        before, after = (int(type_(network, "cat /sys/class/net/s2-eth1/statistics/rx_packets").output) for _ in "12")
        assert after - before < 20


def test_a_switch_without_a_controller_forwards_unless_the_file_says_otherwise(tmp_path):
    """As MiniEdit has it, nothing passes."""
    for run, received in (({}, "1 received"), ({"alone": "drop"}, "0 received")):
        topology = edits.delete(ring("switch", **run), {2})
        topology = edits.delete(topology, {"s2"})
        topology = edits.add_link(topology, "s1", "s3")
        with PocketEngine().start(topology, workdir=tmp_path) as network:
            assert received in type_(network, "ping -c 1 -W 1 10.0.0.2", "h1").output


def test_a_start_command_that_fails_is_told_of_and_the_network_goes_on(tmp_path):
    """Which node, which command, its status and its words; the others are typed all the same."""
    topology = edits.delete(ring("legacySwitch"), {2})
    topology = edits.set_opts(topology, "h1", {"startCommand": "cat /no/such"})
    topology = edits.set_opts(topology, "h2", {"startCommand": "echo two > two.txt; (exit 3)"})
    topology = edits.set_opts(topology, "s1", {"startCommand": "echo three > three.txt"})
    with PocketEngine().start(topology, workdir=tmp_path) as network:
        assert network.failed_commands == [
            FailedCommand("h1", "cat /no/such", 1, "cat: /no/such: No such file or directory"),
            FailedCommand("h2", "echo two > two.txt; (exit 3)", 3, ""),
        ]
        assert str(network.failed_commands[0]) == (
            "h1: cat /no/such: cat: /no/such: No such file or directory (status 1)"
        )
        assert type_(network, "ping -c 1 10.0.0.2", "h1").exit_status == 0
    assert (tmp_path / "two.txt").exists()
    assert (tmp_path / "three.txt").exists()


def test_a_start_command_may_be_longer_than_a_line_of_a_terminal(tmp_path):
    """Regression: the terminal cut it off after 4,095 bytes, and the node waited for the rest."""
    text = "$'\\n'".join(f"'line {i}'" for i in range(500))
    topology = edits.set_opts(
        edits.delete(ring("legacySwitch"), {2}), "h1", {"startCommand": f"cat > long.txt <<< {text}"}
    )
    with PocketEngine().start(topology, workdir=tmp_path) as network:
        assert network.failed_commands == []
        assert type_(network, "wc -l < long.txt", "h1").output.strip() == "500"
    assert (tmp_path / "long.txt").read_text().endswith("line 498\nline 499\n")


def test_the_shell_says_what_failed_and_breaks_a_loop(tmp_path):
    """`linklab shell` names the loop and its cure, and the start command; --stp sets the tree."""
    looped = edits.set_opts(ring("legacySwitch"), "h1", {"startCommand": "cat /no/such"})
    (tmp_path / "ring.mn").write_text(looped.dumps())
    command = [sys.executable, "-m", "linklab", "shell", "ring.mn", "--stp", "--speed", "max"]
    done = subprocess.run(
        command, cwd=tmp_path, input="h1 ping -c 1 h2\n", capture_output=True, text=True, timeout=120, check=False
    )
    assert "1 received" in done.stdout
    assert "linklab: a start command failed; the network runs without: h1: cat /no/such: " in done.stderr
    assert "is a loop" not in done.stderr
