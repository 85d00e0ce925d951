# SPDX-License-Identifier: BSD-3-Clause
"""A student's own folder → what `linklab check` says of it: the visible checks, with one seed.

Judged as the grader judges a bundle (`linklab.grade.unit`). The files are the student's own, so what is wrong with them
is said to the student and is no verdict.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from linklab.engine.api import Engine
from linklab.errors import InputError
from linklab.exercise.answers import read_answers
from linklab.exercise.folder import recorded_logs
from linklab.exercise.instance import decode_environment, environment, parse_instance
from linklab.exercise.load import known_exercise, load_exercise
from linklab.exercise.model import Exercise, Instance
from linklab.exercise.places import remembered
from linklab.exercise.report import Report
from linklab.exercise.textfile import read_text
from linklab.grade.submission import Submission, typed_lines
from linklab.grade.unit import assess
from linklab.topology import Topology


def self_check(folder: Path, state: str | None, engine: Engine, seeds: Sequence[int] = (1,)) -> Report:
    """Judge the visible checks on a student's own folder.

    Args:
        folder: holds instance.json, the topology, answers.toml and perhaps work.sh.
        state: read back from the running network; None where none runs (work.sh then counts, if it is there).
        engine: builds the networks.
        seeds: of the runs.

    Raises:
        InputError: the folder is none of an exercise, or its files cannot be read; as `assess`.
    """
    instance, exercise = own_instance(folder)
    topology = Topology.load(topology_file(folder, exercise))
    answers = folder / "answers.toml"
    work = read_text(folder / "work.sh") if state is None else None
    submission = Submission(
        exercise,
        instance,
        topology,
        read_answers(read_text(answers), exercise),
        state,
        work,
        source=folder.name,
        typed=typed_lines(recorded_logs(folder), work or "", topology),
    )
    return assess(submission, engine, seeds, [check for check in exercise.checks if not check.hidden])


def own_instance(folder: Path) -> tuple[Instance, Exercise]:
    """The instance of a student's folder with its fault, told from its environment, and the exercise.

    Raises:
        InputError: there is none, or it is of another version.
    """
    path = folder / "instance.json"
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError as error:
        where = "this folder" if folder.resolve() == Path.cwd() else f"{folder}"
        what = "linklab exercise start makes a folder to work in; go into it, or name it"
        raise InputError(f"there is no exercise in {where} (no instance.json): {what}") from error
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: cannot be read: {getattr(error, 'strerror', None) or error}") from error
    instance = parse_instance(text, str(path))
    exercise = load_exercise(known_exercise(instance.exercise, remembered(folder)))
    if instance.version != exercise.version:
        raise InputError(f"{path}: it is of version {instance.version}; this Linklab has version {exercise.version}")
    return replace(instance, fault=_planted_fault(text, exercise, instance)), exercise


def _planted_fault(text: str, exercise: Exercise, instance: Instance) -> str:
    done = decode_environment(str(json.loads(text).get("environment")))
    for fault in exercise.faults:
        if environment(exercise, replace(instance, fault=fault.id)) == done:
            return fault.id
    return ""


def topology_file(folder: Path, exercise: Exercise) -> Path:
    """The topology in a student's folder: the exercise's, else the only .mn there.

    Raises:
        InputError: there is none, or more than one.
    """
    if exercise.topology:
        return folder / exercise.topology
    found = sorted(folder.glob("*.mn"))
    if len(found) != 1:
        cure = (
            f"leave only the one to be handed in; found {', '.join(path.name for path in found)}"
            if found
            else f'save your drawing there, as "{exercise.heading.partition(":")[0]}.mn"'
        )
        raise InputError(f"{folder.resolve().name}: the folder must hold one topology (.mn): {cure}")
    return found[0]
