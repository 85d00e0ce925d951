# SPDX-License-Identifier: BSD-3-Clause
"""Series over time: lines on one or two axes, or areas that add up."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.figure import Figure

from linklab.data.grid import at_times, common_times
from linklab.errors import InputError
from linklab.measure import make_series
from linklab.plots.named.axes import Scale, scale_of, set_limits, set_time_axis, set_value_axis
from linklab.plots.named.legend import add_legend, add_line_legend
from linklab.plots.named.lines import DrawnLine
from linklab.plots.named.look import Looks
from linklab.plots.named.picture import PlotPanel, remember, shown_of
from linklab.plots.named.thin import thinned
from linklab.plots.named.words import plain

FEWEST_COLUMNS = 100

MOST_POINTS = 60_000
"""Of the lines of one panel together: 200 of them take about half a second to draw."""


def draw_lines(axes: Any, panel: PlotPanel) -> None:
    """Draw a panel of lines over time, those of the second axis read at the right."""
    left = [line for line in panel.lines if not line.of.line.second_axis]
    right = [line for line in panel.lines if line.of.line.second_axis]
    sides = [(0, left), (1, right)] if left and right else [(0, left)] if left else [(1, right)]
    columns = columns_of(axes, sum(line.shown for line in panel.lines))
    points = sum(min(line.time_s.size, 2 * columns) for line in panel.lines if line.shown)
    looks = Looks(panel.options, len(panel.entries), len(panel.shown_files), points)
    set_time_axis(axes, panel.lines, panel.options)
    drawn = []
    for number, (side, lines) in enumerate(sides):
        at = axes.twinx() if number else axes
        scale = scale_of(lines, side, panel.spec, panel.options)
        for line in lines:
            if line.shown:
                drawn.append((line, _draw(at, line, scale, looks, columns), bool(number)))
        set_value_axis(at, lines, scale, number, spec=panel.spec, options=panel.options)
        if number:
            at.grid(visible=False)
            at.spines["right"].set_visible(True)
    add_line_legend(axes, panel, looks, drawn)


def draw_stack(axes: Any, panel: PlotPanel) -> None:
    """Draw a panel of areas over time that add up, at common times; a gap counts as nothing.

    Raises:
        InputError: there are several data sets, whose areas would hide each other.
    """
    lines = [line for line in panel.lines if line.shown]
    if len(panel.shown_files) > 1:
        raise InputError(f"{panel.spec.name}: areas that add up are of one data set; give one, or draw it in subplots")
    looks = Looks(panel.options, len(panel.entries), 1)
    set_time_axis(axes, panel.lines, panel.options)
    scale = scale_of(panel.lines, 0, panel.spec, panel.options)
    series = [make_series(line.of.name, line.unit, line.time_s, line.value) for line in lines]
    times, step_s = common_times(series)
    top = np.zeros(times.shape)
    handles = []
    for line, one in zip(lines, series, strict=True):
        bottom, top = top, top + np.nan_to_num(at_times(one, times, step_s)) / scale.factor
        look = {"facecolor": looks.colour(line.entry, 0), "hatch": looks.hatch(line.entry, 0)}
        area = axes.fill_between(times, bottom, top, edgecolor="white", linewidth=0.4, **look)
        handles.append((panel.label(line), area))
    axes.set_ylabel(plain(scale.words))
    set_limits(axes, 0.0, float(top.max(initial=0.0)), 0, panel.options, zero=True)
    add_legend(axes, handles[::-1], panel.spec, panel.options)  # as they lie on each other


def columns_of(axes: Any, lines: int) -> int:
    """How many columns of pixels the axes are wide, about; where there are very many lines, columns are wider."""
    width_px = axes.figure.get_size_inches()[0] * axes.figure.dpi * axes.get_position().width
    return max(min(int(width_px), MOST_POINTS // max(2 * lines, 1)), FEWEST_COLUMNS)


def _draw(axes: Any, line: DrawnLine, scale: Scale, looks: Looks, columns: int) -> Any:
    time_s, value = thinned(line.time_s, line.value, columns)
    look = looks.line(line.entry, line.file, time_s.size, bold=line.of.line.bold)
    (artist,) = axes.plot(time_s, value / scale.factor, **look)
    remember(artist, line, scale.factor)
    return artist


def refine_on_zoom(figure: Figure) -> None:
    """Let the lines of a figure show more of their points when a person zooms in."""
    for axes in figure.axes:
        axes.callbacks.connect("xlim_changed", _refine)


def _refine(zoomed: Any) -> None:
    # Matplotlib tells of a zoom only one of the axes that share it
    for axes in zoomed.get_shared_x_axes().get_siblings(zoomed):
        found = [(artist, shown_of(artist)) for artist in axes.get_lines() if artist.get_drawstyle() == "default"]
        columns = columns_of(axes, len(found))
        for artist, shown in found:
            if shown is not None and shown.line.time_s.size > 2 * columns:
                time_s, value = thinned(shown.line.time_s, shown.line.value, columns, zoomed.get_xlim())
                artist.set_data(time_s, value / shown.factor)
