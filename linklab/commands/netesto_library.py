# SPDX-License-Identifier: BSD-3-Clause
"""`linklab netesto library [NAME]`: the scripts that SOURCE finds everywhere, or the text of one of them."""

from __future__ import annotations

import argparse

from linklab.base.text import visible
from linklab.errors import InputError
from linklab.netesto.catalogue import first_line
from linklab.netesto.script import nearest
from linklab.netesto.sources import LIBRARY, library_files, read


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add `[NAME]`."""
    parser.add_argument("name", metavar="NAME", nargs="?", help="the script to print")
    parser.epilog = "examples:\n  linklab netesto library\n  linklab netesto library script.basic > mine\n"


def run(args: argparse.Namespace) -> int:
    """List or print."""
    names = library_files()
    if args.name is None:
        width = max(map(len, names))
        for name in names:
            print(f"{name:{width}}  {first_line(read(LIBRARY / name, name))}")
        return 0
    if args.name not in names:
        raise InputError(f'the library has no script "{visible(args.name)}"{nearest(args.name, names)}')
    print(read(LIBRARY / args.name, args.name), end="")
    return 0
