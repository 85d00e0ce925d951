"""Results that are there: some graded again, marks merged into them, and everything else untouched."""

import contextlib
import errno
import json
import os
import signal
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import pytest

from linklab import cli
from linklab.commands import grade as command
from linklab.grade import grading
from linklab.grade.grading import GradingSettings
from linklab.grade.results_folder import OURS, stored

HERE = Path(__file__).parent
COURSE = (
    f'course = "Networks 2025"\nsecret = "{"5e" * 32}"\n[late]\nper_day = "10%"\n'
    "[exercise3]\ndeadline = 2026-11-20T23:00:00Z\n"
)
POINTS = "id,exercise,points,reason\ns2,3,2.5,a good drawing\n"
TIMES = "id,time\ns1,2026-11-20 22:00Z\ns2,2026-11-21 12:00Z\ns3,2026-11-20 22:00Z\n"


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A folder with submissions of s1, s2, and s3, a course file, and lists; the grader of the tests, no kernel."""
    monkeypatch.setenv("PYTHONPATH", str(HERE))
    monkeypatch.setattr(command, "grading_engine", lambda *, sandboxed: SimpleNamespace(check=lambda: None))
    monkeypatch.setattr(command, "GradingSettings", partial(GradingSettings, grade="graded:grade"))
    monkeypatch.chdir(tmp_path)
    for name in ("s1", "s2", "s3"):
        hand_in(name)
    Path("c.toml").write_text(COURSE)
    Path("c.toml").chmod(0o600)
    Path("points.csv").write_text(POINTS)
    Path("times.csv").write_text(TIMES)
    return tmp_path


def hand_in(who, **what):
    """A submission, in a folder as Moodle makes it, of which the grader is told what to do."""
    path = Path(f"in/{who}_1_assignsubmission_file_/e3.zip")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"do": "grade", "student": who, **what}))
    return path


def contents(folder):
    """Every file below, with its bytes."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes() for path in Path(folder).rglob("*") if path.is_file()
    }


def grade(*arguments, code=0):
    """Run `linklab grade`."""
    assert cli.main(["grade", *arguments]) == code


def marks(folder):
    """Student → what the file for Moodle says."""
    lines = (Path(folder) / "grades.csv").read_text("utf-8-sig").splitlines()[1:]
    return {line.split(",")[0]: line.split(",")[4] for line in lines}


def test_one_submission_graded_again_leaves_the_others_untouched(place):
    """Only its folder and the files of the class change; the result is as if all had been graded so at once."""
    grade("in", "--out", "old")
    before = contents("old")
    path = hand_in("s2", name="Bob B")
    grade(str(path), "--into", "old")
    grade("in", "--out", "new")
    after = contents("old")
    assert after == contents("new")
    changed = {name.partition("/")[0] for name in after if after[name] != before.get(name)}
    assert changed == {
        *("s2-e3", "grades.csv", "grades-moodle.csv", "grades-canvas.csv", "index.html", "junit.xml"),
        "feedback-moodle.zip",
    }
    assert "Bob B" in (place / "old/index.html").read_text()


@pytest.mark.parametrize("file", ["results.json", "instructor.html"])
def test_ctrl_c_while_results_are_replaced_loses_nothing(place, monkeypatch, file):
    """Regression: the old ones were removed first, and after a Ctrl+C nothing could be graded into the folder."""
    grade("in", "--out", "old")
    before = contents("old")
    path = hand_in("s2", name="Bob B")

    def write(at, text, *, written=grading.write):
        written(at, text)
        if at.name == file and "s2" in at.parent.name:
            raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(grading, "write", write)
        grade(str(path), "--into", "old", code=130)
    assert {name: data for name, data in contents("old").items() if not name.startswith(".")} == before
    grade(str(path), "--into", "old")
    grade("in", "--out", "new")
    assert contents("old") == contents("new")


