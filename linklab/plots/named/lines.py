# SPDX-License-Identifier: BSD-3-Clause
"""A plot's lines and several data sets → the series to be drawn: chosen, named, cut, smoothed.

What is chosen is decided by patterns (`linklab.data.names`) over the series of all data sets together, so that one
entry has the same look in each of them.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from linklab.analysis.reducers import CONGESTION
from linklab.base.text import excerpt
from linklab.data.names import SEPARATOR, is_pattern, matching
from linklab.data.table import smoothed
from linklab.data.times import seconds_of
from linklab.errors import InputError
from linklab.measure.series import FloatArray
from linklab.plots.named.loaded import Loaded
from linklab.plots.named.options import Options
from linklab.plots.named.words import unit_of, wanted, without_common
from linklab.plots.spec import PlotLine, PlotSpec

MOST_ENTRIES = 2000

LARGEST = 1e30
"""No axis reaches further; what lies beyond is left out."""


@dataclass(frozen=True)
class LegendEntry:
    """One series of a plot, as all data sets may have it.

    name: of the series in the data set.
    key: its further number, without the series; "" for the series itself.
    line: of the plot, from which it comes.
    """

    name: str
    key: str
    label: str
    line: PlotLine
    divisor: float = 1.0


@dataclass(frozen=True, eq=False)
class DrawnLine:
    """An entry of one data set, ready to be drawn.

    entry, file: their numbers, from 0, which decide the looks.
    time_s: `(n,)` s since the beginning of the test, or since 1970.
    value: `(n,)` in `unit`, NaN in gaps.
    """

    entry: int
    file: int
    of: LegendEntry
    unit: str
    time_s: FloatArray
    value: FloatArray
    shown: bool = True

    @cached_property
    def extent(self) -> tuple[float, float]:
        """The least and the greatest value."""
        return extent_of(self.value)

    @cached_property
    def known(self) -> FloatArray:
        """The values without gaps."""
        # most series have none, and a copy of each would take longer than to draw them
        return self.value[~np.isnan(self.value)] if np.isnan(np.min(self.value)) else self.value


def entries_of(spec: PlotSpec, data: Sequence[Loaded], options: Options) -> list[LegendEntry]:
    """The series that the plot asks for and that a data set has, in the order of the plot's lines."""
    names = list(dict.fromkeys(name for one in data for name in one.names))
    found: list[LegendEntry] = []
    for line in spec.lines:
        found += _expanded(line, names, data)
        if len(found) > MOST_ENTRIES:  # a stranger's plot may ask for everything a thousand times
            break
    if options.only:
        keep = {name for pattern in options.only for name in matching(pattern, [entry.name for entry in found])}
        found = [entry for entry in found if entry.name in keep]
    for pattern in options.hide:
        away = set(matching(pattern, [entry.name for entry in found]))
        found = [entry for entry in found if entry.name not in away]
    found = _with_algorithms(found[:MOST_ENTRIES], data)
    if len(data) == 1:
        found = [_relabelled(entry, number, options) for number, entry in enumerate(found)]
    factors = options.normalise
    return [
        replace(entry, label=wanted(entry.label, options), divisor=factors[number % len(factors)] if factors else 1.0)
        for number, entry in enumerate(found)
    ]


def _with_algorithms(entries: list[LegendEntry], data: Sequence[Loaded]) -> list[LegendEntry]:
    """The entries with their flows' congestion control, where flows differ in it and their names do not say it."""
    known = [algorithm_of(data, entry.name.removesuffix(f"{SEPARATOR}{entry.key}")) for entry in entries]
    if len({algorithm for algorithm in known if algorithm}) < 2:
        return entries
    return [
        replace(entry, label=f"{entry.label} ({algorithm})") if algorithm.lower() not in entry.label.lower() else entry
        for entry, algorithm in zip(entries, known, strict=True)
    ]


def algorithm_of(data: Sequence[Loaded], name: str) -> str:
    """The congestion control of a flow, if all data sets that have the flow say the same; else ""."""
    found = {one.data.series[name].meta.get(CONGESTION) for one in data if name in one.data.series}
    algorithm = found.pop() if len(found) == 1 else None
    return excerpt(algorithm) if isinstance(algorithm, str) else ""


def _relabelled(entry: LegendEntry, number: int, options: Options) -> LegendEntry:
    own = options.labels[number] if number < len(options.labels) else ""
    return replace(entry, label=own) if own else entry


def _expanded(line: PlotLine, names: Sequence[str], data: Sequence[Loaded]) -> list[LegendEntry]:
    """The entries of one line: its pattern may match several series, and its key several numbers of each."""
    matched = matching(line.series, names) or _further(line.series, data)
    pairs = [(name, key) for name in matched for key in (_keys(line.key, name, data) if line.key else [""])]
    if not pairs:
        return []
    # "TCP upload::1" of "TCP upload::*" is "1"; of one name alone nothing is left out
    short = without_common([name for name, _ in pairs], both_ends=False)
    several = len(pairs) > 1 or is_pattern(line.series)
    keys = {key for _, key in pairs}
    entries = []
    for (name, key), rest in zip(pairs, short, strict=True):
        words = [line.label] if line.label else []
        if several or not line.label:
            words.append(rest if len(pairs) > 1 else _beyond(line.series, name) if line.label else name)
        if key and len(keys) > 1:
            words.append(key)
        label = " ".join(filter(None, words))
        entries.append(LegendEntry(f"{name}{SEPARATOR}{key}" if key else name, key, label, line))
    return entries


