# SPDX-License-Identifier: BSD-3-Clause
"""Run > Live Plots: the window shows a flow and its queue, stops, tells values, saves, and outlives the run."""

from pathlib import Path

from robot import needs_display
from test_editor import needs_kernel, run

from linklab import data
from linklab.editor.app import Editor
from linklab.engine.api import Background, Typed
from linklab.topology import Topology

pytestmark = [*needs_display, needs_kernel]
LAB = Path(__file__).parents[2] / "topologies" / "Lab 8.mn"
SHAPER = "tc qdisc add dev s1-eth2 root handle 1: tbf rate 10mbit burst 10000 limit 60000"


def test_live_plots_show_a_flow_and_stay_when_the_network_ends(hand, tmp_path):
    """The lines, their levels and their values; what was seen is saved after the end."""
    editor: Editor = hand.editor
    editor.document.open(Topology.load(LAB), None)
    hand.settle(0.3)
    run(hand)
    network = editor.networking.runner.session.network
    network.run([Typed("h1", "tc qdisc add dev h1-eth0 root netem delay 10ms"), Typed("client", SHAPER)])
    network.run([Typed("h2", "iperf3 -s", Background())])
    editor.live_plotting.open()
    window = editor.live_plotting.shown
    hand.until(lambda: window.feed.is_open, 20, "the first readings")
    network.run([Typed("h1", "iperf3 -c 10.0.0.2 -t 60", Background())])
    hand.until(lambda: {"rate", "queue", "cwnd", "rtt"} <= set(window.view.drawn), 30, "the four panels")
    hand.until(lambda: any("cwnd" in key and track.count > 20 for key, track in tracks(window)), 30, "some readings")
    (rate,) = [track for key, track in tracks(window) if key.startswith("rate h1 ")]
    assert rate.series.label == "h1 → h2:5201"
    (port,) = [track for key, track in tracks(window) if key == "rate s1-eth2"]
    assert 8e6 < port.last[1] < 11e6  # acknowledgements come in bursts, frames do not
    labels = {level.label for level in window.feed.history.levels()}
    assert {"limit of s1-eth2", "rate of s1-eth2", "BDP of h1 → h2:5201"} <= labels
    assert "Rate h1 → h2:5201" in window.values.cget("text")

    whole = window.view.whole
    version = window.feed.history.version
    hand.until(lambda: window.feed.history.version >= version + 12, 20, "twelve readings")
    assert window.view.whole - whole < 8  # most readings draw lines alone

    window.follow(False)
    shown = window.window_s
    version = window.feed.history.version
    hand.until(lambda: window.feed.history.version >= version + 5, 20, "five readings")
    assert window.window_s == shown
    window.step(-1)
    assert window.values.cget("text").startswith(f"{window.cursor_s:.3f} s")

    editor.networking.stop()  # its button lies below the window
    hand.until(lambda: editor.networking.runner.state == "stopped", 60, "the end")
    hand.until(lambda: not window.feed.is_reading, 20, "the end of readings")
    window.save(".svg", tmp_path / "live.svg")
    window.save(".flent.gz", tmp_path / "live.flent.gz")
    assert b"limit of s1-eth2" in (tmp_path / "live.svg").read_bytes()
    found = data.open_file(tmp_path / "live.flent.gz")
    assert found.series["rate h1 → h2:5201"].known.max() > 8e6
    window.destroy()
    assert editor.live_plotting.shown is None


def tracks(window):
    """Of the window's history."""
    with window.feed.history.lock:
        return list(window.feed.history.tracks.items())
