# SPDX-License-Identifier: BSD-3-Clause
"""Which plots there are of the data sets that are shown. Pure.

The plots of a data set of ours stand in the file. A file of Flent's has none: it gets those that the test of its name
has here, and a file of an unknown test one plot for each unit.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from linklab.data.names import SEPARATOR, matching
from linklab.errors import DataError
from linklab.plots.named import Loaded, specs_of
from linklab.plots.spec import Kind, PlotSpec
from linklab.plots.spec_json import METADATA_KEY

Library = Callable[[str], Sequence[PlotSpec]]
"""The plots of a test by its name; none if there is no such test."""


def plots_of(loaded: Sequence[Loaded], library: Library) -> tuple[list[PlotSpec], str]:
    """The plots that show something of these data sets, by name the first; and why some are missing, or ""."""
    found: dict[str, PlotSpec] = {}
    why, unknown = "", []
    for one in loaded:
        specs: Sequence[PlotSpec] = ()
        if METADATA_KEY in one.data.metadata:
            try:
                specs = specs_of([one])
            except DataError as error:
                why = str(error)
        else:
            specs = library(str(one.data.flent.get("NAME") or ""))
        if not specs:
            unknown.append(one)
        for spec in specs:
            found.setdefault(spec.name, spec)
    usable = [spec for spec in found.values() if shows(spec, loaded, found)]
    if unknown or not usable:
        bare = [_bare(one) for one in (unknown or loaded)]
        usable += [spec for spec in specs_of(bare) if spec.name not in found]
    return usable, why


def _bare(one: Loaded) -> Loaded:
    """The data set without plots of its own."""
    known = {key: value for key, value in one.data.metadata.items() if key != METADATA_KEY}
    return replace(one, data=replace(one.data, metadata=known))


def shows(spec: PlotSpec, loaded: Sequence[Loaded], others: dict[str, PlotSpec]) -> bool:
    """Whether a data set has a series that the plot draws."""
    if spec.kind in (Kind.META, Kind.SUBPLOT_COMBINE):
        parts = [others[name] for name in spec.parts if name in others and not others[name].parts]
        return any(shows(part, loaded, others) for part in parts)
    return any(_has(one, line.series, line.key) for one in loaded for line in spec.lines)


def _has(one: Loaded, pattern: str, key: str) -> bool:
    series = one.data.series
    names = matching(pattern, one.names) or ([pattern] if pattern in series else [])
    if not key:
        return bool(names)
    starts = [f"{name}{SEPARATOR}" for name in names]
    keys = [[name.removeprefix(start) for name in series if name.startswith(start)] for start in starts]
    return any(matching(key, each) for each in keys)
