# SPDX-License-Identifier: BSD-3-Clause
"""The plots of one step, as SVG for a page: `figure("bulk", "throughput")` of a run.

Called by the report and by the recording of a reference; draws with `linklab.plots`, measures with `linklab.measure`.
A figure's name is that of a series without its tool: throughput, cwnd, rtt, retransmits, backlog.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Mapping
from pathlib import Path

from linklab.errors import LabError
from linklab.measure import Measurements, Series

FLOWS = "iperf3.flows"
"""The throughput of each stream of each test in one figure; no series of its own."""

TITLES: Mapping[str, str] = {
    "iperf3.throughput": "Throughput",
    FLOWS: "Throughput of each flow",
    "iperf3.rtt": "Smoothed RTT",
    "iperf3.cwnd": "Congestion window",
    "iperf3.retransmits": "Retransmissions per interval",
    "iperf3.bytes": "Data per interval",
    "iperf3.rttvar": "RTT variation",
    "iperf3.pmtu": "Path MTU",
    "iperf3.jitter": "Jitter",
    "iperf3.lost": "Datagrams lost per interval",
    "queue.backlog": "Queue occupancy",
    "queue.drops.rate": "Drops",
    "ping.rtt": "RTT of each ping",
}
"""Series that have a figure, in the order of a report."""

ON_ITS_OWN = frozenset({"iperf3.bytes", "iperf3.rttvar", "iperf3.pmtu", "queue.drops.rate"})
"""Figures a report leaves out unless asked for: they repeat another or seldom say anything."""


def series_of(name: str) -> str:
    """The series that a figure's name stands for: "rtt" is iperf3's, "ping-rtt" ping's, "backlog" the queue's.

    Raises:
        LabError: there is no such figure.
    """
    for series in TITLES:
        if name in (series, series.replace(".", "-"), series.partition(".")[2]):
            return series
    raise LabError(f'there is no figure "{name}"; I know {", ".join(s.partition(".")[2] for s in TITLES)}')


def available(measured: Measurements) -> list[str]:
    """The series of a step that have a figure and enough points for one."""
    found = {name for name in TITLES if name in measured.series and measured.series[name].known.size > 1}
    if len(flows_of(measured)) > 1:
        found.add(FLOWS)
    return [name for name in TITLES if name in found]


def flows_of(measured: Measurements) -> list[tuple[str, Series]]:
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
    return flows


def draw(measured: Measurements, series: str) -> bytes:
    """One figure as SVG; the same measurements give the same bytes.

    Raises:
        LabError: the step has no such series.
    """
    if series not in available(measured):
        raise LabError(f"{measured.source}: there is no {series} over time; there is {', '.join(available(measured))}")
    from linklab.plots import queue, style  # noqa: PLC0415 - matplotlib takes a second to load

    with style.context(), tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "figure.svg"
        if series == "queue.backlog":
            figure = queue.draw_queue(measured)
        elif series == FLOWS:
            lines = [(label, style.without_stub(flow)) for label, flow in flows_of(measured)]
            figure = style.draw_lines("Throughput", lines)
        else:
            figure = style.draw_lines(TITLES[series], [("", style.without_stub(measured.series[series]))])
        style.save(figure, path)
        return path.read_bytes()
