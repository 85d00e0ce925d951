# SPDX-License-Identifier: BSD-3-Clause
"""What is shown in numbers: tables to read in the window, and CSV for other programs. Pure.

The numbers are those of `linklab.experiment.tables`, so `linklab test summary`, `stats` and `csv` say the same.
"""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterable, Mapping, Sequence

from linklab.base.text import csv_cell, one_line
from linklab.experiment.tables import STATISTICS, SUMMARY, Source, TableChoice, columns, sample_rows, summarise
from linklab.plots.named import Loaded, Options
from linklab.plots.named.lines import kept_s
from linklab.plots.spec import PlotKind, PlotSpec
from linklab.viewer.drawable import drawn_series

HEADINGS = {"pct99": "99th %", "std": "std dev", "var": "variance", "cumsum": "total"}
"""Reducer → its column, where that is not its name."""

NONE = "–"


def choice_of(
    spec: PlotSpec, options: Options, names: Sequence[str], reducers: tuple[str, ...] = SUMMARY
) -> TableChoice:
    """What to compute of these series, cut and smoothed as the plot is; only over time a plot is smoothed."""
    smoothing = options.smoothing or 0 if spec.kind is PlotKind.TIMESERIES or spec.parts else 0
    return TableChoice(reducers, tuple(names), kept_s(spec, options), smoothing)


def names_of(spec: PlotSpec, loaded: Sequence[Loaded], specs: Sequence[PlotSpec]) -> list[str]:
    """The series that a plot draws of these data sets."""
    others = {one.name: one for one in specs}
    return list(dict.fromkeys(name for one in loaded for name in drawn_series(spec, one, others)))


def summary(spec: PlotSpec, loaded: Sequence[Loaded], options: Options, specs: Sequence[PlotSpec]) -> str:
    """A table of what the plot draws, for each data set, to be read in a fixed font."""
    parts = []
    for heading, rows in _tables(spec, loaded, options, specs, SUMMARY):
        titles = ("series", *(HEADINGS.get(name, name) for name in SUMMARY), "n", "unit")
        cells = [(name, *(_shown(value) for value in values), str(n), unit) for name, values, n, unit in rows]
        widths = [max(map(len, column)) for column in zip(titles, *cells, strict=True)]
        lines = [
            "  ".join(
                cell.rjust(width) if 0 < at < len(widths) - 1 else cell.ljust(width)
                for at, (cell, width) in enumerate(zip(row, widths, strict=True))
            ).rstrip()
            for row in (titles, *cells)
        ]
        parts.append("\n".join([heading, "", *lines]))
    return "\n\n".join(parts)


def statistics_csv(spec: PlotSpec, loaded: Sequence[Loaded], options: Options, specs: Sequence[PlotSpec]) -> str:
    """The statistics of each series that the plot draws, a row each."""
    rows: list[Sequence[str | int | float]] = [
        (heading, name, unit, n, *values)
        for heading, found in _tables(spec, loaded, options, specs, STATISTICS)
        for name, values, n, unit in found
    ]
    return _csv(("run", "series", "unit", "n", *STATISTICS), rows)


def columns_csv(spec: PlotSpec, loaded: Sequence[Loaded], options: Options, specs: Sequence[PlotSpec]) -> str:
    """The series at common times, a column each."""
    found = columns(_sources(loaded), choice_of(spec, options, names_of(spec, loaded, specs)))
    parts = [found.times.tolist(), *(column.tolist() for column in found.values)]
    return _csv(("time_s", *found.names), zip(*parts, strict=True))


def samples_csv(spec: PlotSpec, loaded: Sequence[Loaded], options: Options, specs: Sequence[PlotSpec]) -> str:
    """Each sample of the series at its own time, a row each."""
    names = names_of(spec, loaded, specs)
    rows = sample_rows(_sources(loaded), choice_of(spec, options, names))
    return _csv(("run", "series", "unit", "time_s", "value"), rows)


Row = tuple[str, Sequence[float], int, str]


def _tables(
    spec: PlotSpec, loaded: Sequence[Loaded], options: Options, specs: Sequence[PlotSpec], reducers: tuple[str, ...]
) -> list[tuple[str, list[Row]]]:
    """For each data set its name and its rows."""
    others = {one.name: one for one in specs}
    tables = []
    for one in loaded:
        names = drawn_series(spec, one, others)
        found = summarise(_sources([one]), choice_of(spec, options, names, reducers)).rows if names else ()
        rows: list[Row] = [(row.series, [value.value for value in row.values], row.n, row.unit) for row in found]
        heading = f"{one.name}: {one.title}" if one.title and one.title != one.name else one.name
        tables.append((one_line(heading), rows))
    return tables


def _sources(loaded: Sequence[Loaded]) -> list[Source]:
    return [Source(one.name, one.data) for one in loaded]


def _shown(value: float) -> str:
    if math.isnan(value):
        return NONE
    return f"{value:.3g}" if value and abs(value) < 0.1 else f"{value:.2f}"


def _csv(headings: Sequence[str], rows: Iterable[Sequence[str | int | float]]) -> str:
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow([csv_cell(one_line(each)) for each in headings])
    writer.writerows([_exact(cell) for cell in row] for row in rows)
    return file.getvalue()


def _exact(cell: str | int | float) -> str:
    match cell:
        case str():
            return csv_cell(one_line(cell))
        case float():
            return "" if math.isnan(cell) else repr(cell)
        case _:
            return str(cell)


EXPORTS: Mapping[str, tuple[str, str]] = {
    "Statistics of Each Series": ("statistics", "stats"),
    "Series at Common Times": ("columns", "series"),
    "All Samples": ("samples", "samples"),
}
"""What a person is asked → which table, and how its file is called."""

WRITERS = {"statistics": statistics_csv, "columns": columns_csv, "samples": samples_csv}
