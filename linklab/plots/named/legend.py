# SPDX-License-Identifier: BSD-3-Clause
"""Legends: one entry for each line, or, where series and files make many lines, one for each colour and each dash."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from matplotlib.lines import Line2D
from matplotlib.transforms import offset_copy

from linklab.base.text import excerpt
from linklab.plots.named.lines import DrawnLine
from linklab.plots.named.look import DASHES, Looks
from linklab.plots.named.options import Options
from linklab.plots.named.picture import PlotPanel
from linklab.plots.named.words import plain
from linklab.plots.spec import PlotSpec

MOST = 40
"""Entries of a legend; the others are one that says how many they are."""

FEW = 4
"""Lines that have an entry each, even where series and files differ."""

_DASHED = 4.2
"""Letters that the sample of a dashed line is long, so that its dash is seen whole."""
_SAMPLE_IN, _DASHED_IN = 0.42, 0.56
"""What a sample takes with the space around it."""

_MOST_TITLE = 90
_ROW_IN = 0.145
_ABOVE = 0.3
"""The share of the height of the axes that a legend above them may have."""

_NARROW_IN = 3.5
"""Axes that are narrower have no room beside them."""

_MOST_ROWS = 6
_MOST_ABOVE = 0.62
"""The share of the height that a legend without room elsewhere may have; entries beyond are counted."""

_LOWER_LEFT = 3
"""Matplotlib's number of the corner at which a legend above the axes is held."""

_GREY = "#444444"


def add_line_legend(axes: Any, panel: PlotPanel, looks: Looks, drawn: Sequence[tuple[DrawnLine, Any, bool]]) -> None:
    """The legend of lines, each with what was drawn of it and whether it is read at the right.

    Several series of several files are told apart by colour and dash; then colours and dashes have an entry each, if
    there are dashes enough.
    """
    files, entries = panel.shown_files, {line.entry for line, _, _ in drawn}
    dashes = len(entries) if looks.by_file else len(files)
    if len(files) < 2 or len(entries) < 2 or dashes > len(DASHES) or len(drawn) <= FEW or not looks.dashed:
        handles = [(panel.label(line) + _mark(right), artist) for line, artist, right in drawn]
    else:
        by_entry = {line.entry: (line.of.label + _mark(right), line.of.line.bold) for line, _, right in drawn}
        by_file = {file: (panel.names[file], False) for file in files}
        colours, others = (by_file, by_entry) if looks.by_file else (by_entry, by_file)
        handles = [(label, Line2D([], [], **looks.solid(at, bold=bold))) for at, (label, bold) in colours.items()]
        handles += [
            (label, Line2D([], [], color=_GREY, linestyle=looks.dash(at), linewidth=1.2))
            for at, (label, _) in others.items()
        ]
    add_legend(axes, handles, panel.spec, panel.options)


def _mark(right: bool) -> str:
    return " (right)" if right else ""


def add_legend(axes: Any, handles: Sequence[tuple[str, Any]], spec: PlotSpec, options: Options) -> None:
    """The legend of a panel: a handle for each label, where the options want it and as many as there is room for."""
    if options.legend == "none" or not handles:
        return
    dashed = any(isinstance(artist, Line2D) and artist.get_linestyle() not in ("-", "None") for _, artist in handles)
    place, most = _place(axes, [label for label, _ in handles], options, _DASHED_IN if dashed else _SAMPLE_IN)
    if dashed:
        place["handlelength"] = _DASHED
    shown = list(handles if len(handles) <= most else handles[: most - 1])
    if options.legend_reverse:
        shown.reverse()
    labels = [plain(label) for label, _ in shown]
    # Matplotlib leaves out a label that begins with an underscore
    labels = [f" {label}" if label.startswith("_") else label for label in labels]
    artists = [artist for _, artist in shown]
    if len(handles) > len(shown):
        labels.append(f"and {len(handles) - len(shown)} more")
        artists.append(Line2D([], [], linestyle=""))
    title = spec.legend_title if options.legend_title is None else options.legend_title
    axes.legend(artists, labels, title=plain(excerpt(title, _MOST_TITLE)) or None, **place)


def legend_rows(axes: Any) -> int:
    """How many rows the legend above the axes has; 0 if none is there."""
    legend = axes.get_legend()
    if legend is None or legend.get_bbox_to_anchor().y0 < axes.bbox.y1 or legend._loc != _LOWER_LEFT:
        return 0
    return -(-len(legend.get_texts()) // int(legend._ncols))


def _place(axes: Any, labels: Sequence[str], options: Options, sample_in: float) -> tuple[dict[str, Any], int]:
    """Where the legend stands, in how many columns, and how many entries there is room for."""
    width_in, height_in = axes.get_figure().get_size_inches() * (axes.get_position().width, axes.get_position().height)
    fit = max(1, int(width_in / (0.05 * max(map(len, labels)) + sample_in)))
    columns = options.legend_columns or min(fit, len(labels))
    rows = -(-len(labels) // columns)
    place = options.legend
    if place == "auto":
        short = rows * _ROW_IN <= _ABOVE * height_in
        place = "above" if rows <= 1 or short or width_in < _NARROW_IN else "right"
    if place in ("above", "below"):
        anchor, corner = ((0.0, 1.0), "lower left") if place == "above" else ((0.0, -0.22), "upper left")
        look = {"loc": corner, "bbox_to_anchor": anchor, "borderaxespad": 0.2, "ncol": columns, "columnspacing": 1.0}
        most_rows = min(_MOST_ROWS, max(1, int(_MOST_ABOVE * height_in / _ROW_IN)))
        return look, columns * most_rows if options.legend == "auto" else max(MOST, columns)
    columns = options.legend_columns or 1
    most = min(MOST, max(int(height_in / _ROW_IN), 3) * columns)
    if place == "right":
        twin = any(other is not axes and other.bbox.bounds == axes.bbox.bounds for other in axes.get_figure().axes)
        # in inches, since the layout makes the axes narrower later
        beside = offset_copy(axes.transAxes, axes.get_figure(), x=0.6 if twin else 0.1, units="inches")
        look = {"loc": "upper left", "bbox_to_anchor": (1.0, 1.0), "bbox_transform": beside}
        return {**look, "borderaxespad": 0.0, "ncol": columns}, most
    return {"loc": place, "ncol": columns}, most
