# SPDX-License-Identifier: BSD-3-Clause
"""What a packet costs the kernel against the number of links at an interface: departure time, and netem behind u32.

    python tools/link_scale.py [--out build/links] [--rounds 5] [--pairs 8] [LINKS…]

Computing costs no network time in a pocket, so this reads the processor time of the pocket's kernel from outside: its
process, without those of the programs inside. Datagrams are sent through the interface, to the last link there, and
counted as they leave it. What they cost more than as many datagrams through an interface of the same switch without any
discipline is the cost of a link: the program and fq, or the list of u32 filters, htb, and netem. The two are measured
in turns within a second, because a processor changes its speed by more than a link costs, and the median of all such
pairs counts, with the interval that covers it in 95 % of such measurements. Each number of links is measured in each
round between others. Beside it the eBPF program alone is run on a packet a million times (BPF_PROG_TEST_RUN).

Writes scale.csv and scale.svg. Columns: kind (bare, edt, netem, program), links, microseconds of each packet (of `bare`
all, else what is added) with the ends of its interval, packets measured, and for setting the links the least of all
rounds: seconds of the kernel, seconds of the wall clock, MiB of the pocket's memory.
"""

from __future__ import annotations

import argparse
import csv
import json
import math
import os
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path

from matplotlib.figure import Figure

from linklab.analysis.statistics import median_interval
from linklab.engine.api import Typed
from linklab.engine.pocket import PocketEngine, PocketNetwork
from linklab.topology import Topology

ROOT = Path(__file__).resolve().parent.parent
COLUMNS = ("kind", "links", "packet_us", "low_us", "high_us", "packets", "set_kernel_s", "set_wall_s", "set_mib")
LINKS = (1, 500, 5_000, 30_000, 65_000)
RUNS = 1_000_000
DATAGRAMS = 50_000
"""Of one measurement, one of a pair."""
BUDGET = 25_000_000
"""Datagrams x links of a measurement of netem, whose packets meet all filters."""
LEAST_DATAGRAMS = 1_000
PORT, TARGET, DELAY = "s1-eth2", "10.0.0.2", "1ms"
BARE_PORT, BARE_TARGET = "s1-eth3", "10.0.0.3"
OF_A_TABLE = 4_000
"""u32 has at most 4,095 filters in a table; each priority has one of its own."""
SLOW = 30_000
"""Links from which on netem is set up once."""
MOST_NETEM = 30_000
"""Setting up 65,000 takes minutes of the kernel, and removing them as long."""
MEMORY_MIB = 6144
DEADLINE_S = 1800

BRIDGED = {
    "hosts": [{"number": str(n), "x": "0", "y": "0", "opts": {"hostname": f"h{n}", "nodeNum": n}} for n in (1, 2, 3)],
    "switches": [
        {"number": "1", "x": "0", "y": "0", "opts": {"hostname": "s1", "nodeNum": 1, "switchType": "legacySwitch"}}
    ],
    "links": [{"src": host, "dest": "s1", "opts": {}} for host in ("h1", "h2", "h3")],
    "controllers": [],
    "version": "2",
}
"""A bridge of Linux, whose way for a packet is short: what is measured should not be small beside what is not."""

SEND = """
import socket, sys, time
sender = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
for number in range(int(sys.argv[1])):
    sender.sendto(bytes(1000), (sys.argv[2], 9))
    if number % 20 == 19:
        time.sleep(0.002)
time.sleep(0.1)
"""
"""Typed at h1: so many datagrams to a host, 10,000 a second."""
SINK = """
import socket, sys, time
sink = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
sink.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 0)
sink.bind((sys.argv[1], 9))
time.sleep(1e6)
"""
"""Runs at h2 and h3: takes the datagrams and reads none, so that nothing is sent back and no program is woken."""
RUN = f"""
import socket, sys
sys.path.insert(0, "/opt/linklab")
from linklab.linux import bpf
from linklab.linux.edt_stage import EdtStage
addresses = b"".join(map(socket.inet_aton, ("10.0.0.1", "{TARGET}")))
packet = bytes(12) + bytes([8, 0, 0x45, 0, 0, 84]) + bytes(4) + bytes([64, 1, 0, 0]) + addresses + bytes(64)
with EdtStage("{PORT}") as stage:
    program = bpf.program_by_id(stage.classifier().program)
    assert bpf.run_program(program, packet, int(sys.argv[1])) == -1
    assert sum(link.state.get("packets", 0) for link in stage.links()) >= int(sys.argv[1])
"""
"""Typed inside: has the program see a packet to the last link many times; -1 is TC_ACT_UNSPEC."""


