# SPDX-License-Identifier: BSD-3-Clause
"""Wrong variants of a model answer, generated, and whether the grader catches them.

A mutant is caught if it loses marks.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from linklab.engine.api import Engine
from linklab.errors import StateError
from linklab.exercise.evidence import changes
from linklab.exercise.judge import spoken_of
from linklab.exercise.model import Exercise
from linklab.exercise.wanted import with_facts
from linklab.grade.attempt import solution
from linklab.grade.rerun import rerun
from linklab.grade.sample import instance_of, sample
from linklab.grade.submission import Submission
from linklab.grade.unit import assess, network_of
from linklab.grade.verify import Proof
from linklab.judge.quantity import Value
from linklab.state.facts import facts
from linklab.state.model import State


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
        hosts = {host.name for host in topology.hosts}
        queues = {f"{name}.queue" for name, (node, _) in start.interfaces().items() if node in hosts}
        for change in changes(before, made):
            if change.before is not None and change.fact.rpartition(".")[2] in (*_WORSE, "cc"):
                found.append(_set(f"{change.fact} left at {change.words[1]}", {change.fact: change.before}))
        for name, value in made.items():
            for factor in _WORSE.get(name.rpartition(".")[2], ()):
                # a buffer that was not tuned, and a host's queue, which TCP keeps short, change nothing
                harmless = (name.endswith("mem") and before.get(name) == value) or name in queues
                if isinstance(value, float) and not harmless:
                    found.append(_set(f"{name} times {factor:g}", {name: value * factor}))
    spoken = set().union(*map(spoken_of, exercise.checks))
    for answer in exercise.answers:
        if f"answer.{answer.name}" not in spoken:
            continue
        given = model.answers.values.get(answer.name)
        if given is None or answer.kind == "text":
            continue
        if answer.kind == "choice":
            other = next(choice for choice in answer.choices if choice != given.word)
            found.append(_answer(answer.name, f"{other} instead of {given.word}", Value(unit="word", word=other)))
        elif not given.is_word and given.number:
            found += [
                _answer(answer.name, f"times {factor:g}", Value(given.number * factor, given.unit))
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
    model = sample(exercise, instance, solution(exercise), engine).submission
    network = network_of(exercise, instance, model.topology, model.answers)
    start = rerun(network, None, engine, seeds[:1], lambda *_: []).start
    made = 0
    for mutation in mutations(exercise, model, start, number):
        if made == count:
            return
        try:
            wrong = mutation.make(model)
        except StateError:  # such as a rate left where the model answer has nothing to limit
            continue
        made += 1
        report = assess(wrong, engine, seeds)
        lost = [check.id for check in report.checks if check.score < check.max_score]
        said = f"{report.score:g} of {report.max_score:g} points" + (
            f", lost {', '.join(lost)}" if lost else ", not noticed"
        )
        yield Proof(instance.student, f"mutant: {mutation.what}", bool(lost), said)
