# SPDX-License-Identifier: BSD-3-Clause
"""Run > Guide: what is typed in the terminals of a lab's network shows in the window, and hints come one by one."""

import base64
import shutil
import time
from pathlib import Path

from robot import needs_display
from test_editor import needs_kernel, run, stop
from test_editor_running_state import said

from linklab.topology import Topology

pytestmark = [*needs_display, needs_kernel]

TOPOLOGY = Path(__file__).parents[2] / "topologies" / "Lab 3.mn"


def types(hand, node, text):
    """Type a line into a new terminal of a node, as in a window of its own; it is closed when the prompt is back."""
    connection = hand.editor.networking.runner.session.server.connect()
    connection.send({"op": "open", "node": node, "rows": 24, "columns": 200, "term": "xterm"})
    seen, typed = "", False
    end_s = time.monotonic() + 60
    while not (typed and "root@" in seen[seen.find(text) + len(text) :]):
        assert time.monotonic() < end_s, seen
        hand.settle(0.1)
        for message in connection.receive(0.1) or []:
            seen += base64.b64decode(message.get("data", "")).decode("utf-8", "replace")
        if "root@" in seen and not typed:
            typed, seen = True, ""
            connection.send({"op": "input", "data": base64.b64encode(f"{text}\n".encode()).decode()})
    return connection


def test_the_guide_of_a_lab_shows_what_was_done_and_gives_hints(hand, tmp_path):
    """A wrong delay, and its mending; without a lab the guide says what it is for."""
    file = shutil.copy(TOPOLOGY, tmp_path)
    hand.editor.document.open(Topology.load(TOPOLOGY), tmp_path / "mine.mn")
    run(hand)
    hand.editor.guiding.show()
    assert "the guide is for the network of a lab" in said(hand)
    stop(hand)
    hand.editor.document.open(Topology.load(TOPOLOGY), Path(file))
    run(hand)
    hand.editor.guiding.show()
    hand.until(lambda: hand.dialog() is not None, 20, "the window")
    window = hand.dialog()
    hand.until(lambda: "✓   1 Open the topology and start it [editor]" in window.text, 20, "the first step")
    kept = [types(hand, "h1", "tc qdisc add dev h1-eth0 root netem delay 10ms")]
    hand.until(lambda: "✗" in window.text, 20, "the mistake")
    assert "h1-eth0 has netem delay 10ms; wanted is netem delay 100ms" in window.text
    kept.append(types(hand, "h1", "tc qdisc change dev h1-eth0 root netem delay 100ms"))
    hand.until(lambda: "✗" not in window.text, 20, "the mending")
    hand.click(next(each for each in window.buttons.winfo_children() if each.cget("text") == "Hint"))
    hand.until(lambda: "\n\nOpen a terminal on h1 and on h2" in str(window.said.cget("text")), 20, "the hint")
    stop(hand)
    hand.until(lambda: hand.editor.guiding.session is None, 20, "the end of the guide")
    assert (tmp_path / ".linklab" / "progress.jsonl").is_file()
    for connection in kept:
        connection.close()
