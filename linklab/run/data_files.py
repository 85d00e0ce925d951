# SPDX-License-Identifier: BSD-3-Clause
"""A data file that a named test left → `Measurements`, so that a step which runs `flent` is judged as any other.

Numbers are those of `linklab test summary` (`linklab.analysis.reducers`), in the units in which labs judge: bit/s and
seconds instead of Mbits/s and ms. Names: docs/measurements.md, "Data files of named tests".
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np

from linklab.analysis.reducers import MEAN_VALUE, reduce
from linklab.data import Dataset, open_file
from linklab.data.names import SEPARATOR, main_series
from linklab.data.suffixes import SUFFIX
from linklab.measure import Measurements, Quantity, Series

TOOL = "flent"
JOURNAL = "trials.json"
"""What a batch keeps beside its data files: a list of trials and no measurement."""

REDUCERS = ("mean", "median", "min", "max", "pct99")
OF_TIMES = ("mean_span",)
"""Of round trips, the latency that the load adds; of other series it says little."""
COUNTED = ("dropped", "ecn_mark")
"""Numbers of each sample of a discipline that count since the sample before, so that their sum is the total."""
DRAWN = (*COUNTED, "tcp_cwnd")
"""Further numbers of samples that are kept as series."""
_LEFT_OUT = ("qdisc ", "class ", "cpu_stats")
"""How series of shapers, delays, classes and the machine begin: they are in the file, and too many to be named."""
_RETRANSMITS = "TCP_RETRANSMIT"
_UNITS = {"Mbits/s": ("bit/s", 1e6), "ms": ("s", 1e-3)}
_IN_PARENTHESES = re.compile(r"\([^()]*\)")
_OTHER = re.compile(r"[^\w-]+")


def is_data_file(name: str) -> bool:
    """Whether a file of this name is one of a named test."""
    return name.endswith(SUFFIX)


def measure_data_file(path: Path) -> Measurements:
    """The scalars and series of a data file, with names that begin with "flent.".

    Raises:
        DataError: it is no data file.
    """
    data = open_file(path)
    scalars: dict[str, Quantity] = {}
    series: dict[str, Series] = {}
    for name in main_series(data.series):
        if name.startswith(_LEFT_OUT):
            continue
        for known, quantity in _scalars_of(data, name):
            scalars[f"{TOOL}.{in_names(name)}.{known}"] = quantity
        for found in (name, *(f"{name}{SEPARATOR}{further}" for further in DRAWN)):
            if found in data.series:
                drawn = _in_our_units(data.series[found], f"{TOOL}.{in_names(found)}", found, str(path))
                series[drawn.name] = drawn
    return Measurements(scalars, series, TOOL, str(path), data.notes)


def in_names(series: str) -> str:
    """A series of Flent's as part of a name: "Ping (ms) UDP BE" is "ping-udp-be", "TCP upload::1" "tcp-upload-1"."""
    return _OTHER.sub("-", _IN_PARENTHESES.sub("", series)).strip("-").lower()


def in_our_unit(value: float, unit: str) -> Quantity:
    """A number of a data file in the unit in which labs judge."""
    known, factor = _UNITS.get(unit, (unit, 1.0))
    return Quantity(value * factor, known)


def _scalars_of(data: Dataset, name: str) -> Iterator[tuple[str, Quantity]]:
    """The numbers of one series by their last names; what was not measured is left out."""
    unit, factor = _UNITS.get(data.series[name].unit, (data.series[name].unit, 1.0))
    for reducer in (*REDUCERS, *(OF_TIMES if unit == "s" else ())):
        if math.isfinite(value := reduce(reducer, data, name)):
            yield reducer, Quantity(value * factor, unit)
    for further in COUNTED:
        counted = data.series.get(f"{name}{SEPARATOR}{further}")
        if counted is not None and counted.known.size:
            yield further, Quantity(float(counted.known.sum()), "packets")
    if math.isfinite(value := reduce(f"meta:{_RETRANSMITS}", data, name)):
        yield "retransmits", Quantity(value, "segments")


def _in_our_units(series: Series, name: str, label: str, source: str) -> Series:
    unit, factor = _UNITS.get(series.unit, (series.unit, 1.0))
    value = np.asarray(series.value) * factor
    meta = {key: known for key, known in series.meta.items() if key != MEAN_VALUE} | {"label": label}
    return replace(series, name=name, unit=unit, value=value, source=source, meta=meta)
