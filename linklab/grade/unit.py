# SPDX-License-Identifier: BSD-3-Clause
"""One submission → its report: read, prove whose it is, build again, measure, judge.

`grade` is what the grader does with a bundle, in the sandbox; `assess` judges for `linklab check` too
(`linklab.grade.own_folder`), so both judge by the same code.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from linklab import __version__
from linklab.engine.api import Engine
from linklab.errors import BundleError, Fault, InputError, OverusedError, blame
from linklab.exercise.answers import Answers
from linklab.exercise.bundle import LAB, read_bundle
from linklab.exercise.course import Course, parse_course
from linklab.exercise.enough import enough
from linklab.exercise.evidence import Evidence, changes
from linklab.exercise.folder import environment_files
from linklab.exercise.instance import filled, planted, quantities
from linklab.exercise.judge import describe, judge, worth_doing
from linklab.exercise.model import Check, Exercise, Experiment, Instance
from linklab.exercise.report import Report, Status
from linklab.exercise.restore import with_missing_sysctls
from linklab.grade.drawing import UnbuildableError, need_gradable
from linklab.grade.marks import tool_broke
from linklab.grade.rebuild import rebuild
from linklab.grade.rerun import ExerciseNetwork, Rerun, rerun
from linklab.grade.shared import SharedEngine
from linklab.grade.submission import ReadSoFar, Submission, learn_from_name, read_submission
from linklab.judge.evaluation import Lookup, NoValueError
from linklab.judge.quantity import Value
from linklab.state.facts import facts, peers
from linklab.state.model import State
from linklab.state.ways import StateWays
from linklab.topology import Topology

SEEDS = (1, 2, 3)
"""Up to three runs, so one unlucky draw of losses decides nothing: `linklab.exercise.enough` says when fewer do."""
_MOST_SEED = 2**31 - 1
_NOTHING_DONE = "nothing was changed or answered, so nothing was measured"
_MOST_CHANGES = 2000
"""Of those that a report tells; a state that takes more commands is one that no network can be set to."""


def grade(
    path: Path, course: bytes | None, engine: Engine, seeds: Sequence[int] | None = None, shared: Path | None = None
) -> Report:
    """Grade one bundle; a bundle that cannot be graded gives a report that says why.

    Args:
        path: the .zip.
        course: content of the course file; None for practice instances.
        engine: builds the networks: of the student's commands, and those that are measured.
        seeds: of the runs that are measured; None takes those of `seeds_of`.
        shared: folder of what networks have answered, from which an exercise is graded where it can be; None measures
            everything anew, with the same report.

    Raises:
        EngineError, MissingError: our tools failed; no fault of the submission's.
        InputError: the course file is none, or the exercise that is here is wrong.
    """
    told = ReadSoFar()
    secret = parse_course(course, "the course file") if course is not None else None
    try:
        try:
            with blame(Fault.SUBMISSION):
                bundle = read_bundle(path)
        except InputError:
            learn_from_name(told, path.name, secret)
            raise
        told.notes = tuple(bundle.notes)
        if LAB in bundle.files:
            # what it imports would take a third of the start of every submission of an exercise
            from linklab.grade.lab_unit import claimed_in, grade_lab  # noqa: PLC0415

            told.exercise, told.claims = claimed_in(bundle)
            return grade_lab(bundle, path.name, engine)
        submission = read_submission(bundle, path.name, secret, told)
        seeds = seeds or seeds_of(secret, submission.exercise.id)
        if shared is None:
            return assess(submission, engine, seeds)
        sharing = SharedEngine(engine, shared, waits=True)
        report = assess(submission, sharing, seeds)
        if not (tool_broke(report) or report.stopped):  # which may have disturbed its other networks
            sharing.keep()
        return report
    except InputError as error:
        if error.fault is not Fault.SUBMISSION:
            raise
        return Report(
            told.exercise,
            told.heading,
            told.student,
            told.name,
            told.course,
            path.name,
            Status.UNGRADABLE,
            0.0,
            told.max_score,
            notes=(*told.notes, _note(error)),
            parameters=told.parameters,
            unproven=not told.student,
            claims=told.claims,
            packed_for=told.packed_for,
            stopped=str(error.__cause__) if isinstance(error.__cause__, OverusedError) else "",
        )


def seeds_of(course: Course | None, exercise: str) -> tuple[int, ...]:
    """The seeds of the grader's runs: a course's own, so that nobody can try until one run passes, or public ones.

    They are the same for a whole course, so that what is set to the same is measured once.
    """
    if course is None:
        return SEEDS
    return tuple(1 + course.drawn("seed", exercise, str(number)) % _MOST_SEED for number in SEEDS)


def _note(error: InputError) -> str:
    """The sentence for a report, whose reader sees the file's name above it."""
    return error.what[:1].upper() + error.what[1:] if isinstance(error, BundleError) else str(error)


