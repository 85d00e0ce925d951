# SPDX-License-Identifier: BSD-3-Clause
"""The words around a plot: its title, the notes below it, what it shows, and its numbers as a table."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from linklab.base.text import excerpt, one_line
from linklab.netesto.table.cells import CsvCell, CsvRow, key_in, same
from linklab.netesto.table.settings import PlotVariables
from linklab.plots.bar_groups import Bar, BarSeries, GroupedBars


@dataclass(frozen=True)
class DrawnColumns:
    """Which columns are drawn; series: "" for none; chosen: (`key_in` of the value, label) of each, in order."""

    x: str
    bars: str
    marks: Sequence[str]
    series: str
    chosen: Sequence[tuple[object, str]]


_SET = ("expName", "test", "testType", "testNote", "desc", "ca", "req", "reply", "dur", "delay", "instances")
_SET_MORE = ("netem", "qdisc", "bw", "buffers", "ecn", "host", "server", "kernel")
"""Columns of what was set, and not of what was measured: rows of one bar should not differ in them."""


def notes_of(
    rows: Sequence[CsvRow], drawn: DrawnColumns, shared: int, series: Sequence[BarSeries], settings: PlotVariables
) -> list[str]:
    """How to read the plot."""
    notes = []
    with_interval = any(
        bar is not None and not math.isnan(bar.low) for one in series for bars in (one.bars, *one.marks) for bar in bars
    )
    if with_interval:
        notes.append("Lines: 95 % interval of the mean of the rows that were joined.")
        if any(_is_cut(bar) for one in series for bars in (one.bars, *one.marks) for bar in bars):
            notes.append("One that would reach below 0 is cut there, because no value is below 0.")
        if _dependent(rows, drawn):
            notes.append(
                "Some of these rows are groups of one experiment and depend on each other, so their lines are too "
                "short; Select=exp[has].0 takes whole experiments."
            )
    if shared > 1:
        differ = [
            column
            for column in (*_SET, *_SET_MORE)
            if column in rows[0].cells and column not in (drawn.x, drawn.series) and _differs(rows, drawn, column)
        ]
        which = f", which differ in {', '.join(differ)}" if differ else ""
        notes.append(f"A bar is the mean of up to {shared} rows{which}.")
    for axis, name in ((1, "left"), (2, "right")):
        minimum = settings.number(f"Y{axis}min")
        if axis == 1 and minimum is not None and minimum > 0:
            notes.append(f"The {name} axis does not begin at 0.")
    return notes


def _is_cut(bar: Bar | None) -> bool:
    """Whether the interval of a bar ends at 0 and would have gone on."""
    return bar is not None and bar.low == 0 and bar.high > 2 * bar.value * (1 + 1e-9)


def _differs(rows: Sequence[CsvRow], drawn: DrawnColumns, column: str) -> bool:
    """Whether rows that share a bar have several values in a column."""
    found: dict[object, CsvCell] = {}
    cells = ((_bar_of(row, drawn), row.cells[column]) for row in rows)
    return any(not same(found.setdefault(bar, cell), cell) for bar, cell in cells)


def _bar_of(row: CsvRow, drawn: DrawnColumns) -> object:
    """Which bar a row belongs to."""
    return tuple(key_in(column, row.cells[column]) for column in (drawn.x, drawn.series) if column)


def _dependent(rows: Sequence[CsvRow], drawn: DrawnColumns) -> bool:
    """Whether a bar is of several rows of the same experiment."""
    found: dict[object, list[tuple[str, str]]] = {}
    for row in rows:
        found.setdefault(_bar_of(row, drawn), []).extend(row.members)
    return any(len(set(members)) < len(members) for members in found.values())


def titles_of(settings: PlotVariables, drawn: DrawnColumns) -> list[str]:
    """The lines of the title."""
    columns = " and ".join(map(excerpt, (drawn.bars, *drawn.marks)))
    lines = settings.text("plotTitle", f"{columns} by {excerpt(drawn.x)}").split("|")
    return [one_line(line) for line in lines if line.strip()]


def numbers_of(drawing: GroupedBars, drawn: DrawnColumns) -> tuple[list[str], list[list[str]]]:
    """What is drawn, as a table: a row for each bar."""
    labels = [drawing.left.label, *([drawing.right.label] * len(drawn.marks) if drawing.right else [])]
    columns = [drawn.bars, *drawn.marks]
    head = [drawing.x_label or drawn.x, *([drawing.series_title] if drawn.series else [])]
    for label, column in zip(labels, columns, strict=True):
        head += [column if label == column else f"{column}: {label}", "95 % interval"]
    rows = []
    for group, (name, _) in enumerate(drawing.groups):
        for one in drawing.series:
            row = [name, *([one.name] if drawn.series else [])]
            for bar in (one.bars[group], *(marks[group] for marks in one.marks)):
                row += _cells(bar)
            if any(row[1 + bool(drawn.series) :]):
                rows.append(row)
    known = [index for index in range(len(head)) if any(row[index] for row in rows)]
    return [head[index] for index in known], [[row[index] for index in known] for row in rows]


def _cells(bar: Bar | None) -> list[str]:
    if bar is None:
        return ["", ""]
    ends = "" if math.isnan(bar.low) else f"{bar.low:.4g} to {bar.high:.4g}"
    return [f"{bar.value:.6g}", ends]


def words_of(drawing: GroupedBars, drawn: DrawnColumns) -> str:
    """What a reader who does not see the plot is told; the numbers follow it on the page."""
    series = f", a bar for each of {', '.join(one.name for one in drawing.series[:12])}" if drawn.series else ""
    marks = f"; marks on the right axis: {drawing.right.label}" if drawing.right else ""
    title = ", ".join(drawing.title)
    return f"{title}. Bars: {drawing.left.label} by {drawing.x_label}{series}{marks}. The numbers follow the plot."
