# SPDX-License-Identifier: BSD-3-Clause
"""`linklab grade`: grade what a class handed in, with progress; a table, and a folder of pages and grades."""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from linklab.base import claims
from linklab.base.processes import processors
from linklab.commands.console import make_console, plain
from linklab.commands.interrupt import says_what_is_left
from linklab.commands.options import add_exercises_option, add_id_column_option, seed, warn_of_readers
from linklab.errors import InputError
from linklab.exercise.instance import parse_course
from linklab.exercise.places import HOW, course_places, searching
from linklab.exercise.report import Status
from linklab.exercise.roster import read_roster
from linklab.grade.classfiles import STATUS
from linklab.grade.cohort import Entry
from linklab.grade.grading import (
    DEADLINE_S,
    Graded,
    GradingSettings,
    Progress,
    grade_all,
    summary,
)
from linklab.grade.handed_in import HandedIn, Skipped, collect, courses_of, need_all_gradable, not_here
from linklab.grade.results import points, tool_broke
from linklab.grade.worker import grading_engine
from linklab.judge.verdict import Outcome
from linklab.terminal.screen import ends_orderly
from linklab.units import parse_time_s

if TYPE_CHECKING:
    from linklab.commands import Subparsers

TRUST = "--unsandboxed-i-trust-these"
QUIET_S = 20.0
"""Wall-clock seconds without a line, where the output is no terminal, after which one says what runs."""

MOST_SKIPPED = 10
"""Files that are named on the console."""

_EPILOG = f"""examples:
  linklab grade exercise3-s1234.zip                       one submission of a practice instance
  linklab grade handed-in/ --course networks.toml         all .zip files in a folder, as Moodle or Canvas gave them
  linklab grade "in/*.zip" --course c.toml --out week5 --jobs 1
  linklab grade in/ --course c.toml --cluster tcp://10.0.0.5:8786

The folder holds index.html for you, a folder for each submission with report.html for its student, instructor.html
for you and results.json for Gradescope, and grades.csv, grades-canvas.csv, junit.xml and summary.json.

Submissions run in a sandbox. Where it cannot be had, grading refuses and says why; {TRUST}
grades without one, with your rights: for your own files only.

Exits with 0 if everything was graded, 1 if something could not be; other codes as in linklab --help.
"""

_STYLES = {Status.GRADED: "", Status.UNGRADABLE: "yellow", Status.ERROR: "magenta bold"}


