# SPDX-License-Identifier: BSD-3-Clause
"""What a packet costs the kernel against the number of links at an interface: departure time, and netem behind u32.

    python tools/link_scale.py [--out build/links] [--rounds 5] [LINKS…]

Computing costs no network time in a pocket, so this reads the processor time of the pocket's kernel from outside: its
process, without those of the programs inside. Each number of links is measured in each round, and the least counts,
since what else the machine does can only add. The eBPF program is run on a packet many times (BPF_PROG_TEST_RUN); the
filters see datagrams of iperf3, and their cost is what these take beyond an interface without filters.
Writes scale.csv (kind, links, microseconds of each packet, seconds for setting the links) and scale.svg.
"""

from __future__ import annotations

import argparse
import csv
import math
import os
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from matplotlib.figure import Figure

from linklab.engine.api import Typed
from linklab.engine.pocket import PocketEngine, PocketNetwork
from linklab.topology import Topology

ROOT = Path(__file__).resolve().parent.parent
LINKS = (1, 500, 5_000, 30_000, 65_000)
RUNS, DATAGRAMS = 3_000_000, 3_000
"""Packets of one measurement: runs of the program, and datagrams through the filters."""
PORT, TARGET = "s1-eth2", "10.0.0.2"
OF_A_TABLE = 4_000
"""u32 has at most 4,095 filters in a table; each priority has one of its own."""
DEADLINE_S = 1200


def main() -> None:
    """Measure, and write what was found."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("links", nargs="*", type=int, default=LINKS, metavar="LINKS")
    parser.add_argument("--out", type=Path, default=ROOT / "build/links")
    parser.add_argument("--rounds", type=int, default=5)
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        topology = Topology.load(ROOT / "topologies/Lab 8.mn")
        with PocketEngine().start(topology, workdir=Path(folder), profile="ideal") as network:
            rows = list(Scale(network, Path(folder)).measure(args.links, args.rounds))
    with (args.out / "scale.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(("kind", "links", "packet_us", "set_s"))
        writer.writerows(rows)
    draw(rows, args.out / "scale.svg")
    print(args.out / "scale.csv", args.out / "scale.svg")


RUN = f"""
import socket, sys
sys.path.insert(0, "/opt/linklab")
from linklab.linux import bpf
from linklab.linux.edt_stage import Stage
addresses = b"".join(map(socket.inet_aton, ("10.0.0.1", "{TARGET}")))
packet = bytes(12) + bytes([8, 0, 0x45, 0, 0, 84]) + bytes(4) + bytes([64, 1, 0, 0]) + addresses + bytes(64)
with Stage("{PORT}") as stage:
    program = bpf.program_by_id(stage.classifier().program)
    assert bpf.run_program(program, packet, int(sys.argv[1])) == -1
    assert sum(link.state.get("packets", 0) for link in stage.links()) >= int(sys.argv[1])
