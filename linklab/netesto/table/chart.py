# SPDX-License-Identifier: BSD-3-Clause
"""Rows and the variables of a plot → the bars of `linklab.plots.grouped_bars`, and the same numbers as a table.

Rows with the same x and the same series share a bar, which is their mean; a note below the plot says so, with the
columns that they differ in. Where `Average` joined several rows, or rows share a bar, a line shows the 95 % interval of
the mean (Student's t over these rows). A cell that is not a number is left out.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from linklab.analysis.statistics import interval
from linklab.base.text import excerpt, one_line
from linklab.netesto.table.cells import ITERATION, CsvCell, CsvRow, cell_of, key_in, number_in, order_in
from linklab.netesto.table.chart_words import DrawnColumns, notes_of, numbers_of, titles_of, words_of
from linklab.netesto.table.column_names import column_of
from linklab.netesto.table.located import Located
from linklab.netesto.table.settings import PlotVariables, units_of
from linklab.plots.bar_groups import Bar, BarAxis, BarSeries, GroupedBars
from linklab.plots.grouped_bars import MOST_BARS
from linklab.plots.style import ONE_COLUMN_IN

MOST_SECOND = 2
"""Columns of the second axis."""

_MOST_LABEL = 40
"""Letters of a value of x or of a series; the rest is an ellipsis."""

_PIXELS = (1300, 650)
_PIXELS_AN_INCH = 150
_AXIS_IN, _MARGIN_IN = 6.5, 1.0
_LOG_FROM = 100.0
"""Largest over least value from which on `auto` makes an axis logarithmic."""


@dataclass(frozen=True)
class ScriptChart:
    """A figure, how large it is shown, what to say of it, and its numbers.

    pixels: width and height on the page.
    words: what it shows, for readers who do not see it.
    head: of the table of numbers.
    rows: of the same.
    """

    drawing: GroupedBars
    pixels: tuple[int, int]
    words: str
    head: Sequence[str]
    rows: Sequence[Sequence[str]]


def chart_of(
    rows: Sequence[CsvRow], columns: Sequence[str], settings: PlotVariables, here: Located, style: str = ""
) -> ScriptChart:
    """The plot that the variables ask for.

    Args:
        rows: those that are selected.
        columns: all that there are.
        settings: the variables.
        here: the directive, for what has no line of its own.
        style: of `linklab.plots.grouped_bars`, where the script asks for none.

    Raises:
        TableError: a variable is missing, names no column, or no row has a number to draw.
    """
    drawn = _columns(rows, columns, settings, here)
    used = [row for row in rows if row.cells[drawn.x].text and _drawable(row, drawn)]
    if not used:
        bars = settings.get("plotY1") or here
        raise bars.error(f'no selected row has a number in "{drawn.bars}" and a value in "{drawn.x}"')
    groups_of = _distinct(used, drawn.x)
    keys = sorted(groups_of, key=lambda key: order_in(drawn.x, groups_of[key]))
    names = [groups_of[key] for key in keys]
    _refuse_many(len(names) * len(drawn.chosen), settings, here)
    places = _places(names, drawn.x, settings)
    axes = [_axis(used, (drawn.bars,), 1, settings), _axis(used, drawn.marks, 2, settings)]
    shared = 0
    series = []
    for value, label in drawn.chosen:
        by_x: dict[object, list[CsvRow]] = {}
        for row in used:
            if not drawn.series or key_in(drawn.series, row.cells[drawn.series]) == value:
                by_x.setdefault(key_in(drawn.x, row.cells[drawn.x]), []).append(row)
        groups = [by_x.get(key, []) for key in keys]
        shared = max([shared, *map(len, groups)])
        marks = [[_bar(group, column, axes[1].divisor, settings) for group in groups] for column in drawn.marks]
        left = [_bar(group, drawn.bars, axes[0].divisor, settings) for group in groups]
        series.append(BarSeries(excerpt(label, _MOST_LABEL), left, marks))
    if not any(bar for one in series for bar in one.bars):
        bars = settings.get("plotY1") or here
        raise bars.error(f'no selected row has a number in "{drawn.bars}", which the bars show; give it another column')
    notes = notes_of(used, drawn, shared, series, settings)
    percent, ratio = (settings.text(name, "off").lower() for name in ("PlotPercent", "PlotRatio"))
    change = "percent" if percent != "off" else "ratio" if ratio != "off" else ""
    look = settings.text("plotStyle", style or "screen").lower()
    pixels, size_in = _size(settings, look)
    numbers = [number_in(name) for name in names]
    if drawn.x != ITERATION and all(number is not None for number in numbers):
        labels = [f"{number:.10g}" for number in numbers]  # 32 flows, and not 32.0
    else:
        labels = [excerpt(name, _MOST_LABEL) for name in names]
    drawing = GroupedBars(
        title=titles_of(settings, drawn),
        x_label=one_line(settings.text("plotXTitle", excerpt(drawn.x))),
        groups=list(zip(labels, places, strict=True)),
        series=series,
        left=axes[0].axis,
        right=axes[1].axis if drawn.marks else None,
        marks=[excerpt(name, _MOST_LABEL) for name in drawn.marks],
        series_title=one_line(settings.text("plotSeriesTitle", excerpt(drawn.series))),
        same_axes=settings.is_on("Y1eqY2") and bool(drawn.marks),
        change=change,
        upright="vertical" in (percent if change == "percent" else ratio),
        background=settings.number("BkgLevel"),
        size_in=size_in,
        style=look,
        note=" ".join(notes),
    )
    head, cells = numbers_of(drawing, drawn)
    return ScriptChart(drawing, pixels, words_of(drawing, drawn), head, cells)


def _columns(rows: Sequence[CsvRow], columns: Sequence[str], settings: PlotVariables, here: Located) -> DrawnColumns:
    found = {}
    for name in ("plotX", "plotY1"):
        value = settings.get(name)
        if value is None:
            raise here.error(f"{name} is missing: write {name}=COLUMN on a line before doPlot")
        found[name] = column_of(value, columns)
    second = settings.get("plotY2")
    marks = [column_of(part, columns) for part in second.split(",") if part] if second else []
    if second and len(marks) > MOST_SECOND:
        raise second.error(f"the second axis has room for {MOST_SECOND} columns, not {len(marks)}")
    series, chosen = _series(rows, columns, settings)
    return DrawnColumns(found["plotX"], found["plotY1"], list(dict.fromkeys(marks)), series, chosen)


def _series(
    rows: Sequence[CsvRow], columns: Sequence[str], settings: PlotVariables
) -> tuple[str, list[tuple[object, str]]]:
    """The column of the series and which of its values are drawn, with the label of each; "" where there is one bar."""
    asked = settings.get("plotSeries")
    if asked is None:
        return "", [("", "")]
    name, several, chosen = asked.partition(";")
    column = column_of(name, columns)
    there = _distinct(rows, column)
    if not several:
        return (column, list(there.items())) if len(there) > 1 else ("", [("", next(iter(there.values()), ""))])
    found: list[tuple[object, str]] = []
    for part in chosen.split(","):
        value, equals, label = part.partition("=")
        wanted = value.unquoted().text
        key = key_in(column, cell_of(wanted))
        if key not in there:
            some = ", ".join(list(there.values())[:8]) or "none"
            raise part.error(f'no selected row has "{one_line(wanted)}" in "{column}"; there are {some}')
        found.append((key, label.unquoted().text if equals else wanted))
    return column, found


def _distinct(rows: Sequence[CsvRow], column: str) -> dict[object, str]:
    """The values of a column that are not blank, in the order of their first rows: `key_in` and first text of each."""
    found: dict[object, str] = {}
    for row in rows:
        if row.cells[column].text:
            found.setdefault(key_in(column, row.cells[column]), row.cells[column].text)
    return found


def _drawable(row: CsvRow, drawn: DrawnColumns) -> bool:
    if drawn.series and key_in(drawn.series, row.cells[drawn.series]) not in {value for value, _ in drawn.chosen}:
        return False
    return any(row.cells[column].number is not None for column in (drawn.bars, *drawn.marks))


def _refuse_many(bars: int, settings: PlotVariables, here: Located) -> None:
    """Refuse more bars than a figure shows, while the script's line is known."""
    if bars > MOST_BARS:
        place = settings.get("plotX") or here
        raise place.error(f"{bars:,} bars are more than a figure can show ({MOST_BARS:,}); select fewer rows")


