# SPDX-License-Identifier: BSD-3-Clause
"""Measure speed, memory and sameness of the pocket, and write docs/benchmarks.md; run by `make bench` (20 minutes).

`python tools/bench.py boot labs` measures these alone and keeps the others as they were measured last.

Each figure stands beside what is asked. Times are wall-clock and depend on the machine, which the table names; the
middle one of three runs is taken where a run is short. Exit 1 if a figure misses what is asked.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from dataclasses import asdict, dataclass
from pathlib import Path

import bench_editor
import bench_grading
import bench_host
import bench_page
import bench_speed
import bench_trials
import bench_viewer
from bench_speed import BURST, LIMIT, SHAPED, TWO_HOSTS
from in_pocket import BUFFERS

from linklab import pocket_kernel
from linklab.engine.api import Background, Clock, Typed
from linklab.engine.pocket import PocketEngine, PocketNetwork
from linklab.lab.model import lab_folders
from linklab.topology import Topology

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs/benchmarks.md"
KEPT = ROOT / "build/bench.json"
"""What was measured last, measure by measure."""


@dataclass(frozen=True)
class Row:
    """A line of the table."""

    what: str
    asked: str
    found: str
    ok: bool


@contextlib.contextmanager
def network(clock: Clock = Clock.VIRTUAL, seed: int = 1) -> Iterator[PocketNetwork]:
    """h1 - s1 - h2 in a pocket, with a working folder that is thrown away."""
    with tempfile.TemporaryDirectory(prefix="linklab-bench-") as work:
        engine = PocketEngine()
        with engine.start(Topology.loads(TWO_HOSTS, "bench"), workdir=Path(work), clock=clock, seed=seed) as net:
            yield net


def shape(net: PocketNetwork, rate: str) -> None:
    """20 ms and a rate on s1-eth2, large buffers, a server on h2."""
    done = net.run([Typed("client", SHAPED.format(rate=rate, burst=BURST[rate], limit=LIMIT[rate]))])
    done += net.run([Typed("h1", BUFFERS), Typed("h2", BUFFERS)])
    if any(one.exit_status for one in done):
        raise SystemExit("bench: the link could not be shaped: " + "".join(one.output for one in done))
    net.run([Typed("h2", "iperf3 -s", Background())])


def processes(net: PocketNetwork) -> list[int]:
    """The pocket's processes: the kernel and its guest processes."""
    children = subprocess.run(["pgrep", "-P", str(net.pid)], capture_output=True, text=True, check=False).stdout.split()
    return [net.pid or 0, *map(int, children)]


def cpu_s(pids: list[int]) -> float:
    """Processor time of processes, seconds; one that has ended counts nothing."""
    ticks = 0
    for pid in pids:
        with contextlib.suppress(OSError):
            fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
            ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")


def pss_mb(pids: list[int]) -> float:
    """Proportional resident memory of processes, MB (proc(5), smaps_rollup)."""
    total = 0
    for pid in pids:
        with contextlib.suppress(OSError):
            for line in Path(f"/proc/{pid}/smaps_rollup").read_text().split("\n"):
                if line.startswith("Pss:"):
                    total += int(line.split()[1])
    return total * 1024 / 1e6


def middle(measure: Callable[[], float], times: int = 3) -> float:
    """The middle one of several measurements."""
    return statistics.median(measure() for _ in range(times))


def boot_and_end() -> list[Row]:
    """From nothing to a network that answers, and back to nothing."""
    boots, ends = [], []
    for _ in range(5):
        start = time.monotonic()
        with network() as net:
            boots.append(time.monotonic() - start)
            assert net.nodes
            end = time.monotonic()
        ends.append(time.monotonic() - end)
    boot, end = statistics.median(boots), statistics.median(ends)
    return [
        Row("boot to network ready, h1 - s1 - h2", "at most 1.5 s", f"{boot:.2f} s", boot <= 1.5),
        Row("power off", "at most 0.3 s", f"{end:.2f} s", end <= 0.3),
    ]


