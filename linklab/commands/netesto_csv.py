# SPDX-License-Identifier: BSD-3-Clause
"""`linklab netesto csv FOLDER…`: exp.csv of a campaign, made from the folders of its experiments."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from linklab.base.spelling import nearest_words
from linklab.base.text import excerpt, file_name, one_line
from linklab.errors import InputError

if TYPE_CHECKING:
    from linklab.netesto.fields import CsvField

_EPILOG = """examples:
  linklab netesto csv mine                          make mine/exp.csv anew
  linklab netesto csv mine --fields my.txt -o my.csv     other columns, in another file
  linklab netesto csv mine --get exp --get rate     print two columns, a row a line
  linklab netesto csv mine/3 mine/7                 print the rows of two experiments
  linklab netesto csv --print-fields > mine/fields.txt   columns to change

FOLDER is that of a campaign or of an experiment. The columns are those of --fields, else of fields.txt in the
campaign's folder, else the 58 of Netesto. docs/netesto.md, "exp.csv", says what each holds.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add `FOLDER… [--fields FILE] [--get COLUMN] [-o FILE]`."""
    parser.add_argument("folders", metavar="FOLDER", type=Path, nargs="*", help="of a campaign, or of an experiment")
    parser.add_argument("--fields", metavar="FILE", type=Path, help="columns and their operators, as in fields.txt")
    parser.add_argument(
        "--get", metavar="COLUMN", action="append", default=[], help="print this column only; may be given again"
    )
    parser.add_argument("-o", "--output", metavar="FILE", type=Path, help="write here instead")
    parser.add_argument("--print-fields", action="store_true", help="print the usual columns, as a fields.txt")
    parser.epilog = _EPILOG


def run(args: argparse.Namespace) -> int:
    """Write or print the table."""
    from linklab.netesto.csv_file import csv_text, experiment_folders, finished, rows_of
    from linklab.netesto.fields import SHIPPED, fields_of, read_fields
    from linklab.netesto.names import EXPERIMENT
    from linklab.netesto.results import write_csv

    if args.print_fields:
        sys.stdout.write(SHIPPED.read_text(encoding="utf-8"))
        return 0
    if not args.folders:
        raise InputError("give the folder of a campaign or of an experiment, such as linklab netesto csv mine")
    experiments = []
    for folder in args.folders:
        of_one = _holds(folder, EXPERIMENT)
        experiments += [folder] if of_one else [each for each in experiment_folders(folder) if finished(each)]
    if not experiments:
        raise InputError(f"{file_name(args.folders[0])}: there is no experiment that has ended in this folder")
    first = args.folders[0]
    if len(args.folders) == 1 and not (args.fields or args.get or args.output or _holds(first, EXPERIMENT)):
        print(file_name(write_csv(first)))
        return 0
    campaign = first.parent if _holds(first, EXPERIMENT) else first
    fields = read_fields(args.fields) if args.fields else fields_of(campaign)
    rows = [row for folder in experiments for row in rows_of(folder, fields)]
    if args.get:
        chosen = [_column(name, fields) for name in args.get]
        text = "".join("\t".join(one_line(row[at]) for at in chosen) + "\n" for row in rows)
    else:
        text = csv_text(fields, rows)
    _give(text, args.output)
    return 0


def _holds(folder: Path, name: str) -> bool:
    return (folder / name).is_file()


def _column(name: str, fields: Sequence[CsvField]) -> int:
    known = [field.name for field in fields]
    if name not in known:
        raise InputError(f'--get: there is no column "{excerpt(name)}"; {_cure(name, known)}')
    return known.index(name)


def _cure(name: str, known: Sequence[str]) -> str:
    """What to do where a column is asked for that the table does not have."""
    from linklab.netesto.value_columns import FIXED

    if name in FIXED:
        return (
            f"{name} is measured, but fields.txt has no line for it; linklab netesto csv --print-fields > my.txt, "
            f"add {name}:avg to it, and give --fields my.txt"
        )
    return f"did you mean {' or '.join(nearest_words(name, known, 3, 0.5) or known[:3])}?"


def _give(text: str, output: Path | None) -> None:
    from linklab.base.files import write_asked

    if output is None:
        sys.stdout.write(text)
    else:
        print(file_name(write_asked(output, text)))
