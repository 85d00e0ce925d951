# SPDX-License-Identifier: BSD-3-Clause
"""The name of a measurement → what people call it: "ping.rtt.max" → "longest round-trip time of ping".  Pure.

For sentences to students: the guide, the lab's page, and reports. The names are those of docs/measurements.md; one
that is not known here is quoted as it is.
"""

from __future__ import annotations

_STATISTICS = {
    "mean": "mean",
    "median": "median",
    "min": "smallest",
    "max": "largest",
    "mdev": "standard deviation",
    "pct99": "99th percentile",
    "low": "lower end of the 95 % interval",
    "high": "upper end of the 95 % interval",
    "n": "number of values",
    "distinct": "number of different values",
    "variation": "variation",
}
_ADJECTIVES = ("mean", "median", "min", "max")
_LONG = {"min": "shortest", "max": "longest"}
_DURATIONS = ("round-trip time", "queueing delay", "delay of the last packet", "gap between packets")
_QUANTITIES = {
    "iperf3.throughput.sender": "throughput at the sender",
    "iperf3.throughput.receiver": "throughput at the receiver",
    "iperf3.throughput.late": "throughput in the last third of the test",
    "iperf3.bytes.sent": "number of bytes sent",
    "iperf3.bytes.received": "number of bytes received",
    "iperf3.retransmits": "number of retransmissions",
    "iperf3.cwnd": "congestion window",
    "iperf3.rtt": "round-trip time of TCP",
    "iperf3.jitter": "jitter",
    "iperf3.datagrams": "number of datagrams",
    "iperf3.lost.datagrams": "number of lost datagrams",
    "iperf3.lost.fraction": "share of lost datagrams",
    "iperf3.duration": "duration of the test",
    "iperf3.streams": "number of streams",
    "ping.sent": "number of probes that ping sent",
    "ping.received": "number of replies to ping",
    "ping.duplicates": "number of duplicate replies to ping",
    "ping.errors": "number of errors that ping reported",
    "ping.loss.fraction": "share of pings without a reply",
    "ping.rtt": "round-trip time of ping",
    "queue.backlog": "queue in bytes",
    "queue.packets": "queue in packets",
    "queue.drops": "number of packets dropped at the queue",
    "queue.early": "number of packets dropped early",
    "queue.pdrop": "number of packets dropped because the queue was full",
    "queue.marked": "number of packets marked",
    "queue.prob": "drop probability",
    "queue.delay": "queueing delay",
    "queue.ldelay": "delay of the last packet",
    "queue.dropped": "number of packets dropped early",
    "queue.overlimit": "number of packets dropped because the queue was full",
    "queue.average": "average queue of RED",
    "capture.flows": "number of connections in the capture",
    "capture.packets": "number of packets in the capture",
    "capture.size": "size of a captured packet",
    "capture.rate": "rate in the capture",
    "capture.gap": "gap between packets",
    "fairness.index": "fairness index",
    "fairness.variation": "variation of the flows' throughput",
}
_COUNTERS = {
    "dropped": "number of dropped packets",
    "overlimits": "number of times that the limit was exceeded",
    "requeues": "number of requeued packets",
    "sent.bytes": "number of sent bytes",
    "sent.packets": "number of sent packets",
    "backlog.bytes": "queue in bytes",
    "backlog.packets": "queue in packets",
}
_TABLES = {"sweep": "the combination", "netesto": "the experiments"}


def metric_in_words(metric: str) -> str:
    """What people call a measurement, without an article; "measurement “NAME”" for a name that is not known.

    Args:
        metric: as an expectation's `what`, such as "iperf3.2.throughput.receiver".
    """
    tool, *rest = metric.split(".")
    if not rest:
        return _unknown(metric)
    if tool in _TABLES:
        return _of_table(tool, rest) or _unknown(metric)
    if tool == "tc":
        return _of_counter(rest) or _unknown(metric)
    result = rest.pop(0) if rest[0].isdecimal() and len(rest) > 1 else ""
    found = _of_series(rest) if tool == "flent" else _of_tool(tool, rest)
    if not found:
        return _unknown(metric)
    return f"{found} in result {result}" if result else found


def _unknown(metric: str) -> str:
    return f"measurement “{metric}”"


def _of_tool(tool: str, rest: list[str]) -> str:
    if tool == "nstat":
        return f"kernel counter {'.'.join(rest)}"
    name = ".".join([tool, *rest])
    if name in _QUANTITIES:
        return _QUANTITIES[name]
    quantity = _QUANTITIES.get(name.rpartition(".")[0], "")
    return _with_statistic(rest[-1], quantity) if quantity else ""


def _with_statistic(statistic: str, quantity: str) -> str:
    if statistic not in _STATISTICS:
        return ""
    words = _STATISTICS[statistic]
    if any(duration in quantity for duration in _DURATIONS):
        words = _LONG.get(statistic, words)
    return f"{words} {quantity}" if statistic in _ADJECTIVES else f"{words} of the {quantity}"


def _of_series(rest: list[str]) -> str:
    """Of a named test: the series and a statistic, or a count."""
    series, _, last = ".".join(rest).rpartition(".")
    if last in _STATISTICS:
        return f"{_STATISTICS[last]} of the series “{series}”"
    if last in ("dropped", "ecn_mark", "retransmits"):
        how = {"dropped": "dropped", "ecn_mark": "marked", "retransmits": "retransmitted"}[last]
        return f"number of packets {how} in “{series}”"
    return ""


def _of_table(tool: str, rest: list[str]) -> str:
    """Of a sweep's or a campaign's table: which rows, perhaps a group of them, a column, and a statistic."""
    if len(rest) not in (3, 4) or rest[-1] not in _STATISTICS:
        return ""
    kind, *group, column, statistic = rest
    of_group = f", group {group[0].rpartition('-')[2]}" if group else ""
    return f"{_STATISTICS[statistic]} of “{column}” in {_TABLES[tool]} “{kind}”{of_group}"


def _of_counter(rest: list[str]) -> str:
    """Of `tc -s qdisc`: perhaps the number of a listing, perhaps an interface, a handle, and a counter."""
    for counter, words in _COUNTERS.items():
        if ".".join(rest).endswith(f".{counter}"):
            *place, handle = rest[: -len(counter.split("."))]
            result = f" in result {place.pop(0)}" if place and place[0].isdecimal() else ""
            where = " ".join(filter(None, (".".join(place), f"{handle}:")))  # a device of a VLAN has a dot in its name
            return f"{words} of the queue discipline {where}{result}"
    return ""
