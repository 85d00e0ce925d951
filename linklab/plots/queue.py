# SPDX-License-Identifier: BSD-3-Clause
"""Samples of a queue → a figure of its occupancy over time; also while the samples are still being written.

It must not sample: the agent's sampler does. Which discipline is the queue: `linklab.measure.qdisc.choose`.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from matplotlib.figure import Figure

from linklab.data import Dataset
from linklab.errors import DataError
from linklab.measure import Measurements
from linklab.measure.qdisc import QueueSamples, measure_samples, read_samples
from linklab.plots import palette, style
from linklab.plots.catalogue import PLOTS
from linklab.plots.panels import PANEL_IN, Panel, draw_panel

OWN_STATE: Mapping[str, Sequence[str]] = {
    "codel": ("codel-delay", "codel-count", "codel-dropping", "drops"),
    "fq_codel": ("drops", "flows-waiting"),
    "pie": ("pie-delay", "pie-prob", "pie-drops"),
    "red": ("red-average", "red-drops"),
}
"""Plots of the catalogue that show the state of a discipline of this kind, drawn below its backlog."""


def plot_file(path: Path, out: Path, *, handle: str | None = None, limit_bytes: float | None = None) -> Measurements:
    """Read a file of samples and write the figure of its queue; the measurements that were drawn.

    Raises:
        DataError: no samples, or no such discipline.
        InputError: `out` cannot be written, or not in that format.
    """
    measured = measure_samples(read_samples(path), handle)
    with style.context():
        style.save(draw_queue(measured, limit_bytes=limit_bytes), out)
    return measured


def draw_queue(measured: Measurements, *, limit_bytes: float | None = None, figure: Figure | None = None) -> Figure:
    """Backlog of the queue over time, bytes, optionally with a line at its limit; below it the discipline's own state.

    figure: draw anew into this one, as a live window does; otherwise one of a column's width is made.

    Raises:
        DataError: no backlog was measured.
    """
    backlog = measured.series.get("queue.backlog")
    if backlog is None or not backlog.known.size:
        raise DataError(f"{measured.source}: the samples hold no backlog")
    largest = max(float(backlog.known.max()), limit_bytes or 0.0)
    scale, unit = palette.axis_unit("bytes", largest)
    state = own_state(measured)
    width, height = style.ONE_COLUMN_IN
    figure = figure or Figure(figsize=(width, height + PANEL_IN * len(state)), layout="constrained")
    figure.clear()
    axes = figure.add_subplot(1 + len(state), 1, 1)
    look = style.line_look(0, 1)
    # Thousands of samples: no markers, a thin line. A gap in the samples stays one.
    axes.plot(backlog.time_s, backlog.value / scale, color=look["color"], linewidth=0.8, label=title(measured))
    labels = [title(measured)]
    if limit_bytes is not None:
        other = style.line_look(1, 1)
        axes.axhline(limit_bytes / scale, color=other["color"], linestyle=other["linestyle"], label="limit")
        labels.append("limit")
    axes.set_ylabel(f"Queue occupancy ({unit})")
    axes.set_ylim(0, 1.05 * largest / scale if largest > 0 else 1)
    style.add_legend(axes, labels)
    for number, panel in enumerate(state, 2):
        labels = [label for label, _ in panel.lines]
        below = figure.add_subplot(1 + len(state), 1, number)
        draw_panel(below, panel, panel.lines, labels)
        if len(labels) > 1:
            style.add_legend(below, labels)
    for each in figure.axes:
        each.set_xlim(0, max(float(backlog.time_s.max()), 1.0))
        each.tick_params(labelbottom=each is figure.axes[-1])
    figure.axes[-1].set_xlabel("Time (s)")
    figure.align_ylabels()
    return figure


def own_state(measured: Measurements) -> list[Panel]:
    """Panels of what the discipline tells of itself, as far as it was sampled; none for a kind that tells nothing."""
    kind = str(measured.series["queue.backlog"].meta["kind"])
    data = Dataset(series=measured.series)
    panels = []
    for plot in (PLOTS[name] for name in OWN_STATE.get(kind, ())):
        lines = [(label, series) for label, series in plot.lines(data) if series.known.size]
        if lines:
            panels.append(Panel(plot.words, lines, levels=plot.levels(data), ticks=plot.ticks))
    return panels


def title(measured: Measurements) -> str:
    """Which queue this is: "tbf 2: on s1-eth2"."""
    meta = measured.series["queue.backlog"].meta
    return f"{meta['kind']} {meta['handle']} on {meta['interface']}"


class Follower:
    """A sample file that is being written, read a little at a time."""

    def __init__(self, path: Path) -> None:
        self.samples = QueueSamples(str(path))
        self._path = path
        self._offset = 0

    def more(self) -> bool:
        """Take what was added since the last call; whether there was a new sample. A missing file is an empty one.

        Raises:
            DataError: what was added is not a sample.
        """
        before = len(self.samples.time_s)
        try:
            with self._path.open("rb") as file:
                file.seek(self._offset)
                added = file.read()
        except FileNotFoundError:
            return False
        except OSError as error:
            raise DataError(f"{self._path}: {error.strerror}") from error
        self._offset += len(added)
        self.samples.feed(added.decode("utf-8", errors="replace"))
        return len(self.samples.time_s) > before


def has_display() -> bool:
    """Whether a window can be opened at all."""
    return bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))
