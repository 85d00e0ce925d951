# SPDX-License-Identifier: BSD-3-Clause
"""A folder of results → what was graded into it, so that some of it can be graded or marked again.

summary.json names the submissions, results.json of each holds its whole report, data/ its curves, and lists.json the
lists that were given.  These files are the instructor's own, so a file that does not hold what was written is an error
and no more.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from linklab.base.text import visible
from linklab.data import open_file
from linklab.errors import InputError
from linklab.exercise.report import Report, parse_report
from linklab.grade.class_lists import Lists, parse_lists
from linklab.grade.cohort import Entry
from linklab.grade.datasets import traces_of
from linklab.grade.downloaded import moodle_folder
from linklab.grade.handed_in import HandedIn, Skipped, folder_names
from linklab.grade.marking import NO_TIME

LISTS = "lists.json"
OURS = ("results.json", "report.html", "instructor.html", "data")
"""What grading writes into the folder of a submission."""


@dataclass(frozen=True)
class Spot:
    """Where the results of a submission go: the folder's name; label: what the submission is called."""

    name: str
    label: str


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

    def places(self, submissions: Sequence[HandedIn]) -> list[Spot]:
        """Where the results of each go: to those of the submission that was graded before, or to a new place."""
        taken: list[Spot] = []
        for each in submissions:
            names = {place.name for place in taken}
            known = next((entry for entry in self._same(each) if entry.name not in names), None)
            taken.append(Spot("", each.label) if known is None else Spot(known.name, known.label))
        new = [each for each, place in zip(submissions, taken, strict=True) if not place.name]
        labels = [place.label for place in taken if place.name]
        labels += [entry.label for entry in self.entries]
        free = iter(folder_names([each.label for each in new], self._used()))
        for index, each in enumerate(submissions):
            if not taken[index].name:
                taken[index] = Spot(next(free), _unlike(each, labels))
                labels.append(taken[index].label)
        return taken

    def beside(self, submission: HandedIn, place: Spot, student: str, taken: Sequence[Spot]) -> Spot:
        """Where a submission's results go once it is known whose it is proven to be.

        A student may have named the file as another's is: what is proven to be that other's is not replaced.

        Args:
            submission: that was graded.
            place: of `places`.
            student: whose it is, "" if nothing proves that.
            taken: of all other submissions of this run.
        """
        same = self._same(submission)
        names = [each.name for each in taken]
        for entry in same:
            if entry.proven == student and (entry.name == place.name or entry.name not in names):
                return Spot(entry.name, entry.label)
        there = next((entry for entry in same if entry.name == place.name), None)
        if there is None or not there.proven:
            return place
        label = _unlike(submission, [*(each.label for each in taken), *(entry.label for entry in self.entries)])
        return Spot(folder_names([label], [*names, *self._used()])[0], label)

    def _used(self) -> list[str]:
        """Names that no new folder of results may have: of those that are there, and of whatever else lies there.

        But for results that count for nothing, since grading was killed before they were noted.
        """
        found = []
        with contextlib.suppress(FileNotFoundError):
            found = [path.name for path in self.folder.iterdir() if not (path / OURS[0]).exists()]
        return [*found, *(entry.name for entry in self.entries)]

    def _same(self, submission: HandedIn) -> list[Entry]:
        """What was graded of the same file, or of one with the same label in a folder that Moodle names.

        All else of a path may be a student's choice: folders that are called as those of others are.
        """
        path = submission.path.absolute()
        if mine := [entry for entry in self.entries if self._file(entry) == path]:
            return mine
        if not moodle_folder(submission.label):
            return []
        return [entry for entry in self.entries if entry.label == submission.label]

    def _file(self, entry: Entry) -> Path | None:
        """What was graded, as far as that was noted."""
        return Path(os.path.normpath(self.folder.resolve() / entry.path)) if entry.path else None


def _unlike(submission: HandedIn, labels: Collection[str]) -> str:
    """Its label, with as many folders before it as it takes to tell it from these."""
    parts = submission.path.absolute().parts[1:]
    longer = (visible("/".join(parts[-count:]), keep="") for count in range(1, len(parts) + 1))
    candidates = [submission.label, *(each for each in longer if len(each) > len(submission.label))]
    return next((each for each in candidates if each not in labels), candidates[-1])


def stored(folder: Path) -> Results:
    """What was graded into a folder; results that a grading was killed while it replaced are put back.

    Raises:
        InputError: it holds no results, or not as this version writes them.
    """
    _recover(folder)
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


def _recover(folder: Path) -> None:
    """Put back results that have been moved aside (`.NAME.old`) and whose place nothing has taken.

    Somebody's own notes may have gone to the new ones (`.NAME.new`) already.
    """
    for old in folder.glob(".*.old"):
        name = old.name.removeprefix(".").removesuffix(".old")
        if (folder / name).exists():
            continue
        for path in (folder / f".{name}.new").glob("*"):
            if path.name not in OURS:
                path.rename(old / path.name)
        old.rename(folder / name)


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
