# SPDX-License-Identifier: BSD-3-Clause
"""A long path is filled: the receive window grows with what a flow needs, however its bursts arrive."""

import re

import pytest
from pockets import TOPOLOGY, needs_pocket, type_

from linklab.engine.pocket import PocketEngine
from linklab.topology import Topology

pytestmark = needs_pocket
READ_SLOWLY = """
import socket, time
server = socket.create_server(("", 5301))
peer, _ = server.accept()
end = time.monotonic() + 3
while time.monotonic() < end and peer.recv({size}):
    time.sleep({pause})
"""


def delayed(network, rtt_ms: int) -> None:
    """netem on the way from the first switch of Lab 8 to the second."""
    assert type_(network, f"tc qdisc add dev s1-eth2 root netem delay {rtt_ms}ms limit 100000").exit_status == 0


@pytest.mark.parametrize("rtt_ms", [30, 50])
@pytest.mark.parametrize("seed", [1, 2])
def test_a_flow_over_a_delay_outgrows_its_first_window(tmp_path, rtt_ms, seed):
    """With the 64 KB that the window begins with, it would be 17 or 10 Mbit/s: a burst always waited in the queue."""
    with PocketEngine().start(Topology.load(TOPOLOGY), workdir=tmp_path, seed=seed) as network:
        delayed(network, rtt_ms)
        type_(network, "iperf3 -s -1 -D", "h2")
        shown = type_(network, "iperf3 -c 10.0.0.2 -t 3 -f m", "h1").output
        (received,) = re.findall(r"([\d.]+) Mbits/sec +receiver", shown)
        assert float(received) > 1000


@pytest.mark.parametrize(
    ("size", "pause", "grown"),
    [
        (1000, 0, True),  # reads less than a segment, without rest
        (100000, 0.05, False),  # 16 Mbit/s at most: the queue never empties, and more room would be filled for nothing
    ],
)
def test_the_buffer_grows_for_a_reader_that_keeps_up_and_for_no_other(tmp_path, size, pause, grown):
    """It stands at 131,072 bytes before the first segment."""
    (tmp_path / "reader.py").write_text(READ_SLOWLY.format(size=size, pause=pause))
    with PocketEngine().start(Topology.load(TOPOLOGY), workdir=tmp_path, seed=1) as network:
        delayed(network, 50)
        type_(network, "(python3 reader.py & sleep 1)", "h2")
        type_(network, "(timeout 4 dd if=/dev/zero bs=100k 2>errors > /dev/tcp/10.0.0.2/5301 & sleep 2)", "h1")
        (room,) = re.findall(r"skmem:\(r\d+,rb(\d+)", type_(network, "ss -Htmn sport = 5301", "h2").output)
        assert (int(room) > 1_000_000) == grown, room


def test_the_file_of_the_processor_says_nothing_of_the_machine_below(tmp_path):
    """Reading it takes as long on every machine."""
    with PocketEngine().start(Topology.load(TOPOLOGY), workdir=tmp_path) as network:
        lines = type_(network, "cat /proc/cpuinfo", "h1").output.replace("\t", "").splitlines()
    assert [line for line in lines if line] == [
        "processor: 0",
        "vendor_id: User Mode Linux",
        "model name: UML",
        "mode: skas",
        "physical id: 0",
        "core id: 0",
        "cpu cores: 1",
        "host: Linux",
        "fpu: yes",
        "flags: fpu tsc cx8 cmov mmx fxsr sse sse2 syscall lm",
        "cache_alignment: 64",
        "bogomips: 0.00",
    ]
