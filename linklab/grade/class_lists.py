# SPDX-License-Identifier: BSD-3-Clause
"""Lists of a class that go with its submissions → points given by hand, and when was handed in what.

Both are CSV with a heading, as a spreadsheet or a platform writes it.  Format: docs/course-rules.md.
What was given is kept as JSON beside the results, so that grading some of them again needs no list again.
"""

from __future__ import annotations

import datetime as dt
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from linklab.base.text import csv_cell, excerpt
from linklab.errors import InputError
from linklab.exercise.course import moment
from linklab.exercise.instance import Student
from linklab.exercise.roster import IDS
from linklab.exercise.textfile import csv_lines

_POINTS = re.compile(r"[+-]?\d{1,6}([.,]\d{1,4})?", re.ASCII)
_EXERCISE = re.compile(r"(exercise|problem|lab|p|)\s*0*(\d{1,4})", re.ASCII)
_KINDS = {"": "exercise", "p": "problem"}
_TIMES = ("time", "handed in", "submission time", "submission_timestamp", "last modified (submission)")
_OFFSET = re.compile(r"\s*(UTC|Z|[+-]\d\d:?\d\d)$", re.ASCII)
_MOODLE = ("%A, %d %B %Y, %I:%M %p", "%A, %d %B %Y, %H:%M")
"""How Moodle's grading worksheet in English says a time (string `strftimedaydatetime` of its langconfig.php)."""


@dataclass(frozen=True)
class PointsGiven:
    """Points that the instructor gives one student in one exercise; where: the file and line that say so."""

    student: str
    exercise: str
    points: float
    reason: str
    where: str

    def is_of(self, student: str, exercise: str) -> bool:
        """Whether they are that student's in that exercise."""
        return (self.student, self.exercise) == (student, exercise)


@dataclass(frozen=True)
class Times:
    """When was handed in what: (file, student, exercise), each "" where the line does not say it → ISO 8601."""

    known: Mapping[tuple[str, str, str], str]

    def of(self, label: str, student: str, exercise: str) -> str:
        """The time of a submission: of its file, else of its student's exercise, else of its student; or ""."""
        # not the end of it alone, which a student may name as another's file; the second is what grades.csv shows
        keys = [(label, "", ""), (csv_cell(label), "", "")]
        if student:
            keys += [("", student, exercise), ("", student, "")]
        return next((self.known[key] for key in keys if key in self.known), "")


@dataclass(frozen=True)
class Lists:
    """The lists that a class was graded with: its roster, points by hand, and times; None where one was not given."""

    roster: tuple[Student, ...] | None = None
    points: tuple[PointsGiven, ...] | None = None
    times: Times | None = None

    def else_of(self, before: Lists) -> Lists:
        """These, and of those that were not given the ones from before."""
        return Lists(
            before.roster if self.roster is None else self.roster,
            before.points if self.points is None else self.points,
            before.times if self.times is None else self.times,
        )

    def dumps(self) -> str:
        """JSON text; the same lists give the same bytes."""
        data = {
            "roster": None if self.roster is None else [asdict(each) for each in self.roster],
            "points": None if self.points is None else [asdict(each) for each in self.points],
            "times": None if self.times is None else [[*key, time] for key, time in self.times.known.items()],
        }
        return json.dumps(data, indent=2, ensure_ascii=False) + "\n"


def parse_lists(data: Mapping[str, Any]) -> Lists:
    """The lists of the table that `Lists.dumps` writes.

    Raises:
        KeyError, TypeError, ValueError: the table is not one of these.
    """
    roster, points, times = data["roster"], data["points"], data["times"]
    return Lists(
        None if roster is None else tuple(Student(**each) for each in roster),
        None if points is None else tuple(PointsGiven(**each) for each in points),
        None if times is None else Times({(file, who, what): time for file, who, what, time in times}),
    )


