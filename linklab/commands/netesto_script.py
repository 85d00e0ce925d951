# SPDX-License-Identifier: BSD-3-Clause
"""What the verbs of `linklab netesto` that take a script have in common: its options, and the script expanded."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from linklab.base.text import visible
from linklab.errors import InputError
from linklab.netesto.expand import Expansion, expand
from linklab.netesto.script import NAME
from linklab.netesto.sources import LIBRARY, library_names


def add_script_options(parser: argparse.ArgumentParser) -> None:
    """Add `[-D NAME=VALUE]… [--search FOLDER]… [--seed N]`."""
    parser.add_argument(
        "-D",
        dest="variables",
        metavar="NAME=VALUE",
        action="append",
        default=[],
        help="a variable that is set before the first line; may be given again",
    )
    parser.add_argument(
        "--search",
        metavar="FOLDER",
        type=Path,
        action="append",
        default=[],
        help="where SOURCE looks after the script's own folder, and before the library; may be given again",
    )
    parser.add_argument("--seed", type=int, default=1, help="of chance, RAND_WAIT's included (default 1)")


def script_file(name: str) -> Path:
    """The file of a script: a path, or the name of a script of the library."""
    if name == "-":
        raise InputError("the script is read from a file, not from standard input; name the file")
    path = Path(name)
    if not path.exists() and name in library_names():
        return LIBRARY / name
    if not path.is_file():
        known = f"; the library has {', '.join(library_names())}" if "/" not in name else ""
        raise InputError(f"there is no such script{known}", where=name)
    return path


def variables_of(words: list[str]) -> dict[str, str]:
    """The variables of -D words.

    Raises:
        InputError: one is not NAME=VALUE.
    """
    found = {}
    for word in words:
        name, equals, value = word.partition("=")
        if not equals or not NAME.fullmatch(name) or len(value.split()) > 1:
            raise InputError(f'-D takes NAME=VALUE without spaces, such as -D dur=10, not "{word}"')
        found[name] = value
    return found


def expanded(name: str, args: argparse.Namespace) -> Expansion:
    """The script as its options say.

    Raises:
        ScriptError: something is wrong with it.
        InputError: there is no such script, or an option is wrong.
    """
    for folder in args.search:
        if not folder.is_dir():
            raise InputError("--search must be a folder that is there", where=str(folder))
    variables = variables_of(args.variables)
    return expand(script_file(name), search=args.search, variables=variables, seed=args.seed)


def print_expansion(found: Expansion, *, as_json: bool) -> None:
    """Print every command with its time, one a line, or all of it as JSON; notes go to standard error."""
    for note in found.notes:
        print(visible(f"note: {note}"), file=sys.stderr)
    if as_json:
        print(json.dumps(found.as_json(), indent=1, ensure_ascii=False))
        return
    for command in found.commands:
        print(visible(f"{command.at_s:14.6f}  {command}"))
