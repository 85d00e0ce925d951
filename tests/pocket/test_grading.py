"""Grading for real: a submission is read, its network built again and measured, and judged; on a small exercise."""

import json
from dataclasses import replace

import pytest
from pockets import TOPOLOGY, needs_pocket, type_
from small_problem import ALONE, ANSWERS, ENGINE, MODEL, TOML

from linklab.base import toml
from linklab.engine.pocket import PocketEngine
from linklab.exercise.answers import read_answers
from linklab.exercise.bundle import write_bundle
from linklab.exercise.course import Course
from linklab.exercise.instance import (
    Student,
    decode_environment,
    encode_environment,
    instance_text,
    issue,
    practice_instance,
)
from linklab.exercise.load import find_exercise, known_exercise, load_exercise
from linklab.exercise.model import Band, Experiment, Ping
from linklab.exercise.places import VARIABLE
from linklab.exercise.report import Status
from linklab.grade.attempt import solution
from linklab.grade.cohort import Entry
from linklab.grade.findings import findings
from linklab.grade.known import known_answers
from linklab.grade.more import prove_chain
from linklab.grade.mutants import mutations
from linklab.grade.own_folder import self_check
from linklab.grade.rerun import rerun
from linklab.grade.sample import COURSE_FILE, drawn, empty, instance_of, sample
from linklab.grade.shared import SharedEngine
from linklab.grade.submission import Submission
from linklab.grade.traffic import drive
from linklab.grade.unit import assess, grade, network_of
from linklab.grade.verify import prove_empty, prove_wrong, verify
from linklab.topology import Topology

pytestmark = needs_pocket


@pytest.fixture
def problem(tmp_path, monkeypatch):
    """A small problem that the grader finds as problem9."""
    folder = tmp_path / "9-try"
    for part in ("solution", "wrong/no-bottleneck"):
        (folder / part).mkdir(parents=True)
    (folder / "exercise.toml").write_text(TOML)
    Topology.load(TOPOLOGY).save(folder / "Problem 9.mn")
    (folder / "solution/work.sh").write_text(MODEL)
    (folder / "solution/answers.toml").write_text(ANSWERS)
    (folder / "wrong/no-bottleneck/work.sh").write_text(MODEL + "tc qdisc del dev s1-eth2 root\n")
    (folder / "wrong/no-bottleneck/marks.toml").write_text('fails = ["kept"]\n')
    monkeypatch.setenv(VARIABLE, str(folder))
    return load_exercise(folder)


@pytest.fixture
def zipped(tmp_path):
    """Writes a bundle, with some of its files changed or (None) left out."""

    def write(made, **changed):
        bundle = made.bundle()
        files = {**bundle.files, **{name.replace("_", "."): data for name, data in changed.items()}}
        path = tmp_path / "ada.zip"
        write_bundle(path, replace(bundle, files={name: data for name, data in files.items() if data is not None}))
        return path

    return write


def graded(path, engine=ENGINE):
    """The report of a bundle."""
    return grade(path, COURSE_FILE.encode(), engine, (1, 2))


def test_the_model_answer_earns_all_twice_with_the_same_bytes(problem, zipped):
    """From work.sh, and the report is a pure function of bundle and course."""
    path = zipped(sample(problem, instance_of(problem, 1), solution(problem), ENGINE))
    report = graded(path)
    assert (report.status, report.score, report.max_score) == (Status.GRADED, 100, 100), report.dumps()
    assert report.fault == "window"
    assert [change[0] for change in report.changes] == ["h2.rmem"]
    assert {len(values) for values in report.metrics["mended"].values()} == {2}
    assert {trace.what for trace in report.traces} == {"throughput", "rtt", "backlog"}
    assert graded(path, ALONE).dumps() == report.dumps()
    assert COURSE_FILE.split('"')[3] not in report.dumps()


class CountingEngine(PocketEngine):
    """Counts the networks that it starts."""

    started = 0

    def start(self, *arguments, **options):
        """Start one."""
        self.started += 1
        return super().start(*arguments, **options)


