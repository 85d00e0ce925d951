# SPDX-License-Identifier: BSD-3-Clause
"""A lab that was handed in: what was typed is typed again, and what the student's machine said counts for nothing."""

import json
import time
from dataclasses import replace
from pathlib import Path

import pytest
from pockets import needs_pocket

from linklab.engine.pocket import PocketEngine
from linklab.exercise.bundle import Bundle, write_bundle
from linklab.exercise.report import Status
from linklab.grade import lab_unit
from linklab.grade.html import report_page
from linklab.grade.limits import LAB_S, Limits
from linklab.grade.sandbox import SandboxEngine
from linklab.grade.unit import grade
from linklab.guide.evidence import EditorEvidence, FileEvidence, PredictionEvidence, TypedEvidence
from linklab.guide.guide import Guide
from linklab.guide.plan import plan_of
from linklab.guide.progress import BEGUN, CONTINUED, LabProgress
from linklab.guide.recorded import RecordedWork
from linklab.guide.redo import Redoing
from linklab.judge.verdict import Outcome
from linklab.lab.model import find_lab, load_lab
from linklab.lab.reference import load_reference, replayed

pytestmark = needs_pocket

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def lab():
    """Lab 3."""
    return load_lab(find_lab("3", ROOT))


def worked(folder, lab, last, change=lambda evidence: evidence, note=None):
    """The progress of somebody who does the lab as printed, up to a step; `note` comes before that one."""
    progress = LabProgress.begin(folder, lab)
    progress.note(BEGUN, environment={})
    progress.add(PredictionEvidence("one-side", "100", "ms", "one way"))
    work = RecordedWork(plan_of(lab), load_reference(lab).recorded)
    for step, evidence in work.of(lab.manual.steps):
        if step.id == last and note:
            progress.note(note, environment={})
        for each in evidence:
            progress.add(change(each))
        if step.id == last:
            return progress
    raise AssertionError(last)


def handed_in(path, lab, progress):
    """The submission of it."""
    said = {"lab": lab.number, "replayed": replayed(lab), "student": "s1", "name": "Ada"}
    notes = {"predictions": {"one-side": {"number": "100", "unit": "ms", "why": "one way"}}, "answers": {"1": "light"}}
    files = {
        "lab.json": json.dumps(said).encode(),
        "notes.json": json.dumps(notes).encode(),
        "progress.jsonl": progress.path.read_bytes(),
    }
    write_bundle(path, Bundle(f"lab{lab.number}", "s1", files))
    return path


def outcomes(report):
    """Step → what came of it."""
    return {check.id: check.outcome for check in report.checks}


def test_work_that_was_done_counts(tmp_path, lab):
    """Each step up to the last one typed is a point, also after the network was begun anew as it was left."""
    progress = worked(tmp_path, lab, "both-sides", note=CONTINUED)
    report = grade(handed_in(tmp_path / "a.zip", lab, progress), None, PocketEngine())
    done = ["unshaped", "ifconfig-h1", "ifconfig-h2", "delay-h1", "show", "one-side", "delay-h2", "both-sides"]
    assert (report.status, report.exercise, report.student, report.claims) == (Status.GRADED, "lab3", "", "Ada (s1)")
    assert [name for name, outcome in outcomes(report).items() if outcome is Outcome.PASS] == done
    assert (report.score, report.max_score) == (8.0, float(len(report.checks)))
    assert report.answers == {"Prediction 1: one-side": "100 ms one way"}
    assert report.words == {"question 1": "light"}
    assert not any("but not when it was done again" in note for note in report.notes)
    assert report.notes[-1].startswith("Not written: Prediction 2, Prediction 3, ")


