# SPDX-License-Identifier: BSD-3-Clause
"""Submissions of a class → a folder of results: pages and results.json of each, grades, findings and an overview.

Each submission is a unit of its own (`linklab.grade.worker`), graded here or on a cluster; what is written follows from
the reports alone, so neither the number of jobs nor who finished first can be seen in it.
"""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

from linklab.base import owned
from linklab.base.files import write
from linklab.base.signals import TO_STOP, signals_wait
from linklab.base.text import shown_json, visible
from linklab.errors import LinklabError
from linklab.exercise.instance import Student
from linklab.exercise.places import search_path
from linklab.exercise.report import Report
from linklab.grade.class_lists import Lists
from linklab.grade.classfiles import canvas_csv, grades_csv, junit_xml, moodle_csv, moodle_feedback
from linklab.grade.cohort import Entry, Finding
from linklab.grade.datasets import write_data
from linklab.grade.findings import findings
from linklab.grade.handed_in import STOPPED, STOPPED_AGAIN, HandedIn, Skipped, in_order
from linklab.grade.html import draw, report_page
from linklab.grade.marking import Marking
from linklab.grade.marks import mark, tool_broke
from linklab.grade.overview import overview_page
from linklab.grade.results import results_text, scrubbed
from linklab.grade.results_folder import LISTS, OURS, Results, Spot, with_curves
from linklab.grade.whose import absent, nowhere, placed
from linklab.grade.worker import GRADE, MOST_BYTES, Done, Happenings, Unit, failed, run_here

OUT_OF_MEMORY = (
    "Memory ran out, and Linux ended processes of the grader while this was graded, perhaps of its networks: grade it "
    "again with --into when more is free, or with a higher limit where one is set."
)
DEADLINE_S = 3600.0
"""Wall-clock seconds for one submission, the last resort: what computes too long has ended by then."""


@dataclass(frozen=True)
class GradingSettings:
    """How a class is graded.

    course: content of the course file; jobs: how many at once on this machine; cluster: address of a scheduler, or "".
    options, grade: as in `linklab.grade.worker.Unit`.
    share: whether what is set to the same is measured once on this machine (`linklab.grade.shared`).
    roster: the students of the course, for submissions that do not prove whose they are, and for who handed in nothing.
    marking: what is added to the points of the checks.
    """

    course: bytes | None = None
    jobs: int = 1
    cluster: str = ""
    deadline_s: float = DEADLINE_S
    options: Mapping[str, Any] = field(default_factory=dict)
    grade: str = GRADE
    share: bool = False
    roster: Sequence[Student] = ()
    marking: Marking = field(default_factory=Marking)

    @property
    def lists(self) -> Lists:
        """What of this was given as a list."""
        return Lists(tuple(self.roster) or None, self.marking.given, self.marking.times)


@dataclass(frozen=True)
class Progress:
    """Something happened to the submission `index`: it was begun, or `entry` came of it.

    again: whether that does not count, and it is graded once more at the end.
    """

    index: int
    entry: Entry | None = None
    again: bool = False


@dataclass(frozen=True)
class Graded:
    """A class that was graded; entries as submitted, their reports without traces."""

    entries: Sequence[Entry]
    findings: Sequence[Finding]


# --- grading


_Units: TypeAlias = "Sequence[Callable[[], Unit | Report]]"