@pytest.mark.parametrize("file", ["report.html", "grades.csv"])
def test_ctrl_c_comes_once_a_submission_or_the_class_is_whole(place, monkeypatch, file):
    """A signal that comes while these are written waits for the last of their files."""

    def write(at, text, *, written=grading.write):
        if at.name == file and "s2" not in at.parent.name:
            signal.raise_signal(signal.SIGINT)
        written(at, text)

    with monkeypatch.context() as patched:
        patched.setattr(grading, "write", write)
        grade("in", "--out", "old", "--jobs", "1", code=130)
    there = sorted(each.name for each in Path("old").iterdir() if each.is_dir() and each.name != "logs")
    assert there == (["s1-e3"] if file == "report.html" else ["s1-e3", "s2-e3", "s3-e3"])
    assert {each.name for each in Path("old/s1-e3").iterdir()} == set(OURS)
    assert [each.name for each in stored(Path("old")).entries] == there


@pytest.mark.parametrize("stopped", [KeyboardInterrupt, SystemExit])
def test_a_class_that_was_stopped_is_gone_on_with(place, monkeypatch, stopped):
    """Regression: without a summary nothing could be graded into its folder, and all had to be graded again."""
    Path("roster.csv").write_text("id,name\ns1,Ada A\ns2,Bob B\ns8,Hal H\n")

    def written(out, name, *rest, real=grading._written):
        if "s2" in name:
            raise stopped(143)
        return real(out, name, *rest)

    with monkeypatch.context() as patched:
        patched.setattr(grading, "_written", written)
        with contextlib.suppress(SystemExit):
            cli.main(["grade", "in", "--out", "old", "--jobs", "1", "--roster", "roster.csv"])
    summary = json.loads(Path("old/summary.json").read_text())
    assert [each["name"] for each in summary["submissions"]] == ["s1-e3"]
    assert {each["why"] for each in summary["skipped"]} == {"grading was stopped before its turn; grade it with --into"}
    assert [each["file"].partition("_")[0] for each in summary["skipped"]] == ["s2", "s3"]
    assert "missing" not in {each["kind"] for each in summary["findings"]}
    rest = [str(path) for path in sorted(Path("in").glob("s[23]*/e3.zip"))]
    grade(*rest, "--into", "old")
    grade("in", "--out", "new", "--roster", "roster.csv")
    assert contents("old") == contents("new")


@pytest.mark.parametrize("file", ["report.html", "lists.json", "summary.json"])
def test_grading_that_was_killed_is_resumed(place, monkeypatch, capsys, file):
    """Regression: SIGKILL left no summary, so nothing could be graded into the folder.

    Whenever it comes: while the second submission's files are written, before they are noted, or after.
    """
    Path("roster.csv").write_text("id,name\ns1,Ada A\ns2,Bob B\ns3,Cy C\ns8,Hal H\n")
    if (pid := os.fork()) == 0:
        seen = []

        def write(at, text, *, written=grading.write):
            seen.append(at.name)
            if seen.count(file) == 2:
                os.kill(os.getpid(), signal.SIGKILL)
            written(at, text)

        try:
            monkeypatch.setattr(grading, "write", write)
            cli.main(["grade", "in", "--out", "old", "--jobs", "1", "--roster", "roster.csv"])
        finally:
            os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == -signal.SIGKILL
    summary = json.loads(Path("old/summary.json").read_text())
    assert [each["file"].partition("_")[0] for each in summary["skipped"]] == ["s2", "s3"]
    rest = [str(path) for path in sorted(Path("in").glob("s[23]*/e3.zip"))]
    grade(*rest, "--into", "old", code=2)
    assert "another process is at it; if that was killed, remove old/running.json" in capsys.readouterr().err
    Path("old/running.json").unlink()
    grade(*rest, "--into", "old")
    grade("in", "--out", "new", "--roster", "roster.csv")
    old = {name: data for name, data in contents("old").items() if not name.startswith(".")}
    assert old == contents("new")


