# SPDX-License-Identifier: BSD-3-Clause
"""The editor as a new user works it: real mouse and key events on a display of its own, networks in real pockets."""

import os
import re
import signal
import subprocess
import sys
from itertools import combinations
from pathlib import Path

import pytest
from robot import needs_display

from linklab import pocket_kernel
from linklab.editor import edits
from linklab.engine.api import Shows, Typed
from linklab.engine.pocket import PocketEngine
from linklab.topology import Topology

pytestmark = needs_display
needs_kernel = pytest.mark.skipif(pocket_kernel.find() is None, reason="the pocket kernel is not built (make kernel)")
ROOT = Path(__file__).parents[2]


def draw_lab_1(hand):
    """h1 - s1 - h2, by the mouse, as Lab 1 tells its reader."""
    hand.tool("legacySwitch")
    hand.place(450, 200)
    hand.tool("host")
    hand.place(250, 350)
    hand.place(650, 350)
    hand.tool("link")
    hand.drag(hand.spot("h1"), hand.spot("s1"))
    hand.drag(hand.spot("h2"), hand.spot("s1"))
    hand.tool("select")


def set_address(hand, name, address):
    """Properties by a double click, the address, OK by Return."""
    hand.place(*hand.spot(name), times=2)
    hand.until(lambda: hand.dialog() is not None, what=f"the dialog of {name}")
    hand.fill(hand.dialog(), "ip", address)
    hand.key("Return")
    hand.until(lambda: hand.dialog() is None, what="the end of the dialog")


def answer_file_dialog(hand, key, text):
    """Press a key that asks for a file, and type a path."""
    hand.key(key)
    hand.until(lambda: hand.dialog() is not None, what="the dialog")
    hand.robot.move(hand.dialog().winfo_rootx() + 100, hand.dialog().winfo_rooty() + 100)
    hand.settle()
    hand.key("Control+a")
    hand.robot.type(f"{text}\n")
    hand.until(lambda: hand.dialog() is None, what="the end of the dialog")


def run(hand):
    """The Run button, until it runs."""
    hand.click(hand.editor.toolbar.run)
    hand.until(lambda: hand.editor.networking.runner.state == "running", 60, "the network")


def stop(hand):
    """The Stop button, until it has stopped."""
    hand.click(hand.editor.toolbar.stop)
    hand.until(lambda: hand.editor.networking.runner.state == "stopped", 60, "the end")


@needs_kernel
def test_a_new_user_builds_runs_saves_and_exports_lab_1(hand, tmp_path):
    """Build Lab 1's topology, set addresses, save, run, ping in a terminal, stop, reopen, export, run the export."""
    draw_lab_1(hand)
    assert hand.editor.document.topology.port_names()["s1-eth2"] == "h2-eth0"
    set_address(hand, "h1", "10.0.0.1/8")
    set_address(hand, "h2", "10.0.0.2/8")
    hand.robot.move(500, 500)
    answer_file_dialog(hand, "Control+s", str(tmp_path / "one.mn"))
    assert (tmp_path / "one.mn").exists()
    assert not hand.editor.document.is_changed
    run(hand)

    hand.place(*hand.spot("h1"), button=3)
    hand.key("Down")
    hand.key("Return")
    server = hand.editor.networking.runner.session.server
    hand.until(lambda: any(client.terminal for client in server._clients), 30, "the terminal")
    hand.settle(1)
    hand.robot.move(100, 100)  # where a window without a window manager opens
    hand.settle(0.3)
    hand.robot.type("ping -c 2 10.0.0.2 > ping.txt\n")
    ping = tmp_path / "ping.txt"
    hand.until(lambda: ping.exists() and "2 received" in ping.read_text(), 30, "the ping")

    hand.editor.root.lift()
    stop(hand)
    topology = hand.editor.document.topology
    hand.key("Control+n")
    assert hand.editor.document.topology == Topology()
    answer_file_dialog(hand, "Control+o", str(tmp_path / "one.mn"))
    assert hand.editor.document.topology == topology
    answer_file_dialog(hand, "Control+e", str(tmp_path / "one.py"))
    assert_the_export_builds_the_same(topology, tmp_path)


