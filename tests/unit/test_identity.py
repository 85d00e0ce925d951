# SPDX-License-Identifier: BSD-3-Clause
"""Which thing of a drawing is which, whatever its name, its place and its values become."""

from dataclasses import replace
from pathlib import Path

from linklab.editor import edits
from linklab.editor.identity import identity_of, key_of
from linklab.topology import Link, Topology

LAB_14 = Path(__file__).parents[2] / "topologies/Lab 14.mn"


def test_a_link_is_found_where_it_now_stands():
    """Deleting one before it moves it up; a changed one is the same; undone, it is where it was."""
    topology = Topology.load(LAB_14)
    last = len(topology.links) - 1
    mine = identity_of(topology, last)
    fewer = edits.delete(topology, {0})
    assert key_of(fewer, mine) == last - 1
    changed = edits.set_link(fewer, last - 1, {"bw": 3}, {})
    assert key_of(changed, mine) == last - 1
    assert key_of(edits.delete(changed, {last - 1}), mine) is None
    assert key_of(topology, mine) == last


def test_a_node_keeps_its_identity_under_another_name():
    """A new node that takes the old name is another."""
    topology = Topology.load(LAB_14)
    mine = identity_of(topology, "h1")
    renamed = edits.set_opts(topology, "h1", {"hostname": "web"})
    assert key_of(renamed, mine) == "web"
    again, name = edits.add_node(edits.delete(topology, {"h1"}), "host", 0, 0)
    assert name == "h1"
    assert key_of(again, mine) is None


def test_copies_are_things_of_their_own():
    """Pasted nodes and links are not the ones they were copied from."""
    topology = Topology.load(LAB_14)
    names = [node.name for node in topology.nodes]
    pasted, _ = edits.paste(topology, edits.part(topology, names), (40, 40))
    every = [thing.identity for thing in (*pasted.nodes, *pasted.all_controllers, *pasted.links)]
    assert len(set(every)) == len(every)


def test_identity_is_no_part_of_what_a_thing_is():
    """Equal things are equal; nothing of it is in the file."""
    assert Link("h1", "s1") == Link("h1", "s1")
    assert Link("h1", "s1").identity != Link("h1", "s1").identity
    link = Link("h1", "s1")
    assert replace(link, src="h2").identity == link.identity
    assert Topology.load(LAB_14).dumps() == LAB_14.read_text()
    assert "identity" not in repr(link)
