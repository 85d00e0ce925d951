"""A course file's rules: deadlines, costs, extensions, and points; what is wrong in it is said with its place."""

import datetime as dt
from zoneinfo import ZoneInfo

import pytest

from linklab import cli
from linklab.errors import InputError
from linklab.exercise.course import Cost, Course, Rules, parse_course, weighted
from linklab.exercise.instance import Student
from linklab.exercise.load import find_exercise, load_exercise
from linklab.grade.course_check import examined, unmeant

HEAD = f'course = "Networks"\nsecret = "{"5e" * 32}"\n'
ZONE = ZoneInfo("Europe/Berlin")
NOW = dt.datetime(2026, 11, 1, tzinfo=dt.timezone.utc)


def course(text):
    """The course of a file with these lines after name and secret."""
    return parse_course((HEAD + text).encode(), "c.toml")


def test_an_exercise_takes_what_holds_for_all_unless_its_own_table_says_otherwise():
    """Grace, cost of a day, and cap; a deadline without an offset is in the course's time zone."""
    made = course(
        'timezone = "Europe/Berlin"\n'
        '[late]\ngrace = "15min"\nper_day = "10%"\ncap = "50%"\n'
        "[exercise3]\ndeadline = 2026-11-20T23:59:00\nextensions = { s1 = 2026-11-27T23:59:00Z }\n"
        '[problem1]\nper_day = "1.5 points"\nweights = { cause = 20, mended = 0 }\n'
    )
    assert made.zone == ZONE
    assert made.rules == {
        "exercise3": Rules(
            deadline=dt.datetime(2026, 11, 20, 23, 59, tzinfo=ZONE),
            grace_s=900.0,
            per_day=Cost(share=0.1),
            cap=Cost(share=0.5),
            extensions={"s1": dt.datetime(2026, 11, 27, 23, 59, tzinfo=dt.timezone.utc)},
        ),
        "problem1": Rules(
            grace_s=900.0, per_day=Cost(points=1.5), cap=Cost(share=0.5), weights={"cause": 20.0, "mended": 0.0}
        ),
    }


def test_a_course_file_without_rules_has_none():
    """As `exercise issue` makes it, with the places of exercises of one's own."""
    assert course('exercises = ["my"]\n') == Course("Networks", b"\x5e" * 32)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (
            "[exercise 3]\n",
            "c.toml: no course file, since it is no TOML: Expected ']' at the end of a table decl",
        ),
        ("[excercise3]\n", 'c.toml: unknown key "excercise3"; the keys here are timezone, late, exercise3, problem1'),
        ("[exercise3]\ndeadlin = 1\n", 'c.toml: [exercise3]: unknown key "deadlin"; the keys here are grace, per_day'),
        ("[exercise3]\ndeadline = 2026-11-20\n", "[exercise3]: deadline must be a date with a time, such as"),
        ("[exercise3]\ndeadline = 2026-11-20T23:59:00\n", "deadline 2026-11-20T23:59:00 is in no time zone"),
        ('timezone = "Mars"\n', 'c.toml: timezone "Mars" is not known; write one such as "Europe/Berlin"'),
        ('[late]\ngrace = "soon"\n', 'c.toml: [late]: grace: time "soon" is not a number with a unit'),
        (
            '[late]\nper_day = "a lot"\n',
            'per_day "a lot" must be a share of the full points, such as "10%"',
        ),
        ('[late]\ncap = "150%"\n', 'cap "150%" must be a share of the full points'),
        ("[late]\ndeadline = 1\n", 'c.toml: [late]: unknown key "deadline"'),
        ("late = 3\n", '"late" must be a table'),
        ('[exercise3]\nextensions = { "a b" = 2026-11-20T23:59:00Z }\n', 'extensions: "a b" is not a student\'s id'),
        ("[exercise3]\nextensions = { s1 = 3 }\n", "extensions: s1 must be a date with a time"),
        ("[exercise3]\nweights = { links = -1 }\n", "weights: links must be a number of points from 0, not -1"),
        ("[exercise3]\nweights = { links = true }\n", "weights: links must be a number of points from 0, not True"),
        ("[exercise3]\nweights = { links = nan }\n", "weights: links must be a number of points from 0, not nan"),
        ("[lab5]\nweights = { a = 1 }\n", "[lab5]: weights: each step of a lab is a point"),
    ],
)
def test_what_is_wrong_in_a_course_file_is_said_with_its_place(text, says):
    """And with what to write instead; a key that is misspelt is no rule that silently does not hold."""
    with pytest.raises(InputError) as caught:
        course(text)
    assert says in str(caught.value)


