# SPDX-License-Identifier: BSD-3-Clause
"""A class graded: which files are meant, a process each, what is written; here and on a cluster of two workers."""

import gc
import itertools
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import pytest

from linklab import cli
from linklab.base.processes import children
from linklab.commands import grade as command
from linklab.commands import grade_platform, grade_view
from linklab.errors import InputError, MissingError
from linklab.exercise.bundle import Bundle, dump_bundle, write_bundle
from linklab.exercise.report import Status
from linklab.grade import worker
from linklab.grade.grading import GradingSettings, grade_all
from linklab.grade.handed_in import collect, folder_names
from linklab.grade.platform import packed
from linklab.grade.worker import MOST_BYTES, Unit, run_here, run_unit

HERE = Path(__file__).parent
GRADE = "graded:grade"
COURSE = f'course = "Networks 2025"\nsecret = "{"5e" * 32}"\n'


@pytest.fixture(autouse=True)
def grader(monkeypatch):
    """Processes of units find the grader of these tests, `graded.grade`."""
    monkeypatch.setenv("PYTHONPATH", str(HERE))


@pytest.fixture
def handed_in(tmp_path):
    """A function that makes submissions: name → what the grader is to do."""

    def make(**wanted):
        folder = tmp_path / "in"
        folder.mkdir(exist_ok=True)
        for name, what in wanted.items():
            text = json.dumps(what if isinstance(what, dict) else {"do": what, "student": name})
            (folder / f"{name}.zip").write_text(text)
        return folder

    return make


def unit(what, **more):
    """A unit whose submission says what is to happen."""
    values = {"course": None, "deadline_s": 60.0, "grade": GRADE} | more
    return Unit("in/a.zip", json.dumps({"do": what, "for": "3600"}).encode(), **values)


def graded(folder, out, **more):
    """The class of a folder, and what was told of it."""
    told = []
    values = {"jobs": 2, "deadline_s": 60.0, "grade": GRADE} | more
    submissions, left = collect([str(folder)])
    return grade_all(submissions, GradingSettings(**values), out, told.append, left), told


def contents(folder):
    """Every file below, with its bytes."""
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


# --- which files are meant


def test_folders_are_searched_and_what_is_no_zip_is_named(tmp_path):
    """Every .zip below, once, in order; what is skipped is named with the reason, but for what systems leave behind."""
    for name in ("b.zip", "A.ZIP", "x/c.zip", "notes.txt", ".DS_Store", "x/Thumbs.db", "__MACOSX/._b.zip", ".mine.zip"):
        path = tmp_path / "in" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    (tmp_path / "d.tar").touch()
    (tmp_path / "in/gone.zip").symlink_to("nowhere.zip")
    (tmp_path / "in/same.zip").symlink_to("b.zip")
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "in/linked").symlink_to(tmp_path / "elsewhere")
    os.mkfifo(tmp_path / "in/pipe.zip")
    submissions, left = collect([str(tmp_path / "in"), str(tmp_path / "in/b.zip"), str(tmp_path / "*.tar")])
    assert [each.label for each in submissions] == ["d.tar", "in/A.ZIP", "in/b.zip", "in/x/c.zip"]
    assert [(each.label.removeprefix("in/"), each.why) for each in left] == [
        (".mine.zip", "a hidden file"),
        ("__MACOSX/._b.zip", "made by the program that packed the folder"),
        ("gone.zip", "a link, which is not followed: name the file itself"),
        ("linked", "a link to a folder, which is not followed: name the folder itself"),
        ("notes.txt", "not a .zip"),
        ("pipe.zip", "not a file"),
        ("same.zip", "a link, which is not followed: name the file itself"),
    ]
    one, _ = collect([str(tmp_path / "in")])
    assert [each.label for each in one] == ["A.ZIP", "b.zip", "x/c.zip"]


def test_files_that_are_called_alike_are_told_apart_by_their_folders(tmp_path):
    """Regression: the labs of two students had one label, and were taken for one student's."""
    paths = [
        tmp_path / name for name in ("week1/ada/lab1.zip", "week1/bob/lab1.zip", "week2/bob/lab1.zip", "c/eve.zip")
    ]
    for path in paths:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    labels = ["week1/ada/lab1.zip", "week1/bob/lab1.zip", "week2/bob/lab1.zip"]
    submissions, _ = collect([*map(str, paths)])
    assert [each.label for each in submissions] == ["eve.zip", *labels]
    submissions, _ = collect([str(tmp_path / "*/*/lab1.zip"), str(tmp_path / "c")])
    assert [each.label for each in submissions] == ["c/eve.zip", *labels]


def test_of_several_downloads_from_moodle_the_students_folders_are_the_labels(tmp_path):
    """They begin with Moodle's word for the student; a folder that holds anything else is told by its own name."""
    for name in ("mon/A_1_assignsubmission_file_/lab1.zip", "tue/B_2_assignsubmission_file_/lab1.zip"):
        (tmp_path / name).parent.mkdir(parents=True)
        (tmp_path / name).touch()
    pattern = str(tmp_path / "*")
    assert [each.label[0] for each in collect([pattern])[0]] == ["A", "B"]
    (tmp_path / "tue/mine.zip").touch()
    labels = ["mon/A_1_assignsubmission_file_/lab1.zip", "tue/B_2_assignsubmission_file_/lab1.zip", "tue/mine.zip"]
    assert [each.label for each in collect([pattern])[0]] == labels


def test_a_label_does_not_depend_on_folders_that_another_student_made(tmp_path):
    """Regression: mallory/ada lengthened the label of Ada's file, by which lists and results know it."""
    for name in ("class/ada/lab1.zip", "class/mallory/ada/lab1.zip"):
        (tmp_path / name).parent.mkdir(parents=True)
        (tmp_path / name).touch()
    for pattern in ("class", "class/*", "class/**/*.zip"):
        submissions, _ = collect([str(tmp_path / pattern)])
        assert [each.label for each in submissions] == ["ada/lab1.zip", "mallory/ada/lab1.zip"]


