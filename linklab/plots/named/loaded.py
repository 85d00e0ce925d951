# SPDX-License-Identifier: BSD-3-Clause
"""A data set that was opened, and the plots that it carries."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from linklab.base.text import one_line
from linklab.data import Dataset
from linklab.data.names import main_series
from linklab.data.suffixes import stem_of
from linklab.plots.spec import PlotKind, PlotLine, PlotSpec
from linklab.plots.spec_json import METADATA_KEY, read_specs

DEFAULT_KEY = "default_plot"
"""The key of the metadata for the name of the plot that is drawn by default."""


@dataclass(frozen=True, eq=False)
class Loaded:
    """A data set with its name, such as that of its file.

    label: how it is called in figures; "" for its title or name.
    shown: False for one that only counts for the limits of the axes, so that several figures have the same.
    """

    name: str
    data: Dataset
    shown: bool = True
    label: str = ""

    @cached_property
    def stem(self) -> str:
        """The name without folder and suffix, on one line."""
        return stem_of(one_line(self.name).rpartition("/")[2])

    @cached_property
    def title(self) -> str:
        """The title that a person gave it; "" without one."""
        return one_line(str(self.data.flent.get("TITLE") or ""))

    @cached_property
    def names(self) -> list[str]:
        """Its series, without the further numbers of their samples."""
        return main_series(self.data.series)

    @cached_property
    def length_s(self) -> float:
        """How long its test lasted: what it says, or else up to the last sample, s."""
        told = self.data.flent.get("TOTAL_LENGTH")
        if isinstance(told, int | float) and not isinstance(told, bool) and told > 0:
            return float(told)
        return max((float(one.time_s[-1]) for one in self.data.series.values() if len(one)), default=0.0)


def specs_of(data: Sequence[Loaded]) -> list[PlotSpec]:
    """The plots that the data sets carry, by name the first; of sets that carry none, one for each unit.

    Raises:
        DataError: the plots of a data set are not valid; the message begins with its name.
    """
    found: dict[str, PlotSpec] = {}
    for one in data:
        if METADATA_KEY in one.data.metadata:
            for spec in read_specs(one.data.metadata[METADATA_KEY], f"{one.name}: {METADATA_KEY}"):
                found.setdefault(spec.name, spec)
    return list(found.values()) or _by_unit(data)


def default_plot(data: Sequence[Loaded], specs: Sequence[PlotSpec]) -> PlotSpec | None:
    """The plot that is drawn by default: the test's, else the first; None if there are no plots."""
    by_name = {spec.name: spec for spec in specs}
    asked = [by_name.get(str(one.data.metadata.get(DEFAULT_KEY, ""))) for one in data]
    return next((spec for spec in asked if spec is not None), next(iter(specs), None))


def _by_unit(data: Sequence[Loaded]) -> list[PlotSpec]:
    """Plots for data sets of which nothing is known but the units of their series."""
    units: dict[str, list[str]] = {}
    for one in data:
        for name in one.names:
            names = units.setdefault(one.data.series[name].unit, [])
            if name not in names:
                names.append(name)
    specs = []
    kinds = (
        (PlotKind.TIMESERIES, "", "over time"),
        (PlotKind.CDF, "_cdf", "distribution"),
        (PlotKind.BOX, "_box", "box plot"),
    )
    for unit, names in units.items():
        slug = re.sub(r"\W+", "_", unit.lower()).strip("_") or "numbers"
        lines = tuple(PlotLine(name) for name in names[:1000])
        words = f"All series in {unit}" if unit else "All series without a unit"
        specs += [PlotSpec(slug + end, f"{words}, {what}", kind, lines) for kind, end, what in kinds]
    return list({spec.name: spec for spec in specs}.values())
