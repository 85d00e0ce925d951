# SPDX-License-Identifier: BSD-3-Clause
"""`linklab test list`: the names of all tests with their titles, by family."""

from __future__ import annotations

import argparse
import re
from collections import defaultdict

from linklab.commands.console import make_console, plain
from linklab.errors import InputError
from linklab.experiment.entries import NamedTest
from linklab.experiment.places import nearest
from linklab.experiment.test_file import FAMILIES, load_test, test_names


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add `[--family FAMILY] [--names]`."""
    parser.add_argument("--family", metavar="FAMILY", default="", help=f"only this one: {', '.join(FAMILIES)}")
    parser.add_argument("--names", action="store_true", help="names alone, one a line, of tests that can be run")
    parser.epilog = "examples:\n  linklab test list\n  linklab test list --family rrul\n"


def _by_number(name: str) -> list[tuple[int, str]]:
    """A key that puts tcp_2up before tcp_12up."""
    return [(int(part), "") if part.isdecimal() else (-1, part) for part in re.split(r"(\d+)", name)]


def run(args: argparse.Namespace) -> int:
    """Print the list."""
    if args.family and args.family not in FAMILIES:
        raise InputError(f'--family: there is no family "{args.family}"; {nearest(args.family, FAMILIES)}')
    families: dict[str, list[NamedTest]] = defaultdict(list)
    for test in sorted(map(load_test, test_names()), key=lambda test: _by_number(test.name)):
        if not args.family or test.family == args.family:
            families[test.family].append(test)
    if args.names:
        print(*(test.name for found in families.values() for test in found if not test.impossible), sep="\n")
        return 0
    console = make_console()
    width = max((len(test.name) for found in families.values() for test in found), default=0)
    for family, heading in FAMILIES.items():
        if not families[family]:
            continue
        console.print(plain(f"{heading} ({family})"), style="bold")
        for test in families[family]:
            title = f"cannot be run: {test.impossible}" if test.impossible else test.title
            line = plain(f"  {test.name:{width}}  {title}")
            console.print(line, style="dim" if test.impossible else None, soft_wrap=True)
    return 0
