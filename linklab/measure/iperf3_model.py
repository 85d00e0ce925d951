# SPDX-License-Identifier: BSD-3-Clause
"""One iperf3 test as data, from JSON or from text, and the scalars and series it gives.

"forward" is the test's own direction (client to server, or server to client with -R); "reverse" is --bidir's other.
It must not parse anything. Numbers that iperf3 did not give are NaN here and absent from the measurements.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import Literal

from linklab.measure.series import Measurements, Quantity, Series, make_series

NAN = math.nan
SHORTEST_S = 1e-9
Direction = Literal["forward", "reverse"]


@dataclass(frozen=True)
class Row:
    """One interval of one stream or of the sum; times in s since the start, after the omitted seconds."""

    start_s: float
    end_s: float
    bytes: float = NAN
    rate_bps: float = NAN
    retransmits: float = NAN
    cwnd_bytes: float = NAN
    rtt_s: float = NAN
    rttvar_s: float = NAN
    pmtu_bytes: float = NAN
    jitter_s: float = NAN
    lost: float = NAN
    datagrams: float = NAN


@dataclass(frozen=True)
class Side:
    """What one end reports of a whole test."""

    bytes: float = NAN
    rate_bps: float = NAN
    seconds: float = NAN
    retransmits: float = NAN
    cwnd_max_bytes: float = NAN
    rtt_mean_s: float = NAN
    rtt_min_s: float = NAN
    rtt_max_s: float = NAN
    jitter_s: float = NAN
    lost: float = NAN
    datagrams: float = NAN


@dataclass(frozen=True)
class Flow:
    """One stream, or the sum of all streams of a direction (`number` 0)."""

    number: int
    direction: Direction = "forward"
    sender: str = ""
    receiver: str = ""
    rows: tuple[Row, ...] = ()
    sent: Side = field(default_factory=Side)
    received: Side = field(default_factory=Side)

    @property
    def throughput_bps(self) -> float:
        """Mean over the whole test: the receiver's figure where it is known, else the sender's; bit/s or NaN."""
        return self.sent.rate_bps if math.isnan(self.received.rate_bps) else self.received.rate_bps

    @property
    def whole_rows(self) -> tuple[Row, ...]:
        """The intervals without stubs, shorter than a tenth of the usual one, whose rates say nothing."""
        lengths = [row.end_s - row.start_s for row in self.rows]
        usual = median(lengths) if lengths else NAN
        return tuple(row for row, length in zip(self.rows, lengths, strict=True) if length >= 0.1 * usual)

    @property
    def late_bps(self) -> float:
        """Mean over the last third of the intervals, in which the start counts least; NaN of fewer than three."""
        rows = self.whole_rows
        late = rows[len(rows) - len(rows) // 3 :]
        seconds = math.fsum(row.end_s - row.start_s for row in late)
        if seconds < SHORTEST_S:
            return NAN
        return math.fsum(row.rate_bps * (row.end_s - row.start_s) for row in late) / seconds


@dataclass(frozen=True)
class Iperf3Test:
    """One run of the iperf3 client, or one connection that a server handled."""

    role: Literal["client", "server"]
    protocol: Literal["TCP", "UDP"]
    flows: tuple[Flow, ...]
    sums: tuple[Flow, ...]
    source: str = ""
    version: str = ""
    congestion: str = ""
    omitted_s: float = 0.0
    notes: tuple[str, ...] = ()

    def flows_of(self, direction: Direction) -> tuple[Flow, ...]:
        """The streams of one direction, in the order in which iperf3 opened them."""
        return tuple(flow for flow in self.flows if flow.direction == direction)

    def measurements(self) -> Measurements:
        """Scalars and series by the names listed in docs/measurements.md."""
        scalars: dict[str, Quantity] = {}
        series: dict[str, Series] = {}
        for total in self.sums:
            prefix = "iperf3" if total.direction == "forward" else "iperf3.reverse"
            streams = self.flows_of(total.direction)
            scalars |= _scalars(prefix, total, streams)
            series |= _series(prefix, total, self)
        for flow in self.flows:
            prefix = f"iperf3.stream.{flow.number}"
            scalars |= _scalars(prefix, flow, (flow,))
            series |= _series(prefix, flow, self)
            scalars.pop(f"{prefix}.streams", None)
        return Measurements(scalars, series, "iperf3", self.source, self.notes + _absences(self, series))


def _known(values: Sequence[float]) -> list[float]:
    return [value for value in values if not math.isnan(value)]


def _fold(function: Callable[[list[float]], float], values: Sequence[float]) -> float:
    """`function` of the values that are known; NaN if none is."""
    known = _known(values)
    return function(known) if known else NAN


def _mean(values: list[float]) -> float:
    return sum(values) / len(values)


def sum_or_nan(values: Sequence[float]) -> float:
    """Sum of values of which each must be known, else NaN: a part of a sum is not the sum."""
    return math.fsum(values) if values else NAN


def rate_or_nan(size_bytes: float, seconds: float) -> float:
    """Bit/s; NaN where a byte or a second is missing, or the time is shorter than any clock tells."""
    return 8 * size_bytes / seconds if seconds >= SHORTEST_S else NAN


def _scalars(prefix: str, total: Flow, streams: tuple[Flow, ...]) -> dict[str, Quantity]:
    sent, received = total.sent, total.received
    sides = [stream.sent for stream in streams]
    lossy = received if not math.isnan(received.lost) else sent
    seconds = sent.seconds if not math.isnan(sent.seconds) else received.seconds
    fraction = lossy.lost / lossy.datagrams if lossy.datagrams >= 1 else NAN
    found = {
        "throughput.sender": (sent.rate_bps, "bit/s"),
        "throughput.receiver": (received.rate_bps, "bit/s"),
        "throughput.late": (total.late_bps, "bit/s"),
        "bytes.sent": (sent.bytes, "bytes"),
        "bytes.received": (received.bytes, "bytes"),
        "retransmits": (sent.retransmits, "segments"),
        "cwnd.max": (_fold(max, [side.cwnd_max_bytes for side in sides]), "bytes"),
        "rtt.mean": (_fold(_mean, [side.rtt_mean_s for side in sides]), "s"),
        "rtt.min": (_fold(min, [side.rtt_min_s for side in sides]), "s"),
        "rtt.max": (_fold(max, [side.rtt_max_s for side in sides]), "s"),
        "jitter": (received.jitter_s, "s"),
        "datagrams": (lossy.datagrams, "datagrams"),
        "lost.datagrams": (lossy.lost, "datagrams"),
        "lost.fraction": (fraction, ""),
        "duration": (seconds, "s"),
        "streams": (float(len(streams)), ""),
    }
    return {f"{prefix}.{name}": Quantity(value, unit) for name, (value, unit) in found.items() if not math.isnan(value)}


FIELDS: dict[str, tuple[str, Callable[[Row], float]]] = {
    "throughput": ("bit/s", lambda row: row.rate_bps),
    "bytes": ("bytes", lambda row: row.bytes),
    "retransmits": ("segments", lambda row: row.retransmits),
    "cwnd": ("bytes", lambda row: row.cwnd_bytes),
    "rtt": ("s", lambda row: row.rtt_s),
    "rttvar": ("s", lambda row: row.rttvar_s),
    "pmtu": ("bytes", lambda row: row.pmtu_bytes),
    "jitter": ("s", lambda row: row.jitter_s),
    "datagrams": ("datagrams", lambda row: row.datagrams),
    "lost": ("datagrams", lambda row: row.lost),
}


def _series(prefix: str, flow: Flow, test: Iperf3Test) -> dict[str, Series]:
    """One series a field that any interval has; each value stands at the end of its interval."""
    meta = {
        "stream": flow.number,
        "direction": flow.direction,
        "sender": flow.sender,
        "receiver": flow.receiver,
        "protocol": test.protocol,
        "congestion": test.congestion,
        "omitted_s": test.omitted_s,
        "interval_s": tuple(row.end_s - row.start_s for row in flow.rows),
    }
    found = {}
    for field_name, (unit, read) in FIELDS.items():
        values = [read(row) for row in flow.rows]
        if _known(values):
            name = f"{prefix}.{field_name}"
            times = [row.end_s for row in flow.rows]
            found[name] = make_series(name, unit, times, values, source=test.source, meta=meta)
    return found


def _absences(test: Iperf3Test, series: dict[str, Series]) -> tuple[str, ...]:
    """A sentence for fields that a reader may expect and that this output does not hold."""
    wanted = ("retransmits", "cwnd", "rtt", "rttvar", "pmtu") if test.protocol == "TCP" else ("jitter", "lost")
    missing = [name for name in wanted if not any(key.endswith(f".{name}") for key in series)]
    if not missing:
        return ()
    return (
        f"iperf3's output holds no {', '.join(missing)} over time (the other side knows, or another version would)",
    )
