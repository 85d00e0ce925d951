# SPDX-License-Identifier: BSD-3-Clause
"""A short run of tools/fuzz_window.py: no damaged drawing may break the real window."""

import importlib
import subprocess
import sys
from pathlib import Path

import pytest
from robot import needs_display

pytestmark = needs_display
TOOLS = Path(__file__).parents[2] / "tools"
COUNT = 40
"""Half a minute; `python tools/fuzz_window.py` opens 5,000."""


@pytest.fixture
def tools(monkeypatch):
    """The folder of the tools, to import from."""
    monkeypatch.syspath_prepend(str(TOOLS))


def test_no_damaged_drawing_breaks_the_window(display):
    """Opened, mended, looked at, laid out, saved, exported: no exception in any callback.

    In a program of its own, because the fuzzer forks, and Tk does not live through a fork.
    """
    command = [sys.executable, str(TOOLS / "fuzz_window.py"), "--count", str(COUNT), "--seed", "4"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    total = next(line for line in done.stdout.splitlines() if line.startswith("all "))
    assert total.split() == ["all", str(COUNT), *"000000"]  # refused, then five kinds of faults


def test_a_window_that_does_not_open_is_a_fault(monkeypatch):
    """Not a refusal of every drawing, which would look like a run without a fault."""
    monkeypatch.delenv("DISPLAY", raising=False)
    command = [sys.executable, str(TOOLS / "fuzz_window.py"), "--count", "3"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 1
    assert "foreign RuntimeError" in done.stdout


def test_an_exception_in_a_callback_is_found(display, tools):
    """What Tk would print and forget."""
    window = importlib.import_module("fuzz_window")
    opened = window.Window()

    def broken():
        raise KeyError("odd")

    opened.editor.root.after_idle(broken)
    with pytest.raises(KeyError):
        opened.update()
    opened.editor.close()


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("nulls-for-nothing", "is treated as not set (and 11 more); Edit > Mend… writes it as MiniEdit does"),
        ("generated-without-places", "which has no coordinates, and laid it out"),
    ],
)
def test_a_stranger_s_file_says_what_is_odd_and_opens(hand, name, said):
    """In the line at the bottom; nothing has to be answered."""
    hand.editor.filing.open_path(Path(__file__).parents[1] / "strangers" / "drawings" / f"{name}.mn")
    hand.settle()
    assert said in hand.editor.status.text.cget("text")
    assert hand.dialog() is None


def test_edit_mend_mends_all_at_once_and_undo_takes_it_back(hand):
    """By the menu's command: what is wrong, what would be done, one button."""
    hand.editor.filing.open_path(Path(__file__).parents[1] / "strangers" / "drawings" / "blanks-in-names.mn")
    hand.settle()
    before = hand.editor.document.topology
    hand.key("Return")
    assert hand.dialog() is None
    assert [node.name for node in hand.editor.document.topology.nodes] == ["PC_1", "Web_Server", "Switch_A"]
    hand.key("Control+z")
    assert hand.editor.document.topology == before
    hand.editor._commands()["mend"]()
    hand.settle()
    assert "• Web Server is now Web_Server" in hand.read(hand.dialog())
    hand.key("Return")
    assert hand.editor.document.topology.problems() == []
    hand.editor._commands()["mend"]()
    assert hand.editor.status.text.cget("text") == "nothing to mend"


def test_lay_out_by_its_key(hand):
    """Every node has a place of its own, and Undo takes it back."""
    hand.editor.filing.open_path(Path(__file__).parents[2] / "topologies" / "Lab 14.mn")
    hand.settle()
    before = hand.editor.document.topology
    hand.key("Control+Shift+L")
    after = hand.editor.document.topology
    assert {(node.x, node.y) for node in after.nodes} != {(node.x, node.y) for node in before.nodes}
    assert after.links == before.links
    hand.key("Control+z")
    assert hand.editor.document.topology == before
