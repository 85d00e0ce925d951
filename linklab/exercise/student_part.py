# SPDX-License-Identifier: BSD-3-Clause
"""An exercise's folder → the files of it that a student needs; and who refuses to work without the others.

The package for students, and `linklab exercise handout --class`, are made of it. Nothing is written by hand for
students: what a student's exercise.toml leaves out, it leaves out of the instructor's, comments included. Which files
and tables belong to whom: docs/architecture.md, "What a student gets of an exercise".
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from linklab.base import toml
from linklab.errors import InputError, MissingError
from linklab.exercise.judge import experiments_of, spoken_of
from linklab.exercise.load import STUDENT, load_exercise
from linklab.exercise.model import Exercise
from linklab.exercise.packed import pack

_IMAGE = re.compile(r"!\[[^\]]*\]\(([^():\s]+)\)")
_PLAIN_KEY = re.compile(r"[A-Za-z0-9_-]+")
_OF_INSTRUCTOR = ("key", "seen")


def need_instructors_part(exercise: Exercise, what: str) -> None:
    """Refuse to do `what`, such as "grade it", with a student's part.

    Raises:
        MissingError: the instructor's part of the exercise is not here.
    """
    if exercise.withheld is not None:
        raise MissingError(
            f"{exercise.folder}: this is the students' part of {exercise.heading}, without solution, known wrong "
            f"answers, and hidden checks, so Linklab cannot {what}: install the instructor's package linklab "
            "(make deb) in place of linklab-student, or work in a clone"
        )


def student_part(folder: Path) -> dict[str, bytes]:
    """The files that a student needs of an exercise's folder, by their names in it.

    Raises:
        InputError: the exercise does not hold together, or a file that it names cannot be read.
        MissingError: the folder holds no more than a student's part.
    """
    exercise = load_exercise(folder)
    need_instructors_part(exercise, "make a students' part of it")
    named = ["handout.md", *([exercise.topology] if exercise.topology else [])]
    try:
        handout = (folder / "handout.md").read_text(encoding="utf-8")
        files = {name: (folder / name).read_bytes() for name in (*named, *_IMAGE.findall(handout))}
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{folder}: a file of the handout cannot be read: {error}") from error
    return {"exercise.toml": _student_toml(exercise).encode(), **files}


def _student_toml(exercise: Exercise) -> str:
    """exercise.toml without what is the instructor's."""
    table = toml.loads(toml.read_text(exercise.folder / "exercise.toml"))
    shown = [check for check in exercise.checks if not check.hidden]
    measured = {name for check in shown for name in experiments_of(check, exercise)}
    spoken = {name.partition(".")[::2] for check in shown for name in spoken_of(check)}
    ids = {check.id for check in shown}
    faults = [{k: v for k, v in fault.items() if k not in _OF_INSTRUCTOR} for fault in table.pop("fault", [])]
    kept = {
        **table,
        "part": STUDENT,
        "planted": pack(faults),
        "hidden": {"checks": exercise.hidden.count, "points": exercise.hidden.points},
        "experiment": [
            _shown(each, {metric for name, metric in spoken if name == each["id"]})
            for each in table.get("experiment", [])
            if each["id"] in measured
        ],
        "check": [each for each in table["check"] if each["id"] in ids],
    }
    head = f"# {exercise.heading}: the students' part, made from the instructor's. Hidden checks are not in it.\n"
    return head + _toml(kept)


def _shown(experiment: Mapping[str, Any], spoken: Collection[str]) -> dict[str, Any]:
    """An experiment without what hidden checks alone need of it, and without the cases that tell of right answers.

    spoken: the metrics that visible checks speak of.
    """
    kept = {key: value for key, value in experiment.items() if key not in ("spread", "ping", "steady")} | {"why": ""}
    if spread := {metric: far for metric, far in experiment.get("spread", {}).items() if metric in spoken}:
        kept["spread"] = spread
    if "ping" in experiment and any(metric.startswith("ping.") for metric in spoken):
        kept["ping"] = experiment["ping"]
    return kept


def _toml(table: Mapping[str, Any]) -> str:
    """TOML of a table whose values are plain, a table of plain ones, or lists of tables."""
    plain: list[str] = []
    tables: list[str] = []
    for key, value in table.items():
        if isinstance(value, dict):
            tables += [f"\n[{_key(key)}]", *_pairs(value)]
        elif isinstance(value, list) and value and all(isinstance(each, dict) for each in value):
            for each in value:
                tables += [f"\n[[{_key(key)}]]", *_pairs(each)]
        else:
            plain.append(f"{_key(key)} = {_value(value)}")
    return "\n".join([*plain, *tables]) + "\n"


def _pairs(table: Mapping[str, Any]) -> list[str]:
    return [f"{_key(key)} = {_value(value)}" for key, value in table.items()]


def _key(key: str) -> str:
    return key if _PLAIN_KEY.fullmatch(key) else json.dumps(key)


def _value(value: Any) -> str:
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{_key(key)} = {_value(each)}" for key, each in value.items()) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(map(_value, value)) + "]"
    return json.dumps(value, ensure_ascii=False)  # a TOML basic string takes JSON's escapes