@pytest.mark.long
def test_a_grade_that_shares_what_was_measured_is_the_same_as_one_that_does_not(problem, zipped, tmp_path):
    """The same again starts no network; other work on the same parameters measures its own, with the same report."""
    (kept := tmp_path / "kept").mkdir()
    model = sample(problem, instance_of(problem, 1), solution(problem), ENGINE)
    networks, scores = [], []
    for changed in ({}, {}, {"work_sh": b"h1 true\n"}):
        path, engine = zipped(model, **changed), CountingEngine()
        report = grade(path, COURSE_FILE.encode(), engine, (1,), kept)
        alone = grade(path, COURSE_FILE.encode(), ALONE, (1,))
        assert repr(report) == repr(alone)  # the curves have gaps, and no NaN equals another
        networks.append(engine.started)
        scores.append(report.score)
    assert networks == [2, 0, 2], "one for work.sh and one that is measured; none; both"
    assert scores[:2] == [100, 100]
    assert scores[2] < 100


def with_experiments(problem, **changed):
    """The problem with other experiments: id → what is changed of it."""
    experiments = (replace(each, **changed.get(each.id, {})) for each in problem.experiments)
    return replace(problem, experiments=tuple(experiments))


def test_a_first_run_that_leaves_no_doubt_is_the_only_one(problem):
    """One network is measured; a second where nothing is known of how far runs lie apart."""
    for spread, networks in (({"throughput": "5 %"}, 1), ({}, 2)):
        exercise = with_experiments(problem, mended={"runs": 3, "spread": spread})
        made = sample(exercise, instance_of(exercise, 1), solution(exercise), ENGINE).submission
        report = assess(made, engine := CountingEngine(), (1, 2, 3))
        assert (report.score, engine.started) == (100, networks)
        assert len(report.metrics["mended"]["throughput"]) == networks


def test_what_a_first_run_may_decide_is_proved_with_every_run(problem):
    """The grader would be content with one of the three that the proof is made of."""
    exercise = with_experiments(problem, mended={"runs": 3, "spread": {"throughput": "5 %"}})
    _, model, _ = verify(exercise, ENGINE, 1, [], (1, 2, 3))
    assert (model.what, model.holds) == ("model", True), model.said
    assert len(model.measured.metrics["mended"]["throughput"]) == 3


def test_what_is_measured_apart_is_shared_with_students_whose_work_is_another(problem, tmp_path):
    """The network of the start is a third one; with other work on the same parameters it is not started again."""
    (kept := tmp_path / "kept").mkdir()
    exercise = with_experiments(problem, start={"apart": True})
    before = replace(exercise.checks[0], id="before", subject="start.throughput", bands=(Band(high="0.5 * rate"),))
    exercise = replace(exercise, checks=(before, *exercise.checks))
    made = sample(exercise, instance_of(exercise, 1), solution(exercise), ENGINE).submission
    networks, starts = [], []
    for work in (MODEL, MODEL.replace("16777216", "8388608")):
        engine = CountingEngine()
        report = assess(replace(made, work=work), SharedEngine(engine, kept), (1,))
        assert report.score == 160
        assert list(report.metrics) == ["start", "mended"], "in the order of the exercise"
        networks.append(engine.started)
        starts.append(report.metrics["start"]["throughput"])
    assert networks == [3, 2]
    assert starts[0] == starts[1]


def test_a_state_read_back_counts_as_commands_do(problem, zipped):
    """Without work.sh the state is repeated."""
    path = zipped(sample(problem, instance_of(problem, 1), solution(problem), ENGINE), work_sh=None)
    assert graded(path).score == 100


@pytest.mark.parametrize("typed", ["sudo ./set_env.sh", "sh ./set_env.sh", ". ./set_env.sh"])
def test_a_work_sh_may_set_the_environment_itself(problem, zipped, typed):
    """Regression: set_env.sh was not beside it, so behind `set -e` 0 points for all of it; and dash refused it."""
    made = sample(problem, instance_of(problem, 1), solution(problem), ENGINE)
    work = f"set -e\nh2 sysctl -w net.ipv4.tcp_no_metrics_save=0\n{typed}\n{made.work}".encode()
    report = graded(zipped(made, work_sh=work))
    assert (report.score, report.notes) == (100, ())


