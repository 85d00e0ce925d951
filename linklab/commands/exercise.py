# SPDX-License-Identifier: BSD-3-Clause
"""`linklab exercise`: list exercises and problems, start one, show a handout; for instructors issue and verify."""

from __future__ import annotations

import argparse
import csv
import io
import json
import shlex
import subprocess
import sys
import webbrowser
from pathlib import Path
from typing import TYPE_CHECKING

from rich.table import Table

from linklab.base import installation
from linklab.base.files import write_asked
from linklab.base.text import csv_cell
from linklab.commands.console import make_console, plain
from linklab.commands.options import add_exercises_option, add_id_column_option, warn_of_readers
from linklab.documents import handbook
from linklab.errors import InputError, LinklabError
from linklab.exercise.course import load_course, new_course
from linklab.exercise.folder import folder_name, start
from linklab.exercise.handout import handout_html, handout_pdf, topology_name
from linklab.exercise.instance import environment, instance_text, issue, parse_instance, practice_instance
from linklab.exercise.load import all_exercise_folders, find_exercise, is_of_series, known_exercise, load_exercise
from linklab.exercise.model import Exercise, Instance
from linklab.exercise.places import beside_instance, course_places, exercise_id, place_of, remember, searching
from linklab.exercise.roster import read_roster
from linklab.exercise.student_part import need_instructors_part
from linklab.terminal.windows import display_usable

if TYPE_CHECKING:
    from linklab.commands import Subparsers

WIDTH = 120
FAILS_WITHIN_S = 1.5
"""An editor that cannot open its window ends within this time."""

_EPILOG = """examples:
  linklab exercise list
  linklab exercise start 3                     a practice instance, with the values that the series has
  linklab exercise start problem1 --variant 2  another one, with other values and another fault
  linklab exercise start exercise3-anna.json   yours, as your instructor sent it
  linklab exercise handout 3 --open

for instructors:
  linklab exercise issue 3 --roster class.csv --course networks.toml
  linklab exercise verify 3                    the model answer earns all, an empty one nothing (20 students)

An exercise is given as 3 or exercise3, a problem as problem1 or p1.
linklab check and linklab submit go on from here; docs/exercises.md is for students, docs/grading.md for instructors.
"""

_START_EPILOG = """examples:
  linklab exercise start 3                        Exercise 3 with public values, to practise, in exercise-3
  linklab exercise start problem1 --variant 2     Problem 1 with other values and another fault
  linklab exercise start exercise3-s1234.json     yours, as your instructor sent it to you
  linklab exercise start 3 --folder again --no-editor

Nothing that is there is overwritten: started again, the folder goes on as it is. Then, in that folder, linklab check
says how far you are, and linklab submit packs what you hand in.
"""
_HANDOUT_EPILOG = """examples:
  linklab exercise handout 3 --open
  linklab exercise handout exercise3-s1234.json --pdf --out mine.pdf

for instructors, a folder that may be handed out whole, without solution, key, and hidden checks:
  linklab exercise handout 3 --class week5 --course networks.toml --roster class.csv
"""
_ISSUE_EPILOG = """examples:
  linklab exercise issue 3 --roster class.csv --course networks.toml --name "Networks 2026"
  linklab exercise issue problem1 --roster class.csv --course networks.toml --out week5 --key week5-key.csv

The roster is CSV with a heading, such as

  id,name
  s1234,Ada Lovelace
  s1235,Alan Turing

or what Moodle or Canvas exports, or one id a line. The course file holds the secret that values are drawn and proved
with: it is made the first time, grading needs it, and nobody else may have it. The same roster gives the same
instances again; send each student the file that has the student's id in its name.
"""
_VERIFY_EPILOG = """examples:
  linklab exercise verify 3
  linklab exercise verify all --students 5 --jobs 2
  linklab exercise verify problem1 --mutants 40
  linklab exercise verify --course networks.toml --roster class.csv --students 3    before the class sees it
  linklab exercise verify 3 --students 4 --wrong 1 --chains 2
  linklab exercise verify problem1 --students 1 --only bbr-over-the-loss
  linklab exercise verify all --table
"""


