# SPDX-License-Identifier: BSD-3-Clause
"""An exercise on links by departure time the whole way: handed out, done in a network, checked, handed in, graded."""

import json
import shutil
from pathlib import Path

import pytest
from pockets import TOPOLOGY, needs_pocket
from test_exercise_commands import running

from linklab import cli
from linklab.base import installation
from linklab.engine.api import Typed
from linklab.engine.pocket import PocketEngine
from linklab.exercise.bundle import read_bundle
from linklab.exercise.report import Status
from linklab.grade.unit import grade
from linklab.state.model import State

pytestmark = needs_pocket

EXERCISE = """\
format = 1
kind = "exercise"
number = 3
title = "A satellite's link"
version = 1
minutes = 20
topology = "Exercise 3.mn"
after = "Lab 23"

[[parameter]]
name = "delay"
values = ["20 ms", "30 ms"]
series = "20 ms"

[[setting]]
on = "client"
lines = ["linklab link set h1 h2 rate 10mbit delay 1ms at s1:s1-eth2"]
says = "A link from h1 to h2 at s1-eth2: 10 Mbps"

[[experiment]]
id = "pinged"
base = "submitted"
ping = { from = "h1", to = "h2" }
seconds = 4
why = "Forty replies."

[[check]]
id = "delay"
title = "The way from h1 to h2 has the delay of the pass"
weight = 2
kind = "state"
fact = "h1>h2.delay"
value = "delay"
within = "1 %"
why = "The task gives it."
hints = ["Look at the link from h1 to h2.", "Its delay is not {delay}.", "linklab link change h1 h2 delay {delay:tc}"]

[[check]]
id = "rtt"
title = "Round trips take what the link adds"
weight = 3
kind = "measure"
metric = "pinged.ping.mean"
value = "delay"
within = "3 %"
why = "The way back adds nothing."
hints = ["Ping h2 from h1.", "The round trip is not {delay}.", "Change the link and ping again."]
"""
HANDOUT = "## Task\n\nGive the link from h1 to h2 a delay of {delay}.\n"


@pytest.fixture
def links_folder(tmp_path, monkeypatch):
    """A started practice instance, with sockets of our own."""
    (tmp_path / "run").mkdir(mode=0o700)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path / "run"))
    monkeypatch.delenv("DISPLAY", raising=False)
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    made = tmp_path / "clone/exercises/3-links"
    made.mkdir(parents=True)
    (made / "exercise.toml").write_text(EXERCISE)
    (made / "handout.md").write_text(HANDOUT)
    shutil.copy(TOPOLOGY, made / "Exercise 3.mn")
    monkeypatch.setattr(installation, "ROOT", tmp_path / "clone")
    monkeypatch.chdir(tmp_path)
    assert cli.main(["exercise", "start", "3"]) == 0
    return Path("exercise-3")


def test_a_link_by_departure_time_is_graded_as_it_was_set(links_folder, capsys):
    """What the student sets by `linklab link` is packed, built again by the grader, and measured there."""
    delay = json.loads((links_folder / "instance.json").read_text())["parameters"]["delay"]
    assert delay == "20 ms"
    with running(links_folder) as network:
        (done,) = network.run([Typed("client", "sudo ./set_env.sh")])
        assert "A link from h1 to h2 at s1-eth2: 10 Mbps" in done.output
        capsys.readouterr()
        assert cli.main(["check", str(links_folder), "--hint", "3"]) == 1
        before = " ".join(capsys.readouterr().out.split())
        (done,) = network.run([Typed("client", "linklab link change h1 h2 delay 20ms at s1-eth2")])
        assert done.exit_status == 0, done.output
        assert cli.main(["check", str(links_folder)]) == 0
        assert cli.main(["submit", str(links_folder), "-o", "handed-in.zip"]) == 0
        (done,) = network.run([Typed("client", "linklab link show")])
    assert "how: linklab link change h1 h2 delay 20ms" in before
    assert "5 of 5 points" in " ".join(capsys.readouterr().out.split())
    state = State.loads(read_bundle(Path("handed-in.zip")).text("state.json"), "state")
    (link,) = state.nodes["client"].interfaces["s1-eth2"].links
    assert done.output.strip() == "h1 → h2 at s1:s1-eth2: rate 10mbit delay 20ms"
    assert (link.pairs, link.does) == ((("10.0.0.1", "10.0.0.2"),), "rate 10mbit delay 20ms")
    report = grade(Path("handed-in.zip"), None, PocketEngine(), (1, 2))
    assert (report.status, report.score, report.max_score) == (Status.GRADED, 5, 5), report.dumps()
