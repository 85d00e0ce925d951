# SPDX-License-Identifier: BSD-3-Clause
"""Lay Out and the frames of groups; their titles and edges on the drawing."""

import itertools

import pytest

from linklab.editor import decorations, edits
from linklab.editor.document import Document, everyone
from linklab.editor.grouping import laid_out
from linklab.editor.lettering import metrics
from linklab.editor.scene import DrawingScene, Style
from linklab.editor.surface import Rectangle
from linklab.topology import Topology
from linklab.topology.arrange import arranged
from linklab.topology.mending import moved
from linklab.topology.templates import made


def scene_of(topology):
    """A topology as pictures have it."""
    measure, heights = metrics()
    return DrawingScene(topology, Style(1.0, 1.0, measure, heights))


def grouped(topology, *groups):
    """Frames around these nodes, "Group 1" first."""
    for i, names in enumerate(groups, 1):
        spots = [edits.position(edits.named(topology)[name]) for name in names]
        topology, _ = decorations.add_frame(topology, *decorations.around(spots), f"Group {i}")
    return topology


def held(topology):
    """By title: the names of the nodes that stand in each frame."""
    return {
        frame.title: {node.name for node in everyone(topology) if frame.holds(edits.position(node))}
        for frame in decorations.frames(topology)
    }


def apart():
    """Two sites far from where Lay Out puts their nodes: each has hosts of both switches."""
    spots = {"h1": (100, 900), "h2": (100, 1020), "h4": (250, 960), "h3": (700, 900), "h5": (700, 1100)}
    topology = edits.move(made("dumbbell:3"), {**spots, "h6": (850, 1000)})
    return grouped(topology, ("h1", "h2", "h4"), ("h3", "h5", "h6"))


def nested():
    """A group in a group, and a third beside them."""
    topology = made("fat-tree:4")
    return grouped(topology, ("s5", "s6", "s7", "s8", "h1", "h2", "h3", "h4"), ("h1", "h2"), ("s1", "s2"))


@pytest.mark.parametrize("topology", [apart(), nested()], ids=["apart", "nested"])
def test_lay_out_keeps_every_group_together(topology):
    """Regression: nodes left their frames, which stayed behind, empty or around other nodes."""
    after = laid_out(topology)
    assert held(after) == held(topology)
    boxes = {frame.title: frame for frame in decorations.frames(after)}
    one, other = boxes["Group 1"], boxes["Group 3" if "Group 3" in boxes else "Group 2"]
    assert not Rectangle(one.x, one.y, one.x + one.wide, one.y + one.high).meets(
        Rectangle(other.x, other.y, other.x + other.wide, other.y + other.high)
    )
    spots = [edits.position(node) for node in everyone(after)]
    assert len(set(spots)) == len(spots)
    assert all(x > 0 and y > 0 for x, y in spots)
    assert after.links == topology.links


def test_a_layout_that_keeps_groups_together_stays_as_it_is():
    """Frames follow the nodes."""
    topology = grouped(made("dumbbell:3"), ("h1", "h2", "h3", "s1"))
    places = edits.places(topology, ["#group1"])
    away = edits.move(topology, {key: (x + 500, y + 900) for key, (x, y) in places.items()})
    after = laid_out(away)
    plain = arranged(away)
    assert {node.name: edits.position(node) for node in everyone(after)} == plain
    assert held(after) == held(topology)


def test_a_drawing_without_groups_is_laid_out_as_before():
    """Nor does a frame without nodes move."""
    topology = made("ring:6")
    assert laid_out(topology) == moved(topology, arranged(topology))
    topology, _ = decorations.add_frame(topology, (3000, 3000), (200, 100), "empty")
    assert decorations.frames(laid_out(topology)) == decorations.frames(topology)


def test_a_note_goes_with_its_group_and_undo_takes_all_back():
    """A note outside stays where it is."""
    topology, inside = decorations.add_note(apart(), 60, 960, "in the site")
    topology, _ = decorations.add_note(topology, 2000, 20, "outside")
    document = Document(topology)
    document.apply("Lay Out", laid_out(topology))
    frame = decorations.frames(document.topology)[0]
    note, outside = decorations.notes(document.topology)
    assert note.key == inside
    assert frame.holds((note.x, note.y))
    assert (outside.x, outside.y) == (2000, 20)
    document.undo()
    assert document.topology == topology


def crossing(left):
    """A host at x = 300 with a link upwards out of its group, whose frame begins at `left`."""
    topology, _ = edits.add_node(Topology(), "host", 300, 300)
    topology, _ = edits.add_node(topology, "legacySwitch", 300, 0)
    topology = edits.add_link(topology, "h1", "s1")
    return decorations.add_frame(topology, (left, 200), (300, 200), "Site A")[0]


def test_a_title_keeps_clear_of_links():
    """Regression: it lay on the link that left the group at its left corner."""
    scene = scene_of(crossing(260))
    (title,) = scene.titles.values()
    assert not title.crossed_by(*scene.paths[0])
    assert (title.y0 + title.y1) / 2 == pytest.approx(200)
    assert scene_of(crossing(60)).titles["#group1"].x0 == pytest.approx(60 + 8)


@pytest.mark.parametrize(
    ("name", "groups"),
    [
        ("fat-tree:4", [("s5", "s6", "s7", "s8", "h1", "h2", "h3", "h4"), ("s9", "s10", "s11", "s12")]),
        ("ring:6", [("h1", "s1"), ("h4", "s4")]),
        ("dumbbell:3", [("h1", "h2", "h3"), ("h4", "h5", "h6")]),
    ],
)
def test_titles_keep_clear_of_labels_and_edges_run_through_none(name, groups):
    """Regression: titles lay on names and port names, and frames ran through names.

    Where a label has no room elsewhere, its ground covers the frame.
    """
    scene = scene_of(grouped(made(name), *groups))
    links = [box for i in range(len(scene.paths)) for box in scene.label_boxes(i)]
    assert not any(title.meets(box) for title in scene.titles.values() for box in [*links, *scene.names.values()])
    for frame in decorations.frames(scene.topology):
        box = scene.frame_box(frame)
        around = [(box.x0, box.y0), (box.x1, box.y0), (box.x1, box.y1), (box.x0, box.y1), (box.x0, box.y0)]
        for each, place in scene.names.items():
            if any(place.crossed_by(*a, *b) for a, b in itertools.pairwise(around)):
                assert any(shape.tag == "plate" for shape in scene.node(each))


def test_a_port_name_moves_out_of_a_frame_where_the_line_has_room():
    """Regression: the frame's edge ran through it."""
    topology, _ = edits.add_node(Topology(), "host", 100, 100)
    topology, _ = edits.add_node(topology, "host", 600, 100)
    topology, _ = decorations.add_frame(edits.add_link(topology, "h1", "h2"), (30, 40), (140, 130), "Site A")
    first, second = scene_of(topology).label_boxes(0)
    assert first.x0 >= 170
    assert second.x1 <= 580
