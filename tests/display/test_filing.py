# SPDX-License-Identifier: BSD-3-Clause
"""Files that another program changes meanwhile, leaving while the network runs, and other answers of the editor."""

import os
from pathlib import Path

import pytest
from robot import needs_display

from linklab import pocket_kernel
from linklab.editor import edits, files
from linklab.plots.queue_window import QueueWindow
from linklab.topology import Topology
from linklab.topology.templates import made

pytestmark = needs_display
needs_kernel = pytest.mark.skipif(pocket_kernel.find() is None, reason="the pocket kernel is not built (make kernel)")
ROOT = Path(__file__).parents[2]


def add_host(hand):
    """Add a host by its key."""
    hand.editor.drawing.focus_force()
    hand.key("at")


def press(hand, label):
    """Press a button of the dialog that is open."""
    hand.click(next(each for each in hand.dialog().buttons.winfo_children() if each.cget("text") == label))


@pytest.fixture
def opened(hand, tmp_path):
    """An editor with a file open, changed, which another editor has saved meanwhile; the file and its other text."""
    path = tmp_path / "both.mn"
    Topology().save(path)
    hand.editor.filing.open_path(path)
    add_host(hand)
    theirs, _ = edits.add_node(Topology(), "legacySwitch", 50, 60)
    theirs.save(path)
    return path, path.read_text()


def test_the_second_of_two_editors_is_told(hand, opened):
    """Regression: the last to save won silently. Cancel leaves both as they are."""
    path, theirs = opened
    hand.key("Control+s")
    assert hand.dialog().title() == "The file has changed"
    hand.key("Escape")
    assert path.read_text() == theirs
    assert hand.editor.document.is_changed


def test_the_second_may_write_over_it(hand, opened):
    """Asked for, it is done; the next save does not ask."""
    path, _ = opened
    hand.key("Control+s")
    press(hand, "Write over it")
    assert [node.name for node in Topology.load(path).nodes] == ["h1"]
    add_host(hand)
    hand.key("Control+s")
    assert hand.dialog() is None
    assert [node.name for node in Topology.load(path).nodes] == ["h1", "h2"]


def test_the_second_may_save_elsewhere(hand, opened):
    """Return is the answer that loses nothing."""
    path, theirs = opened
    hand.key("Control+s")
    hand.key("Return")
    hand.until(lambda: hand.dialog().title() == "Save As", what="the file dialog")
    hand.key("Control+a")
    hand.robot.type(f"{path.parent}/mine.mn\n")
    hand.until(lambda: hand.dialog() is None, what="the end of the dialog")
    assert path.read_text() == theirs
    assert [node.name for node in Topology.load(path.parent / "mine.mn").nodes] == ["h1"]


def test_a_file_that_is_gone_is_made_again(hand, opened):
    """There is nothing to be lost."""
    path, _ = opened
    path.unlink()
    hand.key("Control+s")
    assert hand.dialog() is None
    assert path.exists()


def test_a_name_that_is_taken_is_told_at_its_field(hand):
    """Regression: at the bottom of the dialog, and on another tab perhaps."""
    hand.editor.filing.open_path(ROOT / "topologies/Lab 14.mn")
    hand.editor.properties.open("h1")
    hand.settle()
    form = hand.dialog()
    hand.fill(form, "hostname", "h2")
    hand.key("Alt+2")
    form.ok()
    hand.settle()
    assert form.winfo_exists()
    assert form.inputs["hostname"]._note.cget("text") == "there is a h2 already"
    assert form.message.cget("text") == ""
    assert form.notebook.index("current") == 0
    assert hand.editor.root.focus_get() is form.inputs["hostname"].widget


def test_a_queue_plot_is_called_by_its_interface(display, tmp_path):
    """Regression: "Queue of queue-s1-eth3", which is the name of the file of samples."""
    window = QueueWindow(tmp_path / "queue-s1-eth3.jsonl", tmp_path / "queue-s1-eth3.pdf", stop_sampling=lambda: None)
    try:
        assert window.root.title() == "Queue of s1-eth3"
    finally:
        window.root.destroy()


