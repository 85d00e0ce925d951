# SPDX-License-Identifier: BSD-3-Clause
"""What a packet is: in words of our own, and header by header as tshark has it."""

import shutil

import dpkt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from linklab.capture import tshark
from linklab.capture.decode import decode
from linklab.errors import MissingError
from linklab.linux import pcapng

H1, H2 = bytes([10, 0, 0, 1]), bytes([10, 0, 0, 2])
MAC1, MAC2 = bytes([2, 0, 0, 0, 0, 1]), bytes([2, 0, 0, 0, 0, 2])


def ethernet(data, kind: int = dpkt.ethernet.ETH_TYPE_IP) -> bytes:
    """A frame from h1 to h2."""
    return bytes(dpkt.ethernet.Ethernet(src=MAC1, dst=MAC2, type=kind, data=data))


def ip(data, protocol: int, **fields) -> dpkt.ip.IP:
    """A packet from h1 to h2."""
    return dpkt.ip.IP(src=H1, dst=H2, p=protocol, data=data, len=20 + len(bytes(data)), ttl=64, id=7, **fields)


ECHO = dpkt.icmp.ICMP(type=8, data=dpkt.icmp.ICMP.Echo(id=5, seq=2, data=bytes(56)))
SEGMENT = dpkt.tcp.TCP(
    sport=40_000,
    dport=5201,
    seq=1000,
    ack=77,
    flags=0x18,
    off=8,
    win=500,
    opts=b"\1\1\x08\x0a\0\0\0\5\0\0\0\6",
    data=b"x" * 100,
)
PING, DATA = ethernet(ip(ECHO, 1)), ethernet(ip(SEGMENT, 6, tos=3))
ARP = ethernet(dpkt.arp.ARP(sha=MAC1, spa=H1, tpa=H2, op=1), dpkt.ethernet.ETH_TYPE_ARP)
UDP = ethernet(ip(dpkt.udp.UDP(sport=9, dport=53, ulen=28, data=bytes(20)), 17))
SIX = ethernet(
    dpkt.ip6.IP6(
        src=bytes(15) + b"\1",
        dst=bytes(15) + b"\2",
        nxt=58,
        hlim=255,
        plen=8,
        data=dpkt.icmp6.ICMP6(type=135, code=0, data=bytes(4)),
    ),
    dpkt.ethernet.ETH_TYPE_IP6,
)


@pytest.mark.parametrize(
    ("data", "line"),
    [
        (PING, ("ICMP", "10.0.0.1", "10.0.0.2", "echo request, id 5, seq 2")),
        (DATA, ("TCP", "10.0.0.1:40000", "10.0.0.2:5201", "PSH ACK seq 1000, ack 77, 100 bytes, CE")),
        (ARP, ("ARP", "02:00:00:00:00:01", "02:00:00:00:00:02", "who has 10.0.0.2? tell 10.0.0.1")),
        (UDP, ("UDP", "10.0.0.1:9", "10.0.0.2:53", "20 bytes")),
        (SIX, ("ICMPv6", "::1", "::2", "neighbour solicitation")),
        (PING[:12] + b"\x81\x00\x20\x64" + PING[12:], ("ICMP", "10.0.0.1", "10.0.0.2", "echo request, id 5, seq 2")),
        (
            MAC2 + MAC1 + b"\x00\x26\x42\x42\x03" + bytes(35),
            ("STP", "02:00:00:00:00:01", "02:00:00:00:00:02", "spanning tree"),
        ),
        (ethernet(b"x" * 50, 0x1234), ("0x1234", "02:00:00:00:00:01", "02:00:00:00:00:02", "64 bytes")),
        (PING[:20], ("Ethernet", "02:00:00:00:00:01", "02:00:00:00:00:02", "98 bytes (cut)")),
    ],
)
def test_a_packet_in_a_line(data, line):
    """Protocol, who to whom, and what."""
    found = decode(data, len(data) if len(data) != 20 else 98)
    assert (found.protocol, found.source, found.target, found.info) == line


def test_headers_show_their_fields():
    """Outermost first, options of TCP by name."""
    found = decode(DATA, len(DATA))
    assert [header.name for header in found.headers] == ["Ethernet", "IPv4", "TCP"]
    assert ("ECN", "CE") in found.headers[1].fields
    assert ("Option", "timestamps 5, 6") in found.headers[2].fields


def test_a_packet_is_known_again_behind_a_router():
    """Its addresses of Ethernet and its TTL have changed; another packet is another."""
    before = ip(ECHO, 1)
    after = ip(ECHO, 1)
    after.ttl = 63
    other = ip(ECHO, 1)
    other.id = 8
    behind = bytes(dpkt.ethernet.Ethernet(src=MAC2, dst=MAC1, type=0x0800, data=after))
    assert decode(ethernet(before), 98).same == decode(behind, 98).same != decode(ethernet(other), 98).same


@given(
    st.binary(max_size=200),
    st.sampled_from([PING, DATA, ARP, UDP, SIX]),
    st.integers(0, 120),
    st.sampled_from([1, 101]),
)
def test_any_bytes_give_a_line(noise, frame, at, link_type):
    """What programs inside send is anything."""
    for data in (noise, frame[:at] + noise, frame[:at]):
        found = decode(data, 1514, link_type)
        assert isinstance(found.info, str)
        assert found.protocol


@pytest.mark.skipif(shutil.which("tshark") is None, reason="tshark is not installed")
def test_tshark_decodes_one_packet():
    """Its own names; what it hides stays hidden."""
    found = tshark.headers(pcapng.CapturedPacket(0, 5, PING, 98, 1), "h1:h1-eth0", pcapng.ETHERNET)
    assert [header.name.split(",")[0] for header in found][1:] == [
        "Ethernet II",
        "Internet Protocol Version 4",
        "Internet Control Message Protocol",
    ]
    assert ("Time to Live", "64") in found[2].fields
    assert ("Type", "8 (Echo (ping) request)") in found[3].fields


def test_tshark_reads_no_settings_of_the_person(tmp_path, monkeypatch):
    """Regression: it ran Lua from the home folder, into which a network's programs can write on a class server."""
    program = tmp_path / "bin/tshark"
    program.parent.mkdir()
    program.write_text(
        '#!/bin/sh\ncat >/dev/null\nls -A "$HOME" "$WIRESHARK_CONFIG_DIR" >&2\n'
        'echo "<pdml><packet><proto name=\\"$HOME\\"/></packet></pdml>"\n'
    )
    program.chmod(0o755)
    (tmp_path / ".config").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("PATH", f"{program.parent}:/usr/bin:/bin")
    (found,) = tshark.headers(pcapng.CapturedPacket(0, 5, PING, 98, 1), "h1:h1-eth0", pcapng.ETHERNET)
    assert found.name != str(tmp_path)
    assert "linklab-tshark-" in found.name


@pytest.mark.parametrize("printed", [b"", b"<pdml><packet>", b"\xff"])
def test_what_is_no_pdml_is_a_sentence(printed):
    """Regression: an error of the XML reader's."""
    with pytest.raises(MissingError, match="what tshark printed is no PDML"):
        tshark.parsed(printed)
