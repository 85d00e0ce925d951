# SPDX-License-Identifier: BSD-3-Clause
"""What the verbs of `linklab netesto` that take a script have in common: its options, and the script expanded."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from linklab.base.text import excerpt, file_name, visible
from linklab.errors import InputError
from linklab.netesto.expand import Expansion, expand
from linklab.netesto.script import NAME
from linklab.netesto.sources import LIBRARY, TABLES, library_files


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


def script_file(name: str, *, tables: bool = False) -> Path:
    """The file of a script: a path, or the name of one of the library; tables: of a table script.

    Raises:
        InputError: there is no such script.
    """
    path = Path(name)
    pipe = path.is_fifo() or name == "-"
    if pipe and not (tables and path.exists()):  # a table script may be a shell's <(…)
        raise InputError("a script is read from a file, not from standard input or a pipe; save it and name the file")
    known = [each for each in library_files() if each.endswith(TABLES) == tables]
    if not path.exists() and name in known:
        return LIBRARY / name
    if not pipe and not path.is_file():
        cure = f"; the library has {', '.join(known)}" if "/" not in name else ""
        raise InputError(f"there is no such script{cure}", where=file_name(path))
    return path


def other_kind(path: Path, *, tables: bool = False) -> str:
    """What to say of a script with problems that is of the other kind; "" if it does not look so; tables: asked for."""
    try:
        lines = path.read_text(encoding="utf-8", errors="replace").split("\n")
    except OSError:
        return ""
    words = {word for line in lines for word in line.replace("=", " ").split()[:1]}
    if tables:
        campaign = words & {"RUN", "SOURCE", "DO_CLIENT", "DO_SERVER"}
        return f"this looks like the script of a campaign; linklab netesto check {path} checks it" if campaign else ""
    made = {word.lower() for word in words} & {"dotable", "doplot"}
    return f"this looks like a table script; linklab netesto table {path} --check checks it" if made else ""


def variables_of(words: list[str], *, spaces: bool = False) -> dict[str, str]:
    """The variables of -D words.

    Args:
        words: as they were given.
        spaces: whether values may have them.

    Raises:
        InputError: one is not NAME=VALUE.
    """
    found = {}
    for word in words:
        name, equals, value = word.partition("=")
        if not equals or not NAME.fullmatch(name) or (len(value.split()) > 1 and not spaces):
            without = "" if spaces else " without spaces"
            raise InputError(f'-D takes NAME=VALUE{without}, such as -D dur=10, not "{excerpt(word)}"')
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
