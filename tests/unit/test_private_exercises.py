"""Exercises that lie in folders of their own: where they are looked for, and which commands find them."""

import json
import os
import shutil

import pytest
from small_exercise import EXERCISE, HANDOUT, TOPOLOGY, use_clone

from linklab import cli
from linklab.errors import InputError
from linklab.exercise.load import all_exercise_folders, exercise_folders, find_exercise, known_exercise
from linklab.exercise.places import VARIABLE, course_places, exercise_id, searching


def write_exercise(folder, number=9, title="A private exercise"):
    """A small exercise in a folder of its own."""
    folder.mkdir(parents=True)
    text = EXERCISE.replace("number = 3", f"number = {number}").replace("A small exercise", title)
    (folder / "exercise.toml").write_text(text.replace("Exercise 3.mn", f"Exercise {number}.mn"))
    (folder / "handout.md").write_text(HANDOUT)
    shutil.copy(TOPOLOGY, folder / f"Exercise {number}.mn")
    return folder


@pytest.fixture(autouse=True)
def clone(tmp_path, monkeypatch):
    """The folder that the commands run in; the series' exercises are a small clone beside it."""
    monkeypatch.delenv(VARIABLE, raising=False)
    monkeypatch.delenv("DISPLAY", raising=False)
    use_clone(tmp_path / "clone", monkeypatch)
    here = tmp_path / "here"
    here.mkdir()
    monkeypatch.chdir(here)
    return here


@pytest.fixture
def mine(clone):
    """A private exercise, in a folder that holds several."""
    return write_exercise(clone / "my/9-mine")


def test_what_a_file_names_is_no_folder_beside_it(clone):
    """Regression: grading among unpacked submissions took a student's exercise3/exercise.toml for the exercise."""
    theirs = write_exercise(clone / "exercise3", number=3)
    series = exercise_folders()[0]
    assert (find_exercise("exercise3"), known_exercise("exercise3")) == (theirs, series)
    with pytest.raises(InputError, match="there is no exercise"):
        known_exercise(str(theirs))


@pytest.mark.parametrize("place", ["my", "my/9-mine"])
@pytest.mark.parametrize("name", ["9", "exercise9", "exercise 9", "9-mine"])
def test_an_exercise_of_ones_own_is_found_where_the_search_path_says(mine, clone, place, name):
    """The path names the exercise's folder, or one that holds several; afterwards it is as it was."""
    with searching([clone / place]):
        assert find_exercise(name) == mine
        assert [exercise_id(folder) for folder in all_exercise_folders()] == ["exercise9", "exercise3", "problem1"]
    assert mine not in exercise_folders()
    with pytest.raises(
        InputError, match=r'there is no exercise ".*9.*"; I have exercise3, problem1; .*--exercises DIR'
    ):
        find_exercise(name)


def test_the_layout_of_a_clone_and_of_a_class_folder_is_found_too(clone):
    """exercises/ and problems/ below the place."""
    mine = write_exercise(clone / "class/exercises/9-mine")
    with searching([clone / "class"]):
        assert find_exercise("exercise9") == mine


def test_the_variable_names_several_folders(mine, clone, monkeypatch):
    """As PATH does; an option comes before it."""
    other = write_exercise(clone / "others/8-other", 8)
    again = write_exercise(clone / "again/9-mine")
    monkeypatch.setenv(VARIABLE, f"{clone / 'my'}{os.pathsep}{clone / 'others'}")
    assert (find_exercise("9"), find_exercise("8")) == (mine, other)
    with searching([clone / "again"]):
        assert find_exercise("9") == again
    assert find_exercise("9") == mine


def test_ones_own_exercise_stands_for_that_of_the_series_of_the_same_number(clone):
    """It was asked for; the list has it once."""
    mine = write_exercise(clone / "my/3-mine", 3)
    with searching([clone / "my"]):
        assert find_exercise("3") == mine
        assert [exercise_id(folder) for folder in all_exercise_folders()] == ["exercise3", "problem1"]
    assert find_exercise("3") != mine


@pytest.mark.parametrize(
    ("place", "said"), [("nowhere", "there is no such folder"), ("empty", "there is no exercise in it")]
)
def test_a_place_without_an_exercise_is_named(clone, place, said):
    """Before anything is done."""
    (clone / "empty").mkdir()
    with pytest.raises(InputError, match=rf"{place}: {said}"), searching([clone / place]):
        pass


def test_two_exercises_of_one_name_in_a_place_are_refused(mine, clone):
    """Which one is meant cannot be known."""
    write_exercise(clone / "my/9-copy")
    with pytest.raises(InputError, match=r"9-copy and .*9-mine are both exercise9"), searching([clone / "my"]):
        pass


def test_a_course_file_names_places_beside_itself(mine, clone):
    """Relative to the file, so that the folder can be moved as a whole."""
    course = clone / "networks.toml"
    course.write_text(f'course = "Networks"\nsecret = "{"ab" * 32}"\nexercises = ["my"]\n')
    assert course_places(course) == [clone / "my"]
    course.write_text(f'course = "Networks"\nsecret = "{"ab" * 32}"\nexercises = "my"\n')
    with pytest.raises(InputError, match=r'networks\.toml: "exercises" must be a list of folders, as in \["my"\]'):
        course_places(course)


