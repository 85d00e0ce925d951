# SPDX-License-Identifier: BSD-3-Clause
"""`linklab run`: replay a lab with progress, print the table of verdicts, leave the folder of the run."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from linklab.base.text import one_line
from linklab.commands.console import make_console, plain
from linklab.commands.interrupt import says_what_is_left
from linklab.commands.options import add_network_options
from linklab.commands.several import add_jobs_option, chosen, run_several
from linklab.engine.api import Clock
from linklab.engine.choice import REPLAY_CLOCK, clock_of, load_engine
from linklab.errors import InputError
from linklab.judge.verdict import Outcome
from linklab.lab.model import Lab, find_lab, load_lab
from linklab.lab.saved import SavedRun
from linklab.lab.sections import chosen_steps
from linklab.manual.model import Step
from linklab.run.likeness import Likeness, against_recording, made_otherwise
from linklab.run.report import write_report
from linklab.run.runner import run_folder, run_lab, verdict_data
from linklab.run.stage import Capture, RunSettings
from linklab.terminal.screen import ends_orderly

if TYPE_CHECKING:
    from linklab.commands import Subparsers

__all__ = ["add_parser", "add_run_options", "print_verdicts", "replay", "run"]

_EPILOG = """examples:
  linklab run 14
  linklab run 8 --seed 3 --out /tmp/lab8
  linklab run 14 --section 4 --clock paced
  linklab run all                         every lab, one a processor
  linklab run 5-7,10 --seed 2 --jobs 1
  linklab run 20 --engine host            on this machine's own kernel; asks sudo by itself
  linklab run 14 --json | jq '.verdicts[] | select(.outcome != "pass")'

A run with the seed, clock and profile of the lab's recording is compared with it: linklab says that it gave the same
bytes, or names the first step that differs. This changes neither a verdict nor the exit code.

