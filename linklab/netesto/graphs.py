# SPDX-License-Identifier: BSD-3-Clause
"""The graphs of an experiment's page: what each flow got, sent, waited for and lost, over time.

Up to `FEW` flows each have a look of their own and a line in the legend. More of them are thin lines in the colour of
their group, behind the thick mean of the group and the sum of all, and the legend names groups, at most `FEW` of them.
A graph that has nothing to show is not drawn.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from linklab.data import Dataset
from linklab.data.grid import at_times, common_times
from linklab.measure import Series
from linklab.netesto import names
from linklab.netesto.recorded import Recorded
from linklab.plots import style
from linklab.plots.named.thin import thinned
from linklab.plots.palette import COLOURS

FEW = 8
SIZE_IN = (7.2, 2.5)
_POINTS = 8000
"""Points of all lines of a graph together, about: more do not show, and make a page of many flows slow."""
_LEAST_COLUMNS = 40
_SUM = {"color": "#000000", "linewidth": 1.8, "zorder": 4}
_LABEL = 34
"""Letters of a flow's label in the legend."""


@dataclass(frozen=True)
class Line:
    """A flow: its label, group, instance, and series in Mbits/s."""

    label: str
    group: int
    instance: int
    series: str


@dataclass(frozen=True)
class Graph:
    """A graph that is drawn: file name without suffix, title, what it shows for readers who cannot see it, its SVG."""

    name: str
    title: str
    words: str
    svg: bytes


def flow_lines(recorded: Recorded) -> list[Line]:
    """The flows of an experiment in the order of groups and instances."""
    found = []
    for group in recorded.groups:
        for instance, series in group.flows:
            words = f"{group.group}.{instance} {group.ca or '?'} {group.host}→{group.server}"
            label = words if len(words) <= _LABEL else f"{words[: _LABEL - 1]}…"
            found.append(Line(label.replace("$", r"\$"), group.group, instance, series))
    return found


def draw_graphs(recorded: Recorded, data: Dataset) -> list[Graph]:
    """The graphs that the data set gives, in the order of the page."""
    lines = flow_lines(recorded)
    found = []
    with style.context():
        for name, title, unit, value in _OVER_TIME:
            drawn = [(line, series) for line in lines if (series := value(data, line)) is not None]
            if drawn:
                figure = _over_time(drawn, title, unit, lines, summed=name == "rates")
                found.append(Graph(name, title, _words(title, unit, drawn), _svg(figure)))
        if marks := [(line, times) for line in lines if (times := retransmitted_at(data, line)) is not None]:
            words = f"Retransmissions: {sum(len(times) for _, times in marks)} samples in which a flow retransmitted."
            found.append(Graph("retrans", "Retransmissions", words, _svg(_marks(marks, lines, _end_s(data, lines)))))
        if answers := [(line, known) for line in lines if (known := _answers(data, line)) is not None]:
            words = f"Share of answers that took at most so long, of {len(answers)} flows."
            found.append(Graph("latency", "Latency of answers", words, _svg(_shares(answers, lines))))
    return found


# --- what is shown


def _series(number: str) -> Callable[[Dataset, Line], Series | None]:
    def of(data: Dataset, line: Line) -> Series | None:
        found = data.series.get(names.socket(line.series, number) if number else line.series)
        return found if found is not None and found.known.size else None

    return of


def acked_rate(data: Dataset, line: Line) -> Series | None:
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


def retransmitted_at(data: Dataset, line: Line) -> Any:
    """When a sample showed more retransmissions than the one before, s; None if nobody counted them."""
    total = _series("tcp_retransmits")(data, line)
    if total is None:
        return None
    known = ~np.isnan(total.value)
    time_s, count = total.time_s[known], total.value[known]
    return time_s[np.diff(count, prepend=0.0) > 0]


def _answers(data: Dataset, line: Line) -> Any:
    found = data.series.get(names.answers(line.group, line.instance))
    return found.known if found is not None and found.known.size else None


