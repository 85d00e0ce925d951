# SPDX-License-Identifier: BSD-3-Clause
"""Reducers: a series of a data set → one number, by the names and rules of Flent, so that its tables say the same.

Which values a reducer takes is in its name. Plain ones ("mean", "median", …) take the samples at their own times;
"mean" takes the mean that the tool itself gave, MEAN_VALUE in the meta, where nothing is cut. "raw_…" take the samples
in any case. "span", "mean_span" and "mean_zero" take the table (`Dataset.table`).
Source: Flent's reducers. Where Flent differs, the docstrings of this module say how.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from linklab.analysis import calls
from linklab.analysis.cut import Cutoff, samples, table_values
from linklab.analysis.formulas import jain_at_each_step
from linklab.data import Dataset
from linklab.data.names import SEPARATOR, main_series, matching
from linklab.errors import InputError
from linklab.measure.series import FloatArray

MEAN_VALUE = "MEAN_VALUE"
DERIVED_FROM = "DERIVED_FROM"
"""Keys of a series' meta: Flent's for the mean that the tool gave, and ours for what it is derived from."""

CONGESTION = "CONG_CONTROL"
"""Flent's key for the congestion control of a flow."""

_COMPUTED = "COMPUTED_LATE"
"""Flent's key, which its derived series have."""


@dataclass(frozen=True)
class Reduced:
    """value: NaN where there is nothing to reduce; n: of how many values it is, 0 if it is NaN."""

    value: float
    n: int


UNKNOWN = Reduced(math.nan, 0)


def _span(values: FloatArray) -> float:
    return float(values.max() - values.min())


def _mean_span(values: FloatArray) -> float:
    return float((values - values.min()).mean())


OF_VALUES: Mapping[str, Callable[[FloatArray], float]] = MappingProxyType(
    {
        "mean": lambda values: float(values.mean()),
        "median": lambda values: float(np.median(values)),
        "min": lambda values: float(values.min()),
        "max": lambda values: float(values.max()),
        "std": lambda values: float(values.std()),
        "var": lambda values: float(values.var()),
        "pct99": lambda values: float(np.percentile(values, 99)),
        "span": _span,
        "mean_span": _mean_span,
    }
)
"""What one number says of values without gaps: std and var of the values as a whole (divided by n, not n - 1), pct99 on
the line between the two values around it, span from the least to the largest, mean_span the mean above the least value,
which of round-trip times is the induced latency."""

_OF_TABLE = ("span", "mean_span", "mean_zero")
_OWN = ("cumsum", "raw_cumsum", "raw_seq_loss", "mos", "fairness", "fairness_mean")

REDUCERS = (
    *OF_VALUES,
    "mean_zero",
    *(f"raw_{name}" for name in OF_VALUES if name not in _OF_TABLE),
    *_OWN,
)
"""All by name; beside these, "meta:KEY" takes a number of the series' meta."""


def check_reducer(name: str) -> str:
    """The name, if it is one of a reducer.

    Raises:
        InputError: it is not; the message names all.
    """
    if name not in REDUCERS and not name.startswith("meta:"):
        raise InputError(f'there is no reducer "{name}"; use {", ".join(REDUCERS)}, or meta:KEY')
    return name


def unit_of(name: str, unit: str) -> str:
    """The unit of what a reducer makes of a series of this unit; "" where it is a share, an index, or not known."""
    if name == "mos":
        return "MOS"
    if name in ("fairness", "fairness_mean", "raw_seq_loss") or name.startswith("meta:"):
        return ""
    if name.endswith("cumsum"):
        return unit.removesuffix("/s")
    return f"{unit}²" if name.endswith("var") and unit else unit


def reduce(name: str, data: Dataset, series: str, cutoff: Cutoff | None = None) -> float:
    """One number of a series, NaN where it has no value; see `reduced`."""
    return reduced(name, data, series, cutoff).value


def reduced(name: str, data: Dataset, series: str, cutoff: Cutoff | None = None) -> Reduced:
    """One number of a series, and of how many values it is.

    Args:
        name: one of REDUCERS, or "meta:KEY", where KEY may lead into what it holds, as in "meta:A:B".
        data: the data set.
        series: its name. For "fairness" and "fairness_mean" a pattern of the flows (`linklab.data.names`), or the name
            of a derived series, which stands for what it is derived from.
        cutoff: seconds that are kept, from and to; (5, 0) leaves out the first five, (5, -5) also the last five.

    Returns:
        NaN and 0 where the series is not there or has no value.
        - mean_zero: a gap counts as 0.
        - cumsum: values times the seconds that each stands for: "dur" of the samples, else the step of the table.
        - raw_seq_loss: share of the packets sent that were lost (`linklab.analysis.calls.loss_frac`).
        - mos: mean opinion score from one-way delay and loss (`linklab.analysis.calls.opinion`).
        - fairness: the mean over time of Jain's index over the flows that have a value at a step of the table.
        - fairness_mean: Jain's index of the means of the flows; a flow without a value is left out.

    Flent differs in three ways. It replaces a statistic of the samples that is 0 by that of the table. It counts the
    steps of the table, gaps included, for a mean that is MEAN_VALUE. Its "fairness_mean" ends in an error.

    Raises:
        InputError: there is no such reducer.
    """
    check_reducer(name)
    if name in ("fairness", "fairness_mean"):
        return _fairness(name, data, series, cutoff)
    if series not in data.series:
        return UNKNOWN
    if name.startswith("meta:"):
        return _meta(data, series, name.removeprefix("meta:"))
    if name == "mean" and cutoff is None and (told := _meta(data, series, MEAN_VALUE)).n:
        return told
    return _of_series(name, data, series, cutoff)