def test_the_mark_does_not_depend_on_how_a_number_is_spelt(problem, zipped):
    """A decimal comma, no-break spaces, and another unit: the whole report is the same."""
    made = sample(problem, instance_of(problem, 1), solution(problem), ENGINE)
    answers = toml.loads(made.bundle().files["answers.toml"].decode())
    mbps = answers["throughput"].removesuffix(" Mbps")
    assert float(mbps) > 1
    reports = []
    for spelt in (f"{mbps} Mbps", f"{mbps.replace('.', ',')}\N{NO-BREAK SPACE}MBit/s"):
        text = f'streams = "1"\nthroughput = "{spelt}"\n'
        reports.append(graded(zipped(made, answers_toml=text.encode())))
    assert reports[0].score == 100
    assert reports[1].dumps() == reports[0].dumps()


def test_nothing_handed_in_earns_nothing_and_measures_nothing(problem, zipped):
    """That it earns nothing is proved by measuring it; an answer, which may be right, has the network measured."""
    nothing = empty(problem, instance_of(problem, 1))
    report = graded(zipped(nothing))
    assert (report.status, report.score, report.metrics) == (Status.GRADED, 0, {})
    assert {check.outcome.value for check in report.checks} <= {"fail", "skipped"}
    assert any("nothing was changed or answered, so nothing was measured" in check.story for check in report.checks)
    proof = prove_empty(problem, instance_of(problem, 1), ENGINE, (1,))
    assert (proof.holds, proof.said) == (True, "earns nothing")
    answered = graded(zipped(nothing, answers_toml=b'streams = "1"\nthroughput = "3 Mbps"\n'))
    assert answered.metrics


def test_where_students_draw_the_drawing_is_work_that_is_measured():
    """Regression: Exercise 1, drawn rightly but not answered, lost 22 points; a comment in work.sh gave them back."""
    first = load_exercise(find_exercise("exercise1"))
    instance = instance_of(first, 1)
    submission = Submission(first, instance, drawn(first, instance, solution(first)), read_answers("", first))
    report = assess(submission, ENGINE, (1,))
    assert (report.score, report.metrics.keys()) == (80, {"reach", "bulk"})


@pytest.mark.long
def test_removing_the_bottleneck_is_told_so(problem):
    """Fast, and wrong."""
    (known,) = known_answers(problem)
    proof = prove_wrong(problem, instance_of(problem, 2), known, ENGINE, (1,))
    assert proof.holds, proof.said
    kept = next(check for check in proof.report.checks if check.id == "kept")
    assert "the rate limit of s1-eth2" in kept.story
    assert "has been removed" in kept.story


def test_more_right_work_never_earns_less(problem):
    """Step by step, and answer by answer; a check that punishes a step is found."""
    (problem.folder / "solution/work.sh").write_text("h2 sysctl net.ipv4.tcp_rmem\n\n" + MODEL)
    told = [(proof.what, proof.holds, proof.said) for proof in prove_chain(problem, ENGINE, 1, (1,))]
    assert [holds for _, holds, _ in told] == [True] * 3, told
    assert (told[0][0], told[-1][2]) == ("chain: answers alone", "100 of 100 points")
    kept = replace(problem.checks[1], excepted=(), needs=(), reference="start")  # earned by doing nothing
    unfair = replace(problem, checks=(replace(problem.checks[0], weight=10.0), kept))
    (fall,) = [proof.said for proof in prove_chain(unfair, ENGINE, 1, (1,)) if not proof.holds]
    assert fall == "10 of 30 points, 20 without it"


def test_mutants_of_the_model_answer_lose_marks(problem):
    """Each undoes or spoils one thing."""
    model = sample(problem, instance_of(problem, 1), solution(problem), ENGINE).submission
    scene = network_of(problem, model.instance, model.topology, model.answers)
    start = rerun(scene, None, ENGINE, (1,), lambda *_: []).start
    found = {mutation.what: mutation for mutation in mutations(problem, model, start, 1)}
    spoiled = ["h2.rmem left at 12 kB", "s1-eth2.rate times 2", "answer throughput times 0.5"]
    for what in spoiled:
        assert assess(found[what].make(model), ENGINE, (1,)).score < 100, what


