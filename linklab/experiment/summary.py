# SPDX-License-Identifier: BSD-3-Clause
"""The table of a run or of its repetitions as people read it, in `linklab test summary` and in the viewer."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from linklab.analysis.reducers import DERIVED_FROM, UNKNOWN
from linklab.analysis.statistics import Interval, interval
from linklab.base.text import one_line
from linklab.data import Dataset
from linklab.data.names import SEPARATOR
from linklab.experiment.summary_notes import notes
from linklab.experiment.table_grid import ALIKE, NONE, Cell, TableGrid, as_text, number, spelt
from linklab.experiment.tables import SUMMARY, Source, Summary, TableChoice, TableRow, summarise

LOSS = "raw_seq_loss"
HEADINGS = {"pct99": "99th %", "std": "std dev", "var": "variance", "cumsum": "total", LOSS: "loss"}
"""Reducer → its column, where that is not its name."""

_DECIMALS = 4
_ROUNDING = 1e-9
"""Half an interval that is a smaller share of the value is rounding, and shown as 0."""

MOST_SEEDS = 8
"""That a heading names."""


def text_of(name: str, data: Dataset) -> str:
    """The summary of one data set, as people read it."""
    choice = TableChoice()
    found = summary_of([Source(name, data)], choice)
    return printed(found, choice)


def printed(found: Summary, choice: TableChoice) -> str:
    """A table with what it is of above it, and what one has to know to read it below."""
    below = "".join(f"{one_line(sentence)}\n" for sentence in notes(found, choice))
    return f"{one_line(heading(found, choice))}\n{as_text(grid(found))}{below}"


def summary_of(group: Sequence[Source], choice: TableChoice) -> Summary:
    """The table of a group; the usual one for people also has the loss, if there was any."""
    if choice.reducers != SUMMARY:
        return summarise(group, choice)
    found = summarise(group, replace(choice, reducers=(*SUMMARY, LOSS)))
    if not any(one.value > 0 for row in found.rows for one in (row.values or row.intervals)[-1:]):
        found = summarise(group, choice)
        return replace(found, rows=tuple(row for row in found.rows if not _of_one_flow(group, row, choice)))
    # what is said beside packets, such as "VoIP::delay", has their loss, which is shown once
    unknown = {
        row.series: replace(row, values=(*row.values[:-1], UNKNOWN), intervals=(*row.intervals[:-1], interval([])))
        for row in found.rows
        if not row.series.rpartition(SEPARATOR)[2].isdecimal() and SEPARATOR in row.series
    }
    rows = (unknown.get(row.series, row) for row in found.rows)
    return replace(found, rows=tuple(row for row in rows if not _of_one_flow(group, row, choice)))


def _of_one_flow(group: Sequence[Source], row: TableRow, choice: TableChoice) -> bool:
    """Whether it is the fairness of a flow to itself, which nobody asked for."""
    found = (source.data.series.get(row.series) for source in group)
    return not choice.patterns and all(
        one is not None and "CONVENTION" in one.meta and len(one.meta.get(DERIVED_FROM, ())) == 1 for one in found
    )


def heading(summary: Summary, choice: TableChoice) -> str:
    """What a table is of: test, path, title, runs, what was cut."""
    first = summary.sources[0]
    data = first.data
    words = [str(data.flent.get("NAME") or data.metadata.get("slug") or "data")]
    words += [str(word) for word in (data.metadata.get("path"), data.flent.get("TITLE")) if word]
    if summary.repeated:
        words.append(f"{len(summary.sources)} runs{_seeds(summary.sources)}")
        words.append(f"{summary.outcomes} distinct outcome{'s' if summary.outcomes > 1 else ''}")
    else:
        words.append(first.name)
    if choice.cutoff is not None:
        words.append(_cut(*choice.cutoff))
    if choice.smooth > 1:
        words.append(f"smoothed over {choice.smooth} values")
    return ", ".join(words)


def _cut(start: float, end: float) -> str:
    until = f"{end:g} s" if end > 0 else "the end" if end == 0 else f"{-end:g} s before the end"
    return f"from {start:g} s to {until}"


def _seeds(sources: Sequence[Source]) -> str:
    """The seeds of the runs in words, if all are known."""
    found = [source.data.metadata.get("seed") for source in sources]
    seeds = sorted({seed for seed in found if isinstance(seed, int)})
    if not all(isinstance(seed, int) for seed in found):
        return ""
    if len(seeds) > 2 and seeds == list(range(seeds[0], seeds[0] + len(seeds))):
        return f" (seeds {seeds[0]} to {seeds[-1]})"
    if len(seeds) == 2:
        return f" (seeds {seeds[0]} and {seeds[1]})"
    shown = ", ".join(map(str, seeds[:MOST_SEEDS])) + (", …" if len(seeds) > MOST_SEEDS else "")
    return f" (seed{'s' if len(seeds) > 1 else ''} {shown})"


def grid(summary: Summary) -> TableGrid:
    """The table as people read it; with the algorithms of flows, if they differ."""
    names = [HEADINGS.get(reducer, reducer) for reducer in summary.reducers]
    differ = len({row.algorithm for row in summary.rows if row.algorithm}) > 1
    rows = []
    for row in summary.rows:
        if summary.repeated:
            cells = [_mean(reducer, one) for reducer, one in zip(summary.reducers, row.intervals, strict=True)]
        else:
            cells = [_value(row, reducer, one.value) for reducer, one in zip(summary.reducers, row.values, strict=True)]
        rows.append((row.series, *cells, row.n, spelt(row.unit), *([row.algorithm] if differ else [])))
    return TableGrid(("series", *names, "n", "unit", *(["algorithm"] if differ else [])), tuple(rows))


def _mean(reducer: str, one: Interval) -> Cell:
    """The mean over repetitions with its interval."""
    if reducer != LOSS or math.isnan(one.value):
        return with_interval(one)
    percent = replace(one, value=100 * one.value, low=100 * one.low, high=100 * one.high)
    return f"{with_interval(percent)} %"


def _value(row: TableRow, reducer: str, value: float) -> Cell:
    """A total is one of rates only: of round-trip times it says nothing. A loss is in percent."""
    if reducer == LOSS:
        return NONE if math.isnan(value) else f"{number(100 * value)} %"
    return None if reducer == "cumsum" and not row.unit.endswith("/s") else value


def with_interval(one: Interval) -> str:
    """A mean and half its interval, of which two digits count where four decimals can show them.

    Of runs that are all the same there is no interval: more of them say nothing of how much a different one differs.
    """
    if one.n == 0 or math.isnan(one.value):
        return NONE
    half = 0.0 if one.half < _ROUNDING * abs(one.value) else one.half
    if half == 0 and one.n > 1:
        return f"{number(one.value)}{ALIKE}"
    if not half > 0 or math.isinf(half):
        return f"{number(one.value)} ± {number(half)}"
    decimals = min(_DECIMALS, max(2, 1 - math.floor(math.log10(half))))
    shown = f"{half:.{decimals}f}" if half >= 10**-_DECIMALS else f"{half:.1g}"
    return f"{one.value:.{decimals}f} ± {shown}"
