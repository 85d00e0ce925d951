# SPDX-License-Identifier: BSD-3-Clause
"""One JSON document of iperf3, versions 3.1 to 3.18 → `Iperf3Test`.

It must not read files and must not guess: a missing field is NaN.
The format has no specification; fields are those that iperf3's own source prints, above all in iperf_api.c.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, cast

from linklab.base.text import excerpt
from linklab.errors import DataError, NothingMeasuredError
from linklab.measure.iperf3_model import NAN, Direction, Flow, Iperf3Test, Row, Side, rate_or_nan, sum_or_nan
from linklab.measure.reading import MOST_WORDS, Json, json_number, json_object, json_objects


def read_document(document: Json, source: str, *, partial: bool) -> Iperf3Test:
    """One document as a test.

    Raises:
        NothingMeasuredError: iperf3 reported an error (its message), or nothing was transferred.
        DataError: the shape is not iperf3's.
    """
    error = _error(document)
    intervals = json_objects(document.get("intervals"), f"{source}: intervals")
    if error and not (partial and intervals):
        so_far = f" after {len(intervals)} intervals" if intervals else ""
        raise NothingMeasuredError(f"iperf3 ended with an error{so_far}: {error}", where=source)
    return _Reader(document, source).test()


class _Reader:
    """Reads one document; keeps what several parts of it need."""

    def __init__(self, document: Json, source: str) -> None:
        self.document = document
        self.source = source
        self.start = json_object(document.get("start"), f"{source}: start")
        self.end = json_object(document.get("end"), f"{source}: end")
        self.intervals = json_objects(document.get("intervals"), f"{source}: intervals")
        self.streams = json_objects(self.end.get("streams"), f"{source}: end.streams")
        settings = json_object(self.start.get("test_start"), f"{source}: start.test_start")
        self.server = "accepted_connection" in self.start
        self.reverse = bool(settings.get("reverse"))
        self.bidir = bool(settings.get("bidir")) or "sum_sent_bidir_reverse" in self.end
        self.bidir = self.bidir or any("sum_bidir_reverse" in entry for entry in self.intervals)
        self.interrupted = bool(document.get("error")) or "cut" in document
        self.notes: list[str] = []
        connected = json_objects(self.start.get("connected"), f"{source}: start.connected")
        self.hosts = {item["socket"]: item for item in connected if isinstance(item.get("socket"), int)}
        self.rows, self.sending = self._intervals()
        first = next(iter(self.rows), None)
        self.udp = settings.get("protocol", "TCP") == "UDP" or "udp" in _first(self.streams)
        self.block_bytes = json_number(settings.get("blksize"))
        self.omitted_s = max(0.0, json_number(settings.get("omit") or 0.0))
        if first is None and not self.streams:
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
            why = self.document.get("cut") or f'iperf3 ended with "{_error(self.document)}"'
            self.notes.append(f"{why}: totals are those of the {len(self.intervals)} intervals before")
        return Iperf3Test(
            role="server" if self.server else "client",
            protocol="UDP" if self.udp else "TCP",
            flows=tuple(flows),
            sums=sums,
            source=self.source,
            version=_text(self.start.get("version")),
            congestion=_text(self.end.get("sender_tcp_congestion")),
            omitted_s=self.omitted_s,
            notes=tuple(dict.fromkeys(self.notes)),
        )

    def _intervals(self) -> tuple[dict[Any, list[Row]], dict[Any, bool]]:
        """Rows per socket, and under "sum" and "sum_bidir_reverse"; who of them sends on this side."""
        rows: dict[Any, list[Row]] = {}
        sending: dict[Any, bool] = {}
        was_omitted: dict[Any, bool] = {}
        for index, entry in enumerate(self.intervals):
            where = f"{self.source}: intervals[{index}]"
            streams = json_objects(entry.get("streams"), f"{where}.streams")
            items: list[tuple[Any, Json]] = [(_socket(stream, f"{where}.streams"), stream) for stream in streams]
            sums = [key for key in ("sum", "sum_bidir_reverse") if key in entry]
            items += [(key, json_object(entry[key], f"{where}.{key}")) for key in sums]
            for key, item in items:
                sending.setdefault(key, _flag(item.get("sender"), default=self.reverse == self.server))
                if _flag(item.get("omitted"), default=False):
                    was_omitted[key] = True
                    continue
                row = self._row(item, where, after_omitted=was_omitted.pop(key, False))
                # Ended early, iperf3 3.12 writes its last interval twice.
                if not rows.get(key) or row.end_s > rows[key][-1].end_s:
                    rows.setdefault(key, []).append(row)
        return rows, sending

    def _row(self, item: Json, where: str, *, after_omitted: bool) -> Row:
        start_s, end_s = json_number(item.get("start")), json_number(item.get("end"))
        seconds, rate = json_number(item.get("seconds")), json_number(item.get("bits_per_second"))
        if math.isnan(start_s) or math.isnan(end_s):
            raise DataError(f"{where}: an interval has no start or no end: the JSON is not what iperf3 writes")
        if after_omitted and abs(seconds - end_s) > 0.01 * end_s:
            # When the clock restarts before the last omitted interval is written, 3.12 adds that interval's time.
            start_s, rate = 0.0, rate_or_nan(json_number(item.get("bytes")), end_s)
            self.notes.append("iperf3 gave the first interval after the omitted ones a wrong duration; corrected")
        return Row(
            start_s=0.0 if after_omitted else start_s,
            end_s=end_s,
            bytes=json_number(item.get("bytes")),
            rate_bps=rate,
            retransmits=json_number(item.get("retransmits")),
            cwnd_bytes=json_number(item.get("snd_cwnd")),
            rtt_s=_positive(item.get("rtt")) / 1e6,
            rttvar_s=json_number(item.get("rttvar")) / 1e6,
            pmtu_bytes=_positive(item.get("pmtu")),
            jitter_s=json_number(item.get("jitter_ms")) / 1e3,
            lost=json_number(item.get("lost_packets")),
            datagrams=json_number(item.get("packets")),
        )

    def _flows(self) -> list[Flow]:
        ends = {} if self.interrupted else dict(map(self._ended, range(len(self.streams))))
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
            here, there = _text(ends_of.get("local_host")), _text(ends_of.get("remote_host"))
            sender, receiver = (here, there) if sending else (there, here)
            flows.append(Flow(index, direction, sender, receiver, rows, sent, received))
        return flows

    def _ended(self, index: int) -> tuple[int, dict[str, Json]]:
        """A stream's socket and its ends: "udp" of both, or "sender" and "receiver"."""
        where = f"{self.source}: end.streams[{index}]"
        stream = self.streams[index]
        ends: dict[str, Json] = {
            key: json_object(stream[key], f"{where}.{key}") for key in ("udp", "sender", "receiver") if key in stream
        }
        return _socket(next((end for end in ends.values() if end), {}), where), ends

    def _sends(self, socket: int, item: dict[str, Json]) -> bool:
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
        seconds = json_number(item.get("seconds"))
        side_bytes = json_number(item.get("bytes"))
        rate = json_number(item.get("bits_per_second"))
        if ours and math.isnan(side_bytes) and rows:
            seconds, side_bytes = rows[-1].end_s - rows[0].start_s, total
            rate = rate_or_nan(total, seconds)
        retransmits = json_number(item.get("retransmits"))
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
        seconds, lost, datagrams = (json_number(item.get(key)) for key in ("seconds", "lost_packets", "packets"))
        jitter_s = json_number(item.get("jitter_ms")) / 1e3
        arrived = (datagrams - lost) * self.block_bytes
        received = Side(
            arrived, rate_or_nan(arrived, seconds), seconds, jitter_s=jitter_s, lost=lost, datagrams=datagrams
        )
        if self.server and not sending:
            return Side(), received
        sent_bytes, rate = json_number(item.get("bytes")), json_number(item.get("bits_per_second"))
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
        told = {} if self.interrupted or self.server else json_object(self.end.get(key), f"{self.source}: end.{key}")
        rate, total = json_number(told.get("bits_per_second")), json_number(told.get("bytes"))
        if math.isnan(rate):
            rate, total = sum_or_nan([side.rate_bps for side in sides]), sum_or_nan([side.bytes for side in sides])
        retransmits = json_number(told.get("retransmits"))
        if math.isnan(retransmits):
            retransmits = sum_or_nan([side.retransmits for side in sides])
        seconds = json_number(told.get("seconds"))
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


def _positive(value: object) -> float:
    found = json_number(value)
    return found if found > 0 else NAN


def _error(document: Json) -> str:
    error = document.get("error")
    return excerpt(error, MOST_WORDS) if isinstance(error, str) else "an error" if error else ""


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _flag(value: object, *, default: bool) -> bool:
    if isinstance(value, str):
        return value == "true"
    return default if value is None else bool(value)


def _first(items: Sequence[Json]) -> Json:
    return items[0] if items else {}


def _socket(item: Json, where: str) -> int:
    socket = item.get("socket")
    if not isinstance(socket, int):
        raise DataError(f"{where}: a stream has no socket: the JSON is not what iperf3 writes")
    return socket
