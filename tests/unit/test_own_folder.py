# SPDX-License-Identifier: BSD-3-Clause
"""The drawing in a student's folder, which is to be there once."""

from pathlib import Path

import pytest

from linklab.errors import InputError
from linklab.exercise.load import find_exercise, load_exercise
from linklab.grade.own_folder import topology_file


@pytest.mark.parametrize(
    ("drawings", "says"),
    [
        ((), 'exercise-1: the folder must hold one topology (.mn): save your drawing there, as "Exercise 1.mn"'),
        (
            ("a.mn", "b.mn"),
            "exercise-1: the folder must hold one topology (.mn): leave only the one to be handed in; found a.mn, b.mn",
        ),
    ],
)
def test_a_folder_without_its_one_drawing_says_what_to_do(tmp_path, monkeypatch, drawings, says):
    """Regression: the message began with ".", and did not say that the drawing had to be saved."""
    folder = tmp_path / "exercise-1"
    folder.mkdir()
    for name in drawings:
        (folder / name).touch()
    monkeypatch.chdir(folder)
    with pytest.raises(InputError) as raised:
        topology_file(Path(), load_exercise(find_exercise("exercise1")))
    assert str(raised.value) == says
