# SPDX-License-Identifier: BSD-3-Clause
"""A course file → what it means for each exercise, in words, and what is wrong with it, before a class sees it."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from linklab.errors import LinklabError
from linklab.exercise.course import Course, Rules, weighted
from linklab.exercise.instance import Student, environment, issue, quantities
from linklab.exercise.load import find_exercise, load_exercise
from linklab.grade.results import points
from linklab.lab.model import find_lab


@dataclass(frozen=True)
class Remark:
    """A sentence on a course; wrong: whether something has to be mended, beside what is to be read."""

    says: str
    wrong: bool = False


def examined(course: Course, students: Sequence[Student], now: dt.datetime) -> Iterator[Remark]:
    """What a course file says of each exercise, and what cannot be meant.

    Args:
        course: of the file.
        students: of its roster; empty where there is none.
        now: an aware time; deadlines before it are named.
    """
    if not any(rules.deadline or rules.extensions for rules in course.rules.values()):
        yield Remark("no exercise has a deadline, so lateness costs nothing")
    for name, rules in course.rules.items():
        try:
            full = _full(name, course)
        except LinklabError as error:
            yield Remark(f"{name}: {error}", wrong=True)
            continue
        yield Remark(f"{name}: {told(rules, full)}")
        if rules.deadline is not None and rules.deadline < now:
            yield Remark(f"{name}: the deadline, {_shown(rules.deadline)}, has passed")
        for says in _wrong(rules, {student.id for student in students}):
            yield Remark(f"{name}: {says}", wrong=True)
        if not name.startswith("lab"):
            yield from _instances(name, course, students)


def unmeant(course: Course, students: Sequence[Student]) -> Iterator[str]:
    """A sentence for each rule in a course file that names an exercise, a check, or a student that does not exist.

    Args:
        course: as read from the file.
        students: the roster's; with none, students are not checked.
    """
    known = {student.id for student in students}
    for name, rules in course.rules.items():
        try:
            _full(name, course)
        except LinklabError as error:
            yield f"[{name}] counts for nothing here: {error}"
            continue
        yield from (f"[{name}]: {each}" for each in _strangers(rules, known))


def _strangers(rules: Rules, students: set[str]) -> Iterator[str]:
    """A sentence for each extension of a student who is not on the roster."""
    yield from (
        f"{student} has an extension, and is not on the roster"
        for student in rules.extensions
        if students and student not in students
    )


def _full(name: str, course: Course) -> float | None:
    """The full points of an exercise; None of a lab, whose steps are counted when it is graded."""
    if name.startswith("lab"):
        find_lab(name.removeprefix("lab"))
        return None
    return weighted(load_exercise(find_exercise(name)), course).weight


def told(rules: Rules, full: float | None) -> str:
    """The rules of an exercise of `full` points (None: not known), in words."""
    words = [] if full is None else [f"{points(full)} points"]
    if rules.weights:
        words.append("of them " + ", ".join(f"{points(value)} for {check}" for check, value in rules.weights.items()))
    words.append(f"due {_shown(rules.deadline)}" if rules.deadline else "no deadline")
    if rules.grace_s:
        words.append(f"{points(rules.grace_s / 60)} min of grace")
    if rules.deadline or rules.extensions:
        if full is None:
            costs, most = str(rules.per_day), str(rules.cap)
        else:
            costs, most = (f"{points(min(cost.of(full), full))} points" for cost in (rules.per_day, rules.cap))
        words.append(f"each day late costs {costs}, at most {most}")
    words += [f"{student} has until {_shown(due)}" for student, due in rules.extensions.items()]
    return "; ".join(words)


def _wrong(rules: Rules, students: set[str]) -> Iterator[str]:
    if rules.deadline is not None and not rules.per_day.of(1):
        yield 'lateness costs nothing; say what a day costs with per_day = "10%", here or in [late]'
    for student, due in rules.extensions.items():
        if rules.deadline is None:
            yield f"{student} has an extension, but there is no deadline to extend"
        elif due <= rules.deadline:
            yield f"the extension of {student}, {_shown(due)}, is not later than the deadline"
    yield from _strangers(rules, students)


def _instances(name: str, course: Course, students: Sequence[Student]) -> Iterator[Remark]:
    """Whether every student's instance can be drawn and set up."""
    exercise = load_exercise(find_exercise(name))
    for student in students:
        try:
            instance = issue(exercise, course, student)
            quantities(exercise, instance)
            environment(exercise, instance)
        except LinklabError as error:
            yield Remark(f"{name}: the instance of {student.id}: {error}", wrong=True)
    if students:
        yield Remark(f"{name}: an instance can be issued to each of {len(students)} students")


def _shown(time: dt.datetime | None) -> str:
    return time.isoformat(" ", "minutes") if time else "never"
