# SPDX-License-Identifier: BSD-3-Clause
"""What a packet costs the kernel against the number of links at an interface: departure time, and netem behind u32.

    python tools/link_scale.py [--out build/links] [--rounds 5] [LINKS…]

Computing costs no network time in a pocket, so this reads the processor time of the pocket's kernel from outside: its
process, without those of the programs inside. Datagrams are really sent through the interface, to the last link there,
and counted as they leave it. What they cost beyond an interface without any discipline is the cost of a link: the
program and fq, or the list of u32 filters, htb, and netem. Each number of links is measured in each round between
others, and the least counts, since what else the machine does can only add. Beside it the eBPF program alone is run on
a packet three million times (BPF_PROG_TEST_RUN).

Writes scale.csv and scale.svg. Columns: kind (bare, edt, netem, program), links, microseconds of each packet (of `bare`
all, else what is added), packets measured, and for setting the links: seconds of the kernel, seconds of the wall clock,
MiB of the pocket's memory.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import astuple, dataclass, fields, replace
from itertools import product
from pathlib import Path

from matplotlib.figure import Figure

from linklab.engine.api import Typed
from linklab.engine.pocket import PocketEngine, PocketNetwork
from linklab.topology import Topology

ROOT = Path(__file__).resolve().parent.parent
LINKS = (1, 500, 5_000, 30_000, 65_000)
RUNS = 3_000_000
DATAGRAMS = 200_000
BUDGET = 100_000_000
"""Datagrams x links of a measurement of netem, whose packets meet all filters."""
LEAST_DATAGRAMS = 1_000
PORT, TARGET, DELAY = "s1-eth2", "10.0.0.2", "1ms"
OF_A_TABLE = 4_000
"""u32 has at most 4,095 filters in a table; each priority has one of its own."""
SLOW = 30_000
"""Links from which on netem is set up once."""
MEMORY_MIB = 6144
DEADLINE_S = 1800

BRIDGED = {
    "hosts": [{"number": str(n), "x": "0", "y": "0", "opts": {"hostname": f"h{n}", "nodeNum": n}} for n in (1, 2)],
    "switches": [
        {"number": "1", "x": "0", "y": "0", "opts": {"hostname": "s1", "nodeNum": 1, "switchType": "legacySwitch"}}
    ],
    "links": [{"src": host, "dest": "s1", "opts": {}} for host in ("h1", "h2")],
    "controllers": [],
    "version": "2",
}
"""A bridge of Linux, whose way for a packet is short: what is measured should not be small beside what is not."""

SEND = f"""
import socket, sys, time
sender = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
for number in range(int(sys.argv[1])):
    sender.sendto(bytes(1000), ("{TARGET}", 9))
    if number % 20 == 19:
        time.sleep(0.002)
time.sleep(0.1)
"""
"""Typed at h1: so many datagrams, 10,000 a second."""
SINK = f"""
import socket, time
sink = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
sink.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 0)
sink.bind(("{TARGET}", 9))
time.sleep(1e6)
"""
"""Runs at h2: takes the datagrams and reads none, so that nothing is sent back and no program is woken."""
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
    packet_us: float
    packets: int
    set_kernel_s: float = 0.0
    set_wall_s: float = 0.0
    set_mib: float = 0.0


def main() -> None:
    """Measure, and write what was found."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("links", nargs="*", type=int, default=LINKS, metavar="LINKS")
    parser.add_argument("--out", type=Path, default=ROOT / "build/links")
    parser.add_argument("--rounds", type=int, default=5)
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        topology = Topology.loads(json.dumps(BRIDGED), "h1 - s1 - h2")
        engine = PocketEngine(memory_mib=MEMORY_MIB)
        with engine.start(topology, workdir=Path(folder), profile="ideal") as network:
            for rows in Scale(network, Path(folder)).measure(args.links, args.rounds):
                write(rows, args.out / "scale.csv")
    draw(rows, args.out / "scale.svg")
    print(args.out / "scale.csv", args.out / "scale.svg")


def write(rows: Sequence[Row], path: Path) -> None:
    """The table as it is by now."""
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(field.name for field in fields(Row))
        for row in rows:
            writer.writerow(round(value, 3) if isinstance(value, float) else value for value in astuple(row))


