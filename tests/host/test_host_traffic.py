# SPDX-License-Identifier: BSD-3-Clause
"""What a kernel without netem and AQM can do, for real: TBF, HTB with u32 filters, BBR."""

import json

import pytest
from hosts import needs_host, needs_kernel, star, type_

from linklab.engine.api import Background, Typed
from linklab.engine.host import HostEngine
from linklab.tc.needs import Needs

pytestmark = needs_host
SHAPERS = Needs(qdiscs=frozenset({"tbf"}))
CLASSES = Needs(qdiscs=frozenset({"htb"}), filters=frozenset({"u32"}))
BBR = Needs(congestion=frozenset({"bbr", "cubic"}))


@pytest.fixture(scope="module")
def network(tmp_path_factory):
    """h1, h2, h3 at s1."""
    with HostEngine().start(star(3), workdir=tmp_path_factory.mktemp("traffic")) as running:
        yield running


@needs_kernel(SHAPERS)
def test_a_token_bucket_holds_the_rate_it_is_set_to(network):
    """20 Mbit/s of frames carry 20 × 1448/1514 = 19.1 Mbit/s of payload, and a burst at the start."""
    done = type_(network, "tc qdisc add dev s1-eth2 root tbf rate 20mbit burst 10000 limit 100000")
    assert done.exit_status == 0
    network.run([Typed("h2", "iperf3 -s", Background())])
    sent = json.loads(type_(network, "iperf3 -c 10.0.0.2 -t 3 -J", "h1").output)
    assert 17e6 < sent["end"]["sum_received"]["bits_per_second"] < 20e6
    assert "Server listening" in network.stop("h2").output


@needs_kernel(CLASSES)
def test_classes_share_a_port_as_they_are_told(network):
    """As in Lab 20: of 40 Mbit/s h1 is guaranteed 30 and h2 10, so three quarters and a quarter."""
    for line in (
        "tc qdisc add dev s1-eth3 root handle 1: htb",
        "tc class add dev s1-eth3 parent 1: classid 1:1 htb rate 40mbit ceil 40mbit",
        "tc class add dev s1-eth3 parent 1:1 classid 1:10 htb rate 30mbit ceil 40mbit",
        "tc class add dev s1-eth3 parent 1:1 classid 1:20 htb rate 10mbit ceil 40mbit",
        "tc filter add dev s1-eth3 protocol ip parent 1: prio 1 u32 match ip src 10.0.0.1 flowid 1:10",
        "tc filter add dev s1-eth3 protocol ip parent 1: prio 1 u32 match ip src 10.0.0.2 flowid 1:20",
    ):
        assert type_(network, line).exit_status == 0, line
    network.run([Typed("h3", "iperf3 -s -p 5201", Background()), Typed("h3#2", "iperf3 -s -p 5202", Background())])
    done = network.run(
        [Typed("h1", "iperf3 -c 10.0.0.3 -p 5201 -t 4 -O 1 -J"), Typed("h2", "iperf3 -c 10.0.0.3 -p 5202 -t 4 -O 1 -J")]
    )
    first, second = (json.loads(one.output)["end"]["sum_received"]["bits_per_second"] for one in done)
    assert 33e6 < first + second < 41e6
    assert 0.68 < first / (first + second) < 0.82


@needs_kernel(BBR)
def test_each_host_has_its_own_congestion_control(network):
    """BBR on h1 while h2 keeps the baseline's CUBIC."""
    assert type_(network, "sysctl -w net.ipv4.tcp_congestion_control=bbr", "h1").exit_status == 0
    network.run([Typed("h2", "iperf3 -s", Background())])
    sent = json.loads(type_(network, "iperf3 -c 10.0.0.2 -n 1M -J", "h1").output)
    assert sent["end"]["sender_tcp_congestion"] == "bbr"
    network.stop("h2")
    assert type_(network, "sysctl -n net.ipv4.tcp_congestion_control", "h2").output == "cubic\n"
    assert type_(network, "sysctl -n net.ipv4.tcp_rmem", "h2").output.split() == ["10240", "87380", "16777216"]