def test_the_instructor_sees_what_was_typed_and_measured(tmp_path, lab):
    """Regression: 28 times “done, done”, and notes on each line that clears the screen."""

    def cleared(evidence):
        if isinstance(evidence, TypedEvidence) and evidence.text == "ifconfig" and evidence.terminal == "h1":
            return replace(evidence, text="clear")
        return evidence

    progress = worked(tmp_path, lab, "both-sides", cleared)
    report = grade(handed_in(tmp_path / "a.zip", lab, progress), None, PocketEngine())
    both = next(check for check in report.checks if check.id == "both-sides")
    assert both.title == "3.4 Ping from h1 again (h1)"
    assert both.expected.startswith("200") and both.seen.startswith("200")
    typed = [line.split(maxsplit=2)[1:] for line in report.typed.splitlines()]
    assert typed[:2] == [["h1", "ping 10.0.0.2"], ["h2", "ifconfig"]]
    assert not any("clear" in note for note in report.notes)
    assert "<h2>What was typed</h2>" in report_page(report, {}, instructor=True)
    assert "<h2>What was typed</h2>" not in report_page(report, {})


def test_a_progress_in_which_nothing_was_typed_says_so(tmp_path, lab):
    """Regression: 28 steps “open” and no word why."""
    progress = LabProgress.begin(tmp_path, lab)
    progress.note(BEGUN, environment={})
    progress.add(EditorEvidence(("run",)))
    report = grade(handed_in(tmp_path / "a.zip", lab, progress), None, PocketEngine())
    assert (report.status, report.score) == (Status.GRADED, 0.0)
    assert report.notes[0] == "Nothing was typed in this progress."


def test_what_takes_the_grader_too_long_ends_it_and_is_told(tmp_path, lab, monkeypatch):
    """The rest counts as not done; regression: it was an error of ours."""
    monkeypatch.setattr(lab_unit, "_MOST_S", 0.0)
    report = grade(handed_in(tmp_path / "a.zip", lab, worked(tmp_path, lab, "show")), None, PocketEngine())
    why = "reading it and doing it again took the grader more than 0 s of processor time"
    assert (report.status, report.score, report.stopped) == (Status.GRADED, 0.0, f"Doing it again ended early: {why}")


def test_what_was_spent_before_counts(tmp_path, lab, monkeypatch):
    """Regression: each had a bound of its own, and reading, judging, and doing again took more than 300 s together."""

    def slow(*_):
        until_s = time.process_time() + 1.0
        while time.process_time() < until_s:
            pass

    monkeypatch.setattr(lab_unit, "_MOST_S", 1.0)
    monkeypatch.setattr(lab_unit, "_own_files", slow)
    report = grade(handed_in(tmp_path / "a.zip", lab, worked(tmp_path, lab, "show")), None, PocketEngine())
    why = "reading it and doing it again took the grader more than 1 s of processor time"
    assert (report.score, report.stopped) == (0.0, f"Doing it again ended early: {why}")


def test_a_lab_in_which_a_line_is_waited_for_in_vain_is_in_doubt(tmp_path, lab, monkeypatch):
    """Regression: what ran beside it held a line up for three minutes; its points were lost, and nothing said so."""
    evidence = Redoing.evidence

    def in_vain(self, entries):
        self.in_vain.append('"ping h2" on h1')
        return evidence(self, entries)

    monkeypatch.setattr(Redoing, "evidence", in_vain)
    report = grade(handed_in(tmp_path / "a.zip", lab, worked(tmp_path, lab, "show")), None, PocketEngine())
    assert (report.status, report.score) == (Status.GRADED, 5.0)
    assert report.stopped == 'Waited for in vain: "ping h2" on h1'
    assert report.stopped in report.notes


