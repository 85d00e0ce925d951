# SPDX-License-Identifier: BSD-3-Clause
"""What is shown in numbers: tables to read in the window, and CSV for other programs. Pure.

The numbers are those of `linklab.experiment.tables`, so `linklab test summary`, `stats` and `csv` say the same.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from linklab.base.text import one_line
from linklab.experiment.summary import grid, summary_of
from linklab.experiment.table_grid import Cell, TableGrid, as_csv, as_text
from linklab.experiment.tables import STATISTICS, SUMMARY, Source, TableChoice, columns, sample_rows, summarise
from linklab.plots.named import Loaded, Options
from linklab.plots.named.lines import kept_s
from linklab.plots.spec import PlotKind, PlotSpec
from linklab.viewer.drawable import drawn_series


def choice_of(
    spec: PlotSpec, options: Options, names: Sequence[str], reducers: tuple[str, ...] = SUMMARY
) -> TableChoice:
    """What to compute of these series, cut and smoothed as the plot is; only over time a plot is smoothed."""
    smoothing = options.smoothing or 0 if spec.kind is PlotKind.TIMESERIES or spec.parts else 0
    cutoff = kept_s(spec, options)
    if cutoff is not None and math.isinf(cutoff[1]):
        cutoff = cutoff[0], 0.0  # as --cutoff 5,0 is the end of the test
    return TableChoice(reducers, tuple(names), cutoff, smoothing)


def names_of(spec: PlotSpec, loaded: Sequence[Loaded], specs: Sequence[PlotSpec]) -> list[str]:
    """The series that a plot draws of these data sets."""
    others = {one.name: one for one in specs}
    return list(dict.fromkeys(name for one in loaded for name in drawn_series(spec, one, others)))


def summary(spec: PlotSpec, loaded: Sequence[Loaded], options: Options, specs: Sequence[PlotSpec]) -> str:
    """A table of what the plot draws, for each data set, to be read in a fixed font."""
    parts = []
    for one in loaded:
        names = names_of(spec, [one], specs)
        table = as_text(grid(summary_of(_sources([one]), choice_of(spec, options, names)))) if names else ""
        parts.append(f"{_heading(one)}\n\n{table}".strip())
    return "\n\n".join(parts)


def statistics_csv(spec: PlotSpec, loaded: Sequence[Loaded], options: Options, specs: Sequence[PlotSpec]) -> str:
    """The statistics of each series that the plot draws, a row each."""
    rows: list[tuple[Cell, ...]] = []
    for one in loaded:
        names = names_of(spec, [one], specs)
        found = summarise(_sources([one]), choice_of(spec, options, names, STATISTICS)).rows if names else ()
        rows += [(_heading(one), row.series, row.unit, row.n, *(value.value for value in row.values)) for row in found]
    return as_csv(TableGrid(("run", "series", "unit", "n", *STATISTICS), tuple(rows)))


def columns_csv(spec: PlotSpec, loaded: Sequence[Loaded], options: Options, specs: Sequence[PlotSpec]) -> str:
    """The series at common times, a column each."""
    found = columns(_sources(loaded), choice_of(spec, options, names_of(spec, loaded, specs)))
    parts = [found.times.tolist(), *(column.tolist() for column in found.values)]
    return as_csv(TableGrid(("time_s", *found.names), tuple(zip(*parts, strict=True))))


def samples_csv(spec: PlotSpec, loaded: Sequence[Loaded], options: Options, specs: Sequence[PlotSpec]) -> str:
    """Each sample of the series at its own time, a row each."""
    names = names_of(spec, loaded, specs)
    rows = tuple(sample_rows(_sources(loaded), choice_of(spec, options, names)))
    return as_csv(TableGrid(("run", "series", "unit", "time_s", "value"), rows))


def _heading(one: Loaded) -> str:
    return one_line(f"{one.name}: {one.title}" if one.title and one.title != one.name else one.name)


def _sources(loaded: Sequence[Loaded]) -> list[Source]:
    return [Source(one.name, one.data) for one in loaded]


EXPORTS: Mapping[str, tuple[str, str]] = {
    "Statistics of Each Series": ("statistics", "stats"),
    "Series at Common Times": ("columns", "series"),
    "All Samples": ("samples", "samples"),
}
"""What a person is asked → which table, and how its file is called."""

WRITERS = {"statistics": statistics_csv, "columns": columns_csv, "samples": samples_csv}
