# SPDX-License-Identifier: BSD-3-Clause
"""What captures inside a network: which interfaces are meant, what is written, and what a slow reader costs."""

import errno

import pytest

from linklab.agent import capture
from linklab.agent.capture import CaptureError, Parts, RunningCapture, Tapped, located
from linklab.linux import pcapng
from linklab.linux.packet_socket import SeenPacket

THERE = {"h1": ["h1-eth0", "lo"], "s1": ["s1", "s1-eth1", "s1-eth2"], "client": ["lo"]}
REAL_NS = 1_700_000_000_000_000_000
FRAME = bytes(60)


class ScriptedSocket:
    """Gives packets that a test has put there."""

    has_ethernet = True

    def __init__(self):
        self.waiting, self.lost, self.name = [], 0, "h1-eth0"
        self.socket = self

    def receive(self):
        """The next, or what goes wrong."""
        if not self.waiting:
            return None
        first = self.waiting.pop(0)
        if isinstance(first, OSError):
            raise first
        return first

    def dropped(self):
        """What was lost since the last call."""
        lost, self.lost = self.lost, 0
        return lost

    def getsockname(self):
        """As of a packet socket; without a name when the interface is gone."""
        return (self.name,)


@pytest.fixture
def running(tmp_path, monkeypatch):
    """A capture of two interfaces at network time 2 s."""
    monkeypatch.setattr(capture.time, "monotonic_ns", lambda: 12_000_000_000)
    monkeypatch.setattr(capture.time, "clock_gettime_ns", lambda _: REAL_NS)
    monkeypatch.setattr(capture.time, "monotonic", lambda: 12.0)
    taps = [Tapped(number, place, ScriptedSocket()) for number, place in enumerate(("h1:h1-eth0", "s1:s1-eth1"))]
    whole = RunningCapture(taps, Parts(tmp_path), began_ns=10_000_000_000)
    whole.begin({"snaplen": 262_144})
    return whole


def seen(after_ns: int, *, outgoing: bool = False) -> SeenPacket:
    """A packet so long after network time 2 s."""
    return SeenPacket(REAL_NS + after_ns, FRAME, 60, outgoing)


def blocks_in(folder) -> list[tuple[int, bytes]]:
    """All that was written there."""
    reader = pcapng.BlockReader()
    return [block for part in sorted(folder.iterdir()) for block in reader.feed(part.read_bytes())]


def packets_in(folder) -> list[pcapng.CapturedPacket]:
    """The packets that were written there."""
    return [pcapng.read_packet(block) for kind, block in blocks_in(folder) if kind == pcapng.PACKET]


@pytest.mark.parametrize(
    ("place", "meant"),
    [
        ("h1:h1-eth0", ("h1", "h1-eth0")),
        ("h1:eth0", ("h1", "h1-eth0")),
        ("h1", ("h1", "h1-eth0")),
        ("h1:lo", ("h1", "lo")),
        ("s1:s1", ("s1", "s1")),
        ("s1:eth2", ("s1", "s1-eth2")),
    ],
)
def test_a_place_may_be_said_shortly(place, meant):
    """The interface without the node's name, the node alone where it has one interface."""
    assert located(place, THERE) == meant


@pytest.mark.parametrize(
    ("place", "said"),
    [
        ("h9", "h9: there is no node h9 with interfaces here; there are h1, s1, client"),
        ("h1:eth7", "h1:eth7: h1 has no interface eth7; there are h1:h1-eth0, h1:lo"),
        ("s1", "s1: s1 has several interfaces; there are s1:s1, s1:s1-eth1, s1:s1-eth2"),
    ],
)
def test_a_wrong_place_is_answered_with_what_there_is(place, said):
    """Nobody has to look for the right name elsewhere."""
    with pytest.raises(CaptureError) as error:
        located(place, THERE)
    assert str(error.value) == said


def test_times_are_network_time_and_in_order(running, tmp_path):
    """The kernel stamps the date; packets of several interfaces are written in the order of their times."""
    running.taps[0].socket.waiting = [seen(100), seen(300, outgoing=True)]
    running.taps[1].socket.waiting = [seen(200)]
    assert not running.take()
    found = [(packet.interface, packet.time_ns, packet.direction) for packet in packets_in(tmp_path)]
    assert found == [(0, 2_000_000_100, 1), (1, 2_000_000_200, 1), (0, 2_000_000_300, 2)]


def test_a_new_date_moves_no_packet(running, tmp_path, monkeypatch):
    """Somebody sets the clock of the machine: network time goes on."""
    monkeypatch.setattr(capture.time, "clock_gettime_ns", lambda _: REAL_NS + 3_600_000_000_000)
    running.taps[0].socket.waiting = [seen(3_600_000_000_100)]
    running.take()
    assert packets_in(tmp_path)[0].time_ns == 2_000_000_100


def test_it_ends_after_the_number_that_was_asked_for(running, tmp_path):
    """Not one more, though more wait."""
    running.most = 3
    running.taps[0].socket.waiting = [seen(n) for n in range(10)]
    assert running.take()
    assert len(packets_in(tmp_path)) == 3


def test_a_reader_that_takes_nothing_costs_packets_and_no_time(running, tmp_path, monkeypatch):
    """What nobody takes is bounded; beyond it packets are dropped and counted, until parts are taken."""
    monkeypatch.setattr(capture, "PART_BYTES", 1000)
    monkeypatch.setattr(capture, "MOST_PARTS", 3)
    sock = running.taps[0].socket
    for _ in range(20):
        sock.waiting = [seen(n) for n in range(10)]
        running.take()
    kept = len(packets_in(tmp_path))
    assert 20 < kept < 60
    running.count(always=True)
    counters = [pcapng.read_statistics(block) for kind, block in blocks_in(tmp_path) if kind == pcapng.STATISTICS]
    assert counters[0] == (0, 200, 200 - kept)
    for part in sorted(tmp_path.iterdir())[:-1]:
        part.unlink()
    sock.waiting = [seen(0)]
    running.take()
    assert running.taps[0].dropped == 200 - kept


def test_what_the_kernel_dropped_counts_as_received_and_dropped(running, tmp_path):
    """As ifrecv and ifdrop are meant."""
    running.taps[1].socket.lost = 5
    running.taps[1].socket.waiting = [seen(0)]
    running.take()
    running.count(always=True)
    counters = [pcapng.read_statistics(block) for kind, block in blocks_in(tmp_path) if kind == pcapng.STATISTICS]
    assert counters == [(0, 0, 0), (1, 6, 5)]


def test_an_interface_that_is_down_may_come_up_and_one_that_is_gone_is_said(running, tmp_path):
    """`ip link set h1-eth0 down` ends no capture; deleting the interface ends its part of one."""
    sock = running.taps[0].socket
    sock.waiting = [OSError(errno.ENETDOWN, "Network is down"), seen(1)]
    running.take()
    assert running.gone() == []
    assert len(packets_in(tmp_path)) == 1
    sock.waiting, sock.name = [OSError(errno.ENETDOWN, "Network is down")], ""
    running.take()
    assert [tap.place for tap in running.gone()] == ["h1:h1-eth0"]
    assert [tap.place for tap in running.taps] == ["s1:s1-eth1"]
