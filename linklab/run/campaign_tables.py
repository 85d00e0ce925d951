# SPDX-License-Identifier: BSD-3-Clause
"""The `exp.csv` of a campaign → `Measurements`, so that a step which runs `linklab netesto` is judged as any other.

Experiments of the same name and congestion control are repetitions of each other. Units are those in which labs judge.
Names: docs/measurements.md, "Tables of campaigns".
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from pathlib import Path

from linklab.analysis.statistics import interval
from linklab.base.text import file_name
from linklab.errors import DataError
from linklab.measure import Measurements, Quantity
from linklab.measure.reading import csv_rows, read_text, table_number
from linklab.run.data_files import JOURNAL, in_names

TABLE = "exp.csv"
TOOL = "netesto"
_WHO = ("exp", "expName", "ca")
_RATES, _TIMES, _COUNTS = ("bit/s", 1e6), ("s", 1e-6), ("", 1.0)
_COLUMNS = {
    **dict.fromkeys(("rate", "rateMin", "rateMax"), _RATES),
    **dict.fromkeys(("rtt", "pingRtt", "minLatency", "meanLatency", "maxLatency"), _TIMES),
    **dict.fromkeys(("p50Latency", "p90Latency", "p99Latency", "p999Latency"), _TIMES),
    **dict.fromkeys(("cwnd", "instances", "retrans_total"), _COUNTS),
    "retransPkts%": ("", 0.01),
}
"""Columns that are measured, with the unit in which labs judge and its factor."""
_OF_GROUPS = ("rate", "retransPkts%", "meanLatency", "p99Latency", "pingRtt", "rtt", "cwnd")
"""Those of them that are measured of each group as well."""
_FAIRNESS = "fairness"
"""Of an experiment: rate of its fastest flow over that of its slowest, as table scripts call it."""
_MOST_ROWS = 20_000


def is_campaign_table(path: Path) -> bool:
    """Whether a file is the table of a campaign, which lies beside its journal."""
    return path.name == TABLE and path.is_file() and (path.parent / JOURNAL).is_file()


def measure_campaign_table(path: Path) -> Measurements:
    """Of each kind of experiment and each of its groups: mean, ends of the interval, extremes and number of the values.

    Raises:
        DataError: it is no such table.
    """
    where = file_name(path)
    values: dict[str, list[float]] = {}
    units: dict[str, str] = {}
    for name, value, unit in _values(csv_rows(read_text(path), where), where):
        values.setdefault(name, []).append(value)
        units[name] = unit
    scalars: dict[str, Quantity] = {}
    for name, found in values.items():
        known = interval(found)
        numbers = {"mean": known.value, "low": known.low, "high": known.high, "min": min(found), "max": max(found)}
        for what, value in numbers.items():
            if math.isfinite(value):
                scalars[f"{TOOL}.{name}.{what}"] = Quantity(value, units[name])
        scalars[f"{TOOL}.{name}.n"] = Quantity(float(len(found)), "")
    return Measurements(scalars, {}, TOOL, str(path), ())


def _values(rows: list[list[str]], where: str) -> Iterator[tuple[str, float, str]]:
    """The name, the value, and the unit of each cell that is measured."""
    heads = rows[0] if rows else []
    if not set(_WHO) <= set(heads):
        raise DataError(f"{where}: this is not the table of a campaign: it lacks one of {', '.join(_WHO)}")
    if len(rows) > _MOST_ROWS:
        raise DataError(f"{where}: it has {len(rows) - 1} rows; at most {_MOST_ROWS} are read")
    for row in rows[1:]:
        if len(row) != len(heads):
            raise DataError(f"{where}: a row has {len(row)} cells, and the head {len(heads)}; was it changed?")
        cells = dict(zip(heads, row, strict=True))
        group = cells["exp"].rpartition(".")[2]
        name = in_names(f"{cells['expName']}-{cells['ca']}") + ("" if group == "0" else f".group-{in_names(group)}")
        for column, (unit, factor) in _COLUMNS.items():
            if cells.get(column) and (group == "0" or column in _OF_GROUPS):
                yield f"{name}.{in_names(column)}", table_number(cells[column], where) * factor, unit
        if group == "0":
            yield from _fairness(name, cells, where)


def _fairness(name: str, cells: Mapping[str, str], where: str) -> Iterator[tuple[str, float, str]]:
    if cells.get("rateMin") and cells.get("rateMax") and (least := table_number(cells["rateMin"], where)) > 0:
        yield f"{name}.{_FAIRNESS}", table_number(cells["rateMax"], where) / least, ""
