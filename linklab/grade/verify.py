# SPDX-License-Identifier: BSD-3-Clause
"""Proves an exercise on the instances of many students: `linklab exercise verify`.

The model answer earns full marks, an empty submission nothing, each known wrong one exactly its marks, and a planted
fault can be seen.  Where a first run may decide, every seed is run, and the first must earn what all earn.  Wrong
variants that are generated are in `linklab.grade.mutants`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from linklab.engine.api import Engine
from linklab.exercise.answers import Answers
from linklab.exercise.enough import misled
from linklab.exercise.evidence import Evidence, Facts, changes
from linklab.exercise.instance import quantities
from linklab.exercise.judge import judge
from linklab.exercise.model import Exercise, Instance
from linklab.exercise.observed import Sessions
from linklab.exercise.report import CheckResult, Report
from linklab.grade.attempt import solution
from linklab.grade.known import Known
from linklab.grade.rerun import rerun
from linklab.grade.sample import drawn, empty, instance_of, sample
from linklab.grade.submission import Submission
from linklab.grade.unit import SEEDS, examine, network_of
from linklab.judge.evaluation import holds, names
from linklab.judge.verdict import Outcome
from linklab.state.facts import facts


@dataclass(frozen=True)
class Measured:
    """What the grader knew of a model answer, so that other answers to the same network can be judged."""

    instance: Instance
    facts: Facts
    references: Mapping[str, Facts]
    metrics: Mapping[str, Mapping[str, Sequence[float]]]
    answers: Answers
    typed: Sessions
    hosts: frozenset[str]


@dataclass(frozen=True)
class Proof:
    """What was proved, or not: `what` is "model", "empty", "seen", "wrong/NAME" or "mutant: …"."""

    student: str
    what: str
    holds: bool
    said: str
    report: Report | None = None
    measured: Measured | None = None


def distinct(exercise: Exercise, students: int) -> list[int]:
    """The first student of each instance that there is: two with the same values and fault are the same network."""
    found: dict[tuple[object, ...], int] = {}
    for number in range(1, students + 1):
        instance = instance_of(exercise, number)
        found.setdefault((instance.fault, *sorted(instance.parameters.items())), number)
    return list(found.values())


def verify(
    exercise: Exercise, engine: Engine, number: int, wrong: Sequence[Known], seeds: Sequence[int] = SEEDS
) -> Iterator[Proof]:
    """The proofs on one student's instance.

    Args:
        exercise: what is proved.
        engine: builds the networks.
        number: of the student, from 1.
        wrong: the known wrong answers that are proved, of `known_answers`.
        seeds: as the grader's.
    """
    instance = instance_of(exercise, number)
    who = instance.student
    yield prove_empty(exercise, instance, engine, seeds)
    model = sample(exercise, instance, solution(exercise), engine).submission
    report, evidence = _every_run(model, engine, seeds)
    measured = Measured(
        instance,
        evidence.facts,
        evidence.references,
        evidence.metrics,
        evidence.answers,
        evidence.typed,
        evidence.hosts,
    )
    yield replace(first_run(_marks(who, "model", report, {}), evidence), measured=measured)
    if exercise.faults:
        yield prove_seen(exercise, instance, engine, seeds)
    for known in wrong:
        yield prove_wrong(exercise, instance, known, engine, seeds)


def prove_wrong(exercise: Exercise, instance: Instance, known: Known, engine: Engine, seeds: Sequence[int]) -> Proof:
    """A known wrong answer earns its marks: exactly, or within its range."""
    made = replace(instance, fault=known.fault) if known.fault else instance
    report, evidence = _every_run(sample(exercise, made, known.made, engine).submission, engine, seeds)
    what = f"wrong/{known.name}"
    if known.shares is None:
        return first_run(_within(made.student, what, report, known), evidence)
    return first_run(_marks(made.student, what, report, known.shares), evidence)


def _every_run(submission: Submission, engine: Engine, seeds: Sequence[int]) -> tuple[Report, Evidence]:
    """What the grader finds; where a first run may decide, with every seed."""
    first_may_decide = any(experiment.spread for experiment in submission.exercise.experiments)
    return examine(submission, engine, seeds, every=first_may_decide)


def first_run(proof: Proof, evidence: Evidence) -> Proof:
    """The proof, which does not hold where the grader would be content with a first run that earns something else."""
    spread = {experiment.id for experiment in evidence.exercise.experiments if experiment.spread}
    if lost := spread & evidence.errors.keys():
        return replace(
            proof, holds=False, said=f"{proof.said}; not every run of {', '.join(sorted(lost))} was measured"
        )
    wrong = misled(evidence, evidence.exercise.checks)
    if not wrong:
        return proof
    return replace(proof, holds=False, said=f"{proof.said}; a first run seems clear, but earns {', '.join(wrong)}")


def prove_empty(exercise: Exercise, instance: Instance, engine: Engine, seeds: Sequence[int]) -> Proof:
    """An empty submission earns nothing, and not because our tools broke."""
    report, _ = examine(empty(exercise, instance).submission, engine, seeds, every=True)
    if broke := [check.story for check in report.checks if check.outcome is Outcome.ERROR]:
        return Proof(instance.student, "empty", holds=False, said=" | ".join(broke))
    earned = [check.id for check in report.checks if check.score]
    return Proof(
        instance.student,
        "empty",
        report.score == 0,
        f"earns {report.score:g} by {', '.join(earned)}" if earned else "earns nothing",
    )


@dataclass(frozen=True)
class Copied:
    """What the answers of `others` other instances come to in a student's network: `caught` of them lose points."""

    student: str
    caught: int
    others: int


