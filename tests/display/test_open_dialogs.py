# SPDX-License-Identifier: BSD-3-Clause
"""Dialogs of nodes and links hold the thing itself, not its place in a list: they follow it, lock and go with it."""

from pathlib import Path

import pytest
from robot import needs_display

from linklab import pocket_kernel
from linklab.editor import edits
from linklab.topology import Topology

pytestmark = needs_display
needs_kernel = pytest.mark.skipif(pocket_kernel.find() is None, reason="the pocket kernel is not built (make kernel)")
ROOT = Path(__file__).parents[2]
LAB_14 = ROOT / "topologies/Lab 14.mn"


def place_of(hand, one, other):
    """Where the link between two nodes stands in the list."""
    links = hand.editor.document.topology.links
    return next(i for i, link in enumerate(links) if {link.src, link.dest} == {one, other})


def opened(hand, key):
    """The dialog of a node's name, or of a link's place."""
    hand.editor.properties.open(key)
    hand.settle()
    return hand.dialog()


def delete(hand, *keys):
    """Select these and press Delete."""
    hand.editor.document.select(set(keys))
    hand.editor.editing.delete()
    hand.settle()


def titles(hand):
    """Titles of the dialogs that are open."""
    return [w.title() for w in hand.editor.root.winfo_children() if w.winfo_class() == "Toplevel"]


def test_a_link_that_moved_up_in_the_list_gets_its_own_values(hand):
    """Regression: Lab 14, the dialog of h3-s1 open, h1-s1 deleted, OK: the rate went to h2-s1, and a port changed."""
    hand.editor.filing.open_path(LAB_14)
    before = {name: hand.editor.document.topology.port_names()[f"{name}-eth0"] for name in ("h2", "h3")}
    form = opened(hand, place_of(hand, "h3", "s1"))
    assert form.title() == "Link h3-eth0 – s1-eth2"
    delete(hand, place_of(hand, "h1", "s1"))
    assert form.winfo_exists()
    assert form.title() == "Link h3-eth0 – s1-eth2"
    hand.fill(form, "bw", "33")
    hand.key("Return")
    assert not form.winfo_exists()
    rates = {link.name: link.opts.get("bw") for link in hand.editor.document.topology.links}
    assert rates == {"h3-s1": 33, "h2-s1": None}
    after = {name: hand.editor.document.topology.port_names()[f"{name}-eth0"] for name in ("h2", "h3")}
    assert after == before


def test_a_link_dialog_shows_what_a_stranger_s_values_are_taken_for(hand):
    """A delay of "5000" loads, and its dialog refused OK; a bare number that is typed is refused, with the cure."""
    hand.editor.filing.open_path(ROOT / "tests/strangers/drawings/delay-without-unit.mn")
    form = opened(hand, 0)
    assert form.inputs["delay"].get() == "5000us"
    hand.fill(form, "delay", "7")
    hand.key("Return")
    assert form.winfo_exists()
    hand.fill(form, "delay", "5000us")
    hand.fill(form, "bw", "33")
    hand.key("Return")
    assert not form.winfo_exists()
    assert hand.editor.document.topology.links[0].opts == {"bw": 33, "delay": "5000us"}


def test_the_dialog_of_what_is_deleted_closes(hand):
    """Regression: a node deleted under its dialog, then OK: KeyError. Its links' dialogs go too."""
    hand.editor.filing.open_path(LAB_14)
    node = opened(hand, "h1")
    link = opened(hand, place_of(hand, "h1", "s1"))
    other = opened(hand, "h2")
    delete(hand, "h1")
    assert not node.winfo_exists()
    assert not link.winfo_exists()
    assert other.winfo_exists()
    assert "h1" in hand.editor.status.text.cget("text")
    hand.editor.editing.undo()
    hand.settle()
    assert titles(hand) == [other.title()]


def test_a_dialog_locks_while_the_drawing_may_not_change(hand):
    """What is typed stays, cannot be taken while the network runs, and can be afterwards."""
    hand.editor.filing.open_path(LAB_14)
    form = opened(hand, "h1")
    hand.fill(form, "hostname", "web")
    before = hand.editor.document.topology
    runner = hand.editor.networking.runner
    runner.state = "running"  # as far as the dialogs see; the next test runs a real one
    hand.editor.refresh()
    hand.settle()
    form.ok()
    assert form.winfo_exists()
    assert hand.editor.document.topology == before
    assert "running" in form.message.cget("text")
    assert form.inputs["hostname"].get() == "web"
    assert form.inputs["hostname"].widget.instate(["disabled"])
    runner.state = "stopped"
    hand.editor.refresh()
    hand.settle()
    assert form.inputs["hostname"].widget.instate(["!disabled"])
    assert form.message.cget("text") == ""
    form.ok()
    assert "web" in edits.named(hand.editor.document.topology)


