# SPDX-License-Identifier: BSD-3-Clause
"""What iperf3 prints in a terminal, client or server, versions 3.1 to 3.18 → `Iperf3Test`.

Figures have the three digits that iperf3 prints; sizes are binary (KBytes = 1024 bytes), rates decimal (Mbits/sec =
10^6 bit/s), as iperf3's units.c has it. A row whose figures are no numbers is an error, not a gap.
It must not read JSON or files.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from linklab.measure.iperf3_model import NAN, Direction, Flow, Iperf3Test, Row, Side, rate_or_nan, sum_or_nan
from linklab.measure.reading import decimal

_ROW = re.compile(
    r"^\[\s*(?P<id>\d+|SUM)\](?:\[(?P<way>[TR]X)-[CS]\])?\s+(?P<start>[\d.]+)-(?P<end>[\d.]+)\s+sec\s+"
    r"(?P<size>[\d.]+)\s+(?P<size_unit>[KMGT]?Bytes)\s+(?P<rate>[\d.]+)\s+(?P<rate_unit>[KMGT]?(?:bits|Bytes))/sec"
    r"(?P<rest>.*)$",
    re.ASCII,
)
_CONNECTED = re.compile(r"^\[\s*(\d+)\] local (\S+) port \d+ connected to (\S+) port \d+", re.ASCII)
_LOSS = re.compile(r"(?<![\d.])([\d.]+)\s+ms\s+(-?\d+)/(\d+)\s+\(", re.ASCII)
_RETRANSMITS = re.compile(r"^\s*(\d+)(?:\s+([\d.]+)\s+([KMGT]?Bytes))?\s*$", re.ASCII)
_HEADER = re.compile(r"^\[ ID\](?:\[Role\])? Interval ")
_CLIENT = re.compile(r"^Connecting to host ")
_SERVER = re.compile(r"^Accepted connection from ")
_ERROR = re.compile(r"^iperf3: (?:error - )?(.+)$")
_BINARY = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}
_DECIMAL = {"": 1, "K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}


@dataclass
class _Stream:
    """What was printed of one stream, or of "SUM" in one direction."""

    sends: bool | None = None
    local: str = ""
    remote: str = ""
    rows: list[Row] = field(default_factory=list)
    sent: Side = field(default_factory=Side)
    received: Side = field(default_factory=Side)


@dataclass
class _Draft:
    """One test while its lines are read."""

    role: Literal["client", "server"]
    reverse: bool = False
    headers: int = 0
    in_summary: bool = False
    udp: bool = False
    done: bool = False
    error: str = ""
    omitted_s: float = 0.0
    columns: str = ""
    streams: dict[str, _Stream] = field(default_factory=dict)
    sums: dict[str, _Stream] = field(default_factory=dict)


def read_tests(text: str, source: str) -> tuple[list[Iperf3Test], list[str]]:
    """Every test in `text` that has at least one interval or result, in order, and iperf3's error messages.

    Raises:
        DataError: a row has figures that are none, such as "9.2.1 Mbits/sec".
    """
    drafts: list[_Draft] = []
    errors: list[str] = []
    for number, raw in enumerate(text.splitlines(), 1):
        line = raw.rstrip().removeprefix("^C")  # a terminal echoes Ctrl+C in front of what is printed next
        if _CLIENT.match(line) or _SERVER.match(line):
            drafts.append(_Draft("client" if _CLIENT.match(line) else "server"))
        elif error := _ERROR.match(line):
            errors.append(error[1])
            if drafts:
                drafts[-1].error = error[1]
        elif line.startswith("["):
            if not drafts:
                drafts.append(_Draft("client"))
            _read_line(drafts[-1], line, f"{source}: line {number}")
        elif drafts:
            drafts[-1].done |= line == "iperf Done."
            drafts[-1].reverse |= line.startswith("Reverse mode")
    return [_finish(draft, source) for draft in drafts if draft.streams and _has_result(draft)], errors


def _has_result(draft: _Draft) -> bool:
    return any(
        stream.rows or not (math.isnan(stream.sent.bytes) and math.isnan(stream.received.bytes))
        for stream in draft.streams.values()
    )


def _read_line(draft: _Draft, line: str, where: str) -> None:
    if connected := _CONNECTED.match(line):
        stream = draft.streams.setdefault(connected[1], _Stream())
        stream.local, stream.remote = connected[2], connected[3]
    elif _HEADER.match(line):
        draft.in_summary = draft.headers > 0
        draft.headers += 1
        draft.columns = line
        draft.udp |= "Datagrams" in line
    elif row := _ROW.match(line):
        _read_row(draft, row, where)


def _read_row(draft: _Draft, match: re.Match[str], where: str) -> None:
    way = match["way"] or ""
    if match["id"] == "SUM":
        stream = draft.sums.setdefault(way, _Stream())
    else:
        stream = draft.streams.setdefault(match["id"], _Stream())
    stream.sends = (way == "TX") if way else (draft.role == "client") != draft.reverse
    if draft.role == "server" and not way and "Retr" in draft.columns:
        stream.sends = True  # a server is not told of -R, but prints what only a sender knows
    rest = match["rest"]
    label = next((word for word in ("(omitted)", "sender", "receiver") if word in rest), "")
    values = _values(match, rest.replace(label, "") if label else rest, where, udp=draft.udp)
    row = Row(decimal(match["start"], where), decimal(match["end"], where), **values)
    if label == "(omitted)":
        draft.omitted_s = max(draft.omitted_s, row.end_s)
        return
    if label:
        side = _as_side(row)
        # The end that sends cannot know loss; iperf3 prints 0.000 ms and 0 lost there.
        if label == "sender":
            stream.sent = replace(side, jitter_s=NAN, lost=NAN)
        else:
            stream.received = side
    elif draft.in_summary:
        # UDP before 3.7: one line, the sender's bytes with the receiver's loss; a server's line is its own.
        side = _as_side(row)
        stream.received = side if draft.role == "server" else replace(side, bytes=NAN, rate_bps=NAN)
        if draft.role == "client":
            stream.sent = replace(side, jitter_s=NAN, lost=NAN)
    elif not stream.rows or row.end_s > stream.rows[-1].end_s:
        stream.rows.append(row)


def _values(match: re.Match[str], rest: str, where: str, *, udp: bool) -> dict[str, float]:
    rate_unit = match["rate_unit"]
    prefix = rate_unit.removesuffix("bits").removesuffix("Bytes")
    rate = decimal(match["rate"], where) * (8 * _BINARY[prefix] if rate_unit.endswith("Bytes") else _DECIMAL[prefix])
    values = {"bytes": decimal(match["size"], where) * _binary(match["size_unit"]), "rate_bps": rate}
    if loss := _LOSS.search(rest):
        jitter_ms, lost, datagrams = (decimal(figure, where) for figure in loss.groups())
        values |= {"jitter_s": jitter_ms / 1e3, "lost": lost, "datagrams": datagrams}
    elif found := _RETRANSMITS.match(rest):
        values["datagrams" if udp else "retransmits"] = decimal(found[1], where)
        if found[2]:
            values["cwnd_bytes"] = decimal(found[2], where) * _binary(found[3])
    return values


def _binary(unit: str) -> int:
    return _BINARY[unit.removesuffix("Bytes")]


def _as_side(row: Row) -> Side:
    return Side(
        row.bytes,
        row.rate_bps,
        row.end_s - row.start_s,
        retransmits=row.retransmits,
        jitter_s=row.jitter_s,
        lost=row.lost,
        datagrams=row.datagrams,
    )


def _finish(draft: _Draft, source: str) -> Iperf3Test:
    bidir = any(draft.streams[key].sends != next(iter(draft.streams.values())).sends for key in draft.streams)
    notes: list[str] = ["figures are rounded to three digits, as printed; iperf3 -J has them whole"]
    flows: list[Flow] = []
    cut = False
    for index, stream in enumerate(draft.streams.values(), start=1):
        flow, from_rows = _flow(draft, stream, index, bidir=bidir)
        cut |= from_rows
        flows.append(flow)
    if cut:
        why = f' ("{draft.error}")' if draft.error else ""
        notes.append(f"iperf3 printed no whole summary{why}: totals are those of the intervals printed")
    directions: tuple[Direction, ...] = ("forward", "reverse")
    sums = tuple(
        _sum(draft, [flow for flow in flows if flow.direction == direction], direction)
        for direction in directions
        if any(flow.direction == direction for flow in flows)
    )
    protocol: Literal["TCP", "UDP"] = "UDP" if draft.udp else "TCP"
    return Iperf3Test(draft.role, protocol, tuple(flows), sums, source, omitted_s=draft.omitted_s, notes=tuple(notes))


def _flow(draft: _Draft, stream: _Stream, index: int, *, bidir: bool) -> tuple[Flow, bool]:
    """The stream as a flow, and whether a total had to be taken from its intervals."""
    sends = bool(stream.sends)
    client_sends = sends == (draft.role == "client")
    sent, received = stream.sent, stream.received
    # What the other end would have to tell is unknown when it prints as zero: a server is never told, and a client
    # that was interrupted has not been told yet.
    if draft.role == "server" or not draft.done:
        if sends:
            received = _unless_zero(received)
        else:
            sent = _unless_zero(sent)
    ours = sent if sends else received
    from_rows = math.isnan(ours.bytes) and bool(stream.rows)
    if from_rows:
        first, last = stream.rows[0], stream.rows[-1]
        total, seconds = sum_or_nan([row.bytes for row in stream.rows]), last.end_s - first.start_s
        ours = Side(
            total,
            rate_or_nan(total, seconds),
            seconds,
            retransmits=sum_or_nan([row.retransmits for row in stream.rows]),
            jitter_s=last.jitter_s,
            lost=sum_or_nan([row.lost for row in stream.rows]),
            datagrams=sum_or_nan([row.datagrams for row in stream.rows]),
        )
    if sends:
        windows = [row.cwnd_bytes for row in stream.rows if not math.isnan(row.cwnd_bytes)]
        sent = replace(ours, cwnd_max_bytes=max(windows, default=NAN))
    else:
        received = ours
    sender, receiver = (stream.local, stream.remote) if sends else (stream.remote, stream.local)
    direction: Direction = "forward" if client_sends or not bidir else "reverse"
    return Flow(index, direction, sender, receiver, tuple(stream.rows), sent, received), from_rows


def _unless_zero(side: Side) -> Side:
    return Side() if side.bytes == 0 else side


def _sum(draft: _Draft, flows: Sequence[Flow], direction: Direction) -> Flow:
    if len(flows) == 1:
        return replace(flows[0], number=0)
    # With --bidir there is one [SUM] for each way.
    client_sends = direction == "forward"
    way = "TX" if client_sends == (draft.role == "client") else "RX"
    printed = draft.sums.get(way) or draft.sums.get("") or _Stream()
    rows = tuple(printed.rows)
    sent = _total(printed.sent, [flow.sent for flow in flows])
    received = _total(printed.received, [flow.received for flow in flows])
    return Flow(0, direction, flows[0].sender, flows[0].receiver, rows, sent, received)


def _total(printed: Side, sides: Sequence[Side]) -> Side:
    """The printed [SUM] where the streams are known too, else the sum over the streams."""
    if not math.isnan(printed.rate_bps) and not any(math.isnan(side.rate_bps) for side in sides):
        return printed
    return Side(
        bytes=sum_or_nan([side.bytes for side in sides]),
        rate_bps=sum_or_nan([side.rate_bps for side in sides]),
        seconds=max((side.seconds for side in sides), default=NAN),
        retransmits=sum_or_nan([side.retransmits for side in sides]),
        jitter_s=sum_or_nan([side.jitter_s for side in sides]) / len(sides),
        lost=sum_or_nan([side.lost for side in sides]),
        datagrams=sum_or_nan([side.datagrams for side in sides]),
    )
