# SPDX-License-Identifier: BSD-3-Clause
"""What the grader measured of a submission ↔ data sets, one for each run of an experiment; pages draw from these.

They hold experiments of hidden checks too, so like `instructor.html` they are for the instructor.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import numpy as np

from linklab.data import Dataset, open_file, save
from linklab.exercise.report import Report, Trace
from linklab.measure import Series, make_series


def datasets_of(report: Report) -> dict[str, Dataset]:
    """A data set of each experiment and seed that left curves, by its name, "EXPERIMENT-seedN"."""
    runs: dict[tuple[str, int], list[Trace]] = {}
    for trace in report.traces:
        runs.setdefault((trace.experiment, trace.seed), []).append(trace)
    found = {}
    for (experiment, seed), traces in runs.items():
        known = {"exercise": report.exercise, "experiment": experiment, "seed": seed}
        known |= {"environment": dict(report.environment)}
        series = {one.name: one for one in map(_series, range(1, len(traces) + 1), traces)}
        title = f"{report.heading}: {experiment}"
        found[f"{experiment}-seed{seed}"] = Dataset(known, series=series, flent={"TITLE": title})
    return found


def traces_of(datasets: Iterable[Dataset]) -> tuple[Trace, ...]:
    """The curves in data sets of `datasets_of`, run by run."""
    return tuple(
        Trace(
            str(data.metadata["experiment"]),
            int(data.metadata["seed"]),
            str(series.meta["what"]),
            str(series.meta["label"]),
            series.unit,
            tuple(series.time_s.tolist()),
            tuple(series.value.tolist()),
        )
        for data in datasets
        for series in data.series.values()
    )


def write_data(report: Report, folder: Path) -> tuple[Trace, ...]:
    """Write the data sets of a report as `folder`/data/EXPERIMENT-seedN.flent.gz; the curves as they are in the files.

    Raises:
        InputError: a file cannot be written, or not read back.
    """
    paths = []
    for name, data in datasets_of(report).items():
        paths.append(folder / "data" / f"{name}.flent.gz")
        save(data, paths[-1])
    return traces_of(map(open_file, paths))


def _series(number: int, trace: Trace) -> Series:
    """The number tells curves of one quantity and label apart, such as two flows between the same hosts."""
    values = np.asarray(trace.values, dtype=np.float64)
    values = np.where(np.isinf(values), np.nan, values)
    meta = {"what": trace.what, "label": trace.label}
    return make_series(f"{trace.what}.{number}", trace.unit, trace.time_s, values, meta=meta)
