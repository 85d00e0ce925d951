# SPDX-License-Identifier: BSD-3-Clause
"""`linklab grade`: grade what a class handed in, with progress; a table, and a folder of pages and grades."""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from linklab.base import claims
from linklab.base.processes import processors
from linklab.base.text import excerpt, shown_json
from linklab.commands.grade_platform import make, run_there
from linklab.commands.grade_view import GradeView, whole
from linklab.commands.interrupt import answered
from linklab.commands.options import add_exercises_option, add_id_column_option, seed, warn_of_readers
from linklab.errors import InputError, MissingError
from linklab.exercise.course import Course, parse_course
from linklab.exercise.instance import Student
from linklab.exercise.places import HOW, course_places, search_path, searching
from linklab.exercise.roster import read_roster
from linklab.grade.bubblewrap import shown, why_no_other_user, why_no_subordinates
from linklab.grade.class_lists import Lists, read_points, read_times
from linklab.grade.grading import (
    DEADLINE_S,
    GradingSettings,
    grade_all,
    summary,
)
from linklab.grade.handed_in import HandedIn, collect, courses_of, need_weights, not_here, of_students_part
from linklab.grade.harness import PLATFORMS
from linklab.grade.limits import most_at_once
from linklab.grade.marking import Marking
from linklab.grade.results_folder import Results, stored
from linklab.grade.worker import grading_engine
from linklab.terminal.screen import ends_orderly
from linklab.units import parse_time_s

if TYPE_CHECKING:
    from linklab.commands import Subparsers
    from linklab.engine.api import Engine

TRUST = "--unsandboxed-i-trust-these"
_SHOWN = 3
_EPILOG = f"""examples:
  linklab grade exercise3-s1234.zip                       one submission of a practice instance
  linklab grade handed-in/ --course networks.toml         all .zip files in a folder, as Moodle or Canvas gave them
  linklab grade "in/*.zip" --course c.toml --out week5 --jobs 1
  linklab grade in/ --course c.toml --cluster tcp://10.0.0.5:8786
  linklab grade in/exercise3-s1234.zip --course c.toml --into week5     that one again, the others untouched
  linklab grade --harness gradescope autograder.zip --package linklab_0.1.0_amd64.deb --course c.toml --assignment 3
  linklab grade --into week5 --points points.csv                        points given by hand into the marks

The folder holds index.html for you, a folder for each submission with report.html for its student, instructor.html
for you and results.json for Gradescope, and grades.csv, grades-moodle.csv, grades-canvas.csv, junit.xml and
summary.json.

Submissions run in a sandbox with limits of memory, processes, files, and processor time, and never with root's rights;
`linklab doctor` says as which user. Where it cannot be had, grading refuses and says why; {TRUST}
grades without one, with your rights: for your own files only.

Exits with 0 if everything was graded, 1 if something could not be; other codes as in linklab --help.
"""


