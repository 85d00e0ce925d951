# SPDX-License-Identifier: BSD-3-Clause
"""Text of `ss -ti` → what the kernel says of each TCP connection, as scalars.

It must not guess which connection is the bulk one: they are numbered in the order printed. Field names are those of
iproute2's misc/ss.c, tcp_stats_print(); rtt is "srtt/rttvar" in ms there.
"""

from __future__ import annotations

import re

from linklab.measure.reading import decimal
from linklab.measure.series import Measurements, Quantity

_CONNECTION = re.compile(
    r"^(?:ESTAB|SYN-\w+|FIN-\w+-?\d?|CLOSE-WAIT|CLOSING|LAST-ACK|TIME-WAIT)\s+\d+\s+\d+\s+(\S+)\s+(\S+)",
    re.ASCII,
)
_RATE = re.compile(r"\b(send|pacing_rate|delivery_rate) (\d+(?:\.\d+)?)([KMG]?)bps", re.ASCII)
_RTT = re.compile(r"\brtt:([\d.]+)/([\d.]+)", re.ASCII)
_NUMBER = re.compile(
    r"\b(mss|pmtu|ssthresh|cwnd|bytes_sent|bytes_retrans|bytes_acked|bytes_received|unacked):(\d+)", re.ASCII
)
_RETRANS = re.compile(r"\bretrans:\d+/(\d+)", re.ASCII)
_MINRTT = re.compile(r"\bminrtt:([\d.]+)", re.ASCII)
_SCALE = {"": 1.0, "K": 1e3, "M": 1e6, "G": 1e9}
_UNITS = {"cwnd": "segments", "ssthresh": "segments", "unacked": "segments"}


def read_ss(text: str, source: str = "ss") -> list[Measurements]:
    """One `Measurements` a connection with details in `text`, in order.

    Scalars: ss.cwnd, ss.ssthresh, ss.unacked (segments), ss.mss, ss.pmtu, ss.bytes_sent, ss.bytes_retrans,
    ss.bytes_acked, ss.bytes_received (bytes), ss.rtt, ss.rttvar, ss.minrtt (s), ss.retransmits (segments, total),
    ss.send, ss.pacing_rate, ss.delivery_rate (bit/s). What ss leaves out is absent.

    Raises:
        DataError: a figure is none, such as rtt:1.2.3/4.
    """
    found: list[Measurements] = []
    ends = ""
    for number, line in enumerate(text.splitlines(), 1):
        if connection := _CONNECTION.match(line):
            ends = f"{connection[1]} → {connection[2]}"
        elif ends and line[:1].isspace() and _NUMBER.search(line):
            found.append(Measurements(_details(line, f"{source}: line {number}"), {}, "ss", f"{source} {ends}"))
            ends = ""
    return found


def _details(line: str, where: str) -> dict[str, Quantity]:
    scalars = {
        f"ss.{name}": Quantity(decimal(value, where), _UNITS.get(name, "bytes"))
        for name, value in _NUMBER.findall(line)
    }
    for name, value, scale in _RATE.findall(line):
        scalars[f"ss.{name}"] = Quantity(decimal(value, where) * _SCALE[scale], "bit/s")
    if rtt := _RTT.search(line):
        scalars["ss.rtt"], scalars["ss.rttvar"] = (Quantity(decimal(value, where) / 1e3, "s") for value in rtt.groups())
    if minimum := _MINRTT.search(line):
        scalars["ss.minrtt"] = Quantity(decimal(minimum[1], where) / 1e3, "s")
    if retransmits := _RETRANS.search(line):
        scalars["ss.retransmits"] = Quantity(decimal(retransmits[1], where), "segments")
    return scalars
