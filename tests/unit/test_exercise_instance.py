"""Instances of exercises: drawn from a secret, signed, proved, and telling nothing of the secret or the fault."""

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from linklab.errors import InputError
from linklab.exercise.course import Course, load_course, new_course
from linklab.exercise.instance import (
    Student,
    decode_environment,
    environment,
    instance_text,
    issue,
    parse_instance,
    practice_instance,
    proven,
    quantities,
)
from linklab.exercise.load import load_exercise

TOML = """
format = 1
kind = "problem"
number = 9
title = "T"
version = 2
minutes = 10
[[parameter]]
name = "rate"
values = ["100 Mbps", "200 Mbps", "400 Mbps", "800 Mbps"]
series = "100 Mbps"
[derived]
half = "rate / 2"
[[setting]]
on = "client"
lines = ["tc qdisc add dev s1-eth1 root tbf rate {rate:tc} burst 5000 limit 50000", "true"]
says = "Rate: {rate}"
[[fault]]
id = "slow-half"
on = "h1"
lines = ["tc qdisc add dev h1-eth0 root tbf rate {half:tc} burst 5000 limit 50000"]
key = "K"
seen = "go.throughput < half"
[[fault]]
id = "lossy"
key = "K"
seen = "go.throughput < half"
[[fault.and]]
on = "h2"
lines = ["tc qdisc add dev h2-eth0 root netem loss 2%"]
[[experiment]]
id = "go"
base = "start"
flows = [{ from = "h1", to = "h2" }]
seconds = 5
why = "W"
"""
COURSE = Course("TCP 2026", b"s" * 32)


@pytest.fixture
def problem(tmp_path):
    """A problem with one parameter and two faults."""
    (tmp_path / "exercise.toml").write_text(TOML)
    return load_exercise(tmp_path)


def test_a_students_instance_is_the_same_whenever_it_is_drawn(problem):
    """No state but the secret."""
    assert issue(problem, COURSE, Student("ada")) == issue(problem, COURSE, Student("ada"))


def test_all_values_and_faults_are_drawn(problem):
    """Of 200 students each value comes to about a quarter and each fault to about half."""
    drawn = [issue(problem, COURSE, Student(f"s{n}")) for n in range(200)]
    rates = [each.parameters["rate"] for each in drawn]
    assert {rate: 30 < rates.count(rate) < 75 for rate in set(rates)} == dict.fromkeys(
        problem.parameters[0].values, True
    )
    assert 70 < [each.fault for each in drawn].count("lossy") < 130


def test_a_file_tells_neither_secret_nor_fault(problem):
    """What a student gets."""
    text = instance_text(problem, issue(problem, COURSE, Student("ada", "Ada L.")))
    assert COURSE.secret.hex() not in text and COURSE.secret.decode() not in text
    assert "lossy" not in text and "slow-half" not in text and "netem" not in text
    assert parse_instance(text, "f").name == "Ada L."


def test_the_environment_holds_settings_with_words_and_a_silent_fault(problem):
    """What set_env.sh prints and what it does not."""
    instance = replace(practice_instance(problem), fault="lossy")
    shaped = "tc qdisc add dev s1-eth1 root tbf rate 100mbit burst 5000 limit 50000"
    assert environment(problem, instance) == [
        ("client", shaped, "Rate: 100 Mbps"),
        ("client", "true", ""),
        ("h2", "tc qdisc add dev h2-eth0 root netem loss 2%", ""),
    ]
    assert decode_environment(json.loads(instance_text(problem, instance))["environment"]) == environment(
        problem, instance
    )


def test_an_instance_of_the_course_is_proved_with_its_fault(problem):
    """The grader knows the fault though no file says it."""
    issued = issue(problem, COURSE, Student("ada"))
    read = parse_instance(instance_text(problem, issued), "f")
    assert read.fault == ""
    assert proven(read, problem, COURSE) == issued


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        ({"parameters": {"rate": "800 Mbps "}}, None),
        ({"student": "bob"}, "was not issued by the course"),
        ({"signature": "0" * 64}, "was not issued by the course"),
        ({"version": 1}, "is of problem9, version 1, not of problem9, version 2"),
        ({"exercise": "exercise3"}, "is of exercise3"),
    ],
)
def test_a_changed_instance_is_refused_or_its_parameters_drawn_again(problem, changed, why):
    """Parameters in the file count for nothing; everything else is signed."""
    issued = issue(problem, COURSE, Student("ada"))
    if why is None:
        assert proven(replace(issued, **changed), problem, COURSE).parameters == issued.parameters
        return
    with pytest.raises(InputError, match=why):
        proven(replace(issued, **changed), problem, COURSE)


def test_an_instance_of_another_course_says_whose_it_is(problem):
    """Last year's file."""
    other = issue(problem, Course("TCP 2025", b"t" * 32), Student("ada"))
    with pytest.raises(InputError, match='it says it is of "TCP 2025"'):
        proven(other, problem, COURSE)


def test_a_course_instance_without_the_course_file_is_not_graded(problem):
    """Only practice instances are public."""
    with pytest.raises(InputError, match="--course"):
        proven(issue(problem, COURSE, Student("ada")), problem, None)


def test_practice_has_the_series_values_and_variants_others(problem):
    """Variant 0 is what the series prints."""
    assert practice_instance(problem).parameters == {"rate": "100 Mbps"}
    assert len({practice_instance(problem, n).parameters["rate"] for n in range(1, 20)}) == 4
    assert proven(practice_instance(problem, 3), problem, None) == practice_instance(problem, 3)


def test_derived_quantities_follow_from_parameters(problem):
    """rate / 2 of 400 Mbps."""
    known = quantities(problem, replace(practice_instance(problem), parameters={"rate": "400 Mbps"}))
    assert known("half").number == 200e6


def test_a_course_file_is_for_its_owner_alone_and_never_overwritten(tmp_path):
    """A lost secret is a lost course."""
    made = new_course(tmp_path / "course.toml", 'Net "1"')
    assert (tmp_path / "course.toml").stat().st_mode & 0o777 == 0o600
    assert load_course(tmp_path / "course.toml") == made
    with pytest.raises(InputError, match="File exists"):
        new_course(tmp_path / "course.toml", "other")


@pytest.mark.parametrize("said", ["../../tmp", "/srv/exam", "3", "exercise3\n", "exercise03", "a\0b", "\ud800"])
def test_an_instance_names_an_exercise_by_its_id(problem, said):
    """A path was looked at on the grader's machine, and exercise03 was a second column of Exercise 3 in all tables."""
    data = json.loads(instance_text(problem, issue(problem, COURSE, Student("ada")))) | {"exercise": said}
    with pytest.raises(InputError, match="is the id of none") as caught:
        parse_instance(json.dumps(data), "f")
    assert str(caught.value).isascii()


@given(st.text(max_size=300))
def test_no_text_breaks_the_reader_of_instances(text):
    """An instance or a sentence."""
    with pytest.raises(InputError):
        parse_instance(text, "f")
