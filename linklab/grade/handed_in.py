# SPDX-License-Identifier: BSD-3-Clause
"""Arguments of `linklab grade` → the submissions that are meant, what is skipped and why, and what they say they are.

Names of files come from strangers and are shown as `linklab.base.text.visible` makes them.
"""

from __future__ import annotations

import contextlib
import errno
import glob
import os
import re
import stat
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import takewhile
from pathlib import Path

from linklab.base.claims import RUNNING
from linklab.base.text import visible
from linklab.errors import InputError, LinklabError, MissingError
from linklab.exercise.bundle import read_one
from linklab.exercise.course import Course, weighted
from linklab.exercise.instance import PRACTICE, parse_instance
from linklab.exercise.load import known_exercise, load_exercise
from linklab.exercise.model import Instance
from linklab.exercise.student_part import need_instructors_part
from linklab.grade.downloaded import is_moodle_folder, with_plain_folders

_MOST_PEEKED = 2**20
_OURS = (
    *("index.html", "grades.csv", "grades-moodle.csv", "grades-canvas.csv", "junit.xml", "summary.json", "lists.json"),
    *("feedback-moodle.zip", "logs", RUNNING),
)
"""What else lies in a folder of results."""
_OF_SYSTEMS = frozenset({".ds_store", "thumbs.db", "desktop.ini"})
"""Files that no person made, in small letters: not worth a word."""
_OF_ARCHIVERS = "__MACOSX"
_LINK = "a link, which is not followed: name the file itself"
_LINKED_FOLDER = "a link to a folder, which is not followed: name the folder itself"
_NO_FILE = "not a file"
DEEPEST = 32
"""Folders inside each other that are searched; platforms make three, and Python's own walk ends at a thousand."""


