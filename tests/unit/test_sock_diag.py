# SPDX-License-Identifier: BSD-3-Clause
"""tcp_info read by netlink: the kernel's own layout, messages as it sends them, and a connection of this machine."""

import re
import socket
import struct
from pathlib import Path

import pytest
from test_tc_attributes import constants

from linklab.linux import netlink, sock_diag
from linklab.linux.sock_diag import FIELDS, SocketReader

HEADERS = [Path("/usr/include/linux", name) for name in ("inet_diag.h", "tcp.h", "sock_diag.h", "netlink.h")]
needs_headers = pytest.mark.skipif(
    not all(header.exists() for header in HEADERS), reason="the kernel's headers are not installed"
)
NEWER = ("rcv_wnd", "rehash", "total_rto", "total_rto_recoveries", "total_rto_time")
"""Members that the headers of a supported distribution may lack."""
SIZES = {"__u8": "B", "__u16": "H", "__u32": "I", "__u64": "Q", "__be16": "2s", "__be32": "4s"}
TCP_INFO = 11  # an option of tcp(7)


def members(header, name):
    """The members of a struct, as (name, type); bit fields of one byte under the first one's name."""
    body = re.search(rf"struct {name} \{{(.*?)\n\}};", re.sub(r"/\*.*?\*/", "", header, flags=re.DOTALL), re.DOTALL)[1]
    return [
        (re.split(r"[\s:,\[]", names.strip())[0], SIZES.get(kind, kind))
        for kind, names in re.findall(r"^\s*(?:struct )?(\w+)\s+([^;]+);", body, re.MULTILINE)
    ]


@needs_headers
def test_tcp_info_is_laid_out_as_in_the_headers():
    """A member more or less before one of ours would read a neighbour's value."""
    header = HEADERS[1].read_text()
    theirs = [(name.removeprefix("tcpi_"), kind) for name, kind in members(header, "tcp_info")]
    renamed = {"snd_wscale": "wscales", "delivery_rate_app_limited": "flags"}
    theirs = [(renamed.get(name, name), kind) for name, kind in theirs]
    ours = list(sock_diag.TCP_INFO)
    assert theirs[: len(ours)] == ours[: len(theirs)]
    assert {name for name, _ in ours[len(theirs) :]} <= set(NEWER)
    assert struct.calcsize("=" + "".join(k for _, k in ours)) == struct.calcsize("@" + "".join(k for _, k in ours))


@needs_headers
@pytest.mark.parametrize(
    ("name", "ours"),
    [
        ("tcpvegas_info", sock_diag.VEGAS),
        ("tcp_dctcp_info", sock_diag.DCTCP),
        ("tcp_bbr_info", sock_diag.BBR),
    ],
)
def test_what_an_algorithm_says_is_laid_out_as_in_the_headers(name, ours):
    """Type by type, without padding."""
    theirs = "".join(kind for _, kind in members(HEADERS[0].read_text(), name))
    assert struct.Struct("=" + theirs).unpack(bytes(range(ours.size))) == ours.unpack(bytes(range(ours.size)))


@needs_headers
def test_numbers_are_those_of_the_headers():
    """Of messages, attributes and states."""
    there = constants("".join(header.read_text() for header in HEADERS))
    ours = {n: v for n, v in vars(sock_diag).items() if n.startswith(("INET_DIAG_", "SOCK_DIAG_", "NETLINK_"))}
    assert len(ours) == 7
    assert {name: there[name] for name in ours} == ours
    states = [f"TCP_CA_{name}" for name in sock_diag.CA_STATES]
    assert [there[name] for name in states] == list(range(5))


def message(info=b"", **attributes):
    """A socket as the kernel tells of it, 10.0.0.1:40000 to 10.0.0.2:5201."""
    pair = socket.inet_aton("10.0.0.1").ljust(16, b"\0") + socket.inet_aton("10.0.0.2").ljust(16, b"\0")
    identity = struct.pack("!HH", 40000, 5201) + pair + bytes(12)
    body = sock_diag.MESSAGE.pack(socket.AF_INET, 1, 0, 0, identity, 0, 7, 9000, 0, 0)
    body += netlink.attribute(sock_diag.INET_DIAG_INFO, info) if info else b""
    return body + b"".join(netlink.attribute(getattr(sock_diag, name), data) for name, data in attributes.items())


def packed(**values):
    """A struct tcp_info with these values, else 0."""
    return struct.pack(
        "=" + "".join(kind for _, kind in sock_diag.TCP_INFO), *(values.get(name, 0) for name, _ in sock_diag.TCP_INFO)
    )


@pytest.fixture
def reader():
    """One whose socket is not used."""
    made = SocketReader()
    yield made
    made.socket.close()


def read(reader, body):
    """A row as a dict."""
    return dict(zip(FIELDS, reader.row(body), strict=True))


def test_a_socket_with_units(reader):
    """µs become ms, bytes per second become bit/s."""
    info = packed(
        snd_cwnd=18, snd_ssthresh=136, rtt=14997, rttvar=1578, min_rtt=2, delivery_rate=884604, pacing_rate=607851,
        total_retrans=267, ca_state=3, flags=1, busy_time=4998000, snd_mss=1448, bytes_acked=2**40,
    )  # fmt: skip
    row = read(reader, message(info, INET_DIAG_CONG=b"cubic\0"))
    assert (row["local"], row["peer"], row["state"]) == ("10.0.0.1:40000", "10.0.0.2:5201", "ESTAB")
    assert (row["algorithm"], row["ca_state"], row["recv_q"], row["send_q"]) == ("cubic", "Recovery", 7, 9000)
    assert (row["cwnd"], row["ssthresh"], row["rtt_ms"], row["rttvar_ms"], row["min_rtt_ms"]) == (
        18, 136, 14.997, 1.578, 0.002,
    )  # fmt: skip
    assert (row["delivery_bps"], row["pacing_bps"], row["app_limited"]) == (7076832, 4862808, 1)
    assert (row["retransmits"], row["busy_ms"], row["mss"], row["bytes_acked"]) == (267, 4998.0, 1448, 2**40)
    assert row["own"] is None


