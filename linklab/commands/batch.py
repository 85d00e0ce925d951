# SPDX-License-Identifier: BSD-3-Clause
"""`linklab batch`: the trials of batch files in Flent's form, listed or run."""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from linklab.base.text import excerpt
from linklab.commands.console import make_console, plain
from linklab.commands.trials import (
    add_options,
    before_trials,
    check_folder,
    check_machine,
    checked,
    due,
    estimate,
    folder_for,
    jobs_of,
    session,
    show,
    shuffle_seed,
)
from linklab.errors import InputError
from linklab.experiment.batch import ALL, BatchChoice, batch_list
from linklab.experiment.batch_file import read_batch_files
from linklab.experiment.trial_list import ListedTrial, as_name, digest

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
    add_options(parser)
    parser.add_argument("-n", "--dry-run", action="store_true", help="say what would be run, and run nothing")
    parser.add_argument("-v", "--verbose", action="store_true", help="with --dry-run: titles and commands too")
    return parser


def run(args: argparse.Namespace) -> int:
    """Make the list and show it or run it."""
    files = [*args.batch_file, *args.files]
    if not files:
        raise InputError("no batch file is given; `linklab batch --help` has examples")
    seed = shuffle_seed(args)
    choice = BatchChoice(tuple(args.batch), _overrides(args.override), args.path, seed, args.host_commands)
    console = make_console(quiet=args.quiet)
    with before_trials():
        found = batch_list(read_batch_files(files), choice)
        for sentence in found.unused:
            make_console(stderr=True).print(plain(f"linklab: {sentence}"), soft_wrap=True)
        _check_commands(args, found.entries)
        entries = checked(found.entries)
    trials = [entry.trial for entry in entries]
    left = due(args, entries)
    if args.dry_run:
        show(console, left, verbose=args.verbose)
        console.print(plain(estimate(left, jobs_of(args, trials))), soft_wrap=True)
    check_machine(args, trials)
    if args.dry_run:
        check_folder(args)
        return 0
    console.print(plain(estimate(left, jobs_of(args, trials))), soft_wrap=True)
    folder = folder_for(args, f"batch-{as_name(files[-1].stem)}")
    about = {"what": "batch", "list": digest(entries), "shuffle_seed": seed}
    began = time.perf_counter()
    with session(args, folder, about, trials, host_commands=args.host_commands) as doing:
        doing.do(entries)
    doing.view.end(time.perf_counter() - began)
    return 0 if doing.all_well else 1


def _check_commands(args: argparse.Namespace, entries: Sequence[ListedTrial]) -> None:
    """Say what is left out of a batch file's commands, which may be a stranger's."""
    names = dict.fromkeys(command.name for entry in entries for command in entry.trial.commands if command.on_host)
    if names and args.host_commands and args.cluster is not None:
        raise InputError("--host-commands runs commands on this machine, and --cluster the trials elsewhere; use one")
    if names and not args.host_commands:
        sentence = f"left out, since they are for this machine: {', '.join(names)}; --host-commands runs them"
        make_console(stderr=True).print(plain(f"linklab: {sentence}"), soft_wrap=True)


def _overrides(words: Sequence[str]) -> dict[str, str]:
    found = {}
    for word in words:
        key, equals, value = word.partition("=")
        if not equals or not key.strip():
            raise InputError(f'--override "{excerpt(word)}" must be KEY=VALUE')
        found[key.strip().lower()] = value.strip()
    return found
