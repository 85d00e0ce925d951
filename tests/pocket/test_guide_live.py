# SPDX-License-Identifier: BSD-3-Clause
"""The guide of a running network: what is typed in its terminals, judged by what the kernel says afterwards."""

import base64
import fcntl
import time
from functools import partial
from pathlib import Path

import pytest
from pockets import needs_pocket

from linklab.engine.api import Clock
from linklab.engine.pocket import PocketEngine
from linklab.guide.progress import INSIDE
from linklab.guide.session import GuideSession, read_steps
from linklab.guide.status import GuideStatus
from linklab.lab.model import find_lab, load_lab
from linklab.terminal.attach_server import AttachServer
from linklab.terminal.clock import ClockWords

pytestmark = needs_pocket

ROOT = Path(__file__).parents[2]
DONE, DIFFERENTLY, WRONG, OPEN = GuideStatus.DONE, GuideStatus.DIFFERENTLY, GuideStatus.WRONG, GuideStatus.OPEN


class Desk:
    """A running lab with its guide, and terminals to type into."""

    def __init__(self, session, attach):
        self.session, self.attach, self.terminals = session, attach, {}

    def types(self, node, text, until=r"root@"):
        """Type a line into a node's terminal and wait for the prompt; what it showed."""
        if node not in self.terminals:
            connection = self.attach.connect()
            connection.send({"op": "open", "node": node, "rows": 24, "columns": 200, "term": "xterm"})
            self.terminals[node] = connection
            self.shown(node, "root@")
        data = base64.b64encode(f"{text}\n".encode()).decode()
        self.terminals[node].send({"op": "input", "data": data})
        return self.shown(node, until, after=text)

    def shown(self, node, until, after=""):
        """What a terminal shows until its prompt is back."""
        seen, end_s = "", time.monotonic() + 60
        while time.monotonic() < end_s:
            for message in self.terminals[node].receive(1.0) or []:
                assert message["event"] != "error", message
                if message["event"] == "data":
                    seen += base64.b64decode(message["data"]).decode("utf-8", "replace")
            if after in seen and until in seen[seen.find(after) + len(after) :]:
                return seen
        raise AssertionError(f"no prompt in {seen!r}")

    def status(self, step, wanted):
        """The state of a step, once it is as wanted."""
        end_s = time.monotonic() + 20
        while time.monotonic() < end_s:
            state = next(one for one in self.session.steps() if one.id == step)
            if state.status is wanted:
                return state
            time.sleep(0.1)
        raise AssertionError(f"{step} is {state.status}: {state.story}")


@pytest.fixture
def desk(tmp_path, monkeypatch):
    """Lab 3 on the paced clock, as fast as it goes."""
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path / "run"))
    (tmp_path / "run").mkdir(mode=0o700)
    work = tmp_path / "work"
    work.mkdir()
    lab = load_lab(find_lab("3", ROOT))
    with PocketEngine().start(lab.load_topology(), workdir=work, clock=Clock.PACED) as network:
        network.paced.set_speed(float("inf"))
        session = GuideSession(lab, work)
        with (
            AttachServer(network.link, network.nodes, "Lab 3", partial(ClockWords, network.paced), work) as attach,
            session.collecting(network, attach, "Lab 3.mn"),
        ):
            yield Desk(session, attach)


