# SPDX-License-Identifier: BSD-3-Clause
"""Several data sets → one for each group, whose series hold one number of each; drawn as any other data set is.

The number comes from `linklab.analysis.reducers`, by the name that the plot or a person gives.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from linklab.analysis import reducers
from linklab.analysis.reducers import OF_VALUES, check_reducer, reduce
from linklab.data import Dataset
from linklab.data.grid import at_times, common_times
from linklab.errors import InputError
from linklab.measure import Series, make_series
from linklab.measure.series import FloatArray
from linklab.plots.named.groups import Grouping, Mode, grouped, mode_of
from linklab.plots.named.lines import LegendEntry, cut, entries_of, kept_s
from linklab.plots.named.loaded import Loaded
from linklab.plots.named.options import Options
from linklab.plots.named.words import unit_of
from linklab.plots.spec import PlotKind, PlotLine, PlotSpec

COMBINING: Mapping[PlotKind, PlotKind] = {
    PlotKind.TIMESERIES_COMBINE: PlotKind.TIMESERIES,
    PlotKind.LINE_COMBINE: PlotKind.LINE_COMBINE,
    PlotKind.CDF_COMBINE: PlotKind.CDF,
    PlotKind.BOX_COMBINE: PlotKind.BOX,
    PlotKind.BAR_COMBINE: PlotKind.BAR,
    PlotKind.ELLIPSIS_COMBINE: PlotKind.ELLIPSIS,
}
"""Each kind that combines data sets, and how the groups are drawn."""

COMBINED_KEY = "combined"
"""Of the metadata of a group that was kept as a data set: how it was grouped."""

_USUAL = {PlotKind.TIMESERIES_COMBINE: "groups_points", PlotKind.CDF_COMBINE: "groups_concat"}
"""The mode of a plot that names none; "groups" for the others."""

_AT_ONCE: Mapping[str, Callable[..., FloatArray]] = {
    "mean": np.nanmean,
    "median": np.nanmedian,
    "min": np.nanmin,
    "max": np.nanmax,
    "std": np.nanstd,
    "var": np.nanvar,
}

_WORDS = {
    "pct99": "99th percentile",
    "std": "standard deviation",
    "var": "variance",
    "span": "greatest less least value",
    "mean_span": "mean above the least value",
    "mean_zero": "mean, gaps as 0",
    "raw_seq_loss": "share of packets lost",
    "mos": "mean opinion score",
    "fairness": "Jain's index over time",
    "fairness_mean": "Jain's index of the means",
}
"""What a reducer gives, in words; its name if that is a word."""


@dataclass(frozen=True)
class Combined:
    """What is drawn instead of a plot that combines, and how to read it."""

    spec: PlotSpec
    data: Sequence[Loaded]
    options: Options
    words: str


@dataclass(frozen=True)
class _Column:
    """A series of the combined data sets: its name, the entry that it comes from, and what reduces it."""

    name: str
    entry: LegendEntry
    reducer: str


def combined(spec: PlotSpec, data: Sequence[Loaded], options: Options) -> Combined:
    """The groups of the data sets as data sets, and the plot and the options with which they are drawn.

    Raises:
        InputError: there is no such mode or reducer, or the data sets cannot be grouped by it.
    """
    data = [one for one in data if one.shown]
    mode = mode_of(options.group_by or spec.group_by or _USUAL.get(spec.kind, "groups"))
    columns = _columns(entries_of(spec, data, replace(options, labels=(), replace={})), spec, options)
    groups = grouped(data, mode, options)
    cutoff = kept_s(spec, options)
    made: Made
    if mode.how in (Grouping.POINTS, Grouping.CONCAT):
        gather = _points if mode.how is Grouping.POINTS else _pooled
        made = [
            (name, {column.name: gather(files, column, spec, options) for column in columns})
            for name, files in groups.items()
        ]
        lines = [(column.name, column.entry.label, column.entry.line) for column in columns]
    else:
        values = {
            (column.name, name): _reduced(files, column, cutoff) for column in columns for name, files in groups.items()
        }
        made, lines = _arranged(values, columns, groups, mode, options)
    named = dict.fromkeys(name for name, _ in made)
    counts = (
        {name: _count(groups, name, options) for name in named}
        if mode.how not in (Grouping.SERIES, Grouping.BOTH)
        else {}
    )
    loaded = [
        Loaded(name, Dataset({COMBINED_KEY: mode.by}, {}, _known(series)), label=f"{name}{counts.get(name, '')}")
        for name, series in made
    ]
    asked = replace(
        spec,
        kind=COMBINING[spec.kind],
        lines=tuple(replace(line, series=name, label=label, key="", reduce="") for name, label, line in lines),
        cutoff_s=None,
        group_by="",
    )
    left = replace(
        options, cutoff_s=None, between_s=None, normalise=(), only=(), hide=(), filters=(), concatenate=False,
        absolute_time=False, label_x=options.label_x or _across(asked.kind, mode), shorten=False,
    )  # fmt: skip
    return Combined(asked, loaded, left, _told(columns, mode))


def _across(kind: PlotKind, mode: Mode) -> str:
    """The words of the horizontal axis; "" for those of the kind."""
    if kind is PlotKind.LINE_COMBINE:
        return mode.key
    if kind is PlotKind.TIMESERIES:
        return {Grouping.POINTS: "Time (s)", Grouping.CONCAT: "Sample"}.get(mode.how, "Run")
    return ""


def _columns(entries: Sequence[LegendEntry], spec: PlotSpec, options: Options) -> list[_Column]:
    """The entries with their reducers, each with a name of its own."""
    found: list[_Column] = []
    for entry in entries:
        reducer = check_reducer(options.reduce or entry.line.reduce or spec.reduce or "mean")
        taken = {column.name for column in found}
        name = entry.name if entry.name not in taken else f"{entry.name} {reducer}"
        if name not in taken:
            found.append(_Column(name, entry, reducer))
    return found


def _reduced(files: Sequence[Loaded], column: _Column, cutoff: tuple[float, float] | None) -> Series:
    """One number of each data set; NaN where it has none."""
    values = [reduce(column.reducer, one.data, column.entry.name, cutoff) / column.entry.divisor for one in files]
    return make_series(column.name, _unit(files, column), np.arange(1.0, len(values) + 1), values)


def _pooled(files: Sequence[Loaded], column: _Column, spec: PlotSpec, options: Options) -> Series:
    """All samples of all data sets; above the least of each where the plot asks for a span."""
    parts = []
    for one in files:
        series = one.data.series.get(column.entry.name)
        if series is not None:
            _, value = cut(series.time_s, series.value, one, spec, options)
            known = value[~np.isnan(value)]
            if column.reducer in ("span", "mean_span") and known.size:
                known = known - series.known.min()
            parts.append(known / column.entry.divisor)
    value = np.concatenate(parts) if parts else np.empty(0)
    return make_series(column.name, _unit(files, column), np.arange(1.0, value.size + 1), value)


def _points(files: Sequence[Loaded], column: _Column, spec: PlotSpec, options: Options) -> Series:
    """One number of all data sets at each common time.

    Raises:
        InputError: the reducer needs more than the values.
    """
    having = [(one, one.data.series[column.entry.name]) for one in files if column.entry.name in one.data.series]
    steps = [one.data.flent.get("STEP_SIZE") for one, _ in having]
    step = next((float(each) for each in steps if isinstance(each, int | float) and each > 0), None)
    times, step_s = common_times([series for _, series in having], step)
    rows = np.array([at_times(series, times, step_s) for _, series in having]).reshape(len(having), times.size)
    if column.reducer not in OF_VALUES:
        raise InputError(f"{spec.name}: {column.reducer} cannot combine values at a time; use {', '.join(OF_VALUES)}")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # NumPy warns of a time without any value, which stays NaN
        if not having:
            value = np.empty(0)
        elif column.reducer in _AT_ONCE:
            value = _AT_ONCE[column.reducer](rows, axis=0)
        else:
            of = OF_VALUES[column.reducer]
            known = [step[~np.isnan(step)] for step in rows.T]
            value = np.array([of(step) if step.size else np.nan for step in known])
    longest = max(files, key=lambda one: one.length_s)
    times, value = cut(times, np.asarray(value), longest, spec, options)
    return make_series(column.name, _unit(files, column), times, value / column.entry.divisor)


Made = list[tuple[str, Mapping[str, Series]]]
Lines = list[tuple[str, str, PlotLine]]


def _arranged(
    values: Mapping[tuple[str, str], Series],
    columns: Sequence[_Column],
    groups: Mapping[str, Sequence[Loaded]],
    mode: Mode,
    options: Options,
) -> tuple[Made, Lines]:
    """What are the data sets, and what their lines: groups and series, or the other way round, or parts of names."""
    if mode.how is Grouping.EACH:
        made: Made = [(name, {column.name: values[column.name, name] for column in columns}) for name in groups]
        return made, [(column.name, column.entry.label, column.entry.line) for column in columns]
    if mode.how is Grouping.SERIES:
        made = [
            (column.entry.label or column.name, {name: _renamed(values[column.name, name], name) for name in groups})
            for column in columns
        ]
        line = columns[0].entry.line if columns else PlotLine("")
        return made, [(name, name + _count(groups, name, options), line) for name in groups]
    if len(columns) != 1:
        raise InputError(f"group_by: both needs a plot of one series, and this one has {len(columns)}; use groups")
    (column,) = columns
    firsts: dict[str, dict[str, Series]] = {}
    for name in groups:
        first, dash, second = name.rpartition("-")
        if not dash:
            raise InputError(f'group_by: both needs names of two parts, as in "A-B", and there is "{name}"; use groups')
        firsts.setdefault(second, {})[first] = _renamed(values[column.name, name], first)
    series = dict.fromkeys(first for found in firsts.values() for first in found)
    return list(firsts.items()), [(first, first, column.entry.line) for first in series]


def _renamed(series: Series, name: str) -> Series:
    return replace(series, name=name)


def _count(groups: Mapping[str, Sequence[Loaded]], name: str, options: Options) -> str:
    return f" (n={len(groups[name])})" if options.print_n and name in groups else ""


def _known(series: Mapping[str, Series]) -> dict[str, Series]:
    """Those that have a value."""
    return {name: one for name, one in series.items() if one.known.size}


def _unit(files: Sequence[Loaded], column: _Column) -> str:
    unit = next((one.data.series[column.entry.name].unit for one in files if column.entry.name in one.data.series), "")
    if column.entry.divisor != 1:
        return ""
    return reducers.unit_of(column.reducer, unit_of(unit, column.entry.key))


def _told(columns: Sequence[_Column], mode: Mode) -> str:
    """The sentence that says which number of a run is drawn."""
    by_reducer: dict[str, list[str]] = {}
    for column in columns:
        by_reducer.setdefault(column.reducer, []).append(column.entry.label or column.name)
    if not columns or mode.how is Grouping.CONCAT:
        return "All samples of a group's runs together" if columns else ""
    of = "of the runs at each time" if mode.how is Grouping.POINTS else "of each run"
    if len(by_reducer) == 1:
        return f"Values: {_words(columns[0].reducer)} {of}"
    parts = [f"{_words(name)} ({', '.join(labels)})" for name, labels in by_reducer.items()]
    return f"Values {of}: {'; '.join(parts)}"


def _words(reducer: str) -> str:
    return _WORDS.get(reducer, reducer.removeprefix("raw_"))
