# SPDX-License-Identifier: BSD-3-Clause
"""`linklab doctor`: the findings of `linklab.doctor.machine` and `linklab.doctor.fit` as tables or as JSON."""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict
from typing import TYPE_CHECKING

from linklab.doctor import machine
from linklab.errors import MissingError

if TYPE_CHECKING:
    from linklab.commands import Subparsers

_EPILOG = """examples:
  linklab doctor
  linklab doctor --json | jq '.checks[] | select(.status != "ok")'

The second table says of each lab, exercise and problem which engine can run it: the pocket, which brings its own
kernel, or the host engine (--engine host), which uses this machine's and needs root for one command.

Exits with 0 if labs can run here, in the pocket or, where its kernel cannot, on the host engine; else with 4.
"""


def add_parser(subparsers: Subparsers, summary: str) -> argparse.ArgumentParser:
    """Add `doctor [--json]`."""
    parser = subparsers.add_parser(
        "doctor",
        help=summary,
        description="Look at this machine: what labs need, what is there, and the cure for what is missing.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--json", action="store_true", help="print the findings as JSON")
    return parser


def run(args: argparse.Namespace) -> int:
    """Print the findings; 0 or MissingError's exit code."""
    from linklab.doctor import engines

    checks = machine.examine()
    engine, found = engines.examine(checks)
    checks.append(engine)
    ready = machine.labs_can_run(checks)
    if args.json:
        labs = [{**asdict(fit), "engines": fit.engines} for fit in found]
        print(
            json.dumps({"labs_can_run": ready, "checks": [asdict(check) for check in checks], "labs": labs}, indent=2)
        )
    else:
        machine.render(checks)
        engines.render(found)
    return 0 if ready else MissingError.exit_code