def test_names_that_look_the_same_are_numbered(tmp_path):
    """Regression: what cannot be shown is spelt, as another name was, and both labels became the whole path."""
    for name in ("a\u200b.zip", "a\\u200b.zip"):
        (tmp_path / name).touch()
    submissions, _ = collect([str(tmp_path)])
    assert [each.label for each in submissions] == ["a\\u200b.zip", "a\\u200b.zip (2)"]


def test_a_link_takes_no_file_from_another(tmp_path):
    """Regression: where students' folders keep links, as in clones of repositories, the other's file had one's name."""
    for name in ("a-bob", "b-ada"):
        (tmp_path / name).mkdir()
    (tmp_path / "b-ada/lab3.zip").touch()
    (tmp_path / "a-bob/lab3.zip").symlink_to("../b-ada/lab3.zip")
    submissions, left = collect([str(tmp_path)])
    assert [each.label for each in submissions] == ["b-ada/lab3.zip"]
    assert [each.label for each in left] == ["a-bob/lab3.zip"]
    named, _ = collect([str(tmp_path / "a-bob/lab3.zip")])  # by whoever grades
    assert [each.label for each in named] == ["lab3.zip"]


def test_a_pattern_finds_what_a_search_of_the_folder_finds(tmp_path):
    """Regression: a link took the other's file by its name, and a pipe held up the class for ever."""
    for name in ("b-ada.zip", "deep/c.zip"):
        (tmp_path / "in" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "in" / name).touch()
    (tmp_path / "in/a-bob.zip").symlink_to("b-ada.zip")
    (tmp_path / "in/linked").symlink_to("deep")
    os.mkfifo(tmp_path / "in/pipe.zip")
    link, linked = "a link, which is not followed: name the file itself", "a link to a folder, which is not followed"
    submissions, left = collect([str(tmp_path / "in/*")])
    assert [each.label for each in submissions] == ["b-ada.zip", "deep/c.zip"]
    assert [(each.label, each.why.partition(": name the folder")[0]) for each in left] == [
        ("a-bob.zip", link),
        ("linked", linked),
        ("pipe.zip", "not a file"),
    ]
    submissions, left = collect([str(tmp_path / "in" / name) for name in ("a-bob.zip", "b-ada.zip", "pipe.zip")])
    assert [each.label for each in submissions] == ["b-ada.zip"]  # a shell's own pattern names all of them
    assert [(each.label, each.why) for each in left] == [
        ("a-bob.zip", "the same file as b-ada.zip"),
        ("pipe.zip", "not a file"),
    ]


@pytest.mark.parametrize("pattern", ["in/*/*.zip", "in/**/*.zip"])
def test_a_pattern_follows_no_link_to_a_folder_on_its_way(tmp_path, pattern):
    """Regression: only a link at the end of a path was seen, so the files of another folder were graded."""
    (tmp_path / "in/ada").mkdir(parents=True)
    (tmp_path / "elsewhere").mkdir()
    for name in ("in/ada/a.zip", "elsewhere/b.zip"):
        (tmp_path / name).touch()
    (tmp_path / "in/bob").symlink_to("../elsewhere")
    submissions, left = collect([str(tmp_path / pattern)])
    assert [each.label for each in submissions] == ["a.zip"]
    why = "a link to a folder, which is not followed: name the folder itself"
    assert [(each.label, each.why) for each in left] == [("bob", why)]
    (tmp_path / "named").symlink_to("in")
    assert [each.label for each in collect([str(tmp_path / "named/*/*.zip")])[0]] == ["a.zip"]  # by whoever grades


