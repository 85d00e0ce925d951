# SPDX-License-Identifier: BSD-3-Clause
"""The plots that an experiment's data set carries, for `linklab test plot` and `linklab view`."""

from __future__ import annotations

from collections.abc import Collection

from linklab.netesto.names import RR, STREAM
from linklab.plots.spec import PlotKind, PlotLine, PlotSpec

DEFAULT = "goodput"

_FLOWS = {STREAM: "STREAM *::*", RR: "RR rate *::*"}
"""Patterns of the series in Mbits/s: a star stops at a colon, so further numbers of a flow are not among them."""

_SOCKET = (
    ("cwnd", "Congestion window of each flow", "tcp_cwnd", "Congestion window (packets)"),
    ("unacked", "Unacknowledged segments of each flow", "tcp_unacked", "Unacknowledged (segments)"),
    ("rtt", "Round-trip time of each flow, as TCP measured it", "tcp_rtt", "Round-trip time (ms)"),
    ("min_rtt", "Least round-trip time of each flow", "tcp_min_rtt", "Least round-trip time (ms)"),
    ("delivery_rate", "Delivery rate of each flow, as TCP measured it", "tcp_delivery_rate", "Delivery rate (Mbit/s)"),
    ("retransmits", "Retransmissions of each flow since its begin", "tcp_retransmits", "Retransmissions (segments)"),
)


def data_plots(tests: Collection[str], *, pinged: bool = True) -> tuple[PlotSpec, ...]:
    """The plots of an experiment whose groups do these tests (`names.STREAM`, `names.RR`); `DEFAULT` is the first.

    Args:
        tests: at least one.
        pinged: whether pings ran beside the flows.
    """
    flows = [_FLOWS[test] for test in (STREAM, RR) if test in tests]
    found = [_over_time(DEFAULT, "Goodput of each flow at its receiver", flows, "Goodput (Mbit/s)")]
    found += [_over_time(name, words, flows, axis, key) for name, words, key, axis in _SOCKET]
    parts = [DEFAULT, "cwnd", "rtt"]
    if RR in tests:
        answers = (PlotLine("RR [0-9]*::*"),)
        axis = ("Latency (ms)", "")
        over_time = "Latency of each answer, over time"
        found += [
            PlotSpec("latency", over_time, PlotKind.TIMESERIES, answers, axis_labels=axis),
            PlotSpec("latency_cdf", "Latency of answers, distribution", PlotKind.CDF, answers, axis_labels=axis),
            PlotSpec("latency_box", "Latency of answers, box plot", PlotKind.BOX, answers, axis_labels=axis),
        ]
        parts.insert(1, "latency")
    if pinged:
        pings, axis = (PlotLine("Ping (ms) *"),), ("Round-trip time (ms)", "")
        found += [
            PlotSpec("ping", "Pings beside the flows, over time", PlotKind.TIMESERIES, pings, axis_labels=axis),
            PlotSpec("ping_cdf", "Pings beside the flows, distribution", PlotKind.CDF, pings, axis_labels=axis),
        ]
    found.append(PlotSpec("overview", "Goodput, congestion window, and delays", PlotKind.META, parts=tuple(parts)))
    return tuple(found)


def _over_time(name: str, description: str, flows: Collection[str], axis: str, key: str = "") -> PlotSpec:
    lines = tuple(PlotLine(pattern, key=key) for pattern in flows)
    return PlotSpec(name, description, PlotKind.TIMESERIES, lines, axis_labels=(axis, ""))