@pytest.mark.parametrize(
    ("changed", "status", "said"),
    [
        ({"instance_json": None}, "ungradable", "instance.json is missing"),
        ({"topology_mn": b"{"}, "ungradable", "not valid JSON"),
        ({"topology_mn": Topology().dumps().encode()}, "ungradable", "h1-eth0 is wired to nothing, not to s1-eth1"),
        ({"state_json": b'{"format": 1}', "work_sh": None}, "ungradable", "state.json"),
        ({"answers_toml": b'streams = 1\nthroughput = "19 ms"\n'}, "graded", '"19 ms" has no unit of a rate'),
        ({"answers_toml": b'streams = 1\nthroughput = "1,234 Mbps"\n'}, "graded", "can mean two numbers: write 1234"),
        (
            {"answers_toml": b"streams = 1\nthroughput = 0x" + b"f" * 5000},
            "graded",
            "the number is too large: write it between quotation marks",
        ),
        ({"answers_toml": b'streams = 999\nthroughput = "19 Mbps"\n'}, "graded", "whole number from 1 to 64, not 999"),
    ],
)
def test_a_faulty_submission_gives_a_report_with_a_sentence(problem, zipped, changed, status, said):
    """Never an exception, never a point for what is missing."""
    made = sample(problem, instance_of(problem, 1), solution(problem), ENGINE)
    report = graded(zipped(made, **changed))
    assert report.status.value == status, report.dumps()
    assert said in report.dumps().replace('\\"', '"')
    assert report.score < 100


def test_an_instance_of_another_course_or_exercise_is_ungradable(problem, zipped):
    """It says whose it is; parameters written into the file count for nothing."""
    made = sample(problem, instance_of(problem, 1), solution(problem), ENGINE)
    other = instance_text(problem, issue(problem, Course("Elsewhere", b"e" * 32), Student("student1")))
    report = graded(zipped(made, instance_json=other.encode()))
    assert report.status is Status.UNGRADABLE
    assert 'it says it is of "Elsewhere"' in report.notes[-1]
    strange = json.loads(other) | {"exercise": "exercise77"}
    report = graded(zipped(made, instance_json=json.dumps(strange).encode()))
    assert 'there is no exercise "exercise77"' in report.notes[-1]


def test_parameters_that_were_changed_by_hand_are_named_and_count_for_nothing(problem, zipped):
    """An easier rate in instance.json was graded in silence with what was issued."""
    made = sample(problem, instance_of(problem, 1), solution(problem), ENGINE)
    issued = json.loads(made.bundle().files["instance.json"])
    assert graded(zipped(made)).forged == ()
    rate = issued["parameters"]["rate"]
    easier = {**issued, "parameters": {"rate": "10 Mbps"}}
    report = graded(zipped(made, instance_json=json.dumps(easier).encode()))
    assert report.forged == (f"rate is {rate}, not 10 Mbps",)
    assert report.notes[-1] == f"instance.json was changed, and what was issued counts: rate is {rate}, not 10 Mbps"
    assert (report.score, report.parameters) == (100, {"rate": rate})
    (found,) = findings([Entry("ada", "ada.zip", report)])
    assert found.kind == "forged"
    no_fault = {**issued, "environment": encode_environment(decode_environment(issued["environment"])[:-1])}
    report = graded(zipped(made, instance_json=json.dumps(no_fault).encode()))
    assert report.forged == ("set_env.sh does not set the network that was issued",)


PRINTS = """\
printf '%s' '{state}' >/tmp/state
printf '#!/bin/sh\\ncat /tmp/state\\n' >/tmp/python3
chmod +x /tmp/python3
mount --bind /tmp/python3 /usr/bin/python3
"""