@pytest.mark.parametrize("graded_before", [False, True])
def test_what_is_in_doubt_when_a_class_is_stopped_counts_for_nothing(place, monkeypatch, capsys, graded_before):
    """Regression: a network that ended beside others gave 0 points, and Ctrl+C before the second time made it final."""
    if graded_before:
        grade("in", "--out", "old")
    capsys.readouterr()
    path = hand_in("s2", do="stop", once=str(place / "once"))
    ran = grading.run_here
    calls = []

    def run_here(*given):
        calls.append(given)
        if len(calls) > 1:
            raise KeyboardInterrupt
        return ran(*given)

    with monkeypatch.context() as patched:
        patched.setattr(grading, "run_here", run_here)
        grade("in", "--into" if graded_before else "--out", "old", code=130)
    said = capsys.readouterr().out
    assert "e3.zip: in doubt, so it is graded once more at the end" in said
    assert "[3/3 done" not in said
    assert marks("old") == {"s1": "4", "s3": "4"} | ({"s2": "4"} if graded_before else {})
    assert "Grading was stopped: 1 more is still to be graded" in Path("old/index.html").read_text()
    skipped = json.loads(Path("old/summary.json").read_text())["skipped"]
    stands = ", and its earlier results stand" if graded_before else ""
    assert [each["file"].partition("_")[0] for each in skipped] == ["s2"]
    assert skipped[0]["why"] == f"grading was stopped before its turn{stands}; grade it with --into"
    grade(str(path), "--into", "old")
    assert marks("old") == {"s1": "4", "s2": "4", "s3": "4"}
    assert "Grading was stopped" not in Path("old/index.html").read_text()


def test_nobody_is_missing_while_a_stopped_class_is_gone_on_with(place, monkeypatch):
    """Regression: after the next file, those whose files still waited were named as who handed in nothing."""
    Path("roster.csv").write_text("id,name\ns1,Ada A\ns2,Bob B\ns3,Cy C\ns8,Hal H\n")
    rest = [str(path) for path in sorted(Path("in").glob("s[23]*/e3.zip"))]

    def written(out, name, *more, real=grading._written):
        if "s2" in name:
            raise KeyboardInterrupt
        return real(out, name, *more)

    with monkeypatch.context() as patched:
        patched.setattr(grading, "_written", written)
        grade("in", "--out", "old", "--jobs", "1", "--roster", "roster.csv", code=130)
    grade(rest[0], "--into", "old")
    summary = json.loads(Path("old/summary.json").read_text())
    assert [each["file"].partition("_")[0] for each in summary["skipped"]] == ["s3"]
    assert "missing" not in {each["kind"] for each in summary["findings"]}
    grade(rest[1], "--into", "old")
    summary = json.loads(Path("old/summary.json").read_text())
    assert "Hal H" in next(each["says"] for each in summary["findings"] if each["kind"] == "missing")


def test_an_error_in_the_middle_of_a_class_leaves_what_was_graded(place, monkeypatch):
    """Regression: a full disk left no summary, and nothing could be graded into the folder any more."""

    def write(at, text, *, written=grading.write):
        if at.name == "report.html" and "s2" in at.parent.name:
            raise OSError(errno.ENOSPC, "No space left on device")
        written(at, text)

    with monkeypatch.context() as patched:
        patched.setattr(grading, "write", write)
        grade("in", "--out", "old", "--jobs", "1", code=4)
    assert sorted(each.name for each in Path("old").iterdir() if each.is_dir()) == ["logs", "s1-e3"]
    grade(*(str(path) for path in sorted(Path("in").glob("s[23]*/e3.zip"))), "--into", "old")
    grade("in", "--out", "new")
    assert contents("old") == contents("new")


def test_results_that_a_killed_grading_was_replacing_are_put_back(place):
    """Regression: between two renames neither the old nor the new ones were there, and the folder was refused."""
    grade("in", "--out", "old")
    Path("old/s2-e3/mine.txt").write_text("a note of the instructor's own")
    before = contents("old")
    Path("old/s2-e3").rename("old/.s2-e3.old")
    Path("old/.s2-e3.new").mkdir()
    Path("old/.s2-e3.old/mine.txt").rename("old/.s2-e3.new/mine.txt")
    Path("old/.s2-e3.new/results.json").write_text("{")
    assert [each.name for each in stored(Path("old")).entries] == ["s1-e3", "s2-e3", "s3-e3"]
    assert {name: data for name, data in contents("old").items() if not name.startswith(".")} == before


def test_ctrl_c_says_what_there_is_and_how_to_go_on(tmp_path):
    """Regression: of a folder that held no result yet it said that its page names the rest."""
    (tmp_path / "RUNNING.txt").touch()
    (tmp_path / ".s1.new").mkdir()
    assert command._left(tmp_path) == "ending the networks; nothing has been graded"
    (tmp_path / "s1").mkdir()
    assert command._left(tmp_path) == (
        f"ending the networks; what has been graded stays in {tmp_path}, whose index.html names the rest: "
        f"grade these files with --into {tmp_path}"
    )


