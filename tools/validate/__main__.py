# SPDX-License-Identifier: BSD-3-Clause
"""`make validation`, or `make validation ONLY="two-cubic codel"`: measure, print the table, write docs/validation.md.

What was measured is kept in build/validation/, a file for each experiment, so a call goes on where the last one was
ended; with another kernel everything is measured anew. Two pockets run at a time. Exit 1 if theory is missed.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from linklab import pocket_kernel
from linklab.base.files import write_json
from linklab.base.supervise import Ended, Job, supervised
from validate import chance, disciplines, ports, spinning, textbook, transport
from validate.experiment import Data, Experiment, Row, perform

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
    """All of them by name, in order."""
    return {one.name: one for family in FAMILIES.values() for one in family}


class Kept:
    """What has been measured of one experiment with the present kernel; every new run is written at once."""

    def __init__(self, name: str, folder: Path = KEPT) -> None:
        self.path = folder / f"{name}.json"
        self.kernel = pocket_kernel.require().digest
        self.runs: dict[int, Data] = {}
        if self.path.is_file():
            data = json.loads(self.path.read_text())
            if data["kernel"] == self.kernel:
                self.runs = {int(seed): run for seed, run in data["runs"].items()}

    def add(self, seed: int, run: Data) -> None:
        """Keep what one seed gave."""
        self.runs[seed] = run
        self.path.parent.mkdir(parents=True, exist_ok=True)
        write_json(self.path, {"kernel": self.kernel, "runs": {str(s): self.runs[s] for s in sorted(self.runs)}})


def measure(chosen: list[Experiment], kept: dict[str, Kept], at_once: int) -> Iterator[Experiment]:
    """Measure what is missing, two pockets at a time; gives each experiment when it is whole."""
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


def cells(rows: list[Row]) -> Iterator[str]:
    """The rows as lines of a Markdown table."""
    for row in rows:
        words = (row.what, row.expected, row.source, row.found, MARKS[row.ok])
        yield "| " + " | ".join(word.replace("|", "\\|") for word in words) + " |"


def page(kept: dict[str, Kept]) -> str:
    """docs/validation.md, of everything that has been measured."""
    built = pocket_kernel.require()
    lines = [
        "# Validation",
        "",
        "Written by `make validation`; do not edit.",
        "Each row is an experiment in pockets beside what theory, a standard or the kernel's source says of it.",
        '`make validation ONLY="two-cubic codel"` runs single ones, by the names in parentheses.',
        "Numbers are of the virtual clock, so the machine that ran them has no part in them.",
        "",
        f"Pocket: Linux {built.version}, digest {built.digest}.",
        "A dash in the last column marks a number that is shown and not judged.",
        "",
    ]
    for title, family in FAMILIES.items():
        lines += [f"## {title}", "", "| what | expected | source | found | |", "|---|---|---|---|---|"]
        for one in family:
            runs = kept[one.name].runs
            if runs:
                seeds = f"{min(runs)}" if len(runs) == 1 else f"{min(runs)} to {max(runs)}"
                lines.append(f"| **{one.what}** (`{one.name}`, seeds {seeds}) | | | | |")
                lines += cells(list(one.judge(runs)))
        lines.append("")
    return "\n".join(lines)


def main() -> int:
    """Measure all experiments, or those named."""
    parser = argparse.ArgumentParser(prog="validate", description="Measure in pockets what theory has an answer to.")
    known = experiments()
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of these: {', '.join(known)}")
    parser.add_argument(
        "--jobs", type=int, default=min(AT_ONCE, len(os.sched_getaffinity(0))), help="pockets at a time"
    )
    parser.add_argument("--again", action="store_true", help="measure anew what is kept")
    parser.add_argument("--judge", action="store_true", help="measure nothing; judge what is kept")
    args = parser.parse_args()
    if unknown := [name for name in args.names if name not in known]:
        parser.error(f"there is no experiment {', '.join(unknown)}; there are {', '.join(known)}")
    kept = {name: Kept(name) for name in known}
    chosen = [known[name] for name in args.names or known]
    for one in chosen:
        if args.again:
            kept[one.name].runs.clear()
    good = True
    done = (one for one in chosen if kept[one.name].runs) if args.judge else measure(chosen, kept, args.jobs)
    finished = 0
    for one in done:
        finished += 1
        for row in one.judge(kept[one.name].runs):
            print(
                f"{'ok ' if row.ok else '-- ' if row.ok is None else 'NO '} {one.name}: {row.what}: {row.found} "
                f"(expected: {row.expected})",
                flush=True,
            )
            good &= row.ok is not False
    PAGE.write_text(page(kept), encoding="utf-8")
    return 0 if good and finished == len(chosen) else 1


if __name__ == "__main__":
    sys.exit(main())
