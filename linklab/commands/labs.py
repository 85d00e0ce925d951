# SPDX-License-Identifier: BSD-3-Clause
"""`linklab labs`: the table of labs, or with `--check` whether manuals, expectations and references agree."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table
from rich.text import Text

from linklab.commands.run import WIDTH
from linklab.commands.set_env import check_script
from linklab.errors import InputError, LinklabError
from linklab.lab import Lab, lab_folders, load_lab
from linklab.record import load_reference, problems

if TYPE_CHECKING:
    from linklab.cli import Subparsers

_EPILOG = """examples:
  linklab labs
  linklab labs --check              what make check runs
"""


def add_parser(subparsers: Subparsers) -> argparse.ArgumentParser:
    """Add `labs [--check]`."""
    parser = subparsers.add_parser(
        "labs",
        help="list the labs, or check them",
        description="List the labs and the state of their references.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--check", action="store_true", help="name every broken block, quote, expectation and script")
    return parser


def run(args: argparse.Namespace) -> int:
    """Print the table, or the problems; 2 if there are problems."""
    if args.check:
        found = [problem for folder in lab_folders() for problem in check_lab(folder.name)]
        for problem in found:
            print(f"linklab: {problem}", file=sys.stderr)
        return InputError.exit_code if found else 0
    table = Table(header_style="bold")
    for name in ("Lab", "Title", "Topology", "Minutes", "Network time", "Reference"):
        table.add_column(name)
    for folder in lab_folders():
        lab = load_lab(folder)
        network, state = _reference(lab)
        topology = lab.topology.name if lab.topology else "built in the lab"
        row = (str(lab.number), lab.title, topology, str(lab.minutes or ""), network, state)
        table.add_row(*(Text(cell) for cell in row))
    console = Console(highlight=False)
    (console if console.is_terminal else Console(highlight=False, width=WIDTH)).print(table)
    return 0


def check_lab(name: str) -> list[str]:
    """Everything in a lab's folder that does not hold together, a line each."""
    folder = next(folder for folder in lab_folders() if folder.name == name)
    try:
        lab = load_lab(folder)
    except LinklabError as error:
        return [str(error)]
    found: list[str] = []
    try:
        check_script(lab)
    except LinklabError as error:
        found.append(str(error))
    try:
        found += problems(lab)
    except LinklabError as error:
        found.append(str(error))
    return found


def _reference(lab: Lab) -> tuple[str, str]:
    try:
        reference = load_reference(lab)
    except LinklabError as error:
        return "", str(error)
    if reference is None:
        return "", "none"
    return f"{reference.data['network_s']:.0f} s", f"seed {reference.data['seed']}, {reference.data['clock']} clock"