def test_a_submission_that_came_later_is_added(place):
    """Under a name of its own, in its place among the others."""
    later = hand_in("s2")
    kept = later.read_bytes()
    later.unlink()
    grade("in", "--out", "old")
    later.write_bytes(kept)
    grade("in/s2_1_assignsubmission_file_", "--into", "old")
    assert [entry.student for entry in stored(Path("old")).entries] == ["s1", "s2", "s3"]
    assert marks("old") == {"s1": "4", "s2": "4", "s3": "4"}


def test_a_file_named_as_anothers_does_not_replace_what_is_proven(place):
    """Regression: a student who named a file as another's replaced the other's results, also by a damaged one."""
    (place / "flat").mkdir()
    (place / "flat/e3.zip").write_text(json.dumps({"do": "grade", "student": "s1"}))
    grade("flat", "--out", "old")
    kept = contents("old/e3")
    later = hand_in("s2")
    for _ in range(2):  # the second time it replaces its own
        grade(str(later), "--into", "old")
        assert [(entry.name, entry.student) for entry in stored(Path("old")).entries] == [("e3", "s1"), ("e3-2", "s2")]
        assert marks("old") == {"s1": "4", "s2": "4"}
    later.write_text(json.dumps({"do": "refuse"}))
    grade(str(later), "--into", "old", code=1)
    assert contents("old/e3") == kept
    assert marks("old") == {"s1": "4", "s2": "4", "": ""}


def test_a_file_that_proves_nothing_replaces_nothing_that_is_proven(place):
    """Regression: a damaged file was the roster's student by its name, and so replaced what was proven to be hers."""
    Path("roster.csv").write_text("id,name\ns77,Ada Lovelace\n")
    path = Path("class/exercise3-s77.zip")
    path.parent.mkdir()
    path.write_text(json.dumps({"do": "grade", "student": "s77"}))
    grade("class", "--out", "old", "--roster", "roster.csv")
    path.write_text(json.dumps({"do": "refuse"}))
    for _ in range(2):  # the second time it replaces its own
        grade("class", "--into", "old", code=1)
        assert marks("old") == {"s77": "4"}
        assert len(stored(Path("old")).entries) == 2
    path.write_text(json.dumps({"do": "grade", "student": "s77", "name": "Ada again"}))
    grade("class", "--into", "old", code=1)
    assert [(each.name, each.report.name) for each in stored(Path("old")).entries if each.proven] == [
        ("exercise3-s77", "Ada again")
    ]


def test_a_practice_instance_graded_again_replaces_its_own(place):
    """Regression: it was added anew each time, since nobody is its student."""
    lab("week/exercise3-s77.zip", 0.0)
    for text in ('{"do": "grade", "student": "practice"}',) * 3:
        Path("week/exercise3-s77.zip").write_text(text)
        grade("week", *(["--into", "old"] if Path("old").exists() else ["--out", "old"]))
        assert [each.name for each in stored(Path("old")).entries] == ["exercise3-s77"]


def test_what_breaks_at_first_replaces_its_own_results_all_the_same(place):
    """Regression: broken, it proved nothing and went beside; graded once more, it stayed there, beside the old mark."""
    grade("in", "--out", "old")
    hand_in("s2", do="break", once=str(place / "once"), name="Bob again")
    grade("in", "--into", "old")
    assert [(each.name, each.report.name) for each in stored(Path("old")).entries] == [
        ("s1-e3", ""),
        ("s2-e3", "Bob again"),
        ("s3-e3", ""),
    ]
    assert sorted(each.name for each in Path("old").iterdir() if each.is_dir()) == ["logs", "s1-e3", "s2-e3", "s3-e3"]