def assess(
    submission: Submission,
    engine: Engine,
    seeds: Sequence[int],
    checks: Sequence[Check] | None = None,
) -> Report:
    """Build, measure and judge; raises as `grade`, and InputError where the submission cannot be graded."""
    return examine(submission, engine, seeds, checks)[0]


def examine(
    submission: Submission,
    engine: Engine,
    seeds: Sequence[int],
    checks: Sequence[Check] | None = None,
    *,
    every: bool = False,
) -> tuple[Report, Evidence]:
    """As `assess`, with what the report follows from; `every` seed is run, also where fewer or none are enough."""
    exercise, instance = submission.exercise, submission.instance
    chosen = exercise.checks if checks is None else checks
    lookup = quantities(exercise, instance)
    network = network_of(exercise, instance, submission.topology, submission.answers)
    handed_in = _network_handed_in(submission, [*network.settings, *network.fault], engine)
    state, notes = handed_in.state, handed_in.notes

    def choose(so_far: Rerun) -> Sequence[Experiment]:
        evidence = _evidence(submission, so_far, state, lookup)
        if not every and _nothing_done(submission, evidence):
            so_far.broken |= {experiment.id: _NOTHING_DONE for experiment in exercise.experiments}
            return []
        return worth_doing(evidence, chosen)

    def settled(done: Rerun) -> bool:
        return not every and enough(_evidence(submission, done, state, lookup), chosen)

    done = rerun(network, state, engine, seeds, choose, settled=settled, claimed=not handed_in.made)
    evidence = _evidence(submission, done, state, lookup)
    results = tuple(judge(evidence, chosen))
    if done.impossible:
        says = "work.sh left by the word of that network" if handed_in.made else "state.json says"
        why = f"no network can be set to what {says}, so it counts for nothing: {done.impossible}"
        notes = (*notes, why)
    changed, more = _told_changes(evidence)
    report = Report(
        exercise=exercise.id,
        heading=exercise.heading,
        student=instance.student,
        name=instance.name,
        course=instance.course,
        source=submission.source,
        status=Status.GRADED,
        score=round(sum(result.score for result in results), 2),
        max_score=sum(result.max_score for result in results),
        checks=results,
        notes=(*submission.notes, *notes, *more, *submission.answers.notes),
        parameters=dict(instance.parameters),
        fault=instance.fault,
        untouched=_untouched(evidence),
        changes=changed,
        work=submission.work or "",
        answers={name: value.shown for name, value in sorted(submission.answers.values.items())},
        experiments=_told(done.experiments, network.lookup, exercise),
        metrics={
            name: {metric: tuple(values) for metric, values in found.items()} for name, found in done.metrics.items()
        },
        words={
            answer.name: submission.answers.values[answer.name].word
            for answer in exercise.answers
            if answer.kind == "text" and answer.name in submission.answers.values
        },
        fingerprint=_fingerprint(submission, evidence),
        environment={**done.environment, "linklab": __version__, "seeds": list(seeds)},
        traces=tuple(done.traces),
        forged=submission.forged,
        packed_for=submission.packed_for,
        impossible=done.impossible,
        stopped=handed_in.stopped,
    )
    return report, evidence


def _nothing_done(submission: Submission, evidence: Evidence) -> bool:
    """Whether the network is as set_env.sh leaves it and there is nothing else, which earns nothing (`prove_empty`)."""
    if not submission.exercise.topology or (submission.work or "").strip() or any(evidence.typed):
        return False  # where no drawing is handed out, to draw it is the work
    answers = submission.answers
    if answers.values or answers.problems.keys() - {*answers.missing}:
        return False
    return not changes(evidence.references["start"], evidence.facts)


def _told_changes(evidence: Evidence) -> tuple[tuple[tuple[str, str, str], ...], tuple[str, ...]]:
    """What the student changed, and a note where that is more than a report tells."""
    found = changes(evidence.references["start"], evidence.facts)
    told = tuple(change.words for change in found[:_MOST_CHANGES])
    return told, (f"Of {len(found):,} changes the first {len(told):,} are told.",) if len(found) > len(told) else ()


def _untouched(evidence: Evidence) -> tuple[str, ...]:
    """What the planted fault set, as far as the student left it so."""
    found: dict[str, None] = {}
    for along in dict.fromkeys(((), *(check.along for check in evidence.exercise.checks))):
        touched = {change.fact for change in evidence.since("start", along)}
        found |= {change.fact: None for change in evidence.planted(along) if change.fact not in touched}
    return tuple(found)


def _told(experiments: Sequence[Experiment], lookup: Lookup, exercise: Exercise) -> dict[str, str]:
    """What each did, in words; one whose settings follow from an answer that is not there was not done."""
    told = {}
    for experiment in experiments:
        with contextlib.suppress(InputError, NoValueError):
            told[experiment.id] = describe(experiment, lookup, exercise)
    return told


