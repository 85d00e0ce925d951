# SPDX-License-Identifier: BSD-3-Clause
"""One JSON document of iperf3, versions 3.1 to 3.18 → `Iperf3Test`.

It must not read files and must not guess: a missing field is NaN. The format has no specification; fields are those
that iperf3's own source prints, above all in iperf_api.c.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, cast

from linklab.errors import DataError, NothingMeasuredError
from linklab.measure.iperf3_documents import Json
from linklab.measure.iperf3_model import NAN, Direction, Flow, Iperf3Test, Row, Side, sum_or_nan


def read_document(document: Json, source: str, *, partial: bool) -> Iperf3Test:
    """One document as a test.

    Raises:
        NothingMeasuredError: iperf3 reported an error (its message), or nothing was transferred.
        DataError: the shape is not iperf3's.
    """
    error = document.get("error")
    intervals = document.get("intervals") or []
    if error and not (partial and intervals):
        so_far = f" after {len(intervals)} intervals" if intervals else ""
        raise NothingMeasuredError(f"iperf3 ended with an error{so_far}: {error}", where=source)
    try:
        return _Reader(document, source).test()
    except (TypeError, KeyError, AttributeError, IndexError) as wrong:
        raise DataError(f"{source}: the JSON is not shaped as iperf3 writes it ({wrong!r})") from wrong


class _Reader:
    """Reads one document; keeps what several parts of it need."""

    def __init__(self, document: Json, source: str) -> None:
        self.document = document
        self.source = source
        self.start: Json = document.get("start") or {}
        self.end: Json = document.get("end") or {}
        settings: Json = self.start.get("test_start") or {}
        self.server = "accepted_connection" in self.start
        self.reverse = bool(settings.get("reverse"))
        self.bidir = bool(settings.get("bidir")) or "sum_sent_bidir_reverse" in self.end
        self.bidir = self.bidir or any("sum_bidir_reverse" in entry for entry in document["intervals"])
        self.interrupted = bool(document.get("error")) or "cut" in document
        self.notes: list[str] = []
        self.hosts = {item.get("socket"): item for item in self.start.get("connected") or []}
        self.rows, self.sending = self._intervals()
        first = next(iter(self.rows), None)
        self.udp = settings.get("protocol", "TCP") == "UDP" or "udp" in _first(self.end.get("streams"))
        self.block_bytes = number(settings.get("blksize"))
        self.omitted_s = float(settings.get("omit") or 0.0)
        if first is None and not self.end.get("streams"):
            raise NothingMeasuredError("iperf3's JSON holds no interval and no result", where=source)

    def test(self) -> Iperf3Test:
        """The whole document."""
        flows = self._flows()
        sums = tuple(
            self._sum(direction, [flow for flow in flows if flow.direction == direction])
            for direction in cast("tuple[Direction, ...]", ("forward", "reverse"))
            if any(flow.direction == direction for flow in flows)
        )
        if self.interrupted:
            why = self.document.get("cut") or f'iperf3 ended with "{self.document.get("error")}"'
            self.notes.append(f"{why}: totals are those of the {len(self.document['intervals'])} intervals before")
        return Iperf3Test(
            role="server" if self.server else "client",
            protocol="UDP" if self.udp else "TCP",
            flows=tuple(flows),
            sums=sums,
            source=self.source,
            version=str(self.start.get("version", "")),
            congestion=str(self.end.get("sender_tcp_congestion", "")),
            omitted_s=self.omitted_s,
            notes=tuple(dict.fromkeys(self.notes)),
        )

    def _intervals(self) -> tuple[dict[Any, list[Row]], dict[Any, bool]]:
        """Rows per socket, and under "sum" and "sum_bidir_reverse"; who of them sends on this side."""
        rows: dict[Any, list[Row]] = {}
        sending: dict[Any, bool] = {}
        was_omitted: dict[Any, bool] = {}
        for entry in self.document["intervals"]:
            items = [(stream["socket"], stream) for stream in entry.get("streams") or []]
            items += [(key, entry[key]) for key in ("sum", "sum_bidir_reverse") if key in entry]
            for key, item in items:
                sending.setdefault(key, _flag(item.get("sender"), default=self.reverse == self.server))
                if _flag(item.get("omitted"), default=False):
                    was_omitted[key] = True
                    continue
                row = self._row(item, after_omitted=was_omitted.pop(key, False))
                # Ended early, iperf3 3.12 writes its last interval twice.
                if not rows.get(key) or row.end_s > rows[key][-1].end_s:
                    rows.setdefault(key, []).append(row)
        return rows, sending

    def _row(self, item: Json, *, after_omitted: bool) -> Row:
        start_s, end_s = number(item.get("start")), number(item.get("end"))
        seconds, rate = number(item.get("seconds")), number(item.get("bits_per_second"))
        if after_omitted and abs(seconds - end_s) > 0.01 * end_s:
            # When the clock restarts before the last omitted interval is written, 3.12 adds that interval's time.
            start_s, rate = 0.0, 8 * number(item.get("bytes")) / end_s
            self.notes.append("iperf3 gave the first interval after the omitted ones a wrong duration; corrected")
        return Row(
            start_s=0.0 if after_omitted else start_s,
            end_s=end_s,
            bytes=number(item.get("bytes")),
            rate_bps=rate,
            retransmits=number(item.get("retransmits")),
            cwnd_bytes=number(item.get("snd_cwnd")),
            rtt_s=_positive(item.get("rtt")) / 1e6,
            rttvar_s=number(item.get("rttvar")) / 1e6,
            pmtu_bytes=_positive(item.get("pmtu")),
            jitter_s=number(item.get("jitter_ms")) / 1e3,
            lost=number(item.get("lost_packets")),
            datagrams=number(item.get("packets")),
        )

    def _flows(self) -> list[Flow]:
        ends = {} if self.interrupted else {_socket(item): item for item in self.end.get("streams") or []}
        sockets = list(dict.fromkeys([*(key for key in self.rows if isinstance(key, int)), *ends]))
        flows = []
        for index, socket in enumerate(sockets, start=1):
            item = ends.get(socket, {})
            sending = self._sends(socket, item)
            client_sends = sending != self.server
            direction: Direction = "reverse" if self.bidir and not client_sends else "forward"
            rows = tuple(self.rows.get(socket, ()))
            if "udp" in item:
                sent, received = self._udp_sides(item["udp"], sending=sending)
            else:
                sent = self._side(item.get("sender"), ours=sending, rows=rows, sends=True)
                received = self._side(item.get("receiver"), ours=not sending, rows=rows, sends=False)
            ends_of = self.hosts.get(socket, {})
            here, there = str(ends_of.get("local_host", "")), str(ends_of.get("remote_host", ""))
            sender, receiver = (here, there) if sending else (there, here)
            flows.append(Flow(index, direction, sender, receiver, rows, sent, received))
        return flows

    def _sends(self, socket: int, item: Json) -> bool:
        """Whether this side sends on the socket."""
        if socket in self.sending:
            return self.sending[socket]
        end = item.get("udp") or item.get("sender") or {}
        return _flag(end.get("sender"), default=self.reverse == self.server)

    def _side(self, item: Json | None, *, ours: bool, rows: Sequence[Row], sends: bool) -> Side:
        """One end of a TCP stream; what only the other end knows is NaN unless it was told."""
        if not ours and (self.server or self.interrupted or item is None):
            return Side()
        item = item or {}
        rtts = [row.rtt_s for row in rows if not math.isnan(row.rtt_s)] if ours and sends else []
        cwnds = [row.cwnd_bytes for row in rows if not math.isnan(row.cwnd_bytes)] if ours and sends else []
        total = sum_or_nan([row.bytes for row in rows])
        seconds = number(item.get("seconds"))
        side_bytes = number(item.get("bytes"))
        rate = number(item.get("bits_per_second"))
        if ours and math.isnan(side_bytes) and rows:
            seconds, side_bytes = rows[-1].end_s - rows[0].start_s, total
            rate = 8 * total / seconds if seconds > 0 else NAN
        retransmits = number(item.get("retransmits"))
        if math.isnan(retransmits) and sends and ours:
            retransmits = sum_or_nan([row.retransmits for row in rows])

        def told(key: str, scale: float, otherwise: float) -> float:
            """iperf3's own figure; 0 means that it did not measure (receiving side), so it is not taken."""
            value = _positive(item.get(key)) / scale if ours and sends else NAN
            return otherwise if math.isnan(value) else value

        return Side(
            bytes=side_bytes,
            rate_bps=rate,
            seconds=seconds,
            retransmits=retransmits if sends else NAN,
            cwnd_max_bytes=told("max_snd_cwnd", 1, max(cwnds, default=NAN)),
            rtt_mean_s=told("mean_rtt", 1e6, sum(rtts) / len(rtts) if rtts else NAN),
            rtt_min_s=told("min_rtt", 1e6, min(rtts, default=NAN)),
            rtt_max_s=told("max_rtt", 1e6, max(rtts, default=NAN)),
            # Only a UDP receiver's intervals hold these; they count when the test ended before its summary.
            jitter_s=rows[-1].jitter_s if rows and ours else NAN,
            lost=sum_or_nan([row.lost for row in rows]) if ours else NAN,
            datagrams=sum_or_nan([row.datagrams for row in rows]) if ours else NAN,
        )

    def _udp_sides(self, item: Json, *, sending: bool) -> tuple[Side, Side]:
        """Both ends of a UDP stream: the sender's bytes, the receiver's loss and jitter.

        What arrived is not in the JSON: it is datagrams less lost ones, times their size, which is the same for all.
        """
        seconds, lost, datagrams = (number(item.get(key)) for key in ("seconds", "lost_packets", "packets"))
        jitter_s = number(item.get("jitter_ms")) / 1e3
        arrived = (datagrams - lost) * self.block_bytes
        received = Side(arrived, _rate(arrived, seconds), seconds, jitter_s=jitter_s, lost=lost, datagrams=datagrams)
        if self.server and not sending:
            return Side(), received
        sent_bytes, rate = number(item.get("bytes")), number(item.get("bits_per_second"))
        sent = Side(sent_bytes, rate, seconds, datagrams=datagrams)
        return sent, Side() if self.server else received

    def _sum(self, direction: Direction, flows: Sequence[Flow]) -> Flow:
        suffix = "_bidir_reverse" if direction == "reverse" else ""
        key = f"sum{suffix}" if f"sum{suffix}" in self.rows else "sum"
        if self.bidir and self.server:
            # A server calls the direction in which it sends "sum".
            key = self._server_key(direction)
        rows = tuple(self.rows.get(key, ()))
        if len(flows) == 1:
            # The sum of one stream is that stream, and knows its round-trip time too.
            rows = tuple(flows[0].rows)
        sent = self._total([flow.sent for flow in flows], f"sum_sent{suffix}", flows)
        received = self._total([flow.received for flow in flows], f"sum_received{suffix}", flows)
        return Flow(0, direction, flows[0].sender, flows[0].receiver, rows, sent, received)

    def _server_key(self, direction: Direction) -> str:
        sends = direction == "reverse"
        return next((key for key in ("sum", "sum_bidir_reverse") if self.sending.get(key) == sends), "sum")

    def _total(self, sides: Sequence[Side], key: str, flows: Sequence[Flow]) -> Side:
        """The sum over the streams of one end; iperf3's own total where it gives one for that end."""
        told: Json = {} if self.interrupted or self.server else self.end.get(key) or {}
        rate, total = number(told.get("bits_per_second")), number(told.get("bytes"))
        if math.isnan(rate):
            rate, total = sum_or_nan([side.rate_bps for side in sides]), sum_or_nan([side.bytes for side in sides])
        retransmits = number(told.get("retransmits"))
        if math.isnan(retransmits):
            retransmits = sum_or_nan([side.retransmits for side in sides])
        seconds = number(told.get("seconds"))
        if math.isnan(seconds):
            seconds = max((side.seconds for side in sides), default=NAN)
        return Side(
            bytes=total,
            rate_bps=rate,
            seconds=seconds,
            retransmits=retransmits,
            jitter_s=sum_or_nan([side.jitter_s for side in sides]) / len(flows),
            lost=sum_or_nan([side.lost for side in sides]),
            datagrams=sum_or_nan([side.datagrams for side in sides]),
        )


def number(value: object) -> float:
    """A JSON number as float; NaN for everything else, as iperf3 writes null or leaves it out."""
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else NAN


def _positive(value: object) -> float:
    found = number(value)
    return found if found > 0 else NAN


def _rate(size_bytes: float, seconds: float) -> float:
    return 8 * size_bytes / seconds if seconds > 0 else NAN


def _flag(value: object, *, default: bool) -> bool:
    if isinstance(value, str):
        return value == "true"
    return default if value is None else bool(value)


def _first(items: object) -> Json:
    return cast(Json, items[0]) if isinstance(items, list) and items else {}


def _socket(item: Json) -> int:
    part: Json = item.get("udp") or item.get("sender") or item["receiver"]
    return int(part["socket"])
