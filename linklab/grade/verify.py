# SPDX-License-Identifier: BSD-3-Clause
"""Proves an exercise on the instances of many students: `linklab exercise verify`.

The model answer earns full marks, an empty submission nothing, each known wrong one exactly its marks, and a planted
fault can be seen.  `mutants` makes wrong variants of the model answer and counts how many lose marks.
Answers that a student measures are measured here too, with a seed that is not the grader's.
"""

from __future__ import annotations

import json
import random
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from linklab.engine.api import Engine
from linklab.errors import InputError
from linklab.exercise.answers import Answers, read_answers
from linklab.exercise.expression import holds, names
from linklab.exercise.facts import facts
from linklab.exercise.fill import fill, placeholders
from linklab.exercise.instance import Course, Student, issue, quantities
from linklab.exercise.judge import Evidence, changes
from linklab.exercise.model import Exercise, Instance
from linklab.exercise.quantity import Value
from linklab.exercise.report import Outcome, Report
from linklab.exercise.restore import with_facts
from linklab.exercise.state import State
from linklab.grade.rebuild import rebuild
from linklab.grade.rerun import rerun
from linklab.grade.unit import SEEDS, Submission, assess, scene_of
from linklab.topology import Topology

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

STUDENT_SEED = 101
COURSE = Course("verify", b"the course of linklab exercise verify")


@dataclass(frozen=True)
class Proof:
    """What was proved, or not: `what` is "model", "empty", "seen", "wrong/NAME" or "mutant: …"."""

    student: str
    what: str
    holds: bool
    said: str
    report: Report | None = None


def instance_of(exercise: Exercise, number: int) -> Instance:
    """The instance of the numbered student."""
    return issue(exercise, COURSE, Student(f"student{number}"))


def verify(exercise: Exercise, engine: Engine, number: int, seeds: Sequence[int] = SEEDS) -> Iterator[Proof]:
    """All proofs on one student's instance."""
    instance = instance_of(exercise, number)
    who = instance.student
    yield prove_empty(exercise, instance, engine, seeds)
    model = submission(exercise, instance, exercise.folder / "solution", engine)
    yield _marks(who, "model", assess(model, engine, seeds), exercise.weight, {})
    for folder in wrong_ones(exercise):
        yield prove_wrong(exercise, instance, folder, engine, seeds)


def wrong_ones(exercise: Exercise) -> list[Path]:
    """The folders of the known wrong answers."""
    return sorted(path.parent for path in exercise.folder.glob("wrong/*/marks.toml"))


def prove_wrong(exercise: Exercise, instance: Instance, folder: Path, engine: Engine, seeds: Sequence[int]) -> Proof:
    """A known wrong answer earns exactly its marks."""
    table = tomllib.loads((folder / "marks.toml").read_text(encoding="utf-8"))
    fails: list[str] = table.get("fails", [])
    partial: dict[str, float] = table.get("partial", {})
    for name in (*fails, *partial):
        if name not in [check.id for check in exercise.checks]:
            raise InputError(f"{folder}/marks.toml: there is no check {name}")
    shares = {**dict.fromkeys(fails, 0.0), **partial}
    wanted = sum(check.weight * shares.get(check.id, 1.0) for check in exercise.checks)
    report = assess(submission(exercise, instance, folder, engine), engine, seeds)
    return _marks(instance.student, f"wrong/{folder.name}", report, wanted, shares)


def prove_empty(exercise: Exercise, instance: Instance, engine: Engine, seeds: Sequence[int]) -> Proof:
    """An empty submission earns nothing."""
    empty = Submission(exercise, instance, _topology(exercise, instance, exercise.folder / "solution"), Answers())
    if not exercise.topology:  # nothing was drawn
        empty = replace(empty, topology=Topology())
    report = assess(empty, engine, seeds)
    earned = [check.id for check in report.checks if check.score]
    return Proof(
        instance.student,
        "empty",
        report.score == 0,
        f"earns {report.score:g} by {', '.join(earned)}" if earned else "earns nothing",
        report,
    )


