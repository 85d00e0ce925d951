# SPDX-License-Identifier: BSD-3-Clause
"""The plots of a run's steps, as SVG for a page: `bulk/throughput`, or several steps and panels on one time axis.

Draws with `linklab.plots`, measures with `linklab.measure`. A target is STEP[+STEP…]/NAME[+NAME…]: each name is a
panel, and each panel has a line of every step that measured it.
"""

from __future__ import annotations

import math
import re
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from linklab.errors import LabError
from linklab.measure import Measurements, Series
from linklab.measure.reading import json_number
from linklab.measure.series import per_second


@dataclass(frozen=True)
class Part:
    """What one step measured, and when it was done: seconds of network time.

    label: how its lines are told from those of other steps: its terminal; where two have the same, their names are.
    """

    step: str
    label: str
    measured: Measurements
    start_s: float = 0.0
    end_s: float = 0.0


Lines = list[tuple[str, Series]]
Levels = list[tuple[str, float]]


@dataclass(frozen=True)
class Plot:
    """One kind of panel: words for its vertical axis, and its lines of a step's measurements.

    on_request: left out of a report unless asked for, since it repeats another or seldom says anything.
    over_time: has a time axis; without one it is no panel, and goes with no other.
    levels: name and value of what the lines are to be read against.
    ticks: words for the values of a state.
    """

    words: str
    lines: Callable[[Measurements], Lines]
    on_request: bool = False
    over_time: bool = True
    levels: Callable[[Measurements], Levels] = lambda _: []
    ticks: Mapping[float, str] = field(default_factory=dict)


def _one(series: str, label: str = "") -> Callable[[Measurements], Lines]:
    return lambda measured: [(label, measured.series[series])] if series in measured.series else []


def _several(*named: tuple[str, str]) -> Callable[[Measurements], Lines]:
    """Lines of several series, drawn if the last of them is there."""

    def lines(measured: Measurements) -> Lines:
        found = [(label, measured.series[series]) for series, label in named if series in measured.series]
        return found if named[-1][0] in measured.series else []

    return lines


def _counted(*named: tuple[str, str]) -> Callable[[Measurements], Lines]:
    """Counters as how many a second, those that ever counted; the first where none did."""

    def lines(measured: Measurements) -> Lines:
        present = [(label, measured.series[series]) for series, label in named if series in measured.series]
        moved = [(label, series) for label, series in present if series.known.size and np.ptp(series.known)]
        return [(label, per_second(series)) for label, series in moved or present[:1]]

    return lines


def _queue(measured: Measurements) -> Lines:
    backlog = measured.series.get("queue.backlog")
    if backlog is None:
        return []
    return [("{kind} {handle} on {interface}".format_map(backlog.meta), backlog)]


def _thresholds(measured: Measurements) -> Levels:
    """RED's min and max, bytes, as tc told them before the first sample."""
    average = measured.series.get("queue.average")
    options = average.meta["options"] if average else {}
    known = [(name, json_number(options.get(name))) for name in ("min", "max")]
    return [(name, value) for name, value in known if not math.isnan(value)]


def flows_of(measured: Measurements) -> Lines:
    """The throughput of each stream of each iperf3 test, labelled by its file and, in a test of several, its number."""
    tests: dict[str, list[Series]] = {}
    for name, series in measured.series.items():
        found = re.fullmatch(r"(iperf3(?:\.\d+)?)\.stream\.\d+\.throughput", name)
        if found and series.known.size > 1:
            tests.setdefault(found[1], []).append(series)
    flows = []
    for number, streams in enumerate(tests.values(), 1):
        file = Path(streams[0].source)
        test = "" if len(tests) == 1 else file.stem if file.suffix else f"test {number}"
        for series in streams:
            stream = f"stream {series.meta['stream']}" if len(streams) > 1 or not test else ""
            flows.append((f"{test} {stream}".strip(), series))
    return flows if len(flows) > 1 else []


PLOTS: Mapping[str, Plot] = {
    "throughput": Plot("Throughput", _one("iperf3.throughput")),
    "flows": Plot("Throughput", flows_of),
    "rtt": Plot("Smoothed RTT", _one("iperf3.rtt")),
    "cwnd": Plot("Congestion window", _one("iperf3.cwnd")),
    "retransmits": Plot("Retransmissions per interval", _one("iperf3.retransmits")),
    "bytes": Plot("Data per interval", _one("iperf3.bytes"), on_request=True),
    "rttvar": Plot("RTT variation", _one("iperf3.rttvar"), on_request=True),
    "pmtu": Plot("Path MTU", _one("iperf3.pmtu"), on_request=True),
    "jitter": Plot("Jitter", _one("iperf3.jitter")),
    "lost": Plot("Datagrams lost per interval", _one("iperf3.lost")),
    "sent": Plot("Data sent", _one("capture.sent"), on_request=True),
    "spacing": Plot("Spacing of packets", _one("capture.gap"), over_time=False),
    "ping-rtt": Plot("RTT of each ping", _one("ping.rtt")),
    "backlog": Plot("Queue occupancy", _queue),
    "drops": Plot("Drops", _counted(("queue.drops", "drops")), on_request=True),
    "red-average": Plot(
        "Queue",
        _several(("queue.backlog", "backlog"), ("queue.average", "RED's average, computed from it")),
        levels=_thresholds,
    ),
    "red-drops": Plot(
        "Drops", _counted(("queue.early", "early"), ("queue.pdrop", "queue full"), ("queue.marked", "marked"))
    ),
    "codel-count": Plot("CoDel's count", _one("queue.count")),
    "codel-delay": Plot("CoDel's delay", _one("queue.ldelay")),
    "codel-dropping": Plot("Dropping state", _one("queue.dropping"), ticks={0: "no", 1: "yes"}),
    "pie-prob": Plot("PIE's drop probability", _one("queue.prob")),
    "pie-delay": Plot("PIE's delay", _one("queue.delay")),
    "pie-drops": Plot("Drops", _counted(("queue.dropped", "early"), ("queue.overlimit", "queue full"))),
    "flows-waiting": Plot("Flows in the queue", _one("queue.old_flows_len"), on_request=True),
}
"""Figures by name, in the order of a report."""


