# SPDX-License-Identifier: BSD-3-Clause
"""`linklab netesto run SCRIPT`: the experiments of a script; with -n every command with its time, and nothing runs."""

from __future__ import annotations

import argparse

from linklab.commands.netesto_script import add_script_options, expanded, print_expansion
from linklab.errors import InputError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add `SCRIPT [-n] [--json] …`."""
    parser.add_argument("script", metavar="SCRIPT", help="a script, or the name of one of the library")
    parser.add_argument("-n", "--dry-run", action="store_true", help="print every command with its time; nothing runs")
    parser.add_argument("--json", action="store_true", help="with -n: as JSON, with the place of each command")
    add_script_options(parser)
    parser.epilog = "examples:\n  linklab netesto run -n mine -D dur=10\n  linklab netesto run -n --json script.basic\n"


def run(args: argparse.Namespace) -> int:
    """Print what would be done."""
    if not args.dry_run:
        raise InputError("linklab netesto run needs -n here: it prints every command with its time")
    print_expansion(expanded(args.script, args), as_json=args.json)
    return 0
