# SPDX-License-Identifier: BSD-3-Clause
"""`linklab netesto macros [FILE…]`: the macros of the library or of scripts, what each needs, and what it does."""

from __future__ import annotations

import argparse
import textwrap

from linklab.base.text import visible
from linklab.commands.netesto_script import script_file
from linklab.netesto.catalogue import macros_in
from linklab.netesto.sources import library_names

WIDTH = 100
LOADED = "inlib"
"""How the names of the library's files of macros begin."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add `[FILE…]`."""
    parser.add_argument("files", metavar="FILE", nargs="*", help="scripts (default: the library's inlib files)")
    parser.epilog = "examples:\n  linklab netesto macros\n  linklab netesto macros mine inlib.vsTest\n"


def run(args: argparse.Namespace) -> int:
    """List them by file."""
    begun = False
    for name in args.files or [name for name in library_names() if name.startswith(LOADED)]:
        macros = macros_in(script_file(name))
        print("\n" * begun + visible(name if macros else f"{name}: no macros"))
        begun = True
        for macro in macros:
            print(visible(f"  {macro.name}: {macro.does}" if macro.does else f"  {macro.name}"))
            for what, names in (("needs", macro.needs), ("takes", macro.takes)):
                if names:
                    lines = textwrap.wrap(f"    {what} {' '.join(names)}", WIDTH, subsequent_indent=" " * 10)
                    print(visible("\n".join(lines)))
    return 0
