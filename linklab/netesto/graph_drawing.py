# SPDX-License-Identifier: BSD-3-Clause
"""Lines of flows → figures in the look of Linklab: over time, as marks at instants, and as shares of answers.

Up to `FEW` flows each have a look of their own and a line in the legend. More of them are thin lines in the colour of
their group, behind the thick mean of the group, and the legend names groups, at most `FEW` of them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from linklab.data.grid import at_times, common_times
from linklab.measure import Series
from linklab.plots import style
from linklab.plots.named.thin import thinned
from linklab.plots.palette import COLOURS

FEW = 8
SIZE_IN = (7.2, 2.5)
_POINTS = 8000
"""Points of all lines of a graph together, about: more do not show, and make a page of many flows slow."""
_LEAST_POINTS = 100
_SUM = {"color": "#000000", "linewidth": 1.8, "zorder": 4}


@dataclass(frozen=True)
class GraphLine:
    """A flow: its label, group, instance, and series in Mbits/s."""

    label: str
    group: int
    instance: int
    series: str


def together(reduce: Callable[..., Any], series: Sequence[Series]) -> Series:
    """The sum (np.nansum) or mean (np.nanmean) at common times, over the flows that have a value there."""
    times, step_s = common_times(series)
    values = np.array([at_times(one, times, step_s) for one in series])
    there = ~np.isnan(values).all(axis=0)
    found = np.full(times.shape, np.nan)
    found[there] = reduce(values[:, there], axis=0)
    return Series("together", series[0].unit, times, found)


def _figure() -> tuple[Figure, Any]:
    """A figure with axes and room at the right for the legend; a layout that is computed takes longer than the rest."""
    figure = Figure(figsize=SIZE_IN)
    return figure, figure.add_axes((0.085, 0.17, 0.65, 0.79))


def _look(line: GraphLine, lines: Sequence[GraphLine]) -> dict[str, Any]:
    if len(lines) <= FEW:
        look = style.line_look(lines.index(line), 1)
        return {"color": look["color"], "linestyle": look["linestyle"], "linewidth": 1.0}
    groups = list(dict.fromkeys(each.group for each in lines))
    width, strength = (0.5, 0.5) if len(lines) <= 64 else (0.3, 0.3)
    return {"color": COLOURS[groups.index(line.group) % len(COLOURS)], "linewidth": width, "alpha": strength}


def _strong(look: dict[str, Any]) -> dict[str, Any]:
    """The look of a group as a whole."""
    return {**look, "linewidth": 1.4, "alpha": 1.0}


def _draw(axes: Any, drawn: Sequence[tuple[GraphLine, Any, Any]], lines: Sequence[GraphLine]) -> None:
    """Lines of times and values; those of many flows are one path for each group, which is drawn ten times as fast."""
    if len(lines) <= FEW:
        for line, x, y in drawn:
            axes.plot(x, y, **_look(line, lines))
        return
    gap = np.full(1, np.nan)
    for first in {line.group: line for line, _, _ in reversed(drawn)}.values():
        mine = [(x, y) for line, x, y in drawn if line.group == first.group]
        x, y = (np.concatenate([part for one in mine for part in (one[at], gap)]) for at in (0, 1))
        axes.plot(x, y, **_look(first, lines))


def _some(series: Series, flows: int) -> tuple[Any, Any]:
    """As many points of a line as are of use beside so many others: extremes of few, every nth sample of many."""
    points = max(_LEAST_POINTS, _POINTS // flows)
    if flows <= FEW:
        return thinned(series.time_s, series.value, points // 2)
    step = max(1, len(series) // points)
    return series.time_s[::step], series.value[::step]


def over_time(
    drawn: Sequence[tuple[GraphLine, Series]], title: str, unit: str, lines: Sequence[GraphLine], *, summed: bool
) -> Figure:
    """The flows, and the sum of all: in the same axes as a few flows, or above many, which it would press flat."""
    figure, axes = _figure()
    everything = together(np.nansum, [series for _, series in drawn]) if summed and len(drawn) > 1 else None
    highest = max(float(series.known.max()) for _, series in drawn)
    end_s = max(float(series.time_s[-1]) for _, series in drawn)
    _draw(axes, [(line, *_some(series, len(drawn))) for line, series in drawn], lines)
    if len(lines) > FEW:
        for group in dict.fromkeys(line.group for line, _ in drawn):
            mine = [(line, series) for line, series in drawn if line.group == group]
            mean = together(np.nanmean, [series for _, series in mine])
            axes.plot(*thinned(mean.time_s, mean.value, _POINTS), **_strong(_look(mine[0][0], lines)), zorder=3)
    axes.set_ylabel(f"{title} ({unit})")
    if everything is not None:
        above = _above(figure, axes) if len(lines) > FEW else axes
        above.plot(*thinned(everything.time_s, everything.value, _POINTS), **_SUM)
        most = float(everything.known.max())
        above.set_ylim(0, 1.06 * most or 1)
        above.set_xlim(0, 1.01 * end_s or 1)
        highest = highest if above is not axes else max(highest, most)
    axes.set_ylim(0, 1.06 * highest or 1)
    axes.set_xlim(0, 1.01 * end_s or 1)
    axes.set_xlabel("Time (s)")
    _legend(axes, [line for line, _ in drawn], lines, with_sum=everything is not None, means="; thick: its mean")
    return figure


def _above(figure: Figure, axes: Any) -> Any:
    """Axes above the others, which become lower."""
    axes.set_position((0.085, 0.17, 0.65, 0.46))
    above = figure.add_axes((0.085, 0.69, 0.65, 0.27))
    above.tick_params(labelbottom=False)
    above.set_ylabel("sum")
    return above


def instants(marks: Sequence[tuple[GraphLine, Any]], lines: Sequence[GraphLine], end_s: float) -> Figure:
    """A row for each flow, the first at the top, with a mark at each instant."""
    figure, axes = _figure()
    rows = list(range(len(marks), 0, -1))
    width = 1.1 if len(lines) <= FEW else 0.6
    for row, (line, times) in zip(rows, marks, strict=True):
        looks = {"color": _look(line, lines)["color"], "linewidth": width}
        axes.plot(np.repeat(times, 3), np.tile((row - 0.4, row + 0.4, np.nan), len(times)), **looks)
    axes.set_ylim(0.4, len(marks) + 0.6)
    axes.set_xlim(0, 1.01 * end_s or 1)
    axes.set_xlabel("Time (s)")
    axes.set_ylabel("Retransmissions")
    axes.grid(visible=False, axis="y")
    if len(lines) <= FEW:
        axes.set_yticks(rows, [f"{line.group}.{line.instance}" for line, _ in marks])
    else:
        axes.set_yticks([])
        axes.set_ylabel(f"Retransmissions\nof {len(marks)} flows")
    if not any(len(times) for _, times in marks):
        axes.text(0.5, 0.5, "none", transform=axes.transAxes, ha="center", va="center")
    _legend(axes, [line for line, _ in marks], lines, with_sum=False)
    return figure


def shares(answers: Sequence[tuple[GraphLine, Any]], lines: Sequence[GraphLine]) -> Figure:
    """How large a share of a flow's answers took at most so long."""
    figure, axes = _figure()
    points = max(_LEAST_POINTS, _POINTS // len(answers))
    drawn = []
    for line, known in answers:
        ordered = np.sort(known)
        some = np.unique(np.linspace(0, ordered.size - 1, min(ordered.size, points // 2)).round().astype(int))
        share = (some + 1) / ordered.size
        # each answer is a step, so that a single one is a line and not a point that nobody sees
        steps = np.column_stack((np.concatenate(([0.0], share[:-1])), share)).ravel()
        drawn.append((line, np.repeat(ordered[some], 2), steps))
    _draw(axes, drawn, lines)
    axes.set_ylim(0, 1.02)
    axes.set_xlim(0, None)
    axes.set_xlabel("Latency (ms)")
    axes.set_ylabel("Share of answers")
    _legend(axes, [line for line, _ in answers], lines, with_sum=False)
    return figure


def _legend(
    axes: Any, drawn: Sequence[GraphLine], lines: Sequence[GraphLine], *, with_sum: bool, means: str = ""
) -> None:
    """Beside the axes: flows, or of many flows their groups, as many as there is room for, and how many are left."""
    entries: list[tuple[Any, str]] = []
    if with_sum and len(lines) <= FEW:
        entries.append((_handle(axes, _SUM), "sum"))
    if len(lines) <= FEW:
        entries += [(_handle(axes, _look(line, lines)), line.label) for line in drawn]
        left = ""
    else:
        first = {line.group: line for line in reversed(drawn)}
        shown = sorted(first)[:FEW]
        for group in shown:
            look = _strong(_look(first[group], lines))
            count = sum(line.group == group for line in drawn)
            words = first[group].label.partition(" ")[2]
            entries.append((_handle(axes, look), f"{group} {words} (×{count})" if count > 1 else f"{group} {words}"))
        left = f"{len(drawn)} flows (thin) in the colour of\ntheir group{means}"
        if len(first) > len(shown):
            left += f"\n{len(first) - len(shown)} more groups repeat the colours"
    legend = axes.legend(
        [handle for handle, _ in entries],
        [label for _, label in entries],
        loc="upper left",
        bbox_to_anchor=(1.01, 1.02),
    )
    if left:
        legend.set_title(left, prop={"size": 6.5})


def _handle(axes: Any, look: dict[str, Any]) -> Any:
    return axes.plot([], [], **look)[0]
