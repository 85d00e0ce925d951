# SPDX-License-Identifier: BSD-3-Clause
"""`linklab test summary FILE…`: mean, median, 99th percentile of each series; over repetitions means with intervals."""

from __future__ import annotations

import argparse
import math
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from linklab.base.text import one_line
from linklab.commands.test_tables import (
    NONE,
    Cell,
    TableGrid,
    add_choice,
    as_csv,
    as_json,
    as_org,
    as_text,
    choice_of,
    number,
    read,
)

if TYPE_CHECKING:
    from linklab.analysis.statistics import Interval
    from linklab.data import Dataset
    from linklab.experiment.tables import Source, Summary, TableChoice, TableRow

LOSS = "raw_seq_loss"
HEADINGS = {"pct99": "99th %", "std": "std dev", "var": "variance", "cumsum": "total", LOSS: "loss"}
"""Reducer → its column, where that is not its name."""

_DECIMALS = 4
_ROUNDING = 1e-9
"""Half an interval that is a smaller share of the value is rounding, and shown as 0."""

MOST_SEEDS = 8
"""That a heading names."""

_EPILOG = """examples:
  linklab test summary rrul.flent.gz
  linklab test summary rrul.flent.gz --cutoff 5,65 --series "Ping*" --reduce mean --reduce mean_span
  linklab test summary runs/*.flent.gz            files of one test on one path are repetitions
  linklab test summary runs/*.flent.gz --each     each file by itself
  linklab test summary voip.flent.gz --reduce mos --reduce raw_seq_loss --format csv

Of repetitions each number is the mean over the runs with its 95 % interval, n counts the runs, and the heading says
how many of them measured something different: runs of other seeds that are all the same say no more than one of them.
Reducers: mean, median, min, max, std, var, pct99, span, mean_span (induced latency), mean_zero, cumsum, raw_seq_loss,
mos, fairness, fairness_mean, raw_mean and the like, and meta:KEY. docs/tests.md, "Numbers", says what each is.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add `FILE…` and the options of tables."""
    add_choice(parser)
    parser.add_argument("--each", action="store_true", help="a table for each file, also of repetitions")
    parser.epilog = _EPILOG


def run(args: argparse.Namespace) -> int:
    """Print a table for each group of repetitions."""
    from linklab.experiment.tables import SUMMARY

    return show(args, SUMMARY, each=args.each)


def show(args: argparse.Namespace, reducers: Sequence[str], *, each: bool) -> int:
    """Print the tables of all files, with these columns unless the options name others."""
    from linklab.experiment.tables import repetitions, summarise

    choice = choice_of(args, reducers)
    for_people = args.format in ("table", "org")
    sources = read(args.files)
    groups = [[source] for source in sources] if each else repetitions(sources)
    found = [_summarised(group, choice) if for_people else summarise(group, choice) for group in groups]
    match args.format:
        case "json":
            print(as_json([_as_object(one, choice) for one in found]), end="")
        case "csv":
            print(as_csv(_flat(found, choice)), end="")
        case form:
            write = as_org if form == "org" else as_text
            print("\n".join(f"{one_line(heading(one, choice))}\n{write(_grid(one))}" for one in found), end="")
    return 0


def text_of(name: str, data: Dataset) -> str:
    """The summary of one data set, as people read it."""
    from linklab.experiment.tables import Source, TableChoice

    choice = TableChoice()
    found = _summarised([Source(name, data)], choice)
    return f"{one_line(heading(found, choice))}\n{as_text(_grid(found))}"


def _summarised(group: Sequence[Source], choice: TableChoice) -> Summary:
    """The table of a group; the usual one for people also has the loss, if there was any."""
    from linklab.analysis.reducers import UNKNOWN
    from linklab.analysis.statistics import interval
    from linklab.data.names import SEPARATOR
    from linklab.experiment.tables import SUMMARY, summarise

    if choice.reducers != SUMMARY:
        return summarise(group, choice)
    found = summarise(group, replace(choice, reducers=(*SUMMARY, LOSS)))
    if not any(one.value > 0 for row in found.rows for one in (row.values or row.intervals)[-1:]):
        return summarise(group, choice)
    # what is said beside packets, such as "VoIP::delay", has their loss, which is shown once
    unknown = {
        row.series: replace(row, values=(*row.values[:-1], UNKNOWN), intervals=(*row.intervals[:-1], interval([])))
        for row in found.rows
        if not row.series.rpartition(SEPARATOR)[2].isdecimal() and SEPARATOR in row.series
    }
    return replace(found, rows=tuple(unknown.get(row.series, row) for row in found.rows))


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


