# SPDX-License-Identifier: BSD-3-Clause
"""One panel that is to be drawn, with all that its kind needs; and what each artist in it shows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any
from weakref import WeakKeyDictionary

from linklab.analysis.statistics import interval
from linklab.measure.series import FloatArray
from linklab.plots.named.lines import DrawnLine, LegendEntry, drawn_of, entries_of, file_labels
from linklab.plots.named.loaded import Loaded
from linklab.plots.named.options import Options
from linklab.plots.spec import PlotSpec

ONE_RUN = "One run in each group"


class NothingError(Exception):
    """The data sets have nothing that such a plot could show; the sentence stands in the figure instead."""


@dataclass(frozen=True, eq=False)
class PlotPanel:
    """A plot and the data sets that it shows.

    smooth: whether lines are smoothed, as over time; what is computed from them takes the samples as they are.
    combined: values are one of each of several data sets, not samples of one.
    """

    spec: PlotSpec
    data: Sequence[Loaded]
    options: Options
    smooth: bool = True
    combined: bool = False

    @cached_property
    def entries(self) -> list[LegendEntry]:
        """The series that the plot shows."""
        return entries_of(self.spec, self.data, self.options)

    @cached_property
    def lines(self) -> list[DrawnLine]:
        """Each of them in each data set, also of those that only count for the limits."""
        return drawn_of(self.entries, self.spec, self.data, self.options, smooth=self.smooth)

    @cached_property
    def names(self) -> list[str]:
        """Of the data sets."""
        return file_labels(self.data, self.options)

    @cached_property
    def shown_files(self) -> list[int]:
        """Numbers of the data sets of which anything is drawn."""
        return sorted({line.file for line in self.lines if line.shown})

    def label(self, line: DrawnLine) -> str:
        """How a line is called in the legend."""
        return self.words(line.of.label, line.file)

    def words(self, series: str, file: int) -> str:
        """The words for a series of a data set: as many as are needed to tell them apart."""
        if len(self.shown_files) < 2:
            return series
        if len(self.entries) < 2:
            return self.names[file]
        return f"{series} – {self.names[file]}"

    @property
    def error(self) -> str:
        """What the lines on bars and means are: "interval", "sd" or "none"."""
        if self.options.error != "auto":
            return self.options.error
        return "interval" if self.combined else "sd"

    def error_of(self, known: FloatArray) -> float:
        """Half the length of the line on a mean of these values; 0 if there is none."""
        if known.size < 2 or self.error == "none":
            return 0.0
        return float(known.std(ddof=1)) if self.error == "sd" else interval(known).half

    @property
    def single(self) -> bool:
        """Whether each group has one run, so that nothing is known of how runs differ."""
        return self.combined and all(line.known.size <= 1 for line in self.lines if line.shown)

    def error_words(self) -> str:
        """How to read means and the lines on them."""
        if self.single:
            return f"{ONE_RUN}, so no interval is known; run the test with other seeds"
        of = "runs" if self.combined else "samples"
        words = {"interval": f"95 % interval of the mean of the {of}", "sd": f"± 1 standard deviation of the {of}"}
        return f"Mean; line: {words[self.error]}" if self.error in words else "Mean"


@dataclass(frozen=True, eq=False)
class Shown:
    """What a line of a figure shows, for a window that says the value under the pointer.

    factor: what the values were divided by to be drawn.
    """

    line: DrawnLine
    factor: float


_SHOWN: WeakKeyDictionary[Any, Shown] = WeakKeyDictionary()


def remember(artist: Any, line: DrawnLine, factor: float) -> None:
    """Note what an artist shows."""
    _SHOWN[artist] = Shown(line, factor)


def shown_of(artist: Any) -> Shown | None:
    """What an artist shows, with every point of it; None for one that shows no series, such as an axis."""
    return _SHOWN.get(artist)
