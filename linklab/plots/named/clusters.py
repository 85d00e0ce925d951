# SPDX-License-Identifier: BSD-3-Clause
"""Where boxes and bars stand: a cluster for each series, in it a place for each data set."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from linklab.base.text import excerpt
from linklab.errors import InputError
from linklab.plots.named.axes import Scale, scale_of
from linklab.plots.named.legend import add_legend
from linklab.plots.named.lines import DrawnLine
from linklab.plots.named.look import Looks
from linklab.plots.named.picture import PlotPanel
from linklab.plots.named.words import plain

MOST_IN_LEGEND = 8
"""Data sets that are told apart by colour and hatch; more have their names below."""

_LONG = 40
"""Letters of all words below the axis from which on they stand upright."""

_ABOVE_WORDS_IN, _LETTER_IN = 1.9, 0.053
"""What upright words leave of the figure's height to the axes, title and notes, and how long a letter of them is."""
_FEWEST_LETTERS = 6


@dataclass(frozen=True, eq=False)
class ClusterPlace:
    """Room for a box or bar.

    at: its middle on the horizontal axis.
    line: None if the data set lacks the series.
    number: of the data set in its cluster, which decides the looks.
    """

    at: float
    line: DrawnLine | None
    number: int
    name: str


@dataclass(frozen=True, eq=False)
class Cluster:
    """The places of one series, side by side; side: 1 if they are read at the right."""

    label: str
    entry: int
    side: int
    places: Sequence[ClusterPlace]


@dataclass(frozen=True, eq=False)
class ClusterLayout:
    """All clusters, the axes that they are drawn on, and their scales."""

    panel: PlotPanel
    clusters: Sequence[Cluster]
    axes: Sequence[Any]
    scales: Sequence[Scale]
    looks: Looks
    several: bool

    def on(self, side: int) -> list[DrawnLine]:
        """The lines that are read at the left (0) or the right (1)."""
        return [line for line in self.panel.lines if _side(line, len(self.axes)) == side]


def layout_of(axes: Any, panel: PlotPanel) -> ClusterLayout:
    """Lay out the panel on these axes.

    Raises:
        InputError: the data sets cannot be divided as asked.
    """
    lines = {(line.entry, line.file): line for line in panel.lines if line.shown}
    groups = _groups(panel)
    several = max(len(files) for _, files in groups) > 1
    rights = {entry for (entry, _), line in lines.items() if line.of.line.second_axis}
    both = bool(rights) and len(rights) < len({entry for entry, _ in lines})
    clusters = []
    at = 1.0
    for number, entry in enumerate(panel.entries):
        for group, files in groups:
            places = [
                ClusterPlace(0.0, lines.get((number, file)), slot, panel.names[file]) for slot, file in enumerate(files)
            ]
            if panel.options.skip_missing:
                places = [place for place in places if place.line is not None]
            if not any(place.line for place in places):
                continue
            places = [replace(place, at=at + step) for step, place in enumerate(places)]
            side = int(both and entry.line.second_axis)
            series = entry.label if len(panel.entries) > 1 or not group else ""
            words = " ".join(word for word in (series, group) if word)
            clusters.append(Cluster(words + (" (right)" if side else ""), number, side, places))
            at += len(places) + (1.0 if several else 0.4)
    options = panel.options
    if several and options.colour_by == "auto":
        options = replace(options, colour_by="file")
    looks = Looks(options, len(panel.entries), max(len(files) for _, files in groups))
    all_axes = [axes, axes.twinx()] if both else [axes]
    scales = []
    for side in range(len(all_axes)):
        mine = [line for line in panel.lines if _side(line, len(all_axes)) == side]
        scales.append(scale_of(mine, 1 if side or (rights and not both) else 0, panel.spec, panel.options))
    return ClusterLayout(panel, clusters, all_axes, scales, looks, several)


def _side(line: DrawnLine, axes: int) -> int:
    return int(axes == 2 and line.of.line.second_axis)


def _groups(panel: PlotPanel) -> list[tuple[str, list[int]]]:
    """The data sets of each cluster: all of them, or those of each name of `split`."""
    names, files = panel.options.split, panel.shown_files
    if not names:
        return [("", files)]
    if len(files) % len(names):
        raise InputError(f"split: {len(files)} data sets cannot be divided evenly into {len(names)} groups")
    size = len(files) // len(names)
    return [(name, files[number * size : (number + 1) * size]) for number, name in enumerate(names)]


def finish(layout: ClusterLayout, handles: Sequence[Any]) -> None:
    """The words of the horizontal axis and the legend; handles: of the data sets, by their number in a cluster."""
    axes, panel = layout.axes[0], layout.panel
    places = [place for cluster in layout.clusters for place in cluster.places]
    for cluster in layout.clusters:
        for place in cluster.places:
            if place.line is None:
                at = axes.get_xaxis_transform()
                axes.text(place.at, 0.02, "no data", transform=at, size=6, color="#666666", rotation=90, ha="center")
    axes.set_xlim(places[0].at - 0.9, places[-1].at + 0.9)
    axes.grid(visible=False, axis="x")
    if panel.options.label_x:
        axes.set_xlabel(plain(panel.options.label_x))
    for other in layout.axes[1:]:
        other.grid(visible=False)
        other.spines["right"].set_visible(True)
    each = layout.several and (len(layout.clusters) == 1 or not layout.looks.by_file or len(handles) > MOST_IN_LEGEND)
    if each:
        ticks = [(place.at, place.name) for place in places]
        if len(layout.clusters) > 1 or panel.entries[0].label:
            _head(layout)
    else:
        ticks = [((one.places[0].at + one.places[-1].at) / 2, one.label) for one in layout.clusters]
    words = [plain(word) if panel.options.tick_labels else "" for _, word in ticks]
    upright = sum(len(word) + 2 for word in words) > _LONG * axes.get_figure().get_size_inches()[0] / 3.2
    turned = {"rotation": 90} if upright and len(words) > 1 and max(map(len, words)) > 2 else {}
    if turned:  # they would push the axes out of a low figure
        room_in = axes.get_figure().get_size_inches()[1] - _ABOVE_WORDS_IN
        most = max(int(room_in / _LETTER_IN), _FEWEST_LETTERS)
        words = [word if "$" in word else excerpt(word, most) for word in words]
    axes.set_xticks([at for at, _ in ticks], words, **turned)
    if layout.several and not each:
        firsts = {place.number: place.name for place in reversed(places)}
        named = [(firsts[number], handles[number]) for number in sorted(firsts) if handles[number] is not None]
        add_legend(axes, named, panel.spec, panel.options)


def _head(layout: ClusterLayout) -> None:
    """The names of the clusters above them."""
    axes = layout.axes[0]
    for cluster in layout.clusters:
        middle = (cluster.places[0].at + cluster.places[-1].at) / 2
        at = axes.get_xaxis_transform()
        axes.text(middle, 1.01, plain(cluster.label), transform=at, ha="center", va="bottom", size=7.5)
    for cluster in layout.clusters[1:]:
        axes.axvline(cluster.places[0].at - 1.0, color="#999999", linewidth=0.6, linestyle=(0, (1, 2)))
