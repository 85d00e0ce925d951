# SPDX-License-Identifier: BSD-3-Clause
"""A student's way through an exercise: start, run, set_env.sh, check, submit; in real networks."""

import base64
import json
import threading
import time
from contextlib import contextmanager
from pathlib import Path

import pytest
from pockets import needs_pocket
from small_exercise import use_clone

from linklab import cli
from linklab.engine.api import Clock, Typed
from linklab.engine.pocket import PocketEngine
from linklab.exercise.bundle import read_bundle
from linklab.state.model import State
from linklab.terminal.attach_server import AttachServer
from linklab.terminal.clock import ClockWords
from linklab.topology import Topology

pytestmark = needs_pocket


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A started practice instance of the small exercise; sockets of our own, no display."""
    (tmp_path / "run").mkdir(mode=0o700)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path / "run"))
    monkeypatch.delenv("DISPLAY", raising=False)
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    use_clone(tmp_path / "clone", monkeypatch)
    monkeypatch.chdir(tmp_path)
    assert cli.main(["exercise", "start", "3"]) == 0
    return Path("exercise-3")


@contextmanager
def running(folder):
    """The folder's topology, held as `linklab shell` holds it; gives the network."""
    topology = Topology.load(folder / "Exercise 3.mn")
    with PocketEngine().start(topology, workdir=folder, clock=Clock.PACED) as network:
        clock = lambda on_change: ClockWords(network, on_change)  # noqa: E731 - short
        with AttachServer(network.link, network.nodes, "Exercise 3", clock, folder):
            yield network


def answer(folder, **answers):
    """Fill in answers.toml."""
    (folder / "answers.toml").write_text("".join(f"{name} = {json.dumps(text)}\n" for name, text in answers.items()))


def test_a_student_solves_and_hands_in(folder, capsys):
    """The running network is judged as it is: first not met, with the hint asked for; mended, met; then packed."""
    with running(folder) as network:
        network.run([Typed("client", "sudo ./set_env.sh")])
        capsys.readouterr()
        assert cli.main(["check", str(folder), "--hint", "3"]) == 1
        first = " ".join(capsys.readouterr().out.split())
        change = "tc qdisc change dev s1-eth2 parent 1: handle 2: tbf rate 100mbit burst 100000 limit 250000"
        (done,) = network.run([Typed("client", change)])
        assert done.exit_status == 0
        answer(folder, throughput="94 Mbps", winner="Reno", words="It holds.")
        assert cli.main(["check", str(folder)]) == 0
        second = capsys.readouterr().out
        (folder / "results").mkdir()
        (folder / "results/plot.pdf").write_bytes(b"%PDF")
        (folder / "run.json").write_text("{}")
        assert cli.main(["submit", str(folder)]) == 0
        packed = capsys.readouterr().out
    assert "Network 1 (Exercise 3), as it is set now, was measured as a copy." in first
    assert "expected at least 225 kB" in first
    assert "saw 30 kB" in first
    assert "how: tc qdisc change … limit 250000" in first
    assert "4 of 4 visible checks are met: 7 of 7 points." in second
    assert "One more, worth 2, is hidden" in second
    assert "`linklab submit` packs" in second
    assert "as it is set now, counts." in packed
    bundle = read_bundle(folder / "exercise3-practice.zip")
    assert bundle.notes == ()
    assert {"instance.json", "topology.mn", "state.json", "answers.toml"} <= set(bundle.files)
    assert {"results/plot.pdf", "results/run.json"} <= set(bundle.files)
    assert State.loads(bundle.text("state.json"), "state").dumps()


def test_a_paused_network_cannot_be_checked(folder, capsys):
    """The sentence says what to do; nothing waits."""
    with running(folder) as network:
        network.pause()
        assert cli.main(["check", str(folder)]) == 2
        network.resume()
    assert "is paused, so nothing in it can answer: let it go on" in capsys.readouterr().err


def test_before_set_env_sh_there_is_nothing_to_check(folder, capsys):
    """It judged the bare network, and blamed the student for a bottleneck that nobody had set."""
    with running(folder):
        assert cli.main(["check", str(folder)]) == 2
        assert (
            "in network 1 (Exercise 3) the environment is not set: s1-eth2 has no queueing discipline. "
            "Run set_env.sh first: sudo ./set_env.sh"
        ) in capsys.readouterr().err
        assert cli.main(["submit", str(folder)]) == 0
        assert "Note: the environment is not set" in capsys.readouterr().out


