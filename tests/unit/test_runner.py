# SPDX-License-Identifier: BSD-3-Clause
"""Replaying a lab on an engine that answers from a table: what is typed, what is left, what happens when it breaks."""

import json
import os
from base64 import b64decode
from pathlib import Path

import pytest
from scripted import ScriptedEngine

from linklab.base import installation
from linklab.engine import api
from linklab.errors import DeadlineError, EngineError, InputError, LabError, MissingError
from linklab.judge.verdict import Outcome
from linklab.lab.model import load_lab
from linklab.lab.reference import load_reference, problems
from linklab.lab.sections import chosen_steps
from linklab.run.compare import compare
from linklab.run.record import record
from linklab.run.report import write_report
from linklab.run.runner import run_folder, run_lab
from linklab.run.stage import RunSettings

CAPTURES = Path(__file__).parent.parent / "captures"
PING = (CAPTURES / "ping-20221126-plain.txt").read_text()
IPERF3 = (CAPTURES / "iperf3-3.12-tcp.json").read_text()

MANUAL = """\
## Setting up

Step. Add a delay.

```client id=delay setup
sudo tc qdisc add dev s1-eth1 root netem delay 20ms
```

## Measuring

Step. Start the server.

```h2 id=server background
iperf3 -s
```

Step. Go to a folder.

```h1
mkdir one && cd one
```

Step. Test and ping at the same time.

```h1 id=bulk together=both files=one/out.json
iperf3 -c 10.0.0.2 -J > out.json
```

```h2#2 id=probe together=both
ping -c 3 10.0.0.1
```

![Throughput](run:bulk/throughput)

{{bulk.iperf3.throughput.receiver}}

```h2 stop=server
```
"""

TOML = """\
number = 1
title = "T"
topology = "Lab 8.mn"

[[expect]]
step = "probe"
what = "ping.loss.fraction"
value = 0
why = "nothing drops"
"""


class Silent:
    """A narrator that keeps what it is told."""

    def __init__(self):
        self.told = []

    def begin(self, steps, network_s):
        """Note it."""
        self.told.append(([step.id for step in steps], network_s))

    def end(self, captures, network_s):
        """Nothing to note."""


def bulk(workdir):
    """iperf3 writes its report where h1 is."""
    (workdir / "one").mkdir()
    (workdir / "one" / "out.json").write_text(IPERF3)
    return ""


ANSWERS = {
    "iperf3 -c 10.0.0.2 -J > out.json": bulk,
    "ping -c 3 10.0.0.1": PING,
    "iperf3 -s": ("Server listening\n", 1),
}


@pytest.fixture
def lab(tmp_path):
    """A small lab on the topology of Lab 8."""
    return make_lab(tmp_path)


def make_lab(tmp_path, manual=MANUAL, toml=TOML):
    """A lab of that text."""
    folder = tmp_path / "labs" / "01-t"
    folder.mkdir(parents=True)
    (folder / "manual.md").write_text(manual)
    (folder / "lab.toml").write_text(toml)
    (tmp_path / "topologies").symlink_to(Path(__file__).parent.parent.parent / "topologies")
    return load_lab(folder)


def replay(lab, tmp_path, engine=None, **options):
    """Run it into tmp_path/run."""
    engine = engine or ScriptedEngine(ANSWERS)
    return run_lab(
        lab, engine, RunSettings(api.Clock.VIRTUAL, 3, "ideal"), tmp_path / "run", Silent(), **options
    ), engine


def test_every_step_is_typed_in_order(lab, tmp_path):
    """Background, together and stop reach the engine as they stand in the manual, on one network."""
    _, engine = replay(lab, tmp_path)
    assert engine.started == [("Lab 8", api.Clock.VIRTUAL, 3, "ideal")]
    assert engine.networks[0].typed == [
        [("client", "sudo tc qdisc add dev s1-eth1 root netem delay 20ms", api.Prompt())],
        [("h2", "iperf3 -s", api.Background())],
        [("h1", "mkdir one && cd one", api.Prompt())],
        [("h1", "iperf3 -c 10.0.0.2 -J > out.json", api.Prompt()), ("h2#2", "ping -c 3 10.0.0.1", api.Prompt())],
    ]
    assert engine.networks[0].closed


