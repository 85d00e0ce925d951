# SPDX-License-Identifier: BSD-3-Clause
"""Individual instances: course secret, student → one signed instance; and what an instance's quantities are.

Parameters are drawn by HMAC-SHA256 (RFC 2104) of the secret over exercise, version, student and parameter, so the
grader draws them again and trusts no file.  The secret is in the course file alone (`linklab.exercise.course`).  Pure.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import re
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from linklab.base.text import excerpt
from linklab.errors import InputError
from linklab.exercise.course import STUDENT_ID, Course
from linklab.exercise.fill import fill
from linklab.exercise.model import Exercise, Instance, Setting
from linklab.exercise.packed import pack, unpack
from linklab.judge.evaluation import Lookup, NoValueError, number
from linklab.judge.quantity import Value, parse_value

FORMAT = 1
PRACTICE = "practice"
_EXERCISE = re.compile(r"(?:exercise|problem)(?:0|[1-9]\d{0,3})", re.ASCII)
"""The id in its only spelling; exercise08 would get a column of its own in the class's tables."""


@dataclass(frozen=True)
class Student:
    """One line of a roster."""

    id: str
    name: str = ""


# --- drawing


def issue(exercise: Exercise, course: Course, student: Student) -> Instance:
    """The student's instance, drawn and signed."""
    instance = _drawn(exercise, course.secret, student.id)
    instance = replace(instance, course=course.name, student=student.id, name=student.name)
    return replace(instance, signature=_signature(instance, course))


def practice_instance(exercise: Exercise, variant: int = 0) -> Instance:
    """A public instance: variant 0 has the series' values and the first fault, others are drawn.

    Raises:
        InputError: a variant below 0.
    """
    if variant < 0:
        raise InputError(f"variant {variant} is below 0")
    instance = _drawn(exercise, b"linklab practice", str(variant))
    if variant == 0:
        series = {parameter.name: parameter.series for parameter in exercise.parameters}
        instance = replace(instance, parameters=series, fault=exercise.faults[0].id if exercise.faults else "")
    return replace(instance, student=PRACTICE if variant == 0 else f"{PRACTICE}-{variant}")


def proven(instance: Instance, exercise: Exercise, course: Course | None) -> Instance:
    """The instance as it must be for that student: drawn again from the secret, or public.

    Raises:
        InputError: not of this course, another version, or changed by hand; a sentence for the report.
    """
    if instance.exercise != exercise.id or instance.version != exercise.version:
        raise InputError(
            f"the instance is of {instance.exercise}, version {instance.version}, not of {exercise.id}, "
            f"version {exercise.version}"
        )
    if instance.signature == PRACTICE:
        variant = int(instance.student.partition("-")[2] or 0)
        return practice_instance(exercise, variant)
    if course is None:
        raise InputError("the instance belongs to a course: grading it needs that course's file (--course)")
    wanted = issue(exercise, course, Student(instance.student, instance.name))
    if not hmac.compare_digest(wanted.signature, instance.signature):
        other = f'; it says it is of "{instance.course}"' if instance.course != course.name else ""
        raise InputError(f'the instance was not issued by the course "{course.name}", or was changed by hand{other}')
    return wanted


_MOST_TOLD = 20
"""Parameters that are compared; no exercise has as many."""


def changed_by_hand(text: str, proven_one: Instance, exercise: Exercise) -> list[str]:
    """What an instance.json says otherwise than the instance it is proven to be: sentences, empty where nothing is.

    Grading draws everything again, so what was changed counts for nothing, but it is worth a look.

    Args:
        text: of the file, which `parse_instance` has read.
        proven_one: of `proven`.
        exercise: that both are of.
    """
    read = parse_instance(text, "instance.json")
    said = read.parameters
    names = dict.fromkeys((*proven_one.parameters, *said))
    found = []
    if read.course != proven_one.course:
        found.append(f"its course is {excerpt(proven_one.course)}, not {excerpt(read.course)}")
    for name in list(names)[:_MOST_TOLD]:
        issued, changed = proven_one.parameters.get(name, "no parameter"), said.get(name, "left out")
        if issued != changed:
            found.append(f"{excerpt(name)} is {issued}, not {excerpt(changed)}")
    if len(names) > _MOST_TOLD:
        found.append(f"it has {len(names) - _MOST_TOLD} parameters more")
    try:
        same = decode_environment(str(json.loads(text).get("environment"))) == environment(exercise, proven_one)
    except InputError:
        same = False
    return found if same else [*found, "set_env.sh does not set the network that was issued"]


def _drawn(exercise: Exercise, secret: bytes, who: str) -> Instance:
    def draw(name: str, count: int) -> int:
        message = "\x1f".join([exercise.id, str(exercise.version), who, name]).encode()
        return int.from_bytes(hmac.new(secret, message, hashlib.sha256).digest()[:8], "big") % count

    parameters = {p.name: p.values[draw(p.name, len(p.values))] for p in exercise.parameters}
    fault = exercise.faults[draw("fault", len(exercise.faults))].id if exercise.faults else ""
    return Instance(exercise.id, exercise.version, "", "", "", parameters, fault, PRACTICE)


