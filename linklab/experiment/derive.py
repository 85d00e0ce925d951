# SPDX-License-Identifier: BSD-3-Clause
"""Derived series: sums, means, fairness of several series, step by step at common times.

The rules and their treatment of gaps are those of Flent, so that both compute the same numbers from the same file: a
series without a value at a step is left out of that step, and a step at which none has a value is a gap.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from linklab.analysis.formulas import jain_at_each_step
from linklab.analysis.reducers import DERIVED_FROM, MEAN_VALUE
from linklab.data import Dataset
from linklab.data.names import main_series, matching
from linklab.experiment.model import Derived, DerivedRule, Expanded, Traffic
from linklab.experiment.plots_of import test_of
from linklab.measure import Series
from linklab.measure.series import FloatArray

SMOOTH_STEPS = 5
"""Steps with a value over which a smooth average runs: this one and those before it."""

_UNITS = dict.fromkeys((Traffic.TCP, Traffic.UDP, Traffic.SCTP), "Mbits/s") | dict.fromkeys(
    (Traffic.ICMP, Traffic.UDP_RTT, Traffic.TCP_RTT), "ms"
)

CONVENTION = "Jain's index over the flows that have a value at the step; a flow that has none is left out, not 0"


Span = tuple[float, float]
"""When a flow begins, s since T0, and how long it lasts."""


def derive(data: Dataset, derived: Sequence[Derived], spans: Mapping[str, Span] | None = None) -> Dataset:
    """The data set with derived series after its own.

    They are computed in order, so that one may use an earlier one; a pattern matches series, not the further numbers of
    their samples, and never the derived series itself. One that is already there stays as it is, and one whose series
    are all missing is left out.

    The series have values at the table's common times (`linklab.data.table`), NaN where none of their series has a
    value:

    - average, sum: of the values at that step. A flow that has not begun or has a gap counts as nothing.
    - smooth_average: the mean of the averages of this step and of the SMOOTH_STEPS - 1 before it that have one.
    - diff_min: the first series less its least value at the common times.
    - fairness: Jain's index over the flows that have a value at that step (`CONVENTION`, also in the meta of the
      series); NaN where all of them are 0.

    A derived series has a MEAN_VALUE, the rule over those of its series. With `spans`, of the flows by series, it has
    none where these do not last equally long, or one lacks it: what flows carried one after another has no sum at any
    moment, and its mean is then that of its values, as a figure shows them. Without, it is as in Flent.

    Source: Flent's `ComputingRunner` and its kinds, for what a gap means; Jain, Chiu, Hawe, DEC-TR-301 (1984).
    """
    table = data.table
    series = dict(data.series)
    known = None if spans is None else dict(spans)
    for wanted in derived:
        if wanted.series in series:
            continue
        found = _sources(wanted, series)
        if found:
            columns = [table.column(name) if name in data.series else series[name].value for name in found]
            value = _apply(wanted.rule, np.vstack(columns))
            unit = wanted.unit or _common_unit(wanted.rule, [series[name] for name in found])
            meta = _meta(wanted, {name: series[name] for name in found}, known)
            series[wanted.series] = Series(wanted.series, unit, table.times, value, meta=meta)
    return replace(data, series=series)


def completed(data: Dataset) -> Dataset:
    """A file of Flent's with the derived series of its test that it lacks, as Flent completes it when it opens it.

    The test is that of its plots (`test_of`), so that each of them finds its series; a file of another test stays as it
    is. So does a file of ours, which has all.
    """
    expanded = test_of(data) if data.grid is not None else None
    return data if expanded is None else derive(_with_units(data, expanded), expanded.derived)


def _with_units(data: Dataset, expanded: Expanded) -> Dataset:
    """The data set with the units of flows and of what is derived, which files of Flent's version 3 do not say."""
    units = {flow.series: _UNITS.get(flow.traffic, "") for flow in expanded.flows}
    units |= {wanted.series: wanted.unit for wanted in expanded.derived}
    series = {
        name: one if one.unit or not units.get(name) else replace(one, unit=units[name])
        for name, one in data.series.items()
    }
    return replace(data, series=series)


def _sources(wanted: Derived, series: Mapping[str, Series]) -> list[str]:
    """The series that it is computed from, each once."""
    names = main_series(series)
    of = [pattern.strip() for pattern in wanted.of]
    found = [name for pattern in of for name in (matching(pattern, names) or matching(pattern, series))]
    found = list(dict.fromkeys(name for name in found if name != wanted.series))
    return found[:1] if wanted.rule is DerivedRule.DIFF_MIN else found


def _apply(rule: DerivedRule, values: FloatArray) -> FloatArray:
    """The rule over rows of `values`, `(series, steps)`."""
    known = ~np.isnan(values)
    count = known.sum(axis=0)
    total = np.where(count > 0, np.where(known, values, 0.0).sum(axis=0), np.nan)
    match rule:
        case DerivedRule.SUM:
            return total
        case DerivedRule.MEAN:
            return _ratio(total, count)
        case DerivedRule.SMOOTH_MEAN:
            return _smooth(_ratio(total, count))
        case DerivedRule.DIFF_MIN:
            least: FloatArray = np.min(values[:1], axis=1, where=known[:1], initial=np.inf)
            return np.where(known[0], values[0] - least, np.nan)
        case DerivedRule.FAIRNESS:
            return jain_at_each_step(values)


def _ratio(over: FloatArray, under: FloatArray) -> FloatArray:
    found: FloatArray = np.divide(over, under, out=np.full(over.shape, np.nan), where=under > 0)
    return found


def _smooth(values: FloatArray) -> FloatArray:
    """The mean of each value and of the SMOOTH_STEPS - 1 known ones before it."""
    last: deque[float] = deque(maxlen=SMOOTH_STEPS)
    found = np.full(values.shape, np.nan)
    for number in np.flatnonzero(~np.isnan(values)):
        last.append(float(values[number]))
        found[number] = sum(last) / len(last)
    return found


def _common_unit(rule: DerivedRule, of: Sequence[Series]) -> str:
    units = {one.unit for one in of}
    return units.pop() if len(units) == 1 and rule is not DerivedRule.FAIRNESS else ""


def _meta(wanted: Derived, of: Mapping[str, Series], spans: dict[str, Span] | None) -> dict[str, Any]:
    """What is known of the series: its rule, what it is of, and the rule applied to their means; see `derive`.

    `spans` gets its own, where all that it is of have the same.
    """
    meta: dict[str, Any] = {"COMMAND": f"{wanted.rule.value} (computed)", DERIVED_FROM: list(of)}
    if wanted.rule is DerivedRule.FAIRNESS:
        meta["CONVENTION"] = CONVENTION
    means = [one.meta[MEAN_VALUE] for one in of.values() if isinstance(one.meta.get(MEAN_VALUE), int | float)]
    if spans is not None:
        own = {spans.get(name) for name in of}
        if len(own) > 1 or None in own or len(means) < len(of):
            return meta
        spans[wanted.series] = next(span for span in own if span is not None)
    if means and wanted.rule is not DerivedRule.DIFF_MIN:
        value = float(_apply(wanted.rule, np.array(means, dtype=np.float64).reshape(-1, 1))[0])
        meta[MEAN_VALUE] = None if np.isnan(value) else value
    return meta
