# SPDX-License-Identifier: BSD-3-Clause
"""Captures: spacing of data packets, from files made here and from a verbatim one of tcpdump."""

from pathlib import Path

import dpkt
import pytest

from linklab.cli import main
from linklab.data import Dataset
from linklab.errors import DataError, LabError
from linklab.measure import measure
from linklab.measure.capture import looks_like_capture, measure_capture
from linklab.plots import catalogue

CAPTURES = Path(__file__).resolve().parents[1] / "captures"
BIG = 40_000
H1, H2 = bytes([10, 0, 0, 1]), bytes([10, 0, 0, 2])


def frame(data_bytes: int, *, port: int = 5201, source: bytes = H1) -> bytes:
    """One Ethernet frame with so much TCP data from `source`."""
    target = H2 if source == H1 else H1
    segment = dpkt.tcp.TCP(sport=40000, dport=port, off=8, opts=bytes(12), data=bytes(data_bytes))
    packet = dpkt.ip.IP(src=source, dst=target, p=dpkt.ip.IP_PROTO_TCP, data=segment, len=52 + data_bytes)
    return bytes(dpkt.ethernet.Ethernet(src=bytes(6), dst=bytes(6), type=dpkt.ethernet.ETH_TYPE_IP, data=packet))


def write(path: Path, packets, *, snaplen: int = 65535, nano: bool = False) -> Path:
    """A pcap file of (time in s, frame), each cut to `snaplen` bytes as `tcpdump -s` cuts them."""
    with path.open("wb") as file:
        writer = dpkt.pcap.Writer(file, snaplen=snaplen, nano=nano)
        for time_s, content in packets:
            writer.writepkt(content[:snaplen], ts=1_704_067_200 + time_s)
    return path


def test_an_even_pace_has_one_gap_and_no_variation(tmp_path):
    """Ten packets of 1000 bytes, 100 µs apart: 80 Mbit/s."""
    path = write(tmp_path / "a.pcap", [(n * 1e-4, frame(1000)) for n in range(10)])
    found = measure_capture(path).scalars
    assert {name: quantity.value for name, quantity in found.items()} == pytest.approx(
        {
            "capture.flows": 1,
            "capture.packets": 10,
            "capture.size.mean": 1000,
            "capture.gap.mean": 1e-4,
            "capture.gap.median": 1e-4,
            "capture.gap.max": 1e-4,
            "capture.gap.variation": 0,
            "capture.rate": 80e6,
        }
    )


def test_bursts_have_small_gaps_and_few_long_ones(tmp_path):
    """Ten packets at once each 10 ms: the median gap is 0, the largest 10 ms, and the deviation exceeds the mean."""
    packets = [(burst * 0.01, frame(1000)) for burst in range(5) for _ in range(10)]
    found = measure_capture(write(tmp_path / "a.pcap", packets)).scalars
    assert found["capture.gap.median"].value == 0
    assert found["capture.gap.max"].value == pytest.approx(0.01)
    assert found["capture.gap.variation"].value == pytest.approx((45 / 4) ** 0.5, rel=1e-6)


def test_lengths_come_from_headers_where_the_capture_is_cut(tmp_path):
    """`tcpdump -s 96` of bundles of 40,000 bytes: the data count whole."""
    path = write(tmp_path / "a.pcap", [(n * 1e-3, frame(BIG)) for n in range(3)], snaplen=96)
    found = measure_capture(path)
    assert found.scalars["capture.size.mean"].value == BIG
    assert found.series["capture.sent"].value.tolist() == [BIG, 2 * BIG, 3 * BIG]


def test_gaps_are_those_of_each_connection(tmp_path):
    """Two connections in turn, each every 2 ms; acknowledgements and a connection with little data do not count."""
    packets = []
    for n in range(5):
        packets += [(0.002 * n, frame(1000, port=5201)), (0.002 * n + 0.001, frame(1000, port=5202))]
        packets += [(0.002 * n + 0.0005, frame(0, source=H2))]
    packets += [(0.0041, frame(10, port=5203)), (0.0042, frame(10, port=5203))]
    found = measure_capture(write(tmp_path / "a.pcap", sorted(packets, key=lambda packet: packet[0])))
    assert found.scalars["capture.flows"].value == 2
    assert found.series["capture.gap"].value.tolist() == pytest.approx([0.002] * 8)


def test_nanoseconds_are_kept(tmp_path):
    """`tcpdump --nano`: gaps below a microsecond."""
    with (tmp_path / "a.pcap").open("wb") as file:
        writer = dpkt.pcap.Writer(file, nano=True)
        for nanoseconds in (0, 250, 500):
            writer.writepkt_time(frame(100), dpkt.pcap.Decimal(nanoseconds) / dpkt.pcap.Decimal("1E9") + 1_704_067_200)
    assert measure_capture(tmp_path / "a.pcap").scalars["capture.gap.median"].value == pytest.approx(250e-9)


