# SPDX-License-Identifier: BSD-3-Clause
"""The graphs of an experiment's page: what each flow got, sent, waited for and lost, over time.

A graph that has nothing to show is not drawn.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from linklab.data import Dataset
from linklab.measure import Series
from linklab.netesto import names
from linklab.netesto.graph_drawing import FEW, GraphLine, instants, over_time, shares
from linklab.netesto.recorded import RecordedExperiment
from linklab.plots import style

_LABEL = 36
"""Letters of a flow's label in the legend."""


@dataclass(frozen=True)
class Graph:
    """A graph that is drawn: file name without suffix, title, what it shows for readers who cannot see it, its SVG."""

    name: str
    title: str
    words: str
    svg: bytes


def flow_lines(recorded: RecordedExperiment) -> list[GraphLine]:
    """The flows of an experiment in the order of groups and instances."""
    found = []
    for group in recorded.groups:
        for instance, series in group.flows:
            size = f" {group.req}" if group.test == names.RR else ""
            words = f"{group.group}.{instance} {group.ca or '?'} {group.host}→{group.server}{size}"
            label = words if len(words) <= _LABEL else f"{words[: _LABEL - 1]}…"
            found.append(GraphLine(label.replace("$", r"\$"), group.group, instance, series))
    return found


def draw_graphs(recorded: RecordedExperiment, data: Dataset) -> list[Graph]:
    """The graphs that the data set gives, in the order of the page."""
    lines = flow_lines(recorded)
    found = []
    with style.context():
        for name, title, unit, value in _OVER_TIME:
            drawn = [(line, series) for line in lines if (series := value(data, line)) is not None]
            if drawn:
                figure = over_time(drawn, title, unit, lines, summed=name == "rates")
                found.append(Graph(name, title, _words(title, unit, drawn), style.drawn(figure)))
        if marks := [(line, times) for line in lines if (times := retransmitted_at(data, line)) is not None]:
            words = f"Retransmissions: {sum(len(times) for _, times in marks)} samples in which a flow retransmitted."
            found.append(
                Graph("retrans", "Retransmissions", words, style.drawn(instants(marks, lines, _end_s(data, lines))))
            )
        if answers := [(line, known) for line in lines if (known := _answers(data, line)) is not None]:
            words = f"Share of answers that took at most so long, of {len(answers)} flows."
            found.append(Graph("latency", "Latency of answers", words, style.drawn(shares(answers, lines))))
    return found


# --- what is shown


def _series(number: str) -> Callable[[Dataset, GraphLine], Series | None]:
    def of(data: Dataset, line: GraphLine) -> Series | None:
        found = data.series.get(names.socket(line.series, number) if number else line.series)
        return found if found is not None and found.known.size else None

    return of


def acked_rate(data: Dataset, line: GraphLine) -> Series | None:
    """Mbits/s of payload that the receiver acknowledged, at the end of each interval between two samples."""
    total = _series("tcp_bytes_acked")(data, line)
    if total is None or len(total) < 2:
        return None
    known = ~np.isnan(total.value)
    time_s, octets = total.time_s[known], total.value[known]
    steps, lengths = np.diff(octets), np.diff(time_s)
    there = (lengths > 0) & (steps >= 0)
    rate = np.divide(steps * 8e-6, lengths, out=np.full(steps.shape, np.nan), where=there)
    return Series(line.series, "Mbits/s", time_s[1:], rate) if there.any() else None


def retransmitted_at(data: Dataset, line: GraphLine) -> Any:
    """When a sample showed more retransmissions than the one before, s; None if nobody counted them."""
    total = _series("tcp_retransmits")(data, line)
    if total is None:
        return None
    known = ~np.isnan(total.value)
    time_s, count = total.time_s[known], total.value[known]
    return time_s[np.diff(count, prepend=0.0) > 0]


def _answers(data: Dataset, line: GraphLine) -> Any:
    found = data.series.get(names.answers(line.group, line.instance))
    return found.known if found is not None and found.known.size else None


_OVER_TIME: tuple[tuple[str, str, str, Callable[[Dataset, GraphLine], Series | None]], ...] = (
    ("rates", "Goodput", "Mbit/s", _series("")),
    ("acked_rate", "Acknowledged", "Mbit/s", acked_rate),
    ("cwnd", "Congestion window", "packets", _series("tcp_cwnd")),
    ("unacked", "Unacknowledged", "segments", _series("tcp_unacked")),
    ("rtt", "Round-trip time", "ms", _series("tcp_rtt")),
    ("minrtt", "Least round-trip time", "ms", _series("tcp_min_rtt")),
)


def _end_s(data: Dataset, lines: Sequence[GraphLine]) -> float:
    found = [data.series[line.series] for line in lines if line.series in data.series]
    return max((float(series.time_s[-1]) for series in found if len(series)), default=1.0)


def _words(title: str, unit: str, drawn: Sequence[tuple[GraphLine, Series]]) -> str:
    """The numbers of a graph: the mean of each of a few flows, or the least and the greatest mean of many."""
    means = [(line, float(series.known.mean())) for line, series in drawn]
    if len(means) <= FEW:
        return (
            f"{title} over time. Means: " + ", ".join(f"{line.label} {mean:.4g} {unit}" for line, mean in means) + "."
        )
    least, most = min(mean for _, mean in means), max(mean for _, mean in means)
    return f"{title} over time of {len(means)} flows, whose means lie between {least:.4g} and {most:.4g} {unit}."