@dataclass(frozen=True)
class _HandedIn:
    """The network that was handed in.

    state: what it is set to; None where nothing was handed in.
    made: whether work.sh led to it here; otherwise it is the word of a file, which the student's Linklab wrote.
    notes: for the report.
    stopped: how work.sh had to be stopped, "" if it ended.
    """

    state: State | None
    made: bool = False
    notes: tuple[str, ...] = ()
    stopped: str = ""


def _network_handed_in(submission: Submission, settings: Sequence[tuple[str, str]], engine: Engine) -> _HandedIn:
    """What work.sh leads to, else what state.json says."""
    state = None if submission.state is None else _read_state(submission.state, "state.json")
    if not (submission.work or "").strip():
        return _HandedIn(state)
    beside = environment_files(submission.exercise, submission.instance)
    rebuilt = rebuild(submission.topology, settings, submission.work or "", engine, beside=beside)
    notes = tuple(rebuilt.notes)
    if rebuilt.state_text is None:
        stands = "state.json stands" if state else "nothing of it counts"
        notes = (*notes, f"work.sh left no network that answers; {stands}")
        return _HandedIn(state, notes=notes, stopped=rebuilt.stopped)
    made = _read_state(rebuilt.state_text, "the network after work.sh")
    if state is not None:
        topology = submission.topology
        if changes(facts(state, topology), facts(made, topology)):  # in what, would name a fault that is still there
            notes = (*notes, "work.sh leads to another state than state.json says; work.sh stands")
    return _HandedIn(made, made=True, notes=notes, stopped=rebuilt.stopped)


def _read_state(text: str, where: str) -> State:
    with blame(Fault.SUBMISSION):
        return State.loads(text, where)


def network_of(exercise: Exercise, instance: Instance, topology: Topology, answers: Answers) -> ExerciseNetwork:
    """What is built for an instance; the answers say with how many streams a flow is driven, where that is asked.

    Raises:
        UnbuildableError: it cannot be graded, or it is wired otherwise than the one that the exercise hands out.
    """
    lookup = quantities(exercise, instance)

    def with_answers(name: str) -> Value | None:
        return answers.value(name[7:]) if name.startswith("answer.") else lookup(name)

    settings, fault = filled(exercise.settings, lookup), filled(planted(exercise, instance), lookup)
    return ExerciseNetwork(_measured(exercise, topology), settings, fault, with_answers)


def handed_out(exercise: Exercise) -> Topology | None:
    """The drawing that an exercise hands out; None where students draw their own."""
    return Topology.load(exercise.folder / exercise.topology) if exercise.topology else None


def _measured(exercise: Exercise, topology: Topology) -> Topology:
    """What is built to be measured: the exercise's own drawing where it hands one out.

    What a student set in the drawing is in the state; were the references built from it too, a link past the bottleneck
    or an impairment would be no change.
    """
    own = handed_out(exercise)
    need_gradable(topology, own)
    if own is None:
        return topology
    wanted, found = peers(own), peers(topology)
    ends = [end for end in sorted({*wanted, *found}) if wanted.get(end) != found.get(end)]
    nodes = sorted({node.name for node in own.nodes} ^ {node.name for node in topology.nodes})
    told = [f"{end} is wired to {found.get(end, 'nothing')}, not to {wanted.get(end, 'nothing')}" for end in ends]
    told += [f"{node} is in one of the two alone" for node in nodes]
    if told:
        what = f'the topology is not wired as "{exercise.topology}" was handed out: {"; ".join(told[:3])}'
        raise UnbuildableError(f"{what}; start from that drawing again")
    return own


def _evidence(submission: Submission, done: Rerun, handed_in: State | None, lookup: Lookup) -> Evidence:
    topology = submission.topology
    start = facts(done.start, topology)
    handed_in = handed_in and with_missing_sysctls(handed_in, done.start)
    return Evidence(
        exercise=submission.exercise,
        lookup=lookup,
        fault=submission.instance.fault,
        facts=facts(handed_in, topology) if handed_in is not None else start,
        typed=submission.typed,
        hosts=frozenset(host.name for host in topology.hosts),
        ways=StateWays(handed_in or done.start, topology).fact,
        references={"start": start, "healthy": facts(done.healthy, topology)},
        reference_ways={
            name: StateWays(state, topology).fact for name, state in (("start", done.start), ("healthy", done.healthy))
        },
        metrics=done.metrics,
        answers=submission.answers,
        broken=done.broken,
        errors=done.errors,
        impossible=done.impossible,
    )


def _fingerprint(submission: Submission, evidence: Evidence) -> str:
    """Of what the student made; "" where nothing was."""
    made: dict[str, Any] = {
        "changes": [change.words for change in changes(evidence.references["start"], evidence.facts)],
        "work": (submission.work or "").split(),
        "answers": {name: value.shown for name, value in sorted(submission.answers.values.items())},
    }
    if not any(made.values()):
        return ""
    return hashlib.sha256(json.dumps(made, sort_keys=True).encode()).hexdigest()