class Scale:
    """A network whose kernel is watched."""

    def __init__(self, network: PocketNetwork, folder: Path) -> None:
        self.network, self.folder = network, folder
        self.kernel = kernel_of(network.keeper_pid)
        for name, text in (("send.py", SEND), ("sink.py", SINK), ("runs.py", RUN)):
            (folder / name).write_text(text)
        self.type("python3 sink.py > /dev/null 2>&1 &", "h2")
        self.rows: dict[tuple[str, int], Row] = {}

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
        """What is known after each measurement: the least of all rounds; last, and once, what takes minutes to set."""
        slow = [("netem", number) for number in numbers if number >= SLOW]
        every = [("bare", 0), *((kind, number) for number in numbers for kind in ("edt", "netem", "program"))]
        for turn, what in [*product(range(rounds), (each for each in every if each not in slow)), *product([0], slow)]:
            row = self._least(self._one(*what))
            print(f"round {turn + 1}: {row}", flush=True)
            yield self._added()

    def _added(self) -> list[Row]:
        """The rows, in which a link's datagrams cost what they take beyond the least of an interface without any."""
        bare_us = self.rows["bare", 0].packet_us
        found = [
            replace(row, packet_us=row.packet_us - bare_us) if row.kind in ("edt", "netem") else row
            for row in self.rows.values()
        ]
        return sorted(found, key=lambda row: (row.kind, row.links))

    def _least(self, row: Row) -> Row:
        """The row that is kept for what this one is of."""
        known = self.rows.setdefault((row.kind, row.links), row)
        for name in ("packet_us", "set_kernel_s", "set_wall_s"):
            setattr(known, name, min(getattr(known, name), getattr(row, name)))
        return known

    def _one(self, kind: str, number: int) -> Row:
        """One measurement, with the links set before and removed after it."""
        count = DATAGRAMS if kind != "netem" else max(LEAST_DATAGRAMS, min(DATAGRAMS, BUDGET // number))
        if kind == "bare":
            return Row(kind, 0, self._datagrams(count), count)
        free_mib, began = self._free_mib(), time.monotonic()
        kernel_s = self._set(kind, number)
        wall_s, used_mib = time.monotonic() - began, free_mib - self._free_mib()
        if kind == "program":
            cost, count = self._runs(), RUNS
        else:
            cost = self._datagrams(count)
        self.type("linklab link clear" if kind != "netem" else f"tc qdisc del dev {PORT} root")
        return Row(kind, number, cost, count, kernel_s, wall_s, used_mib)

    def _datagrams(self, count: int) -> float:
        """Microseconds of the kernel for each of so many datagrams from h1 to h2, all of which must leave."""
        before = self._sent()
        none, all_ = (self.type(f"python3 send.py {number}", "h1") for number in (0, count))
        left = self._sent() - before
        if left < count:
            raise SystemExit(f"{left} of {count} datagrams have left {PORT}")
        return (all_ - none) / count * 1e6

    def _sent(self) -> int:
        return int(self.say(f"cat /sys/class/net/{PORT}/statistics/tx_packets"))

    def _free_mib(self) -> float:
        lines = self.say("grep -E '^(MemFree|Cached|Buffers)' /proc/meminfo").splitlines()
        return sum(int(line.split()[1]) for line in lines) / 1024

    def _runs(self) -> float:
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


def draw(rows: Sequence[Row], path: Path) -> None:
    """All kinds over the number of links, on logarithmic axes."""
    figure = Figure(figsize=(7, 4), layout="constrained")
    axes = figure.subplots()
    shown = (
        ("netem", "netem behind u32 filters", "s"),
        ("edt", "departure time: program and fq", "o"),
        ("program", "the program alone", "^"),
    )
    for kind, label, marker in shown:
        points = [(row.links, row.packet_us) for row in rows if row.kind == kind]
        axes.plot(*zip(*points, strict=True), marker=marker, label=label)
    axes.set(xscale="log", yscale="log", xlabel="Links at the interface", ylabel="Added processor time (µs per packet)")
    axes.grid(visible=True, which="both", alpha=0.3)
    axes.legend()
    figure.savefig(path)


if __name__ == "__main__":
    os.nice(5)
    main()
