# SPDX-License-Identifier: BSD-3-Clause
"""A roster → the students of a course, and a sentence on which columns were taken.

As Moodle (Participants, Grades) and Canvas (Gradebook) export it, as a spreadsheet saves it, or one id a line. Nothing
is guessed: a table without a heading that is known is refused, since a wrong column draws wrong parameters. Format:
docs/grading.md, "The roster".
"""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from linklab.base.text import excerpt
from linklab.errors import InputError
from linklab.exercise.instance import STUDENT_ID, Student
from linklab.exercise.textfile import decode

IDS = (
    *("id number", "sis user id", "sis login id", "student id", "student number", "matriculation number"),
    *("id", "login", "username", "user", "email address", "email", "e-mail", "student"),
)
"""Headings of the id, the first that is there counts; Canvas's own "ID" stands after the school's."""
NAMES = ("full name", "name", "student name", "student")
_PARTS = (("first name", "last name"), ("first name", "surname"))
_CANVAS = ("Points Possible", "Student, Test")
"""First cells of lines in which Canvas's gradebook has no student: the points, and the student it makes for trying."""
_SHOWN = 6


@dataclass(frozen=True)
class Roster:
    """The students in order; said: what was taken for them."""

    students: tuple[Student, ...]
    said: str


def read_roster(path: Path) -> Roster:
    """The students of a roster: CSV with a heading, or one id a line.

    Raises:
        InputError: it cannot be read, has no column of ids, an id that is none, or one that is there twice.
    """
    rows = [
        (line, [cell.strip() for cell in row])
        for line, row in enumerate(_rows(_text(path), path), 1)
        if any(cell.strip() for cell in row)
    ]
    if not rows:
        raise InputError(f"{path}: there is no student in it")
    head = rows[0][1]
    known = [cell.casefold() for cell in head]
    at = next((known.index(word) for word in IDS if word in known), None)
    if at is None:
        if max(len(row) for _, row in rows) > 1:
            shown = ", ".join(f'"{excerpt(cell, 30)}"' for cell in head[:_SHOWN]) + (" …" if len(head) > _SHOWN else "")
            raise InputError(
                f"{path}: no column is headed as one of ids: the first line has {shown}. Head the column with the "
                'students\' ids "id" and the one with their names "name"'
            )
        _no_heading(path, [row[0] for _, row in rows])
        students = _students(path, rows, 0, ())
        return Roster(students, f"{_count(path, students)}, one id a line, from {students[0].id} to {students[-1].id}")
    names = _name_columns(known, at)
    students = _students(path, rows[1:], at, names)
    shown = " and ".join(f'"{head[column]}"' for column in names)
    named = f", names from {shown}" if names else ", no names"
    return Roster(students, f'{_count(path, students)}; ids from the column "{head[at]}"{named}')


def _count(path: Path, students: Sequence[Student]) -> str:
    return f"{path}: {len(students)} {'student' if len(students) == 1 else 'students'}"


def _text(path: Path) -> str:
    try:
        raw = path.read_bytes()
    except FileNotFoundError:
        raise InputError(f"{path}: there is no such file") from None
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from error
    if raw.startswith(b"PK\3\4"):
        raise InputError(f"{path}: is a spreadsheet or an archive, no text; save the roster as CSV")
    return decode(raw, path)


def _rows(text: str, path: Path) -> list[list[str]]:
    first = next((line for line in text.splitlines() if line.strip()), "")
    separator = max(",;\t", key=first.count)  # spreadsheets of half of Europe write ;
    try:
        return list(csv.reader(text.splitlines(), delimiter=separator))
    except csv.Error as error:
        raise InputError(f"{path}: no CSV: {error}; save the roster as CSV again") from error


def _no_heading(path: Path, ids: Sequence[str]) -> None:
    """InputError where the first line looks like a heading: a word, while each id has a digit."""
    first, *others = ids
    if len(others) > 1 and not re.search(r"\d", first) and all(re.search(r"\d", each) for each in others):
        raise InputError(
            f'{path}:1: "{excerpt(first)}" looks like a heading, which I do not know: '
            'write "id" there, or begin with an id'
        )


def _name_columns(known: Sequence[str], at: int) -> tuple[int, ...]:
    """The columns that a name is made of, after the one with the ids."""
    for parts in _PARTS:
        if all(part in known for part in parts):
            return tuple(known.index(part) for part in parts)
    return next(((known.index(word),) for word in NAMES if word in known and known.index(word) != at), ())


def _students(path: Path, body: Sequence[tuple[int, list[str]]], at: int, names: Sequence[int]) -> tuple[Student, ...]:
    found: dict[str, Student] = {}
    for line, row in body:
        if row[0] in _CANVAS:
            continue
        student = row[at] if at < len(row) else ""
        if not student:
            raise InputError(f"{path}:{line}: there is no id in this line")
        if not STUDENT_ID.fullmatch(student):
            wrong = f'{path}:{line}: "{excerpt(student)}" is no student\'s id'
            raise InputError(f"{wrong}: letters, digits and . _ @ + - are")
        if student in found:
            raise InputError(f'{path}:{line}: the id "{student}" is there twice')
        found[student] = Student(student, " ".join(row[column] for column in names if column < len(row)).strip())
    if not found:
        raise InputError(f"{path}: there is no student in it")
    return tuple(found.values())