# --- commands


def test_list_start_and_handout_find_it(mine, capsys):
    """With the option; a started folder remembers where the exercise is."""
    assert cli.main(["exercise", "list", "--exercises", "my"]) == 0
    assert "A private exercise" in capsys.readouterr().out
    assert cli.main(["exercise", "start", "9", "--exercises", "my", "--no-editor"]) == 0
    assert cli.main(["exercise", "handout", "9", "--exercises", "my", "--out", "mine.html"]) == 0
    capsys.readouterr()
    assert cli.main(["submit", "exercise-9", "--answers-only"]) == 0
    assert "It is of the practice instance of Exercise 9" in capsys.readouterr().out
    assert VARIABLE not in os.environ


def test_a_started_folder_says_where_its_exercise_was(mine, clone, capsys):
    """When it is gone; and the option says where it is now."""
    assert cli.main(["exercise", "start", "my/9-mine", "--no-editor"]) == 0
    (clone / "my").rename(clone / "moved")
    capsys.readouterr()
    assert cli.main(["submit", "exercise-9", "--answers-only"]) == 2
    said = capsys.readouterr().err
    assert f"was started from {mine}, which is not there any more" in said and "--exercises DIR" in said
    assert cli.main(["submit", "exercise-9", "--answers-only", "--exercises", "moved"]) == 0


def test_issue_writes_the_place_into_a_new_course_file(mine, clone, capsys):
    """So that grading finds what was issued; a course file that is there is not changed, and is told what it lacks."""
    (clone / "class.csv").write_text("id\nada\n")
    issue = ["exercise", "issue", "my/9-mine", "--roster", "class.csv", "--course"]
    assert cli.main([*issue, "new.toml"]) == 0
    assert course_places(clone / "new.toml") == [clone / "my"]
    old = f'course = "Old"\nsecret = "{"ab" * 32}"\n'
    (clone / "old.toml").write_text(old)
    (clone / "old.toml").chmod(0o600)
    capsys.readouterr()
    assert cli.main([*issue, "old.toml"]) == 0
    assert 'old.toml: add exercises = ["my"], so that grading finds this exercise' in capsys.readouterr().out
    assert (clone / "old.toml").read_text() == old
    assert cli.main(["exercise", "issue", "9", "--roster", "class.csv", "--course", "new.toml"]) == 0


def test_a_class_folder_is_all_that_students_need(mine, clone, tmp_path, monkeypatch, capsys):
    """An instance is started from it on another machine, into any folder, without an option."""
    (clone / "class.csv").write_text("id\nada\n")
    of_class = ["--class", "week5", "--course", "new.toml", "--roster", "class.csv"]
    assert cli.main(["exercise", "issue", "my/9-mine", "--roster", "class.csv", "--course", "new.toml"]) == 0
    assert cli.main(["exercise", "handout", "9", *of_class]) == 0
    student = tmp_path / "student"
    student.mkdir()
    shutil.move(clone / "week5", student / "week5")
    shutil.rmtree(mine)
    monkeypatch.chdir(student)
    assert cli.main(["exercise", "start", "week5/instances/exercise9-ada.json", "--no-editor"]) == 0
    capsys.readouterr()
    assert cli.main(["submit", "exercise-9", "--answers-only"]) == 0
    assert "It is the work of ada on Exercise 9" in capsys.readouterr().out


def test_grading_refuses_a_class_of_an_exercise_that_is_not_here(mine, clone, capsys):
    """Each submission had a report that there is no such exercise, and the student an empty cell."""
    assert cli.main(["exercise", "start", "9", "--exercises", "my", "--no-editor"]) == 0
    assert cli.main(["submit", "exercise-9", "--answers-only"]) == 0
    capsys.readouterr()
    assert cli.main(["grade", "exercise-9/exercise9-practice.zip", "--out", "g"]) == 2
    said = capsys.readouterr().err
    assert "the submission is of exercise9, which is not here" in said and "--exercises DIR" in said
    assert not (clone / "g").exists()
    packed = (clone / "exercise-9/exercise9-practice.zip").read_bytes()
    (clone / "in").mkdir()
    for number in range(5):
        (clone / f"in/{number}.zip").write_bytes(packed + bytes(number))  # one person may be whose all of them are
    assert cli.main(["grade", "in", "--out", "g"]) == 2
    assert "5 of 5 submissions (0.zip, 1.zip, 2.zip, and 2 more) are of exercise9, which" in capsys.readouterr().err


def test_an_instance_of_a_version_that_is_not_here_still_says_so(mine, clone, capsys):
    """The place that was found is not the fault."""
    assert cli.main(["exercise", "start", "my/9-mine", "--no-editor"]) == 0
    path = clone / "exercise-9/instance.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"version": 2}))
    capsys.readouterr()
    assert cli.main(["submit", "exercise-9", "--answers-only"]) == 2
    assert "version 2" in capsys.readouterr().err
