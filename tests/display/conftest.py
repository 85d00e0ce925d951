# SPDX-License-Identifier: BSD-3-Clause
"""The display that the tests of windows share, and an editor on it."""

import os
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from hand import Hand
from robot import Robot, start_xvfb


@pytest.fixture(scope="session")
def display():
    """An Xvfb of our own, whatever display the person has."""
    process, name = start_xvfb()
    before = os.environ.get("DISPLAY")
    os.environ["DISPLAY"] = name
    yield name
    process.terminate()
    process.wait()
    if before is None:
        del os.environ["DISPLAY"]
    else:
        os.environ["DISPLAY"] = before


@pytest.fixture
def hand(display, tmp_path, monkeypatch):
    """A fresh editor with nothing of the person's."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("LC_ALL", "C.UTF-8")  # its words are looked for in English
    monkeypatch.chdir(tmp_path)
    from linklab.editor.app import Editor  # noqa: PLC0415 - as above
    from linklab.editor.settings import EditorSettings  # noqa: PLC0415

    editor = Editor(None, EditorSettings(scale=1.0))
    editor.root.geometry("+0+0")
    robot = Robot(display)
    made = Hand(editor, robot)
    robot.move(640, 450)  # without a window manager the keys go where the pointer is
    made.settle(0.4)
    yield made
    editor.networking.runner.stop()
    editor.networking.runner.wait(20)
    editor.close()
    robot.close()