def bulk(rate: str, seconds: int, most: float) -> list[Row]:
    """iperf3 over a shaped link on the virtual clock, and the memory it took."""
    with network() as net:
        shape(net, rate)
        start = time.monotonic()
        (done,) = net.run([Typed("h1", f"iperf3 -c 10.0.0.2 -t {seconds} -f m")])
        wall = time.monotonic() - start
        memory = pss_mb(processes(net))
        seen = next(line.split()[-3] for line in done.output.split("\n") if line.endswith("receiver"))
    rows = [
        Row(
            f"{rate}, 20 ms, {seconds} s of iperf3, virtual clock ({seen} Mbps)",
            f"at most {most:g} s",
            f"{wall:.1f} s",
            wall <= most,
        )
    ]
    if rate == "1gbit":
        rows.append(Row("resident memory at its end", "at most 200 MB", f"{memory:.0f} MB", memory <= 200))
    return rows


def unshaped() -> list[Row]:
    """The cost model: what a link without a shaper carries, over four seeds."""
    found = []
    for seed in range(1, 5):
        with network(seed=seed) as net:
            net.run([Typed("h2", "iperf3 -s", Background())])
            (done,) = net.run([Typed("h1", "iperf3 -c 10.0.0.2 -t 5 -f g")])
            found.append(float(next(line.split()[-3] for line in done.output.split("\n") if line.endswith("receiver"))))
    mean = statistics.fmean(found)
    return [
        Row(
            "link without a shaper, profile desktop, mean of four seeds",
            "44.8 Gbps within 5 %",
            f"{mean:.1f} Gbps ({min(found):.1f} to {max(found):.1f})",
            abs(mean / 44.8 - 1) <= 0.05,
        )
    ]


def paced(rate: str, most: float) -> list[Row]:
    """How much the paced clock at 1x slows down under load."""
    with network(Clock.PACED) as net:
        shape(net, rate)
        before, start = net.clock_status(), time.monotonic()
        net.run([Typed("h1", "iperf3 -c 10.0.0.2 -t 30")])
        after, wall = net.clock_status(), time.monotonic() - start
    ratio = wall / (after["now_s"] - before["now_s"])
    return [
        Row(
            f"paced at 1x, {rate} for 30 s: wall time / network time",
            f"at most {most:g}",
            f"{ratio:.3f}",
            ratio <= most,
        )
    ]


def idle_and_keys() -> list[Row]:
    """What an idle paced network costs, and how soon a key is echoed."""
    with network(Clock.PACED) as net:
        answer = net.link.request("open", deadline_s=10, what="a terminal", node="h1", rows=24, columns=80)
        terminal = answer["terminal"]
        shown: list[Future[float]] = []

        def arrives(message: dict[str, str]) -> None:
            if shown and not shown[-1].done():
                shown[-1].set_result(time.monotonic())

        net.link.on("data", arrives)
        time.sleep(1)
        delays = []
        for _ in range(50):
            shown.append(Future())
            start = time.monotonic()
            net.link.send("input", terminal=terminal, data="eA==")
            delays.append((shown[-1].result(5) - start) * 1000)
            time.sleep(0.037)
        pids = [*processes(net), net.keeper_pid]
        start, before = time.monotonic(), cpu_s(pids)
        time.sleep(10)
        share = (cpu_s(pids) - before) / (time.monotonic() - start) * 100
    worst = sorted(delays)[int(len(delays) * 0.95)]
    return [
        Row(
            "paced, key to echo, 95 of 100",
            "within 20 ms",
            f"{worst:.1f} ms (median {statistics.median(delays):.1f})",
            worst <= 20,
        ),
        Row("paced, idle network", "at most 5 % of a core", f"{share:.1f} %", share <= 5),
    ]


def lab(folder: Path, seed: int, number: int = 14) -> tuple[float, str]:
    """A lab replayed: wall seconds, and the digest of every iperf3 JSON file it wrote."""
    start = time.monotonic()
    subprocess.run(
        [sys.executable, "-m", "linklab", "run", str(number), "--seed", str(seed), "--out", str(folder)],
        stdout=subprocess.DEVNULL,
        check=False,
    )
    wall = time.monotonic() - start
    files = sorted((folder / "files").rglob("*.json"))
    return wall, hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()[:12] if files else "none"


def lossy(seed: int) -> str:
    """The digest of iperf3's JSON after 5 s over 1 Gbps with 0.01 % random loss."""
    with network(seed=seed) as net:
        shape(net, "1gbit")
        net.run(
            [Typed("client", "tc qdisc change dev s1-eth2 root handle 1: netem delay 20ms loss 0.01% limit 100000")]
        )
        (done,) = net.run([Typed("h1", "iperf3 -c 10.0.0.2 -t 5 -J")])
    return hashlib.sha256(done.output.encode()).hexdigest()[:12]