@dataclass(frozen=True)
class HandedIn:
    """A file that was handed in.

    path: where it was found; label: the same as it is named in reports; real: the same without links on the way.
    """

    path: Path
    label: str
    real: Path = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "real", Path(os.path.realpath(self.path)))

    def content(self, most: int) -> bytes:
        """At most so many bytes of the file, if it is still the one that was found: a student may have replaced it.

        Raises:
            OSError: it cannot be read, or something else has taken its place.
        """
        number = os.open(self.path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(number, "rb") as file:
            here = Path(f"/proc/self/fd/{number}").readlink()
            if here != self.real or not stat.S_ISREG(os.fstat(number).st_mode):
                raise OSError(errno.ESTALE, "something else has taken its place since it was found")
            return file.read(most)


STOPPED = "grading was stopped before its turn; grade it with --into"
STOPPED_AGAIN = "grading was stopped before its turn, and its earlier results stand; grade it with --into"


@dataclass(frozen=True)
class Skipped:
    """A file or folder that was found and is not graded; label: as in `HandedIn`; why: the reason, without a stop."""

    label: str
    why: str

    @property
    def waits(self) -> bool:
        """Whether it is still to be graded."""
        return self.why in (STOPPED, STOPPED_AGAIN)


def collect(arguments: Sequence[str]) -> tuple[list[HandedIn], list[Skipped]]:
    """The submissions that are meant, in order of their labels, and what is skipped.

    Args:
        arguments: files, folders (searched to the bottom for .zip files) and patterns such as "in/*.zip".

    Raises:
        InputError: nothing is there, or no submission in it.
    """
    found = _Found()
    meant = [each for argument in arguments for each in _expanded(argument)]
    downloads = all(_is_moodles_download(path) for path, _ in meant)
    # a shell's own patterns name links too: what a link leads to is known by its own name, where that is here
    for path, named in sorted(meant, key=lambda each: each[0].is_symlink()):
        if path.is_symlink() and not named:
            found.skip(path.parent, path, _LINKED_FOLDER if path.is_dir() else _LINK)
        elif path.is_dir():
            found.search(_plain(path), _plain(path) if len(meant) == 1 or downloads else _plain(path).parent)
        elif path.is_file():
            found.take(path, _label(path.parent, path))
        else:
            found.skip(path.parent, path, _NO_FILE)
    if not found.files:
        raise InputError(f"{', '.join(arguments)}: there is no .zip of a submission in it")
    labels = _told_apart(found.files)
    found.skipped += [Skipped(label, f"the same file as {labels[path]}") for label, path in found.again]
    submissions = [HandedIn(path, label) for path, label in labels.items()]
    submissions.sort(key=lambda each: (*in_order(each.label), str(each.path)))
    return submissions, sorted(found.skipped, key=lambda each: each.label)


def _plain(path: Path) -> Path:
    """The absolute path, without links where it goes upwards."""
    return path.resolve() if ".." in path.parts else path.absolute()


def _is_moodles_download(path: Path) -> bool:
    """Whether this is a folder of nothing but folders that Moodle named for students."""
    with contextlib.suppress(OSError):
        names = [each.name for each in path.iterdir() if each.is_dir() or each.suffix.casefold() == ".zip"]
        return bool(names) and all(map(is_moodle_folder, names))
    return False


def _told_apart(files: Mapping[Path, str]) -> dict[Path, str]:
    """File → label: of files that would be called alike, the path below the deepest folder that they share.

    So a label that a student's folders lengthen is that student's own.  Names that differ only in what cannot be shown
    are numbered.
    """
    labels = dict(files)
    before: dict[Path, str] = {}
    while labels != before:
        before = dict(labels)
        for alike in _alike(labels):
            folder = os.path.commonpath([path.parent for path in alike])
            for path in alike:
                labels[path] = max(labels[path], visible(path.relative_to(folder).as_posix(), keep=""), key=len)
    for alike in _alike(labels):
        for number, path in enumerate(sorted(alike)[1:], start=2):
            labels[path] += f" ({number})"
    return labels


def _alike(labels: Mapping[Path, str]) -> list[list[Path]]:
    """The files that have one label, where there are several."""
    groups: dict[str, list[Path]] = {}
    for path, label in labels.items():
        groups.setdefault(label, []).append(path)
    return [group for group in groups.values() if len(group) > 1]


def in_order(label: str) -> tuple[str, str]:
    """The key by which submissions are in order."""
    return label.casefold(), label


@dataclass
class _Found:
    """What has been found: file without links → label; where → what is skipped.

    again: other labels of files that have been found.
    """

    files: dict[Path, str] = field(default_factory=dict)
    seen: set[Path] = field(default_factory=set)
    again: list[tuple[str, Path]] = field(default_factory=list)
    skipped: list[Skipped] = field(default_factory=list)

    def search(self, folder: Path, above: Path) -> None:
        """A folder, to the bottom; labels are paths below `above`."""

        def unreadable(error: OSError) -> None:
            self.skip(above, Path(error.filename), f"cannot be read: {error.strerror}")

        for where, folders, names in os.walk(folder, onerror=unreadable):
            folders.sort()
            if len(Path(where).relative_to(folder).parts) == DEEPEST:
                for name in folders:
                    self.skip(above, Path(where, name), f"more than {DEEPEST} folders deep")
                folders.clear()
            for name in folders:
                if Path(where, name).is_symlink():
                    self.skip(above, Path(where, name), _LINKED_FOLDER)
            for path in (Path(where, name) for name in sorted(names)):
                if why := _no_submission(path, path.relative_to(folder)):
                    self.skip(above, path, why)
                elif path.name.casefold() not in _OF_SYSTEMS:
                    self.take(path, _label(above, path))

    def take(self, path: Path, label: str) -> None:
        """A file to be graded, once."""
        first = self.files.setdefault(path.resolve(), label)
        if first != label and path.absolute() not in self.seen:
            self.again.append((label, path.resolve()))
        self.seen.add(path.absolute())

    def skip(self, folder: Path, path: Path, why: str) -> None:
        """Something in a folder that is not graded."""
        if path.absolute() not in self.seen:
            self.skipped.append(Skipped(_label(folder, path), why))
        self.seen.add(path.absolute())


def _label(folder: Path, path: Path) -> str:
    """The path below a folder, or from that of a student on in which the folder lies."""
    above = folder.absolute().parts
    whose = next((place for place, name in enumerate(above) if is_moodle_folder(name)), len(above))
    return visible(Path(*above[whose:], path.relative_to(folder)).as_posix(), keep="")


def _no_submission(path: Path, inside: Path) -> str:
    """Why a file in a folder is not a submission; "" where it is, or is not worth a word."""
    if path.name.casefold() in _OF_SYSTEMS:
        return ""
    if _OF_ARCHIVERS in inside.parts:
        return "made by the program that packed the folder"
    if path.suffix.casefold() != ".zip":
        return "not a .zip"
    if any(part.startswith(".") for part in inside.parts):
        return "a hidden file"
    if path.is_symlink():  # of a student's perhaps, to another's file
        return _LINK
    return "" if path.is_file() else _NO_FILE


def _expanded(argument: str) -> list[tuple[Path, bool]]:
    """What an argument means, and whether it was named itself and not found by a pattern.

    In place of what a pattern finds behind a link stands the link.

    Raises:
        InputError: nothing is there, or folders are too deep inside each other for a pattern.
    """
    path = Path(argument)
    if path.exists():
        return [(path, True)]
    try:
        found = [Path(name) for name in glob.glob(argument, recursive=True)]  # noqa: PTH207 - may be absolute
    except RecursionError:
        raise InputError(
            f"{argument}: some folders are too deep inside each other for a pattern; name the folder itself, which is "
            f"searched {DEEPEST} folders deep"
        ) from None
    if not found:
        raise InputError(f"{argument}: there is no such file or folder")
    named = Path(*takewhile(lambda part: not set(part) & set("*?["), path.parts))
    return [(each, False) for each in dict.fromkeys(_up_to_link(each, named) for each in found)]


def _up_to_link(path: Path, named: Path) -> Path:
    """The first symbolic link between the named folder and a path, or the path itself if there is none."""
    way = [each for each in (*reversed(path.parents), path) if each not in (named, *named.parents)]
    return next((each for each in way if each.is_symlink()), path)


def courses_of(submissions: Sequence[HandedIn]) -> Counter[str]:
    """How many submissions say that they are of which course; those of the practice instance and rubbish are none."""
    return Counter(each.course for _, each in _instances(submissions) if each.signature != PRACTICE)


def not_here(submissions: Sequence[HandedIn]) -> dict[str, list[str]]:
    """Exercise that is not found → the labels of the submissions that are of it, so that they cannot be graded."""
    unknown: dict[str, list[str]] = {}
    for submission, each in _instances(submissions):
        try:
            known_exercise(each.exercise)
        except InputError:
            unknown.setdefault(each.exercise, []).append(submission.label)
    return unknown


def of_students_part(submissions: Sequence[HandedIn]) -> list[tuple[MissingError, list[str]]]:
    """Why an exercise cannot be graded of which only the students' part is here, with its submissions' labels."""
    labels: dict[str, list[str]] = {}
    for submission, each in _instances(submissions):
        labels.setdefault(each.exercise, []).append(submission.label)
    found = []
    for name in sorted(labels):
        try:
            need_instructors_part(load_exercise(known_exercise(name)), "grade it")
        except MissingError as error:
            found.append((error, labels[name]))
        except InputError:
            continue  # which the report of each submission says
    return found


def need_weights(submissions: Sequence[HandedIn], course: Course | None) -> None:
    """Say before anything is graded that the course gives points to a check that an exercise has not.

    Raises:
        InputError: it does.
    """
    for name in sorted({each.exercise for _, each in _instances(submissions)}):
        if course is not None and name in course.rules:
            try:
                exercise = load_exercise(known_exercise(name))
            except InputError:
                continue  # which the report of each submission says
            weighted(exercise, course)


def _instances(submissions: Sequence[HandedIn]) -> Iterator[tuple[HandedIn, Instance]]:
    """The instance of each submission that is not too large to be looked into beforehand."""
    for submission in submissions:
        with contextlib.suppress(LinklabError, OSError):
            data = submission.content(_MOST_PEEKED + 1)
            if len(data) <= _MOST_PEEKED:
                text = read_one(data, submission.path.name, "instance.json") or ""
                yield submission, parse_instance(text, "instance.json")


def folder_names(labels: Sequence[str], used: Sequence[str] = ()) -> list[str]:
    """A folder name for each submission: the file's, with its folders where several files are called the same.

    Args:
        labels: of the submissions.
        used: names that are not free.
    """
    stems = [label.rpartition("/")[2].rpartition(".")[0] or label for label in labels]
    names: list[str] = []
    taken = {name.casefold() for name in (*_OURS, *used)}
    for label, stem in zip(labels, stems, strict=True):
        whole = stem if stems.count(stem) == 1 else with_plain_folders(label.rpartition(".")[0])
        plain = re.sub(r"[^\w.@+-]+", "_", whole.replace("/", "-")).strip("._-")[:60] or "submission"
        free = (plain if number == 1 else f"{plain}-{number}" for number in range(1, len(labels) + len(used) + 3))
        name = next(each for each in free if each.casefold() not in taken)
        taken.add(name.casefold())
        names.append(name)
    return names
