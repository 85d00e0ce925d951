# SPDX-License-Identifier: BSD-3-Clause
"""`linklab lab` in a folder where a lab was begun: whether it goes on, and what becomes of the progress."""

import argparse
import io
from pathlib import Path

import pytest

from linklab.commands import lab_continue
from linklab.commands.lab_continue import left_here
from linklab.errors import InputError
from linklab.guide.continuing import LeftLab
from linklab.guide.evidence import EditorEvidence, StateEvidence, TypedEvidence
from linklab.guide.progress import LabProgress
from linklab.lab.model import find_lab, load_lab
from linklab.state.model import State
from linklab.state.node import Node

ROOT = Path(__file__).resolve().parents[2]
FRESH = State({"client": Node({})})
START = (EditorEvidence(("open", "Lab 3.mn")), EditorEvidence(("run",)), StateEvidence(FRESH, 0.0))
PING = TypedEvidence("h1", "ping -c 5 10.0.0.2", 1.0)


@pytest.fixture(scope="module")
def lab():
    """Lab 3."""
    return load_lab(find_lab("3", ROOT))


def begun(folder, lab, *evidence):
    """The progress of somebody who has done this."""
    progress = LabProgress.begin(folder, lab)
    for each in (*START, *evidence):
        progress.add(each)
    return progress


def asked(*words):
    """What the options say."""
    parser = argparse.ArgumentParser()
    lab_continue.add_options(parser)
    return parser.parse_args(words)


def test_a_folder_without_progress_asks_nothing(tmp_path, lab, capsys):
    """Also where the lab was started and nothing was typed."""
    assert left_here(lab, tmp_path, asked()) is None
    begun(tmp_path, lab)
    assert left_here(lab, tmp_path, asked()) is None
    assert capsys.readouterr().out == ""


def test_a_begun_lab_goes_on(tmp_path, lab, capsys):
    """Where nobody can be asked it goes on, and says how far it is."""
    begun(tmp_path, lab, PING)
    left = left_here(lab, tmp_path, asked("--continue"))
    assert isinstance(left, LeftLab) and left.running == (PING,)
    said = capsys.readouterr().out
    assert said.startswith(f"{lab.heading} was begun in this folder: ") and "steps are done; the next is “" in said


@pytest.mark.parametrize(("answer", "goes_on"), [("", True), ("y", True), ("No", False)])
def test_a_person_is_asked(tmp_path, lab, monkeypatch, answer, goes_on):
    """Enter alone goes on."""
    begun(tmp_path, lab, PING)
    monkeypatch.setattr("sys.stdin", io.StringIO())
    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
    monkeypatch.setattr("builtins.input", lambda _: answer)
    assert (left_here(lab, tmp_path, asked()) is not None) is goes_on


def test_beginning_anew_loses_nothing(tmp_path, lab, capsys):
    """The file gets another name, each time another one."""
    for number in (1, 2):
        kept = begun(tmp_path, lab, PING).path.read_bytes()
        assert left_here(lab, tmp_path, asked("--anew")) is None
        assert (tmp_path / f".linklab/progress-{number}.jsonl").read_bytes() == kept
        assert f"progress-{number}.jsonl" in capsys.readouterr().out
    assert LabProgress.load(tmp_path) is None


def test_another_labs_folder_is_refused(tmp_path, lab):
    """Two labs in one folder would share their files."""
    begun(tmp_path, lab, PING)
    with pytest.raises(InputError, match="this is the progress of Lab 3; do Lab 8 in a folder of its own"):
        left_here(load_lab(find_lab("8", ROOT)), tmp_path, asked())
