# SPDX-License-Identifier: BSD-3-Clause
"""`linklab exercise verify`: prove on many students' instances that an exercise is solvable and graded as it says."""

from __future__ import annotations

import argparse
import contextlib
import datetime as dt
import json
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from linklab.base.processes import processors
from linklab.base.supervise import Ended, Job, supervised
from linklab.base.worker import Tell
from linklab.commands.console import QUIET_S, make_console, plain
from linklab.engine.api import Engine
from linklab.engine.choice import load_engine
from linklab.errors import InputError
from linklab.exercise.course import Course, load_course, weighted
from linklab.exercise.load import all_exercise_folders, find_exercise, load_exercise
from linklab.exercise.model import Exercise
from linklab.exercise.roster import read_roster
from linklab.exercise.student_part import need_instructors_part
from linklab.grade.course_check import examined
from linklab.grade.known import known_answers, marks_table
from linklab.grade.more import prove_chain
from linklab.grade.mutants import prove_mutants
from linklab.grade.sample import instance_of
from linklab.grade.shared import SharedEngine
from linklab.grade.unit import seeds_of
from linklab.grade.verify import Proof, copied, distinct, prove_wrong, verify
from linklab.terminal.screen import ends_orderly

PROOF = ("student", "what", "holds", "said")


@dataclass(frozen=True)
class _Subject:
    """What is proved: the exercise in a folder, with a course's points.

    shared: folder of what networks have answered, so that a slip in an answer alone needs no traffic of its own.
    """

    folder: str
    course: Course | None
    shared: str

    def own(self) -> Exercise:
        """With the points of its own."""
        return load_exercise(find_exercise(self.folder))

    def exercise(self) -> Exercise:
        """With the course's points."""
        return weighted(self.own(), self.course)

    def seeds(self) -> tuple[int, ...]:
        """Of the course's runs, or of the public ones."""
        return seeds_of(self.course, self.own().id)

    def engine(self) -> Engine:
        """That builds the networks."""
        return SharedEngine(load_engine("pocket"), Path(self.shared))


def run_verify(args: argparse.Namespace) -> int:
    """Prove, with a line for each proof that does not hold; 0 if all hold."""
    least = ((args.students, 1), (args.mutants, 0), (args.jobs, 1), (args.wrong, 0), (args.chains, 0))
    if any(value is not None and value < low for value, low in least):
        raise InputError("--students and --jobs are at least 1, --mutants, --wrong, and --chains at least 0")
    if args.roster and not args.course:
        raise InputError("--roster goes with --course: it is the course's")
    course = load_course(args.course) if args.course else None
    folders = _folders(args.exercise, course)
    fits = _course_fits(course, args)
    for folder in folders:
        need_instructors_part(load_exercise(folder), "prove it")
    if args.table:
        print(marks_table([load_exercise(folder) for folder in folders]), end="")
        return 0
    load_engine("pocket").check()
    told: list[dict[str, Any]] = []
    lent: list[dict[str, Any]] = []
    with ends_orderly(), tempfile.TemporaryDirectory(prefix="linklab-verify-") as shared:
        good = [
            _verify(_Subject(folder.as_posix(), course, shared), args, told, lent) for folder in folders
        ]  # all of them, also after one that is not
    if args.json:
        print(json.dumps({"proofs": told, "copied": lent}, indent=2, ensure_ascii=False))
    return 0 if fits and all(good) else 1


def _folders(name: str | None, course: Course | None) -> list[Path]:
    """The exercises that are meant: one, all, or without a name those for which the course has rules."""
    if name == "all":
        return all_exercise_folders()
    if name is not None:
        return [find_exercise(name)]
    if course is None:
        raise InputError('name an exercise, such as 3, or "all", or give a course with --course FILE')
    mine = [each for each in course.rules if not each.startswith("lab")]
    found = []
    for each in mine:
        with contextlib.suppress(InputError):  # of which `examined` tells
            found.append(find_exercise(each))
    return found


def _course_fits(course: Course | None, args: argparse.Namespace) -> bool:
    """Say what the course file means, and what is wrong in it; whether nothing is."""
    if course is None:
        return True
    console = make_console(stderr=args.json)
    students = read_roster(args.roster, args.id_column).students if args.roster else ()
    console.print(plain(f'The course "{course.name}"', style="bold"))
    wrong = False
    for remark in examined(course, students, dt.datetime.now(dt.timezone.utc)):
        wrong |= remark.wrong
        console.print(plain(f"  {remark.says}", style="red" if remark.wrong else ""), soft_wrap=True)
    return not wrong


