"""What a platform takes and gives: the archive of a harness, and results as each platform reads them."""

import io
import json
import os
import sys
import zipfile
from pathlib import Path

import pytest
import yaml
from graded import report, ungradable

from linklab import cli
from linklab.errors import BundleError, InputError
from linklab.exercise.bundle import parse_bundle
from linklab.grade.harness import UploadParts, harness, package_name, without_places
from linklab.grade.platform import (
    counting,
    github_report,
    gradescope_metadata,
    gradescope_results,
    inginious_feedback,
    inginious_time,
    packed,
)
from linklab.grade.results import results

COURSE = f'course = "Networks"\nsecret = "{"5e" * 32}"\nexercises = [\n  "my",\n]\n[late]\nper_day = "10%"\n'.encode()


sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from container import deb  # noqa: E402 - beside this folder

WHOLE, STUDENTS = deb("linklab"), deb("linklab-student")


def unpacked(content):
    """Name → contents, and the names of the programs."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        files = {entry.filename: archive.read(entry) for entry in archive.infolist()}
        programs = {entry.filename for entry in archive.infolist() if entry.external_attr >> 16 & 0o111}
    return files, programs


# --- the archive


def test_gradescopes_archive_has_both_scripts_at_its_top():
    """Executable, with the package, the course file without paths of the instructor's machine, and own exercises."""
    own = {"9-mine": {"exercise.toml": b"format = 1\n"}}
    files, programs = unpacked(harness("gradescope", UploadParts(WHOLE, COURSE, own)))
    assert set(files) == {"setup.sh", "run_autograder", "linklab.deb", "course.toml", "exercises/9-mine/exercise.toml"}
    assert programs == {"setup.sh", "run_autograder"}
    assert files["course.toml"] == COURSE.replace(b'exercises = [\n  "my",\n]\n', b"")
    assert files["linklab.deb"] == WHOLE


def test_inginious_task_is_yaml_and_its_secrets_are_in_the_environment_alone():
    """The task's folder is readable for whatever runs in the container."""
    files, programs = unpacked(harness("inginious", UploadParts(WHOLE, COURSE, title='Networks "1" \\')))
    task = yaml.safe_load(files["task/task.yaml"])
    assert task["name"] == 'Networks "1" \\'
    assert task["problems"]["submission"]["type"] == "file"
    assert (task["environment_id"], task["environment"], task["network_grading"]) == ("linklab", "linklab", False)
    assert programs == {"task/run"}
    assert {name for name in files if name.startswith("task/")} == {"task/task.yaml", "task/run"}
    assert b"5e5e" in files["environment/secret/course.toml"]


def test_githubs_archive_holds_what_students_may_read():
    """A workflow that GitHub finds, and the students' package; no secret and no whole package goes into it."""
    files, _ = unpacked(harness("github", UploadParts(STUDENTS)))
    assert set(files) == {".github/workflows/classroom.yml", ".github/linklab/linklab-student.deb"}
    workflow = yaml.safe_load(files[".github/workflows/classroom.yml"])
    assert (workflow["name"], list(workflow["jobs"])) == ("Autograding Tests", ["run-autograding-tests"])
    assert workflow["permissions"] == {"contents": "read"}
    with pytest.raises(InputError, match=r"it must be linklab-student \(make student-deb\)"):
        harness("github", UploadParts(WHOLE))
    with pytest.raises(InputError, match="--course and --exercises stay with you"):
        harness("github", UploadParts(STUDENTS, COURSE))


def test_the_same_input_gives_the_same_bytes():
    """So that what was uploaded can be compared."""
    for platform, parts in (("gradescope", UploadParts(WHOLE, COURSE)), ("github", UploadParts(STUDENTS))):
        assert harness(platform, parts) == harness(platform, parts)


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (STUDENTS, r"the package is linklab-student: grading needs the whole one, linklab \(make deb\)"),
        (b"PK\3\4", r"--package is no Debian package \(it does not begin as one\); make deb builds one"),
        (b"!<arch>\n", "--package is no Debian package"),
        (WHOLE[:100], "--package is no Debian package"),
        (WHOLE[:-3], r"--package is no Debian package \(it is cut off\); make deb builds one"),
        (WHOLE[: WHOLE.index(b"data.tar")], r"--package is no Debian package \(it is not whole\); make deb builds one"),
    ],
)
def test_a_package_that_cannot_grade_is_refused(content, says):
    """Before anything is uploaded."""
    with pytest.raises(InputError, match=says):
        harness("gradescope", UploadParts(content))


def test_a_package_says_its_name():
    """As dpkg-deb reads it."""
    assert (package_name(WHOLE), package_name(STUDENTS)) == ("linklab", "linklab-student")


