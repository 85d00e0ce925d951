# SPDX-License-Identifier: BSD-3-Clause
"""Properties of several things at once, by keys, in the real window."""

from pathlib import Path

import pytest
from robot import needs_display

from linklab import pocket_kernel
from linklab.editor import orders
from linklab.engine.api import Typed

pytestmark = needs_display
needs_kernel = pytest.mark.skipif(pocket_kernel.find() is None, reason="the pocket kernel is not built (make kernel)")
ROOT = Path(__file__).parents[2]


@pytest.fixture
def opened(hand):
    """Lab 14 with everything selected and the dialog of all of it."""
    hand.editor.filing.open_path(ROOT / "topologies/Lab 14.mn")
    hand.editor.drawing.focus_force()
    hand.settle()
    hand.key("Control+a")
    hand.key("Return")
    return hand.dialog()


def test_return_opens_the_properties_of_all(hand, opened):
    """Typing ticks; OK sets what is ticked in one step that can be undone, and nothing else."""
    before = hand.editor.document.topology
    assert opened.title() == "Properties of 3 hosts, 1 legacy switch, 3 links"
    hand.fill(opened, ("host", "defaultRoute"), "10.0.0.254")
    assert [at for at, tick in opened.ticks.items() if tick.get()] == [("host", "defaultRoute")]
    hand.key("Alt+3")
    hand.fill(opened, ("link", "bw"), "50")
    hand.key("Return")
    hand.until(lambda: hand.dialog() is None, what="the end of the dialog")
    topology = hand.editor.document.topology
    assert [host.opts["defaultRoute"] for host in topology.hosts] == ["10.0.0.254"] * 3
    assert [dict(link.opts) for link in topology.links] == [{"bw": 50}] * 3
    assert [host.opts.get("ip") for host in topology.hosts] == [host.opts.get("ip") for host in before.hosts]
    assert topology.switches == before.switches
    assert hand.editor.document.undo_label == "Change 3 hosts, 3 links"
    hand.editor.editing.undo()
    assert hand.editor.document.topology == before


def test_a_wrong_value_is_told_at_its_field_of_its_tab(hand, opened):
    """Nothing is changed, and nothing of what was typed is lost."""
    before = hand.editor.document.topology
    hand.key("Alt+3")
    hand.fill(opened, ("link", "delay"), "5 apples")
    hand.key("Alt+1")
    hand.fill(opened, ("host", "cpu"), "0.5")
    hand.key("Return")
    assert opened.winfo_exists()
    assert opened.notebook.index("current") == 2
    assert "5 apples" in opened.inputs["link", "delay"]._note.cget("text")
    assert opened.inputs["host", "cpu"].get() == "0.5"
    assert hand.editor.document.topology == before


def test_it_follows_what_is_left(hand, opened):
    """What is deleted is no longer counted; with the last of them the dialog goes."""
    hand.editor.document.select({"h1"})
    hand.editor.editing.delete()
    hand.settle()
    assert opened.title() == "Properties of 2 hosts, 1 legacy switch, 2 links"
    hand.editor.editing.select_all()
    hand.editor.editing.delete()
    hand.settle()
    assert not opened.winfo_exists()


def test_the_menu_of_one_of_several_has_it(hand):
    """A right click on one of those selected."""
    hand.editor.filing.open_path(ROOT / "topologies/Lab 14.mn")
    hand.editor.document.select({"h1", "h2", 0})
    labels = [label for label, _ in hand.editor.context.entries("h1")]
    assert labels[:2] == ["Properties…", "Properties of all 3…"]
    assert "Properties of all 3…" in [label for label, _ in hand.editor.context.entries(0)]
    assert "Properties of all 3…" not in [label for label, _ in hand.editor.context.entries("h3")]


@needs_kernel
def test_several_running_links_are_changed(hand):
    """Nodes are locked, links are set in the network too, each at both ends."""
    hand.editor.filing.open_path(ROOT / "topologies/Lab 1.mn")
    hand.editor.networking.run()
    hand.until(lambda: hand.editor.networking.runner.state == "running", 60, "the network")
    hand.editor.editing.select_all()
    hand.editor.properties.open_selected()
    hand.settle()
    form = hand.dialog()
    assert form.inputs["host", "cpu"].widget.instate(["disabled"])
    form.inputs["link", "delay"].set("3ms")
    form.ok()
    session = hand.editor.networking.runner.session

    def delays():
        (done,) = session.network.run([Typed("client#look", "tc qdisc show | grep -c 'delay 3ms'")])
        return done.output.strip()

    hand.until(lambda: delays() == "2", 20, "two switch ports with the delay")
    assert [link.opts["delay"] for link in hand.editor.document.topology.links] == ["3ms", "3ms"]
    answers = []
    for number in range(3):
        line = [("client", f"sleep 0.2; echo {number}")]
        hand.editor.networking.runner.order(lambda s, line=line: orders.type_lines(s, line), answers.append, print)
    hand.until(lambda: len(answers) == 3, 20, "the answers to three orders at once")
    assert sorted(answers) == ["0", "1", "2"]