def test_a_whole_run_leaves_its_folder(lab, tmp_path):
    """run.json, the output of each step, the files of the terminals and the report; nothing says incomplete."""
    run, _ = replay(lab, tmp_path)
    write_report(run)
    data = json.loads((run.folder / "run.json").read_text())
    assert (data["lab"], data["seed"], data["clock"], data["profile"]) == (1, 3, "virtual", "ideal")
    assert data["environment"] == {"kernel": "scripted"}
    steps = {step["step"]: step for step in data["steps"]}
    assert steps["bulk"]["files"] == ["one/out.json"]
    assert steps["probe"]["files"] == []
    assert steps["bulk"]["scalars"]["iperf3.streams"] == {"value": 1.0, "unit": ""}
    assert steps["server"]["end_s"] == 4.0
    assert (run.folder / steps["server"]["output_file"]).read_text() == "Server listening\n"
    assert data["verdicts"][0] | {"message": ""} == {
        "step": "probe",
        "what": "ping.loss.fraction",
        "outcome": "pass",
        "measured": "0",
        "expected": "0",
        "series": "",
        "why": "nothing drops",
        "message": "",
        "steps": ["probe"],
    }
    assert not (run.folder / "incomplete.json").exists()
    assert "data:image/svg+xml" in (run.folder / "report.html").read_text()


def test_a_command_that_fails_ends_the_run_with_its_place(lab, tmp_path):
    """Another exit status than expected is an error that names manual, line and command; the run is not whole."""
    answers = ANSWERS | {"mkdir one && cd one": ("mkdir: cannot\n", 1)}
    engine = ScriptedEngine(answers)
    with pytest.raises(
        EngineError, match=r"manual.md:19: step step-3: 'mkdir one && cd one' in h1 ended with status 1"
    ):
        replay(lab, tmp_path, engine)
    assert engine.networks[0].closed
    assert not (tmp_path / "run" / "run.json").exists()
    note = json.loads((tmp_path / "run" / "incomplete.json").read_text())
    assert note["at"] == ["step-3"]
    assert "mkdir: cannot" in note["why"]


def test_a_run_says_who_is_at_it(lab, tmp_path):
    """For `linklab clean --runs`, which must know a run that SIGKILL ended from one that goes on."""

    def look(workdir):
        noted.append(json.loads((workdir.parent / "incomplete.json").read_text()))
        return ""

    noted = []
    replay(lab, tmp_path, ScriptedEngine(ANSWERS | {"mkdir one && cd one": look}))
    assert (noted[0]["why"], noted[0]["pid"]) == ("running", os.getpid())
    assert not (tmp_path / "run" / "incomplete.json").exists()


def test_ctrl_c_leaves_a_run_that_says_so(lab, tmp_path):
    """A run stopped by the person is marked as incomplete and its network is closed."""

    def stopped(workdir):
        raise KeyboardInterrupt

    engine = ScriptedEngine(ANSWERS | {"mkdir one && cd one": stopped})
    with pytest.raises(KeyboardInterrupt):
        replay(lab, tmp_path, engine)
    assert json.loads((tmp_path / "run" / "incomplete.json").read_text())["why"] == "stopped with Ctrl+C"
    assert engine.networks[0].closed


def test_a_full_disk_does_not_hide_the_first_error(lab, tmp_path, monkeypatch):
    """Regression: that incomplete.json could not be written was all that was told."""

    def full(path, data):
        raise OSError(28, "No space left on device", str(path))

    def broken(workdir):
        monkeypatch.setattr("linklab.run.runner.write_json", full)
        raise DeadlineError("mkdir did not end")

    with pytest.raises(DeadlineError, match="mkdir did not end"):
        replay(lab, tmp_path, ScriptedEngine(ANSWERS | {"mkdir one && cd one": broken}))


def test_a_folder_in_use_is_refused(lab, tmp_path):
    """No run is written over another."""
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "x").write_text("")
    with pytest.raises(InputError, match="this folder is in use"):
        replay(lab, tmp_path)


def test_runs_of_one_second_have_folders_of_their_own(lab, tmp_path, monkeypatch):
    """And one in which nothing began is taken away again; regression: the second ended with "in use"."""
    monkeypatch.setattr(installation, "runs_folder", lambda: tmp_path / "runs")
    settings = RunSettings(api.Clock.VIRTUAL, 3, "ideal")
    with run_folder(lab, settings) as first, run_folder(lab, settings) as second, run_folder(lab, settings) as third:
        assert len({first, second, third}) == 3
        run_lab(lab, ScriptedEngine(ANSWERS), settings, second, Silent())
        with pytest.raises(InputError, match="this folder is in use"):
            run_lab(lab, ScriptedEngine(ANSWERS), settings, second, Silent())
    assert [path.exists() for path in (first, second, third)] == [False, True, False]
    assert (second / "run.json").is_file()


