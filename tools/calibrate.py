# SPDX-License-Identifier: BSD-3-Clause
"""Measure a cost profile: the processor time that TCP over Mininet's links takes on this machine; needs root and gcc.

`python tools/calibrate.py [--gib N] [--times N]` builds h1 - s1 - s2 - h2 of Lab 15 from network namespaces, bridges,
and veth links of this machine, sends N GiB with iperf3, with and without segmentation offload, and adds up processor
time: that of client and server, and that of soft interrupts (/proc/stat). Other programs' time is not counted, but they
use the same caches, so prices are higher on a busy machine and the load is printed. The price of a packet is the
difference in time over the difference in packets that entered a link; that of a system call comes from `perf bench`;
what remains with offload is the copying of bytes. calibrate_chance.c measures forks, starts of programs, how prices
vary, and when a process that slept runs. `linklab/engine/profiles.json` says which profiles come from here.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import platform
import re
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

TAG = f"cal{os.getpid() % 10000}"
"""Every name made here begins with it, so that no other program's is touched."""
LINKS = [("a", "1", "2"), ("b", "3", "4"), ("c", "5", "6")]
"""h1 - s1, s1 - s2, s2 - h2: one veth pair each."""
LINKS_OF_A_PACKET = 3
SERVER_ENDS_S = 60
KNOTS = 17
LATEST_NS = 50_000
"""A process that runs later than this was delayed by other work on the machine, which no profile contains."""
DISTURBED = 10
"""A datagram that takes this many times the median was interrupted."""
ADDRESS = {"h1": "10.213.0.1", "h2": "10.213.0.2"}


@dataclass(frozen=True)
class Work:
    """What one transfer took: processor seconds, bytes, and packets that entered the first or the last link."""

    cpu_s: float
    sent_bytes: int
    packets: int


def sh(command: str) -> str:
    """Run a command; its output."""
    return subprocess.run(command.split(), capture_output=True, text=True, check=True).stdout


@contextlib.contextmanager
def chain() -> Iterator[None]:
    """Two namespaces, two bridges, and three veth pairs, which are removed in any case."""
    try:
        for host in ADDRESS:
            sh(f"ip netns add {TAG}{host}")
        for switch in ("s1", "s2"):
            sh(f"ip link add {TAG}{switch} type bridge")
            sh(f"ip link set {TAG}{switch} up")
        for _, left, right in LINKS:
            sh(f"ip link add {TAG}{left} type veth peer name {TAG}{right}")
        for port, switch in (("2", "s1"), ("3", "s1"), ("4", "s2"), ("5", "s2")):
            sh(f"ip link set {TAG}{port} master {TAG}{switch}")
            sh(f"ip link set {TAG}{port} up")
        for port, host in (("1", "h1"), ("6", "h2")):
            sh(f"ip link set {TAG}{port} netns {TAG}{host}")
            sh(f"ip netns exec {TAG}{host} ip address add {ADDRESS[host]}/24 dev {TAG}{port}")
            sh(f"ip netns exec {TAG}{host} ip link set {TAG}{port} up")
        yield
    finally:
        for command in (
            *(f"ip link delete {TAG}{name}" for name in ("s1", "s2", "3")),
            *(f"ip netns delete {TAG}{host}" for host in ADDRESS),
        ):
            subprocess.run(command.split(), capture_output=True, check=False)


def offload(state: str) -> None:
    """Segmentation offload of the sender and receive offload of the receiver, "on" or "off"."""
    sh(f"ip netns exec {TAG}h1 ethtool -K {TAG}1 tso {state}")
    sh(f"ip netns exec {TAG}h2 ethtool -K {TAG}6 gro {state}")


def soft_interrupts_s() -> float:
    """Processor time of soft interrupts since boot (proc(5), /proc/stat)."""
    return int(Path("/proc/stat").read_text().split()[7]) / os.sysconf("SC_CLK_TCK")


def entered() -> int:
    """Packets that entered a link at h1 or h2 so far, as the links count them: one for each that was handed down."""
    total = 0
    for host, port in (("h1", "1"), ("h2", "6")):
        (link,) = json.loads(sh(f"ip netns exec {TAG}{host} ip -s -j link show dev {TAG}{port}"))
        total += link["stats64"]["tx"]["packets"]
    return total


@contextlib.contextmanager
def serving(command: Sequence[str]) -> Iterator[None]:
    """A server for one test, once it has said that it listens; it is ended in any case."""
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as server:
        assert server.stdout is not None
        try:
            said: list[str] = []
            for line in server.stdout:
                said.append(line.strip())
                if "listening" in line:
                    break
            else:
                raise SystemExit(f"calibrate: iperf3's server does not listen; it says {' '.join(said)!r}")
            yield
            try:
                server.communicate(timeout=SERVER_ENDS_S)
            except subprocess.TimeoutExpired:
                raise SystemExit(f"calibrate: iperf3's server goes on {SERVER_ENDS_S} s after its test") from None
        finally:
            server.kill()