def test_folders_are_searched_to_a_depth_that_no_platform_makes(tmp_path):
    """Regression: a thousand folders inside each other ended the grading of the class with a RecursionError."""
    (tmp_path / "a.zip").touch()
    deep = tmp_path
    for _ in range(33):
        deep /= "d"
    deep.mkdir(parents=True)
    (deep.parent / "b.zip").touch()
    (deep / "c.zip").touch()
    here = os.open(deep, os.O_RDONLY)
    for _ in range(1100):  # no path is as long
        os.mkdir("d", dir_fd=here)
        inner = os.open("d", os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = inner
    os.close(here)
    submissions, left = collect([str(tmp_path)])
    assert [each.label for each in submissions] == ["a.zip", f"{'d/' * 32}b.zip"]
    assert [(each.label, each.why) for each in left] == [("/".join("d" * 33), "more than 32 folders deep")]
    with pytest.raises(InputError, match=r"\*\*/\*\.zip: .* too deep .* name the folder itself"):
        collect([str(tmp_path / "**/*.zip")])
    assert packed(tmp_path)[0] == "submission.zip"  # of a platform, where a student's folders may be as deep
    subprocess.run(["rm", "-rf", str(tmp_path / "d")], check=True)  # pytest's own way would end as that did


def test_a_folder_that_cannot_be_read_is_named():
    """Its students would be missing without a word."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        (Path(folder) / "a.zip").touch()
        (Path(folder) / "locked").mkdir(0)
        mine = os.geteuid()
        if mine == 0:
            os.seteuid(65534)  # root can read everything
        try:
            _, left = collect([folder])
        finally:
            os.seteuid(mine)
            (Path(folder) / "locked").chmod(0o700)
    assert [(each.label, each.why) for each in left] == [("locked", "cannot be read: Permission denied")]


@pytest.mark.parametrize(
    ("argument", "says"),
    [("nothing", "there is no such file or folder"), ("", "there is no .zip of a submission in it")],
)
def test_nothing_to_grade(tmp_path, argument, says):
    """A name that is not there, and a folder without a .zip, are said at once."""
    with pytest.raises(InputError, match=says):
        collect([str(tmp_path / argument)])


def test_folders_of_results_are_called_like_the_files():
    """Moodle's folders where all files have one name; safe, short, different also where capitals do not count."""
    assert folder_names(["exercise3-s1.zip", "x/Exercise3-S2.zip"]) == ["exercise3-s1", "Exercise3-S2"]
    moodle = [f"{who}_{n}_assignsubmission_file_/e.zip" for n, who in enumerate(("Ada Lovelace", "Bob", "Bob"))]
    assert folder_names(moodle) == ["Ada_Lovelace-e", "Bob-e", "Bob-e-2"]
    assert folder_names([f"week 1/{label}" for label in moodle[:2]]) == ["week_1-Ada_Lovelace-e", "week_1-Bob-e"]
    assert folder_names(["a.zip", "A.ZIP", "../../etc/..zip", "grades.csv", "logs.zip", "x" * 99]) == [
        "a", "A-2", "submission", "grades", "logs-2", "x" * 60,
    ]  # fmt: skip


# --- a process each


def test_a_unit_gets_course_and_options_and_no_path_of_the_machine():
    """The grader is handed the bytes of both, its options, and a file that is called as the student called it."""
    done = run_unit(unit("grade", course=b"secret", options={"seeds": (7, 8), "sandboxed": False}))
    told = {"seeds": [7, 8], "sandboxed": False, "course": "secret", "bundle": "a.zip"}
    assert done.report.environment == told
    assert done.report.status is Status.GRADED
    assert "a message of the grader's own" in done.log


@pytest.mark.parametrize(
    ("what", "says"),
    [
        ("raise", "The grader broke: RuntimeError: the measuring tool broke"),
        ("die", "The grading process ended without a word (exit code 9)."),
        (
            "swell",
            "Grading took more than 4 GiB of memory and was ended: look at what its commands print and write.",
        ),
        ("no such thing", ""),
    ],
)
def test_a_unit_that_breaks_is_an_error_and_no_fail(what, says):
    """An exception of ours, a process that dies: neither costs points."""
    if not says:
        done = run_unit(unit("grade", grade="graded:nothing"))
        says = "The grader broke: AttributeError: module 'graded' has no attribute 'nothing'"
    else:
        done = run_unit(unit(what))
    assert (done.report.status, done.report.notes) == (Status.ERROR, (says,))
    if what == "raise":
        assert 'raise RuntimeError("the measuring tool broke")' in done.log


def test_where_memory_runs_out_a_unit_is_ended_before_who_collects_the_results():
    """Regression: what sockets hold is no process's memory, so `linklab grade` was the largest and left no results."""
    ours = int(Path("/proc/self/oom_score_adj").read_text())
    assert run_unit(unit("oom score")).report.environment == {"oom score": f"{max(500, ours)}\n"}
    assert int(Path("/proc/self/oom_score_adj").read_text()) == ours


@pytest.mark.parametrize("where", ["compute", "compute apart", "match"])
def test_a_unit_that_computes_without_end_is_ended_long_before_its_deadline(where):
    """Regression: what the grader reads is in no sandbox, so reading it held a place of the batch for an hour.

    And where another thread read it, the main one, which waited, was not told.
    """
    done = run_unit(unit(where, processor_s=0.5, deadline_s=600.0))
    says = (
        "Grading took more than 0.5 s of processor time beside its networks and was ended: look at what its files hold."
    )
    assert (done.report.status, done.report.notes) == (Status.ERROR, (says,))


def test_what_breaks_beside_others_is_graded_once_more_by_itself(handed_in, tmp_path):
    """Another submission may have used up what Linux counts for each user; what breaks again keeps its error."""
    folder = handed_in(s1={"do": "break", "once": str(tmp_path / "once")}, s2="grade", s3="raise")
    found, told = graded(folder, tmp_path / "out")
    statuses = [entry.report.status for entry in found.entries]
    assert statuses == [Status.GRADED, Status.GRADED, Status.ERROR]
    ends = [(each.index, each.entry.report.status) for each in told if each is not None and each.entry is not None]
    assert ends[3:] == [(0, Status.GRADED), (2, Status.ERROR)]
    log = (tmp_path / "out/logs/s1.log").read_text()
    assert "RuntimeError: it broke beside another one" in log
    assert log.endswith("a message of the grader's own\n")
    (tmp_path / "once").unlink()
    found, _ = graded(folder, tmp_path / "one", jobs=1)
    assert found.entries[0].report.status is Status.ERROR


def test_a_network_that_ended_beside_others_is_graded_once_more_by_itself(handed_in, tmp_path):
    """Regression: of the machine killing a kernel for want of memory came 5 points for 77, and a suspicion."""
    folder = handed_in(s1={"do": "stop", "once": str(tmp_path / "once")}, s2="grade")
    found, told = graded(folder, tmp_path / "out")
    assert [(entry.report.score, entry.report.stopped) for entry in found.entries] == [(4.0, ""), (4.0, "")]
    assert [each.index for each in told if each is not None and each.entry is not None][2:] == [0]


def test_what_was_graded_while_memory_ran_out_is_graded_once_more_by_itself(handed_in, tmp_path, monkeypatch):
    """Regression: the machine killed a process of an honest network, which got 0 points for 100."""
    monkeypatch.setattr(worker, "oom_kills", itertools.count().__next__)  # elsewhere on the machine, all the time
    once = {"do": "run out of memory", "once": str(tmp_path / "once"), "student": "s1"}
    found, told = graded(handed_in(s1=once, s2="grade"), tmp_path / "out", jobs=2)
    ends = [(each.index, each.again) for each in told if each is not None and each.entry is not None]
    assert (sorted(ends[:2]), ends[2:]) == ([(0, True), (1, False)], [(0, False)])
    assert [entry.report.score for entry in found.entries] == [4.0, 4.0]


def test_what_is_graded_while_memory_runs_out_again_has_no_points(handed_in, tmp_path):
    """Also of one submission alone: whatever takes the memory, its mark would be chance."""
    found, told = graded(handed_in(s1="run out of memory"), tmp_path / "out", jobs=1)
    assert [each.again for each in told if each is not None and each.entry is not None] == [True, False]
    (report,) = (entry.report for entry in found.entries)
    assert (report.status, report.student, report.score, report.checks) == (Status.ERROR, "s1", 0.0, ())
    assert report.notes[0].startswith("Memory ran out, and Linux ended processes of the grader while this was graded")


@pytest.mark.parametrize(
    ("wanted", "why"),
    [
        ({"do": "hang", "for": "60"}, "Grading took longer than 5 s and was ended."),
        ({"do": "raise"}, "The grader broke: "),
    ],
)
def test_what_broke_for_another_reason_says_it_though_memory_ran_out_elsewhere(
    handed_in, tmp_path, monkeypatch, wanted, why
):
    """Regression: it was told that the machine had run out of memory, and to be graded when more was free."""
    monkeypatch.setattr(worker, "oom_kills", itertools.count().__next__)
    found, told = graded(handed_in(s1=wanted), tmp_path / "out", jobs=1, deadline_s=5.0)
    assert [each.again for each in told if each is not None and each.entry is not None] == [False]
    assert found.entries[0].report.notes[0].startswith(why)


@pytest.mark.parametrize(("kills", "ends"), [(itertools.count, [True, False]), (itertools.repeat, [False])])
def test_a_process_that_memory_may_have_ended_is_in_doubt(handed_in, tmp_path, monkeypatch, kills, ends):
    """It says nothing any more, so what the machine says of all processes counts."""
    monkeypatch.setattr(worker, "oom_kills", kills(5).__next__)
    _, told = graded(handed_in(s1="die"), tmp_path / "out", jobs=1)
    assert [each.again for each in told if each is not None and each.entry is not None] == ends


def test_what_breaks_by_what_others_measured_is_graded_once_more_without_it(handed_in, tmp_path):
    """Regression: the second time it took the same answers of networks, and broke at the same."""
    folder = handed_in(s1="take", s2="grade")
    found, told = graded(folder, tmp_path / "out", jobs=1, share=True)
    assert [entry.report.status for entry in found.entries] == [Status.GRADED, Status.GRADED]
    ends = [(each.index, each.entry.report.status) for each in told if each is not None and each.entry is not None]
    assert ends == [(0, Status.ERROR), (1, Status.GRADED), (0, Status.GRADED)]


def test_processor_time_of_a_child_is_not_that_of_the_process_that_grades():
    """A network computes for longer than the grader itself may."""
    done = run_unit(unit("leave", processor_s=1.0))
    assert done.report.status is Status.GRADED


def test_looking_at_networks_is_not_the_processor_time_of_the_process_that_grades():
    """Regression: 1,700 processes that only waited made it use up its time, and no mark came of it."""
    assert run_unit(unit("look", processor_s=1.0)).report.status is Status.GRADED


def test_what_broke_says_whose_it_claims_to_be():
    """The instructor knows whom it may concern; nothing is proved by it, so it is nobody's."""
    says = {"format": 1, "exercise": "exercise3", "version": 1, "course": "C", "student": "s7", "name": "Ada"}
    text = json.dumps(says | {"parameters": {}, "signature": "0" * 64})
    content = dump_bundle(Bundle("exercise3", "s7", {"instance.json": text.encode(), "topology.mn": b"{}"}))
    report = run_unit(replace(unit("", grade="graded:broken"), content=content)).report
    assert (report.status, report.exercise, report.student, report.name) == (Status.ERROR, "exercise3", "", "")
    assert (report.unproven, report.claims) == (True, "Ada (s7)")
    assert report.notes == ("the pocket kernel did not come up.",)


def test_a_unit_that_hangs_is_ended():
    """At its deadline, with what it started."""
    started = time.monotonic()
    done = run_unit(unit("hang", deadline_s=1.0))
    assert done.report.notes == ("Grading took longer than 1 s and was ended.",)
    assert time.monotonic() - started < 8


def test_who_stops_listening_ends_what_runs(tmp_path, monkeypatch):
    """The process of a unit goes, and so does its folder."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    events = run_here([lambda: unit("hang")], 1)
    assert next(events) == (0, None)
    assert next(events) is None
    assert len(list(tmp_path.glob("linklab-unit-*/work"))) == 1
    events.close()
    assert list(tmp_path.iterdir()) == []


def test_a_unit_that_is_killed_leaves_no_folder(tmp_path, monkeypatch):
    """Regression: the files of its networks lay beside the folder that goes with it."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    done = run_unit(unit("die working"))
    assert done.report.notes == ("The grading process ended without a word (signal SIGKILL).",)
    assert list(tmp_path.rglob("work.sh")) == []


def test_a_unit_that_leaves_folders_without_end_costs_no_other(handed_in, tmp_path, monkeypatch):
    """Regression: Python's own removal ended with a RecursionError, and with it the class, whose results were lost."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "tmp"))
    (tmp_path / "tmp").mkdir()
    done, _ = graded(handed_in(s1="dig", s2="grade"), tmp_path / "out")
    assert [entry.report.status.value for entry in done.entries] == ["graded", "graded"]
    assert list((tmp_path / "tmp").iterdir()) == []


def test_what_a_unit_leaves_running_ends_with_it():
    """Its process group is ended when it has answered."""
    run_unit(unit("leave", deadline_s=30.0))
    left = subprocess.run(["pgrep", "-f", "^sleep 3600$"], capture_output=True, text=True, check=False).stdout.split()
    mine = [pid for pid in left if f"PYTHONPATH={HERE}" in Path(f"/proc/{pid}/environ").read_text()]
    assert mine == []


def test_a_file_that_is_far_too_large_is_not_looked_at():
    """It cannot be graded, and no process is started for it."""
    done = run_unit(replace(unit("raise"), content=bytes(MOST_BYTES + 1)))
    assert done.report.status is Status.UNGRADABLE
    assert done.report.notes == ("the file has 64 MiB; a submission has at most 64 MiB.",)


# --- a class


def test_a_class_with_broken_ones_goes_on(handed_in, tmp_path):
    """Each submission has its folder, whatever became of it; the class has its files; the log has what was printed."""
    folder = handed_in(s1="grade", s2="raise", s3="die", s4="refuse", s5="spoil")
    (folder / "notes.txt").touch()
    done, told = graded(folder, tmp_path / "out")
    assert [entry.name for entry in done.entries] == ["s1", "s2", "s3", "s4", "s5"]
    assert [entry.report.status.value for entry in done.entries] == ["graded", "error", "error", "ungradable", "error"]
    assert done.entries[3].report.notes == ("The file holds no topology.mn.",)
    assert done.entries[4].report.notes[0].startswith("The report could not be made: TypeError")
    files = contents(tmp_path / "out")
    for name in ("s1", "s2", "s3", "s4", "s5"):
        assert {f"{name}/results.json", f"{name}/report.html", f"{name}/instructor.html"} <= set(files)
    assert {"grades.csv", "grades-moodle.csv", "grades-canvas.csv", "junit.xml", "index.html", "summary.json"} <= set(
        files
    )
    assert files["logs/s1.log"] == b"a message of the grader's own\n"
    assert files["logs/s2.log"].startswith(b"\\x1b]0;owned\\x07\nTraceback ")  # nothing that a terminal obeys
    assert [line["status"] for line in json.loads(files["summary.json"])["submissions"]].count("error") == 3
    assert b"notes.txt" in files["index.html"]
    finished = [event.entry.name for event in told if event is not None and event.entry is not None]
    assert sorted(finished[:5]) == ["s1", "s2", "s3", "s4", "s5"]
    assert finished[5:] == ["s2", "s3"]  # once more, each by itself
    assert sum(event is not None and event.entry is None for event in told) == 7


def test_the_number_of_jobs_cannot_be_seen(handed_in, tmp_path):
    """One at a time or three, and whoever ends first: the same bytes."""
    folder = handed_in(
        s1={"do": "wait", "for": 0.6, "student": "s1"},
        s2={"do": "grade", "student": "s2"},
        s3="die",
        s4={"do": "wait", "for": 0.2, "student": "s4"},
    )
    graded(folder, tmp_path / "one", jobs=1)
    graded(folder, tmp_path / "three", jobs=3)
    assert contents(tmp_path / "one") == contents(tmp_path / "three")
    assert len(contents(tmp_path / "one")) == 7 + 4 * 3 + 3 + 3 * 4  # the last are data sets of those that were graded


def test_a_file_that_goes_away_is_told(handed_in, tmp_path):
    """It is an error of that submission."""
    folder = handed_in(s1="grade", s2="grade")
    submissions, _ = collect([str(folder)])
    (folder / "s2.zip").unlink()
    done = grade_all(submissions, GradingSettings(grade=GRADE), tmp_path / "out", lambda event: None)
    assert done.entries[1].report.notes == ("the file cannot be read: No such file or directory",)


# --- the command


@pytest.fixture
def grading(monkeypatch):
    """The command with the grader of these tests and no look for a kernel."""
    monkeypatch.setattr(command, "grading_engine", lambda *, sandboxed: SimpleNamespace(check=lambda: None))
    monkeypatch.setattr(command, "GradingSettings", partial(GradingSettings, grade=GRADE))


def test_the_command_grades_a_folder(grading, handed_in, tmp_path, monkeypatch, capsys):
    """A line each, a table, what to look at, where the overview is; 0 if all were graded."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "c.toml").write_text(COURSE)
    handed_in(s1="grade", s2="grade")
    assert cli.main(["grade", "in", "--course", "c.toml", "--seeds", "4, 5"]) == 0
    shown = capsys.readouterr().out
    assert shown.startswith("Grading 2 submissions\n")
    assert re.search(r"^\[2/2 done, 0 running, \d+ s\] s\d\.zip: ", shown, re.MULTILINE)
    assert "s1.zip: 4 of 12 points" in shown
    assert "To look at: s1, s2: settings, work.sh and answers are identical" in shown
    assert "2 of 2 graded in" in shown
    assert "Overview: grades/index.html" in shown
    data = json.loads((tmp_path / "grades/s1/results.json").read_text())["extra_data"]["environment"]
    assert data == {"seeds": [4, 5], "sandboxed": True, "course": COURSE, "bundle": "s1.zip"}
    assert cli.main(["grade", "in", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["out"] == "grades-2"


def test_what_is_skipped_is_named_on_the_console_in_the_overview_and_in_the_summary(
    grading, handed_in, tmp_path, monkeypatch, capsys
):
    """With the reason; more than ten are counted on the console, and all are in the files."""
    monkeypatch.chdir(tmp_path)
    folder = handed_in(s1="grade")
    for number in range(12):
        (folder / f"n{number:02}.txt").touch()
    assert cli.main(["grade", "in"]) == 0
    shown = capsys.readouterr().out
    assert "Skipped: n00.txt (not a .zip), n01.txt (not a .zip)" in shown
    assert "and 2 more, which index.html names" in shown
    page = (tmp_path / "grades/index.html").read_text()
    told = json.loads((tmp_path / "grades/summary.json").read_text())["skipped"]
    assert [each["file"] for each in told] == [f"n{number:02}.txt" for number in range(12)]
    assert all(each["why"] == "not a .zip" and each["file"] in page for each in told)


def test_a_course_file_that_others_can_read_is_warned_of(grading, handed_in, tmp_path, monkeypatch, capsys):
    """It holds the secret that proves who is who; one that is private is no matter for a word."""
    monkeypatch.chdir(tmp_path)
    handed_in(s1="grade")
    (tmp_path / "c.toml").write_text(COURSE)
    (tmp_path / "c.toml").chmod(0o644)
    assert cli.main(["grade", "in", "--course", "c.toml"]) == 0
    said = capsys.readouterr().err
    assert "c.toml: others on this machine can read the secret in it; chmod 600 c.toml makes it yours alone" in said
    (tmp_path / "c.toml").chmod(0o600)
    assert cli.main(["grade", "in", "--course", "c.toml"]) == 0
    assert "others on this machine" not in capsys.readouterr().err


def test_the_command_takes_the_column_of_ids(grading, handed_in, tmp_path, monkeypatch, capsys):
    """Of a roster whose heading it does not know."""
    monkeypatch.chdir(tmp_path)
    handed_in(s1="grade")
    (tmp_path / "r.csv").write_text("Kennung,Name\nada7,Ada\n")
    assert cli.main(["grade", "in", "--roster", "r.csv"]) == 2
    assert "--id-column" in capsys.readouterr().err
    assert cli.main(["grade", "in", "--roster", "r.csv", "--id-column", "Kennung"]) == 0
    assert cli.main(["grade", "in", "--id-column", "Kennung"]) == 2
    assert "--id-column goes with --roster" in capsys.readouterr().err


def test_the_command_says_that_something_was_not_graded(grading, handed_in, tmp_path, capsys):
    """Exit code 1, and the reason in the table."""
    folder = handed_in(s1="grade", s2="refuse")
    assert cli.main(["grade", str(folder), "--out", str(tmp_path / "out"), "--jobs", "1"]) == 1
    shown = capsys.readouterr().out
    assert re.search(r"\[2/2 done, 0 running, \d+ s\] s2\.zip: not gradable: The file holds no topology\.mn\.", shown)
    assert "1 of 2 graded" in shown


def test_where_nothing_is_done_for_a_while_a_line_says_what_runs(grading, handed_in, tmp_path, monkeypatch, capsys):
    """In a log a slow submission could not be told from a grader that hangs."""
    monkeypatch.setattr(grade_view, "QUIET_S", 0.5)
    folder = handed_in(s1={"do": "wait", "for": 1.5})
    assert cli.main(["grade", str(folder), "--out", str(tmp_path / "out")]) == 0
    assert re.search(
        r"^\[0/1 done, 1 running, \d s\] running: s1\.zip \(\d s\)$", capsys.readouterr().out, re.MULTILINE
    )


@pytest.mark.usefixtures("grading")
def test_a_course_file_that_was_forgotten_is_told_once(handed_in, tmp_path, capsys):
    """Every single report said so, after minutes; where most could not be graded, nothing is begun."""
    folder = handed_in(rubbish="refuse", practice="grade")
    for name in ("s1", "s2"):
        says = {"format": 1, "exercise": "exercise3", "version": 1, "course": "Networks", "student": name, "name": ""}
        text = json.dumps({**says, "parameters": {}, "signature": "0" * 64})
        write_bundle(folder / f"{name}.zip", Bundle("exercise3", name, {"instance.json": text.encode()}))
    assert cli.main(["grade", str(folder), "--out", str(tmp_path / "out")]) == 1
    first = capsys.readouterr().out.splitlines()[0]
    assert first.startswith('2 of 4 submissions belong to the course "Networks" and cannot be graded without its file')
    (folder / "practice.zip").unlink()
    assert cli.main(["grade", str(folder), "--out", str(tmp_path / "none")]) == 2
    assert '2 of 3 submissions belong to the course "Networks", so its file is needed' in capsys.readouterr().err
    assert not (tmp_path / "none").exists()


@pytest.mark.usefixtures("grading")
def test_what_submissions_say_of_their_course_is_shown_as_text(handed_in, tmp_path, capsys):
    """Regression: a course's name went to the terminal as it was, and half a surrogate pair ended the whole batch."""
    folder = handed_in(s1="grade", s2="grade", s3="grade")
    for name, course in (("s4", "x\x1b]0;y\x07"), ("s5", "z\ud800")):
        says = {"format": 1, "exercise": "exercise3", "version": 1, "course": course, "student": name, "name": ""}
        text = json.dumps({**says, "parameters": {}, "signature": "0" * 64})
        write_bundle(folder / f"{name}.zip", Bundle("exercise3", name, {"instance.json": text.encode()}))
    assert cli.main(["grade", str(folder), "--out", str(tmp_path / "out")]) == 1
    shown = capsys.readouterr().out
    assert 'to the course "x\\x1b]0;y\\x07" and "z\\ud800"' in shown
    assert not re.search(r"[\x07\x1b]", shown)


@pytest.mark.parametrize(
    ("exercise", "says"),
    [("problem999", "there is no exercise"), ("exercise1", "the instance belongs to a course")],
)
def test_a_platform_gets_a_result_of_every_submission(monkeypatch, tmp_path, exercise, says):
    """Regression: a lone submission of no exercise, or of a course whose file is not there, gave none at all."""
    monkeypatch.setattr(command, "grading_engine", lambda **_: SimpleNamespace(check=lambda: None))
    monkeypatch.setattr(grade_platform, "GRADESCOPE", tmp_path)
    monkeypatch.setattr(grade_platform, "readable", lambda _: [])
    (tmp_path / "submission").mkdir()
    instance = {"format": 1, "exercise": exercise, "version": 1, "course": "Networks", "student": "s", "name": ""}
    text = json.dumps({**instance, "parameters": {}, "signature": "0" * 64})
    (tmp_path / "submission/instance.json").write_text(text)
    (tmp_path / "submission/topology.mn").write_text("{}")
    assert cli.main(["grade", "--run-harness", "gradescope"]) == 0
    told = json.loads((tmp_path / "results/results.json").read_text())
    assert (told["score"], told["tests"]) == (0.0, [])
    assert says in told["output"]


def test_a_platform_whose_folder_cannot_be_closed_grades_nothing(monkeypatch, tmp_path, capsys):
    """It holds what the platform knows of earlier submissions; it is open again afterwards, for the platform."""
    monkeypatch.setattr(grade_platform, "GRADESCOPE", tmp_path)
    modes = []
    monkeypatch.setattr(
        grade_platform, "readable", lambda paths: modes.append(paths[0].stat().st_mode & 0o777) or paths
    )
    (tmp_path / "submission").mkdir()
    tmp_path.chmod(0o755)
    assert cli.main(["grade", "--run-harness", "gradescope"]) == 4
    assert f"the student's commands could read {tmp_path}, where the platform keeps" in capsys.readouterr().err
    assert (modes, tmp_path.stat().st_mode & 0o777) == ([0o700], 0o755)
    assert not (tmp_path / "results").exists()


def put_a_pipe(path):
    """A pipe in its place, on which nobody writes."""
    path.unlink()
    os.mkfifo(path)


def put_a_link(path):
    """A link to another student's file in its place."""
    path.unlink()
    path.symlink_to(path.with_name("s1.zip"))


def put_a_folder_away(path):
    """Its folder replaced by a link to another one with a file of that name."""
    (path.parents[1] / "other").mkdir()
    path.rename(path.parents[1] / "other" / path.name)
    shutil.rmtree(path.parent)
    path.parent.symlink_to(path.parents[1] / "other")


@pytest.mark.parametrize("put", [put_a_pipe, put_a_link, put_a_folder_away])
def test_what_takes_the_place_of_a_file_that_was_found_is_not_graded(handed_in, tmp_path, put):
    """Regression: where students can write, a pipe held the class for ever, and a link showed another's file."""
    folder = handed_in(s1="grade", s2="grade")
    submissions, _ = collect([str(folder)])
    put(folder / "s2.zip")
    settings = GradingSettings(jobs=1, deadline_s=60.0, grade=GRADE)
    found = grade_all(submissions, settings, tmp_path / "out", lambda _: None)
    last = found.entries[-1].report
    assert (last.status, last.score) == (Status.ERROR, 0.0)
    assert last.notes[0].startswith("the file cannot be read: ")


@pytest.mark.usefixtures("grading")
def test_nothing_is_graded_where_submissions_could_read_it(handed_in, tmp_path, monkeypatch, capsys):
    """Regression: a course file below /usr, which the sandbox shows, was printed with its secret into a report."""
    (tmp_path / "c.toml").write_text(COURSE)
    (tmp_path / "c.toml").chmod(0o600)
    asked = []

    def shown(paths):
        asked.extend(paths)
        return [path for path in asked if path.name == "c.toml"]

    monkeypatch.setattr(command, "shown", shown)
    monkeypatch.setattr(command, "search_path", lambda: (str(tmp_path / "my"),))
    folder = handed_in(s1="grade")
    assert cli.main(["grade", str(folder), "--course", str(tmp_path / "c.toml"), "--out", str(tmp_path / "o")]) == 2
    says = f"{tmp_path}/c.toml: submissions can read what lies there, so move it elsewhere; nothing was graded"
    assert says in capsys.readouterr().err
    temporary = Path(tempfile.gettempdir())
    assert asked == [tmp_path / "c.toml", tmp_path / "o", temporary, tmp_path / "my", folder / "s1.zip"]
    assert not (tmp_path / "o").exists()


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--jobs", "0"], "--jobs 0; at least one submission is graded at a time"),
        (["--course", "nowhere.toml"], "nowhere.toml: cannot be read: No such file or directory"),
        (["--course", "s1.zip"], "s1.zip: no course file"),
        (["--out", "."], ".: this folder is in use; give another with --out"),
        (["--seeds", "one"], "'one' is no seed"),
        (["--deadline", "soon"], "argument --deadline"),
    ],
)
@pytest.mark.usefixtures("grading")
def test_what_the_command_cannot_do(handed_in, monkeypatch, capsys, arguments, says):
    """It is said before anything starts, with exit code 2."""
    monkeypatch.chdir(handed_in(s1="grade"))
    try:
        code = cli.main(["grade", "s1.zip", *arguments])
    except SystemExit as end:  # argparse's
        code = end.code
    assert code == 2
    assert says in capsys.readouterr().err


def test_the_command_refuses_without_a_sandbox(handed_in, monkeypatch, capsys):
    """What the sandbox lacks is said, with its cure, and nothing is graded; told in words, it asks for none."""
    asked = []

    class Engine:
        def check(self):
            raise MissingError("bubblewrap is missing; sudo apt-get install bubblewrap")

    monkeypatch.setattr(command, "grading_engine", lambda *, sandboxed: asked.append(sandboxed) or Engine())
    folder = handed_in(s1="grade")
    monkeypatch.chdir(folder)
    assert cli.main(["grade", "s1.zip"]) == 4
    assert "bubblewrap is missing; sudo apt-get install bubblewrap" in capsys.readouterr().err
    assert cli.main(["grade", "s1.zip", "--unsandboxed-i-trust-these"]) == 4
    assert asked == [True, False]
    assert not (folder / "grades").exists()


def test_ctrl_c_ends_a_batch_and_says_what_is_left(handed_in, tmp_path):
    """Exit code 130 within seconds, and no process stays."""
    folder = handed_in(s1="hang", s2="hang")
    program = (
        "import sys, functools; from linklab import cli; from linklab.commands import grade as g; "
        "g.grading_engine = lambda *, sandboxed: type('E', (), {'check': lambda self: None})(); "
        "g.GradingSettings = functools.partial(g.GradingSettings, grade='graded:grade'); "
        "sys.exit(cli.main(sys.argv[1:]))"
    )
    out = tmp_path / "out"
    process = subprocess.Popen(
        [sys.executable, "-c", program, "grade", str(folder), "--out", str(out)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": f"{HERE.parents[1]}:{HERE}"},
    )

    def units():
        """Copies of the one process that we have started."""
        found = [process.pid]
        for _ in range(2):
            found = [child for pid in found for child in children(pid)]
        return found

    until = time.monotonic() + 20
    while len(units()) < 2 and time.monotonic() < until:
        time.sleep(0.1)
    running = units()
    assert len(running) == 2
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=20)
    assert process.returncode == 130
    assert "stopped with Ctrl+C" in errors
    for pid in running:
        assert not Path(f"/proc/{pid}").exists()


# --- a cluster


@pytest.fixture(scope="module")
def cluster():
    """A scheduler and two workers, processes of their own, on this machine."""
    distributed = pytest.importorskip("distributed")
    before = os.environ.get("PYTHONPATH")
    os.environ["PYTHONPATH"] = str(HERE)
    made = distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, dashboard_address=":0", silence_logs=50, host="127.0.0.1"
    )
    if before is None:
        del os.environ["PYTHONPATH"]
    yield made
    made.close()


