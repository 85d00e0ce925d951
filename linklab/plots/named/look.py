# SPDX-License-Identifier: BSD-3-Clause
"""Colour, dash, marker and hatch of each series and data set: each tells them apart, also on grey paper."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from linklab.plots.named.options import Options
from linklab.plots.palette import COLOURS

GREYS = ("#000000", "#707070", "#a8a8a8", "#404040", "#8c8c8c")
DASHES: tuple[Any, ...] = ("-", (0, (5, 1.5)), (0, (1, 1)), (0, (5, 1, 1, 1)), (0, (8, 2, 1, 2, 1, 2)))
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">", "*")
HATCHES = ("", "////", "....", "\\\\\\\\", "xxxx", "----", "oo", "++")

MARKERS_A_LINE = 10
"""So many at most, to see the line."""

_DENSE = 200
"""Points of a line from which on it is drawn thinner."""

_MANY_POINTS = 40_000
"""Of a whole figure: from here on dashes, which cost most of the time to draw, are left out."""

_BOLD = "#000000"


@dataclass(frozen=True)
class Looks:
    """How the entries and data sets of one figure are told apart.

    by_file: the data set has the colour and the series the dash, instead of the other way round.
    """

    options: Options
    entries: int
    files: int
    points: int = 0

    @property
    def by_file(self) -> bool:
        """Whether a data set has a colour, and not a series."""
        if self.options.colour_by == "auto":
            return self.entries == 1 and self.files > 1
        return self.options.colour_by == "file"

    @property
    def colours(self) -> tuple[str, ...]:
        """Those that are used, from the first again if there are more series."""
        return self.options.colours or (GREYS if self.options.style == "grey" else COLOURS)

    def _numbers(self, entry: int, file: int) -> tuple[int, int]:
        """The number of the colour and of the dash."""
        colour, dash = (file, entry) if self.by_file else (entry, file)
        if min(self.entries, self.files) <= 1:
            dash = colour + colour // len(self.colours)  # the ninth line has the first colour and another dash
        return colour, dash

    @property
    def dashed(self) -> bool:
        """Whether lines have dashes."""
        return self.points <= _MANY_POINTS

    def dash(self, number: int) -> Any:
        """The dash of a file, or of a series where files have colours."""
        return DASHES[number % len(DASHES)]

    def solid(self, number: int, *, bold: bool = False) -> Mapping[str, Any]:
        """Arguments for a line that shows nothing but the colour and marker of a series, or of a file."""
        entry, file = (0, number) if self.by_file else (number, 0)
        return {**self.line(entry, file, 1, bold=bold), "linestyle": "-", "markevery": None}

    def colour(self, entry: int, file: int) -> str:
        """The colour of a series of a data set."""
        return self.colours[self._numbers(entry, file)[0] % len(self.colours)]

    def hatch(self, entry: int, file: int) -> str:
        """The hatch of a bar or box."""
        return HATCHES[self._numbers(entry, file)[0] % len(HATCHES)]

    def line(self, entry: int, file: int, points: int, *, bold: bool = False) -> Mapping[str, Any]:
        """Arguments for a line of so many points."""
        colour, dash = self._numbers(entry, file)
        every = max(1, -(-points // MARKERS_A_LINE))
        marker = MARKERS[colour % len(MARKERS)]
        if self.options.markers is False or (bold and self.options.markers is None):
            marker = ""
        width = self.options.line_width or (1.6 if bold else 0.9 if points > _DENSE else 1.2)
        look = {
            "color": _BOLD if bold and not self.by_file else self.colours[colour % len(self.colours)],
            "linestyle": DASHES[dash % len(DASHES)] if self.dashed else "-",
            "linewidth": width,
            "marker": marker,
            # staggered, so that lines that lie on each other show their markers
            "markevery": ((colour * max(1, every // 8)) % every, every),
            "zorder": 3 if bold else 2,
        }
        if bold:
            look["linestyle"] = DASHES[file % len(DASHES)] if self.files > 1 else "-"
        if self.options.marker_size:
            look["markersize"] = self.options.marker_size
        return look
