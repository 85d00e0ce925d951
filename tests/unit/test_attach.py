# SPDX-License-Identifier: BSD-3-Clause
"""Terminals for other programs: frames that are none, and clients that leave while theirs is being opened."""

import threading
import time
from concurrent.futures import Future

import pytest

from linklab.terminal.attach_server import AttachServer


class Link:
    """An agent that opens terminals when it is told to."""

    ended = None

    def __init__(self):
        self.handlers, self.sent, self.may_open, self.asked = {}, [], threading.Event(), threading.Event()

    def on(self, event, handler):
        """Keep it."""
        self.handlers[event] = handler

    def send(self, op, **fields):
        """Note it."""
        self.sent.append((op, fields))
        return Future()

    def request(self, op, *, deadline_s, what, **fields):
        """The name of a terminal, once it may have one."""
        self.asked.set()
        assert self.may_open.wait(5)
        return {"terminal": "t1"}


@pytest.fixture
def link():
    """The agent's side."""
    return Link()


@pytest.fixture
def server(link):
    """A server of h1's terminals that listens on no socket."""
    return AttachServer(link, ["h1"], "Lab 8")


OPEN = {"op": "open", "node": "h1", "rows": 24, "columns": 80, "term": "xterm"}


def event(connection):
    """The next event."""
    connection.stream.settimeout(5)
    return connection.receive()[0]


def events(connection, count):
    """The next events; several may come in one piece."""
    connection.stream.settimeout(5)
    found = []
    while len(found) < count:
        found += connection.receive()
    return found


def until(done):
    """Wait for it."""
    deadline = time.monotonic() + 5
    while not done():
        assert time.monotonic() < deadline
        time.sleep(0.01)


@pytest.mark.filterwarnings("error::pytest.PytestUnhandledThreadExceptionWarning")
@pytest.mark.parametrize(
    ("frame", "says"),
    [
        ([], "a frame that is no object"),
        ({"op": "open"}, 'a frame "open" whose "node" is missing'),
        (OPEN | {"rows": "24"}, 'a frame "open" whose "rows" is \'24\''),
        (OPEN | {"rows": 10**6}, 'a frame "open" whose "rows" is 1000000'),
        (OPEN | {"node": None}, 'a frame "open" whose "node" is None'),
        ({"op": "clock"}, 'a frame "clock" whose "words" is missing'),
        ({"op": "clock", "words": "pause"}, 'a frame "clock" whose "words" is \'pause\''),
    ],
)
def test_a_frame_that_is_none_is_answered_by_an_error(server, frame, says):
    """And the connection ends; regression: a traceback in the terminal of whoever holds the network."""
    connection = server.connect()
    connection.send(frame)
    assert event(connection) == {"event": "error", "text": says, "kind": "engine"}
    assert connection.receive() is None
    until(lambda: not server._clients)


@pytest.mark.parametrize("fields", [{"data": 3}, {}])
def test_input_that_is_none_never_reaches_the_agent(server, link, fields):
    """An agent that failed on it would end the network."""
    link.may_open.set()
    connection = server.connect()
    connection.send(OPEN)
    assert event(connection) == {"event": "opened"}
    connection.send({"op": "input", **fields})
    assert event(connection)["event"] == "error"
    until(lambda: link.sent == [("hangup", {"terminal": "t1"})])


def test_a_client_that_leaves_while_its_terminal_opens_leaves_nothing(server, link):
    """What such a terminal shows is dropped; regression: it was kept for ever."""
    connection = server.connect()
    connection.send(OPEN)
    assert link.asked.wait(5)
    connection.close()
    until(lambda: not server._clients)
    link.handlers["data"]({"event": "data", "terminal": "t1", "data": "eA=="})
    link.may_open.set()
    until(lambda: link.sent)
    assert link.sent == [("hangup", {"terminal": "t1"})]
    link.handlers["data"]({"event": "data", "terminal": "t1", "data": "eA=="})
    link.handlers["closed"]({"event": "closed", "terminal": "t1", "status": 0})
    assert (server._early, server._owners) == ({}, {})


def test_what_a_terminal_showed_before_it_was_known_comes_first(server, link):
    """Nothing is lost between the agent's answer and the client."""
    connection = server.connect()
    connection.send(OPEN)
    assert link.asked.wait(5)
    link.handlers["data"]({"event": "data", "terminal": "t1", "data": "eA=="})
    link.may_open.set()
    assert events(connection, 2) == [{"event": "opened"}, {"event": "data", "data": "eA=="}]