@pytest.mark.parametrize("moodle", [True, False])
def test_a_folder_that_a_student_named_as_anothers_is_the_students_own(place, moodle):
    """Regression: below the own folder, a file in one called as Bob's replaced Bob's results, or stopped the class."""
    ada, bob = (f"{name}_{n}_assignsubmission_file_" if moodle else name for n, name in enumerate(("Ada A", "Bob B")))
    for folder, score in ((ada, 1.0), (bob, 4.0)):
        (place / "class" / folder).mkdir(parents=True)
        told = {"do": "claim", "student": "", "score": score}
        (place / "class" / folder / "lab1.zip").write_text(json.dumps(told))
    grade("class", "--out", "old")
    kept = contents("old")
    bobs = next(entry.name for entry in stored(Path("old")).entries if entry.label == f"{bob}/lab1.zip")
    (place / "class" / ada / bob).mkdir()
    (place / "class" / ada / bob / "lab1.zip").write_text(json.dumps({"do": "claim", "student": "", "score": 0.0}))
    grade(f"class/{ada}", "--into", "old")
    assert all(contents("old")[name] == content for name, content in kept.items() if name.startswith(f"{bobs}/"))
    grade("class", "--into", "old")
    assert all(contents("old")[name] == content for name, content in kept.items() if name.startswith(f"{bobs}/"))
    assert {entry.label: entry.report.score for entry in stored(Path("old")).entries}[f"{bob}/lab1.zip"] == 4
    if moodle:
        grade(*map(str, (place / "class").iterdir()), "--out", "one-by-one")
        labels = [entry.label for entry in stored(Path("one-by-one")).entries]
        assert labels == [f"{ada}/{bob}/lab1.zip", f"{ada}/lab1.zip", f"{bob}/lab1.zip"]


def lab(path, score):
    """A lab that was handed in, which proves nothing of whose it is."""
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    Path(path).write_text(json.dumps({"do": "claim", "student": "", "score": score}))


def scores(folder):
    """Label → score."""
    return {entry.label: entry.report.score for entry in stored(Path(folder)).entries}


def test_a_file_of_the_same_name_in_another_folder_is_another_submission(place):
    """Regression: Alice's lab, graded by itself, was replaced by Bob's, graded later, as both were called lab1.zip."""
    lab("alice/lab1.zip", 1.0)
    lab("bob/lab1.zip", 4.0)
    grade("alice", "--out", "old")
    for _ in range(2):  # the second time, each replaces its own
        grade("bob", "--into", "old")
        grade("alice", "--into", "old")
        assert scores("old") == {"lab1.zip": 1, "bob/lab1.zip": 4}


@pytest.mark.parametrize("path", ["late/mallory/ada/lab1.zip", "late/ada/lab1.zip", "class/bob/x/ada/lab1.zip"])
def test_only_the_file_that_was_graded_is_graded_again(place, path):
    """Regression: a folder called as Ada's, made by who had handed in nothing before or deep down, took her mark."""
    lab("class/ada/lab1.zip", 4.0)
    lab("class/bob/lab1.zip", 2.0)
    grade("class", "--out", "old")
    kept = contents("old/ada-lab1")
    lab(path, 1.0)
    for _ in range(2):
        grade(str(Path(path).parents[1]), "--into", "old")
        found = scores("old")
        assert sorted(found.values()) == [1, 2, 4]
        assert found["ada/lab1.zip"] == 4
        assert contents("old/ada-lab1") == kept
    (label,) = set(found) - {"ada/lab1.zip", "bob/lab1.zip"}
    says = [each["says"] for each in json.loads((place / "old/summary.json").read_text())["findings"]]
    alike = f"{label} and ada/lab1.zip end alike but are two files, and nothing proves that both are one student's."
    assert [each[: len(alike)] for each in says].count(alike) == 1
    grade("class", "--into", "old")
    assert found == scores("old"), "the folder of the whole class again, also with such a file in it"
    lab("class/ada/lab1.zip", 3.0)
    grade("class", "--into", "old")
    assert scores("old") == {**found, "ada/lab1.zip": 3}


def test_of_what_moodle_names_a_new_download_replaces_the_old(place):
    """The label begins with the folder that Moodle names for a student, whose number no other student has."""
    ada = "Ada A_7_assignsubmission_file_"
    lab(f"monday/{ada}/lab1.zip", 1.0)
    lab("monday/Bob B_8_assignsubmission_file_/lab1.zip", 2.0)
    grade("monday", "--out", "old")
    lab(f"tuesday/{ada}/lab1.zip", 3.0)
    lab(f"tuesday/Bob B_8_assignsubmission_file_/{ada}/lab1.zip", 0.0)
    grade("tuesday", "--into", "old")
    assert sorted(scores("old").values()) == [0, 2, 3]
    assert scores("old")[f"{ada}/lab1.zip"] == 3


