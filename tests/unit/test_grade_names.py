# SPDX-License-Identifier: BSD-3-Clause
"""Whose a submission is: only a proven instance, or the roster, names a row of the grades; its own word never does."""

import csv
import io
import json
from dataclasses import replace

import graded
import pytest

from linklab.errors import EngineError
from linklab.exercise.bundle import Bundle, dump_bundle, write_bundle
from linklab.exercise.course import Course
from linklab.exercise.instance import Student, instance_text, issue
from linklab.exercise.load import find_exercise, load_exercise
from linklab.exercise.report import Report, Status
from linklab.grade.classfiles import canvas_csv, grades_csv
from linklab.grade.cohort import Entry
from linklab.grade.findings import findings
from linklab.grade.unit import grade
from linklab.grade.whose import absent, nowhere, placed
from linklab.grade.worker import Unit, run_unit

COURSE = b'course = "Networks"\nsecret = "' + b"5e" * 32 + b'"\n'
ADA, ALAN = Student("s1234", "Ada Lovelace"), Student("s1235", "Alan Turing")


@pytest.fixture(scope="module")
def signed():
    """Ada's instance of an exercise, as an object of JSON."""
    exercise = load_exercise(find_exercise("exercise3"))
    return json.loads(instance_text(exercise, issue(exercise, Course("Networks", b"\x5e" * 32), ADA)))


def handed_in(tmp_path, instance, name="work.zip"):
    """A submission with this instance, whose drawing is none, so that it cannot be graded."""
    path = tmp_path / name
    text = json.dumps(instance).encode()
    write_bundle(path, Bundle("exercise3", "s1234", {"instance.json": text, "topology.mn": b"{}"}))
    return path


def rows(entries):
    """The grades as Moodle's import reads them."""
    return list(csv.DictReader(io.StringIO(grades_csv(entries))))


@pytest.mark.parametrize("change", [{"student": "s1235"}, {"name": "Alan Turing"}, {"signature": "0" * 64}])
def test_a_forged_instance_names_no_row(tmp_path, signed, change):
    """Regression: student and name were taken before the proof, so a forged file wrote into another's row."""
    report = grade(handed_in(tmp_path, signed | change), COURSE, engine=None)
    assert (report.status, report.student, report.name, report.course) == (Status.UNGRADABLE, "", "", "")
    said = signed | change
    assert report.claims == f"{said['name']} ({said['student']})"
    entry = Entry("work", "work.zip", report)
    (row,) = rows([entry])
    assert (row["ID number"], row["Full name"], row["File"]) == ("", "work.zip", "work.zip")
    (finding,) = findings([entry])
    assert finding.kind == "unproven"
    assert finding.says == (
        f'it says that it is of "{report.claims}", which nothing proves; it is listed under the name of its file.'
    )


def test_a_proven_instance_names_its_row_also_where_it_cannot_be_graded(tmp_path, signed):
    """Whose it is was proven before the drawing was looked at."""
    path = tmp_path / "work.zip"
    files = {"instance.json": json.dumps(signed).encode(), "topology.mn": b"nonsense"}
    write_bundle(path, Bundle("exercise3", "s1234", files))
    report = grade(path, COURSE, engine=None)
    assert (report.status, report.student, report.name, report.unproven) == (
        Status.UNGRADABLE,
        "s1234",
        "Ada Lovelace",
        False,
    )
    assert findings([Entry("work", "work.zip", report)]) == []


def test_a_manifest_of_another_student_is_named(tmp_path, signed):
    """Whose archive it was before another instance was put into it; a manifest that names nobody says nothing."""
    path = tmp_path / "work.zip"
    files = {"instance.json": json.dumps(signed).encode(), "topology.mn": b"{}"}
    alan = Entry("b", "b.zip", graded.report("s1235", "Alan Turing"))
    for named, packed_for in (("s1235", "s1235"), ("", ""), ("s1234", "")):
        write_bundle(path, Bundle("exercise3", named, files))
        report = grade(path, COURSE, engine=None)
        assert report.packed_for == packed_for
        says = [each.says for each in findings([Entry("work", "work.zip", report), alan])]
        told = "manifest.json says that it was packed for Alan Turing (s1235), its parameters are those of Ada Lovelace"
        assert says == ([f"{told} (s1234)."] if packed_for else [])


def test_without_the_course_file_nothing_is_proven(tmp_path, signed):
    """The sentence says what is needed."""
    report = grade(handed_in(tmp_path, signed), None, engine=None)
    assert (report.student, report.claims) == ("", "Ada Lovelace (s1234)")
    assert "--course" in " ".join(report.notes)


def broken(bundle, course):
    """A grader whose tool breaks."""
    raise EngineError("the pocket kernel did not come up")