def sameness() -> list[Row]:
    """Five runs with one seed, two of them on a busy machine; and another seed."""
    walls, labs, losses = [], [], []
    with tempfile.TemporaryDirectory(prefix="linklab-bench-") as base:
        for number in range(5):
            busy = [subprocess.Popen(["sh", "-c", "while :; do :; done"]) for _ in range(2 if number >= 3 else 0)]
            try:
                wall, digest = lab(Path(base) / str(number), 1)
                losses.append(lossy(1))
            finally:
                for process in busy:
                    process.kill()
                    process.wait()
            labs.append(digest)
            if not busy:
                walls.append(wall)
        _, other = lab(Path(base) / "other", 2)
    other_loss = lossy(2)
    return [
        Row(
            "`linklab run 14`, whole",
            "at most 60 s",
            f"{statistics.median(walls):.0f} s",
            statistics.median(walls) <= 60,
        ),
        Row(
            "Lab 14's iperf3 JSON, seed 1 five times, twice on a busy machine",
            "the same bytes",
            _same(labs),
            len(set(labs)) == 1 and "none" not in labs,
        ),
        Row("the same of a link with 0.01 % loss", "the same bytes", _same(losses), len(set(losses)) == 1),
        Row(
            "seed 2 against seed 1",
            "other bytes",
            f"{other}, {other_loss}",
            other not in labs and other_loss not in losses,
        ),
    ]


def _same(digests: list[str]) -> str:
    return f"{len(digests)} times {digests[0]}" if len(set(digests)) == 1 else " ".join(digests)


ASKED_MIN = {1: 5, 11: 8}
"""Minutes that ten labs may take, by the number of the first; nothing is asked of those after Lab 20."""


def tens() -> list[tuple[int, str, str]]:
    """The labs that there are, ten at a time: the first one, how people call them, and how `linklab run` does."""
    numbers = [int(folder.name[:2]) for folder in lab_folders()]
    found = []
    for first in range(1, max(numbers) + 1, 10):
        group = [number for number in numbers if first <= number < first + 10]
        if group:
            words = f"Labs {group[0]} to {group[-1]}" if len(group) > 1 else f"Lab {group[0]}"
            found.append((first, words, f"{group[0]}-{group[-1]}"))  # also of one lab, for a summary
    return found


def replay_all(labs: str, seed: int) -> tuple[dict[str, float], str, bool]:
    """`linklab run LABS --seed SEED`: its summary, how many expectations were met, and whether all were."""
    with tempfile.TemporaryDirectory(prefix="linklab-bench-") as base:
        folder = Path(base) / "run"
        command = [sys.executable, "-m", "linklab", "run", labs, "--seed", str(seed), "--out", str(folder), "--json"]
        done = subprocess.run(command, stdout=subprocess.PIPE, check=False)
        if not (folder / "summary.json").is_file():
            raise RuntimeError(f"linklab run {labs} ended with {done.returncode} and no summary")
        summary = json.loads((folder / "summary.json").read_text())
        tasks = json.loads(done.stdout)["labs"]
    broken = [f"Lab {task['lab']} {task['outcome']}" for task in tasks if task["outcome"] != "pass"]
    met = f"{sum(task['passed'] for task in tasks)} of {sum(task['of'] for task in tasks)}"
    return summary, "; ".join([met, *broken]), not broken and done.returncode == 0


def replays() -> list[Row]:
    """All labs, as `linklab run all` does them; how long, and whether every expectation is met.

    With seed 2, since the references are of seed 1 and `linklab labs --check` judges them.
    """
    rows, walls, met, good = [], 0.0, [], True
    for first, words, labs in tens():
        summary, found, fine = replay_all(labs, seed=2)
        minutes = ASKED_MIN.get(first)
        walls += summary["wall_s"] if minutes is not None else 0.0
        met.append(found)
        good &= fine
        network_min = summary["network_s"] / 60
        rows.append(
            Row(
                f"{words} replayed, {summary['jobs']} at once ({network_min:.0f} minutes of network time)",
                "done" if minutes is None else f"at most {minutes} min",
                f"{summary['wall_s'] / 60:.1f} min",
                fine and (minutes is None or summary["wall_s"] <= minutes * 60),
            )
        )
    rows.append(Row("Labs 1 to 20", "at most 13 min", f"{walls / 60:.1f} min", good and walls <= 13 * 60))
    rows.append(Row("expectations of all labs, seed 2", "all met", " and ".join(met), good))
    return rows


