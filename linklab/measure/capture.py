# SPDX-License-Identifier: BSD-3-Clause
"""Captures of tcpdump -w (pcap, pcapng) → the spacing of the packets that carry TCP's data.

The one module that knows dpkt. Gaps lie between packets of one connection in one direction, as they pass the interface:
a bundle of segments that the card would still have to cut up (TSO) is one packet here. It must not print packets:
tcpdump does.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

import dpkt
import numpy as np

from linklab.base.text import file_name
from linklab.errors import DataError
from linklab.measure.series import Measurements, Quantity, make_series

_MAGIC = {
    bytes.fromhex(text) for text in ("a1b2c3d4", "d4c3b2a1", "a1b23c4d", "4d3cb2a1", "0a0d0d0a")
}  # pcap-savefile(5) of both byte orders and resolutions, and pcapng
_LEAST_SHARE = 0.01
"""Of all data; a connection with less, such as iperf3's for control, is left out."""
_HEADERS_BYTES = 512
"""Of a frame that are looked at, which is all headers up to TCP's: dpkt goes into each that is inside another one."""


@dataclass
class _Flow:
    """One connection in one direction: time (s since the capture's first packet) and data (bytes) of each packet."""

    time_s: list[float] = field(default_factory=list)
    data_bytes: list[int] = field(default_factory=list)


def looks_like_capture(head: bytes) -> bool:
    """Whether a file that begins with these bytes is a capture."""
    return head[:4] in _MAGIC


def measure_capture(path: Path) -> Measurements:
    """Spacing and size of the data packets of a capture.

    Scalars: capture.flows, capture.packets (packets), capture.size.mean (bytes of data in a packet), capture.rate
    (bit/s of data from first to last packet), capture.gap.mean, .median, .max (s), capture.gap.variation (deviation
    over mean: 0 for an even pace, 1 for chance alone, more for bursts).
    Series: capture.gap (s, at the later packet), capture.sent (bytes of data of all flows since the first packet).

    Raises:
        DataError: no capture of Ethernet, or fewer than two packets with data in it.
    """
    flows = _flows(path)
    total = sum(sum(flow.data_bytes) for flow in flows)
    flows = [flow for flow in flows if len(flow.time_s) > 1 and sum(flow.data_bytes) >= _LEAST_SHARE * total]
    if not flows:
        raise DataError(f"{file_name(path)}: fewer than two packets with TCP data in it")
    start_s = min(flow.time_s[0] for flow in flows)
    when = np.concatenate([np.asarray(flow.time_s) for flow in flows]) - start_s
    data = np.concatenate([np.asarray(flow.data_bytes, dtype=np.float64) for flow in flows])
    order = np.argsort(when, kind="stable")
    when, data = when[order], data[order]
    gaps = np.concatenate([np.diff(flow.time_s) for flow in flows])
    ends = np.concatenate([np.asarray(flow.time_s[1:]) for flow in flows]) - start_s
    later = np.argsort(ends, kind="stable")
    scalars = {
        "capture.flows": Quantity(float(len(flows)), ""),
        "capture.packets": Quantity(float(data.size), "packets"),
        "capture.size.mean": Quantity(float(data.mean()), "bytes"),
        "capture.gap.mean": Quantity(float(gaps.mean()), "s"),
        "capture.gap.median": Quantity(float(np.median(gaps)), "s"),
        "capture.gap.max": Quantity(float(gaps.max()), "s"),
    }
    if gaps.mean() > 0 and when[-1] > 0:
        scalars["capture.gap.variation"] = Quantity(float(gaps.std() / gaps.mean()), "")
        # the last packet is not counted: what it took is not in the capture
        scalars["capture.rate"] = Quantity(float(8 * data[:-1].sum() / when[-1]), "bit/s")
    source = file_name(path)
    series = {
        "capture.gap": make_series("capture.gap", "s", ends[later], gaps[later], source=source),
        "capture.sent": make_series("capture.sent", "bytes", when, np.cumsum(data), source=source),
    }
    return Measurements(scalars, series, "capture", source)


def _flows(path: Path) -> list[_Flow]:
    """All TCP data in the capture, by connection and direction, in the order of their first packets."""
    flows: dict[tuple[bytes, int, bytes, int], _Flow] = {}
    first_s: float | None = None
    for time_s, frame in _frames(path):
        first_s = time_s if first_s is None else first_s
        ip = frame.data
        if not isinstance(ip, dpkt.ip.IP | dpkt.ip6.IP6) or not isinstance(ip.data, dpkt.tcp.TCP):
            continue
        # lengths come from the headers: tcpdump -s keeps only the beginning of a packet
        inside = ip.len - 4 * ip.hl if isinstance(ip, dpkt.ip.IP) else ip.plen
        data_bytes = inside - 4 * ip.data.off
        if data_bytes > 0:
            flow = flows.setdefault((ip.src, ip.data.sport, ip.dst, ip.data.dport), _Flow())
            flow.time_s.append(time_s - first_s)
            flow.data_bytes.append(data_bytes)
    return list(flows.values())


def _frames(path: Path) -> Iterator[tuple[float, dpkt.ethernet.Ethernet]]:
    """Time and frame of each record; a last record that is cut off is left out, and so is a frame that makes no sense.

    Raises:
        DataError: the file cannot be read, or was taken where there are no Ethernet frames.
    """
    try:
        with path.open("rb") as file:
            reader = dpkt.pcap.UniversalReader(_Bounded(file, path.stat().st_size))
            if reader.datalink() != dpkt.pcap.DLT_EN10MB:
                raise DataError(
                    f"{file_name(path)}: not of one Ethernet interface; capture with -i INTERFACE, not -i any"
                )
            epoch = None
            for time, record in _whole(reader):
                epoch = time if epoch is None else epoch
                # seconds since 1970 as a float are exact to 0.2 µs only; a file of nanoseconds gives decimals
                digits = 6 if isinstance(time, float) else 9
                try:
                    yield round(float(time - epoch), digits), dpkt.ethernet.Ethernet(record[:_HEADERS_BYTES])
                except (dpkt.UnpackError, ValueError, IndexError, AttributeError):  # the last for odd fragments of IPv6
                    continue
    except OSError as error:
        raise DataError(f"{file_name(path)}: {error.strerror}") from error
    except (ValueError, dpkt.Error) as error:
        raise DataError(f"{file_name(path)}: cannot be read as a capture: {error}") from error


class _Bounded:
    """A file of which nobody gets more bytes than it has: dpkt asks for as many as a record's header says, up to 4 GiB.

    Python reserves memory for what is asked for, before it looks at the file.
    """

    def __init__(self, file: BinaryIO, size_bytes: int) -> None:
        self._file, self._size_bytes = file, size_bytes
        self.name = file.name

    def read(self, count: int = -1) -> bytes:
        left = max(0, self._size_bytes - self._file.tell())
        return self._file.read(min(count, left) if count >= 0 else left)

    def seek(self, offset: int, whence: int = 0) -> int:
        return self._file.seek(offset, whence)

    def tell(self) -> int:
        return self._file.tell()


def _whole(reader: Any) -> Iterator[tuple[Any, bytes]]:
    """The records up to one whose header is cut off."""
    records = iter(reader)
    while True:
        try:
            yield next(records)
        except (StopIteration, dpkt.NeedData):
            return
