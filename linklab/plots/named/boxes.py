# SPDX-License-Identifier: BSD-3-Clause
"""Boxes and bars: the spread or the mean of each series of each data set."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.colors import to_rgb
from matplotlib.patches import Patch

from linklab.measure.series import FloatArray
from linklab.plots.named.axes import set_limits, set_value_axis
from linklab.plots.named.clusters import Layout, Place, finish, layout_of
from linklab.plots.named.picture import Panel, remember
from linklab.plots.named.words import plain

MOST_OUTLIERS = 60
"""Of a box, on either side: those that lie furthest out."""

WHISKERS = 1.5
"""Interquartile ranges that a whisker is at most long (Tukey, 1977)."""

_WIDTH = 0.72


def draw_boxes(axes: Any, panel: Panel) -> str:
    """Draw a box for each series of each data set; returns how to read it."""
    layout = layout_of(axes, panel)
    handles: list[Any] = [None] * max(place.number + 1 for cluster in layout.clusters for place in cluster.places)
    for cluster in layout.clusters:
        for place in cluster.places:
            if place.line is None:
                continue
            look = _patch_look(layout, cluster.entry, place)
            known = place.line.known / layout.scales[cluster.side].factor
            drawn = layout.axes[cluster.side].bxp(
                [box_of(known)],
                positions=[place.at],
                widths=_WIDTH,
                patch_artist=True,
                manage_ticks=False,
                boxprops=look,
                medianprops={"color": "#000000", "linewidth": 1.4},
                whiskerprops={"color": look["edgecolor"], "linewidth": 0.9},
                capprops={"color": look["edgecolor"], "linewidth": 0.9},
                flierprops={"marker": ".", "markersize": 2.5, "markeredgecolor": look["edgecolor"]},
            )
            remember(drawn["boxes"][0], place.line, layout.scales[cluster.side].factor)
            handles[place.number] = handles[place.number] or Patch(**look)
    for side, (at, scale) in enumerate(zip(layout.axes, layout.scales, strict=True)):
        set_value_axis(at, layout.on(side), scale, side, spec=panel.spec, options=panel.options)
    finish(layout, handles)
    return f"Box: median and quartiles; whiskers: at most {WHISKERS:g} interquartile ranges"


def box_of(known: FloatArray) -> dict[str, Any]:
    """What a box shows of values: quartiles, ends of the whiskers, and the outliers furthest out."""
    low, median, high = (float(part) for part in np.percentile(known, (25, 50, 75)))
    reach = WHISKERS * (high - low)
    inside = known[(known >= low - reach) & (known <= high + reach)]
    below, above = np.sort(known[known < low - reach]), np.sort(known[known > high + reach])
    return {
        "med": median,
        "q1": low,
        "q3": high,
        "whislo": min(float(inside.min()), low) if inside.size else low,
        "whishi": max(float(inside.max()), high) if inside.size else high,
        "fliers": np.concatenate((below[:MOST_OUTLIERS], above[-MOST_OUTLIERS:])),
    }


def draw_bars(axes: Any, panel: Panel) -> str:
    """Draw a bar for each series of each data set, as high as its mean; returns how to read it."""
    layout = layout_of(axes, panel)
    handles: list[Any] = [None] * max(place.number + 1 for cluster in layout.clusters for place in cluster.places)
    tops: list[list[float]] = [[] for _ in layout.axes]
    for cluster in layout.clusters:
        for place in cluster.places:
            if place.line is None:
                continue
            look = _patch_look(layout, cluster.entry, place)
            known = place.line.known / layout.scales[cluster.side].factor
            mean, error = float(known.mean()), panel.error_of(known)
            at = layout.axes[cluster.side]
            (bar,) = at.bar([place.at], [mean], width=_WIDTH, **look)
            remember(bar, place.line, layout.scales[cluster.side].factor)
            if error:
                at.errorbar([place.at], [mean], yerr=[error], color="#000000", capsize=2.5, linewidth=0.9, zorder=4)
            tops[cluster.side] += [mean + error, mean - error]
            handles[place.number] = handles[place.number] or Patch(**look)
    for side, (at, scale) in enumerate(zip(layout.axes, layout.scales, strict=True)):
        at.set_ylabel(plain(scale.words))
        ends = [*_hidden_ends(layout, side), *tops[side]]
        low = _least(ends) if panel.options.log_y else min(0.0, *ends)
        set_limits(at, low, max(ends), side, panel.options, zero=True)
        if panel.options.invert and scale.latency:
            at.invert_yaxis()
    finish(layout, handles)
    return panel.error_words()


def _least(ends: Sequence[float]) -> float:
    return min((end for end in ends if end > 0), default=0.0)


def _hidden_ends(layout: Layout, side: int) -> list[float]:
    """Means of those that only count for the limits."""
    factor = layout.scales[side].factor
    return [float(line.known.mean()) / factor for line in layout.on(side) if not line.shown]


def _patch_look(layout: Layout, entry: int, place: Place) -> dict[str, Any]:
    """Colour and hatch of a box or bar: light, so that lines in it are seen."""
    number = place.number if layout.several else entry
    looks = layout.looks
    colour = looks.colour(entry, number) if layout.several else looks.colour(entry, 0)
    hatch = looks.hatch(entry, number) if layout.several else looks.hatch(entry, 0)
    light = tuple(1 - 0.45 * (1 - part) for part in to_rgb(colour))
    return {"facecolor": light, "edgecolor": colour, "hatch": hatch, "linewidth": 0.9, "zorder": 2}