def read_points(path: Path) -> tuple[PointsGiven, ...]:
    """The points of a file with the columns id, exercise, points, and reason; several lines of a student add up.

    Raises:
        InputError: it cannot be read, or a line is not such.
    """
    found = []
    for where, row in _rows(path, {"id": IDS, "exercise": ("exercise",), "points": ("points",), "reason": ("reason",)}):
        text, reason = row["points"], row["reason"]
        if not row["id"]:
            raise InputError(f"{where}: there is no student's id in this line")
        if not _POINTS.fullmatch(text):
            raise InputError(f'{where}: points must be a number such as 2, -1.5, or 0.25, not "{excerpt(text)}"')
        if not reason:
            raise InputError(f"{where}: there is no reason; the student reads it beside the points, so write one")
        found.append(
            PointsGiven(row["id"], exercise_named(row["exercise"], where), float(text.replace(",", ".")), reason, where)
        )
    return tuple(found)


def read_times(path: Path, zone: dt.tzinfo | None) -> Times:
    """The times of a file with the columns id or file, perhaps exercise, and time.

    Args:
        path: the file: one's own, Moodle's grading worksheet, or what Gradescope or GitHub Classroom exports.
        zone: of times that name no offset; None where the course has none.

    Raises:
        InputError: it cannot be read, a time is none, or two lines say when the same was handed in.
    """
    known: dict[tuple[str, str, str], str] = {}
    columns = {"id": (*IDS, "sid", "roster_identifier"), "file": ("file",), "exercise": ("exercise",), "time": _TIMES}
    for where, row in _rows(path, columns, optional=("id", "file", "exercise")):
        text = row["time"]
        if text in ("", "-"):  # of those who handed in nothing
            continue
        if row["file"]:
            key = (row["file"], "", "")
        elif row["id"]:
            key = ("", row["id"], exercise_named(row["exercise"], where) if row["exercise"] else "")
        else:
            raise InputError(f"{where}: neither an id nor a file says whose time this is")
        if key in known:
            raise InputError(f"{where}: when this was handed in is said twice; leave one of the two lines")
        known[key] = _time(text, zone, where)
    return Times(known)


def _rows(
    path: Path, columns: Mapping[str, Sequence[str]], optional: Sequence[str] = ()
) -> Iterator[tuple[str, dict[str, str]]]:
    """(place, cells by name) of each line; a column is found by the first of its headings that is there."""
    lines = csv_lines(path)
    head = [" ".join(cell.casefold().split()) for cell in lines[0][1]] if lines else []
    at = {name: next((head.index(each) for each in known if each in head), None) for name, known in columns.items()}
    lacking = [name for name, place in at.items() if place is None and name not in optional]
    if lacking:
        shown = ", ".join(f'"{excerpt(cell, 30)}"' for cell in head[:6]) or "nothing"
        raise InputError(
            f'{path}: there is no column "{lacking[0]}"; the first line must name {", ".join(columns)}, and has {shown}'
        )
    for number, cells in lines[1:]:
        yield (
            f"{path}:{number}",
            {name: cells[place] if place is not None and place < len(cells) else "" for name, place in at.items()},
        )


def exercise_named(text: str, where: str) -> str:
    """The id of an exercise, a problem, or a lab as it is typed: "3", "exercise3", "p1", "Lab 5".

    Raises:
        InputError: the text names no exercise, problem, or lab; the message begins with `where`.
    """
    found = _EXERCISE.fullmatch(text.casefold().strip())
    if found is None:
        raise InputError(f'{where}: "{excerpt(text)}" is no exercise; write one such as exercise3, problem1, or lab5')
    return f"{_KINDS.get(found[1], found[1])}{found[2]}"


def _time(text: str, zone: dt.tzinfo | None, where: str) -> str:
    """ISO 8601 with an offset."""
    for form in _MOODLE:
        try:
            text = dt.datetime.strptime(text, form).isoformat()
        except ValueError:
            continue
    plain = _OFFSET.sub(lambda found: "+00:00" if found[1] in ("UTC", "Z") else _colon(found[1]), text)
    try:
        return moment(plain, zone).isoformat()
    except ValueError as error:
        raise InputError(
            f'{where}: "{excerpt(text)}" is no time: {error}; write one such as 2026-11-20 23:59:00+01:00'
        ) from None


def _colon(offset: str) -> str:
    return offset if ":" in offset else f"{offset[:3]}:{offset[3:]}"
