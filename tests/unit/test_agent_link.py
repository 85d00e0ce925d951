# SPDX-License-Identifier: BSD-3-Clause
"""Requests to an agent played by the test, over a socket pair."""

import contextlib
import socket
import threading
import time

import pytest

from linklab.agent.protocol import LENGTH, Decoder, encode
from linklab.engine import agent_link
from linklab.engine.agent_link import AgentLink, value_of
from linklab.errors import AgentError, DeadlineError, EngineError, Fault, OverusedError


@pytest.fixture
def pair():
    """A link, and the agent's side of it."""
    ours, agents = socket.socketpair()
    yield AgentLink(ours), agents
    agents.close()


def test_answers_reach_whoever_asked(pair):
    """In any order; the agent's refusal is an error with its words."""
    link, agent = pair
    link.begin()
    first, second = link.send("now"), link.send("now")
    agent.sendall(encode({"id": 2, "ok": {"n": 2}}) + encode({"id": 1, "ok": {"n": 1}}))
    assert (first.result(2), second.result(2)) == ({"id": 1, "ok": {"n": 1}}, {"id": 2, "ok": {"n": 2}})

    def refuse():
        asked = b""
        while b'"id":3' not in asked:
            asked += agent.recv(65536)
        agent.sendall(encode({"id": 3, "error": "terminal h9: no such node"}))

    threading.Thread(target=refuse, daemon=True).start()
    with pytest.raises(AgentError, match="terminal h9: no such node"):
        link.request("run", deadline_s=5, what="true in h9")


def test_whoever_asks_a_link_that_was_ended_is_told_by_the_error_of_its_end(pair):
    """As whoever waited for an answer is; an end that comes later changes nothing."""
    link, _ = pair
    waiting = link.send("now")
    link.end("it took too much", OverusedError)
    link.end("the network has been closed")
    with pytest.raises(OverusedError, match=r"^it took too much$"):
        waiting.result(1)
    with pytest.raises(OverusedError, match=r"^it took too much$"):
        link.send("now")


def test_what_reading_takes_is_known_before_a_message_is_whole(pair):
    """Regression: one that came byte by byte took 41 s, and counted for nothing until its end."""
    link, agent = pair
    link.begin()
    frame = encode({"id": 1, "ok": {}})
    for number in frame[:-1]:
        agent.sendall(bytes([number]))
        time.sleep(0.01)
    assert link.taken_s > 0


def test_the_words_of_a_refusal_are_a_text_whatever_they_came_as():
    """Regression: what a message put together of them could then be too deep to be shown."""
    with pytest.raises(AgentError) as caught:
        value_of({"id": 1, "error": ["no", 5]})
    assert caught.value.args == ("['no', 5]",)


@pytest.mark.parametrize(
    ("said", "fault"),
    [
        ({"fault": "topology"}, Fault.TOPOLOGY),
        ({"fault": "given"}, Fault.GIVEN),
        ({}, Fault.TOOL),
        ({"fault": "nobody"}, Fault.TOOL),
        ({"fault": ["topology"]}, Fault.TOOL),
    ],
)
def test_a_refusal_says_whose_fault_it_is(pair, said, fault):
    """As the agent calls it; a word that is none, as a stranger's program might send, is taken for a fault of ours."""
    link, agent = pair
    link.begin()

    def refuse():
        agent.recv(65536)
        agent.sendall(encode({"id": 1, "error": "it does not build", **said}))

    threading.Thread(target=refuse, daemon=True).start()
    with pytest.raises(AgentError, match="it does not build") as caught:
        link.request("build", deadline_s=5, what="building the network")
    assert caught.value.fault is fault


def test_no_answer_in_time_names_what_was_asked(pair):
    """The deadline is wall time."""
    link, _ = pair
    link.begin()
    with pytest.raises(DeadlineError, match=r"asking for the time did not end within 0\.01 s"):
        link.request("now", deadline_s=0.01, what="asking for the time")


def test_the_end_is_told_to_whoever_waits_and_asks(pair):
    """With its reason, once."""
    link, _ = pair
    link.begin()
    waiting = link.send("run")
    link.end("the pocket kernel has ended")
    link.end("something else")
    with pytest.raises(EngineError, match="the pocket kernel has ended"):
        waiting.result(2)
    with pytest.raises(EngineError, match="the pocket kernel has ended"):
        link.send("now")


def ends_at_once(link, agent, broken, why):
    """Whoever waits is told why, and the link's end is told once."""
    ended = []
    link.on("end", ended.append)
    link.begin()
    waiting = link.send("run")
    agent.sendall(broken)
    began = time.monotonic()
    with pytest.raises(EngineError, match=why):
        waiting.result(10)
    assert time.monotonic() - began < 5
    link._reader.join(2)
    assert ended == [{}]


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_what_cannot_be_handled_ends_the_link_at_once(pair):
    """A display that fails; regression: whoever waited did so until the deadline."""
    link, agent = pair
    link.on("output", lambda _: 1 / 0)
    ends_at_once(link, agent, encode({"event": "output", "text": "x"}), "could not be handled: ZeroDivisionError")


