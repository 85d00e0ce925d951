# SPDX-License-Identifier: BSD-3-Clause
"""The viewer's form of a test: what it offers, what it takes, and the command that comes of it."""

from pathlib import Path

import pytest

from linklab.errors import InputError
from linklab.experiment.entries import ParameterKind
from linklab.experiment.test_file import load_test
from linklab.viewer.test_form import command_of, pages_of, parameters_of
from linklab.windows.fields import read, texts

RRUL = load_test("rrul")


def test_what_can_only_be_refused_is_not_asked_for():
    """Such as the video of rrul, which takes a browser."""
    kinds = {entry.name: entry.kind for entry in RRUL.entries.parameters.values()}
    refused = {name for name, kind in kinds.items() if kind is ParameterKind.REFUSED}
    assert "dash_url" in refused
    fields = {field.key for page in pages_of(RRUL) for field in page.fields}
    assert {key.removeprefix("parameter ") for key in fields if key.startswith("parameter ")} == set(kinds) - refused
    typed, _ = read(pages_of(RRUL), texts(pages_of(RRUL), {}), {})
    assert not refused & set(parameters_of(RRUL, typed))


@pytest.mark.parametrize("name", ["Dumbbell.mn", "14", "Lab 14.mn", "topologies/Lab 14.mn"])
def test_a_topology_of_the_labs_is_known_by_its_name(tmp_path, monkeypatch, name):
    """As --topology takes it, wherever the viewer was started."""
    monkeypatch.chdir(tmp_path)
    (field,) = [field for page in pages_of(RRUL) for field in page.fields if field.key == "topology"]
    assert field.check(name) == name
    assert f"--topology={name}" in command_of(RRUL, {"topology": name})
    with pytest.raises(InputError, match=r"there is no file none\.mn"):
        field.check("none.mn")


def test_a_topology_of_ones_own_is_found_from_the_folder_of_the_results(tmp_path, monkeypatch):
    """Where the command runs."""
    monkeypatch.chdir(tmp_path)
    Path("my.mn").touch()
    assert f"--topology={tmp_path / 'my.mn'}" in command_of(RRUL, {"topology": "my.mn", "folder": "/elsewhere"})
