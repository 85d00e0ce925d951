# SPDX-License-Identifier: BSD-3-Clause
"""`linklab record`: replay a lab and make the run its reference; says what changed."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from linklab.commands.run import add_run_options, replay
from linklab.record import record

if TYPE_CHECKING:
    from linklab.cli import Subparsers

_EPILOG = """examples:
  linklab record 14
  linklab record 14 --seed 2

Writes labs/NN-slug/reference/, from which the manual takes its outputs, numbers and plots.
A run that does not meet its expectations is never recorded.
"""


def add_parser(subparsers: Subparsers) -> argparse.ArgumentParser:
    """Add `record LAB`."""
    parser = subparsers.add_parser(
        "record",
        help="make a run the lab's reference",
        description="Replay a lab and make what it showed the reference that its manual quotes.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_run_options(parser)
    return parser


def run(args: argparse.Namespace) -> int:
    """Replay, record, print the changes; LabError if the run is not good enough."""
    changes = record(replay(args, None))
    print("\n".join(changes) if changes else "nothing changed noticeably")
    return 0
