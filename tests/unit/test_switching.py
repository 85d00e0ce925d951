# SPDX-License-Identifier: BSD-3-Clause
"""Loops of switches, found before anything runs, and how the file says that switches behave."""

from dataclasses import replace

import pytest

from linklab.editor import edits, export
from linklab.topology import Topology, switching
from linklab.topology.plan import plan
from linklab.topology.switching import _path, lone_switches, loop_words, loops


def drawn(*pairs, kind="legacySwitch", run=None):
    """Switches s1 … linked as `pairs` say, with what the file says of running."""
    topology = Topology()
    for _ in range(max(int(name[1:]) for pair in pairs for name in pair)):
        topology, _ = edits.add_node(topology, kind, 0, 0)
    for pair in pairs:
        topology = edits.add_link(topology, *pair)
    return replace(topology, extra={"linklab": {"run": run}} if run is not None else {})


RING = (("s1", "s2"), ("s2", "s3"), ("s3", "s1"))


@pytest.mark.parametrize(
    ("pairs", "found", "words"),
    [
        (RING[:2], {}, ""),
        (RING, {2: ("s3", "s2", "s1")}, "s3 – s2 – s1 – s3 is a loop of switches"),
        ((("s1", "s2"), ("s2", "s1")), {1: ("s2", "s1")}, "s2 – s1 – s2 is a loop of switches"),
        (
            (*RING, ("s3", "s4"), ("s4", "s3")),
            {2: ("s3", "s2", "s1"), 4: ("s4", "s3")},
            "s3 – s2 – s1 – s3 and s4 – s3 – s4 are loops of switches",
        ),
    ],
)
def test_loops_are_named_by_their_switches(pairs, found, words):
    """The link that closes each, and the way round."""
    assert loops(drawn(*pairs)) == found
    assert loop_words(drawn(*pairs)) == words


def test_of_many_loops_the_first_are_followed(monkeypatch):
    """Regression: each of thousands was, which took minutes for a sentence that names three."""
    followed = []
    monkeypatch.setattr(switching, "_path", lambda trees, *ends: followed.append(ends) or _path(trees, *ends))
    ring = drawn(*RING, *[("s1", "s2")] * 100)
    assert loop_words(ring).endswith(" and 98 more are loops of switches")
    assert [problem.severity for problem in ring.problems()] == ["warning"] * 101
    assert len(followed) == 3


def test_many_loops_are_counted():
    """A sentence stays a sentence."""
    pairs = [(f"s{i}", f"s{j}") for i in range(1, 6) for j in range(1, i)]
    assert loop_words(drawn(*pairs)).endswith(" and 3 more are loops of switches")


def test_a_spanning_tree_is_asked_for_and_ends_the_warning():
    """In the plan of every switch, and only where the file says so."""
    assert [str(p) for p in drawn(*RING).problems()] == [
        "link s3-s1: closes a loop of switches; without a spanning tree broadcasts circle in it for ever. "
        "Preferences > Switches > Spanning tree breaks the loop"
    ]
    looped = drawn(*RING, run={"stp": "1"})
    assert looped.problems() == []
    assert [node["stp"] for node in plan(looped)["nodes"]] == [True] * 3
    assert not any("stp" in node or "alone" in node for node in plan(drawn(*RING))["nodes"])
    assert "net.addSwitch('s1', cls=LinuxBridge, stp=True)" in export.script(looped, "ring")
    text = export.script(drawn(*RING, kind="switch", run={"stp": "1"}), "ring")
    assert "command(s1, 'ovs-vsctl set Bridge s1 stp_enable=true')" in text


def test_miniedits_switch_without_a_controller_is_a_preference():
    """It forwards nothing; one with a controller is as it was."""
    topology = drawn(("s1", "s2"), kind="switch", run={"alone": "drop"})
    topology, _ = edits.add_node(topology, "controller", 0, 0)
    topology = edits.add_link(topology, "c0", "s2")
    assert lone_switches(topology) == ["s1"]
    assert [node["alone"] for node in plan(topology)["nodes"]] == ["secure", "secure"]
    assert "failMode='secure'" in export.script(topology, "alone").split("addSwitch('s1'")[1].split("\n")[0]
    without = replace(topology, extra={})
    assert "failMode='standalone'" in export.script(without, "alone").split("addSwitch('s1'")[1].split("\n")[0]


@pytest.mark.parametrize("run", [{"stp": 1}, {"stp": None, "alone": []}, {}])
def test_what_the_file_says_otherwise_is_no_fault(run):
    """Such as a later Linklab may write it."""
    assert not any("stp" in node or "alone" in node for node in plan(drawn(*RING, run=run))["nodes"])