def grade_all(
    submissions: Sequence[HandedIn],
    settings: GradingSettings,
    out: Path,
    told: Callable[[Progress | None], None],
    left: Sequence[Skipped] = (),
    *,
    known: Results | None = None,
) -> Graded:
    """Grade all and write everything below `out`; where Ctrl+C or SIGTERM stops it, what was graded until then.

    Args:
        submissions: of `collect`.
        settings: how.
        out: a folder that is free, or that holds `known`.
        told: of every event, and None a few times a second; in the caller's thread.
        left: what the overview and the summary name as skipped.
        known: what was graded into the folder before; of it only what is submitted again, and reports whose
            adjustments are others now, are written anew.

    Raises:
        InputError: what was graded before cannot be read.
        MissingError: what the cluster needs is not there.
        OSError: a file cannot be written.
    """
    found = _Class(submissions, settings, out, left, known or Results(out))
    try:
        with contextlib.ExitStack() as stack:
            alone = [partial(_unit, each, settings) for each in submissions]
            units = alone
            if settings.share and not settings.cluster and len(submissions) > 1:
                shared = stack.enter_context(owned.temporary("linklab-shared-"))
                sharing = replace(settings, options={**settings.options, "shared": shared})
                units = [partial(_unit, each, sharing) for each in submissions]
            for event in stack.enter_context(contextlib.closing(_graded(units, alone, settings))):
                if event is None:
                    told(None)
                    continue
                index, done = event
                with signals_wait(*TO_STOP):  # else a folder may lack results, and `out` takes no more
                    entry = found.take(index, done) if done is not None else None
                told(Progress(index, entry, done is not None and done.again))
            with signals_wait(*TO_STOP):  # all of the files of the class, or none
                return found.finish()
    except BaseException:  # a signal, or an error such as a full disk: what was graded until then can be gone on with
        with signals_wait(*TO_STOP), contextlib.suppress(LinklabError, OSError):  # the first error says more
            if any(entry is not None for entry in found.entries):
                found.finish()
        raise


@dataclass
class _Class:
    """What came of each submission of a class, and its files below `out`, while it is graded."""

    submissions: Sequence[HandedIn]
    settings: GradingSettings
    out: Path
    left: Sequence[Skipped]
    before: Results

    def __post_init__(self) -> None:
        self.at_first = self.before.places(self.submissions)
        self.places = list(self.at_first)
        self.old = {entry.name: entry for entry in self.before.entries}
        self.entries: list[Entry | None] = [None] * len(self.submissions)
        self.logs = [""] * len(self.submissions)

    def take(self, index: int, done: Done) -> Entry:
        """Write what came of a submission, in place of what came of it before; not yet what is in doubt."""
        submission, places = self.submissions[index], self.places
        if done.again:
            self.logs[index] = done.log
            return Entry(places[index].name, places[index].label, done.report)
        report = _without_result(done.report, OUT_OF_MEMORY) if done.out_of_memory else done.report
        proven = Entry("", "", report).proven
        places[index] = self.before.beside(submission, self.at_first[index], proven, _without(places, index))
        name, label = places[index].name, places[index].label
        whose = placed(replace(report, source=label), label, self.settings.roster)
        old = self.old[name].report if name in self.old else None
        marked = self.settings.marking.applied(whose, label, old)
        if self.logs[index] != done.log:  # what it printed when it broke beside others is the only trace of that
            self.logs[index] += done.log
        report = _written(self.out, name, scrubbed(marked), self.logs[index])
        path = os.path.relpath(submission.path.absolute(), self.out.resolve())
        entry = self.entries[index] = Entry(name, label, replace(report, traces=()), path)
        self._note()
        return entry

    def _note(self) -> None:
        """Write what is needed to go on with what was graded until now, should this process be killed.

        The summary is written whole after each submission, so this takes longer the larger the class is.
        """
        whole, skipped = self._until_now(self.before.entries)
        write(self.out / LISTS, self.settings.lists.dumps())
        _write_summary(self.out, whole, self.settings.marking.doubts(whole, self.before.undated), skipped)

    def finish(self) -> Graded:
        """Write the files of the class; what has not had its turn is skipped, and nobody is missing because of that.

        So it is with what an earlier grading was stopped before.
        """
        new = {entry.name for entry in self.entries if entry is not None}
        again = [
            each if each.name in new else _marked_again(self.out, each, self.settings) for each in self.before.entries
        ]
        whole, skipped = self._until_now(again)
        doubts = self.settings.marking.doubts(whole, self.before.undated)
        roster = () if any(each.why == STOPPED for each in skipped) else self.settings.roster
        missing = absent(whole, roster)
        found = [*findings(whole), *doubts, *missing]
        write(self.out / LISTS, self.settings.lists.dumps())
        _write_class(self.out, whole, found, skipped, nowhere(whole, roster))
        return Graded(whole, found)

    def _until_now(self, before: Sequence[Entry]) -> tuple[list[Entry], list[Skipped]]:
        """What was graded until now, with what was graded before and is not graded again, and what was skipped."""
        new = [entry for entry in self.entries if entry is not None]
        names = {entry.name for entry in new}
        kept = [each for each in before if each.name not in names]
        whole = sorted([*kept, *new], key=lambda entry: in_order(entry.label)) if kept else new
        waiting = [place for place, entry in zip(self.places, self.entries, strict=True) if entry is None]
        told_of = {*(place.label for place in self.places), *(each.label for each in self.left)}
        stopped = [Skipped(each.label, STOPPED_AGAIN if each.name in self.old else STOPPED) for each in waiting]
        skipped = [*self.left, *stopped, *(each for each in self.before.skipped if each.label not in told_of)]
        return whole, skipped


