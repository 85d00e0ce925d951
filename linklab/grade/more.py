# SPDX-License-Identifier: BSD-3-Clause
"""Proves that more right work never earns less: `linklab exercise verify --chains`.

A chain begins with nothing and adds one step of the model answer after the other, in an order that is drawn; for each
of its networks, answers are added one after the other too.  Points may only rise.  Steps are the paragraphs of
solution/work.sh.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import replace

from linklab.engine.api import Engine
from linklab.exercise.answers import Answers
from linklab.exercise.evidence import Evidence
from linklab.exercise.judge import judge
from linklab.exercise.model import Exercise
from linklab.grade.attempt import solution
from linklab.grade.sample import instance_of, sample
from linklab.grade.unit import examine
from linklab.grade.verify import Proof


def prove_chain(exercise: Exercise, engine: Engine, number: int, seeds: Sequence[int]) -> Iterator[Proof]:
    """The proofs of one chain, drawn by the number of the student whose instance is used: one for each step added."""
    draw = random.Random(number)  # noqa: S311 - which order is tried, no secret
    instance = instance_of(exercise, number)
    model = solution(exercise)
    steps = model.steps
    order = draw.sample(range(len(steps)), len(steps))
    before: float | None = None
    for count in range(len(order) + 1):
        done = [step for place, step in enumerate(steps) if place in order[:count]]
        submission = sample(exercise, instance, replace(model, work="\n".join(done)), engine).submission
        report, evidence = examine(submission, engine, seeds)
        added = f"step {order[count - 1] + 1} after {_numbers(order[: count - 1])}" if count else "answers alone"
        what = f"chain: {added}"
        said = f"{report.score:g} of {report.max_score:g} points"
        if before is not None and report.score < before:
            yield Proof(instance.student, what, holds=False, said=f"{said}, {before:g} without it")
        elif fall := _fall(evidence, draw):
            yield Proof(instance.student, what, holds=False, said=f"{said}, and {fall}")
        else:
            yield Proof(instance.student, what, holds=True, said=said)
        before = report.score


def _fall(evidence: Evidence, draw: random.Random) -> str:
    """Which answer takes points away, judged by what was measured, as part of a sentence; "" where none does."""
    given = sorted(evidence.answers.values)
    before = -1.0
    for count in range(len(given) + 1):
        if not count:
            draw.shuffle(given)
        values = {name: evidence.answers.values[name] for name in given[:count]}
        answers = Answers(values, assumed=evidence.answers.assumed)
        score = sum(result.score for result in judge(replace(evidence, answers=answers)))
        if round(score, 2) < round(before, 2):
            return f"the answer {given[count - 1]} after {', '.join(given[: count - 1]) or 'none'} costs points"
        before = score
    return ""


def _numbers(places: Sequence[int]) -> str:
    return ", ".join(str(place + 1) for place in sorted(places)) or "none"
