# SPDX-License-Identifier: BSD-3-Clause
"""Proves an exercise on the instances of many students: `linklab exercise verify`.

The model answer earns full marks, an empty submission nothing, each known wrong one exactly its marks, and a planted
fault can be seen.  Wrong variants that are generated are in `linklab.grade.mutants`.
Answers that a student measures are measured here too, with a seed that is not the grader's.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
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
    if exercise.faults:
        yield prove_seen(exercise, instance, engine, seeds)
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
    done = rerun(scene_of(exercise, instance, topology, Answers()), None, engine, seeds, lambda *_: experiments)
    start = facts(done.start, topology)
    evidence = Evidence(exercise, lookup, fault.id, start, {}, done.metrics, Answers(), done.broken, done.errors)
    values = {name: evidence.name(name) for name in sorted(names(fault.seen))}
    told = "; ".join(f"{name} = {value.shown}" for name, value in values.items() if value is not None)
    changed = ", ".join(change.fact for change in changes(facts(done.healthy, topology), start))
    seen = bool(changed) and holds(fault.seen, evidence.name, evidence.fact)
    return Proof(instance.student, f"seen: {fault.id}", seen, f"{fault.seen}: {told}; changed: {changed or 'no fact'}")


def _marks(who: str, what: str, report: Report, wanted: float, shares: dict[str, float]) -> Proof:
    wrong = []
    for check in report.checks:
        points = round(shares.get(check.id, 1.0) * check.max_score, 2)
        if check.outcome is Outcome.ERROR or abs(check.score - points) > 1e-6:
            wrong.append(f"{check.story} ({check.score:g} of {check.max_score:g} points, {points:g} expected)")
    said = f"{report.score:g} of {report.max_score:g} points"
    said += f", {wanted:g} expected: {' | '.join(wrong)}" if wrong else ""
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
    done = rerun(scene_of(exercise, instance, topology, answers), state, engine, (STUDENT_SEED,), lambda *_: chosen)
    seen = Evidence(exercise, lookup, instance.fault, {}, {}, done.metrics, answers, done.broken, done.errors)
    later = {key: fill(value, seen.name) for key, value in table.items() if measured.get(key)}
    return read_answers(_toml({**given, **later}), exercise)


def _toml(table: dict[str, Any]) -> str:
    return "".join(f"{key} = {json.dumps(value, ensure_ascii=False)}\n" for key, value in table.items())
