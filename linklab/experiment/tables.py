# SPDX-License-Identifier: BSD-3-Clause
"""Data sets → tables of numbers: of one run, and of repetitions of a run with their intervals.

Text is made of them by `linklab.experiment.table_grid`. The numbers are those of `linklab.analysis.reducers`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from linklab.analysis.cut import Cutoff, inside, inside_table
from linklab.analysis.reducers import CONGESTION, DERIVED_FROM, MEAN_VALUE, OF_VALUES, Reduced, reduced, unit_of
from linklab.analysis.statistics import Interval, distinct, fingerprint, interval
from linklab.base.text import excerpt
from linklab.data import Dataset
from linklab.data.names import SEPARATOR, main_series, matching
from linklab.data.table import smoothed
from linklab.errors import InputError
from linklab.experiment.setup import setup_of
from linklab.measure.series import FloatArray

SUMMARY = ("mean", "median", "pct99")
STATISTICS = ("cumsum", "min", "median", "pct99", "max", "mean", "std", "var")
"""Reducers of the two tables, in the order of their columns."""

OF_FLOWS = ("fairness", "fairness_mean")
"""Reducers that need several flows, so that they have a value for a derived series or a pattern only."""

_BESIDE = ("delay", "jitter", "loss", "bitrate", "rtt")
"""Further numbers that are results of their own, in Flent's VoIP tests."""

_TELEMETRY = ("qdisc ", "class ")
"""With these begin the names of Linklab's series of a discipline or a class."""

_MOST_NAMES = 20
"""Series that a message names."""


@dataclass(frozen=True)
class Source:
    """A data set and the name of its file."""

    name: str
    data: Dataset


@dataclass(frozen=True)
class TableChoice:
    """What is asked for.

    reducers: columns, by name.
    patterns: of series, as `linklab.data.names` matches them; none for all series of their own.
    cutoff: seconds that are kept, as `reduced` takes them.
    smooth: values of a running mean that samples are replaced by first; 0 for none.
    """

    reducers: tuple[str, ...] = SUMMARY
    patterns: tuple[str, ...] = ()
    cutoff: Cutoff | None = None
    smooth: int = 0


@dataclass(frozen=True)
class TableRow:
    """A series, or a pattern of flows.

    values: one a reducer, in the order of the choice: of one run; and over repetitions.
    n: samples of one run, or repetitions that have a value.
    rows: of one run, rows of the table where Flent counts these, because the tool gave the mean; else as `n`.
    distinct: how many values of the first reducer differ over repetitions.
    algorithm: of congestion control, of a flow; "" where it is not known, or repetitions differ in it.
    """

    series: str
    unit: str
    values: tuple[Reduced, ...] = ()
    intervals: tuple[Interval, ...] = ()
    n: int = 0
    rows: int = 0
    distinct: int = 0
    algorithm: str = ""


@dataclass(frozen=True)
class Summary:
    """A table of one run, or of several repetitions of one.

    outcomes: how many of the runs measured something different.
    reducers: the columns.
    """

    sources: tuple[Source, ...]
    rows: tuple[TableRow, ...]
    outcomes: int = 1
    reducers: tuple[str, ...] = ()

    @property
    def repeated(self) -> bool:
        """Whether it is over repetitions."""
        return len(self.sources) > 1


def repetitions(sources: Sequence[Source]) -> list[list[Source]]:
    """The data sets in groups that differ in chance alone: same test, parameters, lengths, path and title.

    Numbers that stand alone in a title do not count, so that "run 1" and "run 2" are repetitions.
    """
    groups: dict[str, list[Source]] = {}
    for source in sources:
        groups.setdefault(setup_of(source.data), []).append(source)
    return list(groups.values())


def summarise(sources: Sequence[Source], choice: TableChoice) -> Summary:
    """The table of a group: of one run its numbers, of several the means over them with 95 % intervals.

    Raises:
        InputError: a pattern matches no series, or there is no such reducer.
    """
    prepared = [prepare(source.data, choice) for source in sources]
    asked = _asked(sources, prepared, choice)
    if len(sources) == 1:
        rows = _with_numbers([_row(prepared[0], name, choice) for name in asked], choice)
        return Summary(tuple(sources), rows, reducers=choice.reducers)
    rows = _with_numbers([_repeated(prepared, name, choice) for name in asked], choice)
    outcomes = distinct([fingerprint(source.data) for source in sources])
    return Summary(tuple(sources), rows, outcomes, choice.reducers)


