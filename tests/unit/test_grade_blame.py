# SPDX-License-Identifier: BSD-3-Clause
"""Whose fault it is that something could not be graded, on networks that answer from a table; words decide nothing."""

import json
import shutil
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from graded import say_it_backwards
from scripted import ScriptedEngine
from small_exercise import TOPOLOGY, use_clone

from linklab.errors import AgentError, BootError, DeadlineError, EngineError, Fault, OverusedError, ShortageError
from linklab.exercise.bundle import Bundle, read_bundle, write_bundle
from linklab.exercise.instance import instance_text, practice_instance
from linklab.exercise.load import find_exercise, load_exercise
from linklab.exercise.model import Experiment
from linklab.exercise.report import Status
from linklab.exercise.wanted import with_facts
from linklab.grade import rebuild as rebuild_module
from linklab.grade import unit, worker
from linklab.grade.rebuild import Rebuilt, rebuild
from linklab.grade.rerun import Rerun, _give_up
from linklab.state.model import State
from linklab.topology import Topology

CAPTURES = Path(__file__).parents[1] / "captures"
STATE = with_facts(State.loads((CAPTURES / "node_state-6.1.0-tuned.json").read_text()), {"s1-eth2.rate": 100e6})
STATE_TEXT = STATE.dumps()
ANSWERS = 'throughput = "90 Mbps"\nwinner = "reno"\nwords = "Because it does."\n'


class Answers:
    """What the grader's own commands leave: the state, and what iperf3 wrote; `sets` ends what another state is set."""

    def __init__(self, iperf3, state, sets):
        self.iperf3, self.state, self.sets, self.ended = iperf3, state, sets, False

    def _set(self, folder):
        self.ended = self.sets is not None and "tcp_sack" in (folder / "restore-0.sh").read_text()
        if self.ended:
            raise self.sets
        return ""

    def get(self, text, default=None):
        """An answer by what is typed."""
        if self.ended:
            return self.sets
        if text.startswith("sh /lab/restore-0.sh"):
            return self._set
        if text == "the state" or "node_state" in text:
            return self.state
        if text.startswith("iperf3 -c") and isinstance(self.iperf3, Exception):
            return self.iperf3
        if text.startswith("iperf3 -c"):
            return lambda folder: shutil.copy(CAPTURES / self.iperf3, folder / "flow-0.json") and ""
        return default


class Engine(ScriptedEngine):
    """Its networks do not come up where `fails` says so: with an error that is made only then."""

    def __init__(self, iperf3="iperf3-3.12-tcp.json", state=STATE_TEXT, fails=None, sets=None):
        super().__init__()
        self.answers, self.fails = Answers(iperf3, state, sets), fails

    @contextmanager
    def start(self, *arguments, **options):
        """Start one, or not."""
        if self.fails is not None:
            raise self.fails()
        self.answers.ended = False
        with super().start(*arguments, **options) as network:
            yield network


def moved(state):
    """A state with an interface that the drawing has not."""
    data = json.loads(state)
    interfaces = data["nodes"]["h1"]["interfaces"]
    interfaces["h1-eth9"] = interfaces["h1-eth0"]
    return json.dumps(data)


def with_sack(state):
    """A state with another setting."""
    data = json.loads(state)
    data["nodes"]["h1"].setdefault("sysctls", {})["net.ipv4.tcp_sack"] = "0"
    return json.dumps(data)


def rewired(topology):
    """A drawing with a host at another switch."""
    data = json.loads(topology)
    (link,) = [link for link in data["links"] if {link["src"], link["dest"]} == {"h2", "s2"}]
    link["dest" if link["dest"] == "s2" else "src"] = "s1"
    return json.dumps(data)


CLASS = {
    "good": Engine(),
    "nothing got through": Engine(iperf3="iperf3-3.12-refused.json"),
    "iperf3 broke": Engine(iperf3="iperf3-3.12-sigkill.json"),
    "too expensive": Engine(iperf3=OverusedError("the network took more than 300 s of processor time")),
    "unreadable state": Engine(state="{}"),
    "no kernel": Engine(fails=lambda: BootError("the pocket kernel did not come up")),
    "no keeper": Engine(fails=lambda: EngineError("the pocket's keeper has gone")),
    "slow machine": Engine(fails=lambda: DeadlineError("building the network did not end within 120 s of wall time")),
    "no switch": Engine(fails=lambda: AgentError("Open vSwitch is not installed", fault=Fault.MACHINE)),
    "too large": Engine(fails=lambda: OverusedError("the network had more than 500 processes and was stopped")),
    "does not build": Engine(fails=lambda: AgentError("h1: no such node", fault=Fault.TOPOLOGY)),
    "not repeatable": Engine(),
    "too expensive to set": Engine(sets=OverusedError("the network took more than 300 s of processor time")),
    "rewired": Engine(),
    "damaged": Engine(),
    "no exercise": Engine(),
}

