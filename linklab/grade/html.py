# SPDX-License-Identifier: BSD-3-Clause
"""A report as pages: one for the student and one for the instructor; `linklab.grade.overview` has that of a class.

Each is one file that works offline, in light and dark, on paper and with a screen reader: `report.html.j2` beside this
module, in the style of the manuals (`linklab/manual/style.css`). Everything that comes from a submission is escaped by
the templates.
"""

from __future__ import annotations

import math
import re
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from html import escape
from pathlib import Path
from typing import Any

import jinja2
from markupsafe import Markup

from linklab.base.numbers import format_number
from linklab.exercise.evidence import unit_of
from linklab.exercise.report import Report, Status, Trace
from linklab.grade.charts import Curve, outcome_bar, swatch, time_chart
from linklab.grade.marks import mark, tool_broke
from linklab.grade.results import hints, points, signed, story, student_view
from linklab.judge.verdict import Outcome
from linklab.manual.templates import templates

WORDS = {
    Outcome.PASS: ("✓", "passed"),
    Outcome.PARTIAL: ("◐", "in part"),
    Outcome.FAIL: ("✗", "not met"),
    Outcome.SKIPPED: ("–", "not judged"),
    Outcome.ERROR: ("!", "our tool broke"),
}
_VERSION = re.compile(r"\d[\d.]*\d[\w-]*")
_QUANTITIES = {"throughput": "Throughput", "rtt": "Round-trip time", "backlog": "Queue"}


@dataclass(frozen=True)
class Charts:
    """An experiment's charts, which share their time axis, and the legend: (swatch, label)."""

    title: str
    legend: Sequence[tuple[Markup, str]]
    charts: Sequence[Markup]
    note: str


def draw(report: Report) -> dict[str, Charts]:
    """The charts of each experiment, in the order of the traces; a flow has the same line in all of them."""
    traces = report.traces
    looks = {label: number for number, label in enumerate(dict.fromkeys(trace.label for trace in traces))}
    found = {}
    for experiment in dict.fromkeys(trace.experiment for trace in traces):
        mine = [trace for trace in traces if trace.experiment == experiment and _has_value(trace)]
        if not mine:
            continue
        seeds = sorted({trace.seed for trace in mine})
        end_s = max(trace.time_s[-1] for trace in mine) or 1.0
        quantities = list(dict.fromkeys(trace.what for trace in mine))
        charts = [
            _chart([trace for trace in mine if trace.what == what], looks, seeds[0], end_s, last=what == quantities[-1])
            for what in quantities
        ]
        labels = list(dict.fromkeys(trace.label for trace in mine))
        legend = [(Markup(swatch(looks[label])), label) for label in labels]  # noqa: S704 - our own svg
        note = f"The strong lines are of one run, the pale ones of {len(seeds) - 1} more." if len(seeds) > 1 else ""
        if (counted_s := _counted_from(mine)) > 0:
            note += f" Throughput is counted from {counted_s:g} s on."
        words = report.experiments.get(experiment, "")
        title = f"“{experiment}”: {words}" if words else f"Experiment “{experiment}”"
        found[experiment] = Charts(title, legend, charts, note)
    return found


def report_page(report: Report, plots: Mapping[str, Charts], *, instructor: bool = False) -> str:
    """The page of one submission; without what is hidden unless for the instructor.

    Args:
        report: the whole one.
        plots: of `draw`, for both pages of the report.
        instructor: whether it is the instructor's.
    """
    shown = report if instructor else student_view(report)
    seen = {trace.experiment for trace in shown.traces}
    kind, _, title = shown.heading.partition(": ")
    return page(
        "report.html.j2",
        report=shown,
        kind=kind if title else "",
        title=title or shown.heading or "Submission",
        instructor=instructor,
        percent=percent(shown),
        broke=tool_broke(shown),
        mark=mark(shown),
        bar=_score_bar(shown),
        plots=[plot for experiment, plot in plots.items() if experiment in seen],
        metrics=_metrics(shown) if instructor else [],
        hidden=[check for check in shown.checks if check.hidden],
        several=any(len(values) > 1 for found in report.metrics.values() for values in found.values()),
    )


