# SPDX-License-Identifier: BSD-3-Clause
"""What the tools of a test printed → samples: fping's lines, iperf3's JSON, a command's numbers; irtt's: `irtt`.

A reader gives `Samples`, times in seconds since T0, or raises DataError with the reason why there are none.
Formats: fping 5 (-D), iperf3 3.12 (`linklab.measure.iperf3_json`).
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from linklab.base.text import excerpt
from linklab.errors import DataError
from linklab.measure import iperf3
from linklab.measure.iperf3_model import Row
from linklab.measure.reading import json_number

Numbers = Mapping[str, float]

_ANSWER = re.compile(r"^\[(\d+\.\d+)\] \S+ +: \[(\d+)\], (?:\d+ bytes, ([\d.]+) ms|timed out)", re.MULTILINE)
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?")
_STAMPED = re.compile(r"^\s*(\d+\.\d+)\s+(.*)$")
OWN_UNITS = {
    "owd_up": "ms",
    "owd_down": "ms",
    "ipdv": "ms",
    "ipdv_up": "ms",
    "ipdv_down": "ms",
    "seq": "",
    "lost": "",
    "lost_up": "",
    "pkts": "packets",
    "lost_pkts": "packets",
    "delay": "ms",
    "jitter": "ms",
    "loss": "",
    "dur": "s",
}
"""Of the further numbers."""


@dataclass
class Samples:
    """A series: of each sample its time, its value (NaN for a gap) and its further numbers.

    meta: what else is known of the series, by Flent's names.
    """

    unit: str
    rows: list[tuple[float, float, Numbers]] = field(default_factory=list)
    meta: dict[str, Any] = field(default_factory=dict)

    def add(self, time_s: float, value: float, **further: float) -> None:
        """One more, in any order."""
        self.rows.append((time_s, value, further))


def read_ping(text: str, t0_s: float, *, began_s: float, interval_s: float, count: int) -> Samples:
    """Round trips of fping as the answers come; what was not answered is a gap at the moment at which it was sent.

    Args:
        text: what `fping -D` printed. It says nothing of a request that it still waited for when it was ended.
        t0_s: T0 on the clock of dates, s.
        began_s: when fping was started, s since T0.
        interval_s: between two requests.
        count: of requests.
    """
    found = Samples("ms")
    answered = set()
    for stamp, seq, value in _ANSWER.findall(text):
        if value and int(seq) < count:
            answered.add(int(seq))
            found.add(round(float(stamp) - t0_s, 6), float(value), seq=float(seq))
    for seq in range(count):
        if seq not in answered:
            found.add(round(began_s + seq * interval_s, 6), math.nan, seq=float(seq), lost=1.0)
    known = [value for _, value, _ in found.rows if not math.isnan(value)]
    if not known:
        raise DataError("no answer came to any of fping's echo requests")
    found.meta = {
        "MEAN_VALUE": round(sum(known) / len(known), 6),
        "MIN_VALUE": min(known),
        "MAX_VALUE": max(known),
        "PACKETS_SENT": len(found.rows),
        "PACKETS_RECEIVED": len(known),
    }
    return found


@dataclass(frozen=True)
class Streams:
    """What iperf3 said of a test's streams, in their order.

    ports: local and remote, of each. rows: of each stream's intervals, s since the side began.
    rate_bps, sent_bytes, received_bytes, retransmits, seconds, lost, sent_pkts: of each; NaN where it is not known.
    """

    ports: tuple[tuple[int, int], ...] = ()
    rows: tuple[tuple[Row, ...], ...] = ()
    rate_bps: tuple[float, ...] = ()
    sent_bytes: tuple[float, ...] = ()
    received_bytes: tuple[float, ...] = ()
    retransmits: tuple[float, ...] = ()
    seconds: tuple[float, ...] = ()
    lost: tuple[float, ...] = ()
    sent_pkts: tuple[float, ...] = ()
    mss: float = math.nan
    congestion: str = ""


def read_iperf(text: str) -> Streams:
    """One side of a test, as far as it came."""
    tests = iperf3.read_json(text, "iperf3", partial=True)
    start = _start(text)
    flows = tests[0].flows
    connected = [one for one in start.get("connected") or () if isinstance(one, Mapping)]
    return Streams(
        ports=tuple((int(one["local_port"]), int(one["remote_port"])) for one in connected),
        rows=tuple(flow.rows for flow in flows),
        rate_bps=tuple(flow.received.rate_bps for flow in flows),
        sent_bytes=tuple(flow.sent.bytes for flow in flows),
        received_bytes=tuple(flow.received.bytes for flow in flows),
        retransmits=tuple(flow.sent.retransmits for flow in flows),
        seconds=tuple(flow.received.seconds for flow in flows),
        lost=tuple(flow.received.lost for flow in flows),
        sent_pkts=tuple(flow.sent.datagrams for flow in flows),
        mss=json_number(start.get("tcp_mss_default") or start.get("tcp_mss")),
        congestion=tests[0].congestion,
    )


def _start(text: str) -> Mapping[str, Any]:
    """iperf3's "start", which holds the ports; {} where it was cut off there."""
    at = text.find("{")
    try:
        document = json.JSONDecoder().raw_decode(text, at)[0] if at >= 0 else {}
    except ValueError:
        return _cut_start(text)
    start = document.get("start") if isinstance(document, Mapping) else None
    return start if isinstance(start, Mapping) else {}


