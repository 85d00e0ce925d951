# SPDX-License-Identifier: BSD-3-Clause
"""`linklab batch`: the trials of batch files in Flent's form, listed or run."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console

from linklab.base.text import excerpt
from linklab.commands.console import make_console, plain
from linklab.errors import InputError
from linklab.experiment.batch import ALL, BatchList, Choice, batch_list
from linklab.experiment.batch_file import read_batch_files
from linklab.experiment.model import When
from linklab.experiment.trial_list import Entry

if TYPE_CHECKING:
    from linklab.commands import Subparsers

_EPILOG = """examples:
  linklab batch lab.batch --dry-run              what would be run
  linklab batch lab.batch                        run every batch that is neither abstract nor disabled
  linklab batch lab.batch -b rrul --jobs 2       one batch, two trials at a time
  linklab batch flent-paper.batch -b rrul --path "10mbit 50ms"
                                                 a batch file of Flent's, on a path of ours
  linklab batch lab.batch --override length=10

docs/tests.md describes batch files.
"""


def add_parser(subparsers: Subparsers, summary: str) -> argparse.ArgumentParser:
    """Add `batch FILE… [-b NAME]… [--dry-run]`."""
    parser = subparsers.add_parser(
        "batch",
        help=summary,
        description="Run the trials of batch files in Flent's form; of sections of the same name the last one counts.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("files", metavar="FILE", nargs="*", type=Path, help="batch file")
    parser.add_argument(
        "-B", "--batch-file", metavar="FILE", action="append", type=Path, default=[], help="as FILE, as Flent has it"
    )
    parser.add_argument(
        "-b",
        "--batch",
        metavar="NAME",
        action="append",
        default=[],
        help=f"batch to run, again for more; {ALL}, the default, for all that are neither abstract nor disabled",
    )
    parser.add_argument(
        "--override", metavar="KEY=VALUE", action="append", default=[], help="lay a value over every batch"
    )
    parser.add_argument("--path", default="", help='for batches that say none, such as "10mbit 50ms fq_codel"')
    order = parser.add_mutually_exclusive_group()
    order.add_argument("--shuffle-seed", type=int, default=1, metavar="N", help="of the order of trials (default: 1)")
    order.add_argument("--no-shuffle", action="store_true", help="keep the order of the file")
    parser.add_argument("-n", "--dry-run", action="store_true", help="say what would be run, and run nothing")
    parser.add_argument("-v", "--verbose", action="store_true", help="with --dry-run: settings and commands too")
    return parser


def run(args: argparse.Namespace) -> int:
    """Make the list and show it or run it."""
    files = [*args.batch_file, *args.files]
    if not files:
        raise InputError("no batch file is given; `linklab batch --help` has examples")
    found = batch_list(
        read_batch_files(files),
        Choice(tuple(args.batch), _overrides(args.override), args.path, None if args.no_shuffle else args.shuffle_seed),
    )
    console = make_console()
    for sentence in found.unused:
        make_console(stderr=True).print(plain(f"linklab: {sentence}"), soft_wrap=True)
    if not args.dry_run:
        raise InputError("batches cannot be run yet; --dry-run lists what would be run")
    show(console, found, verbose=args.verbose)
    return 0


def _overrides(words: Sequence[str]) -> dict[str, str]:
    found = {}
    for word in words:
        key, equals, value = word.partition("=")
        if not equals or not key.strip():
            raise InputError(f'--override "{excerpt(word)}" must be KEY=VALUE')
        found[key.strip().lower()] = value.strip()
    return found


def show(console: Console, found: BatchList, *, verbose: bool) -> None:
    """Say what would be run, in the order in which it would start."""
    for entry in found.entries:
        console.print(plain(f"would run {entry.label} → {entry.file}"), soft_wrap=True)
        for line in _settings(entry) if verbose else ():
            console.print(plain(f"    {line}"), soft_wrap=True)
    count = Counter(entry.trial.extra["BATCH_NAME"] for entry in found.entries)
    parts = ", ".join(f"{name} {number}" for name, number in count.items())
    total = len(found.entries)
    console.print(plain(f"{total} {'trial' if total == 1 else 'trials'}: {parts}"), soft_wrap=True)


def _settings(entry: Entry) -> list[str]:
    """What decides a trial's outcome, a line each."""
    trial = entry.trial
    place = f"path {trial.path}" if trial.path else f"topology {trial.topology}"
    lines = [f"test {trial.test}, {place}, seed {trial.seed}"]
    lines += [f"title {trial.title}"] if trial.title else []
    lines += [f"length {trial.length_s:g} s"] if trial.length_s is not None else []
    lines += [f"{key} = {value}" for key, value in trial.parameters.items()]
    for when in (When.PRE, When.MONITOR, When.POST):
        for command in trial.commands:
            if command.when is when:
                where = "this machine" if command.on_host else command.node or "the network"
                lines.append(f"{when.value}, on {where}{', essential' * command.essential}: {command.line}")
    return lines
