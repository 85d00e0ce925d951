# SPDX-License-Identifier: BSD-3-Clause
"""What the verbs summary, stats and csv of `linklab test` share: their options, and the files that they read."""

from __future__ import annotations

import argparse
import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from linklab.base.text import excerpt, file_name
from linklab.errors import DataError

if TYPE_CHECKING:
    from linklab.experiment.tables import Source, TableChoice

FORMATS = ("table", "csv", "json", "org")


def add_choice(parser: argparse.ArgumentParser, *, default: str = "table", reduce: bool = True) -> None:
    """FILE… and the options that choose what of them counts."""
    parser.add_argument(
        "files", metavar="FILE", type=Path, nargs="+", help="data file of Linklab or Flent, or a folder of them"
    )
    parser.add_argument(
        "--series",
        metavar="PATTERN",
        action="append",
        default=[],
        help='these series only, such as "Ping*" or "TCP upload::*"; may be given again',
    )
    if reduce:
        parser.add_argument(
            "--reduce",
            metavar="NAME",
            action="append",
            default=[],
            help="this number of each series instead, such as mean_span or mos; may be given again",
        )
    cut = parser.add_mutually_exclusive_group()
    cut.add_argument(
        "--cutoff",
        metavar="A,B",
        type=_cutoff,
        help="keep what lies between A and B, seconds; a B of 0 or less counts from the end",
    )
    cut.add_argument("--warm-up", metavar="S", type=_seconds, help="leave out the first S seconds")
    parser.add_argument(
        "--smooth", metavar="N", type=_count, default=0, help="first replace each value by the mean of N around it"
    )
    parser.add_argument("--format", choices=FORMATS, default=default, help=f"default: {default}")


def choice_of(args: argparse.Namespace, reducers: Sequence[str]) -> TableChoice:
    """What the options ask for; `reducers` unless they name others.

    Raises:
        InputError: there is no such reducer.
    """
    from linklab.analysis.reducers import check_reducer
    from linklab.experiment.tables import TableChoice

    asked = tuple(map(check_reducer, getattr(args, "reduce", [])))
    cutoff = args.cutoff if args.warm_up is None else (args.warm_up, 0.0)
    return TableChoice(asked or tuple(reducers), tuple(args.series), cutoff, args.smooth)


def with_folders(files: Sequence[Path]) -> list[Path]:
    """The files, with the data files of a folder in its place.

    Raises:
        DataError: a folder has none.
    """
    from linklab.data.suffixes import data_files

    found: list[Path] = []
    for file in files:
        inside = data_files(file)
        if not inside:
            raise DataError(f"{file_name(file)}: there is no data file in this folder")
        found += inside
    return found


def read(files: Sequence[Path]) -> list[Source]:
    """The data sets of the files with all derived series, each by the shortest name that sets it apart.

    Raises:
        DataError: one of them is not a data file; then nothing is printed.
    """
    from linklab.data import open_file
    from linklab.experiment.derive import completed
    from linklab.experiment.tables import Source

    files = with_folders(files)
    short = [file_name(Path(file.name)) for file in files]
    names = short if len(set(short)) == len(short) else [file_name(file) for file in files]
    return [Source(name, completed(open_file(file))) for name, file in zip(names, files, strict=True)]


def _cutoff(text: str) -> tuple[float, float]:
    start, comma, end = text.partition(",")
    try:
        found = float(start or 0), float(end or 0)
    except ValueError:
        found = (math.nan, math.nan)
    if not comma or not all(map(math.isfinite, found)) or found[0] < 0:
        raise argparse.ArgumentTypeError(f'"{excerpt(text)}" must be two numbers of seconds, such as 5,65 or 5,-5')
    if 0 < found[1] <= found[0]:
        raise argparse.ArgumentTypeError(f'"{excerpt(text)}" ends before it begins')
    return found


def _seconds(text: str) -> float:
    try:
        found = float(text)
    except ValueError:
        found = -1.0
    if not math.isfinite(found) or found < 0:
        raise argparse.ArgumentTypeError(f'"{excerpt(text)}" must be a number of seconds, 0 or more')
    return found


def _count(text: str) -> int:
    if not text.isascii() or not text.isdecimal() or len(text) > 6:
        raise argparse.ArgumentTypeError(f'"{excerpt(text)}" must be a whole number of values, such as 10')
    return int(text)
