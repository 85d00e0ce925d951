# SPDX-License-Identifier: BSD-3-Clause
"""Which plots there are of the data sets that are shown. Pure.

The plots of a data set of ours stand in the file. A file of Flent's has none: it gets those that the test of its name
has here, and a file of an unknown test one plot for each unit.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from weakref import WeakKeyDictionary

from linklab.data.names import SEPARATOR, main_series, matching
from linklab.errors import DataError, InputError
from linklab.experiment.expand import expand
from linklab.experiment.test_file import load_test, test_names
from linklab.plots.named import Loaded, specs_of
from linklab.plots.spec import PlotKind, PlotSpec
from linklab.plots.spec_json import METADATA_KEY

_known: WeakKeyDictionary[Loaded, tuple[list[PlotSpec], str]] = WeakKeyDictionary()
"""What has been looked up; a hundred files are shown at once, again and again."""


def plots_of(loaded: Sequence[Loaded]) -> tuple[list[PlotSpec], str]:
    """The plots that show something of these data sets, by name the first; and why some are missing, or ""."""
    found: dict[str, PlotSpec] = {}
    reasons, bare = [], []
    for one in loaded:
        specs, why = _plots_of_one(one)
        reasons += [why] if why else []
        if not specs:
            bare.append(one)
        for spec in specs:
            found.setdefault(spec.name, spec)
    series = list({tuple(one.data.series): None for one in loaded})
    usable = [spec for spec in found.values() if shows(spec, series, found)]
    if bare or not usable:
        usable += [spec for spec in specs_of([_without_plots(one) for one in bare or loaded]) if spec.name not in found]
    return usable, next(iter(reasons), "")


def _plots_of_one(one: Loaded) -> tuple[list[PlotSpec], str]:
    """Those that it carries, else those of its test; and why it has none."""
    if one not in _known:
        try:
            carried = specs_of([one]) if METADATA_KEY in one.data.metadata else library_plots(one)
            _known[one] = carried, ""
        except DataError as error:
            _known[one] = [], str(error)
    return _known[one]


def library_plots(one: Loaded) -> list[PlotSpec]:
    """The plots of the library's test that the file names, with its parameters; none if there is no such test."""
    name = one.data.flent.get("NAME")
    given, hosts = one.data.flent.get("TEST_PARAMETERS"), one.data.flent.get("HOSTS")
    parameters = {key: str(value) for key, value in given.items()} if isinstance(given, Mapping) else {}
    targets = [str(host) for host in hosts] if isinstance(hosts, list) else []
    if name not in test_names():  # never a path, which a stranger's file might name
        return []
    return list(_plots_of_test(str(name), tuple(sorted(parameters.items())), tuple(targets)))


@lru_cache(maxsize=64)
def _plots_of_test(name: str, parameters: tuple[tuple[str, str], ...], hosts: tuple[str, ...]) -> tuple[PlotSpec, ...]:
    test = load_test(name)
    for given in (dict(parameters), {}):
        try:
            return expand(test, given, hosts=hosts).plots
        except InputError:  # a parameter of Flent's that this test reads otherwise
            continue
    return ()


def _without_plots(one: Loaded) -> Loaded:
    """The data set without plots of its own."""
    known = {key: value for key, value in one.data.metadata.items() if key != METADATA_KEY}
    return replace(one, data=replace(one.data, metadata=known))


def shows(spec: PlotSpec, series: Sequence[Collection[str]], others: Mapping[str, PlotSpec]) -> bool:
    """Whether one of several data sets, of which these are the series, has something that the plot draws."""
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
