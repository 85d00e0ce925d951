# SPDX-License-Identifier: BSD-3-Clause
"""Samples of a queue → a figure of its occupancy over time; also while the samples are still being written.

It must not sample: the agent's sampler does. Which discipline is the queue: `linklab.measure.qdisc.choose`.
"""

from __future__ import annotations

import os
from pathlib import Path

from matplotlib.figure import Figure

from linklab.errors import DataError
from linklab.measure import Measurements
from linklab.measure.qdisc import QueueSamples, measure_samples, read_samples
from linklab.plots import palette, style


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
    """Backlog of the queue over time, bytes; optionally a line at its limit.

    figure: draw anew into this one, as a live window does; otherwise one of a column's width is made.

    Raises:
        DataError: no backlog was measured.
    """
    backlog = measured.series.get("queue.backlog")
    if backlog is None or not backlog.known.size:
        raise DataError(f"{measured.source}: the samples hold no backlog")
    largest = max(float(backlog.known.max()), limit_bytes or 0.0)
    scale, unit = palette.axis_unit("bytes", largest)
    figure = figure or Figure(figsize=style.ONE_COLUMN_IN, layout="constrained")
    figure.clear()
    axes = figure.add_subplot()
    look = style.line_look(0, 1)
    # Thousands of samples: no markers, a thin line. A gap in the samples stays one.
    axes.plot(backlog.time_s, backlog.value / scale, color=look["color"], linewidth=0.8, label=title(measured))
    labels = [title(measured)]
    if limit_bytes is not None:
        other = style.line_look(1, 1)
        axes.axhline(limit_bytes / scale, color=other["color"], linestyle=other["linestyle"], label="limit")
        labels.append("limit")
    axes.set_xlabel("Time (s)")
    axes.set_ylabel(f"Queue occupancy ({unit})")
    axes.set_xlim(0, max(float(backlog.time_s.max()), 1.0))
    axes.set_ylim(0, 1.05 * largest / scale if largest > 0 else 1)
    style.add_legend(axes, labels)
    return figure


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
