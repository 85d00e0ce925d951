# SPDX-License-Identifier: BSD-3-Clause
"""Replay labs with many seeds, and write docs/seeds.md: how far apart chance alone puts each of a lab's figures.

The values of each figure go into seeds.toml in the lab's folder, against which tools/ranges.py holds lab.toml.

`python tools/seeds.py 10,11,17-20 --seeds 20`, or `make seeds` for all labs with seeds 1 to 5. A whole run is kept in
build/seeds/, so a call that was stopped goes on where it was; with another kernel every run is made anew. The page is
written from all runs of this kernel; a lab with fewer runs here than its chapter has keeps it, if that kernel wrote it.
`linklab record build/seeds/…` takes one of the runs as the lab's recording. Exit 1 if a run missed an expectation.
"""

from __future__ import annotations

import argparse
import math
import re
import shutil
import statistics
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from tables import cell, row

from linklab import pocket_kernel
from linklab.base.files import write
from linklab.base.numbers import format_number
from linklab.base.supervise import Ended, Job, supervised
from linklab.commands.several import chosen as chosen_labs
from linklab.engine.pocket import PocketEngine
from linklab.judge.expectation import verdicts_on
from linklab.judge.verdict import Outcome
from linklab.lab.model import Lab, find_lab, lab_folders, load_lab
from linklab.lab.reference import replayed
from linklab.lab.saved import SavedRun, SavedVerdict, load_run
from linklab.lab.seeds import dumped, load_spread, path_of, stale
from linklab.manual.model import Step
from linklab.run.compare import in_words
from linklab.run.many import estimate_s
from linklab.run.runner import run_lab
from linklab.run.stage import Capture, RunSettings

ROOT = Path(__file__).resolve().parent.parent
KEPT = ROOT / "build/seeds"
PAGE = ROOT / "docs/seeds.md"
AT_ONCE = 2
SHOWN = "shown"
"""What a verdict expects where it looks for words in an output."""
FEWEST = 5
"""With fewer seeds there is no table."""
DEADLINE_S = 3600
"""Of wall time, for one lab."""
INTRODUCTION = """# What chance does to the labs

Written by `make seeds`; do not edit.

Each lab was replayed with several seeds on the virtual clock.
A seed decides which packets a lossy link drops, how long a woken program waits for the processor, by how much the
price of each packet and system call varies, and how far apart the commands of one step are typed.
The tables show every expectation whose figure depended on the seed, with the least and the greatest figure, the median,
and the number of distinct figures, counted before they are rounded.
For a comparison of several figures they show what it came to with the first seed.
All other expectations gave the same figure in every run.
"""
"""The head of the page."""


def kept(lab: int, seed: int) -> Path:
    """The folder of a run of the present kernel."""
    return KEPT / pocket_kernel.require().digest / f"lab{lab:02d}-seed{seed}"


class Silent:
    """A narrator of a run that says nothing."""

    def begin(self, steps: Sequence[Step], network_s: float) -> None:
        """The steps begin."""

    def end(self, captures: Sequence[Capture], network_s: float) -> None:
        """The steps have ended."""


def replay(folder: Path, seed: int, out: Path, tell: object) -> str:
    """Run a lab; gives the expectations that were missed, "" if none was."""
    shutil.rmtree(out, ignore_errors=True)
    out.parent.mkdir(parents=True, exist_ok=True)
    run = run_lab(load_lab(folder), PocketEngine(), RunSettings(seed=seed), out, Silent())
    return "; ".join(verdict.message for verdict in run.verdicts if verdict.outcome is not Outcome.PASS)


def measure(labs: Sequence[Lab], seeds: Sequence[int]) -> bool:
    """Run what is missing, the longest labs first; whether every run came to its end."""
    due = [
        (lab, seed)
        for seed in seeds
        for lab in sorted(labs, key=lambda lab: -estimate_s(lab))
        if not (kept(lab.number, seed) / "run.json").is_file()
    ]
    jobs = [
        Job(at, partial(replay, lab.folder.resolve(), seed, kept(lab.number, seed)), deadline_s=DEADLINE_S)
        for at, (lab, seed) in enumerate(due)
    ]
    left, whole = len(jobs), True
    with supervised(jobs, AT_ONCE) as events:
        for event in events:
            if not isinstance(event, Ended):
                continue
            left -= 1
            lab, seed = due[event.key]
            whole &= event.error is None
            came = str(event.error) if event.error else f"missed: {event.value}" if event.value else "all met"
            words = f"Lab {lab.number}, seed {seed}: {event.wall_s:.0f} s, {came}; {left} to go"
            print(f"{time.strftime('%H:%M:%S')} {words}", file=sys.stderr, flush=True)
    return whole


@dataclass(frozen=True)
class Seen:
    """One expectation in the runs of all seeds, the first seed first."""

    verdicts: Sequence[SavedVerdict]
    figures: Sequence[tuple[float, str]]
    """Values with their unit; empty where the expectation compares several, or looks for words."""

    @property
    def distinct(self) -> int:
        """How many different figures the runs gave; 1 for an expectation that only looks for words."""
        if self.verdicts[0].expected == SHOWN:
            return 1
        return len(set(self.figures)) if self.figures else len({verdict.measured for verdict in self.verdicts})

    @property
    def met(self) -> int:
        """In how many runs it was met."""
        return sum(verdict.outcome is Outcome.PASS for verdict in self.verdicts)

    def cells(self) -> list[str]:
        """A row of the table."""
        first = self.verdicts[0]
        what = f"{first.step} {first.what}".strip() if self.figures else first.what
        shown = [first.measured, "", ""]
        if self.figures:
            values, unit = [value for value, _ in self.figures], self.figures[0][1]
            shown = [format_number(of(values), unit) for of in (min, statistics.median, max)]
        met = f"{self.met} of {len(self.verdicts)}"
        return [
            what,
            first.expected,
            *shown,
            str(self.distinct),
            met if self.met == len(self.verdicts) else f"**{met}**",
        ]


