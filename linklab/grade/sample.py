# SPDX-License-Identifier: BSD-3-Clause
"""Submissions as a student would make them who does what `linklab.grade.attempt` read: a solution or a wrong answer.

Answers that a student measures are measured here too, with a seed that is not the grader's.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from linklab.engine.api import Engine
from linklab.errors import InputError
from linklab.exercise.answers import Answers, read_answers
from linklab.exercise.bundle import Bundle
from linklab.exercise.course import Course
from linklab.exercise.evidence import Evidence
from linklab.exercise.fill import fill, placeholders
from linklab.exercise.folder import environment_files
from linklab.exercise.instance import Student, instance_text, issue, quantities
from linklab.exercise.model import Exercise, Instance
from linklab.grade.attempt import Attempt, solution
from linklab.grade.rebuild import rebuild
from linklab.grade.rerun import rerun
from linklab.grade.submission import Submission, typed_lines
from linklab.grade.unit import network_of
from linklab.judge.evaluation import NoValueError, names
from linklab.judge.quantity import Value
from linklab.state.model import State
from linklab.topology import Topology

STUDENT_SEED = 101
COURSE = Course("verify", b"the course of linklab exercise verify")
COURSE_FILE = f'course = "{COURSE.name}"\nsecret = "{COURSE.secret.hex()}"\n'


@dataclass(frozen=True)
class Sample:
    """A submission and the files it came from."""

    submission: Submission
    work: str
    answers: str

    def bundle(self) -> Bundle:
        """What `linklab submit` packs."""
        handed_in = self.submission
        files = {
            "instance.json": instance_text(handed_in.exercise, handed_in.instance),
            "topology.mn": handed_in.topology.dumps(),
            "answers.toml": self.answers,
            "work.sh": self.work,
            "state.json": handed_in.state or "",
        }
        packed = {name: text.encode() for name, text in files.items() if text}
        return Bundle(handed_in.exercise.id, handed_in.instance.student, packed)


def instance_of(exercise: Exercise, number: int) -> Instance:
    """The instance of the numbered student."""
    return issue(exercise, COURSE, Student(f"student{number}"))


def empty(exercise: Exercise, instance: Instance) -> Sample:
    """Nothing done: the topology as handed out, or none where it is to be drawn."""
    topology = drawn(exercise, instance, solution(exercise)) if exercise.topology else Topology()
    return Sample(Submission(exercise, instance, topology, read_answers("", exercise)), "", "")


def sample(exercise: Exercise, instance: Instance, made: Attempt, engine: Engine) -> Sample:
    """What a student who does that hands in: the state after work.sh, and what was measured on it.

    Args:
        exercise: that it is of.
        instance: of the student.
        made: what the student does.
        engine: builds the networks.

    Raises:
        InputError: work.sh does not run through, or a placeholder is none.
    """
    topology = drawn(exercise, instance, made)
    network = network_of(exercise, instance, topology, Answers())
    work = fill(made.work, quantities(exercise, instance))
    state = None
    if work.strip() or not exercise.settings:
        rebuilt = rebuild(
            topology,
            [*network.settings, *network.fault],
            work,
            engine,
            beside=environment_files(exercise, instance),
        )
        if rebuilt.state_text is None or rebuilt.notes:
            where = f"{made.folder}: work.sh"
            raise InputError(f"{where}: {'; '.join(rebuilt.notes)}: {rebuilt.output.strip()[-500:]}")
        state = rebuilt.state_text
    unanswered = Submission(exercise, instance, topology, Answers(), state)
    answers = _answers(unanswered, made.answers, engine)
    read = read_answers(answers, exercise)
    typed = typed_lines({}, work, topology)
    return Sample(Submission(exercise, instance, topology, read, state, typed=typed), work, answers)


def drawn(exercise: Exercise, instance: Instance, made: Attempt) -> Topology:
    """The exercise's topology, or the one that the student draws."""
    if exercise.topology:
        return Topology.load(exercise.folder / exercise.topology)
    lookup = quantities(exercise, instance)

    def walk(data: Any) -> Any:
        if isinstance(data, dict):
            return {key: walk(value) for key, value in data.items()}
        if isinstance(data, list):
            return [walk(value) for value in data]
        if not isinstance(data, str):
            return data
        filled = fill(data, lookup)
        return int(filled) if data.startswith("{") and filled.isdecimal() else filled  # a port is a number

    return Topology.loads(json.dumps(walk(json.loads(made.drawing))), str(made.folder))


def _answers(handed_in: Submission, table: Mapping[str, Any], engine: Engine) -> str:
    """answers.toml with its placeholders filled: first what is known, then what is measured."""
    exercise, instance, topology = handed_in.exercise, handed_in.instance, handed_in.topology
    ids = {experiment.id for experiment in exercise.experiments}
    measured = {
        key: {name.partition(".")[0] for text in placeholders(value) for name in names(text)} & ids
        for key, value in table.items()
        if isinstance(value, str)
    }
    lookup = quantities(exercise, instance, {"fault": Value(unit="word", word=instance.fault)})
    known = {key: value for key, value in table.items() if not measured.get(key)}
    given = {key: fill(value, lookup) if isinstance(value, str) else value for key, value in known.items()}
    answers = read_answers(_toml(given), exercise)
    wanted = set().union(*measured.values())
    if not wanted:
        return _toml(given)
    chosen = [experiment for experiment in exercise.experiments if experiment.id in wanted]
    state = None if handed_in.state is None else State.loads(handed_in.state, "solution")
    done = rerun(network_of(exercise, instance, topology, answers), state, engine, (STUDENT_SEED,), lambda *_: chosen)
    seen = Evidence(exercise, lookup, instance.fault, {}, {}, done.metrics, answers, done.broken, done.errors)
    try:
        later = {key: fill(value, seen.name) for key, value in table.items() if measured.get(key)}
    except NoValueError as missing:
        why = "; ".join({**done.broken, **done.errors}.values()) or f"it measured {done.metrics}"
        raise InputError(f"{exercise.id}: the student has no {missing.name} to answer with: {why}") from missing
    return _toml({**given, **later})


def _toml(table: Mapping[str, Any]) -> str:
    return "".join(f"{key} = {json.dumps(value, ensure_ascii=False)}\n" for key, value in table.items())
