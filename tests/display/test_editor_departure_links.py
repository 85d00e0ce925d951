# SPDX-License-Identifier: BSD-3-Clause
"""A running link whose backend is eBPF is changed in its dialog, and packets take as long as the dialog then says."""

import re

import pytest
from robot import needs_display
from test_editor import ROOT, needs_kernel, run

from linklab.engine.api import Typed

pytestmark = [*needs_display, needs_kernel]


def rtt_ms(hand):
    """Of h1 to h2, the mean of five."""
    network = hand.editor.networking.runner.session.network
    (done,) = network.run([Typed("h1", "ping -c 5 -i 0.1 10.0.0.2")])
    return float(re.search(r"rtt min/avg/max/mdev = [\d.]+/([\d.]+)", done.output)[1])


def change(hand, number, **texts):
    """Type into the fields of the direction that leaves the first end, and press Apply."""
    dialog = hand.dialog()
    direction = dialog.directions[0]
    if direction.own.get() == "0":
        hand.click(direction.box)
    for name, text in texts.items():
        direction.inputs[name].set(text)
    hand.editor.status.text.configure(text="")
    dialog.apply()
    hand.until(lambda: "the kernel has" in hand.editor.status.text.cget("text"), 20, "the change")
    return hand.editor.status.text.cget("text")


def test_a_running_link_by_departure_time_is_changed_in_its_dialog(hand):
    """Set, changed, and given back to netem while the network runs; the status line says what the kernel then has."""
    hand.editor.filing.open_path(ROOT / "topologies/Lab 8.mn")
    run(hand)
    links = hand.editor.document.topology.links
    number = next(i for i, link in enumerate(links) if {link.src, link.dest} == {"s1", "s2"})
    hand.editor.properties.open(number)
    hand.dialog().notebook.select(1)
    hand.settle(0.2)
    assert rtt_ms(hand) < 2
    said = change(hand, number, backend="eBPF", delay="20ms", rate="10mbit")
    assert "rate 10mbit delay 20ms" in said
    assert rtt_ms(hand) == pytest.approx(20, abs=1)
    said = change(hand, number, delay="35ms")
    assert "rate 10mbit delay 35ms" in said
    assert rtt_ms(hand) == pytest.approx(35, abs=1)
    said = change(hand, number, backend="netem", delay="5ms", rate="")
    assert "netem" in said
    assert "delay 5ms" in said
    assert rtt_ms(hand) == pytest.approx(5, abs=1)
    (sent,) = hand.editor.networking.runner.session.network.run([Typed("client", "linklab link show")])
    assert sent.output.startswith("no link is set")
    hand.dialog().destroy()