_OVER_TIME: tuple[tuple[str, str, str, Callable[[Dataset, Line], Series | None]], ...] = (
    ("rates", "Goodput", "Mbit/s", _series("")),
    ("acked_rate", "Acknowledged", "Mbit/s", acked_rate),
    ("cwnd", "Congestion window", "packets", _series("tcp_cwnd")),
    ("unacked", "Unacknowledged", "segments", _series("tcp_unacked")),
    ("rtt", "Round-trip time", "ms", _series("tcp_rtt")),
    ("minrtt", "Least round-trip time", "ms", _series("tcp_min_rtt")),
)


def together(reduce: Callable[..., Any], series: Sequence[Series]) -> Series:
    """The sum (np.nansum) or mean (np.nanmean) at common times, over the flows that have a value there."""
    times, step_s = common_times(series)
    values = np.array([at_times(one, times, step_s) for one in series])
    there = ~np.isnan(values).all(axis=0)
    found = np.full(times.shape, np.nan)
    found[there] = reduce(values[:, there], axis=0)
    return Series("together", series[0].unit, times, found)


# --- drawing


def _figure() -> tuple[Figure, Any]:
    """A figure with axes and room at the right for the legend; a layout that is computed takes longer than the rest."""
    figure = Figure(figsize=SIZE_IN)
    return figure, figure.add_axes((0.085, 0.17, 0.65, 0.79))


def _look(line: Line, lines: Sequence[Line]) -> dict[str, Any]:
    if len(lines) <= FEW:
        look = style.line_look(lines.index(line), 1)
        return {"color": look["color"], "linestyle": look["linestyle"], "linewidth": 1.0}
    groups = list(dict.fromkeys(each.group for each in lines))
    width, strength = (0.5, 0.4) if len(lines) <= 64 else (0.35, 0.15)
    return {"color": COLOURS[groups.index(line.group) % len(COLOURS)], "linewidth": width, "alpha": strength}


def _strong(look: dict[str, Any]) -> dict[str, Any]:
    """The look of a group as a whole."""
    return {**look, "linewidth": 1.4, "alpha": 1.0}


