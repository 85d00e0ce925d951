# SPDX-License-Identifier: BSD-3-Clause
"""A course file → the course: its name, its secret, and the rules by which its exercises are marked.

Read by whatever issues instances and grades.  The rules say what an instructor decides for a course without touching an
exercise: deadlines, what lateness costs, extensions, and the points of the checks.  Format: docs/course-rules.md; the
key `exercises` belongs to `linklab.exercise.places`.
"""

from __future__ import annotations

import datetime as dt
import hashlib
import hmac
import json
import os
import re
import secrets
import zoneinfo
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from linklab.base import toml
from linklab.base.text import excerpt
from linklab.errors import InputError
from linklab.exercise.model import Exercise
from linklab.units import parse_percent_frac, parse_time_s

STUDENT_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._@+-]{0,63}")
_GRADED = re.compile(r"(?:exercise|problem|lab)\d{1,4}", re.ASCII)
_POINTS = re.compile(r"(\d{1,6}(?:\.\d{1,4})?)\s*(?:points?|p)", re.ASCII)
_HOLDS = 'a course file holds course = "NAME" and secret = "64 hex digits"'
_LEAST_SECRET = 32


@dataclass(frozen=True)
class Cost:
    """What lateness costs: a number of points, or a share of the exercise's full points, from 0 to 1."""

    points: float = 0.0
    share: float = 0.0

    def of(self, full: float) -> float:
        """The points that it is, of an exercise of `full` points."""
        return self.points + self.share * full

    def __str__(self) -> str:
        """As the course file says it."""
        return f"{100 * self.share:g}%" if self.share else f"{self.points:g} points"


@dataclass(frozen=True)
class Rules:
    """How a course marks one exercise, problem, or lab.

    deadline: with its offset; None where there is none.
    grace_s: seconds after a deadline that cost nothing; each day that begins after that costs `per_day`, at most `cap`.
    extensions: student's id → that student's own deadline.
    weights: check's id → the points that it is worth here.
    """

    deadline: dt.datetime | None = None
    grace_s: float = 0.0
    per_day: Cost = Cost()
    cap: Cost = Cost(share=1.0)
    extensions: Mapping[str, dt.datetime] = field(default_factory=dict)
    weights: Mapping[str, float] = field(default_factory=dict)

    def due(self, student: str) -> dt.datetime | None:
        """The deadline of one student; None where there is none."""
        return self.extensions.get(student, self.deadline)


@dataclass(frozen=True)
class Course:
    """A course: its name, the secret that its instances are drawn and signed with, and its rules.

    rules: id of an exercise, a problem, or a lab → how it is marked; zone: of times that name no offset.
    """

    name: str
    secret: bytes
    rules: Mapping[str, Rules] = field(default_factory=dict)
    zone: zoneinfo.ZoneInfo | None = None

    def drawn(self, *words: str) -> int:
        """A number below 2⁶⁴, always the same for the same words; without the secret nobody knows it (RFC 2104)."""
        found = hmac.new(self.secret, "\x1f".join(words).encode(), hashlib.sha256).digest()
        return int.from_bytes(found[:8], "big")


def load_course(path: Path) -> Course:
    """Read a course file; InputError if it is none."""
    try:
        return parse_course(path.read_bytes(), str(path))
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}; linklab exercise issue makes one") from error


def parse_course(data: bytes, where: str) -> Course:
    """As `load_course`, from the file's bytes."""
    try:
        table = toml.loads(data.decode("utf-8"))
        secret = bytes.fromhex(table.pop("secret"))
        name = str(table.pop("course"))
    except (UnicodeDecodeError, toml.TOMLDecodeError) as error:
        raise InputError(f"{where}: no course file, since it is no TOML: {error}") from error
    except KeyError as error:
        raise InputError(f"{where}: no course file: it has no {error.args[0]}; {_HOLDS}") from error
    except (ValueError, TypeError) as error:
        raise InputError(f"{where}: the secret is not as it was made; {_HOLDS}") from error
    if len(secret) < _LEAST_SECRET:
        raise InputError(f"{where}: a secret of {len(secret)} bytes is too short; {_LEAST_SECRET} are wanted")
    table.pop("exercises", None)
    rest = toml.Table(table, where)
    zone = _zone(rest)
    every = _Reader(rest.take("late", dict, {}), f"{where}: [late]", zone).late()
    ids = [key for key in rest.data if _GRADED.fullmatch(key)]
    rules = {key: _rules(_Reader(rest.take(key, dict), f"{where}: [{key}]", zone), key, every) for key in ids}
    rest.known += ["exercise3", "problem1", "lab5 and the like"]
    rest.end()
    return Course(name, secret, rules, zone)


def new_course(path: Path, name: str, places: Sequence[str] = ()) -> Course:
    """Make a course file with a new secret, for this user's eyes alone; InputError if there is one.

    Args:
        path: of the file.
        name: of the course.
        places: folders with exercises of its own, as the file names them (`linklab.exercise.places.course_places`).
    """
    course = Course(name, secrets.token_bytes(_LEAST_SECRET))
    text = (
        "# Keep this file to yourself and keep a copy: it draws the students' parameters and proves their instances.\n"
        f'course = {json.dumps(name)}\nsecret = "{course.secret.hex()}"\n'
    )
    if places:
        text += f"exercises = {json.dumps(list(places), ensure_ascii=False)}\n"
    try:
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        raise InputError(f"{path}: cannot be made: {error.strerror}") from error
    return course


