# SPDX-License-Identifier: BSD-3-Clause
"""A roster → the students of a course, and a sentence on which columns were taken.

As Moodle (Participants, Grades) and Canvas (Gradebook) export it, as a spreadsheet saves it, or one id a line. Nothing
is guessed: a table without a heading that is known is refused, since a wrong column draws wrong parameters. Format:
docs/grading.md, "The roster".
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from linklab.base.text import excerpt, visible
from linklab.errors import InputError
from linklab.exercise.course import STUDENT_ID
from linklab.exercise.instance import Student
from linklab.exercise.textfile import csv_lines

_MOODLE_NUMBERS = (
    *("id number", "id-nummer", "numéro d'identification", "número de id", "número id", "codice identificativo"),
    *("numero id", "número de identificação", "número de identificación", "numer id", "număr identificator", "id 号"),
)
_MOODLE_ADDRESSES = (
    *("email address", "e-mail-adresse", "adresse de courriel", "dirección de correo", "dirección email"),
    *("indirizzo email", "endereço de email", "endereço de e-mail", "e-mailadres", "adres e-mail", "e-postadress"),
)
IDS = (
    *(*_MOODLE_NUMBERS, "sis user id", "sis login id", "student id", "student number"),
    *("matriculation number", "matrikelnummer", "numéro d'étudiant", "id", "login", "username", "anmeldename", "user"),
    *(*_MOODLE_ADDRESSES, "email", "e-mail", "student"),
)
"""Headings of the id, the first that is there counts; Canvas's own "ID" stands after the school's.

Moodle exports with headings in the person's language (strings `idnumber` and `email` of its lang/*/moodle.php).
"""
NAMES = ("full name", "name", "student name", "student")
_PARTS = (
    *(("first name", "last name"), ("first name", "surname"), ("firstname", "lastname"), ("vorname", "nachname")),
    *(("prénom", "nom de famille"), ("prénom", "nom"), ("nombre", "apellido(s)"), ("nombre", "apellidos")),
    *(("nome", "cognome"), ("nome", "sobrenome"), ("nome", "apelido"), ("voornaam", "achternaam")),
    *(("imię", "nazwisko"), ("förnamn", "efternamn"), ("prenume", "nume"), ("nom", "cognoms")),
)
_CANVAS = ("Points Possible", "Student, Test")
"""First cells of lines in which Canvas's gradebook has no student: the points, and the student it makes for trying."""
_CANVAS_POSTING = "Manual Posting"
"""In a line of its own that Canvas does not translate (lib/gradebook_exporter.rb, hidden_assignment_text)."""
_SHOWN = 6


@dataclass(frozen=True)
class Roster:
    """The students in order; said: what was taken for them."""

    students: tuple[Student, ...]
    said: str


def read_roster(path: Path, id_column: str = "") -> Roster:
    """The students of a roster: CSV with a heading, or one id a line.

    Args:
        path: the file.
        id_column: the heading of the column with the ids, in any case, or its number from 1; "" takes the first that
            is known.

    Raises:
        InputError: it cannot be read, has no column of ids, an id that is none, or one that is there twice.
    """
    rows = csv_lines(path)
    if not rows:
        raise InputError(f"{path}: there is no student in it")
    head = rows[0][1]
    known = [_as_known(cell) for cell in head]
    at = _named_column(path, head, known, id_column)
    if at is None:
        at = next((known.index(word) for word in IDS if word in known), None)
    elif id_column.strip().isdecimal() and not any(word in known for word in (*IDS, *NAMES, *chain(*_PARTS))):
        students = _students(path, rows, at, ())  # a column by its number, of a file without a heading
        return Roster(students, f"{_count(path, students)}; ids from column {at + 1}, no names")
    if at is None:
        if max(len(row) for _, row in rows) > 1:
            raise InputError(
                f"{path}: no column is headed as one of ids: the first line has {_shown(head)}. Name the column with "
                'the students\' ids with --id-column, or head it "id" and the one with their names "name"'
            )
        _no_heading(path, [row[0] for _, row in rows])
        students = _students(path, rows, 0, ())
        return Roster(students, f"{_count(path, students)}, one id a line, from {students[0].id} to {students[-1].id}")
    names = _name_columns(known, at)
    students = _students(path, rows[1:], at, names)
    shown = " and ".join(f'"{head[column]}"' for column in names)
    named = f", names from {shown}" if names else ", no names"
    return Roster(students, f'{_count(path, students)}; ids from the column "{head[at]}"{named}')


def _as_known(heading: str) -> str:
    """A heading as IDS and the like have it."""
    plain = unicodedata.normalize("NFC", heading).replace("\N{RIGHT SINGLE QUOTATION MARK}", "'")
    return " ".join(plain.casefold().split())


def _named_column(path: Path, head: Sequence[str], known: Sequence[str], wanted: str) -> int | None:
    """The place of the column that --id-column names; None where it names none.

    Raises:
        InputError: there is no such column.
    """
    if not wanted.strip():
        return None
    if _as_known(wanted) in known:
        return known.index(_as_known(wanted))
    if wanted.strip().isdecimal() and 1 <= int(wanted) <= len(head):
        return int(wanted) - 1
    raise InputError(
        f'{path}: there is no column "{excerpt(wanted.strip())}"; the first line has {_shown(head)}: '
        "give --id-column one of them, or its number"
    )


def _shown(head: Sequence[str]) -> str:
    return ", ".join(f'"{excerpt(cell, 30)}"' for cell in head[:_SHOWN]) + (" …" if len(head) > _SHOWN else "")


def _count(path: Path, students: Sequence[Student]) -> str:
    return f"{visible(str(path), keep='')}: {len(students)} {'student' if len(students) == 1 else 'students'}"


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


def _is_posting(row: Sequence[str]) -> bool:
    """Whether it is Canvas's line of the assignments whose grades are posted by hand, which has no more in it."""
    return not row[0] and all(
        cell == "" or cell.startswith(_CANVAS_POSTING + " (") or cell == _CANVAS_POSTING for cell in row
    )


def _students(path: Path, body: Sequence[tuple[int, list[str]]], at: int, names: Sequence[int]) -> tuple[Student, ...]:
    found: dict[str, Student] = {}
    for line, row in body:
        if row[0] in _CANVAS or _is_posting(row):
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
