# SPDX-License-Identifier: BSD-3-Clause
"""What a table script gives: tables and plots in their order, before a page is made of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from linklab.netesto.lines import ScriptProblem
from linklab.netesto.table.cells import CsvRow
from linklab.netesto.table.chart import ScriptChart


@dataclass(frozen=True)
class TableItem:
    """A table.

    columns: in their order.
    decimals: of the columns that have a number of them; the others show their cells as they are written.
    change: the column at whose changes a new band of rows begins; "" for none.
    """

    columns: Sequence[str]
    rows: Sequence[CsvRow]
    decimals: Mapping[str, int]
    change: str = ""


@dataclass(frozen=True)
class PlotItem:
    """A plot; name: of the file that it is written to beside the page, "" for none."""

    chart: ScriptChart
    name: str = ""


@dataclass(frozen=True)
class Links:
    """Where the cells of `exp` lead.

    given: folders that the script names (relPath, Path), relative to the page.
    file: in the folder of each experiment.
    first: the folder of the exp.csv that `given` is meant for, as text.
    """

    given: Sequence[str] = ()
    file: str = "exp.html"
    first: str = ""


@dataclass(frozen=True)
class TablePage:
    """All of it.

    sources: the files that it is made of.
    said: what a person should know, with its place; the page is made in spite of it.
    log: (name, lines) of the log that the script asks for; None if it asks for none.
    """

    items: Sequence[TableItem | PlotItem]
    sources: Sequence[Path]
    links: Links
    said: Sequence[ScriptProblem]
    log: tuple[str, Sequence[str]] | None = None