def prove_seen(exercise: Exercise, instance: Instance, engine: Engine, seeds: Sequence[int]) -> Proof:
    """The planted fault shows in what its `seen` says."""
    fault = next(fault for fault in exercise.faults if fault.id == instance.fault)
    wanted = {name.partition(".")[0] for name in names(fault.seen)}
    experiments = [experiment for experiment in exercise.experiments if experiment.id in wanted]
    topology = _topology(exercise, instance, exercise.folder / "solution")
    lookup = quantities(exercise, instance)
    done = rerun(scene_of(exercise, instance, topology, Answers()), None, engine, seeds, experiments)
    start = facts(done.start, topology)
    evidence = Evidence(exercise, lookup, fault.id, start, {}, done.metrics, Answers(), done.broken, done.errors)
    told = "; ".join(
        f"{name} = {evidence.name(name).shown}" for name in sorted(names(fault.seen)) if evidence.name(name)
    )  # type: ignore[union-attr]
    changed = ", ".join(change.fact for change in changes(facts(done.healthy, topology), start))
    seen = bool(changed) and holds(fault.seen, evidence.name, evidence.fact)
    return Proof(instance.student, f"seen: {fault.id}", seen, f"{fault.seen}: {told}; changed: {changed or 'no fact'}")


def _marks(who: str, what: str, report: Report, wanted: float, shares: dict[str, float]) -> Proof:
    wrong = []
    for check in report.checks:
        share = shares.get(check.id, 1.0)
        if check.outcome is Outcome.ERROR or abs(check.score - round(share * check.max_score, 2)) > 1e-6:
            wrong.append(
                f"{check.story} ({check.score:g} of {check.max_score:g} points, {share * check.max_score:g} expected)"
            )
    said = f"{report.score:g} of {report.max_score:g} points" + (
        f", {wanted:g} expected: {' | '.join(wrong)}" if wrong else ""
    )
    return Proof(who, what, not wrong, said, report)


# --- submissions from the folder


def submission(exercise: Exercise, instance: Instance, folder: Path, engine: Engine) -> Submission:
    """What a student who does what `folder` says hands in: the state after work.sh, and what was measured on it."""
    topology = _topology(exercise, instance, folder)
    scene = scene_of(exercise, instance, topology, Answers())
    work = fill(_file(exercise, folder, "work.sh"), quantities(exercise, instance))
    state = None
    if work.strip():
        rebuilt = rebuild(topology, [*scene.settings, *scene.fault], work, engine)
        if rebuilt.state_text is None or rebuilt.notes:
            raise InputError(f"{folder}/work.sh: {'; '.join(rebuilt.notes)}: {rebuilt.output.strip()[-500:]}")
        state = rebuilt.state_text
    unanswered = Submission(exercise, instance, topology, Answers(), state)
    return replace(unanswered, answers=_answers(unanswered, _file(exercise, folder, "answers.toml"), engine))


def _file(exercise: Exercise, folder: Path, name: str) -> str:
    """A file of a wrong answer, or the model's where it has none."""
    for path in (folder / name, exercise.folder / "solution" / name):
        if path.is_file():
            return path.read_text(encoding="utf-8")
    return ""


def _topology(exercise: Exercise, instance: Instance, folder: Path) -> Topology:
    if exercise.topology:
        return Topology.load(exercise.folder / exercise.topology)
    lookup = quantities(exercise, instance)

    def walk(data: Any) -> Any:
        if isinstance(data, dict):
            return {key: walk(value) for key, value in data.items()}
        if isinstance(data, list):
            return [walk(value) for value in data]
        return fill(data, lookup) if isinstance(data, str) else data

    return Topology.loads(json.dumps(walk(json.loads(_file(exercise, folder, "topology.mn")))), str(folder))


def _answers(handed_in: Submission, template: str, engine: Engine) -> Answers:
    """answers.toml with its placeholders filled: first what is known, then what is measured."""
    exercise, instance, topology = handed_in.exercise, handed_in.instance, handed_in.topology
    table: dict[str, Any] = tomllib.loads(template)
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
        return answers
    chosen = [experiment for experiment in exercise.experiments if experiment.id in wanted]
    state = None if handed_in.state is None else State.loads(handed_in.state, "solution")
    done = rerun(scene_of(exercise, instance, topology, answers), state, engine, (STUDENT_SEED,), chosen)
    seen = Evidence(exercise, lookup, instance.fault, {}, {}, done.metrics, answers, done.broken, done.errors)
    later = {key: fill(value, seen.name) for key, value in table.items() if measured.get(key)}
    return read_answers(_toml({**given, **later}), exercise)


