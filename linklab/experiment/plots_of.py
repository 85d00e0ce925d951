# SPDX-License-Identifier: BSD-3-Clause
"""Which plots there are of data sets: those that they carry, or, of Flent's own files, those of the library's test."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from linklab.errors import InputError
from linklab.experiment.expand import expand
from linklab.experiment.model import Expanded
from linklab.experiment.test_file import load_test, test_names
from linklab.plots.spec import PlotSpec
from linklab.plots.spec_json import METADATA_KEY

if TYPE_CHECKING:
    from linklab.data import Dataset
    from linklab.plots.named import Loaded


def plots_of(data: Sequence[Loaded]) -> tuple[list[PlotSpec], PlotSpec | None]:
    """The plots of the data sets, by name the first, and the one that is drawn by default.

    Data sets that carry none and are of no test of the library have a plot for each unit.

    Raises:
        DataError: a plot of a data set is not valid.
    """
    from linklab.plots.named import default_plot, specs_of  # noqa: PLC0415 - Matplotlib takes a second to load

    found: dict[str, PlotSpec] = {}
    first: PlotSpec | None = None
    for one in data:
        specs, default = own_plots(one)
        for spec in specs:
            found.setdefault(spec.name, spec)
        first = first or default
    specs = list(found.values()) or specs_of(data)
    return specs, first or default_plot(data, specs)


def own_plots(one: Loaded) -> tuple[list[PlotSpec], PlotSpec | None]:
    """The plots that a data set carries, else those of the library's test, and which of them its test draws first.

    Raises:
        DataError: a plot of the data set is not valid.
    """
    from linklab.plots.named import default_plot, specs_of  # noqa: PLC0415 - as above

    if METADATA_KEY in one.data.metadata:
        specs = specs_of([one])
        return specs, default_plot([one], specs)
    test = test_of(one.data)
    if test is None:
        return [], None
    return list(test.plots), next((spec for spec in test.plots if spec.name == test.default_plot), None)


def test_of(data: Dataset) -> Expanded | None:
    """The library's test of a file of Flent's, with the parameters that it was run with; None if there is none.

    Parameters that our test reads otherwise are left out.
    The name in a stranger's file is never taken as the path of a file.
    """
    name, given, hosts = (data.flent.get(key) for key in ("NAME", "TEST_PARAMETERS", "HOSTS"))
    if not isinstance(name, str) or name not in test_names():
        return None
    parameters = {str(key): str(value) for key, value in given.items()} if isinstance(given, dict) else {}
    targets = [str(host) for host in hosts] if isinstance(hosts, list) else []
    return _expanded(name, tuple(sorted(parameters.items())), tuple(targets))


@lru_cache(maxsize=64)
def _expanded(name: str, parameters: tuple[tuple[str, str], ...], hosts: tuple[str, ...]) -> Expanded | None:
    """A test of the library; kept, since a hundred files may be of one test."""
    test = load_test(name)
    for given in (dict(parameters), {}):
        try:
            return expand(test, given, hosts=hosts)
        except InputError:
            continue
    return None