def test_claims_are_not_believed(tmp_path, lab):
    """Whoever sets another delay and writes the right numbers into the progress has what was really set."""

    def forged(evidence):
        if isinstance(evidence, TypedEvidence) and "h2-eth0 root netem delay" in evidence.text:
            return replace(evidence, text=evidence.text.replace("100ms", "1ms"))
        return evidence

    progress = worked(tmp_path, lab, "both-sides", forged)
    text = progress.path.read_text(encoding="utf-8")
    assert "delay 1ms" in text
    report = grade(handed_in(tmp_path / "a.zip", lab, progress), None, PocketEngine())
    found = outcomes(report)
    assert (found["one-side"], found["delay-h2"], found["both-sides"]) == (Outcome.PASS, Outcome.FAIL, Outcome.FAIL)
    assert "Done by the student's progress, but not when it was done again: both-sides." in report.notes


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("results/a/b", "cannot be written: File exists; leave it out, or rename it"),
        (f"results/{'b/' * 9}b", "lies in more than 8 folders; leave it out"),
    ],
    ids=["a file's and a folder's", "deep"],
)
def test_results_that_no_folder_can_hold_are_refused(tmp_path, lab, name, why):
    """Regression: these were an error of the grader's, and folders on its disk without end."""
    files = {
        "lab.json": json.dumps({"lab": lab.number, "replayed": replayed(lab), "student": "", "name": ""}).encode(),
        "progress.jsonl": worked(tmp_path, lab, "unshaped").path.read_bytes(),
        "results/a": b"1",
        name: b"2",
    }
    write_bundle(tmp_path / "a.zip", Bundle("lab3", "", files))
    report = grade(tmp_path / "a.zip", None, PocketEngine())
    assert report.status is Status.UNGRADABLE
    assert report.notes == (f'"{name}" {why}',)


def test_a_lab_is_done_again_with_the_time_of_a_lab(tmp_path, lab, monkeypatch):
    """Regression: it had that of one measurement of an exercise, of which Labs 22 and 24 need more."""
    given = []

    class Noted(Redoing):
        def evidence(self, entries):
            given.append(self.engine.left_s())
            return iter(())

    monkeypatch.setattr(lab_unit, "Redoing", Noted)
    progress = worked(tmp_path, lab, "unshaped")
    grade(handed_in(tmp_path / "a.zip", lab, progress), None, SandboxEngine())
    assert given == [LAB_S]


def test_a_line_that_looks_at_very_many_files_costs_no_other_line(tmp_path, lab):
    """Regression: hostfs kept a file open for each name, and 24 of 28 points were lost for want of more."""
    typed = worked(tmp_path / "printed", lab, "show")
    progress = LabProgress.begin(tmp_path / "done", lab)
    progress.note(BEGUN, environment={})
    for end_s in (None, 0.5):
        progress.add(TypedEvidence("h1", "find /usr -name nosuchfile", 0.0, end_s, status=None if end_s is None else 0))
    for _, each in typed.entries():
        if isinstance(each, TypedEvidence):
            progress.add(each)
    engine = SandboxEngine(Limits(open_files=3000))
    report = grade(handed_in(tmp_path / "a.zip", lab, progress), None, engine)
    found = outcomes(report)
    assert report.stopped == ""
    assert [found[step] for step in ("unshaped", "ifconfig-h1", "delay-h1", "show")] == [Outcome.PASS] * 4


def test_the_labs_script_is_there_as_where_the_lab_was_done(tmp_path, monkeypatch):
    """Regression: `sudo ~/set_env.sh 4`, which the guide recommends, was not found, and so points were lost."""
    lab = load_lab(find_lab("8", ROOT))
    progress = LabProgress.begin(tmp_path, lab)
    progress.note(BEGUN, environment={})
    for end_s in (None, 2.0):
        progress.add(TypedEvidence("h1", "sudo ~/set_env.sh end", 0.0, end_s, status=None if end_s is None else 0))
    seen = []
    see = Guide.see

    def noting(self, evidence):
        seen.append(evidence)
        see(self, evidence)

    monkeypatch.setattr(Guide, "see", noting)
    report = grade(handed_in(tmp_path / "a.zip", lab, progress), None, SandboxEngine())
    ended = [each for each in seen if isinstance(each, TypedEvidence) and each.ended]
    assert [each.status for each in ended] == [0, 0]  # as the progress says it, and as it was done again
    assert report.stopped == ""
    assert report.score == 0.0  # regression: what the script set earned 6 points
    given = [check.seen for check in report.checks if check.story == "by set_env.sh"]
    assert given == ["by set_env.sh"] * 6


