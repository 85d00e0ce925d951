# SPDX-License-Identifier: BSD-3-Clause
"""A test and its parameters → `Expanded`: every flow, derived series and plot, with nothing left open.

Patterns of derived series are resolved here, since all flows are known; those of plots stay patterns, because a plot is
also drawn of data sets that others made.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from linklab.data.names import matching
from linklab.errors import InputError
from linklab.experiment import model
from linklab.experiment.entries import LineEntry, NamedTest, PlotEntry
from linklab.experiment.flows import flows_of
from linklab.experiment.model import Derived, Expanded, Traffic, TrafficFlow
from linklab.experiment.parameters import Given, read_parameters
from linklab.experiment.places import fill, seconds
from linklab.plots.spec import PlotLine, PlotSpec

LONGEST_S = 86_400.0


def expand(
    test: NamedTest,
    parameters: Mapping[str, str] | None = None,
    *,
    hosts: Sequence[str] = (),
    length_s: float | None = None,
    step_s: float | None = None,
    delay_s: float | None = None,
) -> Expanded:
    """A test with its parameters, concrete in all.

    Args:
        test: of `load_test`.
        parameters: name → text; those that the test does not know are kept as metadata.
        hosts: names of the target hosts, as they stand in names of series. Where there are none, or fewer than the test
            needs, names are made up ("target 1"): enough to say what it holds; `Expanded.hosts` says how many it needs.
        length_s: of the load; the test's own, else 60 s.
        step_s: between two samples; 0.2 s unless given.
        delay_s: of the load after the probes begin; 5 s unless given.

    Raises:
        InputError: a parameter is wrong or missing, a length is, or the test cannot be had.
    """
    if test.impossible:
        raise InputError(f"{test.name}: {test.impossible}")
    given = read_parameters(test, dict(parameters or {}))
    length = length_s if length_s is not None else test.length_s if test.length_s is not None else model.LENGTH_S
    times = {
        "length": _positive(length, "length"),
        "delay": model.DELAY_S if delay_s is None else delay_s,
        "step": _positive(model.STEP_S if step_s is None else step_s, "step"),
    }
    if not 0 <= times["delay"] <= LONGEST_S:
        raise InputError(f"the delay before the load must be from 0 to {LONGEST_S:g} s, not {times['delay']:g} s")
    times["total"] = seconds(test.total, times)
    if test.total_least:
        times["total"] = max(times["total"], seconds(test.total_least, times))
    times["lead"] = max(0.0, (times["total"] - times["length"]) / 2)
    wanted = test.hosts if hosts else max(test.hosts, test.usual_hosts)
    targets = [*hosts, *(f"target {number}" for number in range(len(hosts) + 1, wanted + 1))]
    flows = flows_of(test, given, targets, times)
    return Expanded(
        name=test.name,
        title=fill(test.title, given.places),
        flows=tuple(flows),
        derived=tuple(_derived(test, given, flows)),
        plots=tuple(_plots(test, given, times)),
        default_plot=test.plot,
        hosts=max((flow.target + 1 for flow in flows), default=1),
        length_s=times["length"],
        total_s=times["total"],
        step_s=times["step"],
        parameters=given.all,
    )


def _positive(value: float, what: str) -> float:
    if not 0 < value <= LONGEST_S:
        raise InputError(f"the {what} must be above 0 and at most {LONGEST_S:g} s, not {value:g} s")
    return float(value)


def _derived(test: NamedTest, given: Given, flows: Sequence[TrafficFlow]) -> list[Derived]:
    """Derived series whose sources exist, in their order: one may build upon another that stands before it."""
    names = [name for flow in flows for name in series_of(flow)]
    found: dict[str, Derived] = {}
    for entry in test.entries.derived.values():
        if not given.fits(entry.when):
            continue
        sources: list[str] = []
        for pattern in (fill(pattern, given.places) for pattern in entry.of):
            sources += [pattern] if pattern in found else matching(pattern, names)
        if sources:
            found[entry.series] = Derived(entry.series, entry.rule, tuple(dict.fromkeys(sources)), entry.unit)
    return list(found.values())


VOIP_KEYS = ("bitrate", "delay", "jitter", "loss")
"""Further series of a VoIP flow, as Flent names them."""


def series_of(flow: TrafficFlow) -> tuple[str, ...]:
    """The names of the series that a flow gives and that others are derived from."""
    if flow.traffic is Traffic.VOIP:
        return (flow.series, *(f"{flow.series}::{key}" for key in VOIP_KEYS))
    return (flow.series,)


def _plots(test: NamedTest, given: Given, times: Mapping[str, float]) -> list[PlotSpec]:
    return [_plot(entry, given, times) for entry in test.entries.plots.values() if given.fits(entry.when)]


def _plot(entry: PlotEntry, given: Given, times: Mapping[str, float]) -> PlotSpec:
    try:
        cutoff = None
        if entry.cutoff is not None:
            first, last = (seconds(fill(text, given.places), times) for text in entry.cutoff)
            cutoff = first, last
        lines = tuple(_line(line, given, times) for line in entry.lines)
        return PlotSpec(
            name=entry.name,
            description=fill(entry.text or entry.name, given.places),
            kind=entry.kind,
            lines=lines,
            parts=entry.parts,
            axis_labels=entry.axes,
            scaling=entry.scaling,
            cutoff_s=cutoff,
            group_by=entry.group_by,
            reduce=entry.reduce,
            stacked=entry.stacked,
            side_by_side=entry.side_by_side,
            legend_title=fill(entry.legend, given.places),
        )
    except InputError as error:
        raise InputError(f"{entry.where}: {error}") from error


def _line(line: LineEntry, given: Given, times: Mapping[str, float]) -> PlotLine:
    smoothing = 0
    if line.smoothing:
        words = fill(line.smoothing, given.places)
        smoothing = int(words) if words.isdecimal() else round(seconds(words, times) / times["step"])
    return PlotLine(
        series=fill(line.series, given.places),
        label=fill(line.label, given.places),
        key=line.key,
        second_axis=line.axis == 2,
        smoothing=smoothing,
        reduce=line.reduce,
        bold=line.bold,
    )
