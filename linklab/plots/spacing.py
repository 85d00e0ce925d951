# SPDX-License-Identifier: BSD-3-Clause
"""Gaps between packets of a capture → how large a share of them is how long, on a logarithmic axis.

An even pace is a step at one length; bursts have a mass of gaps near nothing and a few that are very long.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from linklab.measure import Measurements, Series
from linklab.measure.capture import measure_capture
from linklab.plots import style

_SHORTEST_S = 1e-7
"""Where gaps are drawn that are shorter, down to 0: the finest that a capture of microseconds tells is 1 µs."""


def plot_files(paths: Sequence[Path], out: Path) -> list[Measurements]:
    """Read captures and write one figure of their gaps, a line each; the measurements that were drawn.

    Raises:
        DataError: a file is no capture, or holds no data.
        InputError: `out` cannot be written, or not in that format.
    """
    measured = [measure_capture(path) for path in paths]
    lines = [(path.stem, found.series["capture.gap"]) for path, found in zip(paths, measured, strict=True)]
    with style.context():
        style.save(draw_spacing(lines), out)
    return measured


def draw_spacing(lines: Sequence[tuple[str, Series]]) -> Figure:
    """Share of the gaps that are at most so long, in percent, of each labelled series of gaps (s).

    Raises:
        ValueError: no series has a value.
    """
    drawn = [(label, np.sort(series.known)) for label, series in lines if series.known.size]
    if not drawn:
        raise ValueError("no gap between packets to draw")
    figure = Figure(figsize=style.ONE_COLUMN_IN, layout="constrained")
    axes = figure.add_subplot()
    longest = max(float(gaps[-1]) for _, gaps in drawn)
    for index, (label, gaps) in enumerate(drawn):
        share = 100 * np.arange(1, gaps.size + 1) / gaps.size
        look = style.line_look(index, gaps.size) | {"marker": ""}
        at = np.maximum(gaps, _SHORTEST_S)
        # one level line on either side, so that a step is seen as one
        axes.plot(
            np.concatenate([[_SHORTEST_S], [at[0]], at, [2 * longest]]) * 1e6,
            np.concatenate([[0], [0], share, [100]]),
            drawstyle="steps-post",
            label=label or "_",
            **look,
        )
    axes.set_xscale("log")
    axes.set_xlim(_SHORTEST_S * 1e6, 2 * max(longest, _SHORTEST_S) * 1e6)
    axes.set_ylim(0, 103)
    axes.set_xlabel("Gap before a packet (µs)")
    axes.set_ylabel("Packets with at most this gap (%)")
    if any(label for label, _ in drawn):
        style.add_legend(axes, [label for label, _ in drawn])
    return figure
