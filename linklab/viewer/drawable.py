# SPDX-License-Identifier: BSD-3-Clause
"""Which plots can be drawn of the data sets that are shown, and which of their series each draws. Pure.

What plots a data set has is said by `linklab.experiment.plots_of`; those that would show nothing are left out here.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from weakref import WeakKeyDictionary

from linklab.data.names import SEPARATOR, main_series, matching
from linklab.errors import DataError
from linklab.experiment.plots_of import own_plots
from linklab.plots.named import Loaded, default_plot, specs_of
from linklab.plots.spec import PlotKind, PlotSpec
from linklab.plots.spec_json import METADATA_KEY

_known: WeakKeyDictionary[Loaded, tuple[list[PlotSpec], PlotSpec | None, str]] = WeakKeyDictionary()
"""What has been looked up; a hundred files are shown at once, again and again."""


@dataclass(frozen=True)
class Drawable:
    """The plots, the one that is drawn unless a person chooses, and why some are missing, or ""."""

    specs: list[PlotSpec]
    default: PlotSpec | None
    why: str = ""


def drawable(loaded: Sequence[Loaded]) -> Drawable:
    """The plots that show something of these data sets, by name the first."""
    found: dict[str, PlotSpec] = {}
    reasons, bare, defaults = [], [], []
    for one in loaded:
        specs, default, why = _plots_of_one(one)
        reasons += [why] if why else []
        defaults += [default.name] if default is not None else []
        if not specs:
            bare.append(one)
        for spec in specs:
            found.setdefault(spec.name, spec)
    series = list({tuple(one.data.series): None for one in loaded})
    usable = [spec for spec in found.values() if shows(spec, series, found)]
    if bare or not usable:
        usable += [spec for spec in specs_of([_without_plots(one) for one in bare or loaded]) if spec.name not in found]
    by_name = {spec.name: spec for spec in usable}
    default = next((by_name[name] for name in defaults if name in by_name), default_plot(loaded, usable))
    return Drawable(usable, default, next(iter(reasons), ""))


def _plots_of_one(one: Loaded) -> tuple[list[PlotSpec], PlotSpec | None, str]:
    """Those that it carries, else those of its test; which is drawn first; and why it has none."""
    if one not in _known:
        try:
            _known[one] = (*own_plots(one), "")
        except DataError as error:
            _known[one] = [], None, str(error)
    return _known[one]


def _without_plots(one: Loaded) -> Loaded:
    """The data set without plots of its own."""
    known = {key: value for key, value in one.data.metadata.items() if key != METADATA_KEY}
    return replace(one, data=replace(one.data, metadata=known))


def shows(spec: PlotSpec, series: Sequence[Collection[str]], others: Mapping[str, PlotSpec]) -> bool:
    """Whether the plot draws anything of these data sets; `series` are the names of each data set's series."""
    if spec.kind in (PlotKind.META, PlotKind.SUBPLOT_COMBINE):
        parts = [others[name] for name in spec.parts if name in others and not others[name].parts]
        return any(shows(part, series, others) for part in parts)
    return any(series_of(line.series, line.key, names) for names in series for line in spec.lines)


def series_of(pattern: str, key: str, series: Collection[str]) -> list[str]:
    """The series of a data set that a line of a plot draws."""
    names = matching(pattern, main_series(series)) or ([pattern] if pattern in series else [])
    if not key:
        return names
    found = []
    for start in (f"{name}{SEPARATOR}" for name in names):
        keys = [name.removeprefix(start) for name in series if name.startswith(start)]
        found += [start + each for each in matching(key, keys)]
    return found


def drawn_series(spec: PlotSpec, one: Loaded, others: Mapping[str, PlotSpec]) -> list[str]:
    """All series of a data set that a plot draws, those of its parts included."""
    parts = [others[name] for name in spec.parts if name in others and not others[name].parts]
    lines = [line for part in (parts or [spec]) for line in part.lines]
    names = [name for line in lines for name in series_of(line.series, line.key, one.data.series)]
    return list(dict.fromkeys(names))