def _places(names: Sequence[str], column: str, settings: PlotVariables) -> list[float]:
    """Where the groups stand: at their values, or at even distances."""
    orders = [order_in(column, name) for name in names]
    distinct = len({order[1] for order in orders}) == len(orders)
    if not settings.is_on("xUniform") and all(order[0] == 0 for order in orders) and distinct:
        return [order[1] for order in orders]
    return [float(number) for number in range(len(names))]


@dataclass(frozen=True)
class _Scaled:
    axis: BarAxis
    divisor: float


def _axis(rows: Sequence[CsvRow], columns: Sequence[str], number: int, settings: PlotVariables) -> _Scaled:
    """The left (1) or right (2) axis: its words, what values are divided by, whether it is logarithmic."""
    cells = [row.cells[column].number for row in rows for column in columns]
    values = [value for value in cells if value is not None] or [0.0]
    divisor = settings.number(f"Y{number}div") or 1.0
    units = settings.get(f"Y{number}Units")
    divided = f" / {divisor:g}" if divisor != 1 and units is None else ""
    usual = " and ".join(map(excerpt, columns)) + divided
    label = one_line(settings.text(f"plotY{number}Title", usual))
    if units is not None:
        largest = max(values) / divisor
        choices = units_of(units)
        factor, unit = next(((factor, name) for factor, name in choices if factor < largest), choices[-1])
        divisor *= factor
        label = f"{label} ({one_line(unit)})"
    minimum = settings.number(f"Y{number}min")
    asked = settings.text(f"Y{number}LogScale", "auto").lower()
    least = min(values) / divisor if minimum is None else minimum
    log = asked == "on" or (asked == "auto" and least > 0 and max(values) / divisor > _LOG_FROM * least)
    return _Scaled(BarAxis(label, minimum, log), divisor)