def _cut_start(text: str) -> Mapping[str, Any]:
    at = text.find('"start":')
    try:
        found = json.JSONDecoder().raw_decode(text, text.index("{", at))[0] if at >= 0 else {}
    except ValueError:
        return {}
    return found if isinstance(found, Mapping) else {}


def read_fetches(text: str, t0_s: float) -> Samples:
    """How long each fetch of a page took, at the moment at which it was there; one that failed is a gap.

    Further numbers: of each object "first_1" (until its first byte) and "total_1", in the order of the page.
    """
    found, why, size = Samples("ms"), "", 0.0
    for line in text.splitlines():
        try:
            said = json.loads(line)
            began_s = float(said["t"]) - t0_s
        except (ValueError, KeyError, TypeError):
            continue
        further = {}
        for number, one in enumerate(said.get("objects", ()), 1):
            further[f"first_{number}"] = float(one["first_s"]) * 1e3
            further[f"total_{number}"] = float(one["total_s"]) * 1e3
            size += float(one["size"])
        total_s = said.get("total_s")
        why = why or str(said.get("failed", ""))
        if total_s is None:
            found.add(round(began_s, 6), math.nan, **further)
        else:
            found.add(round(began_s + total_s, 6), total_s * 1e3, **further)
    known = [value for _, value, _ in found.rows if not math.isnan(value)]
    if not known:
        raise DataError(f"no page was fetched: {why or words(text) or 'the fetcher said nothing'}")
    found.meta = {"MEAN_VALUE": mean_of(known), "MIN_VALUE": min(known), "MAX_VALUE": max(known)}
    found.meta |= {"FETCHES": len(found.rows), "FETCHED": len(known), "BYTES_RECVD": int(size)}
    return found


def read_answers(text: str, t0_s: float) -> Samples:
    """How long each request took, ms, at the moment of its answer."""
    found = Samples("ms")
    for line in text.splitlines():
        stamp, _, value = line.partition(" ")
        if _NUMBER.fullmatch(stamp) and _NUMBER.fullmatch(value):
            found.add(round(float(stamp) - t0_s, 6), float(value))
    if not found.rows:
        raise DataError(f"no request was answered: {words(text) or 'the client said nothing'}")
    found.meta = {"MEAN_VALUE": mean_of([value for _, value, _ in found.rows])}
    return found


def read_command(text: str, started_s: float, interval_s: float, t0_s: float) -> Samples:
    """The last number of each line, at the date in seconds that it begins with, or one line every `interval_s`."""
    found = Samples("")
    for number, line in enumerate(line for line in text.splitlines() if line.strip()):
        stamped = _STAMPED.match(line)
        time_s, rest = started_s + number * interval_s, line
        if stamped and float(stamped[1]) > 1e8:
            time_s, rest = float(stamped[1]) - t0_s, stamped[2]
        numbers = _NUMBER.findall(rest)
        if numbers:
            found.add(round(time_s, 6), float(numbers[-1]))
    if not found.rows:
        raise DataError(f"the command printed no number: {words(text) or 'nothing'}")
    return found


def mean_of(values: Sequence[float]) -> float:
    """The mean of those that are known; NaN of none."""
    known = [value for value in values if not math.isnan(value)]
    return sum(known) / len(known) if known else math.nan


def words(text: str) -> str:
    """What a program printed, as a message may quote it."""
    return excerpt(" ".join(text.split()))
