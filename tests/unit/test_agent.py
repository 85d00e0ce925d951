# SPDX-License-Identifier: BSD-3-Clause
"""The agent's requests on shells of this machine, without a network: what is refused, and shells that end."""

import os
import signal
import struct
import subprocess
import sys
import time

import pytest

pytest.importorskip("mininet")

from linklab.agent.agent import Agent
from linklab.agent.open_vswitch import BuildError
from linklab.agent.terminal import RC

PROMPT = {"kind": "prompt"}


class Served(Agent):
    """An agent whose terminals are shells in the root namespace, and whose answers are kept."""

    def __init__(self, tmp_path):
        super().__init__(-1, stops_time=False, waits_for_us=False)
        (tmp_path / "rc").write_text(RC)
        self.env = {"PATH": os.environ["PATH"], "LINKLAB_RC": str(tmp_path / "rc"), "TERM": "dumb"}
        self.answers = []

    def _send(self, message):
        if "id" in message:
            self.answers.append(message)

    def _namespace(self, base):
        return []

    def ask(self, op, **fields):
        """One request and its answer."""
        self.answers.clear()
        self._handle({"id": 1, "op": op, **fields})
        return self.answer()

    def answer(self):
        """Serve until there is one."""
        deadline = time.monotonic() + 10
        while not self.answers:
            assert time.monotonic() < deadline
            for key, _ in self.selector.select(0.1):
                key.data()
            self._advance()
        return self.answers[0]

    def run(self, *typed, finish=PROMPT, within_s=0.0):
        """Type (terminal, text) pairs together."""
        actions = [{"terminal": t, "text": text, "finish": finish} for t, text in typed]
        return self.ask("run", actions=actions, within_s=within_s)


@pytest.fixture
def agent(tmp_path, monkeypatch):
    """An agent whose shells are ended afterwards."""
    monkeypatch.setattr("linklab.agent.agent.WORK", str(tmp_path))
    agent = Served(tmp_path)
    yield agent
    for terminal in agent.terminals.values():
        os.close(terminal.master)
        os.kill(terminal.pid, signal.SIGKILL)
        os.waitpid(terminal.pid, 0)


def test_a_shell_that_dies_at_a_command_is_an_error(agent):
    """It names the signal and what was typed, and the next command gets a new shell; regression: it was a success."""
    answer = agent.run(("h1", "echo begun; kill -9 $$"))
    assert answer["error"] == 'terminal h1: its shell was ended by signal 9 at "echo begun; kill -9 $$"'
    assert agent.run(("h1", "echo again"))["ok"]["done"][0]["output"] == "again\n"


def test_a_shell_that_ends_before_all_is_typed_is_an_error(agent):
    """`exit` asks for the end only as the last word."""
    answer = agent.run(("h1", "exit 3\necho never"))
    assert answer["error"] == 'terminal h1: its shell ended with status 3 at "exit 3 echo never"'


@pytest.mark.parametrize("text", ["exit", "exit 3", "true; exit"])
def test_a_shell_that_is_told_to_end_is_none(agent, text):
    """What was typed asks for it."""
    assert agent.run(("h1", text))["ok"]["done"][0]["exit_status"] is None


def test_a_shell_that_dies_in_the_background_is_told_when_it_is_asked_for(agent):
    """`stop` says what became of it, not that nothing runs there."""
    agent.run(("h1", "kill -9 $$"), finish={"kind": "background"})
    deadline = time.monotonic() + 10
    while agent.terminals and time.monotonic() < deadline:
        for key, _ in agent.selector.select(0.1):
            key.data()
    assert "was ended by signal 9" in agent.ask("stop", terminal="h1")["error"]


def test_together_is_refused_as_a_whole(agent):
    """A line too long for one terminal leaves the other free; regression: its half had been typed and held it."""
    answer = agent.run(("h1", "sleep 60"), ("h2", "echo " + "x" * 5000))
    assert "a line of 5006 bytes cannot be typed" in answer["error"]
    assert agent.run(("h1", "echo free"))["ok"]["done"][0]["output"] == "free\n"


def test_two_texts_for_one_terminal_are_refused(agent):
    """Neither is typed."""
    answer = agent.run(("h1", "sleep 60"), ("h1", "echo x"))
    assert answer["error"] == "terminal h1: two texts cannot be typed there at once; use a second terminal, h1#2"
    assert answer["fault"] == "given"
    assert agent.run(("h1", "echo free"))["ok"]["done"][0]["output"] == "free\n"


@pytest.mark.parametrize(
    ("error", "fault"),
    [
        (BuildError("h1: no such address"), "topology"),
        (BuildError("Open vSwitch is not installed", "machine"), "machine"),
        (OSError(28, "No space left on device"), "tool"),
        (KeyError("terminal"), "tool"),
    ],
)
def test_a_refusal_says_whose_fault_it_is(agent, error, fault):
    """Whoever asked decides by that and not by the words."""

    def refuse(_):
        raise error

    agent._op_refuse = refuse
    assert agent.ask("refuse")["fault"] == fault


def test_sudo_mn_imports_little_of_ours():
    """It starts quickly because it imports no module that only building networks needs."""
    code = "import sys, linklab.agent.mn; print(*sorted(m for m in sys.modules if m.startswith('linklab.')))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == [
        f"linklab.agent{name}" for name in ("", ".iperf", ".mn", ".open_vswitch", ".scripts")
    ]


def test_moments_of_commands_typed_together_are_drawn(monkeypatch):
    """Each is a share of the time that is given; without one, and for a single command, there is no delay."""
    with monkeypatch.context() as patched:
        patched.setattr("linklab.agent.agent.os.urandom", lambda size: struct.pack("<3Q", 3 << 62, 0, 1 << 63))
        drawn = Agent._when(0.4, ["h1", "h2", "h3"])
    assert drawn == [(0.0, "h2"), (0.2, "h3"), (pytest.approx(0.3), "h1")]
    assert Agent._when(0.0, ["h1", "h2", "h3"]) == [(0.0, "h1"), (0.0, "h2"), (0.0, "h3")]
    assert Agent._when(0.4, ["h1"]) == [(0.0, "h1")]


def test_commands_typed_together_begin_at_their_moments(agent, monkeypatch):
    """The second begins first and the first 0.2 s later; the answer keeps the order of the request."""
    monkeypatch.setattr(agent, "_when", lambda within_s, pairs: [(0.0, pairs[1]), (0.1, pairs[2]), (0.2, pairs[0])])
    done = agent.run(("h1", "true"), ("h2", "true"), ("h3", "true"), within_s=0.3)["ok"]["done"]
    assert [one["terminal"] for one in done] == ["h1", "h2", "h3"]
    h1, h2, h3 = (one["start_s"] for one in done)
    assert h3 - h2 >= 0.09
    assert h1 - h2 >= 0.19