@needs_kernel
def test_leaving_while_the_network_runs_asks(hand):
    """Regression: it ended with everything in its terminals. Cancel leaves it running, by the key and by the window."""
    hand.editor.filing.open_path(ROOT / "topologies/Lab 1.mn")
    hand.editor.networking.run()
    hand.until(lambda: hand.editor.networking.runner.state == "running", 60, "the network")
    ended = []
    hand.editor.filing.leave = lambda: ended.append(1)
    for leave in (lambda: hand.key("Control+q"), hand.editor.filing.quit):
        hand.editor.drawing.focus_force()
        leave()
        hand.until(lambda: hand.dialog() is not None, what="the question")
        assert hand.dialog().title() == "The network is running"
        hand.key("Escape")
        assert ended == []
    assert hand.editor.networking.runner.state == "running"
    hand.key("Control+q")
    press(hand, "Quit")
    assert ended == [1]


@pytest.mark.parametrize(
    ("was_ready", "title"), [(False, "The network did not start"), (True, "The network has ended")]
)
def test_a_network_that_never_ran_did_not_end(hand, was_ready, title):
    """Regression: a start that failed was titled "The network has ended"."""
    networking = hand.editor.networking
    networking._was_ready = was_ready
    networking._ended("the kernel did not come up")
    hand.until(lambda: hand.dialog() is not None, what="the message")
    assert hand.dialog().title() == title
    assert networking.window.status.said == f"the {title[4:]}"
    hand.key("Escape")


def titles(hand):
    """Titles of the dialogs that are open."""
    return [each.title() for each in hand.editor.root.winfo_children() if each.winfo_class() == "Toplevel"]


def test_restoring_asks_before_it_replaces_a_new_drawing(hand, tmp_path):
    """Regression: Restore replaced what `edit --template` had just drawn, without asking."""
    hand.editor.starting.begin(made("dumbbell:3"), "dumbbell:3")
    drawn = hand.editor.document.topology
    kept = tmp_path / "kept.json"
    kept.write_text("{}")
    hand.editor.filing._offer(files.Lost(kept, None, Topology(), 0.0))
    hand.settle()
    press(hand, "Restore")
    hand.settle()
    assert hand.dialog().title() == "Save the changes?"
    hand.key("Escape")
    assert hand.editor.document.topology is drawn
    assert kept.exists()
    hand.editor.filing._offer(files.Lost(kept, None, Topology(), 0.0))
    hand.settle()
    press(hand, "Restore")
    hand.settle()
    press(hand, "Do not save")
    assert hand.editor.document.topology == Topology()
    assert not kept.exists()


def test_restore_waits_for_the_dialog_that_is_open(hand, tmp_path):
    """Regression: with a program to be imported named on the command line both questions lay on each other."""
    program = tmp_path / "program.py"
    program.write_text("from mininet.topo import Topo\n")
    kept = files.Autosave()
    kept.keep(made("star:3"), None)
    text = kept.file.read_text()
    kept.file.write_text(text.replace(f'"pid": {os.getpid()}', '"pid": 4194305'))  # above what Linux gives
    hand.editor.filing.open_path(program, first=True)
    hand.editor.window.soon(hand.editor.filing.begin)
    hand.settle(0.5)
    assert titles(hand) == ["Import program.py"]
    hand.key("Escape")
    hand.until(lambda: titles(hand) == ["Restore a drawing?"], what="the question")


def test_the_drawing_cannot_be_changed_below_what_will_replace_it(hand, tmp_path):
    """Regression: what was drawn while the dialog of an import or a template was open went without a question."""
    from linklab.editor.exchanging import open_foreign  # noqa: PLC0415 - needs tkinter, which may be missing

    program = tmp_path / "program.py"
    program.write_text("from mininet.topo import Topo\n")
    open_foreign(hand.editor.window, hand.editor.document, program)
    hand.settle(0.4)
    hand.tool("host")
    hand.place(300, 300)
    assert hand.editor.document.topology.nodes == ()
    assert titles(hand) == ["Import program.py"]
