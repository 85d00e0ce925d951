# SPDX-License-Identifier: BSD-3-Clause
"""Means with their intervals over the levels of a factor: a panel for each measure, a line for each other combination.

The levels stand at even distances where they are names, and at their values where they are quantities of one unit.
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from matplotlib.figure import Figure

from linklab.plots import style

_WIDTH_IN, _HEIGHT_IN = 4.2, 2.3
_QUANTITY = re.compile(r"(-?(?:\d+\.?\d*|\.\d+))\s*(\D*)")
_LOG_FROM = 8.0
"""Largest over smallest level from which on a logarithmic axis shows them better."""
_FROM_ZERO = 0.6
"""Least over largest end of an interval up to which the axis begins at 0."""
_ASIDE = 0.012
"""Lines are moved aside by this share of the axis, so that intervals do not hide each other."""


@dataclass(frozen=True)
class Point:
    """A mean and the ends of its interval; NaN where they are not known."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class IntervalPanel:
    """One measure.

    label: of the vertical axis, with its unit.
    lines: name → a point for each level.
    """

    label: str
    lines: Mapping[str, Sequence[Point]]


def draw_intervals(panels: Sequence[IntervalPanel], factor: str, levels: Sequence[str], note: str = "") -> Figure:
    """Draw the panels below each other.

    Args:
        panels: with the same lines.
        factor: name of the horizontal axis.
        levels: of the factor, in order.
        note: below the figure, such as what an interval is.
    """
    figure = Figure(figsize=(_WIDTH_IN, 0.6 + _HEIGHT_IN * len(panels)), layout="constrained")
    places, unit, log = _places(levels)
    for number, panel in enumerate(panels):
        axes = figure.add_subplot(len(panels), 1, number + 1)
        for index, (label, points) in enumerate(panel.lines.items()):
            if all(math.isnan(point.value) for point in points):
                continue
            shift = index - (len(panel.lines) - 1) / 2
            at = [_aside(place, shift, places, log=log) for place in places]
            look = style.line_look(index, len(points)) | {"markevery": None}
            axes.errorbar(
                at,
                [point.value for point in points],
                yerr=[
                    [point.value - point.low for point in points],
                    [point.high - point.value for point in points],
                ],
                label=label or "_",
                capsize=2.5,
                elinewidth=0.8,
                **look,
            )
        if log:
            axes.set_xscale("log")
        axes.set_xticks(places, levels)
        axes.minorticks_off()
        axes.set_ylabel(panel.label)
        ends = [
            end for points in panel.lines.values() for point in points for end in (point.value, point.low, point.high)
        ]
        known = [end for end in ends if not math.isnan(end)]
        if known and 0 <= min(known) <= _FROM_ZERO * max(known):  # of close values, 0 would hide the intervals
            axes.set_ylim(0, 1.06 * max(known) or 1)
        if number == len(panels) - 1:
            axes.set_xlabel(f"{factor} ({unit})" if unit and unit not in levels[0] else factor)
        if number == 0 and any(panel.lines) and axes.containers:
            style.add_legend(axes, [label for label in panel.lines if label])
    if note:
        figure.supxlabel(note, fontsize=6, color="#444444")
    return figure


def _aside(place: float, shift: float, places: Sequence[float], *, log: bool) -> float:
    if log:
        return float(place * (places[-1] / places[0]) ** (shift * _ASIDE))
    return place + shift * _ASIDE * (places[-1] - places[0])


def _places(levels: Sequence[str]) -> tuple[list[float], str, bool]:
    """Where the levels stand on the axis, their common unit, and whether the axis is logarithmic."""
    matches = [_QUANTITY.fullmatch(level.strip()) for level in levels]
    quantities = [(float(match[1]), match[2].strip()) for match in matches if match]
    values = [value for value, _ in quantities]
    rising = all(first < second for first, second in itertools.pairwise(values))
    if len(quantities) < len(levels) or len({unit for _, unit in quantities}) > 1 or not rising or len(values) < 2:
        return [float(number) for number in range(len(levels))], "", False
    return values, quantities[0][1], values[0] > 0 and values[-1] / values[0] >= _LOG_FROM