@pytest.mark.parametrize(("change", "student"), [({}, "s1234"), ({"student": "s1235"}, "")])
def test_what_broke_is_named_if_it_is_proven(tmp_path, signed, monkeypatch, change, student):
    """A tool of ours that breaks is no proof either."""
    monkeypatch.setenv("PYTHONPATH", str(graded.__file__).rpartition("/")[0])
    text = json.dumps(signed | change).encode()
    content = dump_bundle(Bundle("exercise3", "x", {"instance.json": text, "topology.mn": b"{}"}))
    report = run_unit(Unit("a.zip", content, COURSE, 60.0, grade="test_grade_names:broken")).report
    assert (report.status, report.student, report.unproven) == (Status.ERROR, student, not student)
    assert report.exercise == "exercise3"


# --- labs


def lab(label, claims, score=5.0):
    """A lab that was handed in under a name, and says whose it is."""
    report = Report("lab3", "Lab 3: netem", "", "", "", label, Status.GRADED, score, 28.0, unproven=True, claims=claims)
    return Entry(label.removesuffix(".zip"), label, report)


def test_a_lab_is_listed_under_its_file():
    """Regression: lab.json named the row of grades.csv, so whoever wrote another's id there took that row."""
    entries = [lab("lab3-s1234.zip", "Ada Lovelace (s1234)"), lab("lab3-x.zip", "Ada Lovelace (s1234)", 28.0)]
    assert [(row["ID number"], row["Full name"]) for row in rows(entries)] == [
        ("", "lab3-s1234.zip"),
        ("", "lab3-x.zip"),
    ]
    assert "s1234," not in canvas_csv(entries)
    told = {tuple(entry.label for entry in finding.entries): finding.says for finding in findings(entries)}
    assert told["lab3-x.zip",].startswith('it says that it is of "Ada Lovelace (s1234)", which nothing proves')
    assert "--roster" in told["lab3-s1234.zip",]


@pytest.mark.parametrize(
    ("label", "student"),
    [
        ("Ada Lovelace_1234_assignsubmission_file_/lab3-s1235.zip", "s1234"),
        ("turingalan_LATE_12_345_lab3-s1234.zip", "s1235"),
        ("lab3-s1235.zip", "s1235"),
        ("lab3.zip", ""),
        ("lab3-s1234-and-s1235.zip", ""),
        ("Grace Hopper_7_assignsubmission_file_/lab3-s1234.zip", ""),
        ("Grace_H_7_assignsubmission_file_/Ada Lovelace_8_assignsubmission_file_/lab3.zip", ""),  # a folder of Grace's
    ],
)
def test_the_roster_names_the_student_of_the_files_name(label, student):
    """Of a file from a platform only what the platform wrote; of what two students fit, neither."""
    report = placed(lab(label, "Ada Lovelace (s1234)").report, label, (ADA, ALAN))
    assert report.student == student
    assert report.name == {"s1234": "Ada Lovelace", "s1235": "Alan Turing", "": ""}[student]
    entry = Entry("x", label, report)
    told = [finding.says for finding in findings([entry])]
    if student == "s1234":
        assert told == []
    else:
        assert len(told) == 1


@pytest.mark.parametrize(
    ("label", "student"),
    [
        ("müllerjörg_LATE_12_345_lab3.zip", "4101"),
        ("schäfergroßnina_12_345_lab3.zip", "4125"),
        ("garcíalópezmaríajosé_12_345_lab3.zip", "4104"),
        ("żółćłukasz_12_345_lab3.zip", "4105"),
        ("Nina Schäfer-Groß_12_assignsubmission_file_/lab3.zip", "4125"),
        ("lovelaceada_12_345_lab3-4101.zip", ""),
    ],
)
def test_names_of_other_alphabets_are_known_as_canvas_and_moodle_write_them(label, student):
    """Regression: Canvas's name of a file was not seen as one where it had an umlaut, a hyphen, or two last names."""
    roster = (
        *(Student("4101", "Jörg Müller"), Student("4125", "Nina Schäfer-Groß")),
        *(Student("4104", "María José García López"), Student("4105", "Łukasz Żółć")),
    )
    assert placed(lab(label, "").report, label, roster).student == student


@pytest.mark.parametrize(
    ("label", "student"),
    [
        ("Ada Byron_1_assignsubmission_file_/lab3.zip", ""),
        ("Ada_1_assignsubmission_file_/lab3.zip", "ada"),
        ("Bob Ada Jones_1_assignsubmission_file_/lab3.zip", "b7"),
        ("Jean-Luc Picard_1_assignsubmission_file_/lab3.zip", ""),
        ("Bob Ada Jones bob77_1_assignsubmission_file_/lab3.zip", ""),  # the name is one's, the id another's
        ("Jones b7_1_assignsubmission_file_/lab3.zip", ""),  # too short to be known in a name
        ("Jones bob77_1_assignsubmission_file_/lab3.zip", "bob77"),
        ("lab3-ada.zip", "ada"),
        ("lab3 Bob Ada Jones.zip", ""),  # somebody's own words, which fit two
    ],
)
def test_an_id_that_is_a_first_name_is_not_known_in_another_persons_name(label, student):
    """Regression: the lab of Ada Byron was a student's with the id "ada", and who is called so as well had none."""
    roster = (Student("ada", "Ada Lovelace"), Student("b7", "Bob Ada Jones"), Student("bob77", ""))
    roster += (Student("jean-luc", "Jean-Luc Godard"),)
    assert placed(lab(label, "").report, label, roster).student == student


