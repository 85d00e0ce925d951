# SPDX-License-Identifier: BSD-3-Clause
"""A lab is packed, reported, and read by the grader; what is no submission of a lab is refused with a sentence."""

import io
import json
import zipfile
from pathlib import Path

import pytest

from linklab.cli import main
from linklab.errors import BootError
from linklab.exercise.bundle import Bundle, read_bundle, write_bundle
from linklab.exercise.report import Status
from linklab.grade.classfiles import moodle_feedback
from linklab.grade.cohort import Entry
from linklab.grade.unit import grade
from linklab.grade.worker import graded
from linklab.guide.evidence import EditorEvidence, TypedEvidence
from linklab.guide.progress import FOLDER, LabProgress
from linklab.lab.model import find_lab, load_lab

ROOT = Path(__file__).resolve().parents[2]
PING = """\
5 packets transmitted, 5 received, 0% packet loss, time 4005ms
rtt min/avg/max/mdev = 0.004/0.005/0.006/0.001 ms
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder in which Lab 3 was begun."""
    progress = LabProgress.begin(tmp_path, load_lab(find_lab("3", ROOT)))
    progress.note("begun", environment={"seed": 1, "kernel": "7.3.4"})
    progress.add(EditorEvidence(("run",)))
    progress.add(TypedEvidence("h1", "ping -c 5 10.0.0.2", 1.0))
    scalars = {"ping.rtt.mean": (5e-6, "s")}
    progress.add(TypedEvidence("h1", "ping -c 5 10.0.0.2", 1.0, 5.0, PING, 0, scalars))
    notes = {"notes_of": "03-netem-delay-and-jitter", "version": 1, "name": "Ada Lovelace"}
    notes |= {"predictions": {"one-side": {"number": "100", "unit": "ms", "why": "<one way>"}}, "answers": {"1": "far"}}
    (tmp_path / FOLDER / "notes.json").write_text(json.dumps(notes), encoding="utf-8")
    (tmp_path / "mine.sh").write_text("echo\n", encoding="utf-8")
    (tmp_path / "mine.sh").chmod(0o755)
    (tmp_path / "results").mkdir()
    (tmp_path / "results/mine.sh").write_text("true\n", encoding="utf-8")
    (tmp_path / "set_env.sh").write_text("true\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_lab_is_handed_in(folder, capsys):
    """Everything that the grader needs, and the report for who only looks."""
    assert main(["submit", "--student", "s1"]) == 0
    assert "lab3-s1.zip: " in capsys.readouterr().out
    bundle = read_bundle(folder / "lab3-s1.zip")
    assert sorted(bundle.files) == [
        "lab.json",
        "notes.json",
        "progress.jsonl",
        "results/mine.sh",
        "results/other/results/mine.sh",
        "results/report.html",
    ]
    assert (bundle.exercise, bundle.student, bundle.notes) == ("lab3", "s1", ())
    said = json.loads(bundle.text("lab.json"))
    assert (said["lab"], said["student"], said["name"]) == (3, "s1", "Ada Lovelace")
    assert said["executable"] == ["results/mine.sh"]
    assert said["places"] == {"results/other/results/mine.sh": "results/mine.sh"}
    assert bundle.files["progress.jsonl"] == (folder / FOLDER / "progress.jsonl").read_bytes()


def test_who_hands_in_is_told_what_earns_no_point(folder, capsys):
    """Settings of set_env.sh, and what was typed inside another shell; then something can still be done about it."""
    progress = LabProgress.load(folder)
    for text in ("sudo ./set_env.sh 3.4", "bash", "python3 -c 1", "sudo -i"):
        progress.add(TypedEvidence("h1", text, 9.0))
        progress.add(TypedEvidence("h1", text, 9.0, 10.0, "", 0))
    assert main(["submit", "--student", "s1"]) == 0
    said = capsys.readouterr().out
    assert (
        "earn no point, because set_env.sh made their settings: “On h1 delay everything that leaves by 100 ms”" in said
    )
    assert "What you typed inside “bash”, “sudo -i” is not in your progress" in said


def test_who_hands_in_is_told_how_far_the_lab_is(folder, capsys):
    """Regression: nothing was said of steps that are not done, of predictions, and of questions."""
    assert main(["submit", "--student", "s1"]) == 0
    said = capsys.readouterr().out
    assert "Steps done: 1 of 28. Predictions made: 1 of 7. Questions answered: 1.\n" in said
    assert "Not done, or not as expected: “On h1 list the network interfaces”; " in said
    assert ", and 22 more. linklab step --all lists every step.\n" in said


def test_somebody_must_be_named(folder, capsys):
    """A submission of nobody is nobody's."""
    (folder / FOLDER / "notes.json").unlink()
    assert main(["submit"]) == 2
    assert "whose work is this? Give --student" in capsys.readouterr().err


def test_the_report_is_written_without_a_network(folder):
    """What was predicted, answered, measured, and expected; nothing of it as markup."""
    assert main(["lab", "3", "--report", "report.html"]) == 0
    text = (folder / "report.html").read_text(encoding="utf-8")
    for wanted in (
        "Ada Lovelace",
        "100 ms<br>&lt;one way&gt;",
        "far",
        "signed by nobody",
        "7.3.4",
        "mean round-trip time of ping",
    ):
        assert wanted in text


def test_a_report_has_one_of_two_endings(folder, capsys):
    """Nothing is written else."""
    assert main(["lab", "3", "--report", "report.docx"]) == 2
    assert "a report is written as .html or .pdf" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("files", "says"),
    [
        ({"lab.json": b"{}"}, "it does not say which lab this is"),
        ({"lab.json": b'{"lab": true}'}, "it does not say which lab this is"),
        ({"lab.json": b'{"lab": 1%b}' % (b"0" * 300)}, "it does not say which lab this is"),  # no file has such a name
        ({"lab.json": b"nonsense"}, "this is no JSON"),
        ({"lab.json": b'{"lab": 999}'}, "999"),
        ({"lab.json": b'{"lab": 3}'}, "progress.jsonl: this is no progress of a lab"),
        ({"lab.json": b'{"lab": 3}', "progress.jsonl": b'{"kind": "lab", "format": 1}\n'}, "this is no progress"),
        (
            {
                "lab.json": b'{"lab": 3}',
                "progress.jsonl": b'{"kind": "lab", "format": 1, "lab": 3, "slug": "x"}\n{"kind": "typed"}\n',
            },
            "progress.jsonl:2: this line cannot be read",
        ),
    ],
)
def test_what_is_no_lab_is_ungradable(tmp_path, files, says):
    """The student's file is at fault, and the report says why; no network is started."""
    path = tmp_path / "a.zip"
    write_bundle(path, Bundle("lab3", "s1", files))
    report = grade(path, None, engine=None)
    assert report.status is Status.UNGRADABLE
    assert says in " ".join(report.notes)