def _with_numbers(rows: Sequence[TableRow], choice: TableChoice) -> tuple[TableRow, ...]:
    """The rows without those that such reducers say nothing of, as a score of calls says nothing of flows."""
    if set(choice.reducers) & OF_VALUES.keys():
        return tuple(rows)
    return tuple(row for row in rows if any(not math.isnan(one.value) for one in row.values or row.intervals))


def prepare(data: Dataset, choice: TableChoice) -> Dataset:
    """The data set with its samples smoothed, if that is asked for; means that tools gave do not count then."""
    if choice.smooth < 2:
        return data
    series = {
        name: replace(
            one,
            # as a figure, which shows nothing of what is cut off
            value=smoothed(np.where(inside(data, one, choice.cutoff), one.value, np.nan), choice.smooth),
            meta={key: value for key, value in one.meta.items() if key != MEAN_VALUE},
        )
        for name, one in data.series.items()
    }
    return replace(data, series=series, grid=None)


def chosen(data: Dataset, patterns: Sequence[str]) -> list[str]:
    """The series of a data set that are asked for, in its order.

    Without a pattern those that `listed` gives. A pattern matches among these or, if none of them fits, among all; "**"
    matches all.
    """
    if not patterns:
        return listed(data)
    mains = listed(data)
    found: set[str] = set()
    for pattern in patterns:
        whole = [] if pattern == "**" else matching(pattern, mains)
        found.update(whole or matching(pattern, data.series))
    return [name for name in data.series if name in found]


def listed(data: Dataset) -> list[str]:
    """The series that a table shows if nobody asks for others.

    Those of their own, derived ones, and what a program says beside its packets, such as "VoIP::delay"; of a file of
    Flent's, only those in its table. Not the further numbers of samples, nor the disciplines and classes that stand
    beside Flent's own "qdisc_stats_…".
    """
    own = frozenset(main_series(data.series))
    found = [name for name in data.series if name in own or _has_flows(data, name) or _said_beside(name)]
    if data.grid is not None:
        # "VoIP" itself is in the samples, but not in the table
        found = [name for name in found if name in data.grid.values or _has_flows(data, name)] or found
    return [name for name in found if not name.startswith(_TELEMETRY)] or found


def _said_beside(name: str) -> bool:
    return name.rpartition(SEPARATOR)[2] in _BESIDE


def _asked(sources: Sequence[Source], prepared: Sequence[Dataset], choice: TableChoice) -> list[str]:
    """The rows: series, and patterns of flows where a reducer needs several."""
    found = list(dict.fromkeys(name for data in prepared for name in chosen(data, choice.patterns)))
    if not found and choice.patterns:
        there = list(dict.fromkeys(name for data in prepared for name in listed(data)))
        more = f" and {len(there) - _MOST_NAMES} more" if len(there) > _MOST_NAMES else ""
        has = f"it has {', '.join(there[:_MOST_NAMES])}{more}" if there else "it has no series"
        asked = " or ".join(f'"{excerpt(pattern)}"' for pattern in choice.patterns)
        raise InputError(f"{sources[0].name}: no series matches {asked}; {has}")
    if set(choice.reducers) & set(OF_FLOWS):
        found = [*dict.fromkeys([*(pattern for pattern in choice.patterns if pattern not in found), *found])]
    if choice.reducers and set(choice.reducers) <= set(OF_FLOWS):
        found = [name for name in found if any(_has_flows(data, name) for data in prepared)]
        if not found:
            raise InputError(
                f"{sources[0].name}: {choice.reducers[0]} needs several flows; "
                'say which with --series, such as --series "TCP upload::*"'
            )
    return found


def _has_flows(data: Dataset, name: str) -> bool:
    return name not in data.series or DERIVED_FROM in data.series[name].meta