@needs_kernel
def test_run_under_an_open_dialog(hand):
    """Regression: Run under a host's dialog, rename, OK: the drawing changed under a running network."""
    hand.editor.filing.open_path(ROOT / "topologies/Lab 1.mn")
    form, link = opened(hand, "h1"), opened(hand, 0)
    hand.editor.properties.preferences()
    hand.settle()
    preferences = hand.dialog()
    hand.editor.networking.run()
    hand.until(lambda: hand.editor.networking.runner.state == "running", 60, "the network")
    hand.settle()
    before = hand.editor.document.topology
    for each in (form, preferences):
        each.ok()
        assert each.winfo_exists()
    assert hand.editor.document.topology == before
    link.inputs["delay"].set("7ms")
    assert link.apply()
    hand.until(lambda: "kernel has" in hand.editor.status.said, 20, "the change")
    assert hand.editor.document.topology.links[0].opts["delay"] == "7ms"
    hand.editor.networking.stop()
    hand.until(lambda: hand.editor.networking.runner.state == "stopped", 60, "the end")
    hand.settle()
    assert form.inputs["hostname"].widget.instate(["!disabled"])
    form.inputs["hostname"].set("web")
    form.ok()
    assert "web" in edits.named(hand.editor.document.topology)


def test_a_dialog_follows_a_new_name_and_new_values(hand):
    """Undo renames the node back: the title follows, fields that were not touched too, what is typed stays."""
    hand.editor.filing.open_path(LAB_14)
    document = hand.editor.document
    document.apply("Change", edits.set_opts(document.topology, "h1", {"hostname": "web", "ip": "10.0.0.99/8"}))
    form = opened(hand, "web")
    hand.fill(form, "defaultRoute", "10.0.0.254")
    hand.editor.editing.undo()
    hand.settle()
    assert form.title() == "Host h1"
    assert form.inputs["hostname"].get() == "h1"
    assert form.inputs["ip"].get() == edits.named(document.topology)["h1"].opts.get("ip", "")
    assert form.inputs["defaultRoute"].get() == "10.0.0.254"
    form.ok()
    assert edits.named(document.topology)["h1"].opts["defaultRoute"] == "10.0.0.254"


def test_a_link_dialog_follows_undo(hand):
    """Both directions and the fields of the whole link show what the link now has."""
    hand.editor.filing.open_path(LAB_14)
    document = hand.editor.document
    document.apply("Change", edits.set_link(document.topology, 0, {"bw": 5}, {"forward": {"rate": "7mbit"}}))
    form = opened(hand, 0)
    assert form.directions[0].get() == {"rate": "7mbit"}
    hand.editor.editing.undo()
    hand.settle()
    assert form.inputs["bw"].get() == ""
    assert form.directions[0].get() is None


def test_another_file_closes_every_dialog(hand, tmp_path):
    """Also where the same file is opened again: its things are new ones."""
    hand.editor.filing.open_path(LAB_14)
    forms = [opened(hand, "h1"), opened(hand, 0)]
    hand.editor.properties.preferences()
    forms.append(hand.dialog())
    hand.editor.filing.open_path(LAB_14)
    hand.settle()
    assert [form.winfo_exists() for form in forms] == [0, 0, 0]


def test_a_thing_has_one_dialog(hand):
    """Opening it again brings the dialog that is there, with what is typed."""
    hand.editor.filing.open_path(LAB_14)
    form = opened(hand, "h1")
    hand.fill(form, "ip", "10.0.0.77")
    assert opened(hand, "h1") is form
    assert len(titles(hand)) == 1


def test_a_question_is_answered_before_anything_else_happens(hand):
    """Regression: a question about one drawing could be answered when another was open."""
    hand.tool("host")
    hand.place(300, 300)
    hand.tool("select")
    hand.key("Control+n")
    question = hand.dialog()
    hand.click(hand.editor.toolbar.tools["switch"])
    hand.place(300, 480)
    assert [node.name for node in hand.editor.document.topology.nodes] == ["h1"]
    hand.editor.drawing.focus_force()
    for key in ("at", "Delete", "Control+a", "Control+z"):
        hand.key(key)
    assert [node.name for node in hand.editor.document.topology.nodes] == ["h1"]
    assert hand.dialog() is question
    question.destroy()
    hand.click(hand.editor.toolbar.tools["switch"])
    assert hand.editor.tool == "switch"
    assert hand.editor.document.topology != Topology()