def _toml(table: dict[str, Any]) -> str:
    return "".join(f"{key} = {json.dumps(value, ensure_ascii=False)}\n" for key, value in table.items())


# --- mutants


@dataclass(frozen=True)
class Mutation:
    """One wrong variant: what is wrong, and how it is made."""

    what: str
    make: Callable[[Submission], Submission]


_WORSE: dict[str, tuple[float, ...]] = {
    "rate": (0.5, 2.0),
    "delay": (0.5, 2.0),
    "loss": (0.1, 10.0),
    "queue": (0.02, 40.0),
    "pacing": (0.3, 3.0),
    "rmem": (0.02,),
    "wmem": (0.02,),
}


def mutations(exercise: Exercise, model: Submission, start: State, seed: int) -> list[Mutation]:
    """Wrong variants of the model answer, in an order drawn from the seed.

    Each setting the student made or must keep is undone, or made much too large or too small; each answer is moved by
    a half, given another choice, or loses its unit.
    """
    found: list[Mutation] = []
    topology = model.topology
    if model.state is not None:
        made = facts(State.loads(model.state, "model"), topology)
        before = facts(start, topology)
        for change in changes(before, made):
            if change.before is not None and change.fact.rpartition(".")[2] in (*_WORSE, "cc"):
                found.append(_set(f"{change.fact} left at {change.words[1]}", {change.fact: change.before}))
        for name, value in made.items():
            for factor in _WORSE.get(name.rpartition(".")[2], ()):
                if isinstance(value, float) and (
                    name in before or name.rpartition(".")[2] in ("queue", "pacing", "loss")
                ):
                    found.append(_set(f"{name} times {factor:g}", {name: value * factor}))
    for answer in exercise.answers:
        value = model.answers.values.get(answer.name)
        if value is None or answer.kind == "text":
            continue
        if answer.kind == "choice":
            other = next(choice for choice in answer.choices if choice != value.word)
            found.append(_answer(answer.name, f"{other} instead of {value.word}", Value(unit="word", word=other)))
        elif not value.is_word and value.number:
            found += [
                _answer(answer.name, f"times {factor:g}", Value(value.number * factor, value.unit))
                for factor in (0.5, 1.5)
            ]
            found.append(_answer(answer.name, "without a unit", None))
    random.Random(seed).shuffle(found)  # noqa: S311 - which variants are tried, no secret
    return found


def _set(what: str, facts_wanted: dict[str, float | str]) -> Mutation:
    def make(model: Submission) -> Submission:
        assert model.state is not None
        return replace(model, state=with_facts(State.loads(model.state, "model"), facts_wanted).dumps())

    return Mutation(what, make)


def _answer(name: str, what: str, value: Value | None) -> Mutation:
    def make(model: Submission) -> Submission:
        values = {key: old for key, old in model.answers.values.items() if key != name}
        if value is not None:
            return replace(model, answers=replace(model.answers, values={**values, name: value}))
        problems = {**model.answers.problems, name: "the answer has no unit"}
        return replace(model, answers=replace(model.answers, values=values, problems=problems))

    return Mutation(f"answer {name} {what}", make)


def prove_mutants(exercise: Exercise, engine: Engine, number: int, count: int, seeds: Sequence[int]) -> Iterator[Proof]:
    """`count` mutants of one student's model answer: each must lose marks."""
    instance = instance_of(exercise, number)
    model = submission(exercise, instance, exercise.folder / "solution", engine)
    scene = scene_of(exercise, instance, model.topology, model.answers)
    start = rerun(scene, None, engine, seeds[:1], []).start
    for mutation in mutations(exercise, model, start, number)[:count]:
        report = assess(mutation.make(model), engine, seeds)
        lost = [check.id for check in report.checks if check.score < check.max_score]
        said = f"{report.score:g} of {report.max_score:g} points" + (
            f", lost {', '.join(lost)}" if lost else ", not noticed"
        )
        yield Proof(instance.student, f"mutant: {mutation.what}", bool(lost), said, report)
