# SPDX-License-Identifier: BSD-3-Clause
"""An exercise's topology in the editor: its environment is set when the network is ready."""

import json
import shutil
from pathlib import Path

import pytest
from robot import needs_display

from linklab import pocket_kernel
from linklab.engine.api import Typed
from linklab.exercise.instance import encode_environment

pytestmark = [
    *needs_display,
    pytest.mark.skipif(pocket_kernel.find() is None, reason="the pocket kernel is not built (make kernel)"),
]
ROOT = Path(__file__).parents[2]
LINES = [
    ("client", "tc qdisc add dev s1-eth1 root netem delay 20ms", "Delay on s1-eth1: 20 ms"),
    ("h2", "sysctl -w net.ipv4.tcp_rmem='4096 16384 65536'", ""),
]


@pytest.fixture
def folder(tmp_path):
    """A folder as `linklab exercise start` leaves it."""
    shutil.copy(ROOT / "topologies/Lab 8.mn", tmp_path / "Problem 1.mn")
    shutil.copy(ROOT / "linklab/exercise/set_env.sh", tmp_path / "set_env.sh")
    issue(tmp_path, LINES)
    return tmp_path


def issue(folder, lines):
    """An instance with these lines."""
    data = {"exercise": "problem1", "environment": encode_environment(lines)}
    (folder / "instance.json").write_text(json.dumps(data))


def run(hand):
    """The Run button, until it runs."""
    hand.click(hand.editor.toolbar.run)
    hand.until(lambda: hand.editor.networking.runner.state == "running", 60, "the network")


def status(hand):
    """The line at the bottom."""
    return hand.editor.status.text.cget("text")


def test_the_environment_is_set_when_the_network_is_ready(hand, folder):
    """Typed once the network runs; the status line and the menu say what was set, not what was planted."""
    hand.editor.filing.open_path(folder / "Problem 1.mn")
    run(hand)
    hand.until(lambda: "the environment is set" in status(hand), 60, "the environment")
    assert status(hand) == "the environment is set: Delay on s1-eth1: 20 ms"
    network = hand.editor.networking.runner.session.network
    (rmem,) = network.run([Typed("h2", "sysctl -n net.ipv4.tcp_rmem")])
    assert rmem.output.split() == ["4096", "16384", "65536"]
    hand.editor.networking.show_environment()
    hand.until(lambda: hand.dialog() is not None, what="the text")
    hand.dialog().destroy()
    assert hand.editor.networking.environment.startswith("Problem 1: setting the environment")
    assert "rmem" not in hand.editor.networking.environment


def test_an_environment_that_fails_is_told(hand, folder):
    """In a window with the script's words; the network goes on."""
    issue(folder, [("h9", "true", "")])
    hand.editor.filing.open_path(folder / "Problem 1.mn")
    run(hand)
    hand.until(lambda: hand.dialog() is not None, 60, "the message")
    assert "is not set" in status(hand)
    assert hand.editor.networking.runner.state == "running"


def test_another_folder_has_no_environment(hand, folder):
    """A topology without an instance beside it is run as it is."""
    (folder / "instance.json").unlink()
    hand.editor.filing.open_path(folder / "Problem 1.mn")
    run(hand)
    hand.settle(1)
    assert "environment" not in status(hand)
    hand.editor.networking.show_environment()
    assert status(hand).startswith("no environment was set")