def add_parser(subparsers: Subparsers, summary: str) -> argparse.ArgumentParser:
    """Add `exercise list|start|handout|issue|verify`."""
    parser = subparsers.add_parser(
        "exercise",
        help=summary,
        description="Exercises and problems: what there is, a folder to work in, handouts; instances for a class.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    listed = actions.add_parser("list", help="what there is")
    listed.set_defaults(act=_list)
    begin = actions.add_parser(
        "start",
        help="make a folder to work in, and open the editor",
        description="Make a folder to work in, and open the editor on its topology.",
        epilog=_START_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    begin.add_argument("exercise", metavar="N|FILE.json", help="an exercise, or the instance that you were sent")
    begin.add_argument("--variant", type=int, metavar="N", help="practice instance with other values (default: 0)")
    begin.add_argument("--folder", metavar="DIR", type=Path, help="default: exercise-N here")
    begin.add_argument("--pdf", action="store_true", help="the handout as PDF too")
    begin.add_argument("--no-editor", action="store_true", help="open no window")
    begin.set_defaults(act=_start)
    handout = actions.add_parser(
        "handout",
        help="the handout, with the practice values or those of an instance",
        description="Write the handout, with the practice values or those of an instance.",
        epilog=_HANDOUT_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    handout.add_argument("exercise", metavar="N|FILE.json", help="an exercise, or an instance")
    handout.add_argument("--pdf", action="store_true", help="PDF instead of HTML")
    handout.add_argument("--out", metavar="FILE", type=Path, help="default: where linklab manual writes")
    handout.add_argument("--open", action="store_true", help="show it")
    handout.add_argument(
        "--class",
        dest="class_folder",
        metavar="DIR",
        type=Path,
        help='write a new folder for a class instead: the students\' part of the exercise, or of "all"',
    )
    handout.add_argument("--course", metavar="FILE", type=Path, help="with --class: also each student's instance")
    handout.add_argument("--roster", metavar="FILE", type=Path, help="with --class: the students, as for issue")
    add_id_column_option(handout)
    handout.set_defaults(act=_handout)
    issued = actions.add_parser(
        "issue",
        help="write an instance for each student of a roster",
        description="Write an instance with values of its own for each student of a roster.",
        epilog=_ISSUE_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    issued.add_argument("exercise", metavar="N", help="the exercise")
    issued.add_argument(
        "--roster",
        metavar="FILE",
        type=Path,
        required=True,
        help='CSV with columns headed "id" and "name", or one id a line',
    )
    add_id_column_option(issued)
    issued.add_argument(
        "--course", metavar="FILE", type=Path, required=True, help="the course file; made if it is not there"
    )
    issued.add_argument(
        "--out", metavar="DIR", type=Path, help="folder of the instances (default: exerciseN-instances)"
    )
    issued.add_argument("--name", metavar="TEXT", help="name of a new course (default: the course file's)")
    issued.add_argument("--key", metavar="FILE", type=Path, help="also write who has which values and fault, as CSV")
    issued.set_defaults(act=_issue)
    verify = actions.add_parser(
        "verify",
        help="prove that an exercise can be solved and is graded as it says",
        description="Prove that the model answer earns all, an empty submission nothing, each wrong one its marks.",
        epilog=_VERIFY_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    verify.add_argument("exercise", metavar="N", nargs="?", help='the exercise, or "all"; with --course all it marks')
    verify.add_argument("--course", metavar="FILE", type=Path, help="say what a course file means, prove its points")
    verify.add_argument("--roster", metavar="FILE", type=Path, help="with --course: the students, as for issue")
    add_id_column_option(verify)
    verify.add_argument("--students", type=int, default=20, metavar="N", help="how many instances (default: 20)")
    verify.add_argument("--mutants", type=int, default=0, metavar="N", help="wrong variants of the model answer, too")
    verify.add_argument(
        "--wrong", type=int, metavar="N", help="prove each known wrong answer on N instances (default: on all)"
    )
    verify.add_argument(
        "--chains",
        type=int,
        default=0,
        metavar="N",
        help="add the steps of the model answer one by one, in N orders: more right work never earns less",
    )
    verify.add_argument(
        "--only", metavar="NAME", action="append", help="prove this known wrong answer alone; may be given again"
    )
    verify.add_argument(
        "--table", action="store_true", help="prove nothing: print what known wrong answers earn, as Markdown"
    )
    verify.add_argument("--json", action="store_true", help="every proof as JSON on standard output")
    verify.add_argument("--jobs", type=int, metavar="N", help="how many at once (default: one a processor)")
    verify.set_defaults(act=_verify)
    for action in (listed, begin, handout, issued, verify):
        add_exercises_option(action)
    return parser


def run(args: argparse.Namespace) -> int:
    """Do the action."""
    course: Path | None = getattr(args, "course", None)
    with searching([*args.exercises, *(course_places(course) if course else [])]):
        return int(args.act(args))


def _verify(args: argparse.Namespace) -> int:
    from linklab.commands.exercise_verify import run_verify

    return run_verify(args)


def _list(_: argparse.Namespace) -> int:
    table = Table(header_style="bold")
    for name in ("Name", "Title", "A student needs", "After", "Points", "Checks"):
        table.add_column(name)
    for folder in all_exercise_folders():
        try:
            exercise = load_exercise(folder)
            hidden, withheld = exercise.hidden.count, exercise.withheld.count if exercise.withheld else 0
            checks = f"{len(exercise.checks) + withheld}" + (f", {hidden} hidden" if hidden else "")
            row = (
                exercise.id,
                exercise.title,
                f"{exercise.minutes} min",
                exercise.after,
                f"{exercise.weight:g}",
                checks,
            )
        except LinklabError as error:
            row = (exercise_id(folder), str(error), "", "", "", "")
        table.add_row(*(plain(cell) for cell in row))
    make_console(width=WIDTH).print(table)
    return 0


def instance_from(name: str, variant: int | None = None) -> tuple[Exercise, Instance, str]:
    """What a word of the command line means: a file that was sent, or a public practice instance.

    Returns:
        The exercise, the instance, and the text of its file, "" for a practice instance.

    Raises:
        InputError: no such file or exercise, or an instance of another version.
    """
    if not name.endswith(".json"):
        exercise = load_exercise(find_exercise(name))
        return exercise, practice_instance(exercise, variant or 0), ""
    if variant is not None:
        raise InputError("--variant is for practice instances, not for one that you were sent")
    path = Path(name)
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: cannot be read: {getattr(error, 'strerror', None) or error}") from error
    instance = parse_instance(text, str(path))
    with searching(beside_instance(path)):
        exercise = load_exercise(known_exercise(instance.exercise))
    if instance.version != exercise.version:
        raise InputError(
            f"{path}: is of version {instance.version} of {exercise.id}; this Linklab has version {exercise.version}"
        )
    return exercise, instance, text


def _start(args: argparse.Namespace) -> int:
    exercise, instance, text = instance_from(args.exercise, args.variant)
    folder: Path = args.folder or Path(folder_name(exercise))
    made = start(folder, exercise, instance, text)
    if not is_of_series(exercise.folder):
        remember(folder, exercise.folder)
    if args.pdf:
        write_asked(folder / "handout.pdf", handout_pdf(exercise, instance))
    print(f"{exercise.heading}: {'started' if made else 'goes on'} in {folder}")
    print(f"  read   {folder / 'handout.html'}")
    where = shlex.quote(str(folder))
    if not args.no_editor and display_usable() and _editor(folder / topology_name(exercise)):
        print(f"  the editor is open on {topology_name(exercise)}{_what_the_editor_does(exercise, folder)}")
        print(f"  then   cd {where}    and linklab check, in another terminal; linklab submit at the end")
        return 0
    if not args.no_editor and not display_usable():
        print("  there is no display here, so that no editor opens")
    if exercise.topology:
        print(f'  next   cd {where}\n         linklab shell "{topology_name(exercise)}"')
    else:
        print(f'  next   cd {where}\n         linklab edit "{topology_name(exercise)}"    (needs a display)')
    if (folder / "set_env.sh").is_file():
        print("         and at its prompt: sh ./set_env.sh")
    print(f"  then   cd {where}    and linklab check, in another terminal; linklab submit at the end")
    return 0


def _what_the_editor_does(exercise: Exercise, folder: Path) -> str:
    if not exercise.topology:
        return ", which you draw and save"
    return "; Run builds the network" + (" and sets its environment" if (folder / "set_env.sh").is_file() else "")


def _editor(path: Path) -> bool:
    """Open the editor on a file, in a process that goes on when this command has ended; whether it did not fail."""
    command = installation.command("edit", path.name)
    window = subprocess.Popen(
        command,
        cwd=path.parent,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        _, complaint = window.communicate(timeout=FAILS_WITHIN_S)
    except subprocess.TimeoutExpired:
        return True
    print(complaint.strip(), file=sys.stderr)
    return False


def _handout(args: argparse.Namespace) -> int:
    if args.class_folder is not None:
        from linklab.commands.exercise_class import run_class

        return run_class(args)
    if args.course or args.roster or args.id_column:
        raise InputError(
            "--course and --roster go with --class DIR, which writes a folder for a class, --id-column with --roster"
        )
    exercise, instance, _ = instance_from(args.exercise)
    out: Path | None = args.out
    pdf = args.pdf or (out is not None and out.suffix.lower() == ".pdf")
    path = out or installation.manuals_folder() / f"{handbook.handout_slug(exercise)}.{'pdf' if pdf else 'html'}"
    print(write_asked(path, handout_pdf(exercise, instance) if pdf else handout_html(exercise, instance)))
    if args.open:
        webbrowser.open(path.resolve().as_uri())
    return 0


def _issue(args: argparse.Namespace) -> int:
    exercise = load_exercise(find_exercise(args.exercise))
    need_instructors_part(exercise, "issue what it could not grade")
    roster = read_roster(args.roster, args.id_column)
    if args.course.exists():
        course = load_course(args.course)
        warn_of_readers(args.course)
        if args.name and args.name != course.name:
            raise InputError(f'{args.course}: is the course "{course.name}", not "{args.name}"')
    else:
        places = [] if _is_found(exercise) else [place_of(exercise.folder, args.course)]
        course = new_course(args.course, args.name or args.course.stem, places)
        print(f"{args.course}: made, with a new secret. Keep it to yourself, and keep a copy: grading needs it.")
        for place in places:
            print(f"{args.course}: says that exercises of your own are in {place}, where grading looks for them")
    out: Path = args.out or Path(f"{exercise.id}-instances")
    print(roster.said)
    with searching(course_places(args.course)):
        if not _is_found(exercise):
            place = json.dumps(place_of(exercise.folder, args.course), ensure_ascii=False)
            print(f"{args.course}: add exercises = [{place}], so that grading finds this exercise")
    instances = [issue(exercise, course, student) for student in roster.students]
    for instance in instances:
        write_asked(out / f"{exercise.id}-{instance.student}.json", instance_text(exercise, instance))
    print(f"{out}: {len(instances)} instances of {exercise.heading}, a file a student")
    if args.key:
        _write_key(args.key, exercise, instances)
    print(f"A student begins with: linklab exercise start {exercise.id}-{instances[0].student}.json")
    return 0


def _is_found(exercise: Exercise) -> bool:
    """Whether a submission of it would be graded by this exercise, with the places that are searched now."""
    try:
        return known_exercise(exercise.id) == exercise.folder
    except InputError:
        return False


def _write_key(path: Path, exercise: Exercise, instances: list[Instance]) -> None:
    """Who has what, for the instructor."""
    names = [parameter.name for parameter in exercise.parameters]
    table = io.StringIO()
    writer = csv.writer(table)
    writer.writerow(["student", "name", *names, *(["fault"] if exercise.faults else []), "set_env.sh types"])
    for instance in instances:
        fault = [instance.fault] if exercise.faults else []
        lines = "; ".join(f"{on}: {line}" for on, line, _ in environment(exercise, instance))
        values = [instance.parameters[name] for name in names]
        writer.writerow([csv_cell(cell) for cell in (instance.student, instance.name, *values, *fault, lines)])
    write_asked(path, table.getvalue(), private=True)
    print(f"{path}: who has which values{' and which fault' if exercise.faults else ''}; keep it to yourself")