Exits with 0 if every expectation is met, 1 if not; other codes as in linklab --help.
"""

_STYLES = {Outcome.PASS: "green", Outcome.FAIL: "red bold", Outcome.ERROR: "magenta bold", Outcome.SKIPPED: "dim"}


_MACHINES_OWN = (
    "On the host engine times and rates are this machine's own, and the expectations are those of the virtual clock; "
    "--settings-only judges what each step sets, and no rates."
)


def add_parser(subparsers: Subparsers, summary: str) -> argparse.ArgumentParser:
    """Add `run LAB` with its options."""
    parser = subparsers.add_parser(
        "run",
        help=summary,
        description="Do every step of a lab's manual on its network and compare what it shows with what it should.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_run_options(parser)
    parser.add_argument("--section", metavar="N", help="only this section, after the settings of those before it")
    parser.add_argument(
        "--out",
        metavar="DIR",
        type=Path,
        help="folder of the run (default: a new one in runs/ of the clone, or here if that is read-only)",
    )
    parser.add_argument(
        "--settings-only",
        action="store_true",
        help="read back what each step sets and judge nothing else: for a machine too slow to judge its rates",
    )
    parser.add_argument("--json", action="store_true", help="print the verdicts as JSON and nothing else")
    return parser


def add_run_options(
    parser: argparse.ArgumentParser,
    metavar: str = "LAB",
    words: str = 'number, folder name or path of a lab; or several: "5-7,10", "all"',
) -> None:
    """The argument and the options that `run` and `record` share; `metavar` and `words` describe the argument."""
    parser.add_argument("lab", metavar=metavar, help=words)
    add_jobs_option(parser)
    parser.add_argument(
        "--clock",
        choices=[clock.value for clock in Clock],
        help="default: virtual; on the host engine wall, its only one",
    )
    add_network_options(parser)


def run(args: argparse.Namespace) -> int:
    """Replay, report; 0 if all expectations are met, else 1."""
    with ends_orderly():
        return _run(args)


def _run(args: argparse.Namespace) -> int:
    if (folders := chosen(args.lab)) is not None:
        return _run_several(args, folders)
    done, likeness = replay(args, args.out, args.section, quiet=args.json)
    if args.json:
        recording = None if likeness is None else asdict(likeness) | {"same": likeness.same}
        data = {
            "lab": done.lab,
            "out": str(done.folder),
            "recording": recording,
            "verdicts": verdict_data(done.verdicts),
        }
        print(json.dumps(data, indent=2, ensure_ascii=False))
    good = {Outcome.PASS, Outcome.SKIPPED} if args.section or args.settings_only else {Outcome.PASS}
    return 0 if all(verdict.outcome in good for verdict in done.verdicts) else 1


def _run_several(args: argparse.Namespace, folders: Sequence[Path]) -> int:
    if args.section or args.settings_only:
        raise InputError(f"{'--section' if args.section else '--settings-only'} is for one lab")
    tasks, folder = run_several(args, folders, out=args.out, quiet=args.json)
    if args.json:
        data = {"out": str(folder), "labs": [{**task.summary, "verdicts": task.verdicts} for task in tasks]}
        print(json.dumps(data, indent=2, ensure_ascii=False))
    return 0 if all(task.state == "pass" for task in tasks) else 1


def replay(
    args: argparse.Namespace, out: Path | None, section: str | None = None, *, quiet: bool = False
) -> tuple[SavedRun, Likeness | None]:
    """Run the lab that the arguments name, tell the person how it goes, print the table and write the report.

    Returns:
        The run, and how it compares with the lab's recording; None if they need not be the same.
    """
    lab = load_lab(find_lab(args.lab))
    clock = clock_of(args.clock, args.engine, REPLAY_CLOCK)
    settings = RunSettings(clock, args.seed, args.cpu, settings_only=getattr(args, "settings_only", False))
    console = make_console(quiet=quiet)
    narrator = _Progress(console, lab, len(chosen_steps(lab.manual, section)))
    with run_folder(lab, settings, out) as folder, says_what_is_left(folder), narrator.progress:
        engine = load_engine(args.engine)
        if args.engine == "host":
            from linklab.doctor import fit

            fit.require(lab, section)
        done = run_lab(lab, engine, settings, folder, narrator, section=section)
    print_verdicts(done, console)  # before the page, which may lack a disk to be written to
    report = write_report(done)
    if args.engine == "host" and any(verdict.outcome is Outcome.FAIL for verdict in done.verdicts):
        console.print(_MACHINES_OWN, style="yellow")
    if done.unclaimed:
        console.print(plain(f"It is not known which step wrote {', '.join(done.unclaimed)}; files=PATH says so."))
    if done.not_repeatable and clock is Clock.VIRTUAL:  # on the other clocks no run can be repeated
        console.print(plain(done.not_repeatable, style="yellow"), soft_wrap=True)
    likeness = against_recording(lab, done)
    if likeness is not None:
        console.print(plain(f"The run gave {likeness.words}."), soft_wrap=True)
        for cause in likeness.causes:
            console.print(plain(f"  {cause}"), soft_wrap=True)
    elif recorded_otherwise := made_otherwise(lab, done):
        console.print(plain(recorded_otherwise), soft_wrap=True)
    console.print(f"{done.network_s:.1f} s of network time in {done.wall_s:.1f} s. Report: {report}", soft_wrap=True)
    return done, likeness


def print_verdicts(done: SavedRun, console: Console) -> None:
    """The table of expected against measured, and the story of each that is not met."""
    table = Table(title=plain(done.heading), title_justify="left", header_style="bold")
    for name in ("Step", "What", "Measured", "Expected", "Series", "Verdict"):
        table.add_column(name, overflow="fold")
    for verdict in done.verdicts:
        table.add_row(
            plain(verdict.step),
            plain(verdict.what or "output"),
            plain(verdict.measured),
            plain(verdict.expected),
            plain(verdict.series),
            plain(verdict.outcome.value, style=_STYLES[verdict.outcome]),
        )
    console.print(table)
    for verdict in done.verdicts:
        if verdict.message and verdict.outcome is not Outcome.SKIPPED:
            console.print(plain(f"{verdict.outcome.value} {verdict.message}", style=_STYLES[verdict.outcome]))


class _Progress:
    """The progress display; on something that is no terminal, one line a group of steps."""

    def __init__(self, console: Console, lab: Lab, count: int) -> None:
        self.console = console
        self.progress = Progress(
            TextColumn(f"Lab {lab.number}", markup=False),
            BarColumn(bar_width=20),
            TextColumn("{task.completed:.0f}/{task.total:.0f}"),
            TextColumn("{task.fields[network]}"),
            TimeElapsedColumn(),
            TextColumn("{task.description}", markup=False),
            console=console,
            transient=True,
            disable=not console.is_terminal,
        )
        self.task = self.progress.add_task("starting the network", total=count, network="")

    def begin(self, steps: Sequence[Step], network_s: float) -> None:
        title = steps[0].title or steps[0].id
        where = "+".join(step.terminal for step in steps)
        self.progress.update(
            self.task, description=one_line(f"{where}: {title}")[:72], network=f"{network_s:.0f} s network"
        )
        if not self.console.is_terminal:
            self.console.print(plain(f"{network_s:9.3f} s  {where}: {title}"), soft_wrap=True)

    def end(self, captures: Sequence[Capture], network_s: float) -> None:
        self.progress.update(self.task, advance=len(captures), network=f"{network_s:.0f} s network")