def _row(data: Dataset, name: str, choice: TableChoice) -> TableRow:
    values = tuple(_value(data, name, reducer, choice.cutoff) for reducer in choice.reducers)
    series = data.series.get(name)
    told = series is not None and choice.cutoff is None and MEAN_VALUE in series.meta
    n = values[0].n if series is None else reduced("raw_mean", data, name, choice.cutoff).n
    rows = data.table.times.size if told else n
    unit = _unit(series.unit if series else "", choice)
    return TableRow(name, unit, values, n=n, rows=rows, algorithm=_algorithm([data], name))


def _unit(unit: str, choice: TableChoice) -> str:
    """The unit of a row: of its series, unless all that is asked for has another."""
    units = {unit_of(reducer, unit) for reducer in choice.reducers}
    return units.pop() if len(units) == 1 else unit


def _algorithm(prepared: Sequence[Dataset], name: str) -> str:
    found = {data.series[name].meta.get(CONGESTION) for data in prepared if name in data.series}
    algorithm = found.pop() if len(found) == 1 else None
    return algorithm if isinstance(algorithm, str) else ""


def _repeated(prepared: Sequence[Dataset], name: str, choice: TableChoice) -> TableRow:
    found = [
        [_value(data, name, reducer, choice.cutoff).value for data in prepared] for reducer in choice.reducers
    ]  # by reducer, by run
    intervals = tuple(interval(values) for values in found)
    unit = _unit(next((data.series[name].unit for data in prepared if name in data.series), ""), choice)
    known = [value for value in found[0] if not math.isnan(value)]
    n, algorithm = max(one.n for one in intervals), _algorithm(prepared, name)
    return TableRow(name, unit, intervals=intervals, n=n, distinct=distinct(known), algorithm=algorithm)


def _value(data: Dataset, name: str, reducer: str, cutoff: Cutoff | None) -> Reduced:
    if reducer in OF_FLOWS and not _has_flows(data, name):
        return Reduced(math.nan, 0)
    return reduced(reducer, data, name, cutoff)


@dataclass(frozen=True)
class Columns:
    """Series of one or several data sets at common times.

    names: of the series; of several data sets each has its file's name behind it.
    times: s since T0 of each data set; values: by name, NaN where there is none.
    """

    names: tuple[str, ...]
    times: FloatArray
    values: tuple[FloatArray, ...]


def columns(sources: Sequence[Source], choice: TableChoice) -> Columns:
    """The tables of data sets side by side; a time that one of them lacks is a gap there.

    Raises:
        InputError: a pattern matches no series of any of them.
    """
    names, parts = [], []
    for source in sources:
        table = source.data.table
        kept = inside_table(source.data, choice.cutoff)
        for name in chosen(source.data, choice.patterns):
            names.append(name if len(sources) == 1 else f"{name} - {source.name}")
            parts.append((table.times[kept], smoothed(table.column(name)[kept], choice.smooth)))
    if not names and choice.patterns:
        _asked(sources, [source.data for source in sources], choice)
    rounded = [np.round(times, 9) for times, _ in parts]  # times of one step differ by rounding between files
    times = np.unique(np.concatenate(rounded)) if rounded else np.empty(0)
    values = []
    for own, (_, column) in zip(rounded, parts, strict=True):
        found = np.full(times.shape, np.nan)
        found[np.searchsorted(times, own)] = column
        values.append(found)
    return Columns(tuple(names), times, tuple(values))


def sample_rows(sources: Sequence[Source], choice: TableChoice) -> Iterator[tuple[str, str, str, float, float]]:
    """Each sample of the series that are asked for: file, series, unit, s since T0, value; NaN for a gap.

    Raises:
        InputError: a pattern matches no series of any of the data sets.
    """
    prepared = [prepare(source.data, choice) for source in sources]
    _asked(sources, prepared, choice)
    for source, data in zip(sources, prepared, strict=True):
        for name in chosen(data, choice.patterns):
            series = data.series[name]
            kept = inside(data, series, choice.cutoff)
            for time_s, value in zip(series.time_s[kept].tolist(), series.value[kept].tolist(), strict=True):
                yield source.name, name, series.unit, time_s, value
