# SPDX-License-Identifier: BSD-3-Clause
"""Panels over one axis of network time: what live plots show now, as a figure for a file or a window.

A port or a flow has one colour and one pattern in all panels. Levels are thin and have their words at the right end.
"""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from linklab.measure.series import FloatArray
from linklab.plots import palette, style

SIZE_IN = (7.0, 1.5)
"""Width of a figure, and height of each panel."""
_LEVEL = (0, (6, 3))
_SECOND = (0, (1, 1.5))
_WORDS_HIGH = 0.1
"""Of a panel, a line of words."""
LETTERS = 13
"""Of a line beside a panel, which is low."""
NEAR = 1.6
"""A level up to so many times the largest value is brought into view."""


@dataclass(frozen=True)
class LiveLine:
    """A line: the number that gives its look, and its points in the unit of its panel, NaN for a gap."""

    label: str
    number: int
    is_second: bool
    time_s: FloatArray
    value: FloatArray

    @property
    def look(self) -> dict[str, Any]:
        """Colour and pattern; without markers, since there are hundreds of points."""
        look = style.line_look(self.number, 1)
        dash = _SECOND if self.is_second else look["linestyle"]
        return {"color": look["color"], "linestyle": dash, "linewidth": 0.8 if self.is_second else 1.1}


@dataclass(frozen=True)
class LiveAxes:
    """A panel: its words, the unit of its lines, and levels as label, value and number of the look."""

    words: str
    unit: str
    lines: Sequence[LiveLine]
    levels: Sequence[tuple[str, float, int]] = ()

    def largest(self, from_s: float, to_s: float) -> float:
        """Of the lines within these times; what lies beyond decides no scale."""
        tops = [line.value[(line.time_s >= from_s) & (line.time_s <= to_s)] for line in self.lines]
        known = (top[~np.isnan(top)] for top in tops)
        return max((float(top.max()) for top in known if top.size), default=0.0)


@dataclass(frozen=True)
class LiveDrawn:
    """A panel that was drawn: its axes, what its values were divided by, and its lines in order."""

    axes: Any
    scale: float
    lines: list[Any]


def draw_live(
    figure: Figure, panels: Sequence[LiveAxes], from_s: float, to_s: float, tops: Sequence[float] = ()
) -> list[LiveDrawn]:
    """Draw the panels into an empty figure, one above the other, from one network time to another.

    tops: where each vertical axis ends, in the unit of its panel; () for a little above what is drawn.
    """
    drawn = []
    for number, panel in enumerate(panels):
        axes = figure.add_subplot(len(panels), 1, number + 1)
        top = tops[number] if tops else 1.1 * top_of(panel, from_s, to_s) or 1.0
        scale, unit = palette.axis_unit(panel.unit, panel.largest(from_s, to_s) or top)
        lines = [axes.plot(line.time_s, line.value / scale, label=line.label, **line.look)[0] for line in panel.lines]
        axes.set_xlim(from_s, to_s)
        axes.set_ylim(0, top / scale)
        axes.set_ylabel(f"{textwrap.fill(panel.words, LETTERS)}\n({unit})")
        _draw_levels(axes, panel, scale, top)
        if panel.lines:
            style.add_legend(axes, [line.label for line in panel.lines])
        if number + 1 < len(panels):
            axes.tick_params(labelbottom=False)
        else:
            axes.set_xlabel("Network time (s)")
        drawn.append(LiveDrawn(axes, scale, lines))
    figure.align_ylabels()
    return drawn


def top_of(panel: LiveAxes, from_s: float, to_s: float) -> float:
    """The largest value between two times, or a level that lies not far above it."""
    largest = panel.largest(from_s, to_s)
    return max([largest, *(value for _, value, _ in panel.levels if value <= NEAR * largest)])


def _draw_levels(axes: Any, panel: LiveAxes, scale: float, top: float) -> None:
    """Levels with their words on the line at the right, those that would lie on each other one above the other."""
    least = 0.0
    for label, value, number in sorted(panel.levels, key=lambda level: level[1]):
        if value <= top:
            colour = palette.COLOURS[number % len(palette.COLOURS)]
            axes.axhline(value / scale, color=colour, linewidth=0.7, linestyle=_LEVEL, label="_")
            at = max(value / top, least)
            least = at + _WORDS_HIGH
            place, up = (0.995, at), "top" if at > 1 - _WORDS_HIGH else "bottom"
            axes.text(*place, label, transform=axes.transAxes, color=colour, size=6.5, ha="right", va=up)