def _signature(instance: Instance, course: Course) -> str:
    signed = {
        "exercise": instance.exercise,
        "version": instance.version,
        "course": instance.course,
        "student": instance.student,
        "name": instance.name,
        "parameters": dict(instance.parameters),
        "fault": instance.fault,
    }
    return hmac.new(course.secret, json.dumps(signed, sort_keys=True).encode(), hashlib.sha256).hexdigest()


def is_practice(student: str) -> bool:
    """Whether the student of an instance that was proven is nobody, since it is a public one."""
    return student == PRACTICE or student.startswith(f"{PRACTICE}-")


# --- files


def instance_text(exercise: Exercise, instance: Instance) -> str:
    """instance.json: everything but the fault's name in the clear; what set_env.sh does, encoded."""
    data = {
        "format": FORMAT,
        "exercise": instance.exercise,
        "title": exercise.title,
        "version": instance.version,
        "course": instance.course,
        "student": instance.student,
        "name": instance.name,
        "parameters": dict(instance.parameters),
        "environment": encode_environment(environment(exercise, instance)),
        "signature": instance.signature,
    }
    return json.dumps(data, indent=2, ensure_ascii=False) + "\n"


def parse_instance(text: str, where: str) -> Instance:
    """Read instance.json; its fault is not known then ("").

    Raises:
        InputError: it is none.
    """
    try:
        data = json.loads(text)
        if not isinstance(data, dict) or data.get("format") != FORMAT:
            raise InputError(f"{where}: no instance of an exercise")
        texts = {key: data[key] for key in ("exercise", "course", "student", "name", "signature")}
        parameters, version = data["parameters"], data["version"]
    except (ValueError, KeyError, RecursionError) as error:
        raise InputError(f"{where}: no instance of an exercise: {error}") from error
    whole = all(isinstance(value, str) and len(value) < 200 for value in texts.values())
    whole = whole and isinstance(parameters, dict) and isinstance(version, int)
    if not whole or not all(isinstance(item, str) for pair in parameters.items() for item in pair):
        raise InputError(f"{where}: no instance of an exercise: a value of the wrong kind")
    if not _EXERCISE.fullmatch(texts["exercise"]):  # a path would be looked at
        raise InputError(f"{where}: no instance of an exercise: {json.dumps(texts['exercise'][:60])} is the id of none")
    practice = texts["signature"] == PRACTICE and re.fullmatch(rf"{PRACTICE}(-\d{{1,6}})?", texts["student"])
    if not practice and not (
        STUDENT_ID.fullmatch(texts["student"]) and re.fullmatch(r"[0-9a-f]{64}", texts["signature"])
    ):
        raise InputError(f"{where}: no instance of an exercise: its student or signature is none")
    return Instance(version=version, parameters=parameters, fault="", **texts)


def environment(exercise: Exercise, instance: Instance) -> list[tuple[str, str, str]]:
    """What set_env.sh does: (node or "client", line, what to print), the planted fault last and silent."""
    lookup = quantities(exercise, instance)
    return [
        (setting.on, _filled(line, lookup), _filled(setting.says, lookup) if number == 0 else "")
        for setting in [*exercise.settings, *planted(exercise, instance)]
        for number, line in enumerate(setting.lines)
    ]


def planted(exercise: Exercise, instance: Instance) -> tuple[Setting, ...]:
    """The settings of the instance's fault; none for an exercise."""
    return next((fault.settings for fault in exercise.faults if fault.id == instance.fault), ())


def filled(settings: Iterable[Setting], lookup: Lookup) -> list[tuple[str, str]]:
    """(node or "client", line) of settings, placeholders filled."""
    return [(setting.on, _filled(line, lookup)) for setting in settings for line in setting.lines]


def _filled(text: str, lookup: Lookup) -> str:
    try:
        return fill(text, lookup)
    except NoValueError as error:
        raise InputError(f'setting "{excerpt(text)}": {excerpt(error.name)} has no value') from error


def encode_environment(lines: Sequence[tuple[str, str, str]]) -> str:
    """Lines as text that gives nothing away at a glance; no secret (`decode_environment`)."""
    return pack(lines)


def decode_environment(text: str) -> list[tuple[str, str, str]]:
    """The lines again; InputError if it is none."""
    try:
        return [(str(on), str(line), str(says)) for on, line, says in unpack(text)]
    except (ValueError, TypeError, zlib.error) as error:
        raise InputError(f"the environment of the instance cannot be read: {error}") from error


# --- quantities


def quantities(exercise: Exercise, instance: Instance, more: Mapping[str, Value | None] | None = None) -> Lookup:
    """Parameters, derived quantities and `more` by name, for expressions and placeholders.

    Raises:
        InputError: a parameter is missing or cannot be read, or what is derived from them has no value.
    """
    known: dict[str, Value | None] = {}
    for parameter in exercise.parameters:
        if parameter.name not in instance.parameters:
            raise InputError(f"the instance has no parameter {parameter.name}")
        known[parameter.name] = parse_value(instance.parameters[parameter.name])
    planted = next((fault.derived for fault in exercise.faults if fault.id == instance.fault), {})
    for name, text in {**exercise.derived, **planted}.items():
        try:
            known[name] = number(text, known.__getitem__)
        except NoValueError as error:
            raise InputError(f"the derived quantity {name} has no value with these parameters: {error.name}") from error
    known.update(more or {})
    return known.__getitem__
