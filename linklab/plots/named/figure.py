# SPDX-License-Identifier: BSD-3-Clause
"""A plot and its data sets → a figure with its panels, title and notes; and figures as files."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.figure import Figure

from linklab.base.text import excerpt, one_line
from linklab.errors import InputError
from linklab.plots import style
from linklab.plots.named.boxes import draw_bars, draw_boxes
from linklab.plots.named.cdf import draw_cdf, draw_qq
from linklab.plots.named.combine import COMBINED_KEY, COMBINING, combined
from linklab.plots.named.ellipsis import draw_ellipses
from linklab.plots.named.legend import legend_rows
from linklab.plots.named.lines import kept_words
from linklab.plots.named.loaded import Loaded, specs_of
from linklab.plots.named.means import draw_means
from linklab.plots.named.options import MOST_PIXELS, Options
from linklab.plots.named.picture import NothingError, PlotPanel
from linklab.plots.named.timeseries import draw_lines, draw_stack, refine_on_zoom
from linklab.plots.named.words import plain
from linklab.plots.spec import PlotKind, PlotSpec

SIZE_IN = (6.4, 4.2)
PANEL_IN = 2.0
"""Height of each panel of several, on a screen; of one column of a paper it is less."""

MOST_PANELS = 30

_DRAW: Mapping[PlotKind, Callable[[Any, PlotPanel], str | None]] = {
    PlotKind.TIMESERIES: draw_lines,
    PlotKind.CDF: draw_cdf,
    PlotKind.BOX: draw_boxes,
    PlotKind.BAR: draw_bars,
    PlotKind.ELLIPSIS: draw_ellipses,
    PlotKind.QQ: draw_qq,
    PlotKind.LINE_COMBINE: draw_means,
}

_OVER_TIME = (PlotKind.TIMESERIES, PlotKind.TIMESERIES_COMBINE)

_MOST_TITLE = 110
"""Letters of a line of the title that a file gives."""

_GREY = "#555555"


def save(
    spec: PlotSpec, data: Sequence[Loaded], options: Options, path: Path, specs: Sequence[PlotSpec] | None = None
) -> None:
    """Draw the plot and write it as .svg, .pdf or .png; the same data sets and options give the same bytes.

    Raises:
        InputError: as `draw` and `style.save` raise it.
    """
    if path.suffix.lower() not in style.FORMATS:
        raise InputError(f"{path}: a figure can be written as {', '.join(style.FORMATS)}")
    with style.context():
        size_in = size_of(spec, data, options)
        if path.suffix.lower() == ".png" and max(size_in) * options.dpi > MOST_PIXELS:
            raise InputError(f"{path}: at {options.dpi} dpi it has more than {MOST_PIXELS} pixels; give less with dpi")
        figure = Figure(figsize=size_in, dpi=options.dpi)
        draw(figure, spec, data, options, specs)
        style.save(figure, path, dpi=options.dpi)


def size_of(spec: PlotSpec, data: Sequence[Loaded], options: Options) -> tuple[float, float]:
    """Width and height of the figure, inches, as asked or as the plot needs it."""
    if options.size_in is not None:
        return options.size_in
    width, height = style.ONE_COLUMN_IN if options.style == "print" else SIZE_IN
    files = sum(one.shown for one in data)
    rows, columns = _grid(spec, files, options)
    if rows > 1:
        # each panel of several files has a long legend
        narrow_in = 1.25 if files == 1 or options.subplots else PANEL_IN
        height = rows * (narrow_in if options.style == "print" else PANEL_IN) + 0.8
    return width * (1.5 if columns > 1 and options.style != "print" else 1), height


def draw(
    figure: Figure,
    spec: PlotSpec,
    data: Sequence[Loaded],
    options: Options,
    specs: Sequence[PlotSpec] | None = None,
) -> None:
    """Draw the plot of these data sets into the figure, in place of what is in it.

    Args:
        figure: of any size; lines are reduced to what its pixels show.
        spec: the plot.
        data: the data sets, in the order in which they are drawn.
        options: what a person asks of the figure.
        specs: the plots among which a plot of several parts looks for them; None for those that the data carry.

    Raises:
        InputError: the plot cannot be drawn of these data sets, or not as asked; the message says what to do.
    """
    with style.context(), mpl.rc_context({"hatch.linewidth": 0.5, "axes.titlesize": 8.5}):
        figure.clear()
        figure.set_layout_engine("constrained", w_pad=0.07, h_pad=0.06)
        told = list(dict.fromkeys(_draw_panels(figure, spec, data, options, specs)))
        refine_on_zoom(figure)
        figure.align_ylabels()
        _add_title(figure, spec, data, options)
        _add_notes(figure, data, options, [words for words in told if words])


def _draw_panels(
    figure: Figure, spec: PlotSpec, data: Sequence[Loaded], options: Options, specs: Sequence[PlotSpec] | None
) -> list[str]:
    """Draw each panel; returns how to read them."""
    if not any(one.shown for one in data):
        raise InputError(f"{spec.name}: there is no data set to draw")
    if spec.kind is PlotKind.META:
        parts = _parts(spec, specs_of(data) if specs is None else specs)
        titled = [(part.legend_title or part.description, part, data) for part in parts]
        return _draw_parts(figure, titled, spec.name, _grid(spec, 1, options), options)
    if spec.kind is PlotKind.SUBPLOT_COMBINE or options.subplots:
        grid = _grid(spec, sum(one.shown for one in data), options)
        if spec.kind is PlotKind.SUBPLOT_COMBINE:
            (spec,) = _parts(spec, specs_of(data) if specs is None else specs)[:1]
        names = PlotPanel(spec, data, options).names
        alone = [
            (names[number], spec, [replace(other, shown=other is one) for other in data])
            for number, one in enumerate(data)
            if one.shown
        ]
        return _draw_parts(figure, alone, spec.name, grid, options)
    return _draw_one(figure.add_subplot(), spec, data, options)


def _parts(spec: PlotSpec, specs: Sequence[PlotSpec]) -> list[PlotSpec]:
    """The plots that a plot is made of."""
    by_name = {one.name: one for one in specs}
    if not spec.parts:
        raise InputError(f"{spec.name}: it is made of other plots, and names none")
    for name in spec.parts:
        if name not in by_name:
            raise InputError(f"{spec.name}: its part {excerpt(name)} is not among the plots")
        if by_name[name].kind in (PlotKind.META, PlotKind.SUBPLOT_COMBINE):
            raise InputError(f"{spec.name}: its part {excerpt(name)} is made of parts itself, which cannot be drawn")
    return [by_name[name] for name in spec.parts]


def _grid(spec: PlotSpec, files: int, options: Options) -> tuple[int, int]:
    """Rows and columns of panels."""
    if spec.kind is PlotKind.META:
        return (1, len(spec.parts)) if spec.side_by_side else (len(spec.parts), 1)
    if spec.kind is PlotKind.SUBPLOT_COMBINE or options.subplots:
        columns = 1 if files <= 4 else math.ceil(math.sqrt(files))
        return math.ceil(files / columns), columns
    return 1, 1


def _draw_parts(
    figure: Figure,
    parts: Sequence[tuple[str, PlotSpec, Sequence[Loaded]]],
    name: str,
    grid: tuple[int, int],
    options: Options,
) -> list[str]:
    """Panels, each with its title; those over time, one above the other, share their axis."""
    if len(parts) > MOST_PANELS:
        raise InputError(f"{name}: a figure has at most {MOST_PANELS} panels, not {len(parts)}")
    rows, columns = grid
    over_time = columns == 1 and all(part.kind in _OVER_TIME for _, part, _ in parts)
    told: list[str] = []
    for number, (title, part, data) in enumerate(parts):
        axes = figure.add_subplot(rows, columns, number + 1, sharex=figure.axes[0] if over_time and number else None)
        # its title stands where the legend's would
        told += _draw_one(axes, replace(part, legend_title=""), data, replace(options, legend_title=""))
        if options.title != "" and axes.axison:
            rows_above = legend_rows(axes)
            axes.set_title(plain(excerpt(title)), loc="left", pad=4 + 11 * rows_above)
    if over_time:
        _share_time(figure, options)
    return told


def _share_time(figure: Figure, options: Options) -> None:
    """Give all panels the time axis of the longest, and its words to the last one alone."""
    drawn = [axes for axes in figure.axes if axes.axison]
    if drawn and not options.limits_x:
        limits = [axes.dataLim.intervalx for axes in drawn]
        start, end = min(float(low) for low, _ in limits), max(float(high) for _, high in limits)
        drawn[0].set_xlim(0.0 if 0 < start < end - start else start, end)
    last = max((axes.get_subplotspec().rowspan.start for axes in drawn), default=0)
    for axes in drawn:
        if axes.get_subplotspec().rowspan.start != last:
            axes.set_xlabel("")
            axes.tick_params(labelbottom=False)


def _draw_one(axes: Any, spec: PlotSpec, data: Sequence[Loaded], options: Options) -> list[str]:
    """Draw one panel, or say in it that there is nothing to draw; returns how to read it."""
    asked = spec
    kept = all(COMBINED_KEY in one.data.metadata for one in data)
    panel = PlotPanel(spec, data, options, smooth=spec.kind is PlotKind.TIMESERIES, combined=kept)
    if not any(line.shown for line in panel.lines):
        _say_empty(axes, spec, panel)
        return []
    told = []
    if spec.kind in COMBINING:
        made = combined(spec, data, options)
        spec, told = made.spec, [made.words]
        panel = PlotPanel(spec, made.data, made.options, smooth=spec.kind is PlotKind.TIMESERIES, combined=True)
        if not panel.lines:
            _say(axes, f"No run gives a number of {_some([line.label or line.series for line in spec.lines])}.")
            return []
    drawing = draw_stack if spec.stacked and spec.kind is PlotKind.TIMESERIES else _DRAW[spec.kind]
    # an axis of time shows what is left out
    part = "" if asked.kind in _OVER_TIME else kept_words(asked, options)
    try:
        return [*told, drawing(axes, panel) or "", part]
    except NothingError as error:
        axes.clear()
        _say(axes, str(error))
        return []


def _say_empty(axes: Any, spec: PlotSpec, panel: PlotPanel) -> None:
    """The sentence of a panel without data."""
    asked = [line.series.partition(" !")[0] + (f"::{line.key}" if line.key else "") for line in spec.lines]
    asked = list(dict.fromkeys(asked))
    whose = f"{panel.names[0]} has no" if len(panel.data) == 1 else "None of the data sets has"
    if not asked:
        sentence = f"The plot {spec.name} names no series."
    elif panel.entries:
        sentence = f"{whose} values of {_some(asked)} in the time that is drawn."
    else:
        sentence = f"{whose} series {_some(asked)}."
    _say(axes, sentence)


def _say(axes: Any, sentence: str) -> None:
    axes.set_axis_off()
    words = "\n".join(textwrap.wrap(one_line(sentence), 70))
    axes.text(0.5, 0.5, plain(words), transform=axes.transAxes, ha="center", va="center", size=9, color=_GREY)


def _some(names: Sequence[str]) -> str:
    shown = ", ".join(excerpt(name) for name in names[:4])
    return shown if len(names) <= 4 else f"{shown} and {len(names) - 4} more"


def _add_title(figure: Figure, spec: PlotSpec, data: Sequence[Loaded], options: Options) -> None:
    if options.title is not None or options.style == "print":
        title = options.title or ""  # a paper has the words below the figure
    else:
        shown = [one for one in data if one.shown]
        own = (shown[0].title or shown[0].stem) if len(shown) == 1 else ""
        title = "\n".join(excerpt(line, _MOST_TITLE) for line in (spec.description, own) if line)
    letters = max(int(figure.get_size_inches()[0] * 13), 20)
    lines = [part for line in title.split("\n") for part in textwrap.wrap(one_line(line), letters)]
    if lines:
        figure.suptitle(plain("\n".join(lines)), size=9.5)


def _add_notes(figure: Figure, data: Sequence[Loaded], options: Options, told: Sequence[str]) -> None:
    """The notes at the bottom: a person's, how to read the figure, and of which test it is."""
    words = [one_line(options.note)] if options.note else []
    if options.annotation:
        words += [f"{sentence}." for sentence in told]
        words += [_about(data)]
    letters = max(int(figure.get_size_inches()[0] * 24), 20)
    text = "\n".join(line for part in words if part for line in textwrap.wrap(part, letters))
    if text:
        figure.supxlabel(plain(text), x=0.01, ha="left", size=6, color=_GREY)


def _about(data: Sequence[Loaded]) -> str:
    """Which test, on which path, between which hosts, when and for how long; what several data sets have in common."""
    parts = []
    for one in data:
        flent, ours = one.data.flent, one.data.metadata
        name = str(ours.get("test") or flent.get("NAME") or "")
        hosts = [str(flent.get(key) or "") for key in ("LOCAL_HOST", "HOST")]
        when = str(flent.get("T0") or flent.get("TIME") or "")
        known = (
            name,
            str(ours.get("path") or ours.get("topology") or ""),
            " → ".join(host for host in hosts if host) if all(hosts) else "",
            "" if when.startswith("1970-01-01") else when[:19].replace("T", " "),
            f"{one.length_s:g} s" if one.length_s and COMBINED_KEY not in one.data.metadata else "",
        )
        parts.append(known)
    same = [column[0] for column in zip(*parts, strict=True) if len(set(column)) == 1 and column[0]]
    several = [f"{len(parts)} data sets"] if len(parts) > 1 else []
    return excerpt(" · ".join([*several, *same]), 200)