@pytest.mark.parametrize("with_a_node_more", [False, True])
def test_a_state_that_work_sh_printed_is_tried_too(problem, with_a_node_more):
    """It took the place of the program that reads the network, and what it said was believed."""
    made = sample(problem, instance_of(problem, 1), solution(problem), ENGINE)
    state = json.loads(made.submission.state)
    ungated = replace(
        problem, checks=tuple(replace(check, needs=()) for check in problem.checks if check.kind != "measure")
    )
    submission = replace(made.submission, exercise=ungated, state=None)
    possible = assess(replace(submission, work=PRINTS.format(state=json.dumps(state))), ENGINE, (1,))
    assert (possible.score, possible.impossible) == (possible.max_score, "")
    state["nodes"]["h1"]["interfaces"]["h1-eth0"]["mtu"] = 0
    if with_a_node_more:  # regression: what no lines set was not tried at all
        state["nodes"]["h9"] = {"interfaces": {}}
    report = assess(replace(submission, work=PRINTS.format(state=json.dumps(state))), ENGINE, (1,))
    assert {check.id for check in report.checks if check.score} <= {
        check.id for check in ungated.checks if check.kind == "answer"
    }
    assert report.notes[-1].startswith("no network can be set to what work.sh left by the word of that network, so it ")
    (found,) = findings([Entry("ada", "ada.zip", report)])
    assert found.kind == "impossible"


HTB = {"kind": "htb", "handle": "1:", "parent": "root", "options": {"default": 1}}
CLASS = {"kind": "htb", "parent": "1:", "options": {"rate_bit": 8000, "ceil_bit": 8000, "burst": 1600, "cburst": 1600}}


@pytest.mark.parametrize("what", ["mtu", "tcp_wmem", "thousands of classes"])
def test_a_state_that_no_network_can_have_earns_nothing(problem, what):
    """What it says was believed: checks of the state kept their points, and nobody was told."""
    made = sample(problem, instance_of(problem, 1), solution(problem), ENGINE)
    state = json.loads(made.submission.state)
    if what == "mtu":
        state["nodes"]["h1"]["interfaces"]["h1-eth0"]["mtu"] = 0
    elif what == "thousands of classes":  # setting them took 109 s of processor time each time
        classes = [{**CLASS, "classid": f"1:{number:x}"} for number in range(1, 9001)]
        state["nodes"]["h1"]["interfaces"]["h1-eth0"] |= {"qdiscs": [HTB], "classes": classes}
    else:
        state["nodes"]["h1"]["sysctls"]["net.ipv4.tcp_wmem"] = "4096 16384 4294967296"
    ungated = replace(problem, checks=tuple(replace(check, needs=()) for check in problem.checks))
    report = assess(replace(made.submission, exercise=ungated, state=json.dumps(state)), ENGINE, (1,))
    assert report.score == 0, report.dumps()
    kept = next(check for check in report.checks if check.id == "kept")
    assert kept.story.startswith("fail kept: the state that was handed in cannot be set up")
    assert report.notes[-1].startswith("no network can be set to what state.json says, so it counts for nothing: ")
    (found,) = findings([Entry("ada", "ada.zip", report)])
    assert found.kind == "impossible"


def test_pings_that_another_node_answers_are_no_measurement(tmp_path):
    """h1 that has h2's address answers itself, and h2's kernel counts none of the requests."""
    ping = Experiment("go", "submitted", {}, (), 3, 0, Ping("h1", "h2", 0.5), "", "W")
    addresses = {"h1": "10.0.0.1", "h2": "10.0.0.2"}
    with PocketEngine().start(Topology.load(TOPOLOGY), workdir=tmp_path) as network:
        honest = drive(network, ping, {}.__getitem__, addresses, tmp_path)
        assert (honest.broken, honest.metrics["ping.loss"]) == ("", 0)
        type_(network, "ip addr add 10.0.0.2/32 dev lo", "h1")
        driven = drive(network, ping, {}.__getitem__, addresses, tmp_path)
        assert driven.broken == (
            "h2 received only 0 of the 6 pings that were answered: another node answers in its place; "
            "look for its address on the other nodes"
        )


def test_what_a_state_does_not_say_is_as_at_the_start():
    """Regression: without h1's congestion control in it, the one that the experiment before had set was measured."""
    exercise = load_exercise(known_exercise("problem2"))
    made = sample(exercise, instance_of(exercise, 1), solution(exercise), ENGINE)
    state = json.loads(made.submission.state)
    sysctls = state["nodes"]["h1"]["sysctls"]
    name = "net.ipv4.tcp_congestion_control"
    sysctls[name] = "cubic"
    said = assess(replace(made.submission, work=None, state=json.dumps(state)), ENGINE, (1,))
    del sysctls[name]
    silent = assess(replace(made.submission, work=None, state=json.dumps(state)), ENGINE, (1,))
    assert silent.metrics == said.metrics
    assert silent.changes == said.changes
    assert silent.score == said.score < said.max_score


