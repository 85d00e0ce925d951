# SPDX-License-Identifier: BSD-3-Clause
"""Run > Test… without a window: the fields of a test, what is refused, and the command that runs it."""

from pathlib import Path

import pytest

from linklab.editor.test_forms import checked, command, pages, parameters_of, split
from linklab.errors import FieldError, InputError
from linklab.experiment.test_file import load_test
from linklab.windows.fields import texts

NODES = ["h1", "h2", "r3"]


def asked(**more):
    """What a person typed."""
    return {"source": "h1", "targets": "h2", **more}


def test_the_form_has_every_parameter_with_its_default():
    """Those that can be had here, after source, targets, length and title, and under the test's own paragraph."""
    test = load_test("tcp_nup")
    first, second = pages(test, NODES)
    assert [field.key for field in first.fields] == ["source", "targets", "length_s", "title"]
    assert [value for value, _ in first.fields[0].choices] == NODES
    assert first.note == " ".join(test.text.split())
    assert {field.key.removeprefix("parameter ") for field in second.fields} == set(test.entries.parameters) - {
        "dash_url",
        "wifi_stats_hosts",
    }
    shown = texts((first, second), asked())
    assert shown["parameter upload_streams"] == test.entries.parameters["upload_streams"].default


def test_what_was_typed_becomes_the_command():
    """Parameters that are as by default stay away; the file goes to the folder of the drawing."""
    test = load_test("tcp_nup")
    data = asked(targets="h2; r3", length_s=5, title="two words", **{"parameter upload_streams": "3"})
    words = command("tcp_nup", "2", data, parameters_of(test, data), Path("/x"))
    assert words == [
        *("test", "run", "tcp_nup", "--attach=2", "--progress", "lines", "--from=h1", "--to=h2,r3"),
        *("--length=5", "--title=two words", "-P", "upload_streams=3", "--output=/x/"),
    ]


@pytest.mark.parametrize(
    ("targets", "why"),
    [
        ("", "name the node at the other end"),
        ("h1", "h1 is where the test starts"),
        ("h2, h9", "there is no host or router h9"),
    ],
)
def test_a_target_that_cannot_be_is_told_of_at_its_field(targets, why):
    """Before anything is started; an address is left to the network."""
    with pytest.raises(FieldError, match=why) as error:
        checked(load_test("ping"), asked(targets=targets), NODES)
    assert error.value.key == "targets"
    checked(load_test("ping"), asked(targets="10.0.0.9"), NODES)


def test_a_parameter_that_cannot_be_is_told_of():
    """As on the command line."""
    with pytest.raises(InputError, match="tcp_nup: parameter upload_streams: it must be a whole number"):
        checked(load_test("tcp_nup"), asked(**{"parameter upload_streams": "many"}), NODES)
    assert split(" h2 ,, h3;r1 ") == ["h2", "h3", "r1"]