def test_a_file_called_as_one_of_the_graders_own_ends_nothing(place):
    """Regression: running.json.zip wanted the folder where the grader notes that it is at it; nobody got a mark."""
    lab("class/a_1_assignsubmission_file_/lab1.zip", 2.0)
    lab("class/m_2_assignsubmission_file_/running.json.zip", 1.0)
    lab("class/n_3_assignsubmission_file_/grades.csv.zip", 3.0)
    grade("class", "--out", "old")
    assert sorted(scores("old").values()) == [1, 2, 3]
    assert {each.name for each in stored(Path("old")).entries} == {"lab1", "running.json-2", "grades.csv-2"}


def test_what_else_lies_among_the_results_stays(place):
    """Regression: a submission called as a folder of the instructor's removed that; a file ended the class."""
    lab("class/ada/lab1.zip", 1.0)
    grade("class", "--out", "old")
    Path("old/notes").mkdir()
    mine = ("old/notes/remarks.txt", "old/points.csv", "old/lab1/remarks.txt")
    for name in mine:
        Path(name).write_text("mine")
    lab("late/m/notes.zip", 2.0)
    lab("late/n/points.csv.zip", 3.0)
    grade("late", "--into", "old")
    grade("class", "--into", "old")
    assert [Path(name).read_text() for name in mine] == ["mine"] * 3
    assert {each.name for each in stored(Path("old")).entries} == {"lab1", "notes-2", "points.csv-2"}


def test_a_files_name_moves_no_cursor_of_who_reads_the_summary(place, capsys):
    """Regression: the path of the file was in the summary as it is, with what a terminal obeys."""
    path = Path("class/e\x9b31mRED\u202egnp.zip")
    lab(path, 1.0)
    grade("class", "--out", "old")
    capsys.readouterr()
    grade(str(path), "--into", "old", "--json")
    for text in (capsys.readouterr().out, Path("old/summary.json").read_text()):
        assert not {"\x9b", "\u202e"} & set(text)
        assert json.loads(text)["submissions"][0]["path"] == f"../{path}"
    assert len(stored(Path("old")).entries) == 1


def test_points_merged_later_give_the_same_bytes_as_at_once(place):
    """The pages of those who got none are not written again; curves and their order are those that were measured."""
    grade("in", "--out", "old", "--course", "c.toml", "--times", "times.csv")
    assert marks("old") == {"s1": "4", "s2": "2.8", "s3": "4"}
    inodes = {path: path.stat().st_ino for path in Path("old").rglob("*.html")}
    grade("--into", "old", "--points", "points.csv")
    assert marks("old") == {"s1": "4", "s2": "5.3", "s3": "4"}
    grade("in", "--out", "new", "--course", "c.toml", "--times", "times.csv", "--points", "points.csv")
    assert contents("old") == contents("new")
    written = {path.parent.name for path, inode in inodes.items() if path.stat().st_ino != inode}
    assert written == {"old", "s2-e3"}


def test_a_submission_graded_again_keeps_its_points_and_its_time(place):
    """They are the person's, not the file's."""
    grade("in", "--out", "old", "--course", "c.toml", "--times", "times.csv", "--points", "points.csv")
    before = contents("old")
    grade("in/s2_1_assignsubmission_file_/e3.zip", "--into", "old", "--course", "c.toml")
    assert contents("old") == before


def test_an_extension_given_later_changes_that_students_mark_alone(place):
    """The course file is read again, the times stand."""
    grade("in", "--out", "old", "--course", "c.toml", "--times", "times.csv")
    Path("c.toml").write_text(f"{COURSE}extensions = {{ s2 = 2026-11-22T00:00:00Z }}\n")
    grade("--into", "old", "--course", "c.toml")
    assert marks("old") == {"s1": "4", "s2": "4", "s3": "4"}