def add_parser(subparsers: Subparsers, summary: str) -> argparse.ArgumentParser:
    """Add `grade SUBMISSIONS…` with its options."""
    parser = subparsers.add_parser(
        "grade",
        help=summary,
        description="Build each student's network again, measure it with the grader's traffic, and judge.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("submissions", metavar="SUBMISSION", nargs="+", help='a .zip, a folder of them, or "in/*.zip"')
    parser.add_argument("--course", metavar="FILE", type=Path, help="the course file that the instances came from")
    parser.add_argument(
        "--roster", metavar="FILE", type=Path, help="the students, for labs: whom the files' names speak of"
    )
    add_id_column_option(parser)
    parser.add_argument("--out", metavar="DIR", type=Path, help="folder of the results (default: grades, a new one)")
    parser.add_argument(
        "--jobs", type=int, metavar="N", help=f"how many at once (default and most here: {processors()})"
    )
    parser.add_argument(
        "--seeds", type=_seeds, metavar="N,N,…", help="seeds of the runs that are measured (default: the grader's)"
    )
    parser.add_argument(
        "--deadline", type=_time, default=DEADLINE_S, metavar="TIME", help=f"for each (default: {DEADLINE_S:g}s)"
    )
    parser.add_argument(
        "--cluster", metavar="ADDRESS", default="", help="scheduler of a Dask cluster that does the work"
    )
    parser.add_argument(TRUST, dest="trusted", action="store_true", help="no sandbox; never for what others wrote")
    parser.add_argument("--json", action="store_true", help="print what came of each as JSON and nothing else")
    add_exercises_option(parser)
    return parser


def _seeds(text: str) -> tuple[int, ...]:
    return tuple(seed(part.strip()) for part in text.split(","))


def _time(text: str) -> float:
    try:
        return parse_time_s(text)
    except InputError as error:
        raise argparse.ArgumentTypeError(str(error)) from error


def run(args: argparse.Namespace) -> int:
    """Grade all; 0 if each was graded, else 1."""
    with ends_orderly(), searching([*args.exercises, *(course_places(args.course) if args.course else [])]):
        return _run(args)


def _run(args: argparse.Namespace) -> int:
    if args.jobs is not None and args.jobs < 1:
        raise InputError(f"--jobs {args.jobs}; at least one submission is graded at a time")
    submissions, left = collect(args.submissions)
    _exercises_wanted(submissions, quiet=args.json)
    need_all_gradable(submissions)
    course = _course(args.course)
    if args.id_column and not args.roster:
        raise InputError("--id-column goes with --roster: it names a column of that file")
    roster = read_roster(args.roster, args.id_column) if args.roster else None
    if roster and not args.json:
        print(roster.said, flush=True)
    if course is None:
        _courses_wanted(submissions, quiet=args.json)
    if not args.cluster:
        grading_engine(sandboxed=not args.trusted).check()
    settings = GradingSettings(
        course=course,
        jobs=min(args.jobs or processors(), processors(), len(submissions)),
        cluster=args.cluster,
        deadline_s=args.deadline,
        roster=roster.students if roster else (),
        options={"sandboxed": not args.trusted} | ({"seeds": args.seeds} if args.seeds else {}),
    )
    started = time.perf_counter()
    view = _View(submissions, quiet=args.json)
    wanted = [args.out] if args.out else [Path("grades"), *(Path(f"grades-{number}") for number in range(2, 1000))]
    with claims.held(wanted) as out, says_what_is_left(out), view:
        graded = grade_all(submissions, settings, out, view.changed, left)
    if args.json:
        data = {"out": str(out), **summary(graded.entries, graded.findings, left)}
        print(json.dumps(data, indent=2, ensure_ascii=False))
    view.end(graded, out, time.perf_counter() - started, left)
    return 0 if all(_whole(entry) for entry in graded.entries) else 1


def _whole(entry: Entry) -> bool:
    return entry.report.status is Status.GRADED and not tool_broke(entry.report)


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
    count, total = sum(unknown.values()), len(submissions)
    which = " and ".join(sorted(unknown))
    if 2 * count > total:
        what = "the submission is" if total == 1 else f"{count} of {total} submissions are"
        raise InputError(f"{what} of {which}, which is not here, so nothing was graded; {HOW}")
    if not quiet:
        print(f"{count} of {total} submissions are of {which}, which is not here; {HOW}. The others are graded.")


def _courses_wanted(submissions: Sequence[HandedIn], *, quiet: bool) -> None:
    """Say once, before anything is graded, that a course file is missing.

    Raises:
        InputError: without it most of them cannot be graded.
    """
    courses = courses_of(submissions)
    if not courses:
        return
    count, total = sum(courses.values()), len(submissions)
    whose = " and ".join(f'"{name}"' for name in sorted(courses))
    if 2 * count > total:
        what = "the submission belongs" if total == 1 else f"{count} of {total} submissions belong"
        raise InputError(f"{what} to the course {whose}, so its file is needed: --course FILE; nothing was graded")
    if not quiet:
        print(
            f"{count} of {total} submissions belong to the course {whose} and cannot be graded without its file "
            "(--course FILE); the others are graded.",
            flush=True,
        )


class _View:
    """How far the class is: a bar and what is under way.

    On something that is no terminal a line a submission, and where nothing was done for a while, a line that says so.
    """

    def __init__(self, submissions: Sequence[HandedIn], *, quiet: bool) -> None:
        self.submissions = submissions
        self.console = make_console(quiet=quiet)
        self.running: dict[int, float] = {}
        self.entries: list[Entry] = []
        self.started = time.perf_counter()
        self.told = self.started
        self.live = Live(console=self.console, auto_refresh=False, transient=True)

    def __enter__(self) -> _View:
        if self.console.is_terminal:
            self.live.start()
        elif len(self.submissions) > 1:
            self.console.print(f"Grading {len(self.submissions)} submissions", soft_wrap=True)
        return self

    def __exit__(self, *_error: object) -> None:
        self.live.stop()

    def changed(self, event: Progress | None) -> None:
        """Take in what happened."""
        if event is not None and event.entry is None:
            self.running[event.index] = time.perf_counter()
        elif event is not None and event.entry is not None:
            self.running.pop(event.index, None)
            self.entries.append(event.entry)
        if self.console.is_terminal:
            self.live.update(self._now(), refresh=True)
        elif event is not None and event.entry is not None:
            line = f"{self._count()} {event.entry.label}: {_outcome(event.entry)}"
            self._line(plain(line, style=_STYLES[event.entry.report.status]))
        elif time.perf_counter() - self.told > QUIET_S:
            self._line(plain(f"{self._count()} running: {', '.join(self._names())}"))

    def _line(self, text: Text) -> None:
        self.console.print(text, soft_wrap=True)
        self.told = time.perf_counter()

    def _count(self) -> str:
        """How many are done, how many run, and since when."""
        done, spent = len(self.entries), time.perf_counter() - self.started
        return f"[{done}/{len(self.submissions)} done, {len(self.running)} running, {spent:.0f} s]"

    def _names(self) -> list[str]:
        now = time.perf_counter()
        return [f"{self.submissions[index].label} ({now - since:.0f} s)" for index, since in self.running.items()]

    def _now(self) -> Table:
        count, total = len(self.entries), len(self.submissions)
        spent = time.perf_counter() - self.started
        ahead = f", about {spent / count * (total - count):.0f} s to go" if 2 < count < total else ""
        grid = Table.grid(padding=(0, 1))
        grid.add_row("Grading", ProgressBar(total, count, width=30), f"{count}/{total} in {spent:.0f} s{ahead}")
        running = plain(", ".join(self._names()), style="dim")
        running.overflow, running.no_wrap = "ellipsis", True
        table = Table.grid()
        table.add_row(grid)
        table.add_row(running)
        return table

    def end(self, graded: Graded, out: Path, wall_s: float, left: Sequence[Skipped]) -> None:
        """The table as it stays, what needs a look, the sum."""
        table = Table(header_style="bold")
        for name in ("Student", "Submission", "Exercise"):
            table.add_column(name, overflow="fold")
        table.add_column("Points", justify="right", no_wrap=True)
        table.add_column("Not met", ratio=1, overflow="fold")
        for entry in graded.entries:
            report = entry.report
            mark = f"{points(report.score)} / {points(report.max_score)}" if report.status is Status.GRADED else "–"
            cells = (entry.person, entry.name, report.heading.partition(":")[0], mark, _missed(entry))
            table.add_row(*(plain(cell, style=_STYLES[report.status]) for cell in cells))
        self.console.print(table)
        for finding in graded.findings:
            who = ", ".join(entry.name for entry in finding.entries)
            self.console.print(plain(f"To look at: {who}: {finding.says}", style="yellow"), soft_wrap=True)
        if left:
            some = ", ".join(f"{each.label} ({each.why})" for each in left[:MOST_SKIPPED])
            more = f", and {len(left) - MOST_SKIPPED} more, which index.html names" if len(left) > MOST_SKIPPED else ""
            self.console.print(plain(f"Skipped: {some}{more}"), soft_wrap=True)
        done = sum(_whole(entry) for entry in graded.entries)
        self.console.print(
            plain(f"{done} of {len(graded.entries)} graded in {wall_s:.0f} s. Overview: {out / 'index.html'}"),
            soft_wrap=True,
        )


def _outcome(entry: Entry) -> str:
    report = entry.report
    if report.status is Status.GRADED:
        broke = ", and a check at which our tool broke" if tool_broke(report) else ""
        return f"{points(report.score)} of {points(report.max_score)} points{broke}"
    return f"{STATUS[report.status]}: {' '.join(report.notes)}"


def _missed(entry: Entry) -> str:
    report = entry.report
    if report.status is not Status.GRADED:
        return f"{STATUS[report.status]}: {' '.join(report.notes)}"
    bad = (Outcome.FAIL, Outcome.PARTIAL, Outcome.ERROR)
    return ", ".join(check.id for check in report.checks if check.outcome in bad)
