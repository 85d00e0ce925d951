# SPDX-License-Identifier: BSD-3-Clause
"""The data set and counters of an experiment → key and value of each flow, each group, and the experiment.

Every statistic is of all instances of a group. What was not measured is None: it stays blank in every file and table,
and no sum is given if a part of it is unknown. Columns and units: docs/netesto.md, "exp.csv".
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from linklab.analysis.formulas import jain_index
from linklab.data import Dataset
from linklab.measure import Series
from linklab.measure.series import FloatArray
from linklab.netesto import names
from linklab.netesto.host_facts import client_values, kernel_of
from linklab.netesto.path_values import path_settings
from linklab.netesto.recorded import RecordedExperiment, RecordedGroup
from linklab.netesto.value_columns import FIXED, NO_CPU, PERCENTILES

Value = str | float | None
Values = dict[str, Value]
"""Column → what is known of it: a text, a number, or None."""

_US_PER_MS = 1000.0


@dataclass(frozen=True)
class FoundValues:
    """Values of an experiment: its own, those of each group, and those of each flow by (group, instance)."""

    whole: Values
    groups: dict[int, Values]
    flows: dict[tuple[int, int], Values]


def values_of(recorded: RecordedExperiment, data: Dataset) -> FoundValues:
    """Everything that is known of an experiment, by column."""
    flows: dict[tuple[int, int], Values] = {}
    groups: dict[int, Values] = {}
    hosts = {host: client_values(recorded, host) for host in dict.fromkeys(group.host for group in recorded.groups)}
    shared, other = _shared(recorded, data), other_of(recorded)
    for group in recorded.groups:
        mine = [_flow(group, instance, data) for instance, _ in group.flows]
        head = {**shared, **_set_up(recorded, group), **hosts[group.host], **other}
        for (instance, _), found in zip(group.flows, mine, strict=True):
            flows[group.group, instance] = {**head, "instance": str(instance), **found}
        groups[group.group] = {**head, "instance": "all", **_group(group, mine, data)}
    return FoundValues(_whole(recorded, {**shared, **other}, list(flows.values())), groups, flows)


def other_of(recorded: RecordedExperiment) -> dict[str, str]:
    """The columns that OTHER fills."""
    return {column: value for column, value in recorded.other.items() if column not in FIXED}


def _shared(recorded: RecordedExperiment, data: Dataset) -> Values:
    """What is the same for all groups: the experiment, and its settings."""
    first = recorded.groups[0].host if recorded.groups else ""
    kernel = data.metadata.get("kernel") or kernel_of(recorded, first)
    return {
        "expName": recorded.name,
        "desc": recorded.desc or None,
        "kernel": str(kernel) if kernel else None,
        "seed": None if recorded.seed is None else str(recorded.seed),
        **path_settings(recorded.settings, recorded.end_s),
    }


def _set_up(recorded: RecordedExperiment, group: RecordedGroup) -> Values:
    return {
        "exp": f"{recorded.exp}.{group.group}",
        "group": str(group.group),
        "test": group.test,
        "host": group.host,
        "server": group.server,
        "instances": str(group.instances),
        "ca": group.ca or None,
        "dur": group.dur,
        "delay": group.delay,
        "req": group.req or None,
        "reply": group.reply or None,
        "localBuffer": group.local_buffer or None,
        "remoteBuffer": group.remote_buffer or None,
        **dict.fromkeys(NO_CPU),
    }


# --- one flow


def _flow(group: RecordedGroup, instance: int, data: Dataset) -> Values:
    series = names.flow(group.test, group.group, instance)
    seconds = _final(data, series, names.SECONDS)
    rate = _goodput(data, series, group.start_s, group.dur)
    local, remote = (_final(data, series, "retransmits", end) for end in (names.LOCAL, names.REMOTE))
    sent, answered = (_final(data, series, "data_segs_out", end) for end in (names.LOCAL, names.REMOTE))
    lost = [_final(data, series, "lost", end) for end in (names.LOCAL, names.REMOTE)]
    retrans = [_final(data, series, "retrans", end) for end in (names.LOCAL, names.REMOTE)]
    both = partial(_both, answers=group.test != names.STREAM)
    retransmitted, segments = both(local, remote), both(sent, answered)
    return {
        "seconds": seconds,
        "rate": rate,
        "rateMin": rate,
        "rateMax": rate,
        "transactions": _final(data, series, names.TRANSACTIONS),
        **latencies(_answers(group, [instance], data)),
        **_socket(data, series),
        "pingRtt": ping_rtt(data, group, [series]),
        "localRetrans": local,
        "remoteRetrans": remote,
        "lost": both(*lost),
        "retrans": both(*retrans),
        "retrans_total": retransmitted,
        "dataSegsOut": segments,
        "retransPkts%": share(retransmitted, segments),
        "mss": _final(data, series, "mss"),
    }


def _goodput(data: Dataset, series: str, start_s: float, dur_s: float) -> float | None:
    """What receivers got while the flow ran, Mbits/s; not what a queue still held when it ended.

    A series begins with the first data, which may come late: the time until then counts, and a gap (NaN) does not.
    Where there is no series, it is the payload over the time that the flow ran.
    """
    found = data.series.get(series)
    if found is None or not found.known.size:
        octets, seconds = _final(data, series, names.BYTES), _final(data, series, names.SECONDS)
        return octets * 8e-6 / seconds if octets is not None and seconds else None
    lengths = np.diff(found.time_s, prepend=_began_s(found, start_s))
    there = found.time_s <= start_s + dur_s + lengths / 2
    unknown = np.isnan(found.value)
    seconds = dur_s - float(lengths[there & unknown].sum())
    return float((found.value * lengths)[there & ~unknown].sum()) / seconds if seconds > 0 else None


def _began_s(series: Series, start_s: float) -> float:
    """When the first interval of a series began: a sample stands at the end of its interval.

    A single sample does not say how long its interval was, so it counts from the flow's start.
    """
    return float(series.time_s[0] - np.median(np.diff(series.time_s))) if len(series) > 1 else start_s


def _final(data: Dataset, series: str, number: str, end: str = names.LOCAL) -> float | None:
    found = data.scalars.get(names.final(series, number, end))
    return found.value if found is not None and math.isfinite(found.value) else None


def _both(local: float | None, remote: float | None, *, answers: bool) -> float | None:
    """Of both ends together; None if one is unknown, but for a server that sends no data (answers: it does)."""
    if local is None or (remote is None and answers):
        return None
    return local + (remote or 0.0)


def share(retransmitted: float | None, segments: float | None) -> float | None:
    """Retransmitted segments in percent of all data segments that were sent; None if either is unknown."""
    return None if retransmitted is None or not segments else 100 * retransmitted / segments


def _socket(data: Dataset, series: str) -> Values:
    """Means of what the client's socket said while the flow ran."""
    cwnd, unacked = (_mean(data, names.socket(series, number)) for number in ("tcp_cwnd", "tcp_unacked"))
    rtt, least = (_mean(data, names.socket(series, number)) for number in ("tcp_rtt", "tcp_min_rtt"))
    return {"cwnd": cwnd, "unacked": unacked, "rtt": _us(rtt), "minRtt": _us(least)}


