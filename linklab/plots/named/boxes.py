# SPDX-License-Identifier: BSD-3-Clause
"""Boxes and bars: the spread or the mean of each series of each data set."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.colors import to_rgb
from matplotlib.lines import Line2D
from matplotlib.patches import Patch, Rectangle

from linklab.measure.series import FloatArray
from linklab.plots.named.axes import set_limits, set_value_axis
from linklab.plots.named.clusters import ClusterLayout, ClusterPlace, finish, layout_of
from linklab.plots.named.picture import ONE_RUN, PlotPanel, remember
from linklab.plots.named.words import plain

MOST_OUTLIERS = 60
"""Of a box, on either side: those that lie furthest out."""

WHISKERS = 1.5
"""Interquartile ranges that a whisker is at most long (Tukey, 1977)."""

_WIDTH = 0.72
_NEAR = 0.5
"""Boxes that lie above half of the greatest value are drawn without the 0 below them, or they would be strokes."""

_CAP = 0.13
"""Half the width of what ends a whisker or the line on a bar; places are 1 apart."""


def draw_boxes(axes: Any, panel: PlotPanel) -> str:
    """Draw a box for each series of each data set; returns how to read it."""
    layout = layout_of(axes, panel)
    handles: list[Any] = [None] * max(place.number + 1 for cluster in layout.clusters for place in cluster.places)
    for cluster in layout.clusters:
        at, factor = layout.axes[cluster.side], layout.scales[cluster.side].factor
        for place in cluster.places:
            if place.line is not None:
                look = _patch_look(layout, cluster.entry, place)
                known = place.line.known
                remember(_draw_box(at, place.at, box_of(known), factor, look), place.line, factor)
                if known.size == 1:
                    # a dot near 0 is drawn whole, across the edge of the axes, unless it may lie far beyond it
                    limited = bool(panel.options.limits_y or panel.options.scaling or panel.spec.scaling)
                    _draw_value(at, place.at, float(known[0]) / factor, look, clip=limited)
                handles[place.number] = handles[place.number] or Patch(**look)
    for side, (at, scale) in enumerate(zip(layout.axes, layout.scales, strict=True)):
        set_value_axis(at, layout.on(side), scale, side, spec=panel.spec, options=panel.options, near=_NEAR)
    finish(layout, handles)
    said = f"Box: median and quartiles; whiskers: at most {WHISKERS:g} interquartile ranges"
    if panel.single:
        said = f"{ONE_RUN}, so a dot is its value; run the test with other seeds for boxes"
    return said + _from_where(layout)


def _from_where(layout: ClusterLayout) -> str:
    """That an axis begins above 0, so that small differences look large."""
    sides = [side for side, at in zip(("left", "right"), layout.axes, strict=False) if min(at.get_ylim()) > 0]
    if not sides or layout.panel.options.log_y:
        return ""
    which = (
        f"the {sides[0]} axis does"
        if len(layout.axes) > len(sides)
        else "axes do"
        if len(sides) > 1
        else "the axis does"
    )
    return f"; {which} not begin at 0"


@dataclass(frozen=True, eq=False)
class BoxNumbers:
    """What a box shows of values: quartiles, ends of the whiskers, and the outliers furthest out."""

    low: float
    quartiles: tuple[float, float, float]
    high: float
    outliers: FloatArray


def box_of(known: FloatArray) -> BoxNumbers:
    """The box of values without gaps, of which there is at least one."""
    first, median, third = (float(part) for part in np.percentile(known, (25, 50, 75)))
    reach = WHISKERS * (third - first)
    inside = known[(known >= first - reach) & (known <= third + reach)]
    below, above = np.sort(known[known < first - reach]), np.sort(known[known > third + reach])
    # the quartiles lie between values, so that the nearest value can be inside the box
    low, high = (float(inside.min()), float(inside.max())) if inside.size else (first, third)
    outliers = np.concatenate((below[:MOST_OUTLIERS], above[-MOST_OUTLIERS:]))
    return BoxNumbers(min(low, first), (first, median, third), max(high, third), outliers)


def _draw_box(axes: Any, at: float, box: BoxNumbers, factor: float, look: Mapping[str, Any]) -> Rectangle:
    # Matplotlib's own bxp takes ten times as long, which 200 files would show
    first, median, third = (part / factor for part in box.quartiles)
    low, high = box.low / factor, box.high / factor
    left, right = at - _WIDTH / 2, at + _WIDTH / 2
    patch = Rectangle((left, first), _WIDTH, third - first, **look)
    axes.add_patch(patch)
    edge = look["edgecolor"]
    axes.add_line(Line2D([left, right], [median, median], color="#000000", linewidth=1.4, zorder=3))
    across, up = _bars([(at, first, low), (at, third, high)])
    axes.add_line(Line2D(across, up, color=edge, linewidth=0.9, zorder=2))
    if box.outliers.size:
        marks = {"linestyle": "", "marker": ".", "markersize": 2.5, "color": edge}
        axes.add_line(Line2D(np.full(box.outliers.shape, at), box.outliers / factor, **marks))
    return patch


def _draw_value(axes: Any, at: float, value: float, look: Mapping[str, Any], *, clip: bool) -> None:
    """A dot on the box of one value, which is a stroke and would not show whose it is."""
    face, edge = look["facecolor"], look["edgecolor"]
    marks = {"marker": "o", "markersize": 7, "markerfacecolor": face, "markeredgecolor": edge, "zorder": 4}
    axes.add_line(Line2D([at], [value], linestyle="", clip_on=clip, **marks))


def _bars(ends: Sequence[tuple[float, float, float]]) -> tuple[list[float], list[float]]:
    """Upright lines at a place, from a value to another, where they have a cap, as one line with gaps."""
    across: list[float] = []
    up: list[float] = []
    for at, start, end in ends:
        across += [at, at, math.nan, at - _CAP, at + _CAP, math.nan]
        up += [start, end, math.nan, end, end, math.nan]
    return across, up


def draw_bars(axes: Any, panel: PlotPanel) -> str:
    """Draw a bar for each series of each data set, as high as its mean; returns how to read it."""
    layout = layout_of(axes, panel)
    handles: list[Any] = [None] * max(place.number + 1 for cluster in layout.clusters for place in cluster.places)
    tops: list[list[float]] = [[] for _ in layout.axes]
    for cluster in layout.clusters:
        for place in cluster.places:
            if place.line is None:
                continue
            look = _patch_look(layout, cluster.entry, place)
            factor = layout.scales[cluster.side].factor
            mean, error = float(place.line.known.mean()) / factor, panel.error_of(place.line.known) / factor
            at = layout.axes[cluster.side]
            bar = Rectangle((place.at - _WIDTH / 2, 0.0), _WIDTH, mean, **look)
            at.add_patch(bar)
            remember(bar, place.line, factor)
            if error:
                across, up = _bars([(place.at, mean, mean + error), (place.at, mean, mean - error)])
                at.add_line(Line2D(across, up, color="#000000", linewidth=0.9, zorder=4))
            tops[cluster.side] += [mean + error, mean - error]
            handles[place.number] = handles[place.number] or Patch(**look)
    for side, (at, scale) in enumerate(zip(layout.axes, layout.scales, strict=True)):
        at.set_ylabel(plain(scale.words))
        ends = [*_hidden_ends(layout, side), *tops[side]]
        low = _least(ends) if panel.options.log_y else min(0.0, *ends)
        set_limits(at, low, max(ends), side, panel.options, zero=True)
        if low < 0:
            at.axhline(0.0, color="#000000", linewidth=0.6, zorder=3)
        if panel.options.invert and scale.latency:
            at.invert_yaxis()
    finish(layout, handles)
    return panel.error_words()


def _least(ends: Sequence[float]) -> float:
    return min((end for end in ends if end > 0), default=0.0)


def _hidden_ends(layout: ClusterLayout, side: int) -> list[float]:
    """Means of those that only count for the limits."""
    factor = layout.scales[side].factor
    return [float(line.known.mean()) / factor for line in layout.on(side) if not line.shown]


def _patch_look(layout: ClusterLayout, entry: int, place: ClusterPlace) -> dict[str, Any]:
    """Colour and hatch of a box or bar: light, so that lines in it are seen."""
    number = place.number if layout.several else entry
    looks = layout.looks
    colour = looks.colour(entry, number) if layout.several else looks.colour(entry, 0)
    hatch = looks.hatch(entry, number) if layout.several else looks.hatch(entry, 0)
    light = tuple(1 - 0.45 * (1 - part) for part in to_rgb(colour))
    return {"facecolor": light, "edgecolor": colour, "hatch": hatch, "linewidth": 0.9, "zorder": 2}
