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
        (  # … with the line of assignments whose grades are posted by hand, which has no name in front
            "Student,ID,SIS User ID,SIS Login ID,Section,Lab 8 (4711),Lab 9 (4712),Lab 10 (4713)\n"
            ",,,,,Manual Posting,,Manual Posting (scores hidden from instructors)\n"
            "    Points Possible,,,,,10,10,10\nAda L.,1017,ada7,ada@x.org,A,9,9,9\nBob,1018,bob8,b@x.org,A,,,\n",
            (ADA, BOB),
            'ids from the column "SIS User ID", names from "Student"',
        ),
        (  # … and with first and last names apart
            "LastName,FirstName,ID,SIS User ID,SIS Login ID,Section\n    Points Possible,,,,,\nL.,Ada,1017,ada7,a,A\n",
            (ADA,),
            'names from "FirstName" and "LastName"',
        ),
        (  # Moodle in German, French, Spanish, Italian, Portuguese, Dutch, Polish and Swedish
            '"Vorname","Nachname","ID-Nummer","E-Mail-Adresse"\nAda,L.,ada7,a@x.org\n',
            (ADA,),
            'ids from the column "ID-Nummer", names from "Vorname" and "Nachname"',
        ),
        ("Prénom,Nom de famille,Numéro d’identification,Adresse de courriel\nAda,L.,ada7,a@x.org\n", (ADA,), "Prénom"),
        ("Nombre,Apellido(s),Número de ID,Dirección de correo\nAda,L.,ada7,a@x.org\n", (ADA,), '"Número de ID"'),
        ("Nome;Cognome;Codice identificativo;Indirizzo email\nAda;L.;ada7;a@x.org\n", (ADA,), '"Cognome"'),
        ("Nome,Sobrenome,Número de identificação,Endereço de email\nAda,L.,ada7,a@x.org\n", (ADA,), '"Sobrenome"'),
        ("Voornaam,Achternaam,ID-nummer,E-mailadres\nAda,L.,ada7,a@x.org\n", (ADA,), '"Achternaam"'),
        ("Imię,Nazwisko,Numer ID,Adres e-mail\nAda,L.,ada7,a@x.org\n", (ADA,), '"Nazwisko"'),
        ("Fo\u0308rnamn,Efternamn,ID-nummer,E-postadress\nAda,L.,ada7,a@x.org\n", (ADA,), '"Efternamn"'),
        ("Matrikelnummer,Vorname,Nachname\nada7,Ada,L.\n", (ADA,), 'ids from the column "Matrikelnummer"'),
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
            "Kennung,Vorname\n4711,Ada\n",
            'r.csv: no column is headed as one of ids: the first line has "Kennung", "Vorname". '
            'Name the column with the students\' ids with --id-column, or head it "id"',
        ),
        ("ada7,Ada\nbob8,Bob\n", "no column is headed as one of ids"),
        ("Kennung\n4711\n4712\n", 'r.csv:1: "Kennung" looks like a heading, which I do not know'),
        ("ada\nada\n", 'r.csv:2: the id "ada" is there twice'),
        ("a/../b\n", 'r.csv:1: "a/../b" is no student\'s id'),
        ("id,name\nada7,Ada\n,Bob\n", "r.csv:3: there is no id in this line"),
        ("id,name\nada7,Ada\n,Manual Postings\n", "r.csv:3: there is no id in this line"),
        ("id,name\n", "there is no student in it"),
        ("", "there is no student in it"),
        (
            "id,name\nada7,Ada\nb\xfc8,B\xfc\n".encode("latin-1"),
            "r.csv:3: is neither UTF-8 nor UTF-16 text (byte 0xfc); save it as UTF-8",
        ),
        (b"PK\3\4xl/workbook.xml", "r.csv: is a spreadsheet or an archive, no text; save it as CSV"),
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


@pytest.mark.parametrize("column", ["Kennung", "kennung ", "2"])
def test_the_column_of_ids_can_be_named(tmp_path, column):
    """By its heading, in any case, or its number; the names are found as ever."""
    (tmp_path / "r.csv").write_text("Name,Kennung,ID\nAda L.,ada7,1017\n")
    found = read_roster(tmp_path / "r.csv", column)
    assert found.students == (ADA,)
    assert 'ids from the column "Kennung", names from "Name"' in found.said


@pytest.mark.parametrize(("column", "shown"), [("Nummer", '"Nummer"'), ("4", '"4"'), ("0", '"0"')])
def test_a_column_of_ids_that_is_not_there_is_refused_with_those_that_are(tmp_path, column, shown):
    """So that the next try is right."""
    (tmp_path / "r.csv").write_text("Name,Kennung,ID\nAda L.,ada7,1017\n")
    with pytest.raises(InputError) as refused:
        read_roster(tmp_path / "r.csv", column)
    assert f'there is no column {shown}; the first line has "Name", "Kennung", "ID"' in str(refused.value)


def test_a_column_without_a_heading_is_named_by_its_number(tmp_path):
    """Then the first line is a student's."""
    (tmp_path / "r.csv").write_text("Ada L.,ada7\nBob,bob8\n")
    assert read_roster(tmp_path / "r.csv", "2").students == (Student("ada7"), Student("bob8"))


def test_the_name_of_the_file_is_shown_and_not_obeyed(tmp_path):
    """What is said of it goes to the terminal."""
    (tmp_path / "r\x1b[2J.csv").write_text("id\nada7\n")
    assert read_roster(tmp_path / "r\x1b[2J.csv").said.isprintable()
