# SPDX-License-Identifier: BSD-3-Clause
"""Distributions: how large a share of the values is at most so large; and the quantiles of two data sets."""

from __future__ import annotations

from typing import Any

import numpy as np

from linklab.errors import InputError
from linklab.measure.series import FloatArray
from linklab.plots.named.axes import above_zero, scale_of, set_asked
from linklab.plots.named.legend import add_legend, add_line_legend
from linklab.plots.named.lines import DrawnLine
from linklab.plots.named.look import Looks
from linklab.plots.named.picture import PlotPanel, remember
from linklab.plots.named.words import plain

MOST_STEPS = 4000
"""Of one line: more than a screen has pixels."""

FEW = 20_000
LEVELS = 65_536


def draw_cdf(axes: Any, panel: PlotPanel) -> None:
    """Draw the empirical distribution of each series: no bins, a step at each value."""
    lines = panel.lines
    scale = scale_of(lines, 0, panel.spec, panel.options)
    looks = Looks(panel.options, len(panel.entries), len(panel.shown_files))
    drawn = []
    for line in lines:
        if not line.shown:
            continue
        value, share = _steps(*_distribution(line, exact=bool(panel.options.log_x)))
        value = value / scale.factor
        look = looks.line(line.entry, line.file, value.size, bold=line.of.line.bold)
        (artist,) = axes.plot(value, share, drawstyle="steps-post", **look)
        remember(artist, line, scale.factor)
        drawn.append((line, artist, False))
    axes.set_ylabel(plain(next(iter(panel.options.labels_y), "")) or "Cumulative share of values")
    axes.set_xlabel(plain(panel.options.label_x or scale.words))
    _set_value_limits(axes, panel, scale.factor)
    asked = panel.options.limits_y[0] if panel.options.limits_y else (None, None)
    set_asked(axes.set_ylim, 0.0, 1.02, asked)
    add_line_legend(axes, panel, looks, drawn)


def _distribution(line: DrawnLine, *, exact: bool) -> tuple[FloatArray, FloatArray]:
    """The values in their order and the share that is at most so large.

    Very many values are counted at 65,536 levels, which takes a tenth of the time that to order them takes; a screen
    shows some thousand.
    """
    known = line.known
    low, high = line.extent
    if known.size <= FEW or exact or high - low <= 0:
        return np.sort(known), np.arange(1, known.size + 1) / known.size
    steps = (known - low) * ((LEVELS - 1) / (high - low))
    counts = np.bincount(steps.astype(np.int64), minlength=LEVELS)
    there = np.flatnonzero(counts)
    return low + there * ((high - low) / (LEVELS - 1)), np.cumsum(counts)[there] / known.size


def _steps(ordered: FloatArray, share: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The corners of a distribution, from a share of 0; of very many evenly chosen ones."""
    if ordered.size > MOST_STEPS:
        chosen = np.unique(np.linspace(0, ordered.size - 1, MOST_STEPS).astype(np.int64))
        ordered, share = ordered[chosen], share[chosen]
    return np.concatenate((ordered[:1], ordered)), np.concatenate(([0.0], share))


def _set_value_limits(axes: Any, panel: PlotPanel, factor: float) -> None:
    options = panel.options
    scaling = options.scaling or panel.spec.scaling
    if scaling is None:
        low = min(line.extent[0] for line in panel.lines) / factor
        high = max(line.extent[1] for line in panel.lines) / factor
    else:
        low = min(float(np.percentile(line.known, scaling[0])) for line in panel.lines) / factor
        high = max(float(np.percentile(line.known, scaling[1])) for line in panel.lines) / factor
    if options.log_x:
        above = [line.known[line.known > 0] for line in panel.lines]
        positive = [float(part.min()) / factor for part in above if part.size]
        low, high = above_zero(max(low, min(positive, default=0.0)) / 1.1, high * 1.1)
    else:
        space = (high - low) * 0.03 or abs(high) * 0.03 or 0.5
        low, high = low - space, high + space
        if options.zero:
            low = min(0.0, low) if low + space < 0 else 0.0
    set_asked(axes.set_xlim, low, high, options.limits_x[0] if options.limits_x else (None, None))
    if options.log_x:
        axes.set_xscale("log", base=options.log_x)


def draw_qq(axes: Any, panel: PlotPanel) -> None:
    """Draw the quantiles of the second data set against those of the first; of further ones against the first too.

    As many quantiles as the smaller of two has values, from the least to the greatest; both begin and end there.

    Raises:
        InputError: there are not two data sets with the series, or several series.
    """
    if len(panel.entries) > 1:
        raise InputError(f"{panel.spec.name}: a Q-Q plot compares one series; choose one by its name")
    files = panel.shown_files
    if len(files) < 2:
        name = panel.entries[0].name
        raise InputError(f"{panel.spec.name}: a Q-Q plot compares data sets; give two that have {name}")
    scale = scale_of(panel.lines, 0, panel.spec, panel.options)
    known = {line.file: np.sort(line.known) / scale.factor for line in panel.lines if line.shown}
    looks = Looks(panel.options, 1, len(files))
    handles = []
    for number, file in enumerate(files[1:], 1):
        size = min(known[files[0]].size, known[file].size, MOST_STEPS)
        shares = np.linspace(0, 1, size) if size > 1 else np.array([0.5])
        look = dict(looks.line(0, number, size)) | {"linestyle": "", "markevery": None, "markersize": 3}
        across, up = np.quantile(known[files[0]], shares), np.quantile(known[file], shares)
        (artist,) = axes.plot(across, up, **look)
        handles.append((panel.names[file], artist))
    low = min(float(part[0]) for part in known.values())
    high = max(float(part[-1]) for part in known.values())
    (same,) = axes.plot([low, high], [low, high], color="#444444", linewidth=0.8, linestyle=(0, (6, 3)), zorder=1)
    handles.append(("equal", same))
    options = panel.options
    others = np.concatenate([known[file] for file in files[1:]])
    for set_to, values, asked in (
        (axes.set_xlim, known[files[0]], options.limits_x),
        (axes.set_ylim, others, options.limits_y),
    ):
        space = float(np.ptp(values)) * 0.04 or 0.5
        set_asked(set_to, float(values.min()) - space, float(values.max()) + space, asked[0] if asked else (None, None))
    axes.set_xlabel(plain(options.label_x or f"{scale.words}: {panel.names[files[0]]}"))
    other = panel.names[files[1]] if len(files) == 2 else "the others"
    axes.set_ylabel(plain(next(iter(options.labels_y), "") or f"{scale.words}: {other}"))
    add_legend(axes, handles, panel.spec, panel.options)
