"""The exercises and problems themselves: each folder is whole and holds together, for every student."""

import re
from dataclasses import replace
from itertools import pairwise

import pytest

from linklab.base import toml
from linklab.exercise.answers import read_answers, template
from linklab.exercise.course import Course
from linklab.exercise.fill import fill, placeholders
from linklab.exercise.instance import Student, environment, issue, practice_instance, quantities
from linklab.exercise.load import exercise_folders, find_exercise, load_exercise
from linklab.grade.attempt import solution
from linklab.grade.known import known_answers
from linklab.judge.evaluation import names, number
from linklab.judge.quantity import Value
from linklab.topology import Topology

COURSE = Course("tests", b"t" * 32)
EXERCISES = [load_exercise(folder) for folder in exercise_folders()]
STUDENTS = [Student(f"s{n}") for n in range(20)]
each = pytest.mark.parametrize("exercise", EXERCISES, ids=lambda exercise: exercise.id)


def test_there_are_eight_exercises_and_three_problems():
    """In order, and found by the names people use."""
    assert [e.id for e in EXERCISES] == [*(f"exercise{n}" for n in range(1, 9)), *(f"problem{n}" for n in range(1, 4))]
    assert find_exercise("3") == find_exercise("exercise 3") == EXERCISES[2].folder
    assert find_exercise("p1") == find_exercise("Problem 1") == EXERCISES[8].folder


def test_the_template_loads_and_is_in_no_list():
    """What writing-an-exercise.md tells to copy."""
    folder = EXERCISES[0].folder.parent / "template"
    assert load_exercise(folder).weight == 100
    assert folder not in exercise_folders()


@each
def test_a_folder_is_whole(exercise):
    """Handout, key, model answer, three known wrong answers, and a topology under the series' name."""
    for name in ("handout.md", "key.md", "solution/answers.toml"):
        assert (exercise.folder / name).stat().st_size > 0
    assert len(list(exercise.folder.glob("wrong/*/marks.toml"))) >= 3
    if exercise.topology:
        assert exercise.topology == f"{exercise.kind.title()} {exercise.number}.mn"
        Topology.load(exercise.folder / exercise.topology)


@each
def test_full_marks_are_a_hundred_and_something_is_hidden(exercise):
    """So that scores compare, and hard-coding to the visible checks does not pay."""
    assert exercise.weight == 100
    assert any(check.hidden for check in exercise.checks)


@each
def test_every_text_can_be_filled_for_every_student(exercise):
    """Handout, key, settings, answers, model answer: no placeholder without a value."""
    metrics = {experiment.id for experiment in exercise.experiments}
    for student in STUDENTS:
        instance = issue(exercise, COURSE, student)
        lookup = quantities(exercise, instance, {"fault": Value(unit="word", word=instance.fault)})
        environment(exercise, instance)
        fill((exercise.folder / "handout.md").read_text(), lookup)
        for check in exercise.checks:
            for text in (check.title, check.why, *check.hints):
                fill(text, lookup)
        for made in [solution(exercise), *(known.made for known in known_answers(exercise))]:
            fill(made.work, lookup)
            for key, text in made.answers.items():
                assert key in [answer.name for answer in exercise.answers], made.folder
                spoken = {name for part in placeholders(str(text)) for name in names(part)}
                if not {name.partition(".")[0] for name in spoken} & metrics:
                    fill(str(text), lookup)


@each
def test_the_handout_gives_away_neither_fault_nor_solution(exercise):
    """It names no fault, and answers.toml as handed out answers nothing."""
    handout = (exercise.folder / "handout.md").read_text()
    for fault in exercise.faults:
        assert fault.key not in handout
    assert not read_answers(template(exercise), exercise).values


@each
def test_the_first_hint_gives_no_quantity_away(exercise):
    """What is said first points to the idea: it may repeat parameters, never what is derived from them."""
    parameters = {parameter.name for parameter in exercise.parameters}
    for check in exercise.checks:
        for text in check.hints[:1]:
            assert {name for part in placeholders(text) for name in names(part)} <= parameters, check.id