def test_places_that_cannot_be_left_out_are_named():
    """They would be looked for on the platform."""
    with pytest.raises(InputError, match="on lines of its own"):
        without_places(b'"exercises" = ["my"]\n')


def test_the_command_writes_it_for_its_owner_alone(tmp_path, monkeypatch, capsys):
    """It holds the course's secret, and says so."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "l.deb").write_bytes(WHOLE)
    (tmp_path / "s.deb").write_bytes(STUDENTS)
    (tmp_path / "c.toml").write_bytes(COURSE.replace(b'exercises = [\n  "my",\n]\n', b""))
    arguments = ["grade", "--harness", "gradescope", "a.zip", "--package", "l.deb", "--course", "c.toml"]
    assert cli.main(arguments) == 0
    assert (tmp_path / "a.zip").stat().st_mode & 0o777 == 0o600
    said = capsys.readouterr().out
    assert "a.zip: holds the course's secret; give it to nobody but the platform" in said
    assert "a.zip: takes a submission of any exercise for points" in said
    assert cli.main([*arguments, "--assignment", "p1"]) == 0
    assert unpacked((tmp_path / "a.zip").read_bytes())[0]["assignment"] == b"problem1\n"
    assert "any exercise" not in capsys.readouterr().out
    for more, says in (
        (["--harness", "moodle", "a.zip"], '"moodle" is no platform that is known; there are gradescope, inginious'),
        (["--harness", "github", "a.zip"], "--harness needs Linklab's package: --package FILE.deb (make student-deb"),
        (["--harness", "github", "a.zip", "a.zip"], "no submission goes with it"),
        (["a.zip", "--package", "l.deb"], "--package goes with --harness"),
        (["a.zip", "--assignment", "3"], "--assignment goes with --harness"),
        (
            [*arguments[1:], "--assignment", "three"],
            '--assignment: "three" is no exercise; write one such as exercise3',
        ),
        (["--harness", "github", "a.zip", "--package", "s.deb", "--assignment", "3"], "on GitHub nothing is a mark"),
    ):
        assert cli.main(["grade", *more]) == 2
        assert says in capsys.readouterr().err


# --- what comes in


def test_a_submission_is_the_one_archive_or_what_the_platform_unpacked(tmp_path):
    """Gradescope unpacks an archive that is handed in; an empty folder is an archive of nothing."""
    assert unpacked(packed(tmp_path)[1])[0] == {}
    (tmp_path / "exercise3-s1.zip").write_bytes(b"zip")
    assert packed(tmp_path) == ("exercise3-s1.zip", b"zip")
    (tmp_path / "results").mkdir()
    (tmp_path / "results/a.txt").write_bytes(b"a")
    name, content = packed(tmp_path)
    assert (name, unpacked(content)[0]) == ("submission.zip", {"exercise3-s1.zip": b"zip", "results/a.txt": b"a"})


def test_a_file_whose_name_is_not_utf_8_is_packed_all_the_same(tmp_path):
    """Regression: one beside the student's files, as an archive made elsewhere has it, ended the autograder."""
    Path(os.fsdecode(os.fsencode(tmp_path) + b"/r\xe9sultats.txt")).write_bytes(b"r")
    (tmp_path / "work.sh").write_bytes(b"true")
    assert unpacked(packed(tmp_path)[1])[0] == {"r\ufffdsultats.txt": b"r", "work.sh": b"true"}


def test_of_what_is_too_large_no_more_is_read_than_it_takes_to_refuse_it(tmp_path):
    """Gradescope unpacks a file of zeros, a thousand times its archive's size, and memory is not for all of it."""
    for name in ("results.txt", "work.sh"):
        with (tmp_path / name).open("wb") as file:
            file.truncate(2**40)
    with pytest.raises(BundleError, match="50 MiB"):
        parse_bundle(packed(tmp_path)[1], "submission.zip")
    (tmp_path / "work.sh").unlink()
    (tmp_path / "results.txt").rename(tmp_path / "exercise3-s1.zip")
    with pytest.raises(BundleError, match="50 MiB"):
        parse_bundle(packed(tmp_path)[1], "exercise3-s1.zip")