def _of_series(name: str, data: Dataset, series: str, cutoff: Cutoff | None) -> Reduced:
    match name:
        case "span" | "mean_span" | "mean_zero":
            found = reduced_values(name, table_values(data, series, cutoff))
        case "cumsum" | "raw_cumsum":
            found = _cumsum(name, data, series, cutoff)
        case "raw_seq_loss":
            found = _of_packets(calls.loss_frac(data, series, cutoff), samples(data, series, cutoff))
        case "mos":
            found = _of_packets(calls.opinion(data, series, cutoff), samples(data, series, cutoff))
        case _:
            found = reduced_values(name.removeprefix("raw_"), samples(data, series, cutoff))
    return found


def reduced_values(name: str, values: Iterable[float] | FloatArray) -> Reduced:
    """One number of values, in which NaN is a gap; `name` is one of OF_VALUES, or "mean_zero".

    Raises:
        InputError: there is no such reducer of values.
    """
    found = np.asarray(values if isinstance(values, np.ndarray) else list(values), dtype=np.float64)
    if name == "mean_zero":
        name, found = "mean", np.nan_to_num(found)
    if name not in OF_VALUES:
        raise InputError(f'"{name}" does not reduce values; use {", ".join((*OF_VALUES, "mean_zero"))}')
    known = found[~np.isnan(found)]
    return Reduced(OF_VALUES[name](known), int(known.size)) if known.size else UNKNOWN


def flows_of(data: Dataset, pattern: str) -> list[str]:
    """The series of a pattern that are not derived from others; of a derived series those that it is derived from."""
    found = matching(pattern, main_series(data.series)) or matching(pattern, data.series)
    if len(found) == 1:
        of = data.series[found[0]].meta.get(DERIVED_FROM)
        if isinstance(of, list):
            return [name for name in of if name in data.series]
    return [name for name in found if not {DERIVED_FROM, _COMPUTED} & data.series[name].meta.keys()]


def _fairness(name: str, data: Dataset, pattern: str, cutoff: Cutoff | None) -> Reduced:
    flows = flows_of(data, pattern)
    if name == "fairness_mean":
        means = [reduce("mean", data, flow, cutoff) for flow in flows]
        index = float(jain_at_each_step(np.array(means, dtype=np.float64)))
        return Reduced(index, len(means) - sum(map(math.isnan, means))) if means else UNKNOWN
    columns = [table_values(data, flow, cutoff) for flow in flows]
    return reduced_values("mean", jain_at_each_step(np.vstack(columns)) if columns else [])


def _meta(data: Dataset, series: str, key: str) -> Reduced:
    """A number of the meta, of as many values as the series has."""
    found: object = data.series[series].meta
    for part in [key] if isinstance(found, Mapping) and key in found else key.split(":"):
        if isinstance(found, Mapping):
            found = found.get(part)
        elif isinstance(found, list) and part.isdecimal() and int(part) < len(found):
            found = found[int(part)]
        else:
            return UNKNOWN
    if isinstance(found, bool) or not isinstance(found, int | float):
        return UNKNOWN
    return Reduced(float(found), max(1, int(data.series[series].known.size)))


def _cumsum(name: str, data: Dataset, series: str, cutoff: Cutoff | None) -> Reduced:
    further = data.series.get(f"{series}{SEPARATOR}dur")
    if further is not None:
        values, lasted = samples(data, series, cutoff, gaps=True), calls.beside(data, series, "dur", cutoff, lost=False)
        known = ~np.isnan(values) & ~np.isnan(lasted)
        if known.any():
            return Reduced(float((values[known] * lasted[known]).sum()), int(known.sum()))
    if name == "raw_cumsum":
        return UNKNOWN
    values = table_values(data, series, cutoff)
    known = ~np.isnan(values)
    return Reduced(float(values[known].sum() * data.table.step_s), int(known.sum())) if known.any() else UNKNOWN


def _of_packets(value: float, of: FloatArray) -> Reduced:
    return UNKNOWN if math.isnan(value) else Reduced(value, max(1, int(of.size)))