@each
def test_the_model_answer_answers_everything_that_needs_no_measurement(exercise):
    """In the kinds and units that are asked for."""
    metrics = {experiment.id for experiment in exercise.experiments}
    lookup = quantities(exercise, practice_instance(exercise), {"fault": Value(unit="word", word="x")})
    table = toml.loads((exercise.folder / "solution/answers.toml").read_text())
    assert set(table) == {answer.name for answer in exercise.answers}
    for answer in exercise.answers:
        spoken = {name for part in placeholders(str(table[answer.name])) for name in names(part)}
        if {name.partition(".")[0] for name in spoken} & {*metrics, "fault"}:
            continue
        alone = replace(exercise, answers=(answer,))
        text = fill(str(table[answer.name]), lookup).replace('"', "'")
        assert not read_answers(f'{answer.name} = """{text}"""', alone).problems


@each
def test_neighbours_answers_differ_by_more_than_the_tolerance(exercise):
    """An answer judged by theory: what is right for one value of a parameter is wrong for the next."""
    parameters = {parameter.name for parameter in exercise.parameters} | set(exercise.derived)
    checks = [c for c in exercise.checks if c.kind == "answer" and c.bands[0].low and c.bands[0].high]
    theory = [c for c in checks if names(c.bands[0].low) | names(c.bands[0].high) <= parameters]
    practice = practice_instance(exercise)
    for check in theory:
        band = check.bands[0]
        neighbours = ((each.name, *pair) for each in exercise.parameters for pair in pairwise(each.values))
        for name, *values in neighbours:
            ends = []
            for value in values:
                lookup = quantities(exercise, replace(practice, parameters={**practice.parameters, name: value}))
                ends.append((number(band.low, lookup).number, number(band.high, lookup).number))
            (low, high), (other_low, other_high) = ends
            if (low, high) == (other_low, other_high):
                continue  # this parameter has no part in it
            assert not low <= (other_low + other_high) / 2 <= high, (check.id, name, values)


@each
def test_hints_lead_from_where_to_how_without_numbers_of_another_student(exercise):
    """Three steps; none holds a rate or a time that is a parameter's value written out."""
    values = {value for parameter in exercise.parameters for value in parameter.values if re.search(r"\d \w", value)}
    for check in exercise.checks:
        for hint in check.hints:
            assert not any(value in hint for value in values), (check.id, hint)


@each
def test_titles_of_checks_begin_with_a_capital_or_a_name(exercise):
    """They stand in tables, one below the other."""
    for check in exercise.checks:
        assert re.match(r"[A-Z]|[hsr]\d|\{", check.title), check.title


@each
def test_the_planted_fault_is_not_told_by_trying(exercise):
    """`linklab check` says whether an answer fits; with ten choices that took ten runs."""
    assert all(check.hidden for check in exercise.checks if any("{fault}" in band.exactly for band in check.bands))


@pytest.mark.parametrize("exercise", [e for e in EXERCISES if e.faults], ids=lambda exercise: exercise.id)
def test_a_cause_that_was_only_decoded_earns_nothing(exercise):
    """Its points need the network measured as it was found, a look at what is wrong, and the mended network."""
    checks = {check.id: check for check in exercise.checks}
    (cause,) = (check for check in exercise.checks if any("{fault}" in band.exactly for band in check.bands))
    needed = [checks[name] for name in cause.needs]
    assert [check.kind for check in needed] == ["answer", "observed", "measure"]
    based = {each.id: each.base for each in exercise.experiments}
    before = {name.partition(".")[0] for name in names(needed[0].bands[0].low)}
    assert {based[name] for name in before & based.keys()} == {"start"}
    assert based[needed[2].subject.partition(".")[0]] == "submitted"
    for name, fails in (
        ("decoded", ["before", "observed", "cause"]),
        ("measured-but-not-looked-at", ["observed", "cause"]),
    ):
        (known,) = (each for each in known_answers(exercise) if each.name == name)
        assert known.shares == dict.fromkeys(fails, 0.0)
