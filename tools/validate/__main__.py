# SPDX-License-Identifier: BSD-3-Clause
"""`make validation`, or `make validation ONLY="two-cubic codel"`: measure, print the table, write docs/validation.md.

Measurements are kept in build/validation/, one file per experiment, so a call that was interrupted continues with the
next one; another kernel, another price of computing, or a change of the experiment's own function makes them invalid.
Exit 1 if a result differs from what theory predicts, or if a seed has not been measured.
"""

from __future__ import annotations

import argparse
import hashlib
import inspect
import json
import os
import sys
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from tables import cell, row

from linklab import pocket_kernel
from linklab.base.files import write, write_json
from linklab.base.supervise import Ended, Job, supervised
from linklab.engine import profiles
from linklab.errors import LinklabError
from validate import chance, disciplines, ports, spinning, textbook, transport
from validate.experiment import Data, Experiment, Runs, perform

ROOT = Path(__file__).resolve().parents[2]
KEPT = ROOT / "build/validation"
PAGE = ROOT / "docs/validation.md"
FAMILIES: dict[str, list[Experiment]] = {
    "Chance": chance.EXPERIMENTS,
    "A switch's port": ports.EXPERIMENTS,
    "No program can stop time": spinning.EXPERIMENTS,
    "Queueing disciplines against theory": disciplines.EXPERIMENTS,
    "TCP against theory": transport.EXPERIMENTS,
    "The kernel against the textbook": textbook.EXPERIMENTS,
}
AT_ONCE = 2
MARKS = {True: "yes", False: "**no**", None: "–"}


def experiments() -> dict[str, Experiment]:
    """All experiments by name, in the order of the page."""
    return {one.name: one for family in FAMILIES.values() for one in family}


def made_by(one: Experiment) -> str:
    """A digest of what decides a measurement: the kernel, what computing costs, and the experiment's own code."""
    prices = Path(profiles.__file__).with_suffix(".json").read_text(encoding="utf-8")
    parts = pocket_kernel.require().digest, prices, inspect.getsource(one.measure)
    return hashlib.sha256("".join(parts).encode()).hexdigest()[:12]


class Kept:
    """What has been measured of one experiment as it is now; each new run is written at once."""

    def __init__(self, one: Experiment) -> None:
        self.path = KEPT / f"{one.name}.json"
        self.made_by = made_by(one)
        self.runs: dict[int, Data] = {}
        if self.path.is_file():
            data = json.loads(self.path.read_text())
            if data.get("made_by") == self.made_by:
                self.runs = {int(seed): run for seed, run in data["runs"].items()}

    def add(self, seed: int, run: Data) -> None:
        """Keep the measurement of one seed."""
        self.runs[seed] = run
        self.path.parent.mkdir(parents=True, exist_ok=True)
        write_json(self.path, {"made_by": self.made_by, "runs": {str(s): self.runs[s] for s in sorted(self.runs)}})


def measure(chosen: list[Experiment], kept: dict[str, Kept], at_once: int) -> Iterator[Experiment]:
    """Measure the seeds that are missing, `at_once` pockets at a time; yield each experiment once it has all seeds."""
    tasks = [(one, seed) for one in chosen for seed in one.seeds if seed not in kept[one.name].runs]
    missing = {one.name: {seed for task, seed in tasks if task is one} for one in chosen}
    for one in chosen:
        if not missing[one.name]:
            yield one
    jobs = [
        Job(number, partial(perform, one, seed), deadline_s=one.deadline_s, fresh=True)
        for number, (one, seed) in enumerate(tasks)
    ]
    with supervised(jobs, at_once) as events:
        for event in events:
            if not isinstance(event, Ended):
                continue
            one, seed = tasks[event.key]
            if event.value is None:
                print(f"validate: {one.name}, seed {seed}: {event.error}", file=sys.stderr, flush=True)
                continue
            kept[one.name].add(seed, event.value)
            missing[one.name].remove(seed)
            left = len(missing[one.name])
            print(
                f"{time.strftime('%H:%M:%S')} {one.name}, seed {seed}: {event.wall_s:.0f} s, {left} to go",
                file=sys.stderr,
                flush=True,
            )
            if not left:
                yield one