def transfer(size_bytes: int) -> Work:
    """One iperf3 test."""
    before_s, before = soft_interrupts_s(), entered()
    with serving(["ip", "netns", "exec", f"{TAG}h2", "iperf3", "-s", "-1", "--forceflush"]):
        report = json.loads(sh(f"ip netns exec {TAG}h1 iperf3 -c {ADDRESS['h2']} -n {size_bytes} -J"))
    end = report["end"]
    use = end["cpu_utilization_percent"]
    programs_s = (use["host_total"] + use["remote_total"]) / 100 * end["sum_sent"]["seconds"]
    return Work(programs_s + soft_interrupts_s() - before_s, end["sum_sent"]["bytes"], entered() - before)


def syscall_ps() -> int:
    """The shortest of system calls, measured by perf-bench(1)."""
    text = sh("perf bench syscall basic")
    found = re.search(r"([\d.]+) usecs/op", text)
    if not found:
        raise SystemExit(f"calibrate: perf bench says {text!r}")
    return round(float(found[1]) * 1e6)


def prices(on: Work, off: Work, call_ps: int) -> dict[str, int]:
    """The three prices from a transfer with offload and one without, both of the same size.

    iperf3 writes and reads 128 KiB at a time, and each byte is copied twice.
    """
    if off.packets <= on.packets:
        raise SystemExit(
            f"calibrate: {on.packets} packets entered a link with offload and {off.packets} without; a packet's price "
            "is the difference of more packets without. Does `ethtool -K` change anything here?"
        )
    packet_s = (off.cpu_s - on.cpu_s) / ((off.packets - on.packets) * LINKS_OF_A_PACKET)
    calls_s = 2 * on.sent_bytes / 131072 * call_ps / 1e12
    byte_s = (on.cpu_s - calls_s - on.packets * LINKS_OF_A_PACKET * packet_s) / (2 * on.sent_bytes)
    return {"syscall_ps": call_ps, "byte_ps": round(byte_s * 1e12), "packet_ps": round(packet_s * 1e12)}


def quantiles(samples: Sequence[float], most: float) -> list[int]:
    """The 17 quantiles that divide samples into sixteenths, none above `most`.

    The last sixteenth has a tail of rare disturbances. A profile draws uniformly between two quantiles, so the last
    quantile is chosen such that its mean with the one before it is the mean of that sixteenth.
    """
    if len(samples) < KNOTS:
        raise SystemExit(f"calibrate: {len(samples)} samples are too few for {KNOTS} quantiles")
    ordered = sorted(samples)
    found = [ordered[number * (len(ordered) - 1) // (KNOTS - 1)] for number in range(KNOTS - 1)]
    tail = [min(sample, most) for sample in ordered[(KNOTS - 2) * len(ordered) // (KNOTS - 1) :]]
    found.append(max(found[-1], min(most, 2 * statistics.mean(tail) - found[-1])))
    return [round(min(value, most)) for value in found]


def chance(lines: str) -> dict[str, object]:
    """What calibrate_chance.c prints → the quantiles of a profile, and the prices of a fork and of a program's start.

    Prices spread as the times of datagrams do, in thousandths of their mean; datagrams that were interrupted are left
    out. The price of a start is what it takes beyond its fork.
    """
    samples = {name: [float(word) for word in words] for name, *words in map(str.split, lines.splitlines())}
    middle = statistics.median(samples["packet"])
    packets = [sample for sample in samples["packet"] if sample < DISTURBED * middle]
    mean = statistics.mean(packets)
    fork, start = (statistics.median(samples[name]) for name in ("fork", "exec"))
    return {
        "fork_ps": round(fork * 1e3),
        "exec_ps": round((start - fork) * 1e3),
        "spread_permille": quantiles([1000 * sample / mean for sample in packets], DISTURBED * 1000),
        "wake_ns": quantiles(samples["wake"], LATEST_NS),
    }


def measured_chance() -> dict[str, object]:
    """Compile and run calibrate_chance.c."""
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder, "chance")
        sh(f"gcc -O2 -o {program} {Path(__file__).with_name('calibrate_chance.c')}")
        return chance(sh(str(program)))


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description="Measure the processor time that TCP over veth links takes here.")
    parser.add_argument("--gib", type=float, default=2, help="GiB in each transfer (default: 2)")
    parser.add_argument(
        "--times", type=int, default=5, help="number of transfers of each kind; the median counts (default: 5)"
    )
    arguments = parser.parse_args()
    if os.getuid() != 0:
        raise SystemExit("calibrate: run it as root, because it creates network namespaces")
    call_ps, found = syscall_ps(), []
    with chain():
        for _ in range(arguments.times):
            works = {}
            for state in ("on", "off"):
                offload(state)
                works[state] = work = transfer(int(arguments.gib * 2**30))
                nanoseconds = work.cpu_s / work.sent_bytes * 1e9
                print(f"offload {state}: {nanoseconds:.2f} ns a byte, {work.sent_bytes / work.packets:.0f} B a packet")
            found.append(prices(works["on"], works["off"], call_ps))
            print(f"  {found[-1]}", flush=True)
    drawn = measured_chance()
    middle = {name: round(statistics.median(price[name] for price in found)) for name in found[0]}
    load = os.getloadavg()[0]
    print(f"{platform.platform()}, {os.cpu_count()} processors, load {load:.1f}: {json.dumps({**middle, **drawn})}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
