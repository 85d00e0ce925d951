# SPDX-License-Identifier: BSD-3-Clause
"""Terminals for other programs: frames that are none, and clients that leave while theirs is being opened."""

import base64
import contextlib
import itertools
import socket
import threading
import time
from concurrent.futures import Future

import pytest

from linklab.errors import AgentError, Fault
from linklab.terminal import attach, attach_server, terminals
from linklab.terminal.attach_server import AttachServer


class Link:
    """An agent that opens terminals when it is told to, and does the rest at once, except while time stands."""

    ended = None

    def __init__(self):
        self.handlers, self.sent, self.opening = {}, [], []
        self.may_open, self.asked, self.stands = threading.Event(), threading.Event(), False
        self.names = (f"t{number}" for number in itertools.count(1))
        self.lock = threading.Lock()

    def on(self, event, handler):
        """Keep it."""
        self.handlers[event] = handler

    def send(self, op, **fields):
        """Note it; a terminal is opened now or when `opens` is called."""
        answer = Future()
        if op == "open":
            with self.lock:
                self.opening.append(answer)
            self.asked.set()
            if self.may_open.is_set():
                self.opens()
            return answer
        self.sent.append((op, fields))
        if not self.stands:
            answer.set_result({"ok": {}})
        return answer

    def opens(self):
        """Answer those who asked for a terminal, now and from now on."""
        self.may_open.set()
        with self.lock:
            asked, self.opening = self.opening, []
        for answer in asked:
            answer.set_result({"ok": {"terminal": next(self.names)}})

    def shows(self, terminal, data):
        """What the agent would send for output of a terminal."""
        text = base64.b64encode(data).decode()
        self.handlers["data"]({"event": "data", "terminal": terminal, "data": text})


class Clock:
    """A clock whose state the test says."""

    def __init__(self):
        self.now = {"now_s": 5.0, "speed": 1.0, "paused": False, "behind_s": 0.0, "until_ns": None}

    def state(self):
        """As ClockWords."""
        return self.now

    def obey(self, words, *, wait=False):
        """As ClockWords."""
        return f"clock {' '.join(words)}", 0


@pytest.fixture
def link():
    """The agent's side."""
    return Link()


@pytest.fixture
def clock():
    """The network's."""
    return Clock()


@pytest.fixture
def server(link, clock):
    """A server of h1's terminals that listens on no socket."""
    server = AttachServer(link, ["h1"], "Lab 8", lambda _: clock)
    yield server
    server.__exit__()


OPEN = {"op": "open", "node": "h1", "rows": 24, "columns": 80, "term": "xterm"}


def events(connection, count=1, within_s=5):
    """The next events; several may come in one piece."""
    deadline = time.monotonic() + within_s
    found = []
    while len(found) < count:
        assert time.monotonic() < deadline, found
        more = connection.receive(0.1)
        assert more is not None, found
        found += more
    return found


def event(connection):
    """The next event, where no more come with it."""
    (one,) = events(connection)
    return one


def opened(server, link, node="h1"):
    """A connection with an open terminal."""
    connection = server.connect()
    connection.send({**OPEN, "node": node})
    link.opens()
    assert event(connection)["event"] == "opened"
    return connection


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
    assert connection.receive(5) is None
    until(lambda: not server._clients)


@pytest.mark.parametrize("fields", [{"data": 3}, {}])
def test_input_that_is_none_never_reaches_the_agent(server, link, fields):
    """An agent that failed on it would end the network."""
    connection = opened(server, link)
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
    link.shows("t1", b"x")
    link.opens()
    until(lambda: link.sent)
    assert link.sent == [("hangup", {"terminal": "t1"})]
    link.shows("t1", b"x")
    link.handlers["closed"]({"event": "closed", "terminal": "t1", "status": 0})
    assert (server.terminals._early, server.terminals._takers) == ({}, {})


def test_what_a_terminal_showed_before_it_was_known_comes_first(server, link):
    """Nothing is lost between the agent's answer and the client."""
    connection = server.connect()
    connection.send(OPEN)
    assert link.asked.wait(5)
    link.shows("t1", b"x")
    link.opens()
    assert events(connection, 2) == [{"event": "opened", "name": "t1"}, {"event": "data", "data": "eA=="}]


class Yielding:
    """A lock after whose release everybody else has time to do what was decided under it."""

    def __init__(self):
        self.lock = threading.Lock()

    def __enter__(self):
        self.lock.acquire()

    def __exit__(self, *_):
        self.lock.release()
        time.sleep(0.02)


def test_the_mininet_cli_goes_to_one_of_those_who_open_it_at_once(server, link):
    """Regression: each looked whether it was open before any had said so, and both typed into the same shells."""
    server._lock = Yielding()
    link.may_open.set()
    several = [server.connect() for _ in range(6)]
    for connection in several:
        connection.send({**OPEN, "node": "mininet"})
    assert sorted(event(connection)["event"] for connection in several) == ["error"] * 5 + ["opened"]