def _beyond(pattern: str, name: str) -> str:
    """What the name has beyond the whole words that the pattern begins with: "ICMP" for "Ping (ms) *"."""
    fixed = re.split(r"[*?\[]", pattern, maxsplit=1)[0]
    words = re.match(r".*[ :]" if name[len(fixed) : len(fixed) + 1].isalnum() else r".*", fixed)
    return name.removeprefix(words[0] if words else "").strip(" :")


def _further(name: str, data: Sequence[Loaded]) -> list[str]:
    """A further number that is named in full, such as "TCP upload::1::tcp_cwnd"."""
    return [name] if any(name in one.data.series for one in data) else []


def _keys(pattern: str, name: str, data: Sequence[Loaded]) -> list[str]:
    start = name + SEPARATOR
    found = dict.fromkeys(key.removeprefix(start) for one in data for key in one.data.series if key.startswith(start))
    return matching(pattern, found)


def drawn_of(
    entries: Sequence[LegendEntry], spec: PlotSpec, data: Sequence[Loaded], options: Options, *, smooth: bool = True
) -> list[DrawnLine]:
    """Each entry of each data set that has values of it, cut and smoothed as asked; entry by entry.

    Raises:
        InputError: absolute time of a data set that does not say when it began.
    """
    found = []
    moved = _offsets(data, options)
    for number, entry in enumerate(entries):
        for file, one in enumerate(data):
            series = one.data.series.get(entry.name)
            if series is None or not len(series):
                continue
            time_s, value = cut(series.time_s, series.value, one, spec, options)
            if entry.divisor != 1:
                value = value / entry.divisor
            low, high = extent_of(value)
            if low < -LARGEST or high > LARGEST:
                value = np.where(np.abs(value) > LARGEST, np.nan, value)
                low, high = extent_of(value)
            width = entry.line.smoothing if options.smoothing is None else options.smoothing
            if smooth and width > 1:
                value = smoothed(value, width)
            if math.isnan(low):  # it has no value
                continue
            unit = unit_of(series.unit, entry.key)
            if options.normalise:
                unit = ""
            time_s = time_s + moved[file] if moved[file] else time_s
            found.append(DrawnLine(number, file, entry, unit, time_s, value, one.shown))
    return _joined(found) if options.concatenate else found


def extent_of(value: FloatArray) -> tuple[float, float]:
    """The least and the greatest of values in which NaN is a gap; NaN if there is none."""
    if not value.size:
        return math.nan, math.nan
    low, high = float(np.min(value)), float(np.max(value))
    return (float(np.fmin.reduce(value)), float(np.fmax.reduce(value))) if math.isnan(low) else (low, high)


def cut(
    time_s: FloatArray, value: FloatArray, one: Loaded, spec: PlotSpec, options: Options
) -> tuple[FloatArray, FloatArray]:
    """The part of a series that is left when beginning and end are cut off."""
    kept = kept_s(spec, options)
    if kept is None:
        return time_s, value
    start_s, end_s = kept[0], kept[1] if kept[1] > 0 else kept[1] + one.length_s
    first, last = np.searchsorted(time_s, start_s), np.searchsorted(time_s, end_s, side="right")
    return time_s[first:last], value[first:last]


def kept_s(spec: PlotSpec, options: Options) -> tuple[float, float] | None:
    """Which part of a test counts, as `linklab.analysis.cut` has it; None for all."""
    if options.between_s is not None:
        return options.between_s if options.between_s[1] else (options.between_s[0], math.inf)
    lengths = options.cutoff_s or spec.cutoff_s
    if lengths is None or lengths == (0.0, 0.0):
        return None
    return lengths[0], -lengths[1] or math.inf


def kept_words(spec: PlotSpec, options: Options) -> str:
    """Which part of a test counts, in words; "" for all of it."""
    kept = kept_s(spec, options)
    if kept is None:
        return ""
    start_s, end_s = kept
    until = "the end" if math.isinf(end_s) else f"{end_s:g} s" if end_s > 0 else f"{-end_s:g} s before the end"
    return f"Only from {start_s:g} s to {until}"


def _offsets(data: Sequence[Loaded], options: Options) -> list[float]:
    """What to add to the times of each data set, s."""
    if options.absolute_time:
        starts = []
        for one in data:
            moment = one.data.flent.get("T0") or one.data.flent.get("TIME")
            if not moment:
                raise InputError(f"{one.name}: it does not say when it began; leave out the absolute time")
            starts.append(seconds_of(moment))
        return starts
    if options.concatenate:
        return [0.0, *np.cumsum([one.length_s for one in data])[:-1].tolist()]
    return [0.0] * len(data)


def _joined(found: Sequence[DrawnLine]) -> list[DrawnLine]:
    """The data sets of each entry as one, with a gap between two."""
    entries: dict[int, list[DrawnLine]] = {}
    for one in found:
        entries.setdefault(one.entry, []).append(one)
    joined = []
    for parts in entries.values():
        times, values = [parts[0].time_s], [parts[0].value]
        for part in parts[1:]:
            times += [part.time_s[:1], part.time_s]
            values += [np.array([np.nan]), part.value]
        joined.append(replace(parts[0], file=0, time_s=np.concatenate(times), value=np.concatenate(values)))
    return joined


def file_labels(data: Sequence[Loaded], options: Options) -> list[str]:
    """How each data set is called: as asked, else by title (or name without one) if these differ; made shorter."""
    titles = [one.title for one in data]
    own = [one.title or one.stem for one in data]
    if not any(titles) or len(set(own)) < len(own):
        own = [one.stem for one in data]
    short = without_common(own) if options.shorten else own
    short = [one.label or label for one, label in zip(data, short, strict=True)]
    given = options.labels if len(data) > 1 else ()
    return [
        wanted(given[number] if number < len(given) and given[number] else label, options)
        for number, label in enumerate(short)
    ]
