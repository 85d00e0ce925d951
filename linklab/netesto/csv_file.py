# SPDX-License-Identifier: BSD-3-Clause
"""The values of a campaign's experiments → exp.csv, in the format of Netesto's.

A line of column names, then of each experiment the row N.0, which the operators of fields.txt make of its groups, and,
if it has several groups, a row N.g of each. The file is always made anew from the folders, in the order of the
experiments' numbers, so that it has the same bytes whichever of them ended first.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from linklab.base.files import write_asked
from linklab.base.text import csv_cell, file_name
from linklab.errors import DataError, InputError
from linklab.netesto import names
from linklab.netesto.fields import CsvField, combined, fields_of
from linklab.netesto.key_values import WHOLE, Texts, of_group, read_values
from linklab.netesto.recorded import RecordedExperiment, read_experiment
from linklab.netesto.value_columns import OF_CLIENT
from linklab.netesto.values import other_of

CSV_FILE = "exp.csv"


def experiment_folders(campaign: Path) -> list[Path]:
    """The folders of a campaign's experiments, by number.

    Raises:
        InputError: there is no such folder.
    """
    try:
        found = [each for each in campaign.iterdir() if each.name.isdecimal() and each.name.isascii()]
    except OSError as error:
        raise InputError(f"{file_name(campaign)}: {error.strerror}; give the folder of a campaign") from error
    return sorted(
        (each for each in found if (each / names.EXPERIMENT).is_file()), key=lambda each: (int(each.name), each.name)
    )


def finished(folder: Path) -> bool:
    """Whether an experiment has values; one that has not ended yet has no row."""
    return (folder / WHOLE).is_file()


def rows_of(folder: Path, fields: Sequence[CsvField]) -> list[list[str]]:
    """The rows of an experiment: N.0, then N.1, N.2, … if it has several groups.

    Raises:
        DataError: a file of the folder cannot be read.
        InputError: an operator does not fit the values; the message names the experiment.
    """
    recorded = read_experiment(folder)
    whole = read_values(folder / WHOLE)
    groups = [read_values(folder / of_group(group.group)) for group in recorded.groups]
    if not groups:
        raise DataError(f"{file_name(folder)}: the experiment has no DO_CLIENT, so it gives no row")
    try:
        rows = [_row(fields, groups, whole, recorded)]
        if len(groups) > 1:
            rows += [_row(fields, [group], {}, recorded) for group in groups]
    except InputError as error:
        raise InputError(f"experiment {recorded.exp}: {error}") from None
    return rows


def _row(
    fields: Sequence[CsvField], groups: Sequence[Texts], whole: Mapping[str, str], recorded: RecordedExperiment
) -> list[str]:
    """A row of some groups; what the experiment as a whole has counts before what an operator makes of them."""
    other = other_of(recorded)
    a_host = list({group.get("host", ""): group for group in reversed(groups)}.values())[::-1]
    row = []
    for field in fields:
        if field.name in other:  # one value for all groups, which no operator changes
            row.append(other[field.name])
            continue
        counted = [whole] if field.name in whole else a_host if field.name in OF_CLIENT else groups
        durations = [each.get("dur", groups[0].get("dur", "")) for each in counted]
        row.append(combined(field, [each.get(field.name, "") for each in counted], durations))
    return row


def csv_text(fields: Sequence[CsvField], rows: Iterable[Sequence[str]]) -> str:
    """The file: cells are quoted only where they must be (RFC 4180), and no cell is a formula to a spreadsheet."""
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow([csv_cell(field.name) for field in fields])
    writer.writerows([csv_cell(" ".join(cell.split())) for cell in row] for row in rows)
    return file.getvalue()


def write_csv(campaign: Path, fields: Sequence[CsvField] | None = None) -> Path:
    """Make exp.csv of a campaign anew from the folders of its experiments that have ended; its path.

    Args:
        campaign: its folder.
        fields: the columns; None for the campaign's own fields.txt, or the shipped ones.

    Raises:
        InputError: fields.txt has mistakes or does not fit, or the file cannot be written.
        DataError: the folder of an experiment cannot be read.
    """
    columns = fields_of(campaign) if fields is None else fields
    rows = [row for folder in experiment_folders(campaign) if finished(folder) for row in rows_of(folder, columns)]
    return write_asked(campaign / CSV_FILE, csv_text(columns, rows))