def weighted(exercise: Exercise, course: Course | None) -> Exercise:
    """The exercise with the points that the course gives its checks.

    Raises:
        InputError: the course names a check that the exercise has not, or leaves it without a point.
    """
    weights = course.rules[exercise.id].weights if course is not None and exercise.id in course.rules else {}
    known = [check.id for check in exercise.checks]
    for name in weights:
        if name not in known:
            raise InputError(
                f"the course file: [{exercise.id}]: weights: there is no check "
                f'"{excerpt(name)}"; there are {", ".join(known)}'
            )
    made = replace(exercise, checks=tuple(replace(c, weight=weights.get(c.id, c.weight)) for c in exercise.checks))
    if not made.weight > 0:
        raise InputError(f"the course file: [{exercise.id}]: weights: no check is worth a point; give one of them some")
    return made


def moment(text: str, zone: dt.tzinfo | None) -> dt.datetime:
    """A time such as "2026-11-20T23:59:00+01:00", or without its offset one in `zone`.

    Raises:
        ValueError: it is none, or has neither an offset nor a zone.
    """
    made = dt.datetime.fromisoformat(text.strip().replace("Z", "+00:00"))
    if made.tzinfo is None and zone is None:
        raise ValueError("it has no offset, and the course file names no timezone")
    return made if made.tzinfo is not None else made.replace(tzinfo=zone)


# --- reading


def _zone(table: toml.Table) -> zoneinfo.ZoneInfo | None:
    name = table.take("timezone", str, "")
    try:
        return zoneinfo.ZoneInfo(name) if name else None
    except (zoneinfo.ZoneInfoNotFoundError, ValueError, OSError):
        raise table.wrong(f'timezone "{excerpt(name)}" is not known; write one such as "Europe/Berlin"') from None


def _rules(reader: _Reader, key: str, every: Rules) -> Rules:
    """One exercise's table, which goes before what holds for all."""
    table = reader.table
    late = reader.late(every)
    deadline = reader.time("deadline", table.take("deadline", object, None))
    given = table.take("extensions", dict, {})
    weights = table.take("weights", dict, {})
    table.end()
    for student in given:
        if not STUDENT_ID.fullmatch(student):
            raise table.wrong(f'extensions: "{excerpt(student)}" is not a student\'s id')
    extensions = {student: reader.time(f"extensions: {student}", value) for student, value in given.items()}
    if key.startswith("lab") and weights:
        raise table.wrong("weights: each step of a lab is a point; weights are for exercises and problems")
    for name, value in weights.items():
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value <= toml.LARGEST:
            raise table.wrong(f"weights: {excerpt(name)} must be a number of points from 0, not {excerpt(repr(value))}")
    return replace(
        late,
        deadline=deadline,
        extensions={student: due for student, due in extensions.items() if due is not None},
        weights={name: float(value) for name, value in weights.items()},
    )


class _Reader:
    """Reads the values of one table of rules."""

    def __init__(self, data: object, where: str, zone: dt.tzinfo | None) -> None:
        self.table = toml.Table(data, where)
        self.zone = zone

    def late(self, every: Rules | None = None) -> Rules:
        """What lateness costs; of `every` where this table does not say it."""
        base = every or Rules()
        made = Rules(
            grace_s=self._grace(base.grace_s),
            per_day=self._cost("per_day", base.per_day),
            cap=self._cost("cap", base.cap),
        )
        if every is None:
            self.table.end()
        return made

    def time(self, key: str, value: Any) -> dt.datetime | None:
        """A date with a time of day; None for None."""
        if value is None:
            return None
        wanted = 'a date with a time, such as 2026-11-20T23:59:00+01:00, or without the offset where "timezone" is set'
        if not isinstance(value, dt.datetime):
            raise self.table.wrong(f"{key} must be {wanted}, not {excerpt(repr(value))}")
        if value.tzinfo is None and self.zone is None:
            raise self.table.wrong(f"{key} {value.isoformat()} is in no time zone; it must be {wanted}")
        return value if value.tzinfo is not None else value.replace(tzinfo=self.zone)

    def _grace(self, default: float) -> float:
        text = self.table.take("grace", str, "")
        try:
            return parse_time_s(text) if text else default
        except InputError as error:
            raise self.table.wrong(f'grace: {error}; for example "15min"') from None

    def _cost(self, key: str, default: Cost) -> Cost:
        text = self.table.take(key, str, "").strip()
        if not text:
            return default
        if found := _POINTS.fullmatch(text):
            return Cost(points=float(found[1]))
        try:
            return Cost(share=parse_percent_frac(text))
        except InputError:
            raise self.table.wrong(
                f'{key} "{excerpt(text)}" must be a share of the full points, such as "10%", or such as "2 points"'
            ) from None