def test_an_empty_folder_that_was_named_is_taken(lab, tmp_path):
    """Whoever made it beforehand wants the run in it."""
    (tmp_path / "run").mkdir()
    run, _ = replay(lab, tmp_path)
    assert (run.folder / "run.json").is_file()


def test_an_engine_that_cannot_start_leaves_no_folder(lab, tmp_path):
    """Regression: that the kernel is missing was found when the run's folder was there already."""

    class Unready(ScriptedEngine):
        def check(self):
            raise MissingError("the pocket kernel is not built")

    with pytest.raises(MissingError, match="the pocket kernel is not built"):
        replay(lab, tmp_path, Unready())
    assert not (tmp_path / "run").exists()


def test_a_file_in_place_of_the_folder_is_refused(lab, tmp_path):
    """As `--out FILE`; regression: NotADirectoryError."""
    (tmp_path / "run").write_text("")
    with pytest.raises(InputError, match="run: cannot be made: File exists"):
        replay(lab, tmp_path)


def test_a_network_that_no_longer_answers_is_closed(lab, tmp_path):
    """The first error is told and the network goes; regression: asking for the time failed too, and it stayed."""

    def broken(workdir):
        def no_answer():
            raise EngineError("asking for the time did not end")

        engine.networks[0].now_s = no_answer
        raise DeadlineError("mkdir did not end")

    engine = ScriptedEngine(ANSWERS | {"mkdir one && cd one": broken})
    with pytest.raises(DeadlineError, match="mkdir did not end"):
        replay(lab, tmp_path, engine)
    assert engine.networks[0].closed
    assert json.loads((tmp_path / "run" / "incomplete.json").read_text())["why"] == "mkdir did not end"


def test_one_section_is_replayed_after_the_settings_before_it(lab, tmp_path):
    """--section does the setup blocks before it and then its own steps."""
    assert [step.id for step in chosen_steps(lab.manual, "2")][:2] == ["delay", "server"]
    assert [step.id for step in chosen_steps(lab.manual, "1")] == ["delay"]
    run, _ = replay(lab, tmp_path, section="1")
    assert run.verdicts[0].outcome is Outcome.SKIPPED
    with pytest.raises(LabError, match='nothing to do in section "9"; there are steps in 1, 2'):
        chosen_steps(lab.manual, "9")


def test_the_editor_starts_and_stops_networks(tmp_path):
    """Where the manual has Run and Stop there is a network for each, and before them only the Client's terminal."""
    manual = """\
## A
```client
before
```
```editor
open "Lab 8.mn"
run
terminal h1
```
```h1
one
```
```editor
stop
open "Lab 14.mn"
run
```
```h3
two
```
"""
    toml = 'number = 1\ntitle = "T"\n'
    run, engine = replay(make_lab(tmp_path, manual, toml), tmp_path, ScriptedEngine())
    assert [name for name, *_ in engine.started] == [None, "Lab 8", "Lab 14"]
    assert [[typed[0][1] for typed in network.typed] for network in engine.networks] == [["before"], ["one"], ["two"]]
    assert all(network.closed for network in engine.networks)
    assert [step.end_s for step in run.steps.values()] == [1.0, 1.0, 2.0, 2.0, 3.0]


def test_a_file_is_written_through_the_terminal(tmp_path):
    """An edited file reaches the network as one command, whatever it holds."""
    manual = "## A\n```client id=edit file=/etc/x append\nit's $HOME\n```\n"
    lab = make_lab(tmp_path, manual, 'number = 1\ntitle = "T"\n')
    _, engine = replay(lab, tmp_path, ScriptedEngine())
    assert engine.networks[0].typed[0][0][1] == "echo aXQncyAkSE9NRQo= | base64 -d >> /etc/x"


@pytest.mark.parametrize("mode", ["", " append"])
def test_a_long_file_is_written_in_pieces(tmp_path, mode):
    """No typed line is longer than a terminal takes, and the pieces are the file; regression: it was not written."""
    text = "".join(f"line {number} of a long file\n" for number in range(400))
    lab = make_lab(tmp_path, f"## A\n```client id=edit file=/etc/x{mode}\n{text}```\n", 'number = 1\ntitle = "T"\n')
    run, engine = replay(lab, tmp_path, ScriptedEngine())
    typed = [actions[0][1] for actions in engine.networks[0].typed]
    assert max(map(len, typed)) < 4095
    assert b"".join(b64decode(line.split()[1]) for line in typed).decode() == text
    arrows = [line.split()[5] for line in typed]
    assert arrows == [">>" if mode else ">", *[">>"] * (len(typed) - 1)]
    assert run.steps["edit"].output == ""


