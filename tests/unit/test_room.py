# SPDX-License-Identifier: BSD-3-Clause
"""Where copies find room."""

from itertools import combinations
from pathlib import Path

import pytest

from linklab.editor import edits
from linklab.editor.document import everyone
from linklab.editor.room import CLEAR, shift_for
from linklab.topology import Topology

ROOT = Path(__file__).parents[2]
LABS = sorted(path.name for path in (ROOT / "topologies").glob("Lab *.mn"))


def pasted(topology, names):
    """The drawing with a copy of these nodes."""
    piece = edits.part(topology, names)
    return edits.paste(topology, piece, shift_for(topology, piece))[0]


def apart(topology):
    """Whether no node lies on another or on its name."""
    spots = [edits.position(node) for node in everyone(topology)]
    return all(abs(ax - bx) >= CLEAR[0] or abs(ay - by) >= CLEAR[1] for (ax, ay), (bx, by) in combinations(spots, 2))


@pytest.mark.parametrize("lab", LABS)
def test_a_copy_lies_on_nothing(lab):
    """Regression: it lay 40 pixels aside, on the names of the original; here three copies of every lab's network."""
    topology = Topology.load(ROOT / "topologies" / lab)
    if not apart(topology):
        pytest.skip("drawn closer than copies are put")
    for _ in range(3):
        topology = pasted(topology, [node.name for node in everyone(topology)][:8])
    assert apart(topology)


def test_what_was_cut_comes_back_where_it_was():
    """Nothing is in its way there."""
    topology = Topology.load(ROOT / "topologies/Lab 14.mn")
    piece = edits.part(topology, ["h1", "h2"])
    assert shift_for(edits.delete(topology, {"h1", "h2"}), piece) == (0, 0)


def test_one_node_goes_to_the_nearest_free_place():
    """Below it, and the next copy beside."""
    topology, _ = edits.add_node(Topology(), "host", 100, 100)
    topology = pasted(pasted(topology, ["h1"]), ["h1"])
    assert [edits.position(host) for host in topology.hosts] == [(100, 100), (100, 200), (250, 100)]


def test_a_large_drawing_is_copied_at_once():
    """Everything of a thousand nodes, below them all."""
    hosts = []
    for i in range(1000):
        after, _ = edits.add_node(Topology(), "host", 120 * (i % 40), 90 * (i // 40))
        hosts.append(after.hosts[0])
    topology = Topology(hosts=tuple(hosts))
    assert shift_for(topology, topology) == (0, 90 * 25)