def assert_the_export_builds_the_same(topology, folder):
    """`net` and `dump` of Mininet say the same of the exported script and of the editor's own network."""

    def seen(text):
        return re.sub(r"\s*pid=\d+|mininet> ", "", text).strip()

    with PocketEngine().start(topology, workdir=folder) as network:
        ours = [seen(network.run([Typed("mininet", word)])[0].output) for word in ("net", "dump")]
    with PocketEngine().start(None, workdir=folder) as network:
        prompt = Shows("mininet> ")
        network.run([Typed("client", "python3 one.py", prompt)])
        theirs = [
            seen(network.run([Typed("client", word, prompt)])[0].output).removeprefix(word).strip()
            for word in ("net", "dump")
        ]
        ping = network.run([Typed("client", "pingall", prompt)])[0].output
    assert theirs == ours
    assert "0% dropped (2/2 received)" in ping


def test_keys_alone(hand):
    """Everything without a mouse: add, link, name, move, undo, redo, copy, paste, delete."""
    hand.robot.move(500, 400)
    hand.editor.drawing.focus_set()
    for key in ("Shift+2", "Shift+4"):
        hand.key({"Shift+2": "at", "Shift+4": "dollar"}[key])
    assert [node.name for node in hand.editor.document.topology.nodes] == ["h1", "s1"]
    hand.key("Control+a")
    hand.key("Control+l")
    assert hand.editor.document.topology.port_names() == {"h1-eth0": "s1-eth1", "s1-eth1": "h1-eth0"}
    hand.key("Tab")
    before = hand.editor.document.topology
    hand.key("Right")
    hand.key("Right")
    assert hand.editor.document.topology != before
    hand.key("Control+z")
    assert hand.editor.document.topology == before
    hand.key("Control+y")
    hand.key("Control+a")
    hand.key("Control+c")
    hand.key("Control+v")
    assert [node.name for node in hand.editor.document.topology.nodes] == ["h1", "h2", "s1", "s2"]
    hand.key("Delete")
    assert [node.name for node in hand.editor.document.topology.nodes] == ["h1", "s1"]
    while hand.editor.document.undo_label:
        hand.key("Control+z")
    assert hand.editor.document.topology == Topology()


def test_the_mouse_moves_several(hand):
    """A band selects; dragging one of them drags all, and undo brings them back."""
    draw_lab_1(hand)
    before = hand.editor.document.topology
    hand.drag((150, 280), (760, 480))
    assert hand.editor.document.selection == {"h1", "h2"}
    x, y = hand.spot("h1")
    hand.drag((x, y), (x + 40, y + 60))
    after = hand.editor.document.topology
    moved = [(float(b.x) - float(a.x), float(b.y) - float(a.y)) for a, b in zip(before.nodes, after.nodes, strict=True)]
    assert moved[0] == moved[1] != (0, 0)
    assert moved[2] == (0, 0)
    hand.key("Control+z")
    assert hand.editor.document.topology == before


def test_a_wrong_value_is_told_at_its_field_and_loses_nothing(hand):
    """The dialog stays with everything typed; mended, it is taken."""
    draw_lab_1(hand)
    hand.place(*hand.spot("h1"), times=2)
    form = hand.dialog()
    hand.fill(form, "defaultRoute", "10.0.0.254")
    hand.fill(form, "ip", "10.0.0.300")
    hand.key("Return")
    assert form.winfo_exists()
    assert "300 is greater than 255" in form.inputs["ip"]._note.cget("text")
    assert form.inputs["defaultRoute"].get() == "10.0.0.254"
    hand.fill(form, "ip", "10.0.0.30")
    hand.key("Return")
    assert hand.editor.document.topology.hosts[0].opts["ip"] == "10.0.0.30"


@pytest.mark.parametrize("scale", [1.0, 2.0])
def test_no_label_lies_on_another_in_any_lab(hand, scale):
    """Names, addresses and port names of all labs are clear of each other and of the icons."""
    hand.editor.settings.scale = scale
    hand.editor.rebuild()
    hand.settle(0.4)
    drawing = hand.editor.drawing
    for path in sorted((ROOT / "topologies").glob("Lab *.mn")):
        hand.editor.filing.open_path(path)
        hand.settle(0.1)
        drawing.set_zoom(1.0)
        boxes = [(drawing.itemcget(item, "text"), drawing.bbox(item)) for item in drawing.find_withtag("label")]
        boxes += [("icon", drawing.bbox(item)) for item in drawing.find_withtag("icon")]
        for (one, a), (other, b) in combinations(boxes, 2):
            apart = a[2] <= b[0] + 2 or b[2] <= a[0] + 2 or a[3] <= b[1] + 2 or b[3] <= a[1] + 2
            assert apart, f"{path.stem}: {one} {a} lies on {other} {b}"


