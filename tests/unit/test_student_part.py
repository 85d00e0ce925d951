# SPDX-License-Identifier: BSD-3-Clause
"""What a student gets of an exercise: it works as the whole does, and holds nothing of the instructor's."""

import json

import pytest
from small_exercise import make_clone

from linklab.base import toml
from linklab.errors import InputError, MissingError
from linklab.exercise.course import Course
from linklab.exercise.handout import handout_html
from linklab.exercise.instance import Student, instance_text, issue, practice_instance
from linklab.exercise.load import exercise_folders, load_exercise
from linklab.exercise.student_part import need_instructors_part, student_part

COURSE = Course("tests", b"t" * 32)
FOLDERS = exercise_folders()
each = pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: f"{folder.parent.name[:-1]}-{folder.name}")


def students(folder, tmp_path):
    """The exercise as a student has it."""
    own = tmp_path / folder.name
    own.mkdir()
    for name, content in student_part(folder).items():
        (own / name).write_bytes(content)
    return load_exercise(own)


@each
def test_a_students_part_is_the_exercise_for_a_student(folder, tmp_path):
    """Same values, same environment, same handout, same visible checks, same sum of points."""
    whole, own = load_exercise(folder), students(folder, tmp_path)
    assert (whole.withheld, own.withheld) == (None, whole.hidden)
    assert (own.hidden, own.weight) == (whole.hidden, whole.weight)
    assert own.checks == tuple(check for check in whole.checks if not check.hidden)
    for instance in [practice_instance(whole), practice_instance(whole, 7), issue(whole, COURSE, Student("s1"))]:
        assert instance_text(own, instance) == instance_text(whole, instance)
        assert handout_html(own, instance) == handout_html(whole, instance)
    assert practice_instance(own, 7) == practice_instance(whole, 7)


@each
def test_a_students_part_tells_nothing_that_is_the_instructors(folder, tmp_path):
    """Neither a file, nor a hidden check, nor what a fault shows, nor the name of a fault in plain words."""
    whole = load_exercise(folder)
    files = student_part(folder)
    assert not [name for name in files if name.startswith(("solution", "wrong", "key"))]
    text = json.dumps([content.decode(errors="replace") for content in files.values()], ensure_ascii=False)
    told = [word for check in whole.checks if check.hidden for word in (check.title, check.why)]
    told += [word for fault in whole.faults for word in (fault.key, fault.seen)]
    told += [experiment.why for experiment in whole.experiments]
    told += [line.lstrip("# ") for line in (folder / "exercise.toml").read_text().splitlines() if line.startswith("# ")]
    assert not [word for word in told if json.dumps(word, ensure_ascii=False)[1:-1] in text]
    assert not [fault.id for fault in whole.faults if f'id = \\"{fault.id}' in text]


def test_a_students_part_does_not_say_what_hidden_checks_measure_or_which_answers_are_steady(tmp_path):
    """Regression: Problem 3's spoke of ping.mean, which a hidden check alone does, and of FQ-CoDel."""
    folder = next(each for each in exercise_folders() if each.name.startswith("3-minimising"))
    theirs = toml.loads(student_part(folder)["exercise.toml"].decode())
    both = next(each for each in theirs["experiment"] if each["id"] == "both")
    assert not {"ping", "steady"} & both.keys()
    assert set(both["spread"]) == {"jain", "throughput"}


@each
def test_what_needs_the_instructors_part_says_so_in_a_sentence(folder, tmp_path):
    """What is missing, and what to install."""
    need_instructors_part(load_exercise(folder), "grade it")
    own = students(folder, tmp_path)
    with pytest.raises(MissingError, match=r"hidden checks, so Linklab cannot grade it: install .* package linklab "):
        need_instructors_part(own, "grade it")
    with pytest.raises(MissingError, match="students' part"):
        student_part(own.folder)


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ('part = "student"', 'part = "teacher"', '"part" is "teacher"; the only part is "student"'),
        ('planted = "', 'planted = "x', '"planted" is damaged'),
        ("checks = 1", "count = 1", '"checks" is missing'),
    ],
)
def test_a_damaged_students_part_is_named(tmp_path, old, new, why):
    """As every fault of exercise.toml is."""
    own = students(make_clone(tmp_path / "clone") / "exercises/3-small", tmp_path)
    path = own.folder / "exercise.toml"
    assert old in path.read_text()
    path.write_text(path.read_text().replace(old, new, 1))
    with pytest.raises(InputError) as error:
        load_exercise(own.folder)
    assert why in str(error.value)