def test_submit_tries_work_sh_and_names_what_fails(folder, capsys):
    """It packed a script that did nothing without a word; the file is written all the same."""
    (folder / "work.sh").write_text("h1 sysctl -w net.ipv4.tcp_congestion_control=renoo\n")
    assert cli.main(["submit", str(folder)]) == 0
    said = capsys.readouterr().out
    assert "Tried here on a fresh network, not all of it worked:" in said
    assert "  work.sh, line 1: `h1 sysctl -w net.ipv4.tcp_congestion_control=renoo` failed with status " in said
    (folder / "work.sh").write_text("# later\n")
    assert cli.main(["submit", str(folder)]) == 0
    assert "There is no command in work.sh" in capsys.readouterr().out
    assert "It is of the practice instance of Exercise 3" in said


def test_without_a_network_work_sh_counts(folder, capsys):
    """Commands in its form for hosts and the Client's terminal; `--json` tells the hidden ones' number."""
    (folder / "work.sh").write_text(
        "tc qdisc change dev s1-eth2 parent 1: handle 2: tbf rate 100mbit burst 100000 limit 250000\n"
        "h1 sysctl -w net.ipv4.tcp_congestion_control=reno\n"
    )
    capsys.readouterr()
    assert cli.main(["check", str(folder), "--json"]) == 1
    report = json.loads(capsys.readouterr().out)
    assert {check["id"]: check["outcome"] for check in report["checks"]} == {
        "rate": "pass",
        "buffer": "pass",
        "throughput": "pass",
        "winner": "fail",
    }
    assert report["hidden"] == {"checks": 1, "points": 2.0}
    assert ["h1.cc", "cubic", "reno"] in report["changes"]
    assert cli.main(["submit", str(folder), "-o", "mine.zip"]) == 0
    said = capsys.readouterr().out
    assert "No network runs in this folder, so work.sh counts" in said
    assert "every line of it worked" in said
    assert "mine.zip: 5 files, " in said
    assert set(read_bundle(Path("mine.zip")).files) == {"instance.json", "topology.mn", "work.sh", "answers.toml"}


def test_what_was_typed_becomes_work_sh(folder, capsys):
    """With --repeat-recorded, where the network has ended; what set_env.sh undid is left out."""
    from linklab.terminal import attach  # noqa: PLC0415 - its sockets are the fixture's

    lines = [
        "tc qdisc change dev s1-eth2 parent 1: handle 2: tbf rate 100mbit burst 100000 limit 999999",
        "sudo ./set_env.sh",
        "tc qdisc change dev s1-eth2 parent 1: handle 2: tbf rate 100mbit burst 100000 limit 250000",
        "tc qdisc show dev s1-eth2",
    ]
    with running(folder) as network:
        network.run([Typed("client", "sudo ./set_env.sh")])
        connection = attach.connect(None)
        connection.send({"op": "open", "node": "client", "rows": 30, "columns": 200, "term": "dumb"})
        ended, deadline = threading.Event(), time.monotonic() + 60
        while not ended.is_set():
            assert time.monotonic() < deadline
            for message in connection.receive(1):
                if message["event"] == "data" and attach.data_of(message).endswith(b"root@client:~# "):
                    line = lines.pop(0) if lines else "exit"
                    data = base64.b64encode(f"{line}\n".encode()).decode()
                    connection.send({"op": "input", "data": data})
                if message["event"] == "closed":
                    ended.set()
        connection.close()
    capsys.readouterr()
    assert cli.main(["submit", str(folder)]) == 2
    assert "and there is no work.sh, so nothing that you set would be handed in" in capsys.readouterr().err
    assert cli.main(["submit", str(folder), "--repeat-recorded"]) == 0
    assert "was written from the recorded terminals" in capsys.readouterr().out
    script = (folder / "work.sh").read_text().splitlines()[2:]
    assert script == ["tc qdisc change dev s1-eth2 parent 1: handle 2: tbf rate 100mbit burst 100000 limit 250000"]
    bundle = read_bundle(folder / "exercise3-practice.zip")
    assert "limit 999999" in bundle.text("terminals/client.log")
    assert cli.main(["submit", str(folder), "--repeat-recorded"]) == 2
    assert "work.sh exists already" in capsys.readouterr().err