def add_parser(subparsers: Subparsers, summary: str) -> argparse.ArgumentParser:
    """Add `grade SUBMISSIONS…` with its options."""
    parser = subparsers.add_parser(
        "grade",
        help=summary,
        description="Build each student's network again, measure it with the grader's traffic, and judge.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    _add_options(parser)
    return parser


def _add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("submissions", metavar="SUBMISSION", nargs="*", help='a .zip, a folder of them, or "in/*.zip"')
    parser.add_argument("--course", metavar="FILE", type=Path, help="the course file that the instances came from")
    parser.add_argument(
        "--roster",
        metavar="FILE",
        type=Path,
        help="the students, for labs and damaged archives: whom the files' names speak of",
    )
    add_id_column_option(parser)
    parser.add_argument("--out", metavar="DIR", type=Path, help="folder of the results (default: grades, a new one)")
    parser.add_argument(
        "--into",
        metavar="DIR",
        type=Path,
        help="grade into results that are there, the others untouched; without a submission mark what is there again",
    )
    parser.add_argument(
        "--points", metavar="FILE", type=Path, help="points given by hand, CSV: id, exercise, points, reason"
    )
    parser.add_argument(
        "--times", metavar="FILE", type=Path, help="when was handed in what, for the course's deadlines, CSV: id, time"
    )
    parser.add_argument(
        "--jobs", type=int, metavar="N", help=f"how many at once (default and most here: {processors()})"
    )
    parser.add_argument(
        "--seeds", type=_seeds, metavar="N,N,…", help="seeds of the runs that are measured (default: the course's own)"
    )
    parser.add_argument(
        "--deadline", type=_time, default=DEADLINE_S, metavar="TIME", help=f"for each (default: {DEADLINE_S:g}s)"
    )
    parser.add_argument(
        "--cluster", metavar="ADDRESS", default="", help="scheduler of a Dask cluster that does the work"
    )
    parser.add_argument(
        "--no-sharing", action="store_true", help="measure each anew, even where others are set to the same"
    )
    parser.add_argument(TRUST, dest="trusted", action="store_true", help="no sandbox; never for what others wrote")
    parser.add_argument(
        "--in-container", dest="container", action="store_true", help="the container that this runs in is the sandbox"
    )
    parser.add_argument("--json", action="store_true", help="print what came of each as JSON and nothing else")
    parser.add_argument(
        "--harness",
        nargs=2,
        metavar=("NAME", "OUT.zip"),
        help=f"make what grades on a platform: {', '.join(PLATFORMS)}",
    )
    parser.add_argument("--package", metavar="FILE.deb", type=Path, help="with --harness: the Linklab that it installs")
    parser.add_argument(
        "--assignment", metavar="EXERCISE", help="with --harness: the exercise, problem, or lab that alone counts there"
    )
    parser.add_argument("--run-harness", choices=PLATFORMS, help="what a harness runs on its platform")
    add_exercises_option(parser)
    parser.set_defaults(on_platform=False)


def _seeds(text: str) -> tuple[int, ...]:
    return tuple(seed(part.strip()) for part in text.split(","))


def _time(text: str) -> float:
    try:
        return parse_time_s(text)
    except InputError as error:
        raise argparse.ArgumentTypeError(str(error)) from error


def run(args: argparse.Namespace) -> int:
    """Grade all; 0 if each was graded, else 1."""
    if args.run_harness:
        return run_there(args.run_harness, _again)
    with ends_orderly(), searching([*args.exercises, *(course_places(args.course) if args.course else [])]):
        return _run(args)


def _again(arguments: Sequence[str]) -> int:
    """What the command does with other arguments, on a platform."""
    parser = argparse.ArgumentParser()
    _add_options(parser)
    return run(parser.parse_args(arguments, argparse.Namespace(on_platform=True)))


def _run(args: argparse.Namespace) -> int:
    if args.harness:
        return make(args)
    if args.package:
        raise InputError("--package goes with --harness: it is what that installs")
    if args.assignment:
        raise InputError("--assignment goes with --harness: it says what a platform's assignment is")
    if args.jobs is not None and args.jobs < 1:
        raise InputError(f"--jobs {args.jobs}; at least one submission is graded at a time")
    known = _known(args)
    submissions, left = collect(args.submissions) if args.submissions else ([], [])
    if not args.on_platform:  # which wants a result of every submission
        _exercises_wanted(submissions, quiet=args.json)
    _instructors_part_wanted(submissions, quiet=args.json)
    content = _course(args.course)
    course = parse_course(content, str(args.course)) if content is not None else None
    need_weights(submissions, course)
    if args.id_column and not args.roster:
        raise InputError("--id-column goes with --roster: it names a column of that file")
    roster = read_roster(args.roster, args.id_column) if args.roster else None
    if roster and not args.json:
        print(roster.said, flush=True)
    if course is None and not args.on_platform:
        _courses_wanted(submissions, quiet=args.json)
    _warn_of_unmeant(args, course, roster.students if roster else ())
    given = Lists(
        roster.students if roster else None,
        read_points(args.points) if args.points else None,
        read_times(args.times, course.zone if course else None) if args.times else None,
    )
    lists = given.else_of(known.lists) if known else given
    if args.container and args.cluster:
        raise InputError("--in-container grades here, --cluster elsewhere; give one of them")
    if submissions:
        _need_engine(args, submissions)
    own_users = bool(submissions) and _gives_own_users(args, len(submissions))
    settings = GradingSettings(
        course=content,
        jobs=_at_once(args, len(submissions)),
        cluster=args.cluster if submissions else "",
        deadline_s=args.deadline,
        share=not (args.no_sharing or args.trusted or args.container),  # only the sandbox hides our folders
        roster=lists.roster or (),
        options={
            "sandboxed": not args.trusted,
            **({"container": True} if args.container else {}),
            **({"own_users": True} if own_users else {}),
            **({"seeds": args.seeds} if args.seeds else {}),
        },
        marking=Marking(course, lists.points, lists.times),
    )
    started = time.perf_counter()
    view = GradeView(submissions, quiet=args.json)
    wanted = [args.out] if args.out else [Path("grades"), *(Path(f"grades-{number}") for number in range(2, 1000))]
    place = claims.held_again(known.folder) if known else claims.held(wanted)
    with place as out, answered(partial(_left, out)), view:
        if args.container and not known:
            os.chown(out, os.geteuid(), -1)  # what is told of one submission is no other's to read
            out.chmod(0o700)
        graded = grade_all(submissions, settings, out, view.changed, left, known=known)
    if args.json:
        data = {"out": str(out), **summary(graded.entries, graded.findings, left)}
        print(shown_json(data, indent=2))
    view.end(graded, out, time.perf_counter() - started, left)
    return 0 if all(whole(entry) for entry in graded.entries) else 1


def _left(out: Path) -> str:
    """What of a class is there now, and how it is gone on with."""
    if not any(path.is_dir() and not path.name.startswith(".") for path in out.iterdir()):  # beside the note in it
        return "ending the networks; nothing has been graded"
    return (
        f"ending the networks; what has been graded stays in {out}, whose index.html names the rest: "
        f"grade these files with --into {out}"
    )


def _warn_of_unmeant(args: argparse.Namespace, course: Course | None, students: Sequence[Student]) -> None:
    """Warn of rules in the course file that have no effect, such as a deadline of an exercise that does not exist."""
    from linklab.grade.course_check import unmeant

    if course is None or args.on_platform:  # which is given the files of what it grades alone
        return
    said = [*unmeant(course, students)]
    weighted = [name for name, rules in course.rules.items() if rules.weights]
    if weighted and not args.submissions:
        said.append(f"weights ({', '.join(weighted)}) count when a submission is graded: give the submissions again")
    for each in said:
        print(f"linklab: {args.course}: {each}", file=sys.stderr)


def _at_once(args: argparse.Namespace, submissions: int) -> int:
    """How many submissions are graded side by side here."""
    if args.container:
        return 1
    wanted = min(args.jobs or processors(), processors(), max(1, submissions))
    most = None if args.trusted or args.cluster else most_at_once()
    if most is None or wanted <= most:
        return wanted
    print(
        f"linklab: {most} of {wanted} at once, since your user's limits of processes and waiting signals (ulimit -Hu, "
        "-Hi) have room for no more: one network may use up what another one needs.",
        file=sys.stderr,
    )
    return most


def _need_engine(args: argparse.Namespace, submissions: Sequence[HandedIn]) -> None:
    """MissingError or InputError where networks cannot be built here; a cluster is asked later."""
    if args.cluster:
        _hidden_from_submissions(map(Path, search_path()))  # which lie at the same paths there
        return
    _engine(args, submissions).check()
    if args.container:
        _warn_of_no_landlock()


def _gives_own_users(args: argparse.Namespace, submissions: int) -> bool:
    """Whether each network has a user of its own here; where several submissions would share one, that is said."""
    if args.cluster or args.container or args.trusted:
        return False
    why = why_no_subordinates() if os.geteuid() != 0 else why_no_other_user()
    if why and submissions > 1:
        print(
            f"linklab: no network can have a user of its own ({why}), so all run as you and share the limits that "
            "Linux sets for each user. For the cure see docs/troubleshooting.md, sandbox.",
            file=sys.stderr,
        )
    return not why


def _warn_of_no_landlock() -> None:
    from linklab.grade.leftovers import lacks_landlock

    if lacks_landlock():
        print(
            "linklab: no Landlock here (Linux 5.19 has it, and Docker allows it), so a submission can write wherever "
            "anybody can: grade one submission in a container, and throw it away.",
            file=sys.stderr,
        )


def _engine(args: argparse.Namespace, submissions: Sequence[HandedIn]) -> Engine:
    """What networks are built with; InputError where options contradict each other."""
    lists = (args.course, args.roster, args.points, args.times, args.into)
    paths = [path for path in lists if path is not None]
    if not args.container:
        if not args.trusted:
            _hidden_from_submissions(
                [
                    *paths,
                    args.out or Path(),
                    Path(tempfile.gettempdir()),  # where each submission lies while it is graded
                    *map(Path, search_path()),
                    *(each.path for each in submissions),
                ]
            )
        return grading_engine(sandboxed=not args.trusted)
    if args.trusted:
        raise InputError(f"--in-container and {TRUST} are two ways to do without a sandbox of ours; give one of them")
    if len(submissions) > 1:  # of one the student knows what it says
        paths += [each.path for each in submissions]
    return grading_engine(sandboxed=True, container=True, secret=paths)


def _hidden_from_submissions(paths: Iterable[Path]) -> None:
    """Refuse what is for instructors where the sandbox shows it.

    Raises:
        InputError: a file or a folder lies there.
    """
    if found := shown(paths):
        what = f"{found[0].resolve()}{f' and {len(found) - 1} more' if len(found) > 1 else ''}"
        raise InputError(f"{what}: submissions can read what lies there, so move it elsewhere; nothing was graded")


def _known(args: argparse.Namespace) -> Results | None:
    """What the folder of --into holds; None for a new folder.

    Raises:
        InputError: it holds no results, or there is nothing to do.
    """
    if args.into is None:
        if not args.submissions:
            raise InputError("name what is to be graded: a .zip, a folder of them, or a pattern")
        return None
    if args.out:
        raise InputError("--out makes a new folder, --into takes one that is there; give one of them")
    if not args.submissions and not (args.course or args.roster or args.points or args.times):
        why = "--into without submissions marks again what is there"
        raise InputError(f"{why}: give --course, --roster, --points, or --times")
    return stored(args.into)


def _course(path: Path | None) -> bytes | None:
    if path is None:
        return None
    try:
        content = path.read_bytes()
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from error
    parse_course(content, str(path))
    warn_of_readers(path)
    return content


def _exercises_wanted(submissions: Sequence[HandedIn], *, quiet: bool) -> None:
    """Say once, before anything is graded, that an exercise is not found.

    Raises:
        InputError: without it most of them cannot be graded.
    """
    unknown = not_here(submissions)
    if not unknown:
        return
    labels = [label for _, found in sorted(unknown.items()) for label in found]
    count, total = len(labels), len(submissions)
    which = " and ".join(excerpt(name) for name in sorted(unknown)[:_SHOWN])
    which += f" and {len(unknown) - _SHOWN} more" if len(unknown) > _SHOWN else ""
    if 2 * count > total:
        # with their names, since one person may have handed in most of them
        what = "the submission is" if total == 1 else f"{count} of {total} submissions ({_named(labels)}) are"
        raise InputError(f"{what} of {which}, which is not here, so nothing was graded; {HOW}")
    if not quiet:
        print(f"{count} of {total} submissions are of {which}, which is not here; {HOW}. The others are graded.")


def _instructors_part_wanted(submissions: Sequence[HandedIn], *, quiet: bool) -> None:
    """Say once, before anything is graded, that hidden checks of an exercise are not here.

    Raises:
        MissingError: without them most submissions cannot be graded; one alone does not keep a class from its marks.
    """
    lacking = of_students_part(submissions)
    labels = [label for _, found in lacking for label in found]
    count, total = len(labels), len(submissions)
    which = f"{count} of {total} submissions ({_named(labels)}) cannot be graded"
    if 2 * count > total:
        error = max(lacking, key=lambda each: len(each[1]))[0]
        raise error if total == 1 else MissingError(f"{which}, so nothing was graded; {error}")
    if lacking and not quiet:
        print("\n".join([f"{which}; the others are graded.", *(str(error) for error, _ in lacking)]), flush=True)


def _named(labels: Sequence[str]) -> str:
    more = f", and {len(labels) - _SHOWN} more" if len(labels) > _SHOWN else ""
    return f"{', '.join(labels[:_SHOWN])}{more}"


def _courses_wanted(submissions: Sequence[HandedIn], *, quiet: bool) -> None:
    """Say once, before anything is graded, that a course file is missing.

    Raises:
        InputError: without it most of them cannot be graded.
    """
    courses = courses_of(submissions)
    if not courses:
        return
    count, total = sum(courses.values()), len(submissions)
    whose = " and ".join(f'"{excerpt(name)}"' for name in sorted(courses)[:_SHOWN])
    whose += f" and {len(courses) - _SHOWN} more" if len(courses) > _SHOWN else ""
    if 2 * count > total:
        what = "the submission belongs" if total == 1 else f"{count} of {total} submissions belong"
        raise InputError(f"{what} to the course {whose}, so its file is needed: --course FILE; nothing was graded")
    if not quiet:
        print(
            f"{count} of {total} submissions belong to the course {whose} and cannot be graded without its file "
            "(--course FILE); the others are graded.",
            flush=True,
        )
