# SPDX-License-Identifier: BSD-3-Clause
"""Files of people in which something no person writes: each is refused in a sentence, or defaults are taken."""

import json
from pathlib import Path

import pytest

from linklab import units
from linklab.base import toml
from linklab.base.numbers import parse_number
from linklab.base.text import excerpt, visible
from linklab.editor.files import Autosave
from linklab.editor.settings import load_settings
from linklab.errors import InputError, LabError, ManualError, TopologyError
from linklab.exercise.course import parse_course
from linklab.exercise.instance import instance_text, practice_instance
from linklab.exercise.load import load_exercise
from linklab.exercise.roster import read_roster
from linklab.lab.model import load_lab
from linklab.lab.reference import load_reference
from linklab.manual.parse import parse_manual
from linklab.state.model import State
from linklab.topology import Topology

ROOT = Path(__file__).parents[2]
EXERCISE = (ROOT / "exercises" / "3-tcp-and-switch-buffers" / "exercise.toml").read_text()
DEEP, DIGITS = "a = " + "[" * 5000, "a = " + "9" * 5000


@pytest.mark.parametrize(
    ("text", "said"), [(DEEP, "it nests too deeply"), (DIGITS, "a number or a date in it is beyond what can be read")]
)
def test_toml_beyond_the_reader_is_a_toml_error(tmp_path, text, said):
    """All who read TOML say so with the file's name."""
    with pytest.raises(toml.TOMLDecodeError, match=said):
        toml.loads(text)
    for name, load, error in (("exercise.toml", load_exercise, InputError), ("lab.toml", load_lab, LabError)):
        (tmp_path / name).write_text(text)
        with pytest.raises(error, match=rf"{name}: {said}"):
            load(tmp_path)
    with pytest.raises(InputError, match=r"course\.toml: no course file"):
        parse_course(text.encode(), "course.toml")


@pytest.mark.parametrize("value", ["9" * 400, "1e300", "inf", "nan"])
def test_a_weight_that_is_no_share_of_points_is_refused(tmp_path, value):
    """The key is named."""
    (tmp_path / "exercise.toml").write_text(EXERCISE.replace("\nweight = 8", f"\nweight = {value}", 1))
    assert "\nweight = 8" in EXERCISE
    with pytest.raises(InputError, match=r'check [a-z-]+: "weight" must be a number up to 1e\+15'):
        load_exercise(tmp_path)


def test_a_derived_quantity_that_divides_by_a_parameter_of_0_is_named(tmp_path):
    """Whoever writes the exercise learns which it is."""
    text = EXERCISE.replace("[derived]", '[derived]\nodd = "1 / (rate - rate)"', 1)
    assert text != EXERCISE
    (tmp_path / "exercise.toml").write_text(text)
    with pytest.raises(InputError, match=r"derived odd: 1 / \(rate - rate\) \(a division by 0\) has no value"):
        load_exercise(tmp_path)


def test_a_setting_that_divides_by_0_is_named(tmp_path):
    """With what it computes."""
    text = EXERCISE.replace("{burst:bytes}", "{= burst / 0 : bytes}")
    assert text != EXERCISE
    (tmp_path / "exercise.toml").write_text(text)
    exercise = load_exercise(tmp_path)
    with pytest.raises(InputError, match=r'^setting ".*": burst / 0 +\(a division by 0\) has no value'):
        instance_text(exercise, practice_instance(exercise))


@pytest.mark.parametrize("name", ["a\\u0000.mn", "a" * 5000])
def test_a_topology_that_no_file_can_be_called_is_refused(tmp_path, name):
    """lab.toml is named, and the beginning of the name."""
    (tmp_path / "lab.toml").write_text(f'number = 1\ntitle = "T"\ntopology = "{name}"\n')
    with pytest.raises(LabError, match=r'lab\.toml: "topology" must be the name of a file, not "a'):
        load_lab(tmp_path)


@pytest.mark.parametrize("text", ["1e999 mbit", "1e400 s", "9" * 400 + " kB", "1e99 GiB"])
def test_a_quantity_beyond_everything_is_refused(text):
    """An infinite rate is none."""
    try:
        value, _ = parse_number(text)
    except InputError as error:
        assert "too large" in str(error)
    else:
        assert value <= units.LARGEST * 1e9


def test_a_size_with_two_points_is_refused():
    """What follows the first number is its unit."""
    with pytest.raises(InputError, match=r'size "1\.2\.3 kB" has no unit I know'):
        parse_number("1.2.3 kB")