FULL = "pass pass pass pass pass"
MISSED = "pass pass fail pass pass"
UNMEASURED = "pass pass error pass pass"
MARKS = {
    "good": ("graded", 9.0, FULL),
    "nothing got through": ("graded", 6.0, MISSED),
    "iperf3 broke": ("graded", 6.0, UNMEASURED),
    "too expensive": ("graded", 6.0, UNMEASURED),
    "unreadable state": ("error", 0.0, ""),
    "no kernel": ("error", 0.0, ""),
    "no keeper": ("error", 0.0, ""),
    "slow machine": ("error", 0.0, ""),
    "no switch": ("error", 0.0, ""),
    "too large": ("ungradable", 0.0, ""),
    "does not build": ("ungradable", 0.0, ""),
    "not repeatable": ("graded", 3.0, "fail fail skipped pass pass"),
    "too expensive to set": ("graded", 3.0, "fail fail skipped pass pass"),
    "rewired": ("ungradable", 0.0, ""),
    "damaged": ("ungradable", 0.0, ""),
    "no exercise": ("ungradable", 0.0, ""),
}


@pytest.fixture
def handed_in(tmp_path, monkeypatch):
    """A class: each submission of CLASS in its file, and a clone with the exercise that it is of."""
    use_clone(tmp_path / "clone", monkeypatch)
    exercise = load_exercise(find_exercise("exercise3"))
    text = instance_text(exercise, practice_instance(exercise))
    whole = {"instance.json": text, "topology.mn": TOPOLOGY.read_text(), "answers.toml": ANSWERS}
    whole["state.json"] = STATE_TEXT
    for name in CLASS:
        changed = {
            "too expensive to set": {"state.json": with_sack(STATE_TEXT)},
            "not repeatable": {"state.json": moved(STATE_TEXT)},
            "rewired": {"topology.mn": rewired(TOPOLOGY.read_text())},
            "no exercise": {"instance.json": text.replace('"exercise3"', '"exercise77"')},
        }.get(name, {})
        files = {file: content.encode() for file, content in {**whole, **changed}.items()}
        write_bundle(tmp_path / f"{name}.zip", Bundle(exercise.id, "", files))
    (tmp_path / "damaged.zip").write_bytes((tmp_path / "damaged.zip").read_bytes()[:-99])
    return tmp_path


def marks(folder):
    """What came of each: status, points, and each check's outcome; and the notes."""
    found, notes = {}, {}
    for name, engine in CLASS.items():
        report = worker.graded(f"{__name__}:grade", folder / f"{name}.zip", None, {"engine": engine})
        outcomes = " ".join(check.outcome.value for check in report.checks)
        found[name] = (report.status.value, report.score, outcomes)
        notes[name] = report.notes
    return found, notes


def grade(bundle, course, *, engine):
    """As the process of a submission grades."""
    return unit.grade(bundle, course, engine, (1,))


def test_each_is_blamed_on_whose_fault_it_is(handed_in):
    """Points are lost only for what a submission did; what our tools or this machine did is an error."""
    found, notes = marks(handed_in)
    assert found == MARKS
    assert notes["damaged"] == ("The file is cut off; make it again with `linklab submit`, and upload the whole file",)


@pytest.mark.parametrize("line", ["bash /lab/.prepare", "bash /lab/.run", "READ"])
def test_a_full_disk_of_the_grader_is_no_end_of_a_students_network(line):
    """Regression: where what work.sh wrote could not be kept, nothing of it counted, and the student was graded."""
    full = ShortageError("what the network wrote cannot be kept: No space left on device")
    engine = ScriptedEngine({rebuild_module._READ if line == "READ" else line: full})
    with pytest.raises(ShortageError, match="No space left"):
        rebuild(Topology.load(TOPOLOGY), [], "h1 true\n", engine)


@pytest.mark.parametrize(
    ("name", "stopped"),
    [("too large", "the network had more than 500 processes and was stopped"), ("does not build", ""), ("damaged", "")],
)
def test_a_network_that_a_limit_ended_while_it_was_built_is_stopped(handed_in, name, stopped):
    """It is named to the instructor, and graded once more where others ran beside it."""
    report = worker.graded(f"{__name__}:grade", handed_in / f"{name}.zip", None, {"engine": CLASS[name]})
    assert (report.status, report.stopped) == (Status.UNGRADABLE, stopped)


@pytest.mark.parametrize(
    ("what", "kept"),
    [
        (("good", ""), True),
        (("nothing got through", ""), True),
        (("iperf3 broke", ""), False),
        (("too expensive", ""), False),
        (("good", "the network ended while work.sh ran"), False),
    ],
)
def test_networks_of_a_submission_answer_for_others_only_if_nothing_broke_or_was_stopped(
    handed_in, tmp_path, monkeypatch, what, kept
):
    """Regression: they were kept at their ends, whatever else the submission did to them, and others were misjudged."""
    (name, stopped), folder = what, tmp_path / "kept"
    folder.mkdir()
    path = handed_in / f"{name}.zip"
    bundle = read_bundle(path)
    write_bundle(path, replace(bundle, files={**bundle.files, "work.sh": b"h1 true\n"}))
    monkeypatch.setattr(unit, "rebuild", lambda *_, **__: Rebuilt(STATE_TEXT, "", (), stopped))
    report = unit.grade(path, None, CLASS[name], (1,), folder)
    assert (report.status, report.stopped) == (Status.GRADED, stopped)
    assert bool(list(folder.iterdir())) is kept


