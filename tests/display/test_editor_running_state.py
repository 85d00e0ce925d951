# SPDX-License-Identifier: BSD-3-Clause
"""A running network in the window: links by one click, what the CLI does, controllers, loops, start commands."""

import math
import sys
from pathlib import Path

import pytest
from robot import needs_display
from test_editor import needs_kernel, run, stop

sys.path.append(str(Path(__file__).parents[1] / "unit"))
from routed import addressed

from linklab.editor import edits
from linklab.engine.api import Background, Typed
from linklab.topology import Topology, switching

pytestmark = [*needs_display, needs_kernel]
PLACES = {"h1": (100, 100), "h2": (100, 350), "s1": (280, 220), "r2": (480, 220), "r3": (700, 220), "h3": (900, 220)}


def drawn(hand, topology, places=PLACES):
    """Open a drawing."""
    hand.editor.document.open(edits.move(topology, places), None)
    hand.settle(0.3)


def typed(hand, text, terminal="client"):
    """Type a line into a terminal of the running network; what it showed."""
    network = hand.editor.networking.runner.session.network
    return network.run([Typed(terminal, text)], deadline_s=60)[0].output


def said(hand):
    """The line at the bottom."""
    return hand.editor.status.text.cget("text")


def click_switch(hand, place):
    """Click the small switch of a link."""
    drawing = hand.editor.drawing
    x, y = drawing.switch_spot(place)
    hand.place(int(x - drawing.canvasx(0)), int(y - drawing.canvasy(0)))


@pytest.mark.long
def test_one_click_takes_a_link_down_and_up_and_the_routes_come_back(hand):
    """Regression: h1 had lost its default route. What the CLI's `link` does is shown and mended as well."""
    drawn(hand, addressed())
    net = hand.editor.networking
    run(hand)
    assert "default via 10.0.1.254" in typed(hand, "ip route", "h1")
    typed(hand, "ip route add 192.0.2.0/24 via 10.0.1.254", "h1")
    hand.until(lambda: net.watch.state.links[0].flows, 20, "the first samples")
    click_switch(hand, 0)
    hand.until(lambda: net.down == {0}, 20, "the link's end")
    hand.until(lambda: net.node_states["h1"] == "attention", 20, "what the meter says of h1")
    assert typed(hand, "ip route", "h1").strip() == ""
    click_switch(hand, 0)
    hand.until(lambda: net.down == frozenset() and net.node_states["h1"] == "running", 20, "the link")
    routes = typed(hand, "ip route", "h1")
    assert "default via 10.0.1.254" in routes
    assert "192.0.2.0/24 via 10.0.1.254" in routes
    assert "1 received" in typed(hand, "ping -c 1 10.0.3.1", "h1")
    typed(hand, "link h1 s1 down", "mininet")
    hand.until(lambda: net.down == {0}, 20, "what the CLI did")
    assert "link h1-s1: down" in said(hand)
    typed(hand, "link h1 s1 up", "mininet")
    hand.until(lambda: net.down == frozenset(), 20, "what the CLI did")
    assert "default via 10.0.1.254" in typed(hand, "ip route", "h1")
    # between two routers no port is in the root namespace
    typed(hand, "ip link set r3-eth0 down", "r3")
    hand.until(lambda: net.down == {3}, 20, "what r3 did")
    hand.editor.document.select({3})
    hand.settle(0.2)
    assert "link r2-r3: down" in said(hand)
    hand.editor.drawing.focus_set()
    hand.key("Control+u")
    hand.until(lambda: net.down == frozenset(), 20, "the link by its key")
    hand.key("Control+i")
    hand.until(lambda: hand.dialog() is not None, what="the state in words")
    stop(hand)


def test_rates_and_packets_of_both_directions_are_shown(hand):
    """In words below the picture of the link."""
    drawn(hand, addressed())
    run(hand)
    hand.editor.networking.runner.session.network.run(
        [Typed("h1", "ping -q -c 200 -i 0.02 -s 1000 10.0.3.1", Background())]
    )
    drawing = hand.editor.drawing

    def shown():
        return [drawing.itemcget(i, "text") for i in drawing.find_withtag("trace") if drawing.type(i) == "text"]

    hand.until(lambda: any("h1→s1 4" in text and "pkt/s" in text for text in shown()), 30, "the rate")
    assert any("r2→r3" in text for text in shown())
    stop(hand)