def test_a_lab_is_followed_in_its_terminals(desk):
    """Wrong, mended, by other words, by a script, undone; what is seen is kept and read again."""
    assert desk.status("step-1", DONE)
    desk.types("h1", "ping -c 5 10.0.0.2")
    desk.status("unshaped", DONE)
    assert desk.status("step-2", OPEN), "h2 has no terminal yet"
    desk.types("h1", "ifconfig")
    desk.status("ifconfig-h1", DONE)
    desk.types("h2", "ip addr")
    desk.status("ifconfig-h2", DIFFERENTLY)
    desk.status("step-2", DONE)

    desk.types("h1", "tc qdisc add dev h1-eth0 root netem delay 10ms")
    assert "wanted is netem delay 100ms" in desk.status("delay-h1", WRONG).story
    desk.types("h1", "printf 'tc qdisc replace dev h1-eth0 root netem delay 0.1s' > mine.sh; sh mine.sh")
    desk.status("delay-h1", DONE)
    desk.types("h1", "tc qdisc show dev h1-eth0")
    desk.status("show", DONE)

    desk.types("h2", "tc qdisc add dev h1-eth0 root netem delay 100ms")
    assert "Cannot find device" in desk.status("delay-h2", WRONG).story
    desk.types("h1", "tc qdisc del dev h1-eth0 root")
    assert "undone" in desk.status("delay-h1", OPEN).story
    desk.types("h1", "tc qdisc add dev h1-eth0 root netem delay 100ms")
    desk.status("delay-h1", DONE)
    desk.types("h1", "ping -c 5 10.0.0.2")
    desk.status("one-side", DONE)

    told = desk.types("h1", "linklab step --check; echo status $?")
    assert "delay-h2" in told and "Cannot find device" in told and "status 1" in told
    assert read_steps(desk.session.folder)["next"] == "delay-h2"
    again = GuideSession(desk.session.lab, desk.session.folder)
    assert [one.status for one in again.steps()] == [one.status for one in desk.session.steps()]


def test_a_hint_that_is_asked_for_inside_is_taken_in(desk):
    """A line that a program inside added could overwrite one of the session's, whose lock does not reach it."""
    progress = desk.session.progress
    with progress.path.open("rb") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        lock = "import fcntl; fcntl.flock(open('/lab/.linklab/progress.jsonl'), fcntl.LOCK_EX | fcntl.LOCK_NB)"
        shown = desk.types("h1", f'python3 -c "{lock}"; echo status $?')
    assert "status 0" in shown, "when this fails, locks reach inside, and docs/architecture.md can say so"
    first, second = (desk.types("h1", "linklab step --hint") for _ in range(2))
    assert first.splitlines()[1:-1] != second.splitlines()[1:-1]
    wait_until(lambda: not list((progress.path.parent / INSIDE).iterdir()))
    assert [note["number"] for note in progress.notes("hint")] == [1, 2]
    assert progress.trouble() == ""


def wait_until(done):
    """Wait for what comes soon."""
    end_s = time.monotonic() + 20
    while not done():
        assert time.monotonic() < end_s
        time.sleep(0.1)


def test_lines_at_mininets_own_prompt_are_followed(own_network):
    """Lab 1 has no network of ours at first: `sudo mn`, and what is typed at its prompt, are steps too."""
    desk = own_network
    desk.types("client", "sudo mn", until="mininet> ")
    desk.types("client", "nodes", until="mininet> ")
    desk.status("nodes", DONE)
    desk.types("client", "h1 ping -c 5 10.0.0.2", until="mininet> ")
    desk.status("ping", DONE)
    desk.types("client", "exit")
    desk.status("exit", DONE)
    desk.status("mn", DONE)
    desk.types("client", "sudo mn -c")
    desk.status("clean", DONE)
    assert [one.id for one in desk.session.steps() if one.status is WRONG] == []


@pytest.fixture
def own_network(tmp_path, monkeypatch):
    """Lab 1, whose network the reader starts."""
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path / "run"))
    (tmp_path / "run").mkdir(mode=0o700)
    work = tmp_path / "work"
    work.mkdir()
    with PocketEngine().start(None, workdir=work, clock=Clock.PACED) as network:
        network.paced.set_speed(float("inf"))
        session = GuideSession(load_lab(find_lab("1", ROOT)), work)
        with (
            AttachServer(network.link, network.nodes, "Lab 1", partial(ClockWords, network.paced), work) as attach,
            session.collecting(network, attach),
        ):
            yield Desk(session, attach)
