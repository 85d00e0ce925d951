# SPDX-License-Identifier: BSD-3-Clause
"""`linklab compare`: what differs between two runs of a lab, or between a run and the lab's reference."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from linklab.errors import InputError
from linklab.lab.model import find_lab, load_lab
from linklab.lab.reference import load_reference
from linklab.lab.saved import SavedRun, load_run
from linklab.run.compare import (
    Compared,
    compared_reference,
    compared_run,
    differences,
    is_same,
    made_differently,
    summary,
)

if TYPE_CHECKING:
    from linklab.commands import Subparsers

_REFERENCE = "reference"

_EPILOG = """examples:
  linklab compare runs/lab14-20260131-142530-seed1             what was the reference of Lab 14, what is the run
  linklab compare runs/lab14-seed1 runs/lab14-seed2            what was seed 1, what is seed 2
  linklab compare runs/lab14-seed1 reference                   what was the run, what is the reference

Prints the verdicts that differ, the numbers that differ by more than 0.5 %, and the data sets that cannot be read,
as "was … , is …"; then a summary and, if bytes differ, which programs, kernels and processors the runs were made with
differ. Of a run of one section, only the steps of that section are compared.
Exits with 1 if a verdict or number differs or a data set cannot be read, else with 0; other codes as in linklab --help.
"""


def add_parser(subparsers: Subparsers, summary: str) -> argparse.ArgumentParser:
    """Add `compare RUN [OTHER]`."""
    parser = subparsers.add_parser(
        "compare",
        help=summary,
        description="Say what differs between two runs of a lab, or between a run and the reference of the lab. "
        "With one argument, the reference is what was and RUN is what is; with two, RUN is what was and OTHER what is.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("run", metavar="RUN", help='folder that linklab run has left, or "reference" before an OTHER')
    parser.add_argument("other", metavar="OTHER", nargs="?", help='folder of another run, or "reference"')
    return parser


def run(args: argparse.Namespace) -> int:
    """Print the differences and a summary; 0 if there are none, else 1."""
    names = [_REFERENCE, args.run] if args.other is None else [args.run, args.other]
    if names == [_REFERENCE, _REFERENCE]:
        raise InputError('"reference" stands for the reference of a run\'s lab; give the folder of a run as well')
    runs = [None if name == _REFERENCE else load_run(name) for name in names]
    given = [saved for saved in runs if saved is not None]
    for name, saved in zip(names, runs, strict=True):
        if saved is not None and saved.slug != given[0].slug:
            raise InputError(f"{name}: this is a run of {saved.slug}, not of {given[0].slug}; give runs of one lab")
    reference = _reference(given[0]) if len(given) == 1 else None
    before, after = (reference if saved is None else compared_run(saved) for saved in runs)
    assert before is not None
    assert after is not None
    print(f"was: {before.words}\nis:  {after.words}")
    for side, saved in ((before, runs[0]), (after, runs[1])):
        if saved is not None and side.section is not None:
            print(f"{saved.folder}: this run has section {side.section} only, so only its steps are compared")
    lines = differences(before, after)
    print("\n".join([*lines, summary(before, after)]))
    if not is_same(before, after):
        print("".join(f"{line}\n" for line in made_differently(before.made, after.made)), end="")
    return 1 if lines else 0


def _reference(run: SavedRun) -> Compared:
    lab = load_lab(find_lab(run.slug))
    reference = load_reference(lab)
    if reference is None:
        raise InputError(f"{lab.folder}: this lab has no reference; give another run to compare with")
    return compared_reference(lab, reference)
