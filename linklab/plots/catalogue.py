# SPDX-License-Identifier: BSD-3-Clause
"""The plots of data sets: a table of them by name, and figures of several data sets and panels on one time axis.

Each name of a figure is a panel, and each panel has a line of every data set that has it. In a manual a figure is
called STEP[+STEP…]/NAME[+NAME…].
"""

from __future__ import annotations

import math
import re
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from linklab.base.text import excerpt
from linklab.data import Dataset
from linklab.errors import LabError
from linklab.measure import Series
from linklab.measure.reading import json_number
from linklab.measure.series import per_second
from linklab.plots import of_tests

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class Part:
    """A data set in a figure: of a step, or of a file, and when it was measured, seconds of network time.

    step: its name in messages.
    label: how its lines are told from those of others: its terminal; where two have the same, their names are.
    """

    step: str
    label: str
    data: Dataset
    start_s: float = 0.0
    end_s: float = 0.0


def part_of(data: Dataset, name: str = "") -> Part:
    """A data set in a figure as it describes itself; `name` is its name where it is of no step."""
    known = data.metadata
    step = name or str(known.get("step", "")) or str(data.flent.get("TITLE") or "data")
    times = [_number(known, key) for key in ("start_s", "end_s")]
    return Part(step, name or str(known.get("terminal", step)), data, *times)


def _number(known: Mapping[str, Any], key: str) -> float:
    """A number of a data file, which anybody may have written; 0.0 where it has none."""
    found = json_number(known.get(key))
    return 0.0 if math.isnan(found) else found


Lines = list[tuple[str, Series]]
Levels = list[tuple[str, float]]


@dataclass(frozen=True)
class Plot:
    """One kind of panel: words for its vertical axis, and its lines of a data set.

    on_request: left out of a report unless asked for, since it repeats another or seldom says anything.
    over_time: has a time axis; without one it is no panel, and goes with no other.
    levels: name and value of what the lines are to be read against.
    ticks: words for the values of a state.
    """

    words: str
    lines: Callable[[Dataset], Lines]
    on_request: bool = False
    over_time: bool = True
    levels: Callable[[Dataset], Levels] = lambda _: []
    ticks: Mapping[float, str] = field(default_factory=dict)


def _one(series: str, label: str = "") -> Callable[[Dataset], Lines]:
    return lambda data: [(label, data.series[series])] if series in data.series else []


def _several(*named: tuple[str, str]) -> Callable[[Dataset], Lines]:
    """Lines of several series, drawn if the last of them is there."""

    def lines(data: Dataset) -> Lines:
        found = [(label, data.series[series]) for series, label in named if series in data.series]
        return found if named[-1][0] in data.series else []

    return lines


def _counted(*named: tuple[str, str]) -> Callable[[Dataset], Lines]:
    """Counters as how many a second, those that ever counted; the first where none did."""

    def lines(data: Dataset) -> Lines:
        present = [(label, data.series[series]) for series, label in named if series in data.series]
        moved = [(label, series) for label, series in present if series.known.size and np.ptp(series.known)]
        return [(label, per_second(series)) for label, series in moved or present[:1]]

    return lines


def _queue(data: Dataset) -> Lines:
    backlog = data.series.get("queue.backlog")
    if backlog is None:
        return []
    kind, handle, interface = (str(backlog.meta.get(key, "?")) for key in ("kind", "handle", "interface"))
    return [(f"{kind} {handle} on {interface}", backlog)]


def _thresholds(data: Dataset) -> Levels:
    """RED's min and max, bytes, as tc told them before the first sample."""
    average = data.series.get("queue.average")
    options = average.meta.get("options") if average else None
    if not isinstance(options, Mapping):
        return []
    known = [(name, json_number(options.get(name))) for name in ("min", "max")]
    return [(name, value) for name, value in known if not math.isnan(value)]


def flows_of(data: Dataset) -> Lines:
    """The throughput of each stream of each iperf3 test, labelled by its file and, in a test of several, its number."""
    tests: dict[str, list[tuple[str, Series]]] = {}
    for name, series in data.series.items():
        found = re.fullmatch(r"(iperf3(?:\.\d+)?)\.stream\.(\d+)\.throughput", name)
        if found and series.known.size > 1:
            tests.setdefault(found[1], []).append((found[2], series))
    flows = []
    for number, streams in enumerate(tests.values(), 1):
        file = Path(streams[0][1].source)
        test = "" if len(tests) == 1 else file.stem if file.suffix else f"test {number}"
        for stream, series in streams:
            named = f"stream {stream}" if len(streams) > 1 or not test else ""
            flows.append((f"{test} {named}".strip(), series))
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
    "test-throughput": Plot("Throughput", of_tests.sums),
    "test-flows": Plot("Throughput", of_tests.flows, on_request=True),
    "test-rtt": Plot("Round trip", of_tests.round_trips),
    "test-queue": Plot("Queue", of_tests.queues),
    "test-drops": Plot("Drops", of_tests.drops),
}
"""Figures by name, in the order of a report."""


def by_unit(unit: str) -> Plot:
    """All series of a unit in one panel, for data sets of which the table knows nothing, such as Flent's."""

    def lines(data: Dataset) -> Lines:
        return [(name, series) for name, series in data.series.items() if series.unit == unit]

    return Plot("Value", lines)


def available(data: Dataset) -> list[str]:
    """The names of the figures that a data set has points enough for; a unit is one where the table has none of it."""
    found = [name for name, plot in PLOTS.items() if _has(plot, data)]
    units = dict.fromkeys(series.unit for series in data.series.values() if series.unit)
    return found or [unit for unit in units if _has(by_unit(unit), data)]


