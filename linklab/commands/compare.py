# SPDX-License-Identifier: BSD-3-Clause
"""`linklab compare`: what differs between two runs of a lab, or between a run and the lab's reference."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from linklab.errors import InputError
from linklab.lab.model import find_lab, load_lab
from linklab.lab.reference import load_reference
from linklab.lab.saved import SavedRun, load_run
from linklab.run.compare import Compared, compared_reference, compared_run, differences, is_same

if TYPE_CHECKING:
    from linklab.commands import Subparsers

_EPILOG = """examples:
  linklab compare runs/lab14-20260131-142530-seed1             with the reference of Lab 14
  linklab compare runs/lab14-seed1 runs/lab14-seed2            with another run
  linklab compare runs/lab14-seed1 reference

Named are verdicts that differ, and numbers that differ by more than 0.5 %.
Exits with 0 if none does, with 1 if one does; other codes as in linklab --help.
"""


def add_parser(subparsers: Subparsers, summary: str) -> argparse.ArgumentParser:
    """Add `compare RUN [OTHER]`."""
    parser = subparsers.add_parser(
        "compare",
        help=summary,
        description="Say what differs between two runs of a lab, or between a run and the reference of the lab.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("run", metavar="RUN", type=Path, help="folder that linklab run has left")
    parser.add_argument("other", metavar="OTHER", nargs="?", default="reference", help='another run, or "reference"')
    return parser


def run(args: argparse.Namespace) -> int:
    """Print the differences; 0 if there are none, else 1."""
    first = load_run(args.run)
    after = compared_run(first)
    before = _other(args.other, first)
    lines = differences(before, after)
    print(f"was: {before.words}\nis:  {after.words}")
    same = is_same(before, after)
    print("\n".join(lines) if lines else "the same, to the last byte" if same else "nothing differs noticeably")
    return 1 if lines else 0


def _other(name: str, first: SavedRun) -> Compared:
    if name == "reference":
        lab = load_lab(find_lab(first.slug))
        reference = load_reference(lab)
        if reference is None:
            raise InputError(f"{lab.folder}: this lab has no reference; give another run to compare with")
        return compared_reference(lab, reference)
    other = load_run(Path(name))
    if other.slug != first.slug:
        raise InputError(f"{name}: this is a run of {other.slug}, not of {first.slug}")
    return compared_run(other)
