# SPDX-License-Identifier: BSD-3-Clause
"""`linklab labs`: the table of labs, or with `--check` whether manuals, expectations and references agree."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from rich.table import Table

from linklab.base.text import one_line
from linklab.commands.console import make_console, plain
from linklab.commands.set_env import check_script
from linklab.documents.translation import catalogue_problems, program_problems
from linklab.errors import InputError, LinklabError
from linklab.lab.fidelity import check_fidelity
from linklab.lab.model import Lab, lab_folders, load_lab
from linklab.lab.mutants import FEWEST, FILE, load_mutants
from linklab.lab.reference import load_reference, problems, staleness
from linklab.lab.seeds import seed_problems
from linklab.lab.teaching import teaching_problems
from linklab.manual.chapter import Recorded
from linklab.pocket_kernel import digest
from linklab.run.stage import RunSettings

if TYPE_CHECKING:
    from linklab.commands import Subparsers

_EPILOG = """examples:
  linklab labs
  linklab labs --check              what make check runs
  linklab labs --mutants            replay the known mistakes of every lab; each must be noticed where it is made
  linklab labs --mutants 3,5-7
  linklab labs --mutants 14 --only bytes-for-bits
"""


def add_parser(subparsers: Subparsers, summary: str) -> argparse.ArgumentParser:
    """Add `labs [--check | --mutants [LABS]]`."""
    parser = subparsers.add_parser(
        "labs",
        help=summary,
        description="List the labs and the state of their references.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--check", action="store_true", help="name every broken block, quote, expectation and script")
    what.add_argument(
        "--mutants",
        nargs="?",
        const="all",
        metavar="LABS",
        help='replay the known mistakes in mutants.toml of these labs ("5-7,10"; default: all)',
    )
    parser.add_argument("--only", default="", metavar="NAME", help="of the mutants, this one")
    parser.add_argument("--jobs", type=int, metavar="N", help="of the mutants, how many at once (default: 2)")
    return parser


def run(args: argparse.Namespace) -> int:
    """Print the table, or the problems; 2 if there are problems; of the mutants, 1 if one was not caught."""
    if args.mutants is None and (args.only or args.jobs is not None):
        raise InputError(f"{'--only' if args.only else '--jobs'} goes with --mutants")
    if args.mutants is not None:
        from linklab.commands import mutants

        return mutants.run(args)
    if args.check:
        found = [problem for folder in lab_folders() for problem in check_lab(folder.name)]
        found += program_problems()
        try:
            check_fidelity()
        except LinklabError as error:
            found.append(str(error))
        for problem in found:
            print(f"linklab: {one_line(problem)}", file=sys.stderr)
        return InputError.exit_code if found else 0
    table = Table(header_style="bold")
    for name in ("Lab", "Title", "Topology", "A student needs", "Network time", "Reference"):
        table.add_column(name)
    for folder in lab_folders():
        table.add_row(*(plain(cell) for cell in _row(folder)))
    make_console().print(table)
    return 0


def check_lab(name: str) -> list[str]:
    """Everything in a lab's folder that does not hold together, a line each."""
    folder = next(folder for folder in lab_folders() if folder.name == name)
    try:
        lab = load_lab(folder)
    except LinklabError as error:
        return [str(error)]
    found: list[str] = []
    for check in (_check_script, problems, _check_teaching, _check_mutants, seed_problems, catalogue_problems):
        try:
            found += check(lab)
        except LinklabError as error:
            found.append(str(error))
    return found


def _check_script(lab: Lab) -> list[str]:
    check_script(lab)
    return []


def _check_teaching(lab: Lab) -> list[str]:
    reference = load_reference(lab)
    return teaching_problems(lab, reference.recorded if reference else Recorded())


def _check_mutants(lab: Lab) -> list[str]:
    count = len(load_mutants(lab))
    return [] if count >= FEWEST else [f"{lab.folder / FILE}: {count} mutants; a lab needs at least {FEWEST}"]


def _row(folder: Path) -> tuple[str, ...]:
    try:
        lab = load_lab(folder)
        network, state = _reference(lab)
    except LinklabError as error:
        return (str(int(folder.name[:2])), folder.name[3:], "", "", "", str(error))
    topology = lab.topology.name if lab.topology else "built in the lab"
    return (str(lab.number), lab.title, topology, f"{lab.minutes} min" if lab.minutes else "", network, state)


def _reference(lab: Lab) -> tuple[str, str]:
    """Minutes of network time and state of the recording: none, current or why it is stale."""
    reference = load_reference(lab)
    if reference is None:
        return "", "none"
    stale = staleness(lab, reference, digest(), RunSettings().profile)
    state = f"stale: {', '.join(stale)}" if stale else "current"
    return f"{reference.data['network_s'] / 60:.1f} min", f"{state} (seed {reference.data['seed']})"
