# SPDX-License-Identifier: BSD-3-Clause
"""`linklab view`: data sets in a window."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from linklab.errors import InputError, MissingError
from linklab.terminal.windows import display_usable

if TYPE_CHECKING:
    from linklab.commands import Subparsers
    from linklab.viewer.app import Viewer

_EPILOG = """examples:
  linklab view rrul.flent.gz           a data file, of Linklab or of Flent
  linklab view results/*.flent.gz      several, to compare
  linklab view results                 all data files of a folder
  linklab view                         an empty window: open files or run a test from there

Reads Flent's data files of versions 1 to 4. docs/tests.md, "Viewer", says what can be done.
"""


def add_parser(subparsers: Subparsers, summary: str) -> argparse.ArgumentParser:
    """Add the parser of `linklab view`."""
    parser = subparsers.add_parser(
        "view",
        help=summary,
        description="Show what tests and labs measured in a window.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("files", metavar="FILE", nargs="*", type=Path, help="data files or folders with them")
    parser.add_argument("--language", metavar="CODE", default="", help="of the window, such as es; else the system's")
    return parser


def run(args: argparse.Namespace) -> int:
    """Show the window until it is closed."""
    if not display_usable():
        which = f'"{args.files[0]}"' if args.files else "FILE.flent.gz"
        raise MissingError(f"no display for a window; without one, `linklab test plot {which}` writes a figure")
    from linklab.windows.words import languages

    if args.language and args.language not in languages():
        raise InputError(f'--language: the viewer does not speak "{args.language}" but {", ".join(languages())}')
    opened(args.files, args.language).run()
    return 0


def opened(files: Sequence[Path], language: str = "") -> Viewer:
    """Return the window; the files are read by other processes while this one loads Matplotlib.

    Raises:
        MissingError: tkinter or Pillow is missing.
    """
    from linklab.data.suffixes import data_files
    from linklab.viewer.reading import Reader

    reader = Reader()
    try:
        reader.read([file for path in files for file in data_files(path)])
        try:
            from linklab.viewer.app import Viewer
        except ImportError as error:
            raise MissingError(f"the viewer needs python3-tk and python3-pil.imagetk ({error})") from error
        return Viewer(files, language=language, reader=reader)
    except BaseException:
        reader.stop()
        raise