@pytest.mark.parametrize(
    ("exercise", "student", "assignment", "issued", "says"),
    [
        ("exercise3", "s1", "exercise3", True, ""),
        ("exercise3", "s1", "", True, ""),
        ("", "", "exercise3", True, ""),
        ("exercise3", "practice", "exercise3", False, ""),
        ("exercise3", "practice", "", True, "the public practice instance, which is nobody's"),
        ("exercise3", "practice-12", "exercise3", True, "the public practice instance, which is nobody's"),
        ("exercise1", "s1", "exercise3", True, "This assignment is exercise3, and what was handed in is of exercise1"),
        ("lab3", "", "exercise3", False, "This assignment is exercise3, and what was handed in is of lab3"),
    ],
)
def test_what_counts_for_an_assignment(exercise, student, assignment, issued, says):
    """Regression: a platform gave points for the practice instance, which all share, and for another exercise."""
    whole = results(report(exercise=exercise, student=student))
    shown = counting(whole, assignment, issued=issued)
    if not says:
        assert shown == whole
        return
    assert (shown["score"], shown["tests"]) == (0.0, [])
    assert says in shown["output"]
    assert inginious_feedback(shown, 12.0)[:2] == ("failed", 0.0)
    assert json.loads(gradescope_results(shown))["tests"] == []


@pytest.mark.parametrize(
    ("said", "zoned", "when"),
    [
        ("2026-11-28 02:22:26.123456+00:00", False, "2026-11-28T02:22:26+00:00"),
        ("2026-11-28 02:22:26.123456\n", True, "2026-11-28T02:22:26"),
        ("2026-11-28 02:22:26.123456\n", False, ""),
        ("None", True, ""),
        ("", True, ""),
    ],
)
def test_inginious_says_when(said, zoned, when):
    """Regression: no deadline held there.  Older versions give their server's time without its zone, or none."""
    assert inginious_time(said, zoned=zoned) == when


def test_gradescope_says_when_and_by_whom():
    """As its documentation shows it; another form is an error, since lateness costs points."""
    data = {"created_at": "2018-07-01T14:22:32.365935-07:00", "users": [{"email": "s@example.com", "name": "S"}]}
    assert gradescope_metadata(json.dumps(data)) == ("2018-07-01T14:22:32.365935-07:00", ["S <s@example.com>"], None)
    data["assignment"] = {"total_points": "20.0", "title": "Programming Assignment 1"}
    assert gradescope_metadata(json.dumps(data))[2] == 20.0
    assert gradescope_metadata(json.dumps({**data, "assignment": {"total_points": "many"}}))[2] is None
    for wrong in ("", "[]", "{}", '{"created_at": "2018-07-01T14:22:32"}'):
        with pytest.raises(InputError, match=r"submission_metadata\.json does not say when"):
            gradescope_metadata(wrong)


# --- what goes out


def test_gradescope_gets_nothing_that_only_the_instructor_may_hold():
    """Score and tests as in results.json; no report, which has hidden checks and the planted fault."""
    whole = results(report(fault="window"))
    shown = json.loads(gradescope_results(whole))
    assert "extra_data" not in json.dumps(shown)
    assert (shown["score"], len(shown["tests"])) == (whole["score"], len(whole["tests"]))
    assert [test["visibility"] for test in shown["tests"]].count("hidden") == 2
    broke = json.loads(gradescope_results(results(ungradable())))
    assert broke["tests"] == []


def test_inginious_gets_a_grade_in_percent_and_text_that_stays_text():
    """Hidden checks are not in it; where our tool broke there is no grade."""
    whole = results(report())
    state, grade, text = inginious_feedback(whole, 12.0)
    assert (state, grade) == ("failed", 33.33)
    assert text.startswith("::\n\n    Exercise 3: ")
    assert "failed: Reno fills the link (0 of 4 points)" in text
    assert "BBR is not hurt by losses" not in text
    assert all(not line or line.startswith("    ") for line in text.splitlines()[2:])
    assert inginious_feedback({**whole, "score": 12.0}, 12.0)[:2] == ("success", 100.0)
    assert inginious_feedback({"output": "It broke."}, 0.0) == ("crash", None, "::\n\n    It broke.\n")


def test_github_gets_the_points_of_the_visible_checks():
    """As annotations that the classroom's reporter wrote too, and as a table in which text stays text."""
    checks = [
        {"outcome": "pass", "title": "A | b", "score": 2, "max_score": 2},
        {"outcome": "fail", "title": "<b>", "score": 0, "max_score": 4.5},
    ]
    lines, summary = github_report({"heading": "E 1: T", "checks": checks, "hidden": {"checks": 2, "points": 3}})
    assert lines[-2:] == [
        "::notice title=Autograding complete::Points 2/6.5",
        '::notice title=Autograding report::{"totalPoints": 2, "maxPoints": 6.5}',
    ]
    assert "| A &#124; b | pass | 2 / 2 |" in summary
    assert "| &#60;b&#62; | fail | 0 / 4.5 |" in summary
    assert "2 hidden checks, worth 3 points, are judged when you hand in." in summary