def reported(data: Dataset) -> list[str]:
    """Those that a report shows without being asked."""
    return [name for name in available(data) if name not in PLOTS or not PLOTS[name].on_request]


def plot_of(name: str, parts: Sequence[Part] = ()) -> Plot:
    """The plot called `name`, or all series of that unit of the parts.

    Raises:
        LabError: there is none.
    """
    if name in PLOTS:
        return PLOTS[name]
    if any(name in available(part.data) for part in parts):
        return by_unit(name)
    if not parts:
        raise LabError(f'there is no figure "{excerpt(name)}"; I know {", ".join(PLOTS)}')
    found = dict.fromkeys(known for part in parts for known in available(part.data))
    steps = ", ".join(part.step for part in parts)
    raise LabError(f'{steps}: there is no figure "{excerpt(name)}"; there is {", ".join(found) or "nothing to draw"}')


def draw(parts: Sequence[Part], names: Sequence[str]) -> bytes:
    """One figure as SVG; the same data sets give the same bytes.

    Raises:
        LabError: as `draw_figure` raises it.
    """
    from linklab.plots import style  # noqa: PLC0415 - matplotlib takes a second to load

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "figure.svg"
        with style.context():
            style.save(draw_figure(parts, names), path)
        return path.read_bytes()


def draw_figure(parts: Sequence[Part], names: Sequence[str]) -> Figure:
    """One figure of all parts, with a panel for each name; to be called in `style.context()`.

    Steps that went on at the same time share a time axis, which begins with the first of them that sends anything (a
    queue is watched from a little before); of steps one after the other each begins at 0.

    Raises:
        LabError: no such figure, or a name that no step, or a step that no name, has anything for, or only before the
            axis begins; or a figure without a time axis beside others.
    """
    plots = {name: plot_of(name, parts) for name in names}
    timeless = sorted(name for name, plot in plots.items() if not plot.over_time)
    if timeless and len(names) > 1:
        raise LabError(f"{', '.join(timeless)}: this has no time axis and goes with no other")
    starts = _starts(parts)
    parts = _told_apart(parts)
    drawn = [_panel(parts, name, plots[name], starts) for name in names]
    for part in parts:
        if not any(plot.lines(part.data) for plot in plots.values()):
            raise LabError(f"{part.step}: it has nothing of {', '.join(names)} over time")
    from linklab.plots import panels, spacing  # noqa: PLC0415 - matplotlib takes a second to load

    if timeless:
        return spacing.draw_spacing(drawn[0][1])
    return panels.draw_panels(
        [panels.Panel(plot.words, lines, levels=levels, ticks=plot.ticks) for plot, lines, levels in drawn]
    )


def _has(plot: Plot, data: Dataset) -> bool:
    return any(line.known.size > 1 for _, line in plot.lines(data))


def _told_apart(parts: Sequence[Part]) -> list[Part]:
    """The same parts; where two have one label, their names are their labels."""
    labels = [part.label for part in parts]
    return [replace(part, label=part.step) if labels.count(part.label) > 1 else part for part in parts]


def _panel(
    parts: Sequence[Part], name: str, plot: Plot, starts: Mapping[str, float] | None
) -> tuple[Plot, Lines, Levels]:
    """One panel: the lines of every part that has it, and what they are to be read against."""
    having = [part for part in parts if plot.lines(part.data)]
    lines: Lines = []
    for part in having:
        # a queue is named by its interface, or alone in its panel needs no name
        named = len(parts) == 1 or (part.data.tool == "queue" and (len(having) == 1 or name == "backlog"))
        lines += [
            (label if named else _label(part, label, series), series)
            for label, series in _on_axis(part, name, plot, starts)
        ]
    if not lines:
        found = dict.fromkeys(name for part in parts for name in available(part.data))
        steps = ", ".join(part.step for part in parts)
        raise LabError(f"{steps}: there is no {name} over time; there is {', '.join(found) or 'nothing'}")
    levels = dict.fromkeys(level for part in having for level in plot.levels(part.data))
    return plot, lines, list(levels)


def _starts(parts: Sequence[Part]) -> dict[str, float] | None:
    """When each step began on the common axis, s; negative for what began before it. None: each has its own axis."""
    together = max(part.start_s for part in parts) < min(part.end_s for part in parts)
    if len(parts) == 1 or not together:
        return None
    sending = [part for part in parts if part.data.tool != "queue"]
    zero = min(part.start_s for part in sending or parts)
    return {part.step: part.start_s - zero for part in parts}


def _on_axis(part: Part, name: str, plot: Plot, starts: Mapping[str, float] | None) -> Lines:
    """The lines of a step in panel `name` that have points enough, where they are on the axis."""
    lines = [(label, series) for label, series in plot.lines(part.data) if series.known.size > 1]
    if starts is None:
        return lines
    moved = [(label, _moved(series, starts[part.step])) for label, series in lines]
    drawn = [(label, series) for label, series in moved if series.known.size > 1]
    if lines and not drawn:
        raise LabError(f"{part.step}: no {name} to draw after the time axis begins, with the first step that sends")
    return drawn


def _moved(series: Series, by_s: float) -> Series:
    """On the common axis, without what lies before it; what iperf3 omitted counts as time that passed."""
    time_s = series.time_s + by_s + _number(series.meta, "omitted_s")
    return replace(series, time_s=time_s).between(0.0, float("inf"))


def _label(part: Part, label: str, series: Series) -> str:
    congestion = str(series.meta.get("congestion", ""))
    return " ".join(word for word in (part.label, congestion, label) if word)
