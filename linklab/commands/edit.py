# SPDX-License-Identifier: BSD-3-Clause
"""`linklab edit`: the topology editor, in a window."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from linklab.base import installation
from linklab.errors import InputError, MissingError
from linklab.terminal.windows import display_usable
from linklab.topology import Topology

if TYPE_CHECKING:
    from linklab.commands import Subparsers

_EPILOG = """examples:
  linklab edit                          an empty drawing
  linklab edit "topologies/Lab 1.mn"    a lab's topology
  linklab edit mine.mn                  yours; a name that does not exist is a new drawing
  linklab edit campus.clab.yml          a network of containerlab, of Kathará (lab.conf) or for mn --custom (.py)
  linklab edit --template dumbbell:3    a new drawing by template; linklab convert --templates lists them
  linklab edit mine.mn --picture mine.svg    no window: write its picture (.svg, .png or .pdf)

Reads and writes the files of MiniEdit. docs/editor.md says what can be done.
"""


def add_parser(subparsers: Subparsers, summary: str) -> argparse.ArgumentParser:
    """Add the parser of `linklab edit`."""
    parser = subparsers.add_parser(
        "edit",
        help=summary,
        description="Draw a network in a window and run it.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("file", metavar="FILE.mn", nargs="?", type=Path, help="topology to open")
    parser.add_argument("--template", metavar="NAME[:N…]", help="begin with a template, such as tree:2,3")
    parser.add_argument("--language", metavar="CODE", default="", help="of the window, such as es; else the system's")
    parser.add_argument(
        "--picture", metavar="OUT", type=Path, help="write a picture of FILE.mn (.svg, .png or .pdf) and open no window"
    )
    return parser


def run(args: argparse.Namespace) -> int:
    """Show the window until it is closed, or write a picture."""
    if args.picture is not None:
        return _draw(args)
    if not display_usable():
        which = f'"{args.file}"' if args.file else "FILE.mn"
        raise MissingError(
            f"no display for a window; without one, `linklab shell {which}` runs a topology in this terminal"
        )
    from linklab.topology.templates import made

    try:
        from linklab.editor.app import Editor
        from linklab.windows.words import languages
    except ImportError as error:
        raise MissingError(f"the editor needs python3-tk and python3-pil.imagetk ({error})") from error
    if args.template and args.file:
        raise InputError("give a file or a template, not both")
    if args.language and args.language not in languages():
        raise InputError(f'--language: the editor does not speak "{args.language}" but {", ".join(languages())}')
    drawn = made(args.template) if args.template else None
    editor = Editor(installation.topology_file(args.file) if args.file else None, language=args.language)
    if drawn is not None:
        editor.starting.begin(drawn, args.template)
    editor.run()
    return 0


def _draw(args: argparse.Namespace) -> int:
    """Write the picture of a topology; needs no display."""
    if args.file is None:
        raise InputError("--picture needs a topology: linklab edit FILE.mn --picture OUT.svg")
    try:
        from linklab.editor.pictures import write_picture
    except ImportError as error:
        raise MissingError(f"pictures need python3-tk and python3-pil.imagetk ({error})") from error
    file = installation.topology_file(args.file)
    write_picture(Topology.load(file, check=False), args.picture, file.parent)
    return 0
