# SPDX-License-Identifier: BSD-3-Clause
"""The lines of a step that ran a named test, for the panels of `linklab.plots.catalogue`.

Their series are those that `linklab.run.data_files` makes of a data file, "flent.…". A step that wrote several files,
such as a batch, has none, since its lines would be too many; it draws figures of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from linklab.data import Dataset
from linklab.measure import Series
from linklab.measure.series import per_second

Lines = list[tuple[str, Series]]

_TEST = "flent."
_SECOND = "flent.2."
_MEAN_OF_PINGS = "ping-avg"


def sums(data: Dataset) -> Lines:
    """The sums of a test's flows in each direction; its flows where it has no sums."""
    return _labelled(_found(data, "bit/s", lambda name: name.endswith("-sum"))) or flows(data)


def flows(data: Dataset) -> Lines:
    """The throughput of each flow."""
    return _labelled(_found(data, "bit/s", lambda name: not name.endswith(("-sum", "-avg", "-totals"))))


def round_trips(data: Dataset) -> Lines:
    """What each probe measured."""
    return _labelled(_found(data, "s", lambda name: name != _MEAN_OF_PINGS))


def queues(data: Dataset) -> Lines:
    """Bytes in the queue of each interface along the path."""
    return _labelled(_found(data, "bytes"))


def drops(data: Dataset) -> Lines:
    """Packets dropped at each interface that dropped any, as how many a second."""
    counted = _found(data, "packets", lambda name: name.endswith("-dropped"))
    totals = [replace(series, value=np.nancumsum(series.value)) for series in counted if series.known.any()]
    return [(label, per_second(series)) for label, series in _labelled(totals)]


def _found(data: Dataset, unit: str, among: Callable[[str], bool] = lambda _: True) -> list[Series]:
    if any(name.startswith(_SECOND) for name in data.series):
        return []
    return [
        series
        for name, series in data.series.items()
        if name.startswith(_TEST) and series.unit == unit and among(name.removeprefix(_TEST))
    ]


def _labelled(series: Sequence[Series]) -> Lines:
    """Series by their names in the test; one that is alone in its panel needs no name."""
    return [(str(one.meta.get("label") or one.name) if len(series) > 1 else "", one) for one in series]
