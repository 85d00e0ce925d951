# SPDX-License-Identifier: BSD-3-Clause
"""Sentences below the table of a run: of which part of the test it is, and what rows mean whose names do not say it."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from linklab.analysis.cut import total_s
from linklab.analysis.reducers import DERIVED_FROM
from linklab.data import Dataset
from linklab.data.names import SEPARATOR
from linklab.experiment.tables import Summary, TableChoice

_QUEUE, _CPU = "qdisc_stats_", "cpu_stats"
_RATES = "Mbits/s"
_BEGUN_S = 2.0
"""After it a load has begun: what begins later is another kind of test."""
_MORE = 1.001
"""What a mean is larger than another by rounding."""


def notes(summary: Summary, choice: TableChoice) -> list[str]:
    """The sentences; none if a person chose what is shown, and so knows it."""
    if choice.patterns or choice.cutoff is not None:
        return []
    return [*_window(summary), *_averages(summary), *_counters(summary)]


def _window(summary: Summary) -> Iterator[str]:
    """Which part of the test the numbers of probes and queues are of."""
    lead_s = _lead_s(summary.sources[0].data)
    if lead_s:
        yield (
            f"Whole test, with {lead_s:g} s before and {lead_s:g} s after the load; "
            f"--cutoff {lead_s:g},-{lead_s:g} keeps the time of the load."
        )


def _lead_s(data: Dataset) -> float:
    """Seconds without load at each end of the test; 0 if there is no load, or they are not known."""
    length_s = data.flent.get("LENGTH")
    if not isinstance(length_s, int | float) or isinstance(length_s, bool):
        return 0.0
    lead_s = (total_s(data) - length_s) / 2
    rates = [one for one in data.series.values() if one.unit == _RATES and one.known.size]
    starts = [float(one.time_s[~np.isnan(one.value)][0]) for one in rates]
    return lead_s if lead_s > 0 and starts and lead_s <= min(starts) < lead_s + _BEGUN_S else 0.0


def _averages(summary: Summary) -> Iterator[str]:
    """An average may be larger than all that it is of, because each moment has other flows."""
    means = {row.series: (row.values or row.intervals)[0].value for row in summary.rows}
    for row in summary.rows:
        series = summary.sources[0].data.series.get(row.series)
        of = series.meta.get(DERIVED_FROM) if series is not None and row.series.endswith(" avg") else None
        flows = [means[name] for name in of if name in means] if isinstance(of, list) else []
        if flows and not math.isnan(means[row.series]) and means[row.series] > max(flows) * _MORE:
            yield (
                f"{row.series} is larger than the mean of each flow, because at each moment it is the mean of the "
                "flows that have a value then."
            )


def _counters(summary: Summary) -> Iterator[str]:
    """What is sampled beside the flows."""
    names = [row.series for row in summary.rows if SEPARATOR not in row.series]
    said = [f"{_QUEUE}… are the bytes that wait in the queue of an interface"] * any(
        name.startswith(_QUEUE) for name in names
    )
    said += [f"{_CPU} is the load of the network's processors, from 0 to 1"] * (_CPU in names)
    if said:
        yield f"{'; '.join(said)}."
