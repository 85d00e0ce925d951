# SPDX-License-Identifier: BSD-3-Clause
"""A network that runs while a window goes on: it starts, it is metered, what fails is shown, it ends."""

import base64
import json
import threading
import time

import pytest
from scripted import ScriptedEngine

from linklab.editor import orders, running
from linklab.editor.runnable import Choice
from linklab.editor.running import Listener, Runner
from linklab.errors import EngineError
from linklab.topology import Host, Link, Switch, Topology

TWO = Topology(
    hosts=(Host("1", 0, 0, {"hostname": "h1", "nodeNum": 1}), Host("2", 0, 0, {"hostname": "h2", "nodeNum": 2})),
    switches=(Switch("1", 0, 0, {"hostname": "s1", "nodeNum": 1, "switchType": "legacySwitch"}),),
    links=(Link("h1", "s1"), Link("h2", "s1")),
)


class Person:
    """What the window hears, and a wait for it."""

    def __init__(self, monkeypatch, tmp_path, answers=None):
        monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
        self.engine, self.told = ScriptedEngine(answers), []
        monkeypatch.setattr(running, "load_engine", lambda name: self.engine)
        words = ("stage", "ready", "ended", "clock", "sample")
        self.runner = Runner(Listener(*[lambda what, word=word: self.told.append((word, what)) for word in words]))
        self.workdir = tmp_path

    def start(self, topology=TWO):
        """Start, and wait until it is ready."""
        self.runner.start(topology, Choice(clock="wall"), self.workdir, display=False)
        self.until("ready")
        return self.engine.networks[-1]

    def until(self, word):
        """Take what is posted until that is heard; what was said with it."""
        deadline = time.monotonic() + 10
        while word not in [heard for heard, _ in self.told]:
            assert time.monotonic() < deadline, f"no {word} in {self.told}"
            self.runner.take()
            time.sleep(0.01)
        return [what for heard, what in self.told if heard == word][-1]

    def ask(self, work):
        """Give an order."""
        self.runner.order(
            work, lambda what: self.told.append(("done", what)), lambda w: self.told.append(("failed", w))
        )


@pytest.fixture
def person(monkeypatch, tmp_path):
    """Somebody with a scripted engine; their network is ended."""
    made = Person(monkeypatch, tmp_path, {"tc qdisc show": "qdisc noqueue 0:", "false": ("no", 1)})
    yield made
    made.runner.stop()
    made.runner.wait(10)


def test_a_network_starts_and_ends(person):
    """Each stage is told, the network that is ready has no clock to set, and Stop closes it."""
    network = person.start()
    assert [what for word, what in person.told if word == "stage"][:2] == [
        "looking for the engine",
        "building the network",
    ]
    assert person.runner.session.clock is None
    assert person.runner.session.server.nodes == ["h1", "h2", "s1"]
    person.runner.stop()
    assert person.until("ended") is None
    assert network.closed


def test_the_meter_runs_as_a_module_of_the_package(person):
    """It is found by its name, not by where another program lies, and its lines come as samples."""
    network = person.start()
    deadline = time.monotonic() + 10
    while not (started := [each for _, each in network.link.asked if "argv" in each]) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert started[0]["argv"] == ["env", "PYTHONSAFEPATH=1", "python3", "-m", "linklab.agent.meter"]
    sample = {"t": 1.5, "i": {"s1-eth1": [1, 2, 3, 4]}}
    line = f"not JSON\r\n{json.dumps(sample)}\r\n{{"
    terminal = f"t{1 + network.link.asked.index(('open', started[0]))}"
    network.link.say("data", terminal=terminal, data=base64.b64encode(line.encode()).decode())
    assert person.until("sample") == sample
    assert [word for word, _ in person.told].count("sample") == 1


def test_what_an_order_finds_and_why_it_fails_reach_the_window(person):
    """In the window's thread: the words of the answer, and those of a LinklabError."""
    person.start()
    person.ask(lambda session: orders.type_lines(session, [("h1", "tc qdisc show")]))
    assert person.until("done") == "qdisc noqueue 0:"
    person.ask(lambda session: orders.type_lines(session, [("h1", "false")]))
    assert person.until("failed") == "false: no"
    person.runner.stop()
    person.until("ended")
    person.ask(lambda session: "never")
    assert person.told[-1] == ("failed", "no network is running")
    person.runner.state = "starting"
    person.ask(lambda session: "too early")
    assert person.told[-1] == ("failed", "the network is not ready yet")


def test_a_fault_in_an_order_is_raised_in_the_window(person):
    """It was lost: an exception that is no LinklabError ended in a future that nobody asked."""
    person.start()
    heard_in = []

    def work(session):
        heard_in.append(threading.current_thread())
        raise ZeroDivisionError("a fault of ours")

    person.ask(work)
    deadline = time.monotonic() + 10
    with pytest.raises(ZeroDivisionError, match="a fault of ours"):
        while time.monotonic() < deadline:
            person.runner.take()
            time.sleep(0.01)
    assert heard_in != [threading.current_thread()]
    person.ask(lambda session: "and the next one is heard")
    assert person.until("done") == "and the next one is heard"


def test_a_network_that_ends_by_itself_says_why(person):
    """The agent's last words, not a fault."""
    network = person.start()
    network.link.end("the pocket kernel has ended")
    assert person.until("ended") == "the pocket kernel has ended"


def test_what_keeps_a_network_from_starting_is_said(person, monkeypatch):
    """An engine's own sentence as it is; a fault of ours with its kind."""
    for error, said in ((EngineError("no kernel here"), "no kernel here"), (KeyError("odd"), "KeyError: 'odd'")):

        def broken(name, error=error):
            raise error

        monkeypatch.setattr(running, "load_engine", broken)
        person.told.clear()
        person.runner.start(TWO, Choice(clock="wall"), person.workdir, display=False)
        assert person.until("ended") == said
