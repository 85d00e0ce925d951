# SPDX-License-Identifier: BSD-3-Clause
"""`linklab test csv FILE…`: the series at common times, or their samples at their own, for other programs."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING

from linklab.commands.test_tables import add_choice, choice_of, read
from linklab.experiment.table_grid import TableGrid, as_csv, as_json, as_org, as_text

if TYPE_CHECKING:
    from linklab.experiment.tables import Source, TableChoice

_EPILOG = """examples:
  linklab test csv rrul.flent.gz > rrul.csv
  linklab test csv rrul.flent.gz --series "TCP upload*" --cutoff 5,65
  linklab test csv fifo.flent.gz codel.flent.gz --series "Ping (ms) avg"     side by side
  linklab test csv rrul.flent.gz --samples --series "**::tcp_cwnd"

The first column is the time in seconds since the test began; an empty cell is a gap. With --samples each sample is a
row, at the time at which it was measured.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add `FILE…` and the options of tables."""
    add_choice(parser, default="csv", reduce=False)
    parser.add_argument("--samples", action="store_true", help="the samples at their own times, a row each")
    parser.epilog = _EPILOG


def run(args: argparse.Namespace) -> int:
    """Print the table."""
    choice = choice_of(args, ())
    sources = read(args.files)
    grid = _samples(sources, choice) if args.samples else _columns(sources, choice)
    match args.format:
        case "json":
            named = [dict(zip(grid.headings, row, strict=True)) for row in grid.rows]
            print(as_json(named), end="")
        case "org":
            print(as_org(grid), end="")
        case "table":
            print(as_text(grid), end="")
        case _:
            print(as_csv(grid), end="")
    return 0


def _columns(sources: Sequence[Source], choice: TableChoice) -> TableGrid:
    from linklab.experiment.tables import columns

    found = columns(sources, choice)
    parts = [found.times.tolist(), *(column.tolist() for column in found.values)]
    return TableGrid(("time_s", *found.names), tuple(zip(*parts, strict=True)))


def _samples(sources: Sequence[Source], choice: TableChoice) -> TableGrid:
    from linklab.experiment.tables import sample_rows

    return TableGrid(("file", "series", "unit", "time_s", "value"), tuple(sample_rows(sources, choice)))