@pytest.mark.parametrize(
    ("name", "exercise", "heading", "full"),
    [
        ("exercise3-s1234.zip", "exercise3", "Exercise 3: Buffers of TCP and of the switch", 100.0),
        (
            "lovelaceada_12_345_exercise3-s1234 (1).zip",
            "exercise3",
            "Exercise 3: Buffers of TCP and of the switch",
            100.0,
        ),
        ("exercise77-s1234.zip", "", "", 0.0),
        ("final.zip", "", "", 0.0),
    ],
)
def test_a_damaged_archive_is_of_the_exercise_of_its_name(tmp_path, name, exercise, heading, full):
    """Regression: it was of no exercise, so points that were given for it by hand were not counted."""
    (tmp_path / name).write_bytes(b"PK\3\4 and no more")
    report = unit.grade(tmp_path / name, None, None)
    assert (report.status.value, report.exercise, report.heading, report.max_score) == (
        "ungradable",
        exercise,
        heading,
        full,
    )
    assert (report.student, report.unproven) == ("", True)


def test_rewording_every_message_changes_no_grade(handed_in, monkeypatch):
    """All sentences backwards: the same marks; verdicts used to be found in the words."""
    _, before = marks(handed_in)
    say_it_backwards(monkeypatch)
    found, after = marks(handed_in)
    assert found == MARKS
    assert after["no kernel"] == tuple(note[::-1] for note in before["no kernel"])


def test_an_exercise_that_is_wrong_here_is_no_fault_of_the_submission(handed_in):
    """Whoever grades wrote it."""
    path = handed_in / "clone/exercises/3-small/exercise.toml"
    path.write_text(path.read_text().replace('kind = "exercise"', 'kind = "poem"'))
    report = worker.graded(f"{__name__}:grade", handed_in / "good.zip", None, {"engine": Engine()})
    assert (report.status.value, report.score) == ("error", 0.0)
    assert report.notes == (f'{path}: "kind" is "poem"; use exercise or problem',)


class Exhausted(Engine):
    """What all networks may take together is used up before its network number `last` + 1."""

    def __init__(self, last):
        super().__init__()
        self.last = last

    @contextmanager
    def start(self, *arguments, **options):
        """Start one, or not."""
        if len(self.networks) == self.last:
            raise OverusedError("the networks took more than 900 s of processor time together")
        with super().start(*arguments, **options) as network:
            yield network


@pytest.mark.parametrize(("last", "marks"), [(0, ("ungradable", 0.0, "")), (1, MARKS["too expensive"])])
def test_a_network_that_is_not_started_any_more_costs_what_it_was_to_measure(handed_in, last, marks):
    """Regression: where the first seed had been measured and the second was not, nothing of it all was graded."""
    report = unit.grade(handed_in / "good.zip", None, Exhausted(last), (1, 2))
    outcomes = " ".join(check.outcome.value for check in report.checks)
    assert (report.status.value, report.score, outcomes) == marks


@pytest.mark.parametrize("fault", [Fault.TOOL, Fault.MACHINE])
def test_commands_of_a_student_are_not_judged_where_our_tools_broke(fault):
    """Without start commands of the student's, only a topology that does not build is the student's doing."""
    topology = Topology.load(TOPOLOGY)
    with pytest.raises(AgentError, match="no switch"):
        rebuild(topology, [], "h1 ip a", Engine(fails=lambda: AgentError("no switch", fault=fault)))
    with pytest.raises(DeadlineError, match="late"):
        rebuild(topology, [], "h1 ip a", Engine(fails=lambda: DeadlineError("late")))
    found = rebuild(topology, [], "h1 ip a", Engine(fails=lambda: AgentError("no such", fault=Fault.TOPOLOGY)))
    assert (found.state_text, found.notes) == (None, ("the network does not build: no such",))
    over = "the network had more than 500 processes and was stopped"
    found = rebuild(topology, [], "h1 ip a", Engine(fails=lambda: OverusedError(over)))
    assert (found.state_text, found.notes) == (None, (f"the network does not build: {over}",))


def test_what_broke_is_not_excused_by_a_network_that_is_not_started():
    """A student's network in which nothing got through is still the student's; what was measured stays, too."""
    runs = {"broke": 3, "measured": 3, "due": 3, "once": 1}
    experiments = [Experiment(name, "start", {}, (), 1.0, 0.0, None, "", "", count) for name, count in runs.items()]
    found = Rerun(STATE, STATE, experiments, {"measured": {"jain": [1, 1]}, "due": {"jain": [1]}}, {"broke": "refused"})
    _give_up(found, 1, OverusedError("too much"))
    assert found.errors == {"due": "too much"}