def test_another_prompt_is_waited_for(tmp_path):
    """prompt=… waits for that prompt at the end of the output instead of the shell's."""
    manual = '## A\n```client prompt="mininet>"\nsudo mn\n```\n'
    _, engine = replay(make_lab(tmp_path, manual, 'number = 1\ntitle = "T"\n'), tmp_path, ScriptedEngine())
    assert engine.networks[0].typed[0][0][2] == api.Shows(r"(?:^|\n)mininet>\s*\Z")


def test_echo_and_prompt_are_no_output(tmp_path):
    """What a program with a prompt of its own echoes is not what it shows."""
    manual = '## A\n```client id=n prompt="mininet>"\nnodes\n```\n'
    engine = ScriptedEngine({"nodes": "nodes\navailable nodes are: \nh1 h2\nmininet> "})
    run, _ = replay(make_lab(tmp_path, manual, 'number = 1\ntitle = "T"\n'), tmp_path, engine)
    assert run.steps["n"].output == "available nodes are: \nh1 h2\n"


def test_echo_of_what_ends_a_program_is_no_output(tmp_path):
    """Leaving a program with a prompt of its own is typed there too, and echoed."""
    manual = '## A\n```client prompt="mininet>"\nsudo mn\n```\n```client id=e\nexit\n```\n```client id=f\nls\n```\n'
    engine = ScriptedEngine({"exit": "exit\n*** Done\n", "ls": "ls\n"})
    run, _ = replay(make_lab(tmp_path, manual, 'number = 1\ntitle = "T"\n'), tmp_path, engine)
    assert (run.steps["e"].output, run.steps["f"].output) == ("*** Done\n", "ls\n")


def test_stopping_at_another_prompt(tmp_path):
    """Ctrl+C to a command at a prompt of its own ends when that prompt is back."""
    manual = '## A\n```client for=4s prompt="mininet>"\nh1 ping h2\n```\n'
    _, engine = replay(make_lab(tmp_path, manual, 'number = 1\ntitle = "T"\n'), tmp_path, ScriptedEngine())
    assert engine.networks[0].typed[0][0][2] == api.StopAfter(4.0, r"(?:^|\n)mininet>\s*\Z")


def test_a_run_becomes_the_reference_and_feeds_the_manual(lab, tmp_path):
    """Recording keeps outputs, numbers and the figures that the manual shows; then nothing is missing."""
    assert problems(lab)[0].endswith("manual.md:1: there is no reference; make it with linklab record 1")
    run, _ = replay(lab, tmp_path)
    assert "probe.ping.rtt.max: new" in "\n".join(record(lab, run))
    assert problems(lab) == []
    recorded = load_reference(lab).recorded
    assert recorded.outputs["probe"] == PING
    assert recorded.figures["bulk/throughput"].startswith(b"<?xml")
    assert recorded.scalars["bulk"]["iperf3.streams"] == (1.0, "")
    assert record(lab, run) == []


def test_a_bad_run_is_not_recorded(tmp_path):
    """A run that misses an expectation never becomes a reference."""
    lab = make_lab(tmp_path, toml=TOML.replace("value = 0", "value = 1"))
    run, _ = replay(lab, tmp_path)
    with pytest.raises(LabError, match="1 of 1 expectations are not met"):
        record(lab, run)


def test_changes_of_a_reference_are_said():
    """Numbers that moved noticeably, appeared or went away are named."""
    before = {"a": {"x": (1.0, "s"), "y": (2.0, "s"), "z": (3.0, "s")}}
    after = {"a": {"x": (1.5, "s"), "y": (2.001, "s"), "w": (4.0, "s")}}
    assert compare(before, after) == ["a.x: was 1 s, is 1.50 s", "a.z: was 3 s, is gone", "a.w: new, 4 s"]


def test_the_only_stream_of_a_test_is_not_told_twice():
    """Its numbers are those of the test; one of several streams, or one that differs, is told."""
    before = {"a": {"iperf3.rtt": (1.0, "s"), "iperf3.stream.1.rtt": (1.0, "s")}}
    after = {"a": {"iperf3.rtt": (2.0, "s"), "iperf3.stream.1.rtt": (2.0, "s")}}
    assert compare(before, after) == ["a.iperf3.rtt: was 1 s, is 2 s"]
    after["a"]["iperf3.stream.2.rtt"] = (3.0, "s")
    assert len(compare(before, after)) == 3
