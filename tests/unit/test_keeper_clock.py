# SPDX-License-Identifier: BSD-3-Clause
"""The paced clock against a guest played by the test, by the messages of um_timetravel.h."""

import socket
import time

import pytest

from linklab.engine import keeper
from linklab.engine.keeper import ACK, FREE_UNTIL, GET, MESSAGE, REQUEST, RUN, START, WAIT, PacedClock

MS = 1_000_000


class Guest:
    """The kernel's side of the protocol."""

    def __init__(self, clock, path):
        self.clock = clock
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.socket.connect(str(path))
        clock.guest, _ = clock.listener.accept()
        self.seq = 0

    def say(self, op, ns=0):
        """Send a message and take its ACK; the time in it."""
        self.seq += 1
        self.socket.sendall(MESSAGE.pack(op, self.seq, ns))
        assert self.clock.receive()
        got, seq, answer = MESSAGE.unpack(self.socket.recv(MESSAGE.size, socket.MSG_WAITALL))
        assert (got, seq) == (ACK, self.seq)
        return answer

    def granted(self):
        """(free until, run) if the clock has granted time, else None."""
        self.socket.setblocking(False)
        try:
            data = self.socket.recv(2 * MESSAGE.size)
        except BlockingIOError:
            return None
        finally:
            self.socket.setblocking(True)
        (op1, _, free), (op2, _, run) = MESSAGE.iter_unpack(data)
        assert (op1, op2) == (FREE_UNTIL, RUN)
        return free, run

    def wait_until(self, ns):
        """Ask to sleep until `ns`."""
        self.say(REQUEST, ns)
        self.say(WAIT)


@pytest.fixture
def pair(tmp_path, monkeypatch):
    """A clock at 1x whose wall time the test moves, and a guest that has started."""
    now = [1000.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    monkeypatch.setattr(keeper.time, "monotonic", lambda: now[0])
    clock = PacedClock(tmp_path / "clock")
    guest = Guest(clock, tmp_path / "clock")
    guest.say(START)
    clock.set(speed=1.0)
    yield clock, guest, now
    guest.socket.close()
    clock.guest.close()
    clock.listener.close()


def test_a_request_is_granted_when_its_wall_time_has_come(pair):
    """At 1x, 30 ms of network time take 30 ms."""
    clock, guest, now = pair
    guest.wait_until(30 * MS)
    assert clock.timeout_s() == pytest.approx(0.030)
    now[0] += 0.029
    clock.grant_if_due()
    assert guest.granted() is None
    now[0] += 0.001
    clock.grant_if_due()
    assert guest.granted() == (40 * MS, 30 * MS)


def test_run_carries_exactly_the_requested_time(pair):
    """An earlier one would be a BUG() in the guest, however late we are."""
    clock, guest, now = pair
    guest.wait_until(7 * MS + 13)
    now[0] += 5
    clock.grant_if_due()
    assert guest.granted()[1] == 7 * MS + 13


def test_being_late_by_more_than_20_ms_slows_time_down(pair):
    """What was lost is counted and not made up for; a little is made up for."""
    clock, guest, now = pair
    guest.wait_until(10 * MS)
    now[0] += 0.010 + 0.015
    clock.grant_if_due()
    guest.granted()
    assert clock.behind_s == 0
    guest.wait_until(30 * MS)
    assert clock.timeout_s() == pytest.approx(0.005)
    now[0] += 0.005 + 0.100
    clock.grant_if_due()
    guest.granted()
    assert clock.behind_s == pytest.approx(0.100)
    guest.wait_until(60 * MS)
    assert clock.timeout_s() == pytest.approx(0.030)


def test_eight_times_as_fast(pair):
    """80 ms of network time take 10 ms at 8x, and the guest may run 80 ms ahead."""
    clock, guest, now = pair
    clock.set(speed=8.0)
    guest.wait_until(80 * MS)
    assert clock.timeout_s() == pytest.approx(0.010)
    now[0] += 0.010
    clock.grant_if_due()
    assert guest.granted() == (160 * MS, 80 * MS)


def test_paused_means_nothing_is_granted_and_going_on_starts_from_there(pair):
    """An hour of pause is no time at all."""
    clock, guest, now = pair
    guest.wait_until(50 * MS)
    now[0] += 0.020
    clock.set(paused=True)
    now[0] += 3600
    clock.grant_if_due()
    assert guest.granted() is None
    assert clock.timeout_s() is None
    clock.set(paused=False)
    assert clock.status()["now_ns"] == pytest.approx(20 * MS, abs=1000)
    assert clock.timeout_s() == pytest.approx(0.030)


def test_fast_forward_stops_at_its_time_and_takes_up_the_old_speed(pair):
    """Up to the target as fast as it goes, never beyond it without asking."""
    clock, guest, _ = pair
    clock.go_until(100 * MS, float("inf"))
    guest.wait_until(95 * MS)
    clock.grant_if_due()
    assert guest.granted() == (100 * MS, 95 * MS)
    guest.wait_until(101 * MS)
    clock.grant_if_due()
    assert clock.reached
    assert clock.status()["speed"] == 1.0
    assert clock.status()["now_ns"] == 100 * MS
    assert clock.timeout_s() == pytest.approx(0.001)


def test_a_step_ends_paused(pair):
    """Step by 10 ms from a pause: paused again after it."""
    clock, guest, now = pair
    clock.set(paused=True)
    clock.go_until(10 * MS, 1.0)
    guest.wait_until(12 * MS)
    now[0] += 1
    clock.grant_if_due()
    assert guest.granted() is None
    assert clock.paused
    assert clock.status()["now_ns"] == 10 * MS


def test_the_guest_may_ask_for_the_time(pair):
    """GET is answered with the time last granted."""
    clock, guest, now = pair
    guest.wait_until(5 * MS)
    now[0] += 0.005
    clock.grant_if_due()
    guest.granted()
    assert guest.say(GET) == 5 * MS


def test_the_end_of_the_guest_is_noticed(pair):
    """A closed socket is no message."""
    clock, guest, _ = pair
    guest.socket.close()
    assert clock.receive() is False


def test_a_guest_that_died_while_it_waited_is_no_failure_of_the_keeper(pair):
    """Time is granted to nobody; regression: a BrokenPipeError on the person's terminal."""
    clock, guest, now = pair
    guest.wait_until(5 * MS)
    guest.socket.close()
    now[0] += 1
    clock.grant_if_due()
    assert not clock.receive()


def test_a_guest_that_died_after_asking_is_noticed(pair):
    """Its message is read, the answer cannot be sent."""
    clock, guest, _ = pair
    guest.socket.sendall(2 * MESSAGE.pack(GET, 1, 0))
    guest.socket.close()
    assert not (clock.receive() and clock.receive())
