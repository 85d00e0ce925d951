# SPDX-License-Identifier: BSD-3-Clause
"""Run > Test… in the editor: chosen from the list, run on the network that runs, aborted, shown in the viewer."""

import os
import sys
from pathlib import Path

import pytest
from robot import needs_display
from test_editor import needs_kernel, run, stop
from test_editor_running_state import drawn, said

sys.path.append(str(Path(__file__).parents[1] / "unit"))
from routed import addressed

from linklab.data import open_file

pytestmark = [*needs_display, needs_kernel]


@pytest.fixture
def private(tmp_path, monkeypatch):
    """Sockets of our own, so that no other network is found."""
    (tmp_path / "run").mkdir(mode=0o700)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path / "run"))


def ask(hand, name):
    """Open the list by its key, look for a test, and go on to its form."""
    hand.editor.drawing.focus_set()
    hand.key("Control+Shift+t")
    hand.until(lambda: hand.dialog() is not None, 20, "the list of tests")
    hand.robot.type(name)
    hand.settle(0.4)
    listed = hand.dialog()
    hand.key("Return")
    hand.until(lambda: hand.dialog() not in (None, listed), 20, "the form")
    return hand.dialog()


def test_a_test_is_chosen_run_and_shown(hand, private, tmp_path):
    """By keys alone; two selected hosts are source and target, and the result opens in a window of its own."""
    drawn(hand, addressed())
    run(hand)
    testing = hand.editor.testing
    hand.editor.document.select({"h1", "h3"})
    form = ask(hand, "ping")
    assert str(form.title()).startswith("Test: ping")
    assert (form.inputs["source"].get(), form.inputs["targets"].get()) == ("h1", "h3")
    assert "UDP" in hand.read(form)
    hand.fill(form, "targets", "h9")
    hand.key("Return")
    assert "there is no host or router h9" in hand.read(form)
    hand.fill(form, "targets", "h3")
    hand.fill(form, "length_s", "2")
    hand.fill(form, "title", "mine")
    hand.key("Return")
    hand.until(lambda: testing.is_on, 10, "the beginning")
    hand.until(lambda: "of 2 s of network time" in said(hand), 60, "the progress")
    hand.key("Control+Shift+t")
    assert "ping is running; Ctrl+Shift+A aborts it" in said(hand)
    hand.until(lambda: not testing.is_on, 90, "the end")
    assert said(hand).startswith("ping: done, ping-")
    (file,) = tmp_path.glob("ping-*.mine.flent.gz")
    data = open_file(file)
    assert (data.metadata["source"], data.metadata["targets"]) == ("h1", ["h3"])
    assert data.flent["TITLE"] == "mine"
    (viewer,) = testing._viewers
    hand.settle(3)
    assert viewer.status is None, viewer.said
    viewer.stop()
    viewer.stop()
    hand.until(lambda: viewer.status is not None, 20, "the viewer's end")
    stop(hand)


def test_a_test_is_aborted_and_keeps_its_data(hand, private, tmp_path, monkeypatch):
    """By its key; the network runs on, and what cannot be run is said."""
    monkeypatch.setenv("DISPLAY", os.environ["DISPLAY"])
    drawn(hand, addressed())
    hand.editor.testing.abort()
    assert "no test is running" in said(hand)
    run(hand)
    testing = hand.editor.testing
    monkeypatch.setattr(testing, "_view", lambda file: None)
    form = ask(hand, "tcp_1up")
    hand.fill(form, "length_s", "600")
    hand.key("Return")
    hand.until(lambda: " of 610 s of network time" in said(hand), 60, "the progress")
    hand.key("Control+Shift+a")
    hand.until(lambda: not testing.is_on, 60, "the end")
    assert said(hand) == "tcp_1up: ended early; what was measured is kept"
    (file,) = tmp_path.glob("tcp_1up-*.flent.gz")
    assert "ended early" in open_file(file).notes[-1]
    assert hand.editor.networking.is_running
    stop(hand)