def test_a_line_that_ends_otherwise_when_it_is_done_again_is_told(tmp_path, lab):
    """Who reads why a step lost its point sees what went another way."""
    progress = LabProgress.begin(tmp_path, lab)
    progress.note(BEGUN, environment={})
    for end_s in (None, 2.0):
        progress.add(TypedEvidence("h1", "sh ~/mine.sh", 0.0, end_s, status=None if end_s is None else 0))
    report = grade(handed_in(tmp_path / "a.zip", lab, progress), None, PocketEngine())
    said = 'Not as it was for the student: "sh ~/mine.sh" on h1 (status 2, the student\'s 0).'
    assert said in report.notes


NESTED = """python3 -c "
import struct
frame = bytes(12) + bytes.fromhex('0800') + bytes.fromhex('45000000 00000000 40040000 0a000001 0a000002') * 2000
head = struct.pack('<IHHiIII', 0xa1b2c3d4, 2, 4, 0, 0, 65535, 1)
open('nested.pcap', 'wb').write(head + struct.pack('<IIII', 0, 0, len(frame), len(frame)) + frame)"
"""


def test_headers_inside_each_other_cost_no_step(tmp_path, lab):
    """Regression: 40 kB were an error of ours, and the lab had no points at all."""
    typed = worked(tmp_path / "printed", lab, "show")
    progress = LabProgress.begin(tmp_path / "done", lab)
    progress.note(BEGUN, environment={})
    progress.add(FileEvidence("make.sh", NESTED))
    for end_s in (None, 0.5):
        progress.add(TypedEvidence("h1", "sh make.sh", 0.0, end_s, status=None if end_s is None else 0))
    for _, each in typed.entries():
        if isinstance(each, TypedEvidence):
            progress.add(each)
    report = grade(handed_in(tmp_path / "a.zip", lab, progress), None, PocketEngine())
    assert (report.status, report.stopped) == (Status.GRADED, "")
    found = outcomes(report)
    assert [found[step] for step in ("unshaped", "ifconfig-h1", "delay-h1", "show")] == [Outcome.PASS] * 4


def test_a_line_that_takes_too_long_to_judge_costs_its_own_step_alone(tmp_path, lab, monkeypatch):
    """And a note names it."""
    see = Guide.see

    def slow(self, evidence):
        while isinstance(evidence, TypedEvidence) and evidence.text == "ifconfig" and evidence.terminal == "h1":
            pass
        see(self, evidence)

    monkeypatch.setattr(Guide, "see", slow)
    monkeypatch.setattr(lab_unit, "_MOST_JUDGING_S", 1.0)
    report = grade(handed_in(tmp_path / "a.zip", lab, worked(tmp_path, lab, "show")), None, PocketEngine())
    found = outcomes(report)
    assert [found[step] for step in ("unshaped", "ifconfig-h2", "delay-h1", "show")] == [Outcome.PASS] * 4
    assert found["ifconfig-h1"] is Outcome.FAIL
    why = "judging it takes more than 1 s of processor time"
    assert f'"ifconfig" could not be judged, and what follows may lack it: {why}' in report.notes


def slowly(line):
    """The same, five times as slowly: as it is printed, a ping that is stopped takes a second."""
    return replace(line, start_s=line.start_s * 5, end_s=None if line.end_s is None else line.end_s * 5)


def test_lab_1_is_done_at_mininets_own_prompt(tmp_path):
    """Regression: its ping never ended, and steps in drawn networks were points that nobody could get: 1 of 15."""
    first = load_lab(find_lab("1", ROOT))
    typed = worked(tmp_path / "printed", first, "clean")
    progress = LabProgress.begin(tmp_path / "done", first)
    progress.note(BEGUN, environment={})
    for _, each in typed.entries():
        if isinstance(each, TypedEvidence):
            progress.add(slowly(each))
    report = grade(handed_in(tmp_path / "a.zip", first, progress), None, PocketEngine())
    assert (report.score, report.max_score, report.stopped) == (8, 8, "")