@pytest.mark.parametrize("where", ["../../s2/", "/etc/", "exercise3"])
@pytest.mark.parametrize(("lab", "exercise"), [(999, "lab999"), (None, "")])
def test_the_manifest_does_not_say_which_lab_it_is(tmp_path, where, lab, exercise):
    """Regression: any text of it was the report's exercise, and led out of a student's folder in Moodle's feedback."""
    path = tmp_path / "a.zip"
    write_bundle(path, Bundle(f"{where}exercise3", "s1", {"lab.json": json.dumps({"lab": lab}).encode()}))
    report = grade(path, None, engine=None)
    assert (report.status, report.exercise) == (Status.UNGRADABLE, exercise)
    assert graded("no.module:none", path, None, {}).exercise == exercise
    entry = Entry("a", "Ada Lovelace_1_assignsubmission_file_/a.zip", report)
    with zipfile.ZipFile(io.BytesIO(moodle_feedback([entry], {"a": "page"}))) as archive:
        assert archive.namelist() == [f"Ada Lovelace_1_assignsubmission_file_/{exercise or 'a'}-report.html"]


class NoEngine:
    """No network starts."""

    def start(self, *_, **__):
        """As where the machine has no memory left."""
        raise BootError("the pocket kernel did not start")


def test_a_network_that_does_not_start_is_no_fault_of_the_student(folder):
    """Regression: where the first network failed to boot, every step counted as not done."""
    assert main(["submit", "--student", "s1"]) == 0
    with pytest.raises(BootError):
        grade(folder / "lab3-s1.zip", None, engine=NoEngine())
