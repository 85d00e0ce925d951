# SPDX-License-Identifier: BSD-3-Clause
"""The `table.csv` of a sweep → `Measurements`, so that a step which runs `linklab sweep` is judged as any other.

Units are those in which labs judge: bit/s and seconds. Names: docs/measurements.md, "Tables of sweeps".
"""

from __future__ import annotations

from pathlib import Path

from linklab.base.text import file_name
from linklab.errors import DataError
from linklab.measure import Measurements, Quantity
from linklab.measure.reading import csv_rows, read_text, table_number
from linklab.run.data_files import JOURNAL, in_names, in_our_unit

TABLE = "table.csv"
TOOL = "sweep"
_NUMBERS = ("mean", "low", "high")
_COUNTS = ("n", "distinct")
_UNIT = "unit"
_MOST_CELLS = 2000


def is_sweep_table(path: Path) -> bool:
    """Whether a file is the table of a sweep, which lies beside its journal."""
    return path.name == TABLE and path.is_file() and (path.parent / JOURNAL).is_file()


def measure_sweep_table(path: Path) -> Measurements:
    """Of each combination and measure: mean, ends of the interval, how many values it is of and how many differ.

    Raises:
        DataError: it is no such table.
    """
    where = file_name(path)
    rows = csv_rows(read_text(path), where)
    heads = rows[0] if rows else []
    measures = [head.removesuffix(f" {_UNIT}") for head in heads if head.endswith(f" {_UNIT}")]
    factors = len(heads) - len(measures) * (len(_NUMBERS) + len(_COUNTS) + 1)
    if not measures or factors < 1:
        raise DataError(f"{where}: this is not the table of a sweep; was it changed?")
    if len(rows) > _MOST_CELLS:
        raise DataError(f"{where}: it has {len(rows) - 1} combinations; at most {_MOST_CELLS} are read")
    scalars: dict[str, Quantity] = {}
    for row in rows[1:]:
        if len(row) != len(heads):
            raise DataError(f"{where}: a row has {len(row)} cells, and the head {len(heads)}; was it changed?")
        known = dict(zip(heads, row, strict=True))
        cell = in_names("-".join(f"{factor}-{level}" for factor, level in zip(heads[:factors], row, strict=False)))
        for measure in measures:
            for what in (*_NUMBERS, *_COUNTS):
                text = known.get(f"{measure} {what}", "")
                if text:
                    unit = known[f"{measure} {_UNIT}"] if what in _NUMBERS else ""
                    scalars[f"{TOOL}.{cell}.{in_names(measure)}.{what}"] = in_our_unit(table_number(text, where), unit)
    return Measurements(scalars, {}, TOOL, str(path), ())