"""
"""Typed inside: has the program see a packet to the last link many times; -1 is TC_ACT_UNSPEC."""


class Scale:
    """A network whose kernel is watched."""

    def __init__(self, network: PocketNetwork, folder: Path) -> None:
        self.network, self.folder = network, folder
        self.kernel = kernel_of(network.keeper_pid)
        self.type("iperf3 -s -D", "h2")
        (folder / "runs.py").write_text(RUN)

    def type(self, text: str, terminal: str = "client") -> float:
        """Seconds of the kernel's processor time for a command, which must succeed."""
        before = processor_s(self.kernel)
        done = self.network.run([Typed(terminal, text)], deadline_s=DEADLINE_S)[0]
        if done.exit_status:
            raise SystemExit(f"{text}: {done.output}")
        return processor_s(self.kernel) - before

    def measure(self, numbers: Sequence[int], rounds: int) -> Iterator[tuple[str, int, float, float]]:
        """Kind, links, microseconds of a packet, seconds of the kernel for setting the links."""
        bare = min(self._datagrams() for _ in range(rounds))
        for kind in ("edt", "netem"):
            costs: dict[int, float] = {}
            times: dict[int, float] = {}
            for turn in range(rounds if kind == "edt" else 1):
                for number in numbers:
                    times[number] = min(self._set(kind, number), times.get(number, math.inf))
                    cost = min((self._runs() if kind == "edt" else self._datagrams() - bare) for _ in range(3))
                    costs[number] = min(cost, costs.get(number, math.inf))
                    self._clear(kind)
                print(f"{kind}: round {turn + 1}: " + ", ".join(f"{n}: {costs[n]:.2f} µs" for n in numbers), flush=True)
            for number in numbers:
                yield kind, number, round(costs[number], 3), round(times[number], 3)

    def _datagrams(self) -> float:
        """Microseconds of the kernel for each of many datagrams from h1 to h2."""
        return self.type(f"iperf3 -c {TARGET} -u -l 1000 -b 100M -k {DATAGRAMS}", "h1") / DATAGRAMS * 1e6

    def _runs(self) -> float:
        """Microseconds of the kernel for each run of the program, without starting the program that asks for them."""
        few, many = (self.type(f"python3 runs.py {count}") for count in (1, RUNS))
        return (many - few) / RUNS * 1e6

    def _set(self, kind: str, number: int) -> float:
        """Seconds of the kernel for setting as many links, of which the last is the one that is measured."""
        file = self.folder / f"{kind}-{number}"
        others = [f"10.{100 + (n >> 16)}.{(n >> 8) & 255}.{n & 255}" for n in range(number - 1)]
        if kind == "edt":
            # a packet of BPF_PROG_TEST_RUN belongs to a socket, which those that arrive from a link do not
            file.write_text("from,to,delay,orphan\n" + "".join(f"any,{to},1ms,off\n" for to in [*others, TARGET]))
            return self.type(f"linklab link load {file.name} at {PORT}")
        start = f"filter add dev {PORT} parent 1: protocol ip prio"
        filters = "".join(
            f"{start} {1 + n // OF_A_TABLE} u32 match ip dst {to}/32 flowid 1:2\n"
            for n, to in enumerate([*others, TARGET])
        )
        file.write_text(
            f"qdisc add dev {PORT} root handle 1: htb default 1\n"
            f"class add dev {PORT} parent 1: classid 1:1 htb rate 100gbit\n"
            f"class add dev {PORT} parent 1: classid 1:2 htb rate 100gbit\n"
            f"qdisc add dev {PORT} parent 1:2 handle 2: netem limit 100000\n{filters}"
        )
        return self.type(f"tc -batch {file.name}")

    def _clear(self, kind: str) -> None:
        self.type("linklab link clear" if kind == "edt" else f"tc qdisc del dev {PORT} root")


def kernel_of(keeper: int) -> int:
    """The process of the pocket's kernel, which its keeper has started."""
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            try:
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
                if int(fields[1]) == keeper and b"mem=" in (entry / "cmdline").read_bytes():
                    return int(entry.name)
            except OSError:
                continue
    raise SystemExit(f"the keeper {keeper} has no kernel")


def processor_s(process: int) -> float:
    """Seconds that a process has computed, to the nanosecond (proc_pid_schedstat, sched-stats.rst)."""
    total = 0
    for task in Path(f"/proc/{process}/task").iterdir():
        total += int((task / "schedstat").read_text().split()[0])
    return total / 1e9


def draw(rows: list[tuple[str, int, float, float]], path: Path) -> None:
    """Both kinds over the number of links, on logarithmic axes."""
    figure = Figure(figsize=(7, 4), layout="constrained")
    axes = figure.subplots()
    for kind, label, marker in (("edt", "departure time (eBPF, fq)", "o"), ("netem", "netem behind u32 filters", "s")):
        points = [(links, cost) for name, links, cost, _ in rows if name == kind]
        axes.plot(*zip(*points, strict=True), marker=marker, label=label)
    axes.set(xscale="log", yscale="log", xlabel="Links at the interface", ylabel="Processor time (µs per packet)")
    axes.grid(visible=True, which="both", alpha=0.3)
    axes.legend()
    figure.savefig(path)


if __name__ == "__main__":
    os.nice(5)
    main()
