# SPDX-License-Identifier: BSD-3-Clause
"""`linklab test stats FILE…`: every usual statistic of each series, file by file."""

from __future__ import annotations

import argparse

from linklab.commands.test_summary import show
from linklab.commands.test_tables import add_choice

_EPILOG = """examples:
  linklab test stats rrul.flent.gz
  linklab test stats rrul.flent.gz --warm-up 10 --format csv
  linklab test stats runs/*.flent.gz --repetitions     means over the runs with their 95 % intervals

The standard deviation and the variance are those of the samples as a whole (divided by n). A total is the sum of a
rate over time. docs/tests.md, "Numbers", says what each is.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add `FILE…` and the options of tables."""
    add_choice(parser, reduce=False)
    parser.add_argument("--repetitions", action="store_true", help="files of one test on one path are repetitions")
    parser.epilog = _EPILOG


def run(args: argparse.Namespace) -> int:
    """Print a table for each file."""
    from linklab.experiment.tables import STATISTICS

    return show(args, STATISTICS, each=not args.repetitions)
