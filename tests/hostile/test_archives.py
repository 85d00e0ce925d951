# SPDX-License-Identifier: BSD-3-Clause
"""Forged archives: each is refused with a reason or graded as what it is, and nothing is written beside the reports."""

import re

import pytest
from hostile.archives import COURSE, corpus

from linklab.exercise.bundle import parse_bundle
from linklab.exercise.instance import changed_by_hand, parse_instance, proven
from linklab.exercise.load import find_exercise, load_exercise
from linklab.exercise.report import Status
from linklab.grade.unit import grade

CORPUS = list(corpus())
NO_MANIFEST = "manifest.json is missing, so it cannot be said whether files were changed."
SECRET = f'course = "{COURSE.name}"\nsecret = "{COURSE.secret.hex()}"\n'.encode()


class NetworkAskedForError(Exception):
    """The submission has been read, and proven to be its student's."""


class Engine:
    """Starts nothing: what an archive does is done before the first network."""

    def start(self, *_, **__):
        """Nothing is to be started."""
        raise NetworkAskedForError


def said_of(data):
    """What is noted of an archive that can be read."""
    bundle = parse_bundle(data, "s1.zip")
    exercise = load_exercise(find_exercise("problem1"))
    text = bundle.text("instance.json")
    instance = proven(parse_instance(text, "instance.json"), exercise, COURSE)
    assert instance.student == "s1"
    return [*bundle.notes, *changed_by_hand(text, instance, exercise)]


def test_there_are_as_many_as_there_should_be():
    """None is lost, and no two are the same."""
    assert len(CORPUS) == 111
    assert len({data for _, data, _ in CORPUS}) == len(CORPUS) == len({name for name, _, _ in CORPUS})


@pytest.mark.parametrize(("data", "expected"), [each[1:] for each in CORPUS], ids=[ascii(each[0]) for each in CORPUS])
def test_a_forged_archive_is_refused_or_graded_as_what_it_is(data, expected, tmp_path, monkeypatch):
    """As the corpus says; a report that names a reason has no point and shows no character of control."""
    folder = tmp_path / "work"
    folder.mkdir()
    monkeypatch.chdir(folder)
    (folder / "s1.zip").write_bytes(data)
    outcome, pattern = expected
    try:
        report = grade(folder / "s1.zip", SECRET, Engine(), seeds=(1,))
    except NetworkAskedForError:
        assert outcome == "read"
        said = said_of(data)
        assert re.search(pattern, "\n".join(said)) if pattern else {*said} <= {NO_MANIFEST}
    else:
        assert (report.status, outcome) == (Status.UNGRADABLE, "refused")
        assert report.score == 0
        assert re.fullmatch(r"(?:exercise|problem|lab)\d+|", report.exercise)  # it becomes part of names of files
        assert re.search(pattern, report.notes[-1]), report.notes
        assert all(note.isprintable() for note in report.notes)
        assert COURSE.secret.hex() not in report.dumps()
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["s1.zip", "work"]