def _verify(
    subject: _Subject, args: argparse.Namespace, told: list[dict[str, Any]], lent: list[dict[str, Any]]
) -> bool:
    console = make_console(stderr=args.json)
    exercise = subject.exercise()
    students = distinct(exercise, args.students)
    heading = f"{exercise.heading}, students: {args.students}, different instances: {len(students)}"
    console.print(plain(heading, style="bold"))
    tasks = [
        partial(_prove, subject, number, chosen, bool(args.only))
        for number, chosen in zip(students, _wrong(exercise, len(students), args), strict=True)
    ]
    if args.mutants:
        each = -(-args.mutants // len(students))
        counts_each = [min(each, args.mutants - each * place) for place in range(len(students))]
        tasks += [
            partial(_mutate, subject, number, count)
            for number, count in zip(students, counts_each, strict=True)
            if count > 0
        ]
    tasks += [partial(_chain, subject, number) for number in range(1, args.chains + 1)]
    found: dict[int, list[Proof]] = {}
    jobs = [Job(number, task) for number, task in enumerate(tasks)]
    began = said_s = time.monotonic()
    with (
        console.status("proving …") as status,
        supervised(jobs, min(args.jobs or processors(), processors()), tick_s=1.0) as events,
    ):
        for event in events:
            now = time.monotonic()
            far = f"proving … {len(found)} of {len(jobs)} parts in {now - began:.0f} s"
            status.update(far)
            if not console.is_terminal and now - said_s > QUIET_S:
                console.print(plain(f"  {far}"))
                said_s = now
            if isinstance(event, Ended):
                found[event.key] = _given(event)
                for proof in found[event.key]:
                    if not proof.holds:
                        said = f"{proof.student}: {proof.what}: {proof.said}"
                        console.print(plain(said, style="red"), soft_wrap=True)
    proofs = [proof for number in sorted(found) for proof in found[number]]  # whoever ended first
    told += [_told(exercise, proof) for proof in proofs]
    models = [proof.measured for proof in proofs if proof.measured]
    counts: dict[str, list[int]] = {}
    for proof in proofs:
        held = counts.setdefault(proof.what.partition(":")[0], [0, 0])
        held[0] += proof.holds
        held[1] += 1
    for what, (good, total) in sorted(counts.items()):
        console.print(plain(f"  {what}: {good} of {total}", style="green" if good == total else "red"))
    pairs = list(copied(exercise, models))
    lent.extend({"exercise": exercise.id, **asdict(each)} for each in pairs)
    if len(models) > 1:
        caught, others = sum(each.caught for each in pairs), sum(each.others for each in pairs)
        console.print(f"  answers copied from another instance: {caught} of {others} lose points")
    needed = {what: total for what, (_, total) in counts.items()}
    if "mutant" in needed:
        needed["mutant"] = -(-needed["mutant"] * 38 // 40)  # of 40 at least 38 are caught
    return all(good >= needed[what] for what, (good, _) in counts.items())


def _given(ended: Ended[list[Proof]]) -> list[Proof]:
    """The proofs of a task; one that broke is no proof of anything, and ends the command."""
    if ended.error is not None:
        raise ended.error
    return ended.value or []


def _wrong(exercise: Exercise, instances: int, args: argparse.Namespace) -> list[list[str]]:
    """For each instance the names of the known wrong answers that are proved on it, each --wrong times in all."""
    known = [each.name for each in known_answers(exercise)]
    if missing := set(args.only or known) - set(known):
        named = ", ".join(sorted(missing))
        raise InputError(f"--only {named}: {exercise.id} has the known wrong answers {', '.join(known) or 'none'}")
    times = instances if args.wrong is None else min(args.wrong, instances)
    chosen: list[list[str]] = [[] for _ in range(instances)]
    for number, name in enumerate(args.only or known):
        for step in range(times):
            chosen[(number * times + step) % instances].append(name)
    return chosen


def _told(exercise: Exercise, proof: Proof) -> dict[str, Any]:
    return {"exercise": exercise.id, **{name: getattr(proof, name) for name in PROOF}}


def _prove(subject: _Subject, number: int, chosen: Sequence[str], only: bool, _tell: Tell) -> list[Proof]:
    exercise, engine = subject.exercise(), subject.engine()
    known = known_answers(subject.own())
    wrong = [each for each in known if each.name in chosen and each.holds_for(subject.own(), exercise)]
    if only:
        instance = instance_of(exercise, number)
        proofs = [prove_wrong(exercise, instance, each, engine, subject.seeds()) for each in wrong]
    else:
        proofs = list(verify(exercise, engine, number, wrong, subject.seeds()))
    return [replace(proof, report=None) for proof in proofs]  # which nobody reads, and is long


def _chain(subject: _Subject, number: int, _tell: Tell) -> list[Proof]:
    return list(prove_chain(subject.exercise(), subject.engine(), number, subject.seeds()))


def _mutate(subject: _Subject, number: int, count: int, _tell: Tell) -> list[Proof]:
    return list(prove_mutants(subject.exercise(), subject.engine(), number, count, subject.seeds()))
