# SPDX-License-Identifier: BSD-3-Clause
"""`linklab netesto table SCRIPT`: the tables and plots of a table script, as a page."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from linklab.base.text import file_name, visible
from linklab.commands.netesto_script import other_kind, script_file, variables_of
from linklab.errors import InputError

_EPILOG = """examples:
  linklab netesto table demo.exp                      demo.html, from the exp.csv that the script names
  linklab netesto table demo.exp --csv runs/exp.csv   of another campaign
  linklab netesto table demo.exp -o pages/            pages/demo.html, with the plots that the script names
  linklab netesto table demo.exp --check              every problem with its line; nothing is written
  linklab netesto table demo.exp -D rtt=10 --style grey
  linklab netesto table basic.exp --csv runs/exp.csv   a script of the library

docs/netesto.md, "Tables and plots", describes the directives.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add `SCRIPT [-o OUT] [--csv FILE]` and the rest."""
    parser.add_argument("script", metavar="SCRIPT", help="the table script, or the name of one of the library")
    parser.add_argument(
        "-o", "--output", metavar="OUT", type=Path, help="the page, .html, or its folder (this one, SCRIPT's name)"
    )
    parser.add_argument("--csv", metavar="FILE", type=Path, help="read this exp.csv instead of the one that it names")
    parser.add_argument(
        "--search",
        metavar="FOLDER",
        type=Path,
        action="append",
        default=[],
        help="the script may read files of this folder, too; may be given again",
    )
    parser.add_argument(
        "-D",
        "--define",
        metavar="NAME=VALUE",
        action="append",
        default=[],
        help="what $NAME stands for in the script; may be given again",
    )
    parser.add_argument(
        "--style",
        choices=("screen", "print", "grey"),
        default="",
        help="looks of plots: screen, one column, grey paper",
    )
    parser.add_argument("--check", action="store_true", help="say what is wrong with the script, and write nothing")
    parser.epilog = _EPILOG


def run(args: argparse.Namespace) -> int:
    """Write the page and say where it is."""
    from linklab.experiment.out_file import refuse_new_parent
    from linklab.netesto.lines import ScriptError
    from linklab.netesto.table.make import ScriptChoice, document_of

    script = script_file(args.script, tables=True)
    choice = ScriptChoice(args.csv, args.search, variables_of(args.define, spaces=True), args.style)
    if args.csv is not None and not args.csv.is_file():
        raise InputError(f"{file_name(args.csv)}: there is no such file")
    if args.output is not None and not args.check:
        refuse_new_parent(args.output)
    try:
        document = document_of(script, choice)
        for each in document.said:
            print(f"linklab: {visible(str(each), keep='')}", file=sys.stderr)
        if args.check:
            count = len(document.items)
            print(f"{file_name(script)}: no problem; it makes {count} table{'' if count == 1 else 's'} and plots")
            return 0
        from linklab.netesto.table.page import write_page

        written = write_page(document, script, _page(args))
        for path in (written.page, *written.files):
            print(file_name(path))
    except ScriptError as error:
        for problem in error.problems:
            print(f"linklab: {visible(str(problem), keep='')}", file=sys.stderr)
        if hint := other_kind(script, tables=True):
            print(f"linklab: {file_name(script)}: {visible(hint, keep='')}", file=sys.stderr)
        return error.exit_code
    return 0


def _page(args: argparse.Namespace) -> Path:
    """The page to write."""
    script = Path(args.script)
    # exp.script.example has no ending
    name = f"{script.stem if script.suffix.lower() == '.exp' else script.name}.html"
    out: Path | None = args.output
    if out is None:
        return Path(name)
    if out.is_dir() or not out.suffix:
        return out / name
    if out.suffix.lower() not in (".html", ".htm"):
        raise InputError(f"{file_name(out)}: the page must end with .html, or be a folder")
    return out