def copied(exercise: Exercise, models: Sequence[Measured]) -> Iterator[Copied]:
    """Each model answer judged with the answers of every other instance.

    It proves nothing of the exercise: where all that is asked is what the student's own network does, such as an index,
    copied answers may be right.
    """
    for own in models:
        evidence = Evidence(
            exercise,
            quantities(exercise, own.instance),
            own.instance.fault,
            own.facts,
            own.references,
            own.metrics,
            own.answers,
            typed=own.typed,
            hosts=own.hosts,
        )
        others = [other for other in models if other is not own]
        earned = [sum(each.score for each in judge(replace(evidence, answers=other.answers))) for other in others]
        caught = sum(round(score, 2) < exercise.weight for score in earned)
        yield Copied(own.instance.student, caught, len(others))


def prove_seen(exercise: Exercise, instance: Instance, engine: Engine, seeds: Sequence[int]) -> Proof:
    """The planted fault shows in what its `seen` says."""
    fault = next(fault for fault in exercise.faults if fault.id == instance.fault)
    wanted = {name.partition(".")[0] for name in names(fault.seen)}
    experiments = [experiment for experiment in exercise.experiments if experiment.id in wanted]
    topology = drawn(exercise, instance, solution(exercise))
    lookup = quantities(exercise, instance)
    done = rerun(network_of(exercise, instance, topology, Answers()), None, engine, seeds, lambda *_: experiments)
    start = facts(done.start, topology)
    evidence = Evidence(exercise, lookup, fault.id, start, {}, done.metrics, Answers(), done.broken, done.errors)
    values = {name: evidence.name(name) for name in sorted(names(fault.seen))}
    told = "; ".join(f"{name} = {value.shown}" for name, value in values.items() if value is not None)
    changed = ", ".join(change.fact for change in changes(facts(done.healthy, topology), start))
    seen = bool(changed) and holds(fault.seen, evidence.name, evidence.fact)
    return Proof(instance.student, f"seen: {fault.id}", seen, f"{fault.seen}: {told}; changed: {changed or 'no fact'}")


def _marks(who: str, what: str, report: Report, shares: Mapping[str, float]) -> Proof:
    wrong = []
    wanted = 0.0
    for check in report.checks:
        points = round(shares.get(check.id, 1.0) * check.max_score, 2)
        wanted += points
        if check.outcome is Outcome.ERROR or abs(check.score - points) > 1e-6:
            wrong.append(f"{check.story} ({check.score:g} of {check.max_score:g} points, {points:g} expected)")
    said = f"{report.score:g} of {report.max_score:g} points"
    said += f", {wanted:g} expected: {' | '.join(wrong)}" if wrong else ""
    return Proof(who, what, not wrong, said, report)


def _within(who: str, what: str, report: Report, known: Known) -> Proof:
    """Whether the whole lies in the range; which checks it comes from is told."""
    broke = [check.story for check in report.checks if check.outcome is Outcome.ERROR]
    within = known.earns[0] - 1e-6 <= report.score <= known.earns[1] + 1e-6
    lost = [f"{check.id} {check.score:g} of {check.max_score:g}" for check in report.checks if not _full(check)]
    said = f"{report.score:g} of {report.max_score:g} points, {known.points} expected; lost: {', '.join(lost)}"
    return Proof(who, what, within and not broke, " | ".join([said, *broke]), report)


def _full(check: CheckResult) -> bool:
    return check.score == check.max_score and check.outcome is not Outcome.ERROR