def _marked_again(out: Path, entry: Entry, settings: GradingSettings) -> Entry:
    """What was graded before, with its student and adjustments as they are now; written where these are others."""
    whose = entry.report
    if settings.roster and whose.unproven:
        whose = placed(replace(whose, student="", name=""), entry.label, settings.roster)
    report = settings.marking.applied(whose, entry.label)
    if report == entry.report:
        return entry
    for file, text in _files(with_curves(scrubbed(report), out / entry.name)).items():
        write(out / entry.name / file, text)
    return replace(entry, report=scrubbed(report))


def _unit(submission: HandedIn, settings: GradingSettings) -> Unit | Report:
    try:
        content = submission.content(MOST_BYTES + 1)
    except OSError as error:
        return failed(f"the file cannot be read: {error.strerror}")
    course, options = settings.course, dict(settings.options)
    return Unit(
        submission.label, content, course, settings.deadline_s, options, settings.grade, exercises=search_path()
    )


def _graded(units: _Units, alone: _Units, settings: GradingSettings) -> Happenings:
    if settings.cluster:
        from linklab.grade.cluster import run_on_cluster  # noqa: PLC0415 - its library is an extra

        return run_on_cluster(units, settings.cluster, settings.options)
    return _twice_where_in_doubt(units, alone, settings.jobs)


def _twice_where_in_doubt(units: _Units, alone: _Units, at_once: int) -> Happenings:
    """As `run_here`, but what is in doubt is graded once more at the end, by itself and without the answers of others.

    That then counts.  What had neither company nor such answers is done twice only where memory ran out.

    The sandbox cannot limit everything that a program in it uses up: Linux counts some things for each user of the
    machine, and an ordinary user who grades has one for all networks.

    Args:
        units: what is graded.
        alone: the same, in the same order, without what the networks of others have answered.
        at_once: how many at once.
    """
    doubtful = []
    beside = at_once > 1 or units is not alone
    with contextlib.closing(run_here(units, at_once)) as events:
        for event in events:
            match event:
                case index, Done() as done if done.out_of_memory or (beside and _in_doubt(done)):
                    doubtful.append(index)
                    yield index, replace(done, again=True)
                case _:
                    yield event
    doubtful.sort()
    with contextlib.closing(run_here([alone[index] for index in doubtful], 1)) as events:
        for event in events:
            yield None if event is None else (doubtful[event[0]], event[1])


def _in_doubt(done: Done) -> bool:
    """Whether a tool of ours broke at it, or a network of it ended, perhaps by what ran beside it."""
    return tool_broke(done.report) or bool(done.report.stopped)


# --- writing


