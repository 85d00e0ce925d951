# SPDX-License-Identifier: BSD-3-Clause
"""`linklab sweep`: one test on every combination of some factors, repeated; tables, a figure, what matters most."""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from linklab.analysis.statistics import Interval
from linklab.base.files import write_asked
from linklab.commands.console import make_console, plain
from linklab.commands.trials import (
    TrialsSession,
    add_options,
    before_trials,
    check_folder,
    check_machine,
    checked,
    estimate,
    folder_for,
    jobs_of,
    session,
    show,
    shuffle_seed,
)
from linklab.data import open_file
from linklab.errors import InputError
from linklab.experiment import sweep
from linklab.experiment.prepared import prepare
from linklab.experiment.summary import with_interval
from linklab.experiment.sweep import Looked, Rounds, units, unknown
from linklab.experiment.sweep_file import Sweep, load_sweep
from linklab.experiment.sweep_template import TEMPLATE
from linklab.experiment.table_grid import Cell, TableGrid, as_text, spelt
from linklab.experiment.trial_list import ListedTrial, as_name

if TYPE_CHECKING:
    from linklab.commands import Subparsers

_EPILOG = """examples:
  linklab sweep --new buffer.toml          write a commented file to start from
  linklab sweep --check buffer.toml        is it right, and how long does it take?
  linklab sweep buffer.toml --jobs 2       run it: tables, figure, and which factor matters most
  linklab sweep buffer.toml --resume runs/sweep-buffer

In a terminal of a network, the tests run on that network, and the file names no path.
docs/tests.md describes the file.
"""


def add_parser(subparsers: Subparsers, summary: str) -> argparse.ArgumentParser:
    """Add `sweep FILE`."""
    parser = subparsers.add_parser(
        "sweep",
        help=summary,
        description="Run a test on every combination of the levels of some factors, repeated with other seeds.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("file", metavar="FILE", type=Path, help="sweep file, TOML")
    does = parser.add_mutually_exclusive_group()
    does.add_argument("--new", action="store_true", help="write a commented file to start from, and run nothing")
    does.add_argument("--check", action="store_true", help="say what is wrong with the file, and run nothing")
    does.add_argument("-n", "--dry-run", action="store_true", help="say what would be run, and run nothing")
    add_options(parser)
    return parser


def run(args: argparse.Namespace) -> int:
    """Do the sweep."""
    console = make_console(quiet=args.quiet)
    if args.new:
        if args.file.exists():
            raise InputError(f"{args.file}: is there already; give a new name")
        write_asked(args.file, TEMPLATE)
        console.print(plain(f"{args.file}: change it, then: linklab sweep {args.file}"), soft_wrap=True)
        return 0
    if os.environ.get("LINKLAB_INSIDE"):
        from linklab.commands import sweep_inside

        return sweep_inside.run(args)
    found = load_sweep(args.file)
    with before_trials():
        first = checked(sweep.checked(found))  # what is wrong is said before anything runs
    firsts = {tuple(cell.values()): entry for cell, entry in zip(found.cells(), first, strict=True)}
    sweep.check_windows(found, first)
    for sentence in (*unknown(found, prepare(first[0].trial).expanded), *sweep.doubtful(found)):
        make_console(stderr=True).print(plain(f"linklab: {sentence}"), soft_wrap=True)
    seed = shuffle_seed(args)
    rounds = Rounds(found, seed)
    due = with_lengths(rounds.next(), firsts)
    trials = [entry.trial for entry in due]
    jobs = jobs_of(args, trials)
    for line in about_sweep(found, estimate(due, jobs), dry=args.check or args.dry_run):
        console.print(plain(line), soft_wrap=True)
    if args.check:
        return 0
    if args.dry_run:
        show(console, due)
    check_machine(args, trials)
    if args.dry_run:
        check_folder(args)
        return 0
    folder = folder_for(args, f"sweep-{as_name(args.file.stem)}")
    factors = {name: list(levels) for name, levels in found.factors.items()}
    about = {"what": "sweep", "factors": factors, "shuffle_seed": seed}
    began = time.perf_counter()
    with session(args, folder, about, trials, look=Looked(found.measures)) as doing:
        do_rounds(rounds, doing, firsts)
    doing.view.end(time.perf_counter() - began)
    for line in report(rounds, folder):
        console.print(plain(line), soft_wrap=True)
    return 0 if doing.all_well and not rounds.lacking() else 1


def with_lengths(
    due: Sequence[tuple[sweep.Cell, ListedTrial]], firsts: dict[tuple[str, ...], ListedTrial]
) -> list[ListedTrial]:
    """The trials with how long each is and takes."""
    return [sweep.lasting(entry, firsts[tuple(cell.levels.values())]) for cell, entry in due]


def do_rounds(rounds: Rounds, doing: TrialsSession, firsts: dict[tuple[str, ...], ListedTrial]) -> None:
    """Round after round; the outcomes are taken in the order of the list, whichever ended first."""
    looked = Looked(rounds.sweep.measures)
    while due := rounds.next():
        tasks = doing.do(with_lengths(due, firsts))
        for (cell, entry), task in zip(due, tasks, strict=True):
            values = task.values
            if task.state != "failed" and any(measure.key not in values for measure in rounds.sweep.measures):
                values = looked(open_file(doing.folder.path / entry.file))  # the journal has those of other measures
                doing.folder.keep_values(entry, values)
            rounds.take(cell, values)


def report(rounds: Rounds, folder: Path) -> list[str]:
    """Write the report; what is to be said."""
    from linklab.experiment.sweep_report import FIGURE, TABLE, TRIALS, write_report

    by_measure = units(rounds, folder)
    found = write_report(rounds, by_measure, folder)
    return [
        *_table(rounds, by_measure),
        *found,
        f"Table: {folder / TABLE}, trials: {folder / TRIALS}, figure: {folder / FIGURE}",
    ]


def _table(rounds: Rounds, by_measure: Mapping[str, str]) -> list[str]:
    """A line for each combination: the mean of each measure, and half its interval."""
    measures = rounds.sweep.measures
    heads = [", ".join(filter(None, (one.name, spelt(by_measure.get(one.name, ""))))) for one in measures]
    rows: list[tuple[Cell, ...]] = [
        (*cell.levels.values(), *(_shown(cell.interval(one)) for one in measures), cell.repetitions)
        for cell in rounds.cells
    ]
    return as_text(TableGrid((*rounds.sweep.factors, *heads, "n"), tuple(rows))).splitlines()


def _shown(one: Interval) -> Cell:
    """A mean with half its interval, which a single run does not have."""
    return with_interval(one) if one.n > 1 else one.value


def about_sweep(found: Sweep, takes: str, *, dry: bool) -> list[str]:
    """How large it is, and how long it takes."""
    cells = " × ".join(f"{len(levels)} {name}" for name, levels in found.factors.items())
    least, most = sweep.sizes(found)
    lines = [f"{cells}, {found.repetitions} {'repetition' if found.repetitions == 1 else 'repetitions'} each"]
    if most > least:
        lines[0] += f" and up to {found.most} until the intervals are within their bounds: {least} to {most} trials"
    lines.append(("At least " if most > least else "") + takes)
    if dry:
        lines += [f"measure {measure.name}: {measure.key}" for measure in found.measures]
    return lines