def test_a_capture_that_was_cut_off_gives_what_is_whole(tmp_path):
    """A killed tcpdump leaves half a record."""
    path = write(tmp_path / "a.pcap", [(n * 1e-3, frame(1000)) for n in range(4)])
    path.write_bytes(path.read_bytes()[: -len(frame(1000)) - 8])
    assert measure_capture(path).scalars["capture.packets"].value == 3


def test_headers_inside_headers_are_followed_as_far_as_packets_have_them(tmp_path):
    """Regression: 2,000 IP headers inside each other were an error that nobody expected, and cost a lab its points."""
    ethernet = bytes(dpkt.ethernet.Ethernet(src=bytes(6), dst=bytes(6), type=dpkt.ethernet.ETH_TYPE_IP, data=b""))
    strange = ethernet + bytes.fromhex("45000000 00000000 40040000 0a000001 0a000002") * 2000
    packets = [frame(1000), strange, *[frame(1000)] * 2]
    path = write(tmp_path / "a.pcap", [(n * 1e-3, content) for n, content in enumerate(packets)])
    assert measure_capture(path).scalars["capture.packets"].value == 3


def test_a_file_is_known_by_its_beginning(tmp_path):
    """`measure` needs no name that ends in .pcap; and text is no capture."""
    path = write(tmp_path / "spacing.out", [(n * 1e-3, frame(1000)) for n in range(4)])
    assert measure("", [path]).scalars["capture.packets"].value == 4
    assert not looks_like_capture(b'{"sta')


def test_what_ends_in_its_header_is_said(tmp_path):
    """A file that is a capture by its first bytes and nothing more."""
    path = tmp_path / "a.pcap"
    path.write_bytes(bytes.fromhex("d4c3b2a1") + bytes(3))
    with pytest.raises(DataError, match="cannot be read as a capture"):
        measure("", [path])


def test_a_capture_without_data_is_an_error(tmp_path):
    """Acknowledgements alone have no spacing that says anything; unknown is not zero."""
    path = write(tmp_path / "a.pcap", [(n * 1e-3, frame(0)) for n in range(4)])
    with pytest.raises(DataError, match="fewer than two packets with TCP data"):
        measure_capture(path)


def test_a_capture_of_all_interfaces_is_an_error(tmp_path):
    """`-i any` gives cooked frames, and each packet several times."""
    path = tmp_path / "a.pcap"
    with path.open("wb") as file:
        dpkt.pcap.Writer(file, linktype=dpkt.pcap.DLT_LINUX_SLL)
    with pytest.raises(DataError, match="not -i any"):
        measure_capture(path)


def test_spacing_is_a_figure_of_its_own(tmp_path):
    """A line for each capture; it has no time axis, so it is no panel beside others; the same data, the same bytes."""
    even = write(tmp_path / "even.pcap", [(n * 1e-4, frame(1000)) for n in range(50)])
    bursts = write(tmp_path / "bursts.pcap", [(burst * 0.01, frame(1000)) for burst in range(5) for _ in range(10)])
    parts = [
        catalogue.Part(path.stem, path.stem, Dataset.of(measure_capture(path), {}), 0.0, 1.0) for path in (even, bursts)
    ]
    drawn = catalogue.draw(parts, ["spacing"])
    assert drawn == catalogue.draw(parts, ["spacing"])
    assert b"<svg" in drawn
    assert "sent" in catalogue.available(parts[0].data)
    with pytest.raises(LabError, match="spacing: this has no time axis"):
        catalogue.draw(parts, ["sent", "spacing"])


def test_plot_spacing_says_what_it_drew(tmp_path, capsys):
    """`linklab plot spacing`: two lines a capture and the figure's name."""
    path = write(tmp_path / "even.pcap", [(n * 1e-4, frame(1000)) for n in range(10)])
    out = tmp_path / "spacing.svg"
    assert main(["plot", "spacing", str(path), "--out", str(out)]) == 0
    assert capsys.readouterr().out.splitlines() == [
        f"{path}: 10 packets of 1000 bytes of data on average, 80.0 Mbit/s",
        "  gaps: median 100.0 us, mean 100.0 us, max 100.0 us, variation 0.00",
        str(out),
    ]
    assert out.read_bytes().startswith(b"<?xml")


def test_plot_spacing_refuses(tmp_path, capsys):
    """A file that is no capture is named, and no figure is written."""
    path = tmp_path / "a.pcap"
    path.write_text("{}")
    assert main(["plot", "spacing", str(path), "--out", str(tmp_path / "a.pdf")]) == 2
    assert f"{path}: cannot be read as a capture" in capsys.readouterr().err
    assert not (tmp_path / "a.pdf").exists()
