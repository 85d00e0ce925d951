# SPDX-License-Identifier: BSD-3-Clause
"""Mininet's commands `iperf` and `iperfudp` in a network, and those of its own `mn`."""

import re

from pockets import TOPOLOGY, needs_pocket, type_

from linklab.engine.pocket import PocketEngine
from linklab.topology import Topology

pytestmark = needs_pocket
RATE = r"'[\d.]+ [GM]bits/sec'"


def test_iperf_at_the_cli_ends_with_two_results(tmp_path):
    """Also a second time, and over UDP; regression: with iperf 2.1 it waited for ever."""
    with PocketEngine().start(Topology.load(TOPOLOGY), workdir=tmp_path) as network:
        type_(network, "tc qdisc add dev s1-eth2 root tbf rate 20mbit burst 20k limit 100k")
        for _ in range(2):
            shown = type_(network, "iperf h1 h2", "mininet").output
            assert re.search(rf"\*\*\* Results: \[{RATE}, {RATE}\]", shown), shown
        shown = type_(network, "iperfudp 10M h1 h2", "mininet").output
        assert re.search(rf"\*\*\* Results: \['10M', {RATE}, {RATE}\]", shown), shown


def test_sudo_mn_tests_with_iperf(tmp_path):
    """As in Lab 1's own network."""
    with PocketEngine().start(None, workdir=tmp_path) as network:
        shown = type_(network, "sudo mn --link tc,bw=20 --test iperf", deadline_s=120).output
        assert re.search(rf"\*\*\* Results: \[{RATE}, {RATE}\]", shown), shown