def test_a_broken_file_leaves_the_drawing(hand, tmp_path):
    """No JSON: told, and what was drawn is still there; a faulty one opens and tells its faults."""
    draw_lab_1(hand)
    before = hand.editor.document.topology
    (tmp_path / "broken.mn").write_text('{"hosts": [')
    hand.editor.filing.open_path(tmp_path / "broken.mn")
    hand.until(lambda: hand.dialog() is not None, what="the message")
    assert hand.editor.document.topology == before
    hand.dialog().destroy()
    text = before.dumps().replace('"dest": "s1"', '"dest": "s7"', 1)
    (tmp_path / "faulty.mn").write_text(text)
    hand.editor.filing.open_path(tmp_path / "faulty.mn")
    hand.until(lambda: hand.dialog() is not None, what="the message")
    assert hand.editor.document.path == tmp_path / "faulty.mn"
    hand.dialog().destroy()
    hand.editor.networking.run()
    hand.until(lambda: hand.dialog() is not None, what="the refusal")
    assert hand.editor.networking.runner.state == "stopped"


def test_leaving_with_changes_asks(hand):
    """Closing the window of a changed drawing asks; Escape stays."""
    draw_lab_1(hand)
    assert hand.editor.root.title().startswith("•")
    hand.key("Control+q")
    hand.until(lambda: hand.dialog() is not None, what="the question")
    hand.dialog().focus_force()
    hand.key("Escape")
    assert hand.editor.root.winfo_exists()
    hand.editor.filing._kept = None
    hand.editor.filing._autosave()
    assert hand.editor.filing.autosave.file.exists()


@needs_kernel
def test_time_links_and_the_end_of_an_engine(hand):
    """Pause, step, fast-forward; a link down and up; a running link changed; a kernel that dies costs no drawing."""
    hand.editor.filing.open_path(ROOT / "topologies/Lab 14.mn")
    run(hand)
    net, bar = hand.editor.networking, hand.editor.clock_bar
    hand.until(lambda: bar.clock, what="the clock")
    hand.click(bar.pause)
    hand.until(lambda: bar.clock["paused"], what="the pause")
    paused_s = bar.clock["now_s"]
    hand.settle(0.5)
    assert bar.clock["now_s"] == paused_s
    hand.click(bar.step_button)
    hand.until(lambda: bar.clock["now_s"] > paused_s, what="the step")
    hand.until(lambda: bar.clock["paused"] and bar.clock["until_ns"] is None, what="standing still again")
    assert bar.clock["now_s"] == pytest.approx(paused_s + 0.01, abs=0.001)
    hand.click(bar.pause)
    hand.until(lambda: not bar.clock["paused"], what="going on")
    target_s = bar.clock["now_s"] + 30
    net.clock(["until", f"{target_s}s"])
    hand.until(lambda: bar.clock["now_s"] >= target_s, 20, "the fast-forward")

    net.set_link(0, False)
    hand.until(lambda: 0 in net.down, 20, "link down")
    net.set_link(0, True)
    hand.until(lambda: not net.down, 20, "link up")
    hand.editor.properties.open(1)
    dialog = hand.dialog()
    dialog.directions[1].own.set("1")
    dialog.directions[1]._switched()
    dialog.directions[1].inputs["delay"].set("20ms")
    dialog.directions[1].inputs["rate"].set("1gbit")
    dialog.apply()
    hand.until(lambda: "the kernel has" in hand.editor.status.text.cget("text"), 20, "the change")
    assert "delay 20ms" in hand.editor.status.text.cget("text")
    assert "tbf" in hand.editor.status.text.cget("text")
    dialog.destroy()

    drawing = hand.editor.document.topology
    os.kill(net.runner.session.network.pid, signal.SIGKILL)
    hand.until(lambda: net.runner.state == "stopped", 20, "the end")
    hand.until(lambda: hand.dialog() is not None, what="the message")
    assert hand.editor.document.topology == drawing


@needs_kernel
def test_a_start_can_be_cancelled(hand):
    """Cancel while the kernel boots leaves nothing running, and Run works afterwards."""
    hand.editor.filing.open_path(ROOT / "topologies/Lab 8.mn")
    hand.click(hand.editor.toolbar.run)
    hand.settle(0.3)
    assert hand.editor.networking.runner.state == "starting"
    hand.click(hand.editor.status.cancel)
    hand.until(lambda: hand.editor.networking.runner.state == "stopped", 30, "the end")
    assert hand.dialog() is None
    run(hand)