def test_lists_that_were_given_stand_until_others_are(place):
    """Regression: with --into, what the overview says of lists went away unless these were given again."""
    Path("points.csv").write_text(f"{POINTS}s9,3,1,on paper\n")
    Path("roster.csv").write_text("id,name\ns1,Ada A\ns2,Bob B\ns8,Hal H\ns9,Ida I\n")
    Path("times.csv").write_text("id,time\ns1,2026-11-20 22:00Z\ns9,2026-11-21 12:00Z\n")
    lists = ("--points", "points.csv", "--roster", "roster.csv", "--times", "times.csv")
    grade("in", "--out", "old", "--course", "c.toml", *lists)
    kinds = [each["kind"] for each in json.loads((place / "old/summary.json").read_text())["findings"]]
    assert kinds[-3:] == ["no time", "points", "missing"]
    before = contents("old")
    grade("in/s2_1_assignsubmission_file_/e3.zip", "--into", "old", "--course", "c.toml")
    assert contents("old") == before
    grade("--into", "old", "--points", "points.csv")
    assert contents("old") == before
    hand_in("s9")
    grade("in", "--into", "old", "--course", "c.toml")
    assert marks("old") == {"s1": "4", "s2": "6.5", "s3": "4", "s8": "", "s9": "3.8"}
    grade("in", "--out", "new", "--course", "c.toml", *lists)
    found = [json.loads((place / folder / "summary.json").read_text())["findings"] for folder in ("old", "new")]
    assert [each["says"] for each in found[0]] == [each["says"] for each in found[1]]
    assert contents("old")["lists.json"] == contents("new")["lists.json"]


def test_a_roster_given_later_names_who_is_missing_and_whose_a_file_is(place):
    """Without grading anything again; a file that nothing proves is that student's of the roster from then on."""
    damaged = Path("in/exercise3-s9.zip")
    damaged.write_text(json.dumps({"do": "refuse"}))
    grade("in", "--out", "old", code=1)
    Path("roster.csv").write_text("id,name\ns1,Ada A\ns8,Hal H\ns9,Ida I\n")
    grade("--into", "old", "--roster", "roster.csv", code=1)
    assert "9 students" not in (place / "old/index.html").read_text()
    says = [each["says"] for each in json.loads((place / "old/summary.json").read_text())["findings"]]
    assert "Exercise 3: nothing here is from 2 of 3 students: Hal H (s8), Ida I (s9)." in says
    assert [entry.student for entry in stored(Path("old")).entries] == ["s9", "s1", "s2", "s3"]
    grade("in", "--out", "new", "--roster", "roster.csv", code=1)
    assert contents("old") == contents("new")


def test_what_nobody_has_handed_in_is_named(place, capsys):
    """Points for a student who is not there, on the console and in the overview."""
    Path("points.csv").write_text(f"{POINTS}s9,3,1,on paper\n")
    grade("in", "--out", "old", "--points", "points.csv")
    says = "points.csv:3: 1 points for s9 in exercise3 are not counted: no submission here is that student's."
    assert f"To look at: {says}" in capsys.readouterr().out
    assert says in (place / "old/index.html").read_text().replace("&#39;", "'")


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ([], "name what is to be graded: a .zip, a folder of them, or a pattern"),
        (["--into", "old"], "--into without submissions marks again what is there: give --course, --roster,"),
        (["--into", "old", "--out", "new"], "--out makes a new folder, --into takes one that is there"),
        (["in", "--into", "in"], "in/summary.json: there is no such file; --into takes a folder that linklab grade"),
        (["in", "--into", "odd"], "odd/summary.json: is not as linklab grade writes it"),
        (["in", "--into", "listed"], "listed/lists.json: is not as linklab grade writes it: 'points'; give the lists"),
        (["in", "--into", "broken"], "broken/a/results.json: holds no report as this version writes it"),
        (["in", "--times", "times.csv", "--into", "busy"], "busy: another process is at it; if that was killed"),
        (["in", "--points", "gone.csv"], "gone.csv: there is no such file"),
    ],
)
def test_what_cannot_be_graded_again_is_said_first(place, capsys, arguments, says):
    """With exit code 2, and nothing is written."""
    whole = '{"submissions": [], "skipped": [], "findings": []}'
    broken = '{"submissions": [{"name": "a", "file": "a.zip"}]}'
    for name, text in (("odd", "{}"), ("broken", broken), ("busy", whole), ("listed", whole)):
        Path(name).mkdir()
        Path(name, "summary.json").write_text(text)
    Path("listed/lists.json").write_text('{"roster": null}')
    Path("busy/running.json").touch()
    Path("broken/a").mkdir()
    Path("broken/a/results.json").write_text('{"extra_data": {"format": 0}}')
    grade(*arguments, code=2)
    assert says in capsys.readouterr().err
