# SPDX-License-Identifier: BSD-3-Clause
"""How many network seconds a processor second carries, beside memory and ns-3; for `tools/bench.py`.

A processor second is a second of user and system time of the pocket's processes (kernel and guest processes), so other
load on the machine matters less than for wall-clock times. It still matters (caches, hyper-threads), and machines
differ, so three things are measured in turn and compared as ratios, the first two three times:

- the pocket: h1 - s1 - h2, 20 ms, a shaper, one bandwidth-delay product of queue, profile desktop, iperf3;
- memory: copying the bytes that arrived into a buffer of the queue's size and out of it, as any network stack must;
- ns-3 (tools/bench_ns3.cc): the same rate, round-trip time, queue, and number of flows, if libns3-dev is installed.
"""

from __future__ import annotations

import contextlib
import mmap
import os
import resource
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from in_pocket import BUFFERS, processor_s

from linklab.engine.api import Background, Clock, Typed
from linklab.engine.pocket import PocketEngine, PocketNetwork
from linklab.topology import Topology

ROOT = Path(__file__).resolve().parent.parent
SOURCE = Path(__file__).with_name("bench_ns3.cc")
PROGRAM = ROOT / "build/bench_ns3"
NS3_PACKAGES = "libns3-dev, g++"
NS3_PARTS = ("applications", "point-to-point", "internet", "traffic-control", "network", "core")
NS3_LIMIT_S = 240
"""Processor seconds after which a run of ns-3 is ended; what it then had not done bounds its speed from above."""

TWO_HOSTS = """{"hosts": [{"number": "1", "opts": {"hostname": "h1", "nodeNum": 1}, "x": "100", "y": "100"},
 {"number": "2", "opts": {"hostname": "h2", "nodeNum": 2}, "x": "300", "y": "100"}],
 "switches": [{"number": "1", "opts": {"hostname": "s1", "nodeNum": 1, "switchType": "legacySwitch"},
  "x": "200", "y": "100"}],
 "links": [{"src": "h1", "dest": "s1", "opts": {}}, {"src": "s1", "dest": "h2", "opts": {}}],
 "controllers": [], "version": "2"}"""
SHAPED = (
    "tc qdisc add dev s1-eth2 root handle 1: netem delay 20ms limit 100000 && "
    "tc qdisc add dev s1-eth2 parent 1: handle 2: tbf rate {rate} burst {burst} limit {limit}"
)
RATE_BPS = {"10mbit": 10**7, "1gbit": 10**9, "10gbit": 10**10}
BURST = {"10mbit": 5000, "1gbit": 500000, "10gbit": 5000000}
LIMIT = {"10mbit": 26214, "1gbit": 2621440, "10gbit": 26214400}
"""One bandwidth-delay product, as in Labs 8 and 14."""
RTT_S = 0.02
BLOCK = 131072
"""What iperf3 writes and reads at a time."""

Found = tuple[str, str, str, bool]


@dataclass(frozen=True)
class Flow:
    """What is measured: a rate, a number of flows, and seconds of network time for the pocket and for ns-3.

    asked: the least number of network seconds per processor second; None if it is SHARE of what one flow gives.
    """

    rate: str
    flows: int
    seconds: int
    ns3_seconds: float
    asked: float | None

    @property
    def words(self) -> str:
        """Its name in the table."""
        flows = "one flow" if self.flows == 1 else f"{self.flows} flows"
        return f"{self.rate}, {flows}"


FLOWS = (
    Flow("10mbit", 1, 120, 60.0, 80.0),
    Flow("1gbit", 1, 20, 4.0, 25.0),
    Flow("10gbit", 1, 5, 1.0, 3.0),
    Flow("1gbit", 64, 5, 2.0, None),
)
SHARE = 0.5
"""The share of one flow's figure that several flows must reach."""


@contextlib.contextmanager
def network(seed: int = 1) -> Iterator[PocketNetwork]:
    """h1 - s1 - h2 in a pocket on the virtual clock."""
    with tempfile.TemporaryDirectory(prefix="linklab-bench-") as work:
        topology = Topology.loads(TWO_HOSTS, "bench")
        with PocketEngine().start(topology, workdir=Path(work), clock=Clock.VIRTUAL, seed=seed) as net:
            yield net


