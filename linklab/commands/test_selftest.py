# SPDX-License-Identifier: BSD-3-Clause
"""`linklab test selftest`: whether every test of the library gives its data here."""

from __future__ import annotations

import argparse
import time
from collections import Counter

from linklab.commands.console import make_console, plain
from linklab.experiment.selftest import PATH, selftest
from linklab.terminal.screen import ends_orderly


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add `[TEST…] [--jobs N]`."""
    parser.add_argument("tests", metavar="TEST", nargs="*", help="these alone (default: all)")
    parser.add_argument("--jobs", metavar="N", type=int, default=2, help="networks at once (default: 2)")
    parser.add_argument("--path", metavar="WORDS", default=PATH, help=f'default: "{PATH}"')
    parser.epilog = (
        "Each test runs for three seconds of load on the virtual clock. Exits with 1 if a series of one has no value.\n"
    )


def run(args: argparse.Namespace) -> int:
    """Try them and say what is missing."""
    console = make_console()
    count: Counter[str] = Counter()
    begun = time.monotonic()
    with ends_orderly():
        for tried in selftest(args.tests, at_once=max(1, args.jobs), path=args.path):
            if tried.impossible:
                count["impossible"] += 1
                console.print(plain(f"cannot be had  {tried.test}: {tried.impossible}", style="dim"), soft_wrap=True)
            elif tried.failed:
                count["failed"] += 1
                console.print(plain(f"FAILED         {tried.test}: {tried.failed}", style="red"), soft_wrap=True)
            else:
                count["good"] += 1
                console.print(plain(f"good           {tried.test}  {tried.wall_s:.1f} s"))
    taken = time.monotonic() - begun
    sums = f"{count['good']} tests gave all their data, {count['failed']} did not, {count['impossible']} cannot be had"
    console.print(plain(f"{sums}; {taken:.0f} s"), soft_wrap=True)
    return 1 if count["failed"] else 0
