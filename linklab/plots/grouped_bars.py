# SPDX-License-Identifier: BSD-3-Clause
"""Groups of bars with diamonds on a second axis: a group for each value of x, in it a bar for each series.

A bar that is not known is left out and never drawn as 0. Values come as they are to be read: scaled, with their
intervals. The looks are those of named plots: colour and hatch, grey for paper, one column wide for print.
"""

from __future__ import annotations

import math
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import matplotlib as mpl
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from linklab.errors import InputError
from linklab.plots import style
from linklab.plots.bar_groups import Bar, BarAxis, BarSeries, GroupedBars
from linklab.plots.named.look import GREYS, HATCHES
from linklab.plots.named.words import plain
from linklab.plots.palette import COLOURS

STYLES = ("screen", "print", "grey")
CHANGES = ("", "percent", "ratio")
MOST_BARS = 1500
MOST_IN_LEGEND = 24

_GROUP = 0.8
"""The share of the room of a group that its bars take."""

_BAR = 0.9
_NEAR = 0.6
"""Diamonds whose least value is less than so much of the largest are shown above 0."""

_MARKS = (("D", "#ffffff", 5.5), ("o", "#000000", 3.5))
"""Shape, inside, and size of the marks of the second axis; both have black edges, and so show on every bar."""

_TITLE_LETTERS_AN_INCH = 12


def draw_grouped_bars(chart: GroupedBars) -> Figure:
    """Draw it; save with `linklab.plots.style.save`.

    Raises:
        InputError: there is nothing to draw, or more bars than can be seen.
    """
    bars = len(chart.groups) * len(chart.series)
    if not any(bar for one in chart.series for bar in one.bars):
        raise InputError("no row has a number to draw a bar of")
    if bars > MOST_BARS:
        raise InputError(f"{bars:,} bars are more than a figure can show ({MOST_BARS:,}); select fewer rows")
    with style.context(), mpl.rc_context({"hatch.linewidth": 0.5, "axes.titlesize": 8.5}):
        figure = Figure(figsize=chart.size_in, layout="constrained")
        axes = figure.add_subplot()
        other = axes.twinx() if chart.right else None
        drawn = _Drawing(chart, axes, other)
        drawn.all()
        _add_words(figure, chart, chart.size_in[0])
    return figure