def _grid(summary: Summary) -> TableGrid:
    """The table as people read it; with the algorithms of flows, if they differ."""
    names = [HEADINGS.get(reducer, reducer) for reducer in summary.reducers]
    differ = len({row.algorithm for row in summary.rows if row.algorithm}) > 1
    rows = []
    for row in summary.rows:
        if summary.repeated:
            cells = [_mean(reducer, one) for reducer, one in zip(summary.reducers, row.intervals, strict=True)]
        else:
            cells = [_value(row, reducer, one.value) for reducer, one in zip(summary.reducers, row.values, strict=True)]
        rows.append((row.series, *cells, row.n, row.unit, *([row.algorithm] if differ else [])))
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
    """A mean and half its interval, of which two digits count where four decimals can show them."""
    if one.n == 0 or math.isnan(one.value):
        return NONE
    half = 0.0 if one.half < _ROUNDING * abs(one.value) else one.half
    if not half > 0 or math.isinf(half):
        return f"{number(one.value)} ± {number(half)}"
    decimals = min(_DECIMALS, max(2, 1 - math.floor(math.log10(half))))
    shown = f"{half:.{decimals}f}" if half >= 10**-_DECIMALS else f"{half:.1g}"
    return f"{one.value:.{decimals}f} ± {shown}"


def _flat(found: Sequence[Summary], choice: TableChoice) -> TableGrid:
    """All tables as one, for programs: a row for each series of each file, or of each group of repetitions."""
    if any(one.repeated for one in found):
        ends = [f"{reducer}{end}" for reducer in choice.reducers for end in ("", "_low", "_high")]
        headings = ("test", "title", "files", "series", "unit", "algorithm", "runs", "distinct_outcomes", *ends)
    else:
        headings = ("file", "title", "series", "unit", "algorithm", "n", "datapoints", *choice.reducers)
    return TableGrid(headings, tuple(cells for one in found for cells in _rows(one, len(headings), choice)))


def _rows(summary: Summary, width: int, choice: TableChoice) -> list[tuple[Cell, ...]]:
    first = summary.sources[0]
    title = str(first.data.flent.get("TITLE") or "")
    rows: list[tuple[Cell, ...]] = []
    for row in summary.rows:
        ends: list[Cell] = []
        if width == len(choice.reducers) + 7:
            known = (first.name, title, row.series, row.unit, row.algorithm, row.n, row.rows)
            rows.append((*known, *(one.value for one in row.values)))
            continue
        for one in row.intervals:
            ends += [one.value, one.low, one.high]
        for value in row.values:  # a run that has no repetitions
            ends += [value.value, None, None]
        name = str(first.data.flent.get("NAME") or "")
        files = " ".join(source.name for source in summary.sources)
        runs = row.n if summary.repeated else 1
        rows.append((name, title, files, row.series, row.unit, row.algorithm, runs, summary.outcomes, *ends))
    return rows


def _as_object(summary: Summary, choice: TableChoice) -> dict[str, Any]:
    first = summary.sources[0].data
    found: dict[str, Any] = {
        "test": first.flent.get("NAME"),
        "path": first.metadata.get("path"),
        "title": first.flent.get("TITLE"),
        "files": [source.name for source in summary.sources],
        "seeds": [source.data.metadata.get("seed") for source in summary.sources],
        "cutoff": choice.cutoff,
    }
    if summary.repeated:
        found |= {"runs": len(summary.sources), "distinct_outcomes": summary.outcomes, "level": 0.95}
    return found | {"series": [_row_object(row, choice) for row in summary.rows]}


def _row_object(row: TableRow, choice: TableChoice) -> dict[str, Any]:
    found: dict[str, Any] = {"series": row.series, "unit": row.unit, "n": row.n}
    found |= {"algorithm": row.algorithm} if row.algorithm else {}
    if row.intervals:
        found["distinct"] = row.distinct
        for reducer, one in zip(choice.reducers, row.intervals, strict=True):
            found[reducer] = {"mean": one.value, "low": one.low, "high": one.high, "n": one.n}
        return found
    found["datapoints"] = row.rows
    return found | {reducer: one.value for reducer, one in zip(choice.reducers, row.values, strict=True)}