MEASURES: dict[str, Callable[[], list[Row]]] = {
    "boot": boot_and_end,
    "1gbit": lambda: bulk("1gbit", 60, 10),
    "10gbit": lambda: bulk("10gbit", 10, 10),
    "unshaped": unshaped,
    "paced-1gbit": lambda: paced("1gbit", 1.02),
    "paced-10gbit": lambda: paced("10gbit", 1.3),
    "idle": idle_and_keys,
    "sameness": sameness,
    "labs": replays,
    **{
        name: lambda measure=measure: [Row(*row) for row in measure()]
        for name, measure in {
            **bench_speed.MEASURES,
            **bench_trials.MEASURES,
            **bench_host.MEASURES,
            **bench_editor.MEASURES,
        }.items()
    },
}


LONG: dict[str, Callable[[], list[Row]]] = {
    name: lambda measure=measure: [Row(*row) for row in measure()]
    for name, measure in {
        **bench_grading.LONG,
        **bench_trials.LONG,
        **bench_viewer.MEASURES,
        **bench_page.LONG,
    }.items()
}
"""Measured when asked for by name."""


def page(rows: list[Row], missing: Sequence[str]) -> str:
    """The page docs/benchmarks.md; `missing` names the measures that this kernel has not been through."""
    built = pocket_kernel.require()
    model = next(
        (
            line.split(":")[1].strip()
            for line in Path("/proc/cpuinfo").read_text().split("\n")
            if line.startswith("model name")
        ),
        "?",
    )
    lines = [
        "# Benchmarks",
        "",
        "Written by `make bench`; do not edit.",
        "Times are wall-clock on the machine named here, unless a row says otherwise.",
        "",
        f"Machine: {model}, {len(os.sched_getaffinity(0))} processors, Linux {platform.release()}.",
        f"Pocket: Linux {built.version}, digest {built.digest}, {built.info['bytes'] / 1e6:.1f} MB, "
        f"built in {built.info['seconds']} s.",
        *([f"Not measured with this kernel: {', '.join(missing)} (`tools/bench.py NAME`)."] if missing else []),
        "",
        "| what | asked | found | |",
        "|---|---|---|---|",
        *(f"| {row.what} | {row.asked} | {row.found} | {'yes' if row.ok else '**no**'} |" for row in rows),
        "",
    ]
    return "\n".join(lines)


def main(names: list[str]) -> int:
    """Measure all, or those named, and write the page of all that was measured with this kernel."""
    measures = {**MEASURES, **LONG}
    unknown = [name for name in names if name not in measures]
    if unknown:
        print(f"bench: no measure {', '.join(unknown)}; there are {', '.join(measures)}", file=sys.stderr)
        return 2
    known = kept()
    good = True
    for name in names or MEASURES:
        print(f"bench: {name} …", file=sys.stderr, flush=True)
        known[name] = measures[name]()
        for row in known[name]:
            print(f"{'ok ' if row.ok else 'NO '} {row.what}: {row.found} (asked: {row.asked})", flush=True)
            good &= row.ok
        KEPT.parent.mkdir(exist_ok=True)
        rows = {measure: [asdict(row) for row in found] for measure, found in known.items()}
        KEPT.write_text(json.dumps({"kernel": pocket_kernel.require().digest, "rows": rows}, indent=2) + "\n")
    missing = [name for name in measures if name not in known]
    PAGE.write_text(page([row for name in measures for row in known.get(name, [])], missing))
    return 0 if good else 1


def kept() -> dict[str, list[Row]]:
    """What earlier calls measured with this kernel, by measure."""
    if not KEPT.is_file():
        return {}
    data = json.loads(KEPT.read_text())
    if data["kernel"] != pocket_kernel.require().digest:
        return {}
    return {name: [Row(**row) for row in rows] for name, rows in data["rows"].items()}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
