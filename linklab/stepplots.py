# SPDX-License-Identifier: BSD-3-Clause
"""The plots of one step, as SVG for a page: `figure("bulk", "throughput")` of a run.

Called by the report and by the recording of a reference; draws with `linklab.plots`, measures with `linklab.measure`.
A figure's name is that of a series without its tool: throughput, cwnd, rtt, retransmits, backlog.
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from pathlib import Path

from linklab.errors import LabError
from linklab.measure import Measurements

TITLES: Mapping[str, str] = {
    "iperf3.throughput": "Throughput",
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
    return [name for name in TITLES if name in measured.series and measured.series[name].known.size > 1]


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
        else:
            figure = style.draw_lines(TITLES[series], [("", style.without_stub(measured.series[series]))])
        style.save(figure, path)
        return path.read_bytes()