def test_a_blank_with_a_default_is_answered_by_it(problem):
    """Left blank where one stream is enough, the network was not measured at all."""
    usual = replace(problem, answers=(replace(problem.answers[0], default="1"), *problem.answers[1:]))
    made = sample(usual, instance_of(usual, 1), solution(problem), ENGINE).submission
    throughput = made.answers.values["throughput"].text
    blank = read_answers(f'streams = ""\nthroughput = "{throughput}"\n', usual)
    assert (blank.missing, blank.notes) == ((), ("streams was left blank: 1 is taken",))
    report = assess(replace(made, answers=blank), ENGINE, (1, 2))
    assert report.score == 100, report.dumps()


def test_what_happens_on_the_way_is_compared_whichever_discipline_does_it(problem):
    """An htb of the tbf's rate, and a netem that does nothing, lost the points of a network that was changed."""
    work = f"""{MODEL}
tc qdisc del dev s1-eth2 parent 1: handle 2:
tc qdisc add dev s1-eth2 parent 1: handle 2: htb default 1
tc class add dev s1-eth2 parent 2: classid 2:1 htb rate {{rate:tc}}
tc qdisc add dev s1-eth1 root netem loss 0%
"""
    (problem.folder / "wrong/no-bottleneck/work.sh").write_text(work)
    made = sample(problem, instance_of(problem, 1), known_answers(problem)[0].made, ENGINE).submission
    by_way = [replace(each, along=("h1>h2", "h2>h1"), needs=()) for each in problem.checks if each.id == "kept"]
    assert assess(made, ENGINE, (1,), by_way).score == 20
    (problem.folder / "wrong/no-bottleneck/work.sh").write_text(work.replace("loss 0%", "loss 1%"))
    made = sample(problem, instance_of(problem, 1), known_answers(problem)[0].made, ENGINE).submission
    (kept,) = assess(made, ENGINE, (1,), by_way).checks
    assert (kept.score, kept.seen) == (0, "h2 → h1 has got loss 1 %")


def test_a_student_checks_the_own_folder_with_the_same_judgement(problem, tmp_path):
    """Visible checks alone, by work.sh where no network runs."""
    folder = tmp_path / "mine"
    folder.mkdir()
    instance = practice_instance(problem)
    (folder / "instance.json").write_text(instance_text(problem, instance))
    Topology.load(problem.folder / "Problem 9.mn").save(folder / "Problem 9.mn")
    (folder / "answers.toml").write_text("streams = 1\n")
    before = self_check(folder, None, ENGINE)
    assert (before.score, before.max_score, before.fault) == (0, 80, "window")
    (folder / "work.sh").write_text(MODEL)
    assert self_check(folder, None, ENGINE).score == 80


def test_a_line_of_work_sh_that_failed_is_named_in_the_report(problem, tmp_path):
    """Its number, itself, its status and what it said: the check told of the network alone, as if all had been done."""
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "instance.json").write_text(instance_text(problem, practice_instance(problem)))
    Topology.load(problem.folder / "Problem 9.mn").save(folder / "Problem 9.mn")
    loop = "for i in {1..60}; do echo $i; sleep 0.01; done\n"  # only the first 25 pieces of output were kept
    (folder / "work.sh").write_text(
        f"{loop}h2 sysctl -w net.ipv4.tcp_rmen=1\ntc qdisc add dev s1-eth9 root pfifo\n{MODEL}"
    )
    report = self_check(folder, None, ENGINE)
    assert report.notes[0].startswith("work.sh, line 2: `h2 sysctl -w net.ipv4.tcp_rmen=1` failed with status ")
    assert "No such file or directory" in report.notes[0]
    assert report.notes[1] == (
        'work.sh, line 3: `tc qdisc add dev s1-eth9 root pfifo` failed with status 1: Cannot find device "s1-eth9"'
    )
    assert len(report.notes) == 2
