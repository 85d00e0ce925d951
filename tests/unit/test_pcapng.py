# SPDX-License-Identifier: BSD-3-Clause
"""pcapng: what we write is read back, by us, by dpkt and by Wireshark's own programs, to the nanosecond."""

import json
import shutil
import struct
import subprocess

import dpkt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from linklab.linux import pcapng

needs_tshark = pytest.mark.skipif(shutil.which("tshark") is None, reason="tshark is not installed")
FRAME = bytes(12) + b"\x08\x00" + bytes(46)
HEAD = pcapng.section("Linklab", "network time") + b"".join(
    pcapng.interface(name, link_type=pcapng.ETHERNET, snaplen=262_144, filtered="icmp")
    for name in ("h1:h1-eth0", "s1:s1-eth1")
)
PACKETS = st.lists(
    st.builds(
        pcapng.CapturedPacket,
        st.integers(0, 1),
        st.integers(0, 2**63),
        st.binary(max_size=70),
        st.integers(70, 65_549),
        st.sampled_from([pcapng.INBOUND, pcapng.OUTBOUND]),
    ),
    max_size=20,
)


def written(packets) -> bytes:
    """A file of these packets."""
    blocks = [pcapng.packet(p.interface, p.time_ns, p.data, p.length, p.direction) for p in packets]
    return HEAD + b"".join(blocks)


@given(PACKETS, st.integers(1, 50))
def test_what_is_written_is_read_back_however_it_comes(packets, chunk):
    """Every block, whole, in its order, with all that it says."""
    data, reader, blocks = written(packets), pcapng.BlockReader(), []
    for at in range(0, len(data), chunk):
        blocks += reader.feed(data[at : at + chunk])
    assert [kind for kind, _ in blocks[:3]] == [pcapng.SECTION, pcapng.INTERFACE, pcapng.INTERFACE]
    assert pcapng.read_interface(blocks[2][1]) == ("s1:s1-eth1", pcapng.ETHERNET)
    assert [pcapng.read_packet(block) for _, block in blocks[3:]] == packets
    assert b"".join(block for _, block in blocks) == data


def test_counters_are_read_back():
    """Received and dropped."""
    block = pcapng.statistics(1, 2_000_000_001, started_ns=5, received=2**40, dropped=7)
    assert pcapng.read_statistics(block) == (1, 2**40, 7)


@pytest.mark.parametrize(
    "data", [struct.pack("<II", 6, 10) + bytes(20), struct.pack("<II", 6, 2**31), b"GET / HTTP/1."]
)
def test_what_is_no_pcapng_is_refused(data):
    """A length that cannot be is not waited for."""
    with pytest.raises(ValueError, match="block of"):
        pcapng.BlockReader().feed(data)


def test_a_packet_that_is_longer_than_its_block_is_refused():
    """So that nothing beyond it is read."""
    block = bytearray(pcapng.packet(0, 1, FRAME, 60, 1))
    struct.pack_into("<I", block, 20, 1000)
    with pytest.raises(ValueError, match="a packet of 1000 bytes"):
        pcapng.read_packet(bytes(block))


def test_dpkt_reads_it(tmp_path):
    """A reader that knows nothing of us."""
    path = tmp_path / "a.pcapng"
    path.write_bytes(written([pcapng.CapturedPacket(1, 1_500_000_000, FRAME, 60, 2)]))
    with path.open("rb") as file:
        assert list(dpkt.pcapng.Reader(file)) == [(1.5, FRAME)]


@needs_tshark
def test_wireshark_reads_every_nanosecond(tmp_path):
    """Times, interfaces, lengths and directions, and the counters."""
    path = tmp_path / "a.pcapng"
    times = [1, 999_999_999, 12_345_678_901_234_567, 12_345_678_901_234_823]
    packets = [pcapng.CapturedPacket(i % 2, at, FRAME, 1514, 1 + i % 2) for i, at in enumerate(times)]
    counters = pcapng.statistics(0, times[-1], started_ns=0, received=5, dropped=3)
    path.write_bytes(written(packets) + counters)
    fields = ["frame.time_epoch", "frame.interface_name", "frame.len", "frame.packet_flags_direction"]
    shown = subprocess.run(
        ["tshark", "-r", str(path), "-T", "fields", *(word for each in fields for word in ("-e", each))],
        capture_output=True,
        text=True,
        check=True,
    )
    assert [line.split("\t") for line in shown.stdout.splitlines()] == [
        ["0.000000001", "h1:h1-eth0", "1514", "0x00000001"],
        ["0.999999999", "s1:s1-eth1", "1514", "0x00000002"],
        ["12345678.901234567", "h1:h1-eth0", "1514", "0x00000001"],
        ["12345678.901234823", "s1:s1-eth1", "1514", "0x00000002"],
    ]
    about = subprocess.run(["capinfos", str(path)], capture_output=True, text=True, check=True).stdout
    assert "nanoseconds (9)" in about
    assert "Filter string = icmp" in about
    assert json.dumps("Linklab")[1:-1] in about
