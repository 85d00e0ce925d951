# SPDX-License-Identifier: BSD-3-Clause
"""`linklab test summary FILE…`: mean, median, 99th percentile of each series; over repetitions means with intervals."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from linklab.base.text import one_line
from linklab.commands.test_tables import add_choice, choice_of, read
from linklab.experiment.table_grid import Cell, TableGrid, as_csv, as_json, as_org

if TYPE_CHECKING:
    from linklab.experiment.tables import Summary, TableChoice, TableRow

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
    from linklab.experiment.summary import grid, heading, printed, summary_of
    from linklab.experiment.tables import repetitions, summarise

    choice = choice_of(args, reducers)
    for_people = args.format in ("table", "org")
    sources = read(args.files)
    groups = [[source] for source in sources] if each else repetitions(sources)
    found = [summary_of(group, choice) if for_people else summarise(group, choice) for group in groups]
    match args.format:
        case "json":
            print(as_json([_as_object(one, choice) for one in found]), end="")
        case "csv":
            print(as_csv(_flat(found, choice)), end="")
        case "org":
            print("\n".join(f"{one_line(heading(one, choice))}\n{as_org(grid(one))}" for one in found), end="")
        case _:
            print("\n".join(printed(one, choice) for one in found), end="")
    return 0


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
