# SPDX-License-Identifier: BSD-3-Clause
"""Ping by a key or a menu, and the tables of a node, in the window of a running network."""

import re
import sys
from pathlib import Path

from robot import needs_display
from test_editor import needs_kernel, run, stop
from test_editor_running_state import drawn, said, typed

sys.path.append(str(Path(__file__).parents[1] / "unit"))
from routed import addressed

from linklab.editor import edits
from linklab.topology import Topology

pytestmark = [*needs_display, needs_kernel]


def choose(hand, key, label):
    """Take an entry of a thing's menu."""
    dict(hand.editor.context.entries(key))[label]()
    hand.settle(0.2)


def words(hand):
    """What stands above the text of the window that opened last."""
    return str(hand.dialog().said.cget("text"))


def test_two_selected_hosts_ping_by_a_key_and_the_answer_is_plain(hand):
    """Regression: it took a terminal. The command is shown, so that it can be typed the next time."""
    drawn(hand, addressed())
    run(hand)
    hand.editor.document.select({"h1", "h3"})
    hand.editor.drawing.focus_set()
    hand.key("Control+k")
    hand.until(lambda: hand.dialog() is not None and "replies" in words(hand), 40, "the answer")
    window = hand.dialog()
    assert re.fullmatch(r"h3 answers: 4 of 4 replies, round-trip time [\d.]+ ms on average\.", words(hand))
    assert window.text.startswith("h1# ping -c 4 -W 2 10.0.3.1\nPING 10.0.3.1")
    assert said(hand) == words(hand)
    typed(hand, "ip link set r3-eth0 down", "r3")
    hand.click(next(each for each in window.buttons.winfo_children() if each.cget("text") == "Again"))
    hand.until(lambda: "does not answer" in words(hand), 40, "the other answer")
    hand.key("Escape")
    assert hand.dialog() is None
    stop(hand)


def test_ping_asks_for_its_target_and_says_what_cannot_be(hand):
    """By name or address; a switch has none, and while time stands still nothing answers."""
    drawn(hand, addressed())
    run(hand)
    hand.editor.document.select({"s1"})
    hand.editor.drawing.focus_set()
    hand.key("Control+k")
    assert "a switch has no address" in said(hand)
    choose(hand, "h1", "Ping…")
    dialog = hand.dialog()
    hand.key("Control+a")
    hand.robot.type("nobody")
    hand.settle()
    hand.key("Return")
    assert '"nobody" is neither a host or router here nor an address' in hand.read(dialog)
    hand.key("Control+a")
    hand.robot.type("10.0.9.9")
    hand.settle()
    hand.key("Return")
    hand.until(lambda: hand.dialog() is not dialog and "does not answer" in words(hand), 40, "the answer")
    hand.click(hand.dialog().area)  # without a window manager nobody gives it the keys
    hand.key("Escape")
    hand.editor.networking.clock(["pause"])
    hand.until(lambda: hand.editor.networking.is_paused, 10, "the pause")
    choose(hand, "h1", "Addresses")
    assert hand.dialog() is None
    assert said(hand) == "time is paused, so nothing inside can answer; Ctrl+P lets it go on"
    hand.editor.networking.clock(["resume"])
    hand.until(lambda: not hand.editor.networking.is_paused, 10, "that it goes on")
    stop(hand)


def test_everyone_pings_everyone(hand):
    """In a table that fills, with those that do not answer named."""
    drawn(hand, addressed())
    run(hand)
    typed(hand, "ip route del default", "h2")
    hand.editor.drawing.focus_set()
    hand.key("Control+Shift+K")
    hand.until(lambda: "were answered" in words(hand), 60, "all answers")
    lines = hand.dialog().text.split("\n")
    assert lines[0].split() == ["from", "h1", "h2", "h3"]
    assert lines[1].split() == ["h1", "-", "yes", "yes"]
    assert words(hand) == "4 of 6 pings were answered. No answer: h2 → h3, h3 → h2."
    stop(hand)


def test_the_tables_of_a_node_are_shown_with_their_commands(hand):
    """And are refreshed; of a host, a Linux bridge, and an Open vSwitch."""
    topology = Topology()
    for kind in ("host", "host", "legacySwitch", "switch"):
        topology, _ = edits.add_node(topology, kind, 0, 0)
    for pair in (("h1", "s1"), ("s1", "s2"), ("h2", "s2")):
        topology = edits.add_link(topology, *pair)
    drawn(hand, topology, {"h1": (100, 200), "s1": (250, 200), "s2": (400, 200), "h2": (550, 200)})
    run(hand)
    choose(hand, "h1", "Neighbours (ARP)")
    window = hand.dialog()
    hand.until(lambda: window.text, 20, "the table")
    assert window.text == "h1# ip neighbour\n(it prints nothing)"
    typed(hand, "ping -c 2 10.0.0.2", "h1")
    hand.key("F5")
    hand.until(lambda: "10.0.0.2 dev h1-eth0 lladdr" in window.text, 20, "the neighbour")
    hand.key("Escape")
    hardware = re.search(r"ether (\S+)", typed(hand, "ip link show h1-eth0", "h1"))[1]
    for key, label, shown in (
        ("h1", "Routes", "h1# ip route\n10.0.0.0/8 dev h1-eth0"),
        ("h1", "Addresses", "inet 10.0.0.1/8"),
        ("s1", "MAC table", f"{hardware} dev s1-eth1"),
        ("s1", "Spanning tree", "client# brctl showstp s1"),
        ("s2", "MAC table", hardware),
        ("s2", "Flow table", "actions=NORMAL"),
    ):
        choose(hand, key, label)
        hand.until(lambda: hand.dialog().text, 20, label)
        assert shown in hand.dialog().text
        hand.key("Escape")
    stop(hand)