def _bar(rows: Sequence[CsvRow], column: str, divisor: float, settings: PlotVariables) -> Bar | None:
    """The bar of the rows that share it; None if none of them has a number."""
    cells: list[CsvCell] = [row.cells[column] for row in rows if row.cells[column].number is not None]
    values = [cell.number for cell in cells if cell.number is not None]
    if not values:
        return None
    mean = math.fsum(values) / len(values)
    samples = values if len(values) > 1 else list(cells[0].samples)
    if len(samples) < 2 or not settings.is_on("plotIntervals", usual=True):
        return Bar(mean / divisor)
    half = interval(samples).half
    low = mean - half if min(samples) < 0 else max(mean - half, 0.0)  # no RTT is less than 0
    ends = sorted((low / divisor, (mean + half) / divisor))
    return Bar(mean / divisor, ends[0], ends[1])


def _size(settings: PlotVariables, style: str) -> tuple[tuple[int, int], tuple[float, float]]:
    """Pixels on the page, and inches of the figure: letters keep their size, so a longer axis shows smaller ones."""
    width = settings.number("plotXSize") or _PIXELS[0]
    height = settings.number("plotYSize") or width * _PIXELS[1] / _PIXELS[0]
    wide_in = (settings.number("plotXLen") or _AXIS_IN) + _MARGIN_IN
    high_in = min(max(wide_in * height / width, 1.5), 30.0)
    if style == "print":  # a column of a paper, and letters as large as in the other plots
        wide_in, high_in = ONE_COLUMN_IN[0], max(ONE_COLUMN_IN[1], ONE_COLUMN_IN[0] * high_in / wide_in)
        width, height = wide_in * _PIXELS_AN_INCH, high_in * _PIXELS_AN_INCH
    return (round(width), round(height)), (wide_in, high_in)
