# SPDX-License-Identifier: BSD-3-Clause
"""Files of our editor in the distribution's MiniEdit, and files of MiniEdit's in our editor; both in real windows."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest
from robot import needs_display

from linklab.topology import Topology
from linklab.topology.templates import made

pytestmark = needs_display
DRIVER = Path(__file__).with_name("miniedit_driver.py")
CAPTURE = Path(__file__).parents[1] / "captures" / "miniedit-2.2.0.1-all-kinds.mn"
PYTHON = shutil.which("python3", path="/usr/bin") or "python3"
DEADLINE_S = 60


@pytest.fixture
def miniedit(display):
    """Runs MiniEdit; what it shows."""
    there = subprocess.run([PYTHON, "-c", "import mininet.examples.miniedit"], capture_output=True, check=False)
    if there.returncode:
        pytest.skip("MiniEdit is not installed (apt install mininet)")

    def run(*words):
        done = subprocess.run(
            [PYTHON, str(DRIVER), *map(str, words)], capture_output=True, text=True, timeout=DEADLINE_S, check=False
        )
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout.splitlines()[-1])

    return run


def test_a_drawing_of_ours_is_opened_by_miniedit(hand, miniedit, tmp_path):
    """Drawn by mouse and keys, with a direction's own settings; MiniEdit shows every node and link, and keeps them."""
    hand.tool("host")
    hand.place(200, 300)
    hand.tool("host")
    hand.place(400, 300)
    hand.tool("switch")
    hand.place(300, 150)
    hand.tool("controller")
    hand.place(300, 60)
    for one, other in (("h1", "s1"), ("h2", "s1"), ("s1", "c0")):
        hand.tool("link")
        hand.drag(hand.spot(one), hand.spot(other))
    document = hand.editor.document
    own = {"forward": {"rate": "10mbit", "delay": "5ms"}}
    from linklab.editor import edits  # noqa: PLC0415 - needs tkinter, which may be missing

    document.apply("Set", edits.set_link(document.topology, 0, {"bw": 10, "delay": "2ms"}, own))
    ours = tmp_path / "ours.mn"
    hand.editor.filing.save_path(ours)
    shown = miniedit("open", ours, tmp_path / "theirs.mn")
    assert shown["nodes"] == {"h1": ["Host"], "h2": ["Host"], "s1": ["Switch"], "c0": ["Controller"]}
    assert shown["links"] == [["h1", "s1", "data"], ["h2", "s1", "data"], ["s1", "c0", "control"]]
    assert {"bw": 10, "delay": "2ms"} in shown["options"]
    theirs, before = Topology.load(tmp_path / "theirs.mn"), Topology.load(ours)
    assert [(node.name, node.x, node.y) for node in theirs.nodes] == [
        (node.name, node.x, node.y) for node in before.nodes
    ]
    assert [link.opts for link in theirs.links] == [link.opts for link in before.links]


@pytest.mark.parametrize("template", ["dumbbell:3", "tree:2,2,openflow=1", "rtt-fairness:2"])
def test_a_template_is_opened_by_miniedit(miniedit, tmp_path, template):
    """Every node and link of it."""
    drawn = made(template)
    drawn.save(tmp_path / "a.mn")
    shown = miniedit("open", tmp_path / "a.mn", tmp_path / "b.mn")
    assert set(shown["nodes"]) == {node.name for node in (*drawn.nodes, *drawn.all_controllers)}
    assert [link for link in shown["links"] if link[2] == "data"] == sorted(
        [link.src, link.dest, "data"] for link in drawn.links
    )
    back = Topology.load(tmp_path / "b.mn")
    assert sorted(link.name for link in back.links) == sorted(link.name for link in drawn.links)
    assert {host.name: back.address(host) for host in back.hosts} == {
        host.name: drawn.address(host) for host in drawn.hosts
    }


def test_a_drawing_of_miniedit_s_is_opened_by_ours(hand, miniedit, tmp_path):
    """Drawn by MiniEdit's own buttons; no fault, no warning, and saved again it is the same, byte for byte."""
    miniedit("draw", tmp_path / "theirs.mn")
    hand.editor.filing.open_path(tmp_path / "theirs.mn")
    hand.settle()
    assert hand.dialog() is None
    assert hand.editor.status.text.cget("text") == "opened theirs.mn"
    topology = hand.editor.document.topology
    assert [node.name for node in topology.nodes] == ["h1", "h2", "s1"]
    assert [link.name for link in topology.links] == ["h1-s1", "h2-s1"]
    assert topology.switches[0].controllers == ("c0",)
    hand.editor.filing.save_path(tmp_path / "again.mn")
    assert (tmp_path / "again.mn").read_bytes() == (tmp_path / "theirs.mn").read_bytes()


def test_every_kind_of_node_goes_there_and_back(miniedit, tmp_path):
    """MiniEdit's own file of all kinds, opened and saved by the MiniEdit of this machine, means the same to us."""
    miniedit("open", CAPTURE, tmp_path / "again.mn")
    before, after = Topology.load(CAPTURE), Topology.load(tmp_path / "again.mn")
    assert after.hosts == before.hosts
    assert after.links == before.links
    assert [switch.type for switch in after.switches] == [switch.type for switch in before.switches]
