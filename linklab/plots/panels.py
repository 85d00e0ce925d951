# SPDX-License-Identifier: BSD-3-Clause
"""Several quantities over one time axis: panels one above the other, the same flow in the same colour in each.

Called by `linklab.stepplots`, also for a figure of one panel.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from matplotlib.figure import Figure

from linklab.measure import Series
from linklab.plots import style

PANEL_IN = 1.25
"""Height of each panel beyond the first; the first has the height of a figure of its own."""

_MANY = 200
"""Points from which on a line is thin and has no markers: samples, not measurements of intervals."""


@dataclass(frozen=True)
class Panel:
    """Words for the vertical axis, to which the unit is added, and label and series of each line, all of one unit."""

    words: str
    lines: Sequence[tuple[str, Series]]


def draw_panels(panels: Sequence[Panel]) -> Figure:
    """A figure of panels that share their time axis.

    Raises:
        ValueError: a panel has no line with a value.
    """
    width, height = style.ONE_COLUMN_IN
    figure = Figure(figsize=(width, height if len(panels) == 1 else PANEL_IN * len(panels) + 0.4), layout="constrained")
    every = [series for panel in panels for _, series in panel.lines]
    labels = list(dict.fromkeys(label for panel in panels for label, _ in panel.lines if label))
    end_s = max(float(series.time_s.max()) for series in every)
    told: set[str] = set()
    for number, panel in enumerate(panels, 1):
        axes = figure.add_subplot(len(panels), 1, number)
        _draw(axes, panel, labels)
        axes.set_xlim(0, 1.03 * end_s or 1)
        if number == len(panels):
            axes.set_xlabel("Time (s)")
        else:
            axes.tick_params(labelbottom=False)
        new = [label for label, _ in panel.lines if label and label not in told]
        if new:
            style.add_legend(axes, [label for label, _ in panel.lines])
            told.update(new)
    figure.align_ylabels()
    return figure


def _draw(axes: Any, panel: Panel, labels: Sequence[str]) -> None:
    known = [series for _, series in panel.lines if series.known.size]
    if not known:
        raise ValueError(f"{panel.words}: no series has a value to draw")
    largest = max(float(series.known.max()) for series in known)
    scale, unit = style.axis_unit(known[0].unit, largest)
    for label, found in panel.lines:
        series = style.without_stub(found)
        look = style.line_look(labels.index(label) if label else 0, len(series))
        if len(series) > _MANY:
            look |= {"marker": "", "linewidth": 0.8}
        if len(panel.lines) == 1:
            look |= {"marker": "", "linestyle": "-"}
        axes.plot(series.time_s, series.value / scale, label=label or "_", **look)
    axes.set_ylabel(f"{panel.words}\n({unit})" if unit else panel.words)
    axes.set_ylim(0, 1.06 * largest / scale or 1)
