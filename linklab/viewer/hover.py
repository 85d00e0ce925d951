# SPDX-License-Identifier: BSD-3-Clause
"""The series of a figure that is nearest to a point of the screen, with its values. Needs Matplotlib, but no window.

What shows a series is what `linklab.plots.named` remembers: lines, boxes and bars.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from linklab.measure.series import FloatArray
from linklab.plots.named import shown_of

WITHIN = 40.0
"""Pixels of a plain display from the pointer to a point, beyond which nothing is near."""

LEAST_STEP = 1.0
"""Pixels between two points that the keys stop at."""

Pixels = tuple[float, float]


@dataclass(frozen=True)
class NearestPoint:
    """A point of a series, or a box or bar.

    artist: Matplotlib's; at: which of its points. words: series and values. place: in pixels from the figure's lower
    left corner.
    """

    artist: Any
    at: int
    words: str
    place: Pixels


def shown_lines(figure: Any) -> list[Any]:
    """The lines of a figure that show series, in the order in which they were drawn."""
    return [line for axes in figure.axes for line in axes.lines if line.get_visible() and shown_of(line) is not None]


def nearest(figure: Any, x: float, y: float, names: Sequence[str], within: float = WITHIN) -> NearestPoint | None:
    """The point nearest to a place of the figure, in pixels, or the box or bar there; None if nothing is near.

    names: of the data sets, in the order in which they were drawn.
    """
    best: tuple[float, Any, int] | None = None
    for line in shown_lines(figure):
        if line.axes.bbox.contains(x, y):
            found = _nearest_of(line, x, y, within)
            if found is not None and (best is None or found[0] < best[0]):
                best = (found[0], line, found[1])
    if best is not None:
        return point_of(best[1], best[2], names)
    for patch in (patch for axes in figure.axes for patch in axes.patches):
        if shown_of(patch) is not None and patch.contains_point((x, y)):
            return NearestPoint(patch, 0, summary_of(patch, names), (x, y))
    return None


def _nearest_of(line: Any, x: float, y: float, within: float) -> tuple[float, int] | None:
    """Distance and number of the point of a line that is nearest; only those above and below the pointer count."""
    xs, ys = data_of(line)
    if not xs.size:
        return None
    first, last = 0, xs.size
    if is_ordered(xs):
        inverse = line.axes.transData.inverted()
        left, right = (float(inverse.transform((edge, y))[0]) for edge in (x - within, x + within))
        first, last = int(np.searchsorted(xs, left)), int(np.searchsorted(xs, right, side="right"))
    if first >= last:
        return None
    places = line.get_transform().transform(np.column_stack((xs[first:last], ys[first:last])))
    distances = np.hypot(places[:, 0] - x, places[:, 1] - y)
    distances[np.isnan(distances)] = np.inf
    at = int(distances.argmin())
    return (float(distances[at]), first + at) if distances[at] <= within else None


def data_of(line: Any) -> tuple[FloatArray, FloatArray]:
    """The points of a line as it is drawn."""
    xs, ys = line.get_data(orig=False)
    return np.asarray(xs, dtype=np.float64), np.asarray(ys, dtype=np.float64)


def is_ordered(xs: FloatArray) -> bool:
    """Whether a line goes from left to right, so that its points can be searched."""
    return bool((xs[1:] >= xs[:-1]).all())


def point_of(line: Any, at: int, names: Sequence[str]) -> NearestPoint:
    """The point of that number of a line."""
    xs, ys = data_of(line)
    place = line.get_transform().transform((xs[at], ys[at]))
    axes = line.axes
    words = f"{name_of(line, names)}:  {_value(axes.xaxis, xs[at])},  {_value(axes.yaxis, ys[at])}"
    return NearestPoint(line, at, words, (float(place[0]), float(place[1])))


def name_of(artist: Any, names: Sequence[str]) -> str:
    """The series that an artist shows, and the data set if there are several."""
    shown = shown_of(artist)
    if shown is None:
        return ""
    label = shown.line.of.label or shown.line.of.name
    file = shown.line.file
    return f"{label} – {names[file]}" if len(names) > 1 and file < len(names) else label


def _value(axis: Any, value: float) -> str:
    """A value with the words of its axis: "Time (s) 12.4"."""
    return f"{_words(axis)} {value:.6g}"


def _words(axis: Any) -> str:
    """The words of an axis; panels that share one have them at the last."""
    label = str(axis.get_label_text())
    if not label and axis.axis_name == "x":
        others = axis.axes.get_shared_x_axes().get_siblings(axis.axes)
        label = next(filter(None, (str(other.xaxis.get_label_text()) for other in others)), "")
    return " ".join(label.replace("\\$", "$").split()) or str(axis.axis_name)


def summary_of(patch: Any, names: Sequence[str]) -> str:
    """What a box or a bar stands for."""
    shown = shown_of(patch)
    known = shown.line.known / shown.factor if shown is not None else np.empty(0)
    if not known.size:
        return name_of(patch, names)
    low, middle, high = np.percentile(known, (25, 50, 75))
    values = f"mean {known.mean():.6g},  median {middle:.6g},  quartiles {low:.6g} and {high:.6g},  n {known.size}"
    return f"{name_of(patch, names)}:  {values}"


def step(line: Any, at: int, steps: int) -> int:
    """The number of the point that many stops further along what is seen of a line; one stop a pixel at most."""
    stops = seen_points(line)
    if not stops.size:
        return at
    now = int(np.searchsorted(stops, at))
    return int(stops[min(max(now + steps, 0), stops.size - 1)])


def seen_points(line: Any) -> Any:
    """Numbers of the points of a line that its axes show, in its order, none nearer to the one before than a pixel."""
    xs, ys = data_of(line)
    if not xs.size:
        return np.empty(0, dtype=np.int64)
    places = line.get_transform().transform(np.column_stack((xs, ys)))
    box = line.axes.bbox
    found = np.flatnonzero((places[:, 0] >= box.x0 - 1) & (places[:, 0] <= box.x1 + 1) & ~np.isnan(places[:, 1]))
    if is_ordered(xs) and found.size:
        columns = np.floor(places[found, 0] / LEAST_STEP)
        found = found[np.concatenate(([True], np.diff(columns) > 0))]
    return found
