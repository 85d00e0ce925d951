# SPDX-License-Identifier: BSD-3-Clause
"""The one look of Linklab's figures, and saving them so that the same data give the same bytes.

A figure is one column wide; lines differ in colour, dash and marker, so that they can be told apart by the colour-blind
and on grey paper (colours: Okabe and Ito, 2008). It must not use pyplot: that looks for a display.
"""

from __future__ import annotations

import io
import math
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure

from linklab.base.files import write_asked
from linklab.errors import InputError
from linklab.measure import Series
from linklab.measure.reading import json_number
from linklab.plots.palette import COLOURS

ONE_COLUMN_IN = (3.5, 2.4)
FORMATS = (".pdf", ".png", ".svg")

_DASHES: tuple[Any, ...] = ("-", (0, (5, 1.5)), (0, (1, 1)), (0, (5, 1, 1, 1)))
_MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<")
MARKERS_A_LINE = 12
"""So many at most, to see the line."""

_RC = {
    "font.family": "DejaVu Sans",  # comes with matplotlib, so a figure looks the same everywhere
    "font.size": 8,
    "axes.labelsize": 8,
    "axes.linewidth": 0.6,
    "axes.grid": True,
    "axes.axisbelow": True,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.formatter.useoffset": False,
    "grid.color": "#dddddd",
    "grid.linewidth": 0.5,
    "xtick.labelsize": 7,
    "ytick.labelsize": 7,
    "legend.fontsize": 6.5,
    "legend.frameon": False,
    "legend.handlelength": 2.6,
    "lines.linewidth": 1.1,
    "lines.markersize": 3,
    "savefig.dpi": 200,
    "pdf.fonttype": 42,  # embed TrueType fonts: text stays text, and publishers accept it
    "svg.hashsalt": "linklab",  # or the ids in an SVG are random
}


def context() -> Any:
    """Context manager in which figures are made and saved in Linklab's look."""
    return mpl.rc_context(_RC)


def line_look(index: int, points: int) -> dict[str, Any]:
    """Keyword arguments for the line number `index`; few enough markers to see the line."""
    every = max(1, math.ceil(points / MARKERS_A_LINE))
    again = index // len(COLOURS)  # the ninth line has the first colour and another dash
    return {
        "color": COLOURS[index % len(COLOURS)],
        "linestyle": _DASHES[(index + again) % len(_DASHES)],
        "marker": _MARKERS[index % len(_MARKERS)],
        "markevery": (index % every, every),
    }


def add_legend(axes: Any, labels: Sequence[str]) -> None:
    """A legend above the axes, where it hides no line, in as many columns as its labels leave room for."""
    longest = max(len(label) for label in labels)
    columns = max(1, min(len(labels), 56 // (longest + 9), 4))
    axes.legend(loc="lower left", bbox_to_anchor=(0, 1.0), ncol=columns, borderaxespad=0.2, columnspacing=1.0)


def save(figure: Figure, path: Path, dpi: float | None = None) -> None:
    """Write the figure, whole or not at all; the same figure gives the same bytes.

    Args:
        figure: drawn in `context()`.
        path: its suffix says the format; a file that is there is replaced.
        dpi: pixels an inch of a .png; None for the usual.

    Raises:
        InputError: the suffix is none of .pdf, .png, .svg, or the folder cannot be written.
    """
    suffix = path.suffix.lower()
    if suffix not in FORMATS:
        raise InputError(f"{path}: a figure can be written as {', '.join(FORMATS)}")
    write_asked(path, drawn(figure, suffix, dpi))


def drawn(figure: Figure, suffix: str = ".svg", dpi: float | None = None) -> bytes:
    """The figure as a file of this kind, one of FORMATS; the same figure gives the same bytes."""
    metadata: dict[str, dict[str, None]] = {
        ".pdf": {"CreationDate": None, "Creator": None, "Producer": None},
        ".svg": {"Date": None, "Creator": None},
        ".png": {"Software": None},
    }
    file = io.BytesIO()
    with context(), warnings.catch_warnings():
        # a letter that the font lacks is drawn as a box, which says as much as a warning for each
        warnings.filterwarnings("ignore", message="Glyph .* missing from")
        figure.savefig(file, format=suffix[1:], metadata=metadata[suffix], dpi=dpi or mpl.rcParams["savefig.dpi"])
    return file.getvalue()


def without_stub(series: Series) -> Series:
    """The series without intervals shorter than a tenth of the usual one, whose rates say nothing.

    iperf3 ends with such a stub when data still arrive after the last whole second.
    """
    told = series.meta.get("interval_s")  # of a data file, which anybody may have written
    lengths = np.array([json_number(each) for each in told] if isinstance(told, list | tuple) else [])
    if lengths.size != len(series) or not lengths.size or np.isnan(lengths).any():
        return series
    whole = lengths >= 0.1 * np.median(lengths)
    return Series(series.name, series.unit, series.time_s[whole], series.value[whole], series.source, series.meta)
