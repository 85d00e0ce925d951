# SPDX-License-Identifier: BSD-3-Clause
"""`linklab doctor`: the findings of `linklab.doctor` as a table or as JSON."""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict
from typing import TYPE_CHECKING

from linklab import doctor
from linklab.errors import MissingError

if TYPE_CHECKING:
    from linklab.cli import Subparsers

_EPILOG = """examples:
  linklab doctor
  linklab doctor --json | jq '.checks[] | select(.status != "ok")'

Exits with 0 if labs can run in the pocket kernel here, else with 4.
"""


def add_parser(subparsers: Subparsers) -> argparse.ArgumentParser:
    """Add `doctor [--json]`."""
    parser = subparsers.add_parser(
        "doctor",
        help="what this machine can run",
        description="Look at this machine: what labs need, what is there, and the cure for what is missing.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--json", action="store_true", help="print the findings as JSON")
    return parser


def run(args: argparse.Namespace) -> int:
    """Print the findings; 0 or MissingError's exit code."""
    checks = doctor.examine()
    ready = doctor.labs_can_run(checks)
    if args.json:
        print(json.dumps({"labs_can_run": ready, "checks": [asdict(check) for check in checks]}, indent=2))
    else:
        doctor.render(checks)
    return 0 if ready else MissingError.exit_code