@pytest.fixture
def no_look(monkeypatch):
    """The workers' kernel and sandbox are not asked for."""
    monkeypatch.setattr("linklab.grade.cluster._threads", lambda client, address, *, sandboxed: 2)


def test_a_cluster_gives_the_same_bytes(cluster, no_look, handed_in, tmp_path):
    """Two workers that share no folder with us, and this machine: the same files."""
    folder = handed_in(s1="grade", s2="raise", s3="die", s4="refuse", s5="grade", s6="grade", s7="spoil")
    graded(folder, tmp_path / "here", course=b"secret")
    done, told = graded(folder, tmp_path / "there", course=b"secret", cluster=cluster.scheduler_address)
    assert contents(tmp_path / "here") == contents(tmp_path / "there")
    assert sum(event is not None for event in told) == 7
    assert [entry.report.status.value for entry in done.entries].count("graded") == 3


def test_a_worker_that_dies_costs_nothing(cluster, no_look, handed_in, tmp_path):
    """Its submission is graded by another; the process it had started ends with it, and so does its folder."""
    once = tmp_path / "once"
    folder = handed_in(s1={"do": "kill", "once": str(once), "student": "s1"}, s2="grade")
    done, _ = graded(folder, tmp_path / "out", cluster=cluster.scheduler_address)
    assert [entry.report.status.value for entry in done.entries] == ["graded", "graded"]
    until = time.monotonic() + 20
    while (left := Path(once.read_text()).parent).exists() and time.monotonic() < until:
        time.sleep(0.1)
    assert left.name.startswith("linklab-unit-")
    assert not left.exists()