@needs_kernel
def test_a_fault_in_an_order_to_the_network_is_shown_and_the_next_is_obeyed(hand):
    """Regression: nothing was said. The dialog has the traceback; the network and the window go on."""
    hand.editor.filing.open_path(ROOT / "topologies/Lab 8.mn")
    run(hand)
    net = hand.editor.networking

    def plan_badly(session):
        raise ZeroDivisionError("of our own making")

    net.runner.order(plan_badly, print, print)
    hand.until(lambda: hand.dialog() is not None, what="the fault")
    assert hand.dialog().title() == "A fault in the editor"
    assert "in plan_badly" in hand.read(hand.dialog())
    assert "ZeroDivisionError: of our own making" in hand.read(hand.dialog())
    hand.dialog().destroy()
    net.set_link(0, False)
    hand.until(lambda: 0 in net.down, 20, "link down")
    stop(hand)


def test_without_a_display():
    """One line says so and how to go on."""
    env = {key: value for key, value in os.environ.items() if key not in ("DISPLAY", "WAYLAND_DISPLAY")}
    command = [sys.executable, "-m", "linklab", "edit", "mine.mn"]
    done = subprocess.run(command, env=env, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 4
    assert (
        done.stderr
        == 'linklab: no display for a window; without one, `linklab shell "mine.mn"` runs a topology in this terminal\n'
    )


@needs_kernel
def test_start_cli_opens_the_mininet_cli(hand, tmp_path):
    """With Start CLI a terminal with the CLI opens at Run, and commands typed there run on the nodes."""
    path = tmp_path / "cli.mn"
    topology = Topology.load(ROOT / "topologies/Lab 10.mn")
    data = {**topology.preferences.data, "startCLI": "1"}
    edits.set_preferences(topology, data).save(path)
    hand.editor.filing.open_path(path)
    run(hand)
    session = hand.editor.networking.runner.session
    hand.until(lambda: session.server.is_open("mininet"), 30, "the CLI")
    hand.settle(1.5)
    hand.robot.move(100, 100)
    hand.settle(0.3)
    hand.robot.type("h1 ping -c 1 h2 > cli.txt\n")
    seen = tmp_path / "cli.txt"
    hand.until(lambda: seen.exists() and "1 received" in seen.read_text(), 30, "the ping")


def test_a_file_with_a_name_twice_is_mended_when_asked(hand, tmp_path):
    """Two hosts of one name cannot both be seen: Mend gives the second its own, and undo takes it back."""
    draw_lab_1(hand)
    text = hand.editor.document.topology.dumps().replace('"hostname": "h2"', '"hostname": "h1"')
    (tmp_path / "twice.mn").write_text(text)
    hand.editor.document.saved(None)
    hand.editor.filing.open_path(tmp_path / "twice.mn")
    hand.until(lambda: hand.dialog() is not None, what="the question")
    hand.dialog().focus_force()
    hand.key("Return")
    assert [node.name for node in hand.editor.document.topology.hosts] == ["h1", "h2"]
    assert [p for p in hand.editor.document.topology.problems() if p.severity == "error"] == []
    assert hand.editor.document.undo_label == "Mend"


def test_layers_theme_and_size(hand):
    """Addresses and port names come and go by their keys; dark and double size keep the drawing."""
    draw_lab_1(hand)
    drawing = hand.editor.drawing
    hand.robot.move(500, 500)

    def texts():
        return {drawing.itemcget(item, "text") for item in drawing.find_withtag("label")}

    assert texts() >= {"h1", "10.0.0.1/8", "s1-eth1"}
    hand.key("F6")
    hand.key("F7")
    assert texts() == {"h1", "h2", "s1"}
    before = hand.editor.document.topology
    hand.key("F9")
    hand.settle(0.5)
    hand.editor.set_scale(2.0)
    hand.settle(0.5)
    drawing = hand.editor.drawing
    assert hand.editor.look.theme == "dark"
    assert hand.editor.look.scale == 2.0
    assert texts() == {"h1", "h2", "s1"}
    assert hand.editor.document.topology == before


def test_what_is_said_goes_with_what_it_was_said_of(hand):
    """Regression: "pasted h4" stood there after the paste was undone, and "saved" after the next change."""
    editor = hand.editor
    hand.key("Shift+2")
    editor.editing.copy()
    editor.editing.paste()
    assert editor.status.said == "pasted h2"
    editor.document.select(())
    assert editor.status.said == "pasted h2"
    editor.document.undo()
    assert editor.status.said == ""
    editor.editing.redo()
    assert editor.status.said == "Paste: done again"
    editor.document.select({"h2"})
    hand.key("Right")
    assert "done again" not in editor.status.said
    assert "pasted h2" in "".join(editor.window.said)
