# SPDX-License-Identifier: BSD-3-Clause
"""A folder of results → what was graded into it, so that some of it can be graded or marked again.

summary.json names the submissions, results.json of each holds its whole report, data/ its curves, and lists.json the
lists that were given.  These files are the instructor's own, so a file that does not hold what was written is an error
and no more.
"""

from __future__ import annotations

import json
import os
from collections.abc import Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePath
from typing import Any

from linklab.data import open_file
from linklab.errors import InputError
from linklab.exercise.report import Report, parse_report
from linklab.grade.class_lists import Lists, parse_lists
from linklab.grade.cohort import Entry
from linklab.grade.datasets import traces_of
from linklab.grade.handed_in import HandedIn, Skipped, folder_names, is_moodles
from linklab.grade.marking import NO_TIME

LISTS = "lists.json"


@dataclass(frozen=True)
class Results:
    """What a folder holds.

    entries: in its order, without curves; skipped: what was; lists: those that it was graded with.
    undated: names of entries of which nothing says when they were handed in, though there is a deadline.
    """

    folder: Path
    entries: Sequence[Entry] = ()
    skipped: Sequence[Skipped] = ()
    lists: Lists = field(default_factory=Lists)
    undated: frozenset[str] = frozenset()

    def named(self, submissions: Sequence[HandedIn]) -> list[str]:
        """The name of each submission's folder: that of the one which was graded before, or a free one.

        A file is known by the end of its path: the label under which it was graded, and of several the longest.

        Raises:
            InputError: two of them would replace the same results.
        """
        known = [self._known(each) for each in submissions]
        for place, entry in enumerate(known):
            if entry is not None and entry in known[:place]:
                first = submissions[known.index(entry)]
                raise InputError(
                    f"{first.path} and {submissions[place].path} would both replace the results of {entry.label}; "
                    "grade one of them"
                )
        new = [each.label for each, entry in zip(submissions, known, strict=True) if entry is None]
        free = iter(folder_names(new, [entry.name for entry in self.entries]))
        return [entry.name if entry is not None else next(free) for entry in known]

    def label(self, submission: HandedIn) -> str:
        """What a submission is called: as when it was graded before, else as now."""
        known = self._known(submission)
        if known is not None:
            return known.label
        if submission.label in {entry.label for entry in self.entries}:
            return "/".join(submission.path.absolute().parts[1:][-2:])
        return submission.label

    def beside(self, submission: HandedIn, name: str, student: str, taken: Sequence[str]) -> tuple[str, str]:
        """Where a submission's results go once it is known whose it is, and what it is called.

        A student may have named the file as another's is: what is proven to be that other's is not replaced.

        Args:
            submission: that was graded.
            name: of `named`.
            student: whose it is, "" if that is not known.
            taken: names of folders that other submissions of this run have.
        """
        fitting = {entry.name: entry for entry in self._fitting(submission)}
        there = fitting.get(name)
        if there is None or there.report.unproven or not there.student or there.student == student:
            return name, self.label(submission)
        for entry in fitting.values():
            if student and entry.student == student and entry.name not in taken:
                return entry.name, entry.label
        return folder_names([submission.label], [*taken, *(entry.name for entry in self.entries)])[0], submission.label

    def _known(self, submission: HandedIn) -> Entry | None:
        return max(self._fitting(submission), key=lambda entry: len(entry.label), default=None)

    def _fitting(self, submission: HandedIn) -> list[Entry]:
        """The submission whose file it is, or those whose label is the end of its path.

        But not if folders before that end are another student's, who may have made folders below that are called as
        those of others are. Nor if a label without a folder is of a file that is still there.
        """
        path = submission.path.absolute()
        if mine := [entry for entry in self.entries if self._file(entry) == path]:
            return mine
        theirs = {PurePath(entry.label).parts[0] for entry in self.entries if "/" in entry.label}
        return [
            entry
            for entry in self.entries
            if f"/{path.as_posix()}".endswith(f"/{entry.label}")
            and not _is_below(path, PurePath(entry.label), theirs)
            and ("/" in entry.label or (file := self._file(entry)) is None or not _is_there(file))
        ]

    def _file(self, entry: Entry) -> Path | None:
        """What was graded, as far as that was noted."""
        return Path(os.path.normpath(self.folder.absolute() / entry.path)) if entry.path else None


def _is_below(path: Path, end: PurePath, theirs: Collection[str]) -> bool:
    """Whether the path lies in another student's folder, so that its end does not say whose it is.

    theirs: folders that are students', by what was graded before.
    """
    before = path.parents[len(end.parts) - 1]
    if "/" not in end.as_posix():
        return False
    return before.name in theirs or any(map(is_moodles, before.parts)) or _is_there(before.parent / end)


def _is_there(path: Path) -> bool:
    with suppress(OSError):  # of a folder that only another user may enter
        return path.is_file()
    return False


def stored(folder: Path) -> Results:
    """What was graded into a folder.

    Raises:
        InputError: it holds no results, or not as this version writes them.
    """
    summary = _json(folder / "summary.json")
    try:
        entries = [
            Entry(each["name"], each["file"], _report(folder / each["name"]), each.get("path", ""))
            for each in summary["submissions"]
        ]
        skipped = [Skipped(each["file"], each["why"]) for each in summary["skipped"]]
        undated = {name for each in summary["findings"] if each["kind"] == NO_TIME for name in each["submissions"]}
    except (KeyError, TypeError) as error:
        raise InputError(f"{folder}/summary.json: is not as linklab grade writes it: {error}") from error
    return Results(folder, entries, skipped, _lists(folder / LISTS), frozenset(undated))


def _lists(path: Path) -> Lists:
    """The lists of a file; none where it is not there, as an older version left it out."""
    if not path.exists():
        return Lists()
    try:
        return parse_lists(_json(path))
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(f"{path}: is not as linklab grade writes it: {error}; give the lists again") from error


def with_curves(report: Report, folder: Path) -> Report:
    """The report of a submission's folder with its curves, in the order in which they were measured.

    Raises:
        InputError: a file of them cannot be read.
    """
    order = list(report.experiments)

    def place(path: Path) -> tuple[int, int]:
        experiment, _, seed = path.name.removesuffix(".flent.gz").rpartition("-seed")
        return (order.index(experiment) if experiment in order else len(order), int(seed) if seed.isdecimal() else 0)

    paths = sorted(folder.glob("data/*-seed*.flent.gz"), key=place)
    return replace(report, traces=traces_of(map(open_file, paths)))


def _report(folder: Path) -> Report:
    path = folder / "results.json"
    try:
        return parse_report(_json(path)["extra_data"])
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(f"{path}: holds no report as this version writes it: {error}; grade it again") from error


def _json(path: Path) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise InputError(f"{path}: there is no such file; --into takes a folder that linklab grade wrote") from None
    except (OSError, ValueError) as error:
        raise InputError(f"{path}: cannot be read: {error}") from error