def _over_time(
    drawn: Sequence[tuple[Line, Series]], title: str, unit: str, lines: Sequence[Line], *, summed: bool
) -> Figure:
    figure, axes = _figure()
    columns = max(_LEAST_COLUMNS, _POINTS // (2 * len(drawn)))
    for line, series in drawn:
        axes.plot(*thinned(series.time_s, series.value, columns), **_look(line, lines))
    everything = together(np.nansum, [series for _, series in drawn]) if summed and len(drawn) > 1 else None
    if everything is not None:
        axes.plot(*thinned(everything.time_s, everything.value, _POINTS), **_SUM)
    if len(lines) > FEW:
        for group in dict.fromkeys(line.group for line, _ in drawn):
            mine = [(line, series) for line, series in drawn if line.group == group]
            mean = together(np.nanmean, [series for _, series in mine])
            axes.plot(*thinned(mean.time_s, mean.value, _POINTS), **_strong(_look(mine[0][0], lines)), zorder=3)
    highest = max(
        float(series.known.max()) for series in (*(one for _, one in drawn), everything) if series is not None
    )
    axes.set_ylim(0, 1.06 * highest or 1)
    axes.set_xlim(0, 1.01 * max(float(series.time_s[-1]) for _, series in drawn) or 1)
    axes.set_xlabel("Time (s)")
    axes.set_ylabel(f"{title} ({unit})")
    _legend(axes, [line for line, _ in drawn], lines, with_sum=everything is not None, means="; thick: its mean")
    return figure


def _marks(marks: Sequence[tuple[Line, Any]], lines: Sequence[Line], end_s: float) -> Figure:
    """A row for each flow, the first at the top, with a mark at each instant."""
    figure, axes = _figure()
    rows = range(len(marks), 0, -1)
    looks = [_look(line, lines) for line, _ in marks]
    axes.eventplot(
        [times for _, times in marks],
        lineoffsets=list(rows),
        linelengths=0.8,
        linewidths=[1.1 if len(lines) <= FEW else 0.6],
        colors=[look["color"] for look in looks],
    )
    axes.set_ylim(0.4, len(marks) + 0.6)
    axes.set_xlim(0, 1.01 * end_s or 1)
    axes.set_xlabel("Time (s)")
    axes.set_ylabel("Retransmissions")
    axes.grid(visible=False, axis="y")
    if len(lines) <= FEW:
        axes.set_yticks(list(rows), [f"{line.group}.{line.instance}" for line, _ in marks])
    else:
        axes.set_yticks([])
        axes.set_ylabel(f"Retransmissions\nof {len(marks)} flows")
    if not any(len(times) for _, times in marks):
        axes.text(0.5, 0.5, "none", transform=axes.transAxes, ha="center", va="center")
    _legend(axes, [line for line, _ in marks], lines, with_sum=False)
    return figure


def _shares(answers: Sequence[tuple[Line, Any]], lines: Sequence[Line]) -> Figure:
    """How large a share of a flow's answers took at most so long."""
    figure, axes = _figure()
    columns = max(_LEAST_COLUMNS, _POINTS // (2 * len(answers)))
    for line, known in answers:
        ordered = np.sort(known)
        share = np.arange(1, ordered.size + 1) / ordered.size
        some = np.unique(np.linspace(0, ordered.size - 1, min(ordered.size, 2 * columns)).round().astype(int))
        axes.plot(ordered[some], share[some], **_look(line, lines))
    axes.set_ylim(0, 1.02)
    axes.set_xlim(0, None)
    axes.set_xlabel("Latency (ms)")
    axes.set_ylabel("Share of answers")
    _legend(axes, [line for line, _ in answers], lines, with_sum=False)
    return figure


def _legend(axes: Any, drawn: Sequence[Line], lines: Sequence[Line], *, with_sum: bool, means: str = "") -> None:
    """Beside the axes: flows, or of many flows their groups, as many as there is room for, and how many are left."""
    entries: list[tuple[Any, str]] = []
    if with_sum:
        entries.append((_handle(axes, _SUM), "sum"))
    if len(lines) <= FEW:
        entries += [(_handle(axes, _look(line, lines)), line.label) for line in drawn]
        left = ""
    else:
        first = {line.group: line for line in reversed(drawn)}
        shown = sorted(first)[:FEW]
        for group in shown:
            look = _strong(_look(first[group], lines))
            count = sum(line.group == group for line in drawn)
            words = first[group].label.partition(" ")[2]
            entries.append((_handle(axes, look), f"{group} {words} (×{count})" if count > 1 else f"{group} {words}"))
        left = f"{len(drawn)} flows (thin) in the colour of\ntheir group{means}"
        if len(first) > len(shown):
            left += f"\n{len(first) - len(shown)} more groups repeat the colours"
    legend = axes.legend(
        [handle for handle, _ in entries],
        [label for _, label in entries],
        loc="upper left",
        bbox_to_anchor=(1.01, 1.02),
    )
    if left:
        legend.set_title(left, prop={"size": 6.5})


def _handle(axes: Any, look: dict[str, Any]) -> Any:
    return axes.plot([], [], **look)[0]


def _end_s(data: Dataset, lines: Sequence[Line]) -> float:
    found = [data.series[line.series] for line in lines if line.series in data.series]
    return max((float(series.time_s[-1]) for series in found if len(series)), default=1.0)


def _words(title: str, unit: str, drawn: Sequence[tuple[Line, Series]]) -> str:
    """The numbers of a graph: the mean of each of a few flows, or the least and the greatest mean of many."""
    means = [(line, float(series.known.mean())) for line, series in drawn]
    if len(means) <= FEW:
        return (
            f"{title} over time. Means: " + ", ".join(f"{line.label} {mean:.4g} {unit}" for line, mean in means) + "."
        )
    least, most = min(mean for _, mean in means), max(mean for _, mean in means)
    return f"{title} over time of {len(means)} flows, whose means lie between {least:.4g} and {most:.4g} {unit}."


def _svg(figure: Figure) -> bytes:
    drawn = io.BytesIO()
    figure.savefig(drawn, format="svg", metadata={"Date": None, "Creator": None})
    return drawn.getvalue()