def collected(lab: Lab, runs: Sequence[SavedRun]) -> list[Seen]:
    """Each expectation that the lab has now, over its runs."""
    judged = [[in_words(verdict) for verdict in verdicts_on(lab.expectations, [run.observed])] for run in runs]
    found = []
    for verdicts in zip(*judged, strict=True):
        step, what = verdicts[0].step, verdicts[0].what
        figures = [run.scalars.get(step, {}).get(what) for run in runs]
        numeric = [one for one in figures if one is not None and not math.isnan(one[0])]
        found.append(Seen(verdicts, numeric if len(numeric) == len(runs) else []))
    return found


def chapter(lab: Lab, runs: Sequence[SavedRun], seen: Sequence[Seen]) -> Iterator[str]:
    """The page's lines on one lab."""
    varied = [one for one in seen if one.distinct > 1 or one.met < len(runs)]
    met = sum(one.met == len(runs) for one in seen)
    yield f"## {lab.heading}"
    yield ""
    seeds = [run.seed for run in runs]
    words = f"Seeds {', '.join(map(str, seeds))}" if len(seeds) > 1 else f"Seed {seeds[0]} alone"
    if len(seeds) > 1 and seeds == list(range(1, len(seeds) + 1)):
        words = f"Seeds 1 to {len(seeds)}"
    yield f"{words}: {met} of {len(seen)} expectations were met in every run; {len(varied)} depended on the seed."
    yield ""
    if varied:
        yield row("what", "expected", "least", "median", "greatest", "distinct", "met")
        yield "|---|---|---|---|---|---|---|"
        for one in varied:
            yield row(*map(cell, one.cells()))
        yield ""


def chapters(text: str, pocket: str) -> dict[str, str]:
    """The chapters of a page by their headings; none if another kernel wrote it."""
    if pocket not in text.splitlines():
        return {}
    parts = re.split(r"^## (.+)\n", text, flags=re.MULTILINE)[1:]
    return {heading: body.strip() for heading, body in zip(parts[::2], parts[1::2], strict=True)}


def seeds_in(chapter: str) -> int:
    """How many seeds a chapter is written from; 0 if there is no chapter."""
    first = chapter.partition(":")[0]
    if up_to := re.fullmatch(r"Seeds 1 to (\d+)", first):
        return int(up_to[1])
    return len(re.findall(r"\d+", first))


def runs_of(lab: Lab) -> list[SavedRun]:
    """The runs of a lab that are kept here, of this kernel and of the steps that the manual has now, by seed."""
    folders = kept(lab.number, 0).parent.glob(f"lab{lab.number:02d}-seed*/run.json")
    runs = (load_run(path.parent) for path in folders)
    return sorted((run for run in runs if run.replayed == replayed(lab)), key=lambda run: run.seed)


def write_table(lab: Lab) -> Path | None:
    """Write seeds.toml of a lab from the runs that are kept here; None if there are too few.

    A table of this kernel and of these steps is not replaced by one of fewer seeds.
    """
    runs, digest = runs_of(lab), pocket_kernel.require().digest
    before = load_spread(lab)
    told = before is not None and before.kernel == digest and not stale(lab, before)
    if len(runs) < max(FEWEST, len(before.runs) if before and told else 0):
        return None
    write(path_of(lab), dumped(lab, digest, {run.seed: run.scalars for run in runs}))
    return path_of(lab)


def page(before: str) -> tuple[str, bool]:
    """The text of the page from all runs of this kernel, and whether they met every expectation.

    Args:
        before: the page as it is; it gives the chapters of labs without a run here.
    """
    built = pocket_kernel.require()
    pocket = f"Pocket: Linux {built.version}, digest {built.digest}."
    lines = [INTRODUCTION, pocket, ""]
    good = True
    told = chapters(before, pocket)
    for lab in map(load_lab, lab_folders(ROOT)):
        runs = runs_of(lab)
        if runs and len(runs) >= seeds_in(told.get(lab.heading, "")):
            seen = collected(lab, runs)
            lines += chapter(lab, runs, seen)
            good &= all(one.met == len(runs) for one in seen)
        elif lab.heading in told:
            lines += [f"## {lab.heading}", "", told[lab.heading], ""]
    return "\n".join(lines).rstrip() + "\n", good


def main() -> int:
    """Measure what is missing and write the page."""
    parser = argparse.ArgumentParser(description="Replay labs with many seeds and write docs/seeds.md.")
    parser.add_argument("labs", nargs="?", default="all", help='such as "10,11,17-20"; default: all')
    parser.add_argument("--seeds", type=int, default=5, metavar="N", help="seeds 1 to N (default: 5)")
    chosen = parser.parse_args()
    labs = [load_lab(folder) for folder in chosen_labs(chosen.labs) or [find_lab(chosen.labs)]]
    whole = measure(labs, range(1, chosen.seeds + 1))
    text, good = page(PAGE.read_text(encoding="utf-8") if PAGE.is_file() else "")
    write(PAGE, text)
    for lab in labs:
        if table := write_table(lab):
            print(table)
    said = "every run of it met every expectation" if good else "some run missed an expectation"
    print(f"{PAGE.relative_to(ROOT)}: {said}{'' if whole else '; some runs did not come to their end'}")
    return 0 if whole and good else 1


if __name__ == "__main__":
    sys.exit(main())