def test_a_course_gives_checks_points_of_its_own():
    """The others keep theirs; the full mark is the sum."""
    exercise = load_exercise(find_exercise("1"))
    made = weighted(exercise, course("[exercise1]\nweights = { nodes = 0, links = 30.5 }\n"))
    before = {check.id: check.weight for check in exercise.checks}
    assert {check.id: check.weight for check in made.checks} == {**before, "nodes": 0, "links": 30.5}
    assert made.weight == exercise.weight - before["nodes"] - before["links"] + 30.5
    assert weighted(exercise, None) == weighted(exercise, course("[exercise2]\n")) == exercise


def test_points_for_a_check_that_is_not_there_are_refused():
    """With the checks that are; and so is an exercise without a point."""
    exercise = load_exercise(find_exercise("1"))
    with pytest.raises(InputError, match=r'\[exercise1\]: weights: there is no check "node"; there are nodes, links,'):
        weighted(exercise, course("[exercise1]\nweights = { node = 1 }\n"))
    nothing = ", ".join(f"{check.id} = 0" for check in exercise.checks)
    with pytest.raises(InputError, match="weights: no check is worth a point"):
        weighted(exercise, course(f"[exercise1]\nweights = {{ {nothing} }}\n"))


def test_a_look_at_a_course_says_what_it_means_and_what_is_wrong():
    """In words for each exercise; an extension that is none, a student who is not there, an exercise that is not."""
    made = course(
        'timezone = "Europe/Berlin"\n[late]\ngrace = "15min"\nper_day = "10%"\ncap = "50%"\n'
        "[exercise1]\ndeadline = 2026-11-20T23:59:00\nweights = { nodes = 20 }\n"
        "extensions = { s1 = 2026-11-10T12:00:00, s9 = 2026-11-22T12:00:00 }\n"
        "[exercise77]\n[lab5]\ndeadline = 2026-10-20T23:59:00\n[lab77]\n"
    )
    said = list(examined(made, [Student("s1"), Student("s2")], NOW))
    full = load_exercise(find_exercise("1")).weight + 10
    assert [remark.says for remark in said if not remark.wrong] == [
        f"exercise1: {full:g} points; of them 20 for nodes; due 2026-11-20 23:59+01:00; 15 min of grace; "
        f"each day late costs {full / 10:g} points, at most {full / 2:g} points; s1 has until 2026-11-10 12:00+01:00; "
        "s9 has until 2026-11-22 12:00+01:00",
        "exercise1: an instance can be issued to each of 2 students",
        "lab5: due 2026-10-20 23:59+02:00; 15 min of grace; each day late costs 10%, at most 50%",
        "lab5: the deadline, 2026-10-20 23:59+02:00, has passed",
    ]
    wrong = [remark.says for remark in said if remark.wrong]
    assert wrong[:2] == [
        "exercise1: the extension of s1, 2026-11-10 12:00+01:00, is not later than the deadline",
        "exercise1: s9 has an extension, and is not on the roster",
    ]
    assert [says.partition(":")[0] for says in wrong[2:]] == ["exercise77", "lab77"]


def test_what_a_course_file_says_of_nobody_and_nothing_is_told_when_a_class_is_graded():
    """Regression: with a slip in the number of an exercise its deadline was left out, and marks rose in silence."""
    made = course(
        "[exercise33]\ndeadline = 2026-11-20T23:59:00Z\n[exercise1]\nweights = { queu = 20 }\n"
        "[exercise3]\ndeadline = 2026-11-20T23:59:00Z\nextensions = { s9 = 2026-11-21T23:59:00Z }\n"
    )
    assert [each.partition(": ")[0] for each in unmeant(made, [])] == [
        "[exercise33] counts for nothing here",
        "[exercise1] counts for nothing here",
    ]
    *_, last = unmeant(made, [Student("s1")])
    assert last == "[exercise3]: s9 has an extension, and is not on the roster"


def test_a_deadline_that_costs_nothing_is_named():
    """It is likely that the cost was forgotten."""
    said = examined(course("[exercise1]\ndeadline = 2026-11-20T23:59:00Z\n"), [], NOW)
    assert [remark.says for remark in said if remark.wrong] == [
        'exercise1: lateness costs nothing; say what a day costs with per_day = "10%", here or in [late]'
    ]


def test_verify_wants_an_exercise_or_a_course(capsys):
    """Without one there is nothing to prove."""
    assert cli.main(["exercise", "verify"]) == 2
    assert 'name an exercise, such as 3, or "all", or give a course with --course FILE' in capsys.readouterr().err