def _mean(data: Dataset, name: str) -> float | None:
    known = data.series[name].known if name in data.series else np.empty(0)
    return float(known.mean()) if known.size else None


def _us(ms: float | None) -> float | None:
    return None if ms is None else ms * _US_PER_MS


def _answers(group: RecordedGroup, instances: Iterable[int], data: Dataset) -> FloatArray:
    """How long every answer of these flows took, ms."""
    if group.test == names.STREAM:
        return np.empty(0)
    wanted = [names.answers(group.group, instance) for instance in instances]
    return np.concatenate([np.empty(0), *(data.series[name].known for name in wanted if name in data.series)])


def latencies(answers_ms: FloatArray) -> Values:
    """Least, mean, greatest and percentiles in µs; percentiles lie on the line between two answers, as NumPy's do."""
    if not answers_ms.size:
        return dict.fromkeys(("minLatency", "meanLatency", "maxLatency", *PERCENTILES))
    us = answers_ms * _US_PER_MS
    found: Values = {"minLatency": float(us.min()), "meanLatency": float(us.mean()), "maxLatency": float(us.max())}
    cuts = np.percentile(us, list(PERCENTILES.values()))
    return {**found, **dict(zip(PERCENTILES, map(float, cuts), strict=True))}


def ping_rtt(data: Dataset, group: RecordedGroup, flows: Sequence[str]) -> float | None:
    """The mean round trip, µs, of the pings beside these flows, from their begin to their last sample."""
    name = names.ping(group.host, group.server)
    found = [data.series[flow] for flow in flows if flow in data.series and len(data.series[flow])]
    if name not in data.series or not found:
        return None
    begin = min(_began_s(each, group.start_s) for each in found)
    end = max(float(each.time_s[-1]) for each in found)
    pings = data.series[name]
    beside = pings.value[(pings.time_s >= begin) & (pings.time_s <= end)]
    known = beside[~np.isnan(beside)]
    return float(known.mean()) * _US_PER_MS if known.size else None


# --- a group, and the experiment

_SUMMED = ("rate", "localRetrans", "remoteRetrans", "lost", "retrans", "retrans_total", "dataSegsOut", "transactions")
_AVERAGED = ("cwnd", "unacked", "rtt", "minRtt", "seconds", "mss")


def _group(group: RecordedGroup, flows: Sequence[Values], data: Dataset) -> Values:
    rates = _known(flows, "rate")
    found: Values = {column: total(flows, column) for column in _SUMMED}
    found |= {column: float(np.mean(known)) if (known := _known(flows, column)) else None for column in _AVERAGED}
    return {
        **found,
        "rateMin": min(rates, default=None),
        "rateMax": max(rates, default=None),
        "fairness": fairness(rates) if len(rates) == len(flows) else None,
        **latencies(_answers(group, [instance for instance, _ in group.flows], data)),
        "pingRtt": ping_rtt(data, group, [series for _, series in group.flows]),
        "retransPkts%": _share_of(flows),
    }


def _whole(recorded: RecordedExperiment, shared: Values, flows: Sequence[Values]) -> Values:
    """What belongs to the experiment and no operator can make of its groups' values."""
    rates = _known(flows, "rate")
    return {
        "exp": f"{recorded.exp}.0",
        **shared,
        "retransPkts%": _share_of(flows),
        "fairness": fairness(rates) if len(rates) == len(flows) else None,
    }


def _share_of(flows: Sequence[Values]) -> float | None:
    return share(total(flows, "retrans_total"), total(flows, "dataSegsOut"))


def fairness(rates: Sequence[float]) -> float | None:
    """Jain's index of the rates of all flows; None for fewer than two."""
    return jain_index(rates) if len(rates) > 1 and any(rates) else None


def total(flows: Sequence[Values], column: str) -> float | None:
    """The sum over all flows; None if there is none, or one of them is unknown."""
    known = _known(flows, column)
    return float(sum(known)) if flows and len(known) == len(flows) else None


def _known(flows: Iterable[Values], column: str) -> list[float]:
    return [value for flow in flows if isinstance(value := flow[column], float)]
