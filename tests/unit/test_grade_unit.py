# SPDX-License-Identifier: BSD-3-Clause
"""What a grading builds of a submission, before any network is."""

import json
from dataclasses import replace
from types import SimpleNamespace

import graded
import pytest
from small_exercise import make_clone

from linklab.exercise.answers import Answers
from linklab.exercise.bundle import Bundle, write_bundle
from linklab.exercise.instance import instance_text, practice_instance
from linklab.exercise.load import load_exercise
from linklab.exercise.observed import TypedLine
from linklab.exercise.places import VARIABLE
from linklab.exercise.report import CheckResult
from linklab.grade import own_folder, unit, verify
from linklab.grade.drawing import UnbuildableError
from linklab.grade.submission import typed_lines
from linklab.grade.unit import network_of
from linklab.judge.verdict import Outcome
from linklab.topology import Topology


@pytest.fixture
def exercise(tmp_path):
    """The small one, which hands a topology out."""
    return load_exercise(make_clone(tmp_path) / "exercises/3-small")


def scene(exercise, topology):
    """For the practice instance."""
    return network_of(exercise, practice_instance(exercise), topology, Answers())


def test_the_drawing_that_was_handed_out_is_measured(exercise):
    """Limits of links and commands of the student's drawing are in no reference."""
    own = Topology.load(exercise.folder / exercise.topology)
    first, *others = own.links
    assert scene(exercise, replace(own, links=(replace(first, opts={"bw": 5}), *others))).topology == own
    drawn = replace(own, links=tuple(others))
    assert scene(replace(exercise, topology=""), drawn).topology == drawn


def test_a_link_past_the_bottleneck_is_refused(exercise):
    """It was measured as drawn: with h2 at h1's switch nothing was ever limited, and nothing counted as changed."""
    own = Topology.load(exercise.folder / exercise.topology)
    moved = tuple(replace(link, dest="s1") if link.dest == "s2" and link.src == "h2" else link for link in own.links)
    with pytest.raises(UnbuildableError, match=r'not wired as "Exercise 3.mn" was handed out: h2-eth0 is wired to s1'):
        scene(exercise, replace(own, links=moved))
    with pytest.raises(UnbuildableError, match="h1-eth0 is wired to nothing, not to s1-eth1"):
        scene(exercise, Topology())


def test_a_drawing_with_wireless_nodes_is_refused_by_what_cannot_be_built(exercise):
    """Their ports cannot be counted: it was a KeyError of the grader's."""
    data = json.loads((exercise.folder / exercise.topology).read_text())
    data["stations"] = [{"number": "1", "opts": {"hostname": "sta1"}, "x": "1.0", "y": "1.0"}]
    data["links"].append({"src": "sta1", "dest": "s1", "opts": {}})
    with pytest.raises(UnbuildableError, match="sta1 is wireless"):
        scene(exercise, Topology.loads(json.dumps(data)))


def test_an_empty_submission_at_which_our_tools_broke_proves_nothing(exercise, monkeypatch):
    """It has no points either, and used to be a proof."""
    broke = CheckResult(
        "a", "A", "measure", 0.0, 1.0, False, outcome=Outcome.ERROR, story="error a: could not be judged"
    )
    report = graded.report(checks=(broke,), score=0.0)
    monkeypatch.setattr(verify, "examine", lambda *_, **__: (report, None))
    proof = verify.prove_empty(exercise, practice_instance(exercise), None, (1,))
    assert (proof.holds, proof.said) == (False, "error a: could not be judged")


def test_recorded_terminals_and_work_sh_of_a_submission_are_what_was_typed(exercise, tmp_path):
    """Those of the archive for the grader; those of the folder for `linklab check`, work.sh only where it counts."""
    log = "# network 100.5 t1\n3.0 t1 $ tc -s qdisc show dev s1-eth2\n3.1 t1 = 0\n"
    topology = Topology.load(exercise.folder / exercise.topology)
    packed = {
        "instance.json": instance_text(exercise, practice_instance(exercise)),
        "topology.mn": topology.dumps(),
        "terminals/client.log": log,
        "work.sh": "h1 sysctl net.ipv4.tcp_rmem\n",
    }
    recorded, worked = TypedLine("client", "tc -s qdisc show dev s1-eth2"), TypedLine("h1", "sysctl net.ipv4.tcp_rmem")
    assert typed_lines({"client": log}, packed["work.sh"], topology) == [[recorded], [worked]]

    seen = []

    def judged(submission, *_):
        seen.append(submission.typed)
        raise UnbuildableError("enough seen")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(unit, "assess", judged)
        patch.setattr(own_folder, "assess", judged)
        patch.setenv(VARIABLE, str(exercise.folder))
        bundle = Bundle("exercise3", "practice", {name: text.encode() for name, text in packed.items()})
        write_bundle(tmp_path / "in.zip", bundle)
        unit.grade(tmp_path / "in.zip", None, None)
        home = tmp_path / "home"
        (home / "terminals").mkdir(parents=True)
        for name, text in packed.items():
            (home / name.replace("topology.mn", exercise.topology)).write_text(text)
        for state in (None, "{}"):
            with pytest.raises(UnbuildableError, match="enough"):
                own_folder.self_check(home, state, None)
    assert seen == [[[recorded], [worked]], [[recorded], [worked]], [[recorded], []]]


def test_of_changes_without_end_the_first_are_told():
    """Regression: a state of 66,000 interfaces made reports of 36 MB."""
    facts = {f"h1.iface.e{number:04}.mtu": 1500 for number in range(3000)}
    evidence = SimpleNamespace(references={"start": {}}, facts=facts)
    told, notes = unit._told_changes(evidence)
    assert (len(told), notes) == (2000, ("Of 3,000 changes the first 2,000 are told.",))
    evidence.facts = dict(list(facts.items())[:2000])
    assert unit._told_changes(evidence) == (told, ())


def test_the_parts_of_a_drawing_are_counted_before_anything_else_of_it(exercise, tmp_path, monkeypatch):
    """Regression: checks of 140,000 addresses, or of 10,000 nodes, took the 300 s of the grading process."""
    data = json.loads((exercise.folder / exercise.topology).read_text())
    data["hosts"] += [{"number": "1", "x": "1", "y": "1", "opts": {"hostname": "h1", "nodeNum": 1}}] * 300
    text = instance_text(exercise, practice_instance(exercise))
    packed = {"instance.json": text.encode(), "topology.mn": json.dumps(data).encode()}
    write_bundle(tmp_path / "in.zip", Bundle("exercise3", "practice", packed))
    check = Topology.check

    def counted_first(topology, name=None):
        assert name != "topology.mn", "it was checked before it was counted"
        check(topology, name)

    monkeypatch.setattr(Topology, "check", counted_first)
    monkeypatch.setenv(VARIABLE, str(exercise.folder))
    own = len(Topology.load(exercise.folder / exercise.topology).nodes)
    assert unit.grade(tmp_path / "in.zip", None, None).notes == (
        f"the topology has {own + 300} nodes and controllers, and the grader builds at most {own + 200}: "
        "draw only what the exercise asks for",
    )
