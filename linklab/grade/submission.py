# SPDX-License-Identifier: BSD-3-Clause
"""A bundle → the submission that it is: whose, of which exercise, what was drawn, answered, set, and typed.

What is told of one that cannot be graded is collected on the way, so that points given by hand find their exercise.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from linklab.errors import Fault, InputError, TopologyError, blame
from linklab.exercise.answers import Answers, read_answers
from linklab.exercise.bundle import Bundle
from linklab.exercise.course import Course, weighted
from linklab.exercise.instance import changed_by_hand, parse_instance, proven
from linklab.exercise.load import known_exercise, load_exercise
from linklab.exercise.model import Exercise, Instance
from linklab.exercise.observed import Sessions, recorded, scripted
from linklab.exercise.report import called
from linklab.exercise.student_part import need_instructors_part
from linklab.grade.drawing import UnbuildableError, need_few
from linklab.topology import Topology

_NAMED = re.compile(r"(?:^|_)((?:exercise|problem)\d{1,4})-[^/]+\.zip$", re.IGNORECASE)
"""What `linklab submit` calls a file, also behind what Canvas puts before it."""


@dataclass(frozen=True)
class Submission:
    """What was handed in, read and checked.

    state: what the network is set to, JSON text; work: text of work.sh; None where there is none.
    typed: what was typed in the networks of the exercise, and in work.sh, in order.
    forged: what instance.json says otherwise than what was issued.
    packed_for: whom manifest.json names, "" where that is the student or nobody.
    """

    exercise: Exercise
    instance: Instance
    topology: Topology
    answers: Answers
    state: str | None = None
    work: str | None = None
    notes: tuple[str, ...] = ()
    source: str = ""
    typed: Sessions = ()
    forged: tuple[str, ...] = ()
    packed_for: str = ""


@dataclass
class ReadSoFar:
    """What is told of a submission that cannot be graded, as far as it has been read."""

    exercise: str = ""
    heading: str = ""
    student: str = ""
    name: str = ""
    course: str = ""
    claims: str = ""
    packed_for: str = ""
    max_score: float = 0.0
    parameters: dict[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


def read_submission(bundle: Bundle, source: str, course: Course | None, told: ReadSoFar) -> Submission:
    """Read a bundle, and prove whose it is.

    Args:
        bundle: of an exercise.
        source: what its file is called.
        course: that issued it; None takes practice instances.
        told: is filled while it is read.

    Raises:
        InputError: it cannot be graded, with `Fault.SUBMISSION`; or the exercise that is here is wrong.
    """
    with blame(Fault.SUBMISSION):
        instance = parse_instance(_text(bundle, "instance.json"), "instance.json")
        told.exercise, told.claims = instance.exercise, called(instance.student, instance.name)
        folder = known_exercise(instance.exercise)
    exercise = load_exercise(folder)
    need_instructors_part(exercise, "grade it")
    exercise = weighted(exercise, course)
    told.exercise, told.heading, told.max_score = exercise.id, exercise.heading, exercise.weight
    own = Topology.load(exercise.folder / exercise.topology) if exercise.topology else None
    with blame(Fault.SUBMISSION):
        instance = proven(instance, exercise, course)
        told.student, told.name, told.course, told.claims = instance.student, instance.name, instance.course, ""
        told.parameters = dict(instance.parameters)
        told.packed_for = bundle.student if bundle.student != instance.student else ""
        forged = tuple(changed_by_hand(_text(bundle, "instance.json"), instance, exercise))
        try:
            topology = Topology.loads(_text(bundle, "topology.mn"), "topology.mn", check=False)
            need_few(topology, own)
            topology.check("topology.mn")
        except TopologyError as error:
            raise UnbuildableError(f"the topology cannot be built: {error}") from error
        answers = read_answers(bundle.text("answers.toml") or "", exercise)
    state, work = bundle.text("state.json"), bundle.text("work.sh")
    typed = typed_lines(_logs(bundle.folder("terminals")), work or "", topology)
    changed = [f"instance.json was changed, and what was issued counts: {'; '.join(forged)}"] if forged else []
    notes = (*bundle.notes, *changed)
    return Submission(exercise, instance, topology, answers, state, work, notes, source, typed, forged, told.packed_for)


def _logs(files: Mapping[str, bytes]) -> dict[str, str]:
    return {name.removesuffix(".log"): content.decode() for name, content in files.items() if name.endswith(".log")}


def typed_lines(logs: Mapping[str, str], work: str, topology: Topology) -> Sessions:
    """What was typed: in the recorded terminals (node → log), network by network, and in work.sh."""
    nodes = {node.name for node in topology.nodes}
    return [*recorded(logs, nodes), scripted(work, nodes)]


def _text(bundle: Bundle, name: str) -> str:
    text = bundle.text(name)
    if text is None:
        raise InputError(f"{name} is missing from the submission; linklab submit puts it in")
    return text


def learn_from_name(told: ReadSoFar, name: str, course: Course | None) -> None:
    """Of an archive that cannot be read, the exercise by the file's name: points by hand need one."""
    if (named := _NAMED.search(name)) is None:
        return
    with contextlib.suppress(InputError):
        exercise = weighted(load_exercise(known_exercise(named[1].casefold())), course)
        told.exercise, told.heading, told.max_score = exercise.id, exercise.heading, exercise.weight
