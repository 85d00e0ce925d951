# SPDX-License-Identifier: BSD-3-Clause
"""A submission with any value anywhere in its files of data: graded as what it is, or refused, and never our error."""

import json
import tempfile

import pytest
from extremes import kinds_of_places, put

from linklab.exercise.bundle import Bundle, dump_bundle
from linklab.exercise.course import Course
from linklab.exercise.instance import Student, instance_text, issue
from linklab.exercise.load import find_exercise, load_exercise
from linklab.exercise.report import Status
from linklab.grade.lab_unit import _read
from linklab.grade.unit import grade
from linklab.guide.evidence import EditorEvidence, TypedEvidence
from linklab.guide.progress import FILE, FOLDER, LabProgress
from linklab.lab.model import find_lab, load_lab

COURSE = Course("Extremes", b"a secret of the course of extremes")
SECRET = f'course = "{COURSE.name}"\nsecret = "{COURSE.secret.hex()}"\n'.encode()
EXERCISE = load_exercise(find_exercise("problem1"))
INSTANCE = json.loads(instance_text(EXERCISE, issue(EXERCISE, COURSE, Student("s1", "Ada"))))
DRAWING = json.loads((EXERCISE.folder / EXERCISE.topology).read_text(encoding="utf-8"))
NOTES = {
    "notes_of": "03-netem-delay-and-jitter",
    "version": 1,
    "name": "Ada",
    "predictions": {"one-round-trip": {"number": "100", "unit": "ms", "why": "one way"}},
    "answers": {"1": "far"},
}
LAB = {"lab": 3, "student": "s1", "name": "Ada", "replayed": "x"}
FEW_EXTREMES = [None, [], {}, "", float("nan"), 10**400, -1, 2**64]


class NetworkAskedForError(Exception):
    """The submission has been read."""


class Engine:
    """Starts nothing: what files of data do is done before the first network."""

    def start(self, *_, **__):
        """Nothing is to be started."""
        raise NetworkAskedForError


def graded(folder, files):
    """The grader reads it, and asks for a network, or says in plain words why none is needed."""
    (folder / "s1.zip").write_bytes(dump_bundle(Bundle("problem1" if "lab.json" not in files else "lab3", "s1", files)))
    try:
        report = grade(folder / "s1.zip", SECRET, Engine(), seeds=(1,))
    except NetworkAskedForError:
        return
    assert report.status is Status.UNGRADABLE or report.stopped, report.notes
    assert all(note.isprintable() for note in report.notes)
    report.dumps()


def text(data):
    """As a file has it."""
    return json.dumps(data).encode()


@pytest.mark.parametrize("path", kinds_of_places(INSTANCE), ids=lambda path: "/".join(map(str, path)))
def test_an_instance_with_an_extreme_anywhere(path, tmp_path):
    """Its signature does not fit then, or what was changed is told."""
    for value in FEW_EXTREMES:
        graded(tmp_path, {"instance.json": text(put(INSTANCE, path, value)), "topology.mn": text(DRAWING)})


@pytest.mark.parametrize("path", kinds_of_places(DRAWING), ids=lambda path: "/".join(map(str, path)))
def test_a_drawing_with_an_extreme_anywhere(path, tmp_path):
    """It is no topology, or one that can be asked for."""
    for value in FEW_EXTREMES:
        files = {"instance.json": text(INSTANCE), "topology.mn": text(put(DRAWING, path, value)), "work.sh": b"true\n"}
        graded(tmp_path, files)


@pytest.fixture(scope="module")
def progress(tmp_path_factory):
    """The lines of a lab's progress."""
    folder = tmp_path_factory.mktemp("lab")
    begun = LabProgress.begin(folder, load_lab(find_lab("3")))
    begun.note("begun", environment={"seed": 1, "kernel": "7.3.4"})
    begun.add(EditorEvidence(("run",)))
    begun.add(TypedEvidence("h1", "ping -c 5 10.0.0.2", 1.0))
    begun.add(TypedEvidence("h1", "ping -c 5 10.0.0.2", 1.0, 5.0, "5 received", 0, {"ping.rtt.mean": (5e-6, "s")}))
    lines = (folder / FOLDER / FILE).read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


def handed_in(progress, lab=LAB, notes=NOTES):
    """The files of a lab's submission."""
    return {
        "lab.json": text(lab),
        "notes.json": text(notes),
        "progress.jsonl": b"".join(text(line) + b"\n" for line in progress),
    }


def test_what_is_honest_asks_for_a_network(progress, tmp_path):
    """Else the tests here would say little."""
    exercise = {"instance.json": text(INSTANCE), "topology.mn": text(DRAWING), "work.sh": b"true\n"}
    for name, files in (("lab3", handed_in(progress)), ("problem1", exercise)):
        (tmp_path / "s1.zip").write_bytes(dump_bundle(Bundle(name, "s1", files)))
        with pytest.raises(NetworkAskedForError):
            grade(tmp_path / "s1.zip", SECRET, Engine(), seeds=(1,))


def test_a_lab_with_an_extreme_anywhere_in_its_progress(progress, tmp_path):
    """A line that cannot be read is told."""
    for path in kinds_of_places(progress):
        for value in FEW_EXTREMES:
            graded(tmp_path, handed_in(put(progress, path, value)))


PLACES = ["../../x", "../x", "é" * 200, "a\0b", "x" * 300, "", ".", "a/" * 50 + "b", "\ud800", 1, None, ["a"], {"a": 1}]


@pytest.mark.parametrize("place", PLACES)
def test_a_lab_whose_files_belong_in_odd_places(progress, tmp_path, monkeypatch, place):
    """Nothing is written outside of its folder, and no place is an error of ours."""
    (tmp_path / "a/b").mkdir(parents=True)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "a/b"))
    lab = LAB | {"places": {"results/a": place}, "executable": [place, "results/a"]}
    graded(tmp_path, handed_in(progress, lab) | {"results/a": b"x"})
    assert sorted(path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*")) == ["a", "a/b", "s1.zip"]


def test_answers_without_end_are_not_passed_on():
    """Regression: 180,000 empty ones made a report of 11 MB."""
    many = {"answers": {f"{number:03}" + "x" * 300: "" for number in range(1000)}, "predictions": {}}
    read = _read(Bundle("lab3", "s1", {"lab.json": text(LAB), "notes.json": text(many)}))
    found = read.answers
    assert (len(found), read.more) == (100, ("Of 1,000 answers the first 100 are told.",))
    assert max(map(len, found)) <= 101


@pytest.mark.parametrize(("whole", "name"), [(LAB, "lab"), (NOTES, "notes")])
def test_a_lab_with_an_extreme_anywhere_in_what_is_said_of_it(progress, tmp_path, whole, name):
    """Words are words, whatever they came as."""
    for path in kinds_of_places(whole):
        for value in FEW_EXTREMES:
            graded(tmp_path, handed_in(progress, **{name: put(whole, path, value)}))