def test_a_worker_that_cannot_grade_is_named(cluster, monkeypatch, handed_in, tmp_path):
    """Before anything is sent: which worker, what it lacks."""
    monkeypatch.setattr("linklab.base.cluster.__version__", "0.0.9")
    monkeypatch.setattr("linklab.grade.cluster.examine", examine)
    with pytest.raises(
        MissingError, match=r"the worker tcp://127\.0\.0\.1:\d+ has Linklab 0\.1\.0, and this is 0\.0\.9"
    ):
        graded(handed_in(s1="grade"), tmp_path / "out", cluster=cluster.scheduler_address)
    monkeypatch.setattr("linklab.base.cluster.__version__", "0.1.0")
    with pytest.raises(MissingError, match=r"the worker tcp\S+ cannot grade: no bubblewrap"):
        graded(handed_in(s1="grade"), tmp_path / "out", cluster=cluster.scheduler_address, options={"sandboxed": False})


def examine(*, sandboxed):
    """What a worker says of itself."""
    return "0.1.0", "" if sandboxed else "no bubblewrap"


@pytest.fixture
def no_client_left():
    """A client that found no scheduler is removed here: its removal in another's starting thread locks both up."""
    yield
    gc.collect()


@pytest.mark.usefixtures("no_client_left")
@pytest.mark.parametrize("address", ["127.0.0.1:9", "nonsense"])
def test_a_cluster_that_is_not_there(monkeypatch, handed_in, tmp_path, address):
    """It is said, with the cure."""
    pytest.importorskip("distributed")
    monkeypatch.setattr("linklab.base.cluster.CONNECT_S", 1)
    with pytest.raises(MissingError, match=f"no Dask scheduler answers at {address}"):
        graded(handed_in(s1="grade"), tmp_path / "out", cluster=address)


