# SPDX-License-Identifier: BSD-3-Clause
"""`linklab exercise handout N --class DIR`: a folder that a class may have, without the instructor's part."""

from __future__ import annotations

import argparse
from pathlib import Path

from linklab.base.files import write_asked
from linklab.commands.options import warn_of_readers
from linklab.errors import InputError
from linklab.exercise.course import Course, load_course
from linklab.exercise.instance import Student, instance_text, issue
from linklab.exercise.load import all_exercise_folders, find_exercise, load_exercise
from linklab.exercise.model import Exercise
from linklab.exercise.roster import read_roster
from linklab.exercise.student_part import student_part

_README = """# {heading}

For students{of}. The folders hold what you need of {what}: the task, the network, and the checks that
`linklab check` judges by. Hidden checks and model answers are not in them.

{begin}

`linklab check` then says how far you are, and `linklab submit` packs what you hand in.
"""


def run_class(args: argparse.Namespace) -> int:
    """Write the folder; 0 when it is written.

    Raises:
        InputError: the folder is not empty, an option does not fit, or as the readers of roster and course file.
        MissingError: the instructor's part of an exercise is not here.
    """
    if args.pdf or args.open or args.out:
        raise InputError("--class writes a folder, so --pdf, --open, and --out do not go with it")
    if (args.course is None) != (args.roster is None):
        raise InputError("--course and --roster go together: the instances need both")
    if str(args.exercise).endswith(".json"):
        raise InputError(
            f'{args.exercise}: --class takes an exercise, such as 3, or "all", not one student\'s instance'
        )
    out: Path = args.class_folder
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise InputError(f"{out}: there is something in it already; give a new folder, which a class may have whole")
    folders = all_exercise_folders() if args.exercise == "all" else [find_exercise(args.exercise)]
    parts = {folder: student_part(folder) for folder in folders}  # all of them, before anything is written
    course = load_course(args.course) if args.course else None
    if args.course:
        warn_of_readers(args.course)
    students = read_roster(args.roster, args.id_column).students if args.roster else ()
    exercises = [load_exercise(folder) for folder in folders]
    for exercise, files in zip(exercises, parts.values(), strict=True):
        for name, content in files.items():
            write_asked(out / f"{exercise.kind}s" / exercise.folder.name / name, content)
        if course is not None:
            _write_instances(out, exercise, course, students)
    write_asked(out / "README.md", _readme(exercises, course))
    issued = f" and {len(exercises) * len(students)} instances in {out / 'instances'}" if course else ""
    print(f"{out}: the students' part of {_named(exercises)}{issued}; it may be handed out as it is")
    return 0


def _write_instances(out: Path, exercise: Exercise, course: Course, students: tuple[Student, ...]) -> None:
    for student in students:
        text = instance_text(exercise, issue(exercise, course, student))
        write_asked(out / "instances" / f"{exercise.id}-{student.id}.json", text)


def _readme(exercises: list[Exercise], course: Course | None) -> str:
    first = exercises[0]
    begin = f"Begin with `linklab exercise start {first.kind}s/{first.folder.name}`, in this folder."
    if course is not None:
        begin = (
            f"Begin with `linklab exercise start instances/{first.id}-ID.json`, where ID is how your course knows you."
        )
    heading = f"Exercises of {course.name}" if course else "Exercises"
    return _README.format(
        heading=heading, of=f" of {course.name}" if course else "", what=_named(exercises), begin=begin
    )


def _named(exercises: list[Exercise]) -> str:
    return f"{len(exercises)} exercises" if len(exercises) > 1 else exercises[0].heading