def test_a_controller_is_green_once_it_serves(hand):
    """One at 127.0.0.1 is the person's to start, in the Root Terminal; before that it needs attention."""
    topology = Topology()
    for kind in ("switch", "controller", "host", "host"):
        topology, _ = edits.add_node(topology, kind, 0, 0)
    for pair in (("c0", "s1"), ("h1", "s1"), ("h2", "s1")):
        topology = edits.add_link(topology, *pair)
    topology = edits.set_opts(topology, "c0", {"controllerType": "remote"})
    drawn(hand, topology, {"c0": (300, 80), "s1": (300, 220), "h1": (150, 350), "h2": (450, 350)})
    run(hand)
    net = hand.editor.networking
    assert "in the Root Terminal, listening on port 6633" in said(hand)
    hand.until(lambda: net.node_states["c0"] == "attention", 30, "that c0 is missing")
    assert net.node_states["s1"] == "attention"
    typed(hand, "ovs-testcontroller ptcp:6633 --detach --no-chdir")
    hand.until(lambda: net.node_states["c0"] == "running", 60, "the connection")
    assert net.watch.state.nodes["c0"].words == "c0: connected to s1"
    assert "bytes from 10.0.0.2" in typed(hand, "ping -c 5 10.0.0.2", "h1")
    stop(hand)


@pytest.mark.parametrize("answer", ["Run with STP", "Cancel"])
def test_a_loop_is_found_before_anything_runs(hand, answer):
    """Regression: it died after 120 s. The offer is kept in the file, and can be undone."""
    topology = Topology()
    for kind in ("legacySwitch", "legacySwitch", "host", "host"):
        topology, _ = edits.add_node(topology, kind, 0, 0)
    for pair in (("s1", "s2"), ("s2", "s1"), ("h1", "s1"), ("h2", "s2")):
        topology = edits.add_link(topology, *pair)
    drawn(hand, topology, {"s1": (300, 100), "s2": (500, 100), "h1": (200, 250), "h2": (600, 250)})
    hand.click(hand.editor.toolbar.run)
    hand.until(lambda: hand.dialog() is not None, what="the question")
    dialog = hand.dialog()
    assert "s2 – s1 – s2 is a loop of switches" in hand.read(dialog)
    hand.click(next(button for button in dialog.buttons.winfo_children() if button.cget("text") == answer))
    if answer == "Cancel":
        assert not hand.editor.networking.is_on
        assert hand.editor.document.topology.extra == {}
        return
    hand.until(lambda: hand.editor.networking.runner.state == "running", 60, "the network")
    assert hand.editor.document.topology.extra == {"linklab": {"run": {"stp": "1"}}}
    assert "1 received" in typed(hand, "ping -c 1 10.0.0.2", "h1")
    stop(hand)
    hand.editor.editing.undo()
    assert hand.editor.document.topology.extra == {}


@pytest.mark.parametrize("kind", ["legacySwitch", "switch"])
def test_what_the_spanning_tree_blocks_is_marked_and_said(hand, kind):
    """Regression: it was not to be seen. A mark on the line near the port, and words; both follow the tree."""
    topology = Topology()
    for each in (kind, kind, kind):
        topology, _ = edits.add_node(topology, each, 0, 0)
    for pair in (("s1", "s2"), ("s2", "s3"), ("s3", "s1")):
        topology = edits.add_link(topology, *pair)
    drawn(hand, switching.with_spanning_tree(topology), {"s1": (300, 80), "s2": (150, 300), "s3": (450, 300)})
    net, drawing = hand.editor.networking, hand.editor.drawing
    run(hand)
    hand.until(lambda: net.waiting, 20, "what the meter says of the tree")
    ((port, state),) = net.waiting.items()
    assert state == "blocking"
    (place,) = net.waiting_links()
    node = port.partition("-")[0]
    assert net.watch.state.nodes[node].words == f"{node}: running; {port} is blocked by the spanning tree"
    assert sum("root of the spanning tree" in each.words for each in net.watch.state.nodes.values()) == 1
    x0, y0, x1, y1 = drawing.bbox(f"tree{place}")
    mark, spots = ((x0 + x1) / 2, (y0 + y1) / 2), drawing.scene.spots
    assert math.dist(mark, spots[node]) < math.dist(mark, spots[other(net, place, node)])
    hand.editor.document.select({place})
    hand.settle(0.2)
    assert f"{port} is blocked by the spanning tree" in said(hand)
    closed = next(i for i in range(3) if i != place)
    net.set_link(closed, False)
    hand.until(lambda: net.down == {closed}, 20, "the link's end")
    hand.until(lambda: not net.waiting, 60, "the tree without it")
    assert not drawing.find_withtag("tree")
    stop(hand)
    assert not drawing.find_withtag("tree")


def other(net, place, node):
    """The node at the other end of a link."""
    link = net.document.topology.links[place]
    return link.dest if link.src == node else link.src


def test_a_start_command_that_fails_is_told_of(hand):
    """With its node, status and words; the network runs."""
    drawn(hand, edits.set_opts(addressed(), "h1", {"startCommand": "cat /no/such"}))
    run(hand)
    hand.until(lambda: hand.dialog() is not None, what="the message")
    texts = hand.read(hand.dialog())
    assert "h1: cat /no/such: cat: /no/such: No such file or directory (status 1)" in texts
    assert "The network runs all the same." in texts
    hand.key("Return")
    assert hand.dialog() is None
    stop(hand)
