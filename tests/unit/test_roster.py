# SPDX-License-Identifier: BSD-3-Clause
"""Rosters as learning platforms, spreadsheets and people write them; what cannot be used is a sentence."""

import pytest

from linklab.errors import InputError
from linklab.exercise.instance import Student
from linklab.exercise.roster import read_roster

ADA, BOB = Student("ada7", "Ada L."), Student("bob8", "Bob")


@pytest.fixture
def roster(tmp_path, monkeypatch):
    """Write one and read it."""
    monkeypatch.chdir(tmp_path)

    def read(content):
        data = content.encode("utf-8") if isinstance(content, str) else content
        (tmp_path / "r.csv").write_bytes(data)
        return read_roster((tmp_path / "r.csv").relative_to(tmp_path))

    return read


@pytest.mark.parametrize(
    ("text", "students", "said"),
    [
        ("id,name\nada7,Ada L.\nbob8,\n", (ADA, Student("bob8")), 'ids from the column "id", names from "name"'),
        ("Name,Email\nAda,ada@x.org\n", (Student("ada@x.org", "Ada"),), 'the column "Email", names from "Name"'),
        ("\ufeffid\nada7\n", (Student("ada7"),), 'ids from the column "id", no names'),
        ("ada7\nbob8\n\n", (Student("ada7"), Student("bob8")), "2 students, one id a line, from ada7 to bob8"),
        (  # Moodle
            '"First name","Last name","ID number","Email address"\nAda,L.,ada7,a@x.org\nBob,,bob8,b@x.org\n',
            (ADA, BOB),
            'ids from the column "ID number", names from "First name" and "Last name"',
        ),
        (  # Canvas
            "Student,ID,SIS User ID,SIS Login ID,Section\nAda L.,1017,ada7,ada@x.org,A\nBob,1018,bob8,b@x.org,A\n",
            (ADA, BOB),
            'ids from the column "SIS User ID", names from "Student"',
        ),
        (  # Canvas's gradebook, with its line of points and the student it makes for trying
            "Student,ID,SIS User ID,SIS Login ID,Section,Lab 8 (4711)\n    Points Possible,,,,,10\n"
            'Ada L.,1017,ada7,ada@x.org,A,9\nBob,1018,bob8,b@x.org,A,\n"Student, Test",1019,,,A,\n',
            (ADA, BOB),
            'ids from the column "SIS User ID", names from "Student"',
        ),
        ("Name;Matriculation number\r\nAda L.;ada7\r\nBob;bob8\r\n", (ADA, BOB), 'the column "Matriculation number"'),
        ("id\tname\nada7\tAda L.\nbob8\tBob\n".encode("utf-16"), (ADA, BOB), 'the column "id"'),
    ],
)
def test_a_roster_says_which_columns_it_took(roster, text, students, said):
    """As learning platforms export it, spreadsheets save it, or people type it."""
    found = roster(text)
    assert found.students == students
    assert said in found.said


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (
            "Matrikelnummer,Vorname\n4711,Ada\n",
            'r.csv: no column is headed as one of ids: the first line has "Matrikelnummer", "Vorname". '
            'Head the column with the students\' ids "id"',
        ),
        ("ada7,Ada\nbob8,Bob\n", "no column is headed as one of ids"),
        ("Matrikelnummer\n4711\n4712\n", 'r.csv:1: "Matrikelnummer" looks like a heading, which I do not know'),
        ("ada\nada\n", 'r.csv:2: the id "ada" is there twice'),
        ("a/../b\n", 'r.csv:1: "a/../b" is no student\'s id'),
        ("id,name\nada7,Ada\n,Bob\n", "r.csv:3: there is no id in this line"),
        ("id,name\n", "there is no student in it"),
        ("", "there is no student in it"),
        (
            "id,name\nada7,Ada\nb\xfc8,B\xfc\n".encode("latin-1"),
            "r.csv:3: is neither UTF-8 nor UTF-16 text (byte 0xfc); save it as UTF-8",
        ),
        (b"PK\3\4xl/workbook.xml", "r.csv: is a spreadsheet or an archive, no text; save the roster as CSV"),
    ],
)
def test_a_roster_that_cannot_be_used_says_where_and_what_to_do(roster, text, why):
    """An unknown heading was taken for a student, and the first column for the ids."""
    with pytest.raises(InputError) as caught:
        roster(text)
    assert why in str(caught.value)


def test_a_roster_that_is_not_there_is_told_without_a_number(tmp_path):
    """It said [Errno 2], with the path twice; a folder is none either."""
    with pytest.raises(InputError, match=r"^\S+/no\.csv: there is no such file$"):
        read_roster(tmp_path / "no.csv")
    with pytest.raises(InputError, match=r"cannot be read: Is a directory$"):
        read_roster(tmp_path)