def _score_bar(report: Report) -> Markup:
    """One piece for each check, as long as its weight."""
    pieces = [(check.outcome, check.max_score, WORDS[check.outcome][0]) for check in report.checks if check.max_score]
    words = "; ".join(f"{check.title}: {WORDS[check.outcome][1]}" for check in report.checks)
    return Markup(outcome_bar(pieces, width=680, height=18, words=words)) if pieces else Markup("")  # noqa: S704 - svg


def _counted_from(traces: Sequence[Trace]) -> float:
    """When the first interval of throughput began: what was sent before is left out of it."""
    begins = [
        trace.time_s[0] - (trace.time_s[1] - trace.time_s[0])
        for trace in traces
        if trace.what == "throughput" and len(trace.time_s) > 1
    ]
    return round(min(begins, default=0.0), 1)


def _has_value(trace: Trace) -> bool:
    return any(math.isfinite(value) for value in trace.values)


def _chart(traces: Sequence[Trace], looks: Mapping[str, int], first: int, end_s: float, *, last: bool) -> Markup:
    what = _QUANTITIES.get(traces[0].what, traces[0].what)
    curves = [
        Curve(trace.label, looks[trace.label], trace.seed != first, trace.time_s, trace.values)
        for trace in sorted(traces, key=lambda trace: trace.seed == first)
    ]
    told = []
    for trace in traces:
        known = [value for value in trace.values if math.isfinite(value)]
        if trace.seed == first:
            mean, most = (format_number(each, trace.unit) for each in (statistics.fmean(known), max(known)))
            told.append(f"{trace.label}: mean {mean}, largest {most}")
    words = f"{what} over time. {'; '.join(told)}"
    return Markup(time_chart(what, traces[0].unit, curves, end_s, last=last, words=words))  # noqa: S704 - escaped there


def _metrics(report: Report) -> list[tuple[str, str, str, str]]:
    """Rows (experiment, metric, median, each seed's value)."""
    rows = []
    for experiment, found in report.metrics.items():
        for metric, values in found.items():
            unit = unit_of(metric)
            known = [value for value in values if math.isfinite(value)]
            median = format_number(statistics.median(known), unit) if known else "none"
            rows.append((experiment, metric, median, ", ".join(format_number(value, unit) for value in values)))
    return rows


# --- pieces


def percent(report: Report) -> float:
    """The mark, or what the checks earned where there is none, as a share of a full one."""
    final = mark(report)
    return 100 * (report.score if final is None else final) / report.max_score if report.max_score else 0.0


def _code(text: str) -> Markup:
    """Escaped text in which what stands between backticks is code."""
    return Markup(re.sub(r"`([^`\n]+)`", r"<code>\1</code>", escape(text)))  # noqa: S704 - escaped just now


def _listed(value: Any) -> str:
    """A value of the environment as text: versions as "iperf3 3.12, tc 6.1", whatever else a tool says of itself."""
    if isinstance(value, Mapping):
        versions = {name: _VERSION.search(str(item)) for name, item in value.items()}
        return ", ".join(f"{name} {found[0] if (found := versions[name]) else _listed(value[name])}" for name in value)
    return ", ".join(map(_listed, value)) if isinstance(value, (list, tuple)) else str(value)


@cache
def _environment() -> jinja2.Environment:
    environment = templates(Path(__file__).parent)
    environment.filters |= {
        "points": points,
        "code": _code,
        "story": story,
        "hints": hints,
        "listed": _listed,
        "signed": signed,
    }
    environment.filters |= {"mark": mark}
    environment.globals |= {"WORDS": WORDS, "Outcome": Outcome, "Status": Status}
    return environment


def page(template: str, **values: Any) -> str:
    """Fill one of the templates of this folder."""
    return _environment().get_template(template).render(**values)
