# SPDX-License-Identifier: BSD-3-Clause
"""Two series against each other, an ellipse for each data set: how they vary together.

The ellipse of n standard deviations is the one of the covariance (n - 1) around the mean; under a normal distribution
of two dimensions one holds 39 % of the points, two 86 %.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from matplotlib.colors import to_rgb
from matplotlib.patches import Ellipse

from linklab.data.grid import at_times, common_times
from linklab.measure import make_series
from linklab.measure.series import FloatArray
from linklab.plots.named.axes import Scale, above_zero, scale_of, set_asked
from linklab.plots.named.legend import add_legend
from linklab.plots.named.lines import DrawnLine
from linklab.plots.named.look import Looks
from linklab.plots.named.picture import NothingError, PlotPanel
from linklab.plots.named.words import plain


def draw_ellipses(axes: Any, panel: PlotPanel) -> str:
    """Draw the ellipses of each further series over the first, of each data set; returns how to read them."""
    if len(panel.entries) < 2:
        asked = [line.series for line in panel.spec.lines]
        missing = [name for name in asked if not any(entry.line.series == name for entry in panel.entries)]
        words = f"no series {', '.join(missing)}" if missing else "only one of them"
        raise NothingError(f"An ellipse needs two series, and there is {words}.")
    by_axis = [[line for line in panel.lines if (line.entry == 0) is first] for first in (True, False)]
    across, up = (scale_of(lines, side, panel.spec, panel.options) for side, lines in enumerate(by_axis))
    looks = Looks(panel.options, len(panel.entries) - 1, len(panel.shown_files))
    sigmas = sorted(panel.options.sigmas)
    ends: list[FloatArray] = []
    handles = []
    for line, pairs in _pairs(panel):
        points = pairs / (across.factor, up.factor)
        mean, median, spread = points.mean(axis=0), np.median(points, axis=0), _covariance(points)
        reach = sigmas[-1] * np.sqrt(np.diag(spread))
        ends += [mean - reach, mean + reach, median]
        if not line.shown:
            continue
        look = looks.line(line.entry - 1, line.file, 1)
        for number, sigma in enumerate(sigmas):
            width, height, angle = ellipse_of(spread, sigma)
            axes.add_patch(
                Ellipse(
                    (float(mean[0]), float(mean[1])), width, height, angle=angle,
                    facecolor=(*to_rgb(look["color"]), 0.16), edgecolor=look["color"],
                    linestyle=look["linestyle"], linewidth=1.3 if number == 0 else 0.9,
                )
            )  # fmt: skip
        (dot,) = axes.plot(
            *median, linestyle="", marker=look["marker"] or "o", markersize=5, color=look["color"],
            markeredgecolor="#000000", markeredgewidth=0.6,
        )  # fmt: skip
        alone = len(panel.entries) == 2 and len(panel.shown_files) > 1
        words = panel.names[line.file] if alone else panel.words(line.of.label, line.file)
        handles.append((words, dot))
        if len(panel.shown_files) <= 12:
            # those of runs that are much alike stand above and below, not on each other
            offset = (5, 5) if len(handles) % 2 else (5, -11)
            axes.annotate(plain(words), median, xytext=offset, textcoords="offset points", size=7)
    _finish(axes, panel, across, up, np.array(ends))
    if len(handles) > 12 or panel.options.legend != "auto":
        add_legend(axes, handles, panel.spec, panel.options)
    told = " and ".join(f"{sigma:g}" for sigma in sigmas)
    ends_with = "deviation" if sigmas == [1.0] else "deviations"
    return f"Ellipse: {told} standard {ends_with} around the mean; dot: median"


def _pairs(panel: PlotPanel) -> Iterator[tuple[DrawnLine, FloatArray]]:
    """For each further series of each data set the points of both at common times, `(n, 2)`."""
    firsts = {line.file: line for line in panel.lines if line.entry == 0}
    for line in panel.lines:
        if line.entry == 0 or line.file not in firsts:
            continue
        both = [make_series("", "", one.time_s, one.value) for one in (firsts[line.file], line)]
        times, step_s = common_times(both)
        points = np.stack([at_times(one, times, step_s) for one in both], axis=1)
        points = points[~np.isnan(points).any(axis=1)]
        if len(points):
            yield line, points


def _covariance(points: FloatArray) -> FloatArray:
    return np.cov(points, rowvar=False) if len(points) > 1 else np.zeros((2, 2))


def ellipse_of(spread: FloatArray, sigma: float) -> tuple[float, float, float]:
    """Width, height (both from end to end) and angle, degrees, of the ellipse of a covariance."""
    values, vectors = np.linalg.eigh(spread)
    first, second = (2 * sigma * math.sqrt(max(float(value), 0.0)) for value in values[::-1])
    return first, second, math.degrees(math.atan2(float(vectors[1, 1]), float(vectors[0, 1])))


def _finish(axes: Any, panel: PlotPanel, across: Scale, up: Scale, ends: FloatArray) -> None:
    options = panel.options
    if not ends.size:
        raise NothingError("The two series have no time in common.")
    low, high = ends.min(axis=0), ends.max(axis=0)
    space = np.where(high > low, (high - low) * 0.06, np.abs(high) * 0.06 + 0.5)
    low, high = low - space, high + space
    if options.zero:
        low = np.minimum(low, 0.0)
    for number, log in enumerate((options.log_x, options.log_y)):
        if log:
            low[number], high[number] = above_zero(float(low[number]), float(high[number]))
    set_asked(axes.set_xlim, float(low[0]), float(high[0]), options.limits_x[0] if options.limits_x else (None, None))
    set_asked(axes.set_ylim, float(low[1]), float(high[1]), options.limits_y[0] if options.limits_y else (None, None))
    if options.log_x:
        axes.set_xscale("log", base=options.log_x)
    if options.log_y:
        axes.set_yscale("log", base=options.log_y)
    axes.set_xlabel(plain(options.label_x or across.words))
    axes.set_ylabel(plain(up.words))
    if options.invert and across.latency:
        axes.invert_xaxis()
    if options.invert and up.latency:
        axes.invert_yaxis()