def seeds(one: Experiment, runs: Runs) -> str:
    """The seeds that were measured, in words; those that are missing are named."""
    missing = sorted(set(one.seeds) - set(runs))
    words = f"seed {min(runs)}" if len(runs) == 1 else f"{len(runs)} seeds, {min(runs)} to {max(runs)}"
    return words + (f"; not yet measured: {', '.join(map(str, missing))}" if missing else "")


def page(kept: dict[str, Kept]) -> str:
    """docs/validation.md, with everything that has been measured and the names of what has not."""
    built = pocket_kernel.require()
    lines = [
        "# Validation",
        "",
        "Written by `make validation`; do not edit.",
        "Each row compares an experiment in pockets with what theory, a standard, or the kernel's source predicts.",
        '`make validation ONLY="two-cubic codel"` runs single experiments by the names in parentheses.',
        "Times are those of the network's clock unless a row names another; on the virtual clock, the speed of the "
        "machine has no influence on them.",
        "",
        f"Pocket: Linux {built.version}, digest {built.digest}.",
        "A dash in the last column marks a number that is shown but not judged.",
        "",
    ]
    for title, family in FAMILIES.items():
        lines += [f"## {title}", "", row("what", "expected", "source", "found", ""), "|---|---|---|---|---|"]
        for one in family:
            runs = kept[one.name].runs
            if not runs:
                lines.append(row(f"**{one.what}** (`{one.name}`)", "", "", "not yet measured", "–"))
                continue
            lines.append(row(f"**{one.what}** (`{one.name}`, {seeds(one, runs)})", "", "", "", ""))
            for each in one.judge(runs):
                lines.append(row(*map(cell, (each.what, each.expected, each.source, each.found)), MARKS[each.ok]))
        lines.append("")
    return "\n".join(lines)


def main() -> int:
    """Measure all experiments, or those that are named."""
    parser = argparse.ArgumentParser(prog="validate", description="Compare experiments in pockets with theory.")
    known = experiments()
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"one of {', '.join(known)}; default: all")
    parser.add_argument(
        "--jobs", type=int, default=min(AT_ONCE, len(os.sched_getaffinity(0))), help="number of pockets at a time"
    )
    parser.add_argument("--again", action="store_true", help="repeat measurements that have been kept")
    parser.add_argument("--judge", action="store_true", help="judge the kept measurements without measuring")
    args = parser.parse_args()
    if unknown := [name for name in args.names if name not in known]:
        parser.error(f"unknown experiment: {', '.join(unknown)}; choose from {', '.join(known)}")
    kept = {name: Kept(one) for name, one in known.items()}
    chosen = [known[name] for name in dict.fromkeys(args.names or known)]
    if args.again:
        for one in chosen:
            kept[one.name].runs.clear()
    good = True
    for one in [one for one in chosen if kept[one.name].runs] if args.judge else measure(chosen, kept, args.jobs):
        for each in one.judge(kept[one.name].runs):
            print(
                f"{'ok ' if each.ok else '-- ' if each.ok is None else 'NO '} {one.name}: {each.what}: {each.found} "
                f"(expected: {each.expected})",
                flush=True,
            )
            good &= each.ok is not False
    write(PAGE, page(kept))
    incomplete = [one.name for one in chosen if set(one.seeds) - set(kept[one.name].runs)]
    if incomplete:
        print(f"validate: not fully measured: {', '.join(incomplete)}", file=sys.stderr)
    return 0 if good and not incomplete else 1


if __name__ == "__main__":
    try:
        sys.exit(main())
    except LinklabError as error:
        sys.exit(f"validate: {error}")