def test_what_the_kernel_does_not_know_is_none(reader):
    """No loss yet, no round trip yet, no pacing: none of them is a number."""
    row = read(reader, message(packed(snd_ssthresh=0x7FFFFFFF, min_rtt=2**32 - 1, pacing_rate=2**64 - 1)))
    assert row["ssthresh"] is row["min_rtt_ms"] is row["pacing_bps"] is None
    assert row["cwnd"] == 0


def test_an_older_kernels_shorter_tcp_info(reader):
    """Linux 3.10 ends with total_retrans; what came later is unknown, not 0."""
    row = read(reader, message(packed(snd_cwnd=5, total_retrans=3)[:104]))
    assert (row["cwnd"], row["retransmits"]) == (5, 3)
    assert row["delivery_bps"] is row["bytes_acked"] is row["min_rtt_ms"] is None


def test_a_newer_kernels_longer_tcp_info(reader):
    """What we do not know is left out."""
    assert read(reader, message(packed(snd_cwnd=5) + b"\xff" * 16))["cwnd"] == 5


def test_a_socket_without_tcp_info(reader):
    """A request to connect that the kernel holds has none."""
    row = read(reader, message())
    assert row["recv_q"] == 7 and row["cwnd"] is row["own"] is row["ca_state"] is None


def test_what_bbr_dctcp_and_vegas_say(reader):
    """Gains are in 256ths, DCTCP's alpha in 1024ths; a bandwidth has 64 bits."""
    bbr = struct.pack("=5I", 1, 1, 2000, 739, 512)
    own = read(reader, message(packed(), INET_DIAG_BBRINFO=bbr))["own"]
    assert own == {"bw_bps": 8 * (2**32 + 1), "min_rtt_ms": 2.0, "pacing_gain": 2.886719, "cwnd_gain": 2.0}
    dctcp = struct.pack("=HHIII", 1, 0, 512, 30, 60)
    own = read(reader, message(packed(), INET_DIAG_DCTCPINFO=dctcp))["own"]
    assert own == {"enabled": 1, "ce_state": 0, "alpha": 0.5, "ab_ecn": 30, "ab_tot": 60}
    vegas = struct.pack("=4I", 1, 4, 2500, 0x7FFFFFFF)
    own = read(reader, message(packed(), INET_DIAG_VEGASINFO=vegas))["own"]
    assert own == {"enabled": 1, "rtt_count": 4, "rtt_ms": 2.5, "min_rtt_ms": None}


def test_ends_of_ipv6_and_of_ipv4_over_it():
    """What listens on both sees an IPv4 peer as ::ffff:10.0.0.1, whose own end says 10.0.0.1."""
    mapped = bytes(10) + b"\xff\xff" + socket.inet_aton("10.0.0.1")
    other = socket.inet_pton(socket.AF_INET6, "2001:db8::1")
    identity = struct.pack("!HH", 80, 81) + mapped + other + bytes(12)
    assert sock_diag.ends(socket.AF_INET6, identity) == ("10.0.0.1:80", "[2001:db8::1]:81")


def _diag_works():
    try:
        SocketReader().read()
    except OSError:
        return False
    return True


@pytest.mark.skipif(not _diag_works(), reason="this kernel does not tell of its sockets (inet_diag)")
def test_a_connection_of_this_machine_is_read_as_the_kernel_tells_it_to_its_owner():
    """Both ends are found by their addresses, and the numbers are those of getsockopt(TCP_INFO)."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        with socket.create_connection(("127.0.0.1", port)) as client, server.accept()[0] as accepted:
            client.sendall(b"x" * 100_000)
            assert accepted.recv(100_000, socket.MSG_WAITALL) == b"x" * 100_000
            rows = [dict(zip(FIELDS, row, strict=True)) for row in SocketReader([port]).read()]
            data = client.getsockopt(socket.IPPROTO_TCP, TCP_INFO, 512)
            mine = "{}:{}".format(*client.getsockname())
            ours = next(row for row in rows if row["local"] == mine)
            theirs = next(row for row in rows if row["peer"] == mine)
            assert len(rows) == 2 and ours["peer"] == theirs["local"] == f"127.0.0.1:{port}"
    info = struct.Struct("=" + "".join(kind for _, kind in sock_diag.TCP_INFO))
    told = dict(
        zip(
            (name for name, _ in sock_diag.TCP_INFO),
            info.unpack(data.ljust(info.size, b"\0")[: info.size]),
            strict=True,
        )
    )
    assert (ours["cwnd"], ours["rtt_ms"], ours["mss"]) == (told["snd_cwnd"], told["rtt"] / 1000, told["snd_mss"])
    assert ours["bytes_acked"] in (100_000, 100_001) and theirs["bytes_received"] == 100_000
    assert ours["delivery_bps"] == 8 * told["delivery_rate"] and ours["segs_in"] == told["segs_in"]