@dataclass
class Row:
    """What was found for a kind and a number of links; see the head of this file."""

    kind: str
    links: int
    packets: int = 0
    costs_us: list[float] = field(default_factory=list)
    """Of a packet, one for each measurement."""
    set_kernel_s: float = math.inf
    set_wall_s: float = math.inf
    set_mib: float = math.inf

    def as_text(self) -> list[str]:
        """A line of the table, by COLUMNS."""
        cost = median_interval(self.costs_us)
        setting = [0.0 if math.isinf(one) else one for one in (self.set_kernel_s, self.set_wall_s, self.set_mib)]
        known = [f"{number:.3f}" for number in (cost.value, cost.low, cost.high)]
        return [self.kind, str(self.links), *known, str(self.packets), *(f"{number:.3f}" for number in setting)]


def main() -> None:
    """Measure, and write what was found."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--draw", action="store_true", help="draw the table that is there, and measure nothing")
    parser.add_argument("links", nargs="*", type=int, default=LINKS, metavar="LINKS")
    parser.add_argument("--out", type=Path, default=ROOT / "build/links")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--pairs", type=int, default=8, help="measurements of each number of links in a round")
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    if not args.draw:
        measure(args.links, args.rounds, args.pairs, args.out / "scale.csv")
    draw(args.out / "scale.csv", args.out / "scale.svg")
    print(args.out / "scale.csv", args.out / "scale.svg")


def measure(links: Sequence[int], rounds: int, pairs: int, table: Path) -> None:
    """Measure in a network of its own; the table has at any moment what is known."""
    with tempfile.TemporaryDirectory() as folder:
        topology = Topology.loads(json.dumps(BRIDGED), "h1, h2, h3 - s1")
        engine = PocketEngine(memory_mib=MEMORY_MIB)
        with engine.start(topology, workdir=Path(folder), profile="ideal") as network:
            for rows in Scale(network, Path(folder), pairs).measure(links, rounds):
                write(rows, table)


def write(rows: Sequence[Row], path: Path) -> None:
    """The table as it is by now."""
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(COLUMNS)
        writer.writerows(row.as_text() for row in rows)


class Scale:
    """A network whose kernel is watched."""

    def __init__(self, network: PocketNetwork, folder: Path, pairs: int) -> None:
        self.network, self.folder, self.pairs = network, folder, pairs
        self.kernel = kernel_of(network.keeper_pid)
        for name, text in (("send.py", SEND), ("sink.py", SINK), ("runs.py", RUN)):
            (folder / name).write_text(text)
        for host, address in (("h2", TARGET), ("h3", BARE_TARGET)):
            self.type(f"python3 sink.py {address} > /dev/null 2>&1 &", host)
        self.bare = Row("bare", 0, DATAGRAMS)
        self.rows = {("bare", 0): self.bare}

    def say(self, text: str, terminal: str = "client") -> str:
        """What a command prints, which must succeed."""
        done = self.network.run([Typed(terminal, text)], deadline_s=DEADLINE_S)[0]
        if done.exit_status:
            raise SystemExit(f"{text}: {done.output}")
        return done.output

    def type(self, text: str, terminal: str = "client") -> float:
        """Seconds of the kernel's processor time for a command, which must succeed."""
        before = processor_s(self.kernel)
        self.say(text, terminal)
        return processor_s(self.kernel) - before

    def measure(self, numbers: Sequence[int], rounds: int) -> Iterator[list[Row]]:
        """What is known after each number of links; last, and once, those that take minutes to set."""
        quick = [
            (kind, number)
            for number in numbers
            for kind in ("edt", "netem", "program")
            if kind != "netem" or number < SLOW
        ]
        slow = [("netem", number) for number in numbers if SLOW <= number <= MOST_NETEM]
        for turn, what in [*product(range(rounds), quick), *product([0], slow)]:
            row = self._measure(self.rows.setdefault(what, Row(*what)))
            print(f"round {turn + 1}: {' '.join(row.as_text())}", flush=True)
            yield sorted(self.rows.values(), key=lambda row: (row.kind, row.links))

    def _measure(self, row: Row) -> Row:
        """One round of a row, with the links set before and removed after it."""
        free_mib, began = self._free_mib(), time.monotonic()
        row.set_kernel_s = min(row.set_kernel_s, self._set(row.kind, row.links))
        row.set_wall_s = min(row.set_wall_s, time.monotonic() - began)
        row.set_mib = min(row.set_mib, free_mib - self._free_mib())
        if row.kind == "program":
            row.packets = RUNS
            row.costs_us += [self._run() for _ in range(self.pairs)]
        else:
            row.packets = DATAGRAMS if row.kind == "edt" else max(LEAST_DATAGRAMS, min(DATAGRAMS, BUDGET // row.links))
            row.costs_us += [self._pair(row.packets) for _ in range(self.pairs)]
        self.type("linklab link clear" if row.kind != "netem" else f"tc qdisc del dev {PORT} root")
        return row

    def _pair(self, count: int) -> float:
        """Microseconds of the kernel for each of so many datagrams by links, beyond those without; all must leave."""
        start, bare = self.type(f"python3 send.py 0 {BARE_TARGET}", "h1"), self._send(count, BARE_TARGET, BARE_PORT)
        self.bare.costs_us.append((bare - start) / count * 1e6)
        return (self._send(count, TARGET, PORT) - bare) / count * 1e6

    def _send(self, count: int, target: str, port: str) -> float:
        """Seconds of the kernel for datagrams from h1, with the start of the program that sends them."""
        before = self._sent(port)
        seconds = self.type(f"python3 send.py {count} {target}", "h1")
        left = self._sent(port) - before
        if left < count:
            raise SystemExit(f"{left} of {count} datagrams have left {port}")
        return seconds

    def _sent(self, port: str) -> int:
        return int(self.say(f"cat /sys/class/net/{port}/statistics/tx_packets"))

    def _free_mib(self) -> float:
        lines = self.say("grep -E '^(MemFree|Cached|Buffers)' /proc/meminfo").splitlines()
        return sum(int(line.split()[1]) for line in lines) / 1024

    def _run(self) -> float:
        """Microseconds of the kernel for each run of the program, without starting the program that asks for them."""
        few, many = (self.type(f"python3 runs.py {count}") for count in (1, RUNS))
        return (many - few) / RUNS * 1e6

    def _set(self, kind: str, number: int) -> float:
        """Seconds of the kernel for setting as many links, of which the last is the one that is measured."""
        file = self.folder / f"{kind}-{number}"
        targets = [f"10.{100 + (n >> 16)}.{(n >> 8) & 255}.{n & 255}" for n in range(number - 1)] + [TARGET]
        if kind != "netem":
            # a packet of BPF_PROG_TEST_RUN belongs to a socket, which those that arrive from a link do not
            off = ",off" if kind == "program" else ",on"
            file.write_text("from,to,delay,orphan\n" + "".join(f"any,{to},{DELAY}{off}\n" for to in targets))
            return self.type(f"linklab link load {file.name} at {PORT}")
        # in pieces: tc keeps 12 KiB of memory for each line of a batch, and stands still with 260 MiB
        parts = [targets[begin : begin + OF_A_TABLE] for begin in range(0, number, OF_A_TABLE)]
        for place, part in enumerate(parts):
            lines = netem_lines(part, place * OF_A_TABLE)
            (self.folder / f"{file.name}.{place:02}").write_text("".join(f"{line}\n" for line in lines))
        return self.type(f"for part in {file.name}.*; do tc -batch $part || exit; done")


def netem_lines(targets: Sequence[str], first: int) -> Iterator[str]:
    """What tc needs for a netem for each target: a class of htb, the netem in it, and a u32 filter that leads there."""
    if not first:
        yield f"qdisc add dev {PORT} root handle 1: htb"
    for number, target in enumerate(targets, first):
        own = f"{number + 2:x}"
        yield f"class add dev {PORT} parent 1: classid 1:{own} htb rate 100gbit quantum 1514"
        yield f"qdisc add dev {PORT} parent 1:{own} handle {own}: netem delay {DELAY} limit 1000"
        yield (
            f"filter add dev {PORT} parent 1: protocol ip prio {1 + number // OF_A_TABLE} "
            f"u32 match ip dst {target}/32 flowid 1:{own}"
        )


def kernel_of(keeper: int) -> int:
    """The process of the pocket's kernel, which its keeper has started."""
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            try:
                fields_ = (entry / "stat").read_text().rpartition(")")[2].split()
                if int(fields_[1]) == keeper and b"mem=" in (entry / "cmdline").read_bytes():
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


def draw(table: Path, path: Path) -> None:
    """All kinds over the number of links, on logarithmic axes, with their intervals."""
    figure = Figure(figsize=(7, 4), layout="constrained")
    axes = figure.subplots()
    shown = (
        ("netem", "netem behind u32 filters", "s"),
        ("edt", "departure time: program and fq", "o"),
        ("program", "the program alone", "^"),
    )
    with table.open(newline="") as file:
        rows = list(csv.DictReader(file))
    for kind, label, marker in shown:
        points = [[float(row[name]) for name in COLUMNS[1:5]] for row in rows if row["kind"] == kind]
        links, cost, low, high = zip(*points, strict=True)
        ends = [
            [c - one for c, one in zip(cost, low, strict=True)],
            [one - c for c, one in zip(cost, high, strict=True)],
        ]
        axes.errorbar(links, cost, ends, marker=marker, capsize=3, label=label)
    axes.set(xscale="log", yscale="log", xlabel="Links at the interface", ylabel="Added processor time (µs per packet)")
    axes.grid(visible=True, which="both", alpha=0.3)
    axes.legend()
    figure.savefig(path)


if __name__ == "__main__":
    os.nice(5)
    main()
