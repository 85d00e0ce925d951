# SPDX-License-Identifier: BSD-3-Clause
"""Tables of TOML files, read key by key."""

import pytest

from linklab.base import toml
from linklab.errors import InputError

TABLE = 'name = "h1"\ncount = 3\nshare = 0.5\non = true\nlines = ["a", 1]\nnodes = [{ id = "x" }, { id = "y" }]\n'


def test_keys_are_taken_with_their_type():
    """What was taken is gone, and nothing may be left."""
    table = toml.parse(TABLE, "f.toml")
    assert (table.take("name", str), table.take("count", int), table.take("on", bool)) == ("h1", 3, True)
    assert (table.text("share"), table.texts("lines"), table.texts("more")) == ("0.5", ("a", "1"), ())
    assert [(each.where, each.take("id", str)) for each in table.tables("nodes")] == [
        ("f.toml nodes[0]", "x"),
        ("f.toml nodes[1]", "y"),
    ]
    assert table.take("absent", str, "none") == "none"
    table.end()


@pytest.mark.parametrize(
    ("take", "says"),
    [
        (lambda table: table.take("gone", str), 'f.toml: "gone" is missing'),
        (lambda table: table.take("count", str), 'f.toml: "count" must be text, not 3'),
        (lambda table: table.take("on", int), 'f.toml: "on" must be a whole number, not True'),
        (lambda table: table.take("on", (int, float)), 'f.toml: "on" must be a whole number or a number, not True'),
        (lambda table: table.texts("nodes"), 'f.toml: "nodes" must be a list of texts'),
        (lambda table: table.tables("lines"), "f.toml lines[0] must be a table, not 'a'"),
        (lambda table: table.end(), 'f.toml: unknown key "name"; no key is known here'),
    ],
)
def test_what_is_wrong_is_said_with_its_place(take, says):
    """The place, the key, what was found and what is wanted."""
    with pytest.raises(InputError) as caught:
        take(toml.parse(TABLE, "f.toml"))
    assert str(caught.value) == says


@pytest.mark.parametrize("text", ["a = ", "a = " + "[" * 100_000, "a = " + "9" * 5_000, "a = 1\na = 2"])
def test_what_cannot_be_read_is_one_sentence(text):
    """Depth, digits and mistakes alike."""
    with pytest.raises(InputError, match=r"^f\.toml: "):
        toml.parse(text, "f.toml")


@pytest.mark.parametrize("number", ["1e300", "inf", "nan", "0x" + "f" * 6000])
def test_a_number_beyond_all_measure_is_refused(number):
    """Regression: one with more digits than Python writes ended in a traceback, and so did infinity."""
    with pytest.raises(InputError) as caught:
        toml.parse(f"seconds = {number}", "f.toml").take("seconds", (int, float))
    assert str(caught.value) == 'f.toml: "seconds" must be a number up to 1e+15'
    with pytest.raises(InputError, match=r'^f\.toml: "seconds" must be text, not .{1,61}$'):
        toml.parse(f"seconds = {number}", "f.toml").take("seconds", str)
    with pytest.raises(InputError, match=r'^f\.toml: "name" must be a whole number, not .{61}$'):
        toml.parse(f'name = "{"x" * 1000}"', "f.toml").take("name", int)


def test_a_file_that_cannot_be_read_is_named(tmp_path):
    """One that is not there, a folder, and one that is not UTF-8."""
    (tmp_path / "latin").write_bytes(b"a = \xe4")
    for name in ("gone", "latin", "."):
        with pytest.raises(InputError) as caught:
            toml.read_text(tmp_path / name)
        assert str(caught.value).startswith(str(tmp_path / name))