def test_a_cluster_without_its_library(monkeypatch, handed_in, tmp_path):
    """The extra is named."""
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(MissingError, match=r'pip install "linklab\[cluster\]"'):
        graded(handed_in(s1="grade"), tmp_path / "out", cluster="127.0.0.1:8786")


_CLUSTER = """
from distributed import LocalCluster
if __name__ == "__main__":
    made = LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=":0", silence_logs=50)
    print(made.scheduler_address, flush=True)
    input()
    made.close()
"""


def test_a_cluster_that_goes_away(no_look, handed_in, tmp_path):
    """What was not graded is an error that says so, and the class has its files."""
    pytest.importorskip("distributed")
    script = tmp_path / "cluster.py"
    script.write_text(_CLUSTER)
    process = subprocess.Popen([sys.executable, script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        address = process.stdout.readline().strip()
        folder = handed_in(s1="grade", s2={"do": "wait", "for": 20}, s3="grade", s4="grade", s5="grade", s6="grade")
        submissions, _ = collect([str(folder)])
        settings = GradingSettings(cluster=address, grade=GRADE)

        def told(event):
            if event is not None and event.entry is not None and event.entry.name == "s1":
                process.stdin.write("\n")
                process.stdin.flush()

        done = grade_all(submissions, settings, tmp_path / "out", told)
    finally:
        process.stdin.close()
        process.wait(30)
        process.stdout.close()
    lost = "The connection to the cluster was lost before this was graded."
    assert [entry.report.notes == (lost,) for entry in done.entries] == [False, True, True, True, True, True]
    assert (tmp_path / "out/s6/report.html").is_file()


def test_a_files_name_is_shown_and_not_obeyed(tmp_path):
    """Regression: a submission's name cleared the grader's terminal."""
    (tmp_path / "\x1b[2Ja\udcff.zip").touch()
    (tmp_path / "b\n.txt").touch()
    submissions, left = collect([str(tmp_path)])
    assert [each.label for each in submissions] == ["\\x1b[2Ja\\udcff.zip"]
    assert [each.label for each in left] == ["b\\n.txt"]
