# SPDX-License-Identifier: BSD-3-Clause
"""A part of a history as a figure (SVG) and as a data set, which the viewer opens."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from linklab.data import Dataset
from linklab.live.history import LiveHistory
from linklab.live.tracks import PANELS
from linklab.measure import Quantity, Series
from linklab.measure.series import FloatArray
from linklab.plots import style
from linklab.plots.live_panels import SIZE_IN, LiveAxes, LiveLine, draw_live
from linklab.plots.spec import PlotKind, PlotLine, PlotSpec
from linklab.plots.spec_json import METADATA_KEY, to_json

ALL = "live"
"""The plot that has all panels."""
STEP_S = 0.1
MOST_STEPS = 20_000


def axes_of(
    history: LiveHistory,
    from_s: float = -math.inf,
    to_s: float = math.inf,
    *,
    keys: Collection[str] | None = None,
    panels: Collection[str] | None = None,
) -> dict[str, LiveAxes]:
    """The panels that have a line between two network times; keys: of the tracks that are wanted, None for all."""
    with history.lock:
        chosen = [track for key, track in history.tracks.items() if keys is None or key in keys]
        levels = history.levels()
        lines: dict[str, list[LiveLine]] = {}
        shown: dict[str, set[str]] = {}
        for track in chosen:
            series = track.series
            time_s, value = _within(*track.arrays, from_s, to_s)
            if np.isfinite(value).any() and (panels is None or series.panel in panels):
                line = LiveLine(series.label, history.number_of(series.of), series.dashed, time_s, value)
                lines.setdefault(series.panel, []).append(line)
                shown.setdefault(series.panel, set()).add(series.of)
        found = {}
        for name, panel in PANELS.items():
            if name in lines:
                own = [
                    (level.label, level.value, history.number_of(level.of))
                    for level in levels
                    if level.panel == name and level.of in shown[name]
                ]
                found[name] = LiveAxes(panel.words, panel.unit, lines[name], own)
        return found


def _within(time_s: FloatArray, value: FloatArray, from_s: float, to_s: float) -> tuple[FloatArray, FloatArray]:
    """The points between two times, with the values at both ends, so that a flat line that passes is seen."""
    if not time_s.size:
        return time_s, value
    first, last = np.searchsorted(time_s, from_s), np.searchsorted(time_s, to_s, side="right")
    inside = time_s[first:last], value[first:last]
    ends = [at for at in (from_s, to_s) if time_s[0] < at < time_s[-1] and at not in inside[0]]
    if not ends:
        return inside
    every = np.concatenate([inside[0], ends])
    order = np.argsort(every, kind="stable")
    return every[order], np.concatenate([inside[1], np.interp(ends, time_s, value)])[order]


def svg(history: LiveHistory, from_s: float, to_s: float, keys: Collection[str] | None = None) -> bytes:
    """A figure of a part; where nothing is known of it, one that says so."""
    panels = list(axes_of(history, from_s, to_s, keys=keys).values())
    width, height = SIZE_IN
    with style.context():
        figure = Figure(figsize=(width, height * max(1, len(panels)) + 0.4), layout="constrained")
        if panels:
            draw_live(figure, panels, *span(panels, from_s, to_s))
        else:
            figure.text(0.5, 0.5, "Nothing was measured in this time.", ha="center")
        return style.drawn(figure)


def span(panels: Collection[LiveAxes], from_s: float, to_s: float) -> tuple[float, float]:
    """From when to when the lines are, within two times; never nothing."""
    times = [line.time_s for panel in panels for line in panel.lines if line.time_s.size]
    first = max(from_s, min((float(each[0]) for each in times), default=0.0))
    last = min(to_s, max((float(each[-1]) for each in times), default=1.0))
    return (first, last) if last > first else (first, first + 1)


def dataset(
    history: LiveHistory,
    from_s: float,
    to_s: float,
    metadata: Mapping[str, Any],
    keys: Collection[str] | None = None,
) -> Dataset:
    """A part as a data set: a series for each line at its own times, the levels as scalars, and a plot a panel."""
    panels = axes_of(history, from_s, to_s, keys=keys)
    series: dict[str, Series] = {}
    scalars: dict[str, Quantity] = {}
    plots = []
    for name, panel in panels.items():
        lines = []
        for line in panel.lines:
            called = _free(f"{name} {line.label}", series)
            times, values = filled(line.time_s, line.value)
            series[called] = Series(called, panel.unit, times, values, "linklab live")
            lines.append(PlotLine(called, line.label))
        plots.append(PlotSpec(name, panel.words, PlotKind.TIMESERIES, tuple(lines), axis_labels=(panel.words, "")))
        for label, value, _ in panel.levels:
            scalars[_free(label, scalars)] = Quantity(value, panel.unit)
    every = PlotSpec(ALL, "All that was watched", PlotKind.META, parts=tuple(panels))
    told = {METADATA_KEY: [to_json(spec) for spec in ([every, *plots] if plots else [])]}
    return Dataset({**metadata, "tool": "linklab live", **told}, scalars, series)


def _free(name: str, taken: Collection[str]) -> str:
    """The name, or with a number where it is taken."""
    if name not in taken:
        return name
    return next(other for number in range(2, len(taken) + 3) if (other := f"{name} ({number})") not in taken)


def filled(time_s: FloatArray, value: FloatArray) -> tuple[FloatArray, FloatArray]:
    """A flat part has only its ends; points within it, so that who counts samples does not take it for a gap."""
    if time_s.size < 2:
        return time_s, value
    step_s = max(STEP_S, float(time_s[-1] - time_s[0]) / MOST_STEPS)
    flat = np.flatnonzero((value[1:] == value[:-1]) & (np.diff(time_s) > 1.5 * step_s))
    more = [np.arange(time_s[place] + step_s, time_s[place + 1] - step_s / 2, step_s) for place in flat]
    times = np.concatenate([time_s, *more])
    values = np.concatenate(
        [value, *(np.full(part.size, value[place]) for place, part in zip(flat, more, strict=True))]
    )
    order = np.argsort(times, kind="stable")
    return times[order], values[order]