def pocket(flow: Flow) -> tuple[float, float]:
    """Network seconds per processor second, and the bytes that arrived per network second."""
    with network() as net:
        shaped = SHAPED.format(rate=flow.rate, burst=BURST[flow.rate], limit=LIMIT[flow.rate])
        done = net.run([Typed("client", shaped)]) + net.run([Typed("h1", BUFFERS), Typed("h2", BUFFERS)])
        if any(one.exit_status for one in done):
            raise SystemExit("bench: the link could not be shaped: " + "".join(one.output for one in done))
        net.run([Typed("h2", "iperf3 -s", Background())])
        assert net.pid is not None
        before = processor_s(net.pid)
        (done_one,) = net.run([Typed("h1", f"iperf3 -c 10.0.0.2 -t {flow.seconds} -P {flow.flows} -f m")])
        used = processor_s(net.pid) - before
    received = [line for line in done_one.output.split("\n") if line.endswith("receiver")]
    if not received:
        raise SystemExit(f"bench: iperf3 did not report what its receiver got: {done_one.output}")
    return flow.seconds / used, float(received[-1].split()[-3]) * 1e6 / 8


def memory(bytes_s: float, queue: int) -> float:
    """Network seconds per processor second if copying what arrives into a queue and out of it were all the work."""
    size = max(queue // BLOCK, 1) * BLOCK
    with mmap.mmap(-1, size) as ring, mmap.mmap(-1, BLOCK) as own:
        into, block = memoryview(ring), memoryview(own)
        into[:] = bytes(size)  # touches every page before the measurement begins
        times = max(int(2e9 // size), 1)
        before = os.times()
        for _ in range(times):
            for at in range(0, size, BLOCK):
                into[at : at + BLOCK] = block
            for at in range(0, size, BLOCK):
                block[:] = into[at : at + BLOCK]
        after = os.times()
        into.release()
        block.release()
    used = after.user + after.system - before.user - before.system
    return times * size / used / bytes_s


def build_ns3() -> str | None:
    """Compile the ns-3 program; None, or the reason why that is not possible."""
    if shutil.which("g++") is None or not Path("/usr/include/ns3/core-module.h").is_file():
        return f"not installed ({NS3_PACKAGES})"
    PROGRAM.parent.mkdir(exist_ok=True)
    libraries = [f"-lns3-{part}" for part in NS3_PARTS]
    done = subprocess.run(
        ["g++", "-O2", "-std=c++17", "-o", str(PROGRAM), str(SOURCE), *libraries],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        print(done.stderr, file=sys.stderr)
        return "does not compile here"
    return None


def ns3(flow: Flow) -> tuple[float, bool]:
    """Network seconds per processor second of ns-3, and whether it came to its end; if not, it is slower than that."""
    words = [str(RATE_BPS[flow.rate]), str(RTT_S), str(LIMIT[flow.rate]), str(flow.flows), str(flow.ns3_seconds)]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    limited = ["prlimit", f"--cpu={NS3_LIMIT_S}", str(PROGRAM), *words]
    done = subprocess.run(limited, capture_output=True, text=True, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    ended = done.returncode == 0
    if done.returncode not in (0, -signal.SIGXCPU, -signal.SIGKILL) or (ended and int(done.stdout) <= 0):
        raise SystemExit(f"bench: ns-3 failed with {done.returncode}: {done.stderr}")
    return flow.ns3_seconds / (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime), ended


def speed(flows: tuple[Flow, ...] = FLOWS, rounds: int = 3) -> list[Found]:
    """A row for each flow: the medians of several rounds of the pocket and memory in turn, and one run of ns-3."""
    missing = build_ns3()
    seen: dict[Flow, list[tuple[float, float]]] = {flow: [] for flow in flows}
    for number in range(rounds):
        for flow in flows:
            carried, bytes_s = pocket(flow)
            seen[flow].append((carried, carried / memory(bytes_s, LIMIT[flow.rate])))
            print(f"bench: {flow.words}, round {number + 1}: {carried:.3g}", file=sys.stderr)
    rows = []
    one = {flow.rate: statistics.median(carried for carried, _ in seen[flow]) for flow in flows if flow.flows == 1}
    for flow in flows:
        carried = statistics.median(found[0] for found in seen[flow])
        of_memory = statistics.median(found[1] for found in seen[flow])
        beside = f"ns-3 {missing}"
        if missing is None:
            simulated, ended = ns3(flow)
            beside = f"{'' if ended else 'over '}{carried / simulated:.3g} times ns-3"
        asked = flow.asked if flow.asked is not None else one[flow.rate] * SHARE
        words = f"at least {asked:g}" if flow.asked is not None else f"at least half of one flow's, {asked:.1f}"
        rows.append(
            (
                f"{flow.words}: network seconds per processor second, virtual clock",
                words,
                f"{carried:.3g}; {of_memory * 100:.2g} % of copying the same bytes, {beside}",
                carried >= asked,
            )
        )
    return rows


MEASURES: dict[str, Callable[[], list[Found]]] = {"speed": speed}