def test_a_manual_of_brackets_is_refused():
    """The reader of Markdown takes quadratic time over them."""
    with pytest.raises(ManualError, match=r'^m\.md:3: more than 1000 "\[" in one paragraph'):
        parse_manual("# A\n\n" + "[" * 100_000, Path("m.md"))


@pytest.mark.parametrize(
    "text",
    [
        '{"format": 1, "scalars": {}, "seed": 1, "clock": "virtual", "profile": [], "replayed": "", "network_s": 1, '
        '"environment": {}}',
        '{"format": 1, "scalars": 7}',
        '{"format": 1, "scalars": {"a": []}}',
        "[" * 100_000,
        "[]",
    ],
)
def test_a_reference_of_another_shape_is_refused(tmp_path, monkeypatch, text):
    """The file is named, and what mends it."""
    lab = load_lab(next(ROOT.glob("labs/14-*")))
    (tmp_path / "reference").mkdir()
    (tmp_path / "reference" / "reference.json").write_text(text)
    moved = type(lab)(**{**vars(lab), "folder": tmp_path})
    with pytest.raises(LabError, match=r"reference\.json: cannot be read: .*; record the lab again"):
        load_reference(moved)


def test_a_heading_of_blanks_takes_no_time():
    """100,000 blanks before what is no {-} took a minute."""
    manual = parse_manual("# A\n\n## B" + " " * 100_000 + "C {-}\n", Path("m.md"))
    assert [(section.number, section.title[-1]) for section in manual.sections] == [("", "C")]


def test_messages_do_not_repeat_what_is_long(tmp_path):
    """A name of 5,000 letters is quoted with 60 of them."""
    state = json.dumps({"format": 1, "nodes": {"client": {"a" * 5000: 1}}})
    with pytest.raises(InputError) as caught:
        State.loads(state)
    assert len(str(caught.value)) < 500
    with pytest.raises(TopologyError) as caught:
        Topology.loads('{"version": "' + "2" * 5000 + '"}')
    assert len(str(caught.value)) < 700
    (tmp_path / "roster.csv").write_text("id\n" + "ä" * 5000)
    with pytest.raises(InputError) as caught:
        read_roster(tmp_path / "roster.csv")
    assert f'"{"ä" * 60}…" is no student' in str(caught.value)


def test_a_roster_with_a_cell_without_end_is_refused(tmp_path):
    """Such as one whose quotation mark is never closed."""
    (tmp_path / "roster.csv").write_text('id,name\n1,"' + "a" * 200_000)
    with pytest.raises(InputError, match=r"roster\.csv: no CSV: field larger than field limit"):
        read_roster(tmp_path / "roster.csv")


@pytest.mark.parametrize("scale", ["1e308", "-1", "NaN", "Infinity", "true", "9" * 400])
def test_a_scale_that_no_display_has_is_the_default(tmp_path, scale):
    """The other settings stay."""
    path = tmp_path / "editor.json"
    path.write_text(f'{{"scale": {scale}, "grid": true}}')
    settings = load_settings(path)
    assert (settings.scale, settings.grid) == (0.0, True)


@pytest.mark.parametrize("text", ["[" * 100_000, '{"scale": ' + "9" * 5000 + "}"])
def test_settings_beyond_the_reader_are_the_defaults(tmp_path, text):
    """The editor starts."""
    path = tmp_path / "editor.json"
    path.write_text(text)
    assert load_settings(path).scale == 0.0


@pytest.mark.parametrize(
    "change", [{"pid": 10**30}, {"pid": float("inf")}, {"when": float("nan")}, {"when": 10**400}, {"path": "\0"}]
)
def test_a_drawing_that_cannot_be_is_not_offered(tmp_path, change):
    """The others are."""
    kept = {"path": None, "when": 1.0, "pid": 2**22 + 1, "text": (ROOT / "topologies" / "Lab 8.mn").read_text()}
    (tmp_path / "a.json").write_text(json.dumps(kept))
    (tmp_path / "b.json").write_text(json.dumps({**kept, **change}))
    (tmp_path / "c.json").write_text("[" * 100_000)
    assert tmp_path / "a.json" in [lost.file for lost in Autosave(tmp_path).lost()]
    assert tmp_path / "c.json" not in [lost.file for lost in Autosave(tmp_path).lost()]


def test_an_excerpt_is_one_short_line():
    """Ends of lines and what moves the cursor are written as escapes."""
    assert excerpt("  a\x1b[31m\nb ") == "a\\x1b[31m\\nb"
    assert excerpt("a" * 61) == "a" * 60 + "…"
    assert excerpt("a" * 60) == "a" * 60
    assert visible("é\udcff", keep="") == "é\\udcff"