def test_a_connection_has_one_terminal(server, link):
    """Regression: a second replaced the first, which nobody closed."""
    connection = opened(server, link)
    connection.send({**OPEN, "node": "client"})
    assert event(connection) == {
        "event": "error",
        "text": "client: this connection has a terminal on h1 already",
        "kind": "input",
    }


def test_a_stopped_client_delays_nobody_and_misses_nothing(server, link):
    """Regression: it held up all terminals for 10 s, and was then told that the network had ended."""
    stopped, other = opened(server, link), opened(server, link)
    began = time.monotonic()
    for _ in range(64):
        link.shows("t1", b"x" * 50_000)
    link.shows("t2", b"y")
    assert event(other) == {"event": "data", "data": "eQ=="}
    assert time.monotonic() - began < 5
    until(lambda: link.sent == [("flow", {"terminal": "t1", "on": False})])
    heard = events(stopped, 64)
    assert [len(base64.b64decode(message["data"])) for message in heard] == [50_000] * 64
    until(lambda: link.sent[1:] == [("flow", {"terminal": "t1", "on": True})])
    link.shows("t1", b"z")
    assert event(stopped) == {"event": "data", "data": "eg=="}


def test_typing_at_a_network_that_stands_does_not_keep_the_clock_from_being_set(server, link, monkeypatch):
    """Regression: when the agent's buffer was full the clock's orders waited behind the keys."""
    monkeypatch.setattr(attach_server, "MOST_UNTYPED_BYTES", 2**20)
    connection = opened(server, link)
    link.stands = True
    for _ in range(70):
        connection.send({"op": "input", "data": "eA==" * 4096})
    connection.send({"op": "clock", "words": ["resume"]})
    heard = events(connection, 7)
    left_out = "the network has not yet taken 1 MiB that were typed; this is left out"
    assert heard[:6] == [{"event": "answer", "text": left_out, "status": 1}] * 6
    assert heard[6] == {"event": "answer", "text": "clock resume", "status": 0}
    assert len(link.sent) == 64


def test_a_client_learns_how_much_of_its_input_was_taken(server, link):
    """So that a long file is not typed faster than the network reads it."""
    connection = opened(server, link)
    connection.send({"op": "input", "data": "eA=="})
    assert event(connection) == {"event": "typed", "bytes": 4}


def test_opening_ends_after_its_deadline_but_not_while_time_stands(server, link, clock, monkeypatch):
    """What opens after that is hung up; regression: the deadline was a day."""
    monkeypatch.setattr(terminals, "OPEN_DEADLINE_S", 0.2)
    monkeypatch.setattr(terminals, "LOOK_S", 0.02)
    clock.now = clock.now | {"paused": True}
    connection = server.connect()
    connection.send(OPEN)
    assert connection.receive(0.6) == []
    clock.now = clock.now | {"paused": False}
    assert event(connection) == {
        "event": "error",
        "text": "opening a terminal on h1 did not end within 0.2 s of wall time; the network may be overloaded: "
        "try again, or end it and start it anew",
        "kind": "engine",
    }
    link.shows("t1", b"late")
    link.opens()
    until(lambda: link.sent == [("hangup", {"terminal": "t1"})])
    assert (server.terminals._early, server.terminals._takers) == ({}, {})
    again = opened(server, link)
    assert again.receive(0.05) == []


def test_a_terminal_that_cannot_be_opened_says_whose_fault_that_is(link):
    """Regression: every refusal of the agent counted as a fault of ours."""
    asked = Future()
    asked.set_result({"error": "h9: no such node", "fault": "given"})
    link.send = lambda op, **fields: asked
    with pytest.raises(AgentError, match="no such node") as caught:
        terminals.Terminals(link).open(lambda: 1.0, node="h9")
    assert caught.value.fault is Fault.GIVEN


def test_a_network_that_is_just_ending_is_in_no_list(tmp_path, monkeypatch):
    """Regression: its last words were taken for its description, and `linklab attach` ended in a KeyError."""
    monkeypatch.setattr(attach, "folder", lambda: tmp_path)
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(tmp_path / "1.sock"))
    listener.listen()

    def end():
        while True:
            try:
                stream, _ = listener.accept()
            except OSError:
                return
            with contextlib.suppress(OSError):  # who only looks whether somebody answers does not listen
                attach.Connection(stream).send({"event": "error", "text": "the network has been ended", "kind": "end"})

    ending = threading.Thread(target=end, daemon=True)
    ending.start()
    try:
        assert attach.networks() == []
    finally:
        listener.shutdown(socket.SHUT_RDWR)
        ending.join(5)
        listener.close()


def test_the_end_is_told_to_all_and_awaits_no_one_for_long(server, link):
    """Also to those who have other things to read first, while there is time."""
    stopped, other = opened(server, link), opened(server, link)
    for _ in range(64):
        link.shows("t1", b"x" * 50_000)
    began = time.monotonic()
    server.__exit__()
    assert time.monotonic() - began < 3
    assert event(other) == {"event": "error", "text": "the network has been ended", "kind": "end"}
    assert other.receive(5) is None
    while (more := stopped.receive(5)) is not None:
        assert all(message["event"] == "data" for message in more)
