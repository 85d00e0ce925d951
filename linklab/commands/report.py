# SPDX-License-Identifier: BSD-3-Clause
"""`linklab report`: the page of a finished run, made from its folder."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from linklab.base.text import one_line
from linklab.errors import DataError, InputError
from linklab.lab.saved import load_run
from linklab.run.report import write_report

if TYPE_CHECKING:
    from linklab.commands import Subparsers

_EPILOG = """examples:
  linklab report runs/lab14-20260131-142530-seed1
  linklab report lab14-seed2 --out ~/lab14.html    a run copied from another machine

A run writes its page itself; this makes it again, with the look of today. It needs no kernel, no lab and no network.
Only a page (.html) is replaced, never another file. Exits with 2 if a data set of the run cannot be read: the page is
written all the same, and says so in the place of its plots.
"""


def add_parser(subparsers: Subparsers, summary: str) -> argparse.ArgumentParser:
    """Add `report RUN`."""
    parser = subparsers.add_parser(
        "report",
        help=summary,
        description="Write the page of a finished run: its verdicts, and what each step showed, with plots.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("run", metavar="RUN", help="folder that linklab run has left")
    parser.add_argument("--out", metavar="FILE", help="the page to write (RUN/report.html)")
    return parser


def run(args: argparse.Namespace) -> int:
    """Write the page and say where it is; 2 if a data set could not be read, as for any damaged file."""
    unreadable: list[str] = []
    if args.out == "":
        raise InputError('--out "": give the name of the page, such as report.html')
    path = write_report(load_run(args.run), None if args.out is None else Path(args.out), unreadable.append)
    print(path)
    for why in unreadable:
        print(f"linklab: {one_line(why)}", file=sys.stderr)
    return DataError.exit_code if unreadable else 0
