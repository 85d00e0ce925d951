# SPDX-License-Identifier: BSD-3-Clause
"""Reading begins when somebody looks and ends when nobody does; what the network says becomes history."""

import base64
import socket
import time

import pytest

from linklab.errors import InputError
from linklab.live import LiveFeed, LiveHistory
from linklab.live import feed as feeds
from linklab.terminal.attach import Connection

NOBODY_S = 0.05


class Inside:
    """The other side of each connection: what was asked, and a way to say something."""

    def __init__(self):
        self.made = []

    def connect(self):
        """As `AttachServer.connect`."""
        ours, theirs = socket.socketpair()
        self.made.append(Connection(theirs))
        return Connection(ours)

    @property
    def last(self):
        """The newest connection."""
        return self.made[-1]

    def says(self, text, number=-1):
        """Some output."""
        self.made[number].send({"event": "data", "data": base64.b64encode(text.encode()).decode()})

    def hears(self, op, within_s=5.0):
        """The next message of this kind."""
        until_s = time.monotonic() + within_s
        while time.monotonic() < until_s:
            for message in self.last.receive(0.05) or []:
                if message["op"] == op:
                    return message
        raise AssertionError(f"no {op}")


@pytest.fixture
def inside(monkeypatch):
    """Nobody lingers long here."""
    monkeypatch.setattr(feeds, "LINGER_S", NOBODY_S)
    return Inside()


def becomes(what, within_s=5.0):
    """Wait until it is so."""
    until_s = time.monotonic() + within_s
    while not what():
        assert time.monotonic() < until_s
        time.sleep(0.005)


def test_nothing_is_asked_before_somebody_looks(inside):
    """Not even a connection."""
    LiveFeed(inside.connect, LiveHistory())
    assert inside.made == []


def test_readings_become_history_in_whatever_pieces_they_come(inside):
    """Also a letter of several bytes that is cut."""
    feed = LiveFeed(inside.connect, LiveHistory())
    with feed.looking() as history:
        becomes(lambda: inside.made)
        assert inside.hears("open")["apart"] == "live_readings"
        inside.says('{"t":1.0}\n{"t":')
        inside.says("1.5}\n")
        becomes(lambda: history.time_s == 1.5)
    feed.wait(5)
    assert inside.last.receive(1) is None  # hung up


def test_one_program_serves_all_who_look(inside):
    """And ends with the last, not with the first."""
    feed = LiveFeed(inside.connect, LiveHistory())
    with feed.looking():
        with feed.looking():
            becomes(lambda: inside.made)
        time.sleep(4 * NOBODY_S + feeds.LOOK_S)
        assert feed.is_reading
    feed.wait(5)
    assert len(inside.made) == 1


def test_who_looks_again_gets_new_readings_and_a_gap(inside):
    """The history goes on."""
    feed = LiveFeed(inside.connect, LiveHistory())
    for number, time_s in enumerate((1.0, 9.0)):
        with feed.looking() as history:
            becomes(lambda number=number: len(inside.made) == number + 1)
            inside.says(f'{{"t":{time_s},"r":[[{time_s},"h1","10.0.0.2",1.0]]}}\n')
            becomes(lambda time_s=time_s: history.time_s == time_s)
        feed.wait(5)
    assert len(inside.made) == 2


def test_an_order_to_the_clock_sets_the_period_inside(inside):
    """8x: readings 0.8 s apart."""
    with LiveFeed(inside.connect, LiveHistory()).looking():
        becomes(lambda: inside.made)
        inside.last.send({"event": "clock", "paused": False, "on_way": False, "speed": 8.0, "text": ""})
        assert base64.b64decode(inside.hears("input")["data"]) == b"period 0.8\n"


@pytest.mark.parametrize(
    ("event", "why"),
    [
        ({"event": "error", "text": "the network has been ended", "kind": "end"}, "the network has been ended"),
        ({"event": "closed", "status": 1}, "reading has ended: no python3 here"),
    ],
)
def test_why_readings_ended_is_said(inside, event, why):
    """And the next who looks tries again."""
    feed = LiveFeed(inside.connect, LiveHistory())
    with feed.looking():
        becomes(lambda: inside.made)
        inside.says("no python3 here\n")
        inside.last.send(event)
        becomes(lambda: not feed.is_reading)
        assert feed.why == why
    with feed.looking():
        becomes(lambda: len(inside.made) == 2)
        assert feed.why == ""


def test_a_network_that_is_not_there_is_said():
    """The words of whoever refused."""

    def refuse():
        raise InputError("no network is running")

    feed = LiveFeed(refuse, LiveHistory())
    with feed.looking():
        becomes(lambda: not feed.is_reading)
        assert feed.why == "no network is running"
