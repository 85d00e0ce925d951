# SPDX-License-Identifier: BSD-3-Clause
"""File > New from Template, Import and the exports, in a real window."""

from pathlib import Path

import pytest
from robot import needs_display

from linklab.exchange import read
from linklab.topology.templates import TEMPLATES, template

pytestmark = needs_display
NETWORKS = Path(__file__).parents[1] / "strangers" / "networks"


def press(hand, label):
    """Press a button of the dialog on top."""
    hand.click(next(b for b in hand.dialog().buttons.winfo_children() if b.cget("text") == label))


def test_the_menu_offers_every_template(hand):
    """Ours, a line, and those of mn --topo."""
    import tkinter as tk  # noqa: PLC0415 - may be missing

    menu = tk.Menu(hand.editor.root, tearoff=False)
    hand.editor.starting.fill(menu)
    labels = [menu.entrycget(i, "label") for i in range(menu.index("end") + 1) if menu.type(i) == "command"]
    assert len(labels) == len(TEMPLATES)
    assert labels[0] == "Dumbbell…"
    assert labels[-1] == "mn --topo torus…"


def test_a_dumbbell_by_keys(hand):
    """The dialog's first field has the keyboard; a wrong number is explained at its field; OK draws."""
    hand.editor.starting.ask(template("dumbbell"))
    hand.settle()
    form = hand.dialog()
    hand.fill(form, "pairs", "0")
    hand.key("Return")
    assert hand.dialog() is form
    hand.fill(form, "pairs", "3")
    hand.fill(form, "rate", "50")
    hand.key("Return")
    hand.until(lambda: hand.dialog() is None, what="the end of the dialog")
    topology = hand.editor.document.topology
    assert (len(topology.hosts), len(topology.switches)) == (6, 2)
    assert topology.links[-1].opts == {"bw": 50, "delay": "10ms"}
    assert hand.editor.document.is_changed
    assert hand.editor.status.text.cget("text") == "Dumbbell: 8 nodes and 7 links"


def test_loops_are_named(hand):
    """The status line names the spanning tree, which keeps a broadcast from circling for ever."""
    hand.editor.starting.ask(template("ring"))
    hand.settle()
    hand.key("Return")
    assert hand.editor.status.text.cget("text").endswith("; a spanning tree breaks its loops")
    assert hand.editor.document.topology.problems() == []


def test_what_is_not_saved_is_asked_about_before_a_template(hand):
    """As before any other drawing."""
    hand.tool("host")
    hand.place(200, 200)
    hand.editor.filing.safely(lambda: hand.editor.starting.ask(template("star")))
    hand.settle()
    press(hand, "Cancel")
    assert len(hand.editor.document.topology.hosts) == 1


def test_an_import_by_the_file_dialog_says_what_was_left_out(hand):
    """containerlab's file is offered and read; Close leaves the drawing."""
    hand.editor._commands()["import"]()
    hand.settle()
    chooser = hand.dialog()
    chooser.show(NETWORKS)
    assert set(chooser.list.get_children()) == {"campus.clab.yml", "ospf-lab", "two_sites.py"}
    chooser.name.set("campus.clab.yml")
    chooser.choose()
    hand.settle()
    assert [node.name for node in hand.editor.document.topology.hosts] == ["web-server", "client1", "client2"]
    assert "nokia_srlinux" in _text_of(hand.dialog())
    press(hand, "Close")
    assert hand.dialog() is None


def test_a_program_is_run_only_once_it_is_allowed(hand):
    """A .py for mn --custom."""
    pytest.importorskip("mininet.topo", reason="Mininet is not installed")
    before = hand.editor.document.topology
    hand.editor.filing.open_path(NETWORKS / "two_sites.py", first=True)
    hand.settle()
    hand.key("Escape")
    assert hand.dialog() is None
    assert hand.editor.document.topology is before
    hand.editor.filing.open_path(NETWORKS / "two_sites.py", first=True)
    hand.settle()
    form = hand.dialog()
    press(hand, "OK")
    hand.until(lambda: "several" in _labels_of(form), seconds=30, what="the answer")
    assert "this file has several topologies; name one: sites, small" in _labels_of(form)
    hand.fill(form, "topo", "sites,3")
    hand.key("Return")
    hand.until(lambda: len(hand.editor.document.topology.hosts) == 6, seconds=30, what="the import")
    hand.settle()
    assert "LinuxRouter is not run" in _text_of(hand.dialog())


def test_both_exports(hand, tmp_path):
    """The files, and what they do not hold."""
    hand.editor.starting.begin(read.read(NETWORKS / "ospf-lab").topology, "x")
    hand.editor.exchanging.export_path(tmp_path / "x.clab.yml")
    hand.settle()
    assert "make the bridges before deploying" in _text_of(hand.dialog())
    press(hand, "Close")
    hand.editor.exchanging.export_path(tmp_path / "x")
    hand.settle()
    assert (tmp_path / "x" / "lab.conf").is_file()
    assert read.read(tmp_path / "x.clab.yml").topology.nodes
    assert hand.editor.status.text.cget("text") == f"exported {tmp_path / 'x'}"


def _widgets(widget):
    return [widget, *(each for child in widget.winfo_children() for each in _widgets(child))]


def _text_of(dialog):
    return next(each.get("1.0", "end") for each in _widgets(dialog) if each.winfo_class() == "Text")


def _labels_of(dialog):
    return " ".join(str(each.cget("text")) for each in _widgets(dialog) if each.winfo_class() == "TLabel")
