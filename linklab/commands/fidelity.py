# SPDX-License-Identifier: BSD-3-Clause
"""`linklab fidelity`: the table of what the series reported and what the references hold."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from linklab.base import installation
from linklab.lab.fidelity import PATH, fidelity_text, readable_labs, write_fidelity

if TYPE_CHECKING:
    from linklab.commands import Subparsers

_EPILOG = """examples:
  linklab fidelity                  print it
  linklab fidelity --write          renew docs/fidelity.md; linklab record renews it too
"""


def add_parser(subparsers: Subparsers, summary: str) -> argparse.ArgumentParser:
    """Add `fidelity [--write]`."""
    parser = subparsers.add_parser(
        "fidelity",
        help=summary,
        description="Print what the original series reported beside what the recorded run of each lab gave.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--write", action="store_true", help="write docs/fidelity.md instead of printing it")
    return parser


def run(args: argparse.Namespace) -> int:
    """Print or write it."""
    if args.write:
        installation.refuse_installed("fidelity --write")
        print(f"{PATH}{'' if write_fidelity() else ': nothing changed'}")
    else:
        print(fidelity_text(readable_labs()), end="")
    return 0
