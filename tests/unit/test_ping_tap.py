# SPDX-License-Identifier: BSD-3-Clause
"""Echo requests and replies are paired as they pass; the filter in the kernel lets nothing else through."""

import socket
import struct

import pytest

from linklab.agent.ping_tap import SNAP_BYTES, WAIT_S, EchoPairs, _filter, echo_of

OWN, PEER = "10.0.0.1", "10.0.0.2"


def ipv4(*, protocol=1, kind=8, source=OWN, target=PEER, identifier=7, sequence=1, fragment=0, options=0):
    """A packet from its IPv4 header on."""
    head = struct.pack(
        "!BBHHHBBH4s4s",
        0x45 + options,
        0,
        84,
        0,
        fragment,
        64,
        protocol,
        0,
        socket.inet_aton(source),
        socket.inet_aton(target),
    )
    return head + bytes(4 * options) + struct.pack("!BBHHH", kind, 0, 0, identifier, sequence) + bytes(56)


def ipv6(kind=128, following=58):
    """The same of IPv6, from fd00::1 to fd00::2."""
    ends = socket.inet_pton(socket.AF_INET6, "fd00::1") + socket.inet_pton(socket.AF_INET6, "fd00::2")
    return struct.pack("!IHBB", 6 << 28, 64, following, 64) + ends + struct.pack("!BBHHH", kind, 0, 0, 7, 1) + bytes(56)


def passed(data, protocol):
    """What the kernel's filter says of a packet: bytes to keep, by the rules of classic BPF (bpf(4))."""
    lines = list(struct.iter_unpack("=HBBI", _filter()))
    at = accumulator = index = 0
    while True:
        code, true, false, operand = lines[at]
        at += 1
        match code:
            case 0x28:
                accumulator = protocol if operand == 0xFFFFF000 else int.from_bytes(data[operand : operand + 2], "big")
            case 0x30:
                accumulator = data[operand]
            case 0x50:
                accumulator = data[index + operand]
            case 0xB1:
                index = (data[operand] & 15) * 4
            case 0x15:
                at += true if accumulator == operand else false
            case 0x45:
                at += true if accumulator & operand else false
            case 0x06:
                return operand
            case _:
                raise AssertionError(f"an operation that is not expected: {code:#x}")


@pytest.mark.parametrize(
    ("data", "protocol", "passes"),
    [
        (ipv4(), 0x0800, True),
        (ipv4(kind=0), 0x0800, True),
        (ipv4(options=3), 0x0800, True),
        (ipv4(kind=3), 0x0800, False),
        (ipv4(protocol=6), 0x0800, False),
        (ipv4(protocol=17), 0x0800, False),
        (ipv4(fragment=100), 0x0800, False),
        (ipv4(fragment=0x2000), 0x0800, True),  # the first of several
        (ipv6(), 0x86DD, True),
        (ipv6(kind=129), 0x86DD, True),
        (ipv6(kind=135), 0x86DD, False),
        (ipv6(following=6), 0x86DD, False),
        (ipv4(), 0x0806, False),
    ],
)
def test_the_filter_passes_echoes_only(data, protocol, passes):
    """So that a flow of 10 Gbps does not wake the program that reads."""
    assert passed(data, protocol) == (SNAP_BYTES if passes else 0)


def test_a_reply_ends_its_request():
    """By address, identifier and sequence number; the stamps are the kernel's."""
    pairs = EchoPairs()
    pairs.addresses = frozenset({OWN})
    assert pairs.see(echo_of(ipv4(), outgoing=True), 10**9, outgoing=True) is None
    other = echo_of(ipv4(kind=0, source=PEER, target=OWN, sequence=2), outgoing=False)
    assert pairs.see(other, 10**9 + 1000, outgoing=False) is None
    reply = echo_of(ipv4(kind=0, source=PEER, target=OWN), outgoing=False)
    trip = pairs.see(reply, 10**9 + 40_500_000, outgoing=False)
    assert (trip.time_s, trip.peer, trip.rtt_ms) == (1.0405, PEER, 40.5)
    assert pairs.see(reply, 10**9 + 50_000_000, outgoing=False) is None  # a duplicate


def test_the_time_that_ping_wrote_counts_before_the_queue_of_its_own_interface():
    """Regression: with netem at the sender's interface, a request is seen 10 ms after it was sent."""
    pairs = EchoPairs()
    pairs.addresses = frozenset({OWN})
    date_ns, sent_ns = 1_704_067_200 * 10**9, 5_000_000_000
    written = struct.pack("@qq", 1_704_067_205, 0)

    def echo(kind, **ends):
        return echo_of(ipv4(kind=kind, **ends)[:28] + written, outgoing=kind == 8)

    pairs.see(echo(8), sent_ns + 10_000_000, outgoing=True, ahead_ns=date_ns)
    trip = pairs.see(echo(0, source=PEER, target=OWN), sent_ns + 20_000_000, outgoing=False, ahead_ns=date_ns)
    assert trip.rtt_ms == 20.0


def test_a_router_that_forwards_pings_is_not_their_source():
    """The request leaves it, but from another's address."""
    pairs = EchoPairs()
    pairs.addresses = frozenset({"10.0.9.9"})
    pairs.see(echo_of(ipv4(), outgoing=True), 0, outgoing=True)
    assert pairs.see(echo_of(ipv4(kind=0, source=PEER, target=OWN), outgoing=False), 1, outgoing=False) is None


def test_a_request_without_a_reply_is_lost_after_ten_seconds():
    """Once."""
    pairs = EchoPairs()
    pairs.addresses = frozenset({OWN})
    pairs.see(echo_of(ipv4(), outgoing=True), 0, outgoing=True)
    assert pairs.lost(WAIT_S - 1) == []
    (trip,) = pairs.lost(WAIT_S + 1)
    assert (trip.peer, trip.rtt_ms) == (PEER, None)
    assert pairs.lost(WAIT_S + 2) == []


def test_ipv6_has_its_own_types():
    """128 and 129."""
    echo = echo_of(ipv6(), outgoing=True)
    assert (echo.what, echo.own, echo.peer, echo.identifier) == ("request", "fd00::1", "fd00::2", 7)


@pytest.mark.parametrize("data", [b"", b"\x45", ipv4()[:24], ipv4(kind=3), ipv6()[:41], b"\x4f" + bytes(30)])
def test_what_is_cut_short_or_no_echo_is_none(data):
    """A snapshot may end anywhere."""
    assert echo_of(data, outgoing=False) is None