def test_a_short_id_is_known_in_the_name_that_submit_gives():
    """Regression: ids of two characters were found in no name, as they stand in many by chance."""
    roster = (Student("s4", ""), Student("s1", ""))
    report = graded.ungradable(student="", name="", unproven=True)
    assert placed(report, "exercise1-s4.zip", roster).student == "s4"
    assert placed(report, "week s4.zip", roster).student == ""
    assert placed(report, "Ada Lovelace_1234_assignsubmission_file_/exercise1-s4.zip", roster).student == ""


def test_the_roster_does_not_touch_what_is_proven():
    """Whatever the file is called."""
    report = graded.report(student="s9", name="Grace Hopper")
    assert placed(report, "lab3-s1234.zip", (ADA, ALAN)) == report


def test_two_files_of_one_student_are_named():
    """With a roster too, somebody may have called a file by another's id."""
    entries = [
        replace(entry, report=placed(entry.report, entry.label, (ADA, ALAN)))
        for entry in (lab("lab3-s1234.zip", "Ada Lovelace (s1234)"), lab("b/lab3-s1234.zip", "Ada Lovelace (s1234)"))
    ]
    (finding,) = findings(entries)
    assert finding.says == "2 files are named for Ada Lovelace (s1234), and not all are proven to be theirs."


# --- who handed in nothing


def test_who_handed_in_nothing_is_named_by_exercise():
    """Of each exercise that is here; a practice instance and a file of nobody are no student's."""
    entries = [
        Entry("a", "a.zip", graded.report(student="s1234")),
        Entry("b", "b.zip", graded.report(student="practice")),
        Entry("c", "c.zip", replace(graded.report(student="s1235"), exercise="exercise4", heading="Exercise 4: Flows")),
        Entry("d", "d.zip", graded.ungradable(exercise="", heading="", student="")),
    ]
    assert [(found.kind, found.entries, found.says) for found in absent(entries, (ADA, ALAN))] == [
        ("missing", (), "Exercise 3: nothing here is from 1 of 2 students: Alan Turing (s1235)."),
        ("missing", (), "Exercise 4: nothing here is from 1 of 2 students: Ada Lovelace (s1234)."),
    ]
    assert absent(entries[:1], (ADA,)) == []
    assert absent(entries, ()) == []


def test_who_handed_in_nothing_has_a_line_in_the_grades():
    """Regression: "one line a student", and of these there was none."""
    grace, lab = Student("s9", "Grace Hopper"), replace(graded.report(student="", name=""), unproven=True)
    entries = [Entry("a", "a.zip", graded.report(student="s1234")), Entry("b", "lab3-s1235.zip", lab)]
    assert nowhere(entries, (ADA, ALAN, grace)) == [grace], "the lab is named for Alan, and proves nothing"
    both = Entry("c", "lab3-s1234-s1235.zip", lab)
    assert nowhere([both], (ADA, ALAN)) == [ADA, ALAN], "regression: a file that names several is nobody's"
    text = grades_csv(entries[:1], nowhere(entries[:1], (ADA, ALAN)))
    lines = list(csv.DictReader(io.StringIO(text)))
    assert [(line["ID number"], line["Status"]) for line in lines] == [
        ("s1234", "graded"),
        ("s1235", "nothing handed in"),
    ]
    assert (lines[1]["Full name"], lines[1]["File"]) == ("Alan Turing", "")


def test_a_file_in_the_name_of_who_is_missing_is_named():
    """Regression: who handed in another's archive, or the practice instance, was said to have handed in nothing."""
    entries = [
        Entry("a", "Ada Lovelace_1_assignsubmission_file/e.zip", graded.report(student="practice", name="")),
        Entry("b", "exercise3-s1235.zip", graded.report(student="s9", name="Grace Hopper")),
    ]
    (found,) = absent(entries, (ADA, ALAN, Student("s9", "Grace Hopper"), Student("s7", "")))
    assert found.says == (
        "Exercise 3: nothing here is from 3 of 4 students: Ada Lovelace (s1234), Alan Turing (s1235), s7. "
        "But there are files named for students of these: Ada Lovelace (s1234): a, Alan Turing (s1235): b."
    )


def test_of_a_long_list_thirty_are_named():
    """So that the page can still be read where the roster is a whole year's."""
    roster = [Student(f"s{number}", "") for number in range(100, 141)]
    (found,) = absent([Entry("a", "a.zip", graded.report(student="s100"))], roster)
    assert found.says.startswith("Exercise 3: nothing here is from 40 of 41 students: s101, s102, ")
    assert found.says.endswith(", s130, and 10 more.")
