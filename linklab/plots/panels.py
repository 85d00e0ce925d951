# SPDX-License-Identifier: BSD-3-Clause
"""Several quantities over one time axis: panels one above the other, the same flow in the same colour in each."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from matplotlib.figure import Figure

from linklab.measure import Series
from linklab.plots import palette, style

PANEL_IN = 1.25
"""Height of each panel beyond the first; the first has the height of a figure of its own."""

_MANY = 200
"""Points from which on a line is thin and has no markers: samples, not measurements of intervals."""

_LEVEL = "#444444"
_BOLD = {"color": "#000000", "linestyle": "-", "linewidth": 1.6}


@dataclass(frozen=True)
class Panel:
    """Words for the vertical axis, to which the unit is added, and label and series of each line, all of one unit.

    lines: one without any known value is left out. No label, no legend entry.
    bold: labels of lines to be told from the others at once: sums.
    levels: name and value, in the lines' unit, of what they are to be read against, such as a threshold; drawn if the
        lines come near.
    ticks: words for the values that there are, of a state; {} for numbers as they come.
    """

    words: str
    lines: Sequence[tuple[str, Series]]
    bold: Collection[str] = ()
    levels: Sequence[tuple[str, float]] = ()
    ticks: Mapping[float, str] = field(default_factory=dict)


def draw_panels(panels: Sequence[Panel]) -> Figure:
    """A figure of panels that share their time axis, from 0 on both axes.

    Raises:
        ValueError: a panel has no line with a value.
    """
    width, height = style.ONE_COLUMN_IN
    figure = Figure(figsize=(width, height if len(panels) == 1 else PANEL_IN * len(panels) + 0.4), layout="constrained")
    drawn = [_drawn(panel) for panel in panels]
    labels = list(dict.fromkeys(label for lines in drawn for label, _ in lines if label))
    told: set[str] = set()
    for number, (panel, lines) in enumerate(zip(panels, drawn, strict=True), 1):
        axes = figure.add_subplot(len(panels), 1, number)
        draw_panel(axes, panel, lines, labels)
        if number == len(panels):
            axes.set_xlabel("Time (s)")
        else:
            axes.tick_params(labelbottom=False)
        new = [label for label, _ in lines if label and label not in told]
        if new:
            style.add_legend(axes, [label for label, _ in lines])
            told.update(new)
    end_s = max(float(series.time_s.max()) for lines in drawn for _, series in lines)
    for axes in figure.axes:
        axes.set_xlim(0, 1.03 * end_s or 1)
    figure.align_ylabels()
    return figure


def _drawn(panel: Panel) -> list[tuple[str, Series]]:
    lines = [(label, style.without_stub(series)) for label, series in panel.lines]
    lines = [(label, series) for label, series in lines if series.known.size]
    if not lines:
        raise ValueError(f"{panel.words}: no series has a value to draw")
    return lines


def draw_panel(axes: Any, panel: Panel, lines: Sequence[tuple[str, Series]], labels: Sequence[str]) -> None:
    """Draw the lines of a panel with its vertical axis; `labels` are those of the figure, which decide the looks."""
    largest = max(float(series.known.max()) for _, series in lines)
    scale, unit = palette.axis_unit(lines[0][1].unit, largest)
    for label, series in lines:
        look = style.line_look(labels.index(label) if label else 0, len(series))
        if len(series) > (style.MARKERS_A_LINE if len(lines) == 1 else _MANY):
            look["marker"] = ""
        if len(series) > _MANY:
            look["linewidth"] = 0.8
        if len(lines) == 1:
            look["linestyle"] = "-"
        axes.plot(series.time_s, series.value / scale, label=label or "_", **(_BOLD if label in panel.bold else look))
    axes.set_ylabel(f"{panel.words}\n({unit})" if unit else panel.words)
    if panel.ticks:
        axes.set_yticks(list(panel.ticks), list(panel.ticks.values()))
        largest = max(largest, *panel.ticks)
    axes.set_ylim(0, 1.06 * largest / scale or 1)
    for name, value in panel.levels:
        if value <= 1.06 * largest:
            axes.axhline(value / scale, color=_LEVEL, linewidth=0.7, linestyle=(0, (6, 3)))
            at = axes.get_yaxis_transform()
            axes.text(1.01, value / scale, name, transform=at, color=_LEVEL, size=6.5, va="center")