def available(measured: Measurements) -> list[str]:
    """The names of the figures that a step has points enough for."""
    return [name for name, plot in PLOTS.items() if any(line.known.size > 1 for _, line in plot.lines(measured))]


def reported(measured: Measurements) -> list[str]:
    """Those that a report shows without being asked."""
    return [name for name in available(measured) if not PLOTS[name].on_request]


def plot_of(name: str) -> Plot:
    """The plot called `name`.

    Raises:
        LabError: there is none.
    """
    if name not in PLOTS:
        raise LabError(f'there is no figure "{name}"; I know {", ".join(PLOTS)}')
    return PLOTS[name]


def draw(parts: Sequence[Part], names: Sequence[str]) -> bytes:
    """One figure as SVG; the same measurements give the same bytes.

    Steps that went on at the same time share a time axis, which begins with the first of them that sends anything (a
    queue is watched from a little before); of steps one after the other each begins at 0.

    Raises:
        LabError: no such figure, or a name that no step, or a step that no name, has anything for, or only before the
            axis begins; or a figure without a time axis beside others.
    """
    timeless = sorted({name for name in names if not plot_of(name).over_time})
    if timeless and len(names) > 1:
        raise LabError(f"{', '.join(timeless)}: this has no time axis and goes with no other")
    panels: list[tuple[Plot, Lines, Levels]] = []
    starts = _starts(parts)
    terminals = [part.label for part in parts]
    parts = [replace(part, label=part.step) if terminals.count(part.label) > 1 else part for part in parts]
    for name in names:
        plot = plot_of(name)
        lines: Lines = []
        having = [part for part in parts if plot.lines(part.measured)]
        for part in having:
            # a queue is named by its interface, or alone in its panel needs no name
            named = len(parts) == 1 or (part.measured.tool == "queue" and (len(having) == 1 or name == "backlog"))
            lines += [
                (label if named else _label(part, label, series), series)
                for label, series in _on_axis(part, name, starts)
            ]
        if not lines:
            found = dict.fromkeys(name for part in parts for name in available(part.measured))
            steps = ", ".join(part.step for part in parts)
            raise LabError(f"{steps}: there is no {name} over time; there is {', '.join(found) or 'nothing'}")
        levels = dict.fromkeys(level for part in having for level in plot.levels(part.measured))
        panels.append((plot, lines, list(levels)))
    for part in parts:
        if not any(plot_of(name).lines(part.measured) for name in names):
            raise LabError(f"{part.step}: it has nothing of {', '.join(names)} over time")
    from linklab.plots import panels as drawing  # noqa: PLC0415 - matplotlib takes a second to load
    from linklab.plots import spacing, style  # noqa: PLC0415

    with style.context(), tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "figure.svg"
        if timeless:
            figure = spacing.draw_spacing(panels[0][1])
        else:
            figure = drawing.draw_panels(
                [drawing.Panel(plot.words, lines, levels=levels, ticks=plot.ticks) for plot, lines, levels in panels]
            )
        style.save(figure, path)
        return path.read_bytes()


def _starts(parts: Sequence[Part]) -> dict[str, float] | None:
    """When each step began on the common axis, s; negative for what began before it. None: each has its own axis."""
    together = max(part.start_s for part in parts) < min(part.end_s for part in parts)
    if len(parts) == 1 or not together:
        return None
    sending = [part for part in parts if part.measured.tool != "queue"]
    zero = min(part.start_s for part in sending or parts)
    return {part.step: part.start_s - zero for part in parts}


def _on_axis(part: Part, name: str, starts: Mapping[str, float] | None) -> Lines:
    """The lines of a step in panel `name` that have points enough, where they are on the axis."""
    lines = [(label, series) for label, series in plot_of(name).lines(part.measured) if series.known.size > 1]
    if starts is None:
        return lines
    moved = [(label, _moved(series, starts[part.step])) for label, series in lines]
    drawn = [(label, series) for label, series in moved if series.known.size > 1]
    if lines and not drawn:
        raise LabError(f"{part.step}: no {name} to draw after the time axis begins, with the first step that sends")
    return drawn


def _moved(series: Series, by_s: float) -> Series:
    """On the common axis, without what lies before it; what iperf3 omitted counts as time that passed."""
    time_s = series.time_s + by_s + float(series.meta.get("omitted_s", 0.0))
    return replace(series, time_s=time_s).between(0.0, float("inf"))


def _label(part: Part, label: str, series: Series) -> str:
    congestion = str(series.meta.get("congestion", ""))
    return " ".join(word for word in (part.label, congestion, label) if word)