@pytest.mark.filterwarnings("error::pytest.PytestUnhandledThreadExceptionWarning")
@pytest.mark.parametrize(
    ("broken", "why"),
    [
        (b"\xff\xff\xff\xff", "a frame of 4294967295 bytes"),
        (LENGTH.pack(2) + b"\xff\xff", "'utf-8' codec can't decode"),
        (LENGTH.pack(2) + b"no", "Expecting value"),
        (LENGTH.pack(100_000) + b"[" * 100_000, "too many values within each other"),
        (LENGTH.pack(4) + b"null", "must be an event or an answer"),
        (encode({"event": ["output"]}), "must be an event or an answer"),
        (encode({"id": [1]}), "must be an event or an answer"),
        (encode({"ok": 1}), "must be an event or an answer"),
    ],
)
def test_what_cannot_be_read_ends_the_link_without_an_error_of_ours(pair, broken, why):
    """Regression: a traceback stood on an instructor's screen, and a student's program had brought it there."""
    ends_at_once(*pair, broken, f"^what came from the network cannot be read: .*{why}")


def test_an_answer_that_nobody_waits_for_any_more_is_still_due(pair):
    """Whoever ends the network then knows that the agent does not listen."""
    link, agent = pair
    link.begin()
    assert not link.busy
    with pytest.raises(DeadlineError):
        link.request("run", deadline_s=0.01, what="sleep 100 in h1")
    assert link.busy
    agent.sendall(encode({"id": 1, "ok": {}}))
    deadline = time.monotonic() + 2
    while link.busy and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not link.busy


class Busy:
    """An agent that reads a message, prints a lot before it answers, and reads no further until that has gone."""

    def __init__(self, agent):
        self.agent, self.decoder, self.read = agent, Decoder(), 0
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        """Answer whatever is asked, in its order, until the other side has gone."""
        told = encode({"event": "output", "text": "x" * 100_000})
        with contextlib.suppress(OSError):
            while data := self.agent.recv(65536):
                for message in self.decoder.feed(data):
                    self.agent.sendall(told * 5 + encode({"id": message["id"], "ok": {}}))
                    self.read += 1


def test_asking_and_answering_never_wait_for_each_other(pair):
    """Both buffers full; regression: the lock was held while a request waited for room, and the reader needed it."""
    link, agent = pair
    shown = []
    link.on("output", lambda message: shown.append(len(message["text"])))
    link.begin()
    Busy(agent)
    began = time.monotonic()
    asked = [link.send("input", data="y" * 100_000) for _ in range(40)]
    assert time.monotonic() - began < 2
    assert [future.result(20) for future in asked] == [{"id": number, "ok": {}} for number in range(1, 41)]
    assert shown == [100_000] * 200
    assert not link.busy


def test_an_agent_that_does_not_listen_holds_up_nobody(pair):
    """As while time is paused; regression: after 300 keys or so the terminal took no order, not even to end."""
    link, agent = pair
    link.begin()
    asked = [link.send("input", data="y" * 1000) for _ in range(2000)]
    decoder, heard = Decoder(), []
    while len(heard) < 2000:
        heard += decoder.feed(agent.recv(65536))
    assert [message["id"] for message in heard] == list(range(1, 2001))
    agent.sendall(b"".join(encode({"id": number, "ok": {}}) for number in range(1, 2001)))
    assert asked[-1].result(5) == {"id": 2000, "ok": {}}


def test_what_could_not_be_asked_is_not_waited_for(pair):
    """Regression: it stayed among what is due, so the network seemed busy for ever."""
    link, agent = pair
    agent.close()
    with pytest.raises(EngineError, match=r"the network has ended \(Broken pipe\)"):
        link.send("now")
    assert not link.busy


def test_the_end_without_a_reason_is_told_all_the_same(pair, monkeypatch):
    """Regression: where nobody said why, whoever waited did so until the deadline."""
    monkeypatch.setattr(agent_link, "REASON_WAIT_S", 0.05)
    link, agent = pair
    link.begin()
    waiting = link.send("run")
    agent.close()
    with pytest.raises(EngineError, match=r"^the network has ended$"):
        waiting.result(2)
    assert not link.busy


@pytest.mark.parametrize("began", [True, False])
def test_the_end_closes_the_socket(began):
    """The agent learns of it; regression: the socket stayed open until its objects were collected."""
    ours, agent = socket.socketpair()
    link = AgentLink(ours)
    if began:
        link.begin()
    link.end("the network has been closed")
    agent.settimeout(2)
    assert agent.recv(1) == b""
    deadline = time.monotonic() + 2
    while ours.fileno() >= 0 and time.monotonic() < deadline:
        time.sleep(0.01)
    assert ours.fileno() == -1
    agent.close()


@pytest.mark.filterwarnings("error::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_message_that_is_too_long_ends_the_link():
    """It is not read to its end: as JSON it may take 25 times its length of our memory."""
    ours, agent = socket.socketpair()
    link = AgentLink(ours, 100_000)
    heard = []
    link.on("said", heard.append)
    link.begin()
    agent.sendall(encode({"event": "said", "what": "x" * 90_000}))
    waiting = link.send("now")
    with contextlib.suppress(OSError):  # the link may have been closed
        agent.sendall(encode({"event": "said", "what": "y" * 300_000}))
    with pytest.raises(
        EngineError, match="what came from the network cannot be read: a frame of more than 100000 bytes"
    ):
        waiting.result(5)
    assert [each["what"][0] for each in heard] == ["x"]
    agent.close()


def test_a_request_waits_as_long_as_its_patience_says(pair):
    """Bit by bit, to the last one; regression: a busy machine ended lines of honest labs."""
    link, _ = pair
    asked = []
    link.patience = lambda deadline_s: asked.append(deadline_s) or iter([0.01, 0.02, 0.01])
    with pytest.raises(DeadlineError, match=r"^a line did not end within 0\.04 s$"):
        link.request("run", deadline_s=0.03, what="a line")
    assert asked == [0.03]
