# SPDX-License-Identifier: BSD-3-Clause
"""Questions of programs inside: which go to the host, which the agent answers, what becomes of the answer."""

import json
import socket

import pytest

from linklab.agent.asks import NO_CLOCK, Asks


class Asking:
    """One program that asks, and what the agent sent to the engine."""

    def __init__(self, **options):
        self.sent = []
        self.asks = Asks(self.sent.append, answers_itself=options.get("answers_itself", False))
        self.asks.host_answers = options.get("display", True)

    def ask(self, question):
        """Connect, ask, and leave the agent's side to it; our side."""
        ours, agents = socket.socketpair()
        ours.settimeout(2)
        ours.sendall(question if isinstance(question, bytes) else json.dumps(question).encode() + b"\n")
        self.asks.read(agents)
        return ours


def answer(ours):
    """What the program reads; None where the agent has hung up without a word."""
    line = ours.makefile().readline()
    return json.loads(line) if line else None


def test_a_question_goes_to_the_host_and_its_answer_back():
    """Each has a number; an answer to none is dropped."""
    asking = Asking()
    first = asking.ask({"argv": ["terminal", "h1"], "cwd": "/lab/one"})
    second = asking.ask({"argv": ["clock"]})
    assert asking.sent == [
        {"event": "ask", "ask": 1, "argv": ["terminal", "h1"], "cwd": "/lab/one"},
        {"event": "ask", "ask": 2, "argv": ["clock"], "cwd": "/lab"},
    ]
    asking.asks.answer({"ask": 2, "text": "paused", "status": 0})
    asking.asks.answer({"ask": 1, "text": "", "status": 1})
    asking.asks.answer({"ask": 1, "text": "again", "status": 1})
    assert answer(second) == {"text": "paused", "status": 0}
    assert answer(first) == {"text": "", "status": 1}


def test_an_answer_to_a_program_that_has_gone_is_dropped():
    """Ctrl+C while the window is open."""
    asking = Asking()
    asking.ask({"argv": ["open", "/lab/x"]}).close()
    asking.asks.answer({"ask": 1, "text": "done", "status": 0})
    assert asking.asks.open == {}


@pytest.mark.parametrize(
    ("argv", "text", "status"),
    [
        (
            ["clock", "pause"],
            NO_CLOCK,
            1,
        ),
        (["terminal", "h2"], "no display: use `linklab attach h2` in another terminal", 0),
        (["open", "/lab/x.pdf"], "no display: the file is /lab/x.pdf", 0),
        (["queue", "/lab/q.jsonl"], "no display: the file is /lab/q.jsonl", 1),
    ],
)
def test_where_nobody_watches_the_agent_answers(argv, text, status):
    """On a clock that stops for the engine; a live plot must know that nobody opened it."""
    asking = Asking(answers_itself=True)
    assert answer(asking.ask({"argv": argv})) == {"text": text, "status": status}
    assert asking.sent == []


def test_without_a_display_only_the_clock_goes_to_the_host():
    """The rest is answered here."""
    asking = Asking(display=False)
    asking.ask({"argv": ["clock"]})
    assert answer(asking.ask({"argv": ["open", "x"]}))["text"] == "no display: the file is x"
    assert [message["argv"] for message in asking.sent] == [["clock"]]


@pytest.mark.parametrize(
    "question", [b"", b"{", b"\xff\xfe", [], ["argv"], {}, {"argv": []}, {"argv": None}, {"argv": 3}]
)
def test_what_is_no_question_is_hung_up(question):
    """Regression: an empty argv ended the agent, and with it the network."""
    asking = Asking()
    ours, agents = socket.socketpair()
    if question == b"":
        ours.shutdown(socket.SHUT_WR)
    ours.sendall(question if isinstance(question, bytes) else json.dumps(question).encode()) if question != b"" else 0
    asking.asks.read(agents)
    ours.settimeout(2)
    assert (answer(ours), asking.sent) == (None, [])