@dataclass(frozen=True)
class _Drawing:
    chart: GroupedBars
    axes: Any
    other: Any

    def all(self) -> None:
        chart = self.chart
        left = [bar for one in chart.series for bar in one.bars if bar]
        right = [mark for one in chart.series for marks in one.marks for mark in marks if mark]
        low, high = _limits(chart.left, left, bars=True)
        if self.other and chart.right:
            other_low, other_high = _limits(chart.right, right, bars=False)
            if chart.same_axes:
                low = other_low = min(low, other_low)
                high = other_high = max(high, other_high)
            self._finish_axis(self.other, chart.right, other_low, other_high)
        self._finish_axis(self.axes, chart.left, low, high)
        for index, one in enumerate(chart.series):
            self._bars(index, one, low)
            for number, marks in enumerate(one.marks):
                self._marks(index, number, marks)
        if low < 0 and not chart.left.log:
            self.axes.axhline(0.0, color="#000000", linewidth=0.6, zorder=3)
        self._finish()

    def _room(self) -> float:
        """The distance of the two nearest groups."""
        places = [place for _, place in self.chart.groups]
        return min((second - first for first, second in pairwise(places)), default=1.0)

    def _at(self, group: int, series: int) -> float:
        """The middle of a bar."""
        if self._slots() == 1:
            return self.chart.groups[group][1]
        return self.chart.groups[group][1] + (series - (self._slots() - 1) / 2) * _GROUP * self._room() / self._slots()

    def _slots(self) -> int:
        """Bars that a group has room for: one if no group has more, as where series and groups are of one column."""
        of_groups = zip(*(one.bars for one in self.chart.series), strict=True)
        most = max(sum(bar is not None for bar in bars) for bars in of_groups)
        return 1 if most <= 1 else len(self.chart.series)

    def _bars(self, index: int, one: BarSeries, low: float) -> None:
        log = self.chart.left.log
        width = _BAR * _GROUP * self._room() / self._slots()
        first = self.chart.series[0]
        for group, bar in enumerate(one.bars):
            if bar is None or (log and bar.value <= 0):
                continue
            at = self._at(group, index)
            bottom = low if log else 0.0
            self.axes.bar(at, bar.value - bottom, width, bottom=bottom, **self._look(index))
            _whisker(self.axes, at - self._aside(0) * width, bar)
            base = first.bars[group]
            if self.chart.change and index and base is not None and base.value:
                self._write(at, low if log else min(max(low, 0.0), bar.value), _change(self.chart.change, bar, base))

    def _write(self, at: float, foot: float, words: str) -> None:
        """Words at the foot of a bar, where neither its interval nor a mark hides them."""
        look = {"ha": "center", "va": "bottom", "size": 6, "rotation": 90 if self.chart.upright else 0, "zorder": 7}
        box = {"boxstyle": "round,pad=0.15", "facecolor": "#ffffff", "edgecolor": "none", "alpha": 0.85}
        (self.other or self.axes).annotate(
            words, (at, foot), xycoords=self.axes.transData, xytext=(0, 3), textcoords="offset points", bbox=box, **look
        )

    def _aside(self, number: int) -> float:
        """How far from a bar's middle the lines of bar (0) and marks (1, 2) stand, so that none hides another.

        It is a share of the bar's width; 0 where the marks have no intervals.
        """
        marks = [mark for one in self.chart.series for marks in one.marks for mark in marks if mark is not None]
        if not any(not math.isnan(mark.low) for mark in marks):
            return 0.0
        return (0.25, 0.12, 0.3)[number] if len(self.chart.marks) > 1 else (0.2, 0.2)[number]

    def _marks(self, index: int, number: int, marks: Sequence[Bar | None]) -> None:
        shape, inside, size = _MARKS[number % len(_MARKS)]
        width = _BAR * _GROUP * self._room() / self._slots()
        for group, mark in enumerate(marks):
            if mark is None or (self.chart.right and self.chart.right.log and mark.value <= 0):
                continue
            at = self._at(group, index) + self._aside(number + 1) * width
            look = {"marker": shape, "markersize": size, "markerfacecolor": inside, "markeredgecolor": "#000000"}
            self.other.add_line(Line2D([at], [mark.value], linestyle="", clip_on=False, zorder=6, **look))
            _whisker(self.other, at, mark)

    def _look(self, index: int) -> dict[str, Any]:
        colours = GREYS if self.chart.style == "grey" else COLOURS
        colour = colours[index % len(colours)]
        light = tuple(1 - 0.45 * (1 - part) for part in to_rgb(colour))
        hatch = HATCHES[(index + index // len(colours)) % len(HATCHES)]
        return {"facecolor": light, "edgecolor": colour, "hatch": hatch, "linewidth": 0.9, "zorder": 2}

    def _finish_axis(self, axes: Any, axis: BarAxis, low: float, high: float) -> None:
        if axis.log:
            axes.set_yscale("log")
        axes.set_ylim(low, high)
        axes.set_ylabel(plain(axis.label))
        if axes is self.other:
            axes.grid(visible=False)
            axes.spines["right"].set_visible(True)

    def _finish(self) -> None:
        chart, axes = self.chart, self.axes
        if self.other:
            # The marks lie above the bars, and the second axes lie above the first.
            self.other.set_zorder(axes.get_zorder() + 1)
            self.other.patch.set_visible(False)
        if chart.background is not None:
            axes.set_facecolor(str(chart.background))
            axes.grid(color="#ffffff" if chart.background < 0.9 else "#dddddd")
        room = self._room()
        places = [place for _, place in chart.groups]
        axes.set_xlim(places[0] - 0.6 * room, places[-1] + 0.6 * room)
        axes.grid(visible=False, axis="x")
        names = [plain(name) for name, _ in chart.groups]
        letters = sum(len(name) + 2 for name in names)
        upright = letters > 14 * chart.size_in[0] and max(map(len, names)) > 2
        axes.set_xticks(places, names, **({"rotation": 90} if upright else {}))
        axes.minorticks_off()
        axes.set_xlabel(plain(chart.x_label))
        self._add_legend()

    def _add_legend(self) -> None:
        chart = self.chart
        entries: list[tuple[str, Any]] = []
        if len(chart.series) > 1:
            entries = [(one.name, Patch(**self._look(index))) for index, one in enumerate(chart.series)]
        if len(entries) > MOST_IN_LEGEND:
            more = len(entries) - MOST_IN_LEGEND + 1
            entries = [*entries[: MOST_IN_LEGEND - 1], (f"and {more} more", Line2D([], [], linestyle=""))]
        for name, (shape, inside, size) in zip(chart.marks, _MARKS, strict=False):
            look = {"marker": shape, "markersize": size, "markerfacecolor": inside, "markeredgecolor": "#000000"}
            entries.append((f"{name} (right)", Line2D([], [], linestyle="", **look)))
        if not entries:
            return
        longest = max(len(name) for name, _ in entries)
        columns = max(1, min(len(entries), int(16 * chart.size_in[0] / (longest + 9))))
        legend = self.axes.legend(
            [handle for _, handle in entries],
            [" " + plain(name) for name, _ in entries],
            title=plain(chart.series_title) if len(chart.series) > 1 and chart.series_title else None,
            loc="lower left",
            bbox_to_anchor=(0, 1.0),
            ncol=columns,
            borderaxespad=0.2,
            columnspacing=1.2,
            alignment="left",
            title_fontsize=6.5,
        )
        legend.set_in_layout(True)


def _whisker(axes: Any, at: float, bar: Bar) -> None:
    """The line from one end of an interval to the other."""
    if math.isnan(bar.low) or bar.high <= bar.low:
        return
    axes.errorbar(
        at,
        bar.value,
        yerr=[[bar.value - bar.low], [bar.high - bar.value]],
        fmt="none",
        ecolor="#000000",
        elinewidth=0.9,
        capsize=2.5,
        zorder=5,
    )


def _limits(axis: BarAxis, shown: Sequence[Bar], *, bars: bool) -> tuple[float, float]:
    """Where an axis begins and ends.

    The end of an interval below 0 does not make an axis begin there if no value does: there are no fewer than 0 flows.
    """
    more = 0.06
    ends = [end for bar in shown for end in bar.ends]
    if all(bar.value >= 0 for bar in shown):
        ends = [max(end, 0.0) for end in ends]
    if axis.log:
        positive = [end for end in ends if end > 0]
        least, largest = (min(positive), max(positive)) if positive else (1.0, 10.0)
        low = axis.minimum if axis.minimum is not None and axis.minimum > 0 else 10.0 ** math.floor(math.log10(least))
        low = low if low < largest else least / 10
        return low, largest * (largest / low) ** more
    least, largest = (min(ends), max(ends)) if ends else (0.0, 1.0)
    spread = (largest - least) or abs(largest) or 1.0
    if axis.minimum is not None:
        low = axis.minimum
    elif least < 0:
        low = least - more * spread
    else:
        low = 0.0 if bars or least <= _NEAR * largest else least - more * spread
    high = largest + more * (largest - low) if largest > low else low + spread
    return low, high


def _change(kind: str, bar: Bar, first: Bar) -> str:
    """What is written at a bar."""
    value, base = bar.value, first.value
    if kind == "percent":
        percent = 100 * (value - base) / abs(base)
        return f"{percent:+.0f} %".replace("-", "−") if abs(percent) < 1e6 else f"{percent:+.1e} %"
    ratio = value / base
    return f"×{ratio:.2f}" if abs(ratio) < 100 else f"×{ratio:.3g}"


def _add_words(figure: Figure, chart: GroupedBars, width_in: float) -> None:
    letters = max(int(width_in * _TITLE_LETTERS_AN_INCH), 20)
    if chart.title and chart.style != "print":  # a paper has the words below the figure
        lines = [part for line in chart.title for part in textwrap.wrap(line, letters)]
        figure.suptitle(plain("\n".join(lines)), size=9.5)
    if chart.note:
        text = "\n".join(textwrap.wrap(chart.note, 2 * letters))
        figure.supxlabel(plain(text), x=0.01, ha="left", size=6, color="#555555")