def _without(places: Sequence[Spot], index: int) -> list[Spot]:
    return [*places[:index], *places[index + 1 :]]


def _without_result(report: Report, why: str) -> Report:
    """An error of ours in place of what was found, with whose submission it is and of what."""
    known = {name: getattr(report, name) for name in _WHOSE}
    return replace(failed(why), **known)


_WHOSE = ("exercise", "heading", "student", "name", "course", "unproven", "claims", "packed_for")
"""What a report says of a submission before anything is graded."""


def _emptied(*folders: Path) -> None:
    for folder in folders:
        shutil.rmtree(folder, ignore_errors=True)


def _written(out: Path, name: str, report: Report, log: str) -> Report:
    """Write the files of one submission, and put them in the place of earlier ones; the report that they show."""
    new, old = out / f".{name}.new", out / f".{name}.old"
    _emptied(new, old)
    new.mkdir(parents=True)
    try:
        files = _files(replace(report, traces=write_data(report, new)))
    except Exception as error:  # a page that cannot be made must not cost the class its grades
        report = replace(failed(f"The report could not be made: {type(error).__name__}: {error}"), source=report.source)
        files = _files(report)
    try:
        for file, text in files.items():
            write(new / file, text)
    except OSError:  # such as a full disk
        _emptied(new)
        raise
    if (out / name).exists():
        (out / name).rename(old)
        for path in old.iterdir():
            if path.name not in OURS and not (new / path.name).exists():  # somebody's own notes
                path.rename(new / path.name)
    new.rename(out / name)
    _emptied(old)
    (out / "logs" / f"{name}.log").unlink(missing_ok=True)
    if log.strip():
        (out / "logs").mkdir(exist_ok=True)
        write(out / "logs" / f"{name}.log", visible(log))  # a message may quote what was handed in
    return report


def _files(report: Report) -> dict[str, str]:
    plots = draw(report)
    return {
        "results.json": results_text(report),
        "report.html": report_page(report, plots),
        "instructor.html": report_page(report, plots, instructor=True),
    }


def _write_class(
    out: Path, entries: Sequence[Entry], found: Sequence[Finding], left: Sequence[Skipped], missing: Sequence[Student]
) -> None:
    write(out / "grades.csv", f"\ufeff{grades_csv(entries, missing)}")  # Excel looks for the mark
    write(out / "grades-moodle.csv", moodle_csv(entries))
    write(out / "grades-canvas.csv", canvas_csv(entries))
    write(out / "junit.xml", junit_xml(entries))
    _write_summary(out, entries, found, left)
    pages = {entry.name: (out / entry.name / "report.html").read_text(encoding="utf-8") for entry in entries}
    if (feedback := moodle_feedback(entries, pages)) is not None:
        write(out / "feedback-moodle.zip", feedback)
    write(out / "index.html", overview_page(entries, found, left))


def _write_summary(out: Path, entries: Sequence[Entry], found: Sequence[Finding], left: Sequence[Skipped]) -> None:
    text = shown_json(summary(entries, found, left), indent=2, sort_keys=True)
    write(out / "summary.json", text + "\n")


def summary(entries: Sequence[Entry], found: Sequence[Finding], left: Sequence[Skipped] = ()) -> dict[str, Any]:
    """What summary.json holds: a line a submission, the findings, and what was skipped."""
    return {
        "submissions": [
            {
                "name": entry.name,
                "file": entry.label,
                "path": entry.path,
                "exercise": entry.report.exercise,
                "student": entry.student,
                "claims": entry.report.claims,
                "status": entry.report.status.value,
                "score": entry.report.score,
                "mark": mark(entry.report),
                "max_score": entry.report.max_score,
                "notes": list(entry.report.notes),
            }
            for entry in entries
        ],
        "findings": [
            {"kind": each.kind, "submissions": [entry.name for entry in each.entries], "says": each.says}
            for each in found
        ],
        "skipped": [{"file": each.label, "why": each.why} for each in left],
    }
