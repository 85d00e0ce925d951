# SPDX-License-Identifier: BSD-3-Clause
"""Lines that would run through the icon of a third node run around it."""

import itertools
import math

import pytest

from linklab.editor import edits
from linklab.editor.bends import Way, bends_of
from linklab.editor.lanes import corners, middle
from linklab.editor.lettering import metrics
from linklab.editor.scene import DrawingScene, Style
from linklab.editor.surface import Rectangle
from linklab.topology import Topology
from linklab.topology.templates import made


def scene_of(topology, zoom=1.0):
    """A topology at a zoom, as pictures have it."""
    measure, heights = metrics()
    grown = {font: high * zoom for font, high in heights.items()}
    return DrawingScene(topology, Style(zoom, 1.0, lambda font, text: measure(font, text) * zoom, grown))


def placed(spots, links):
    """Switches at these places, with these links by their numbers."""
    topology = Topology()
    for spot in spots:
        topology, _ = edits.add_node(topology, "legacySwitch", *spot)
    for a, b in links:
        topology = edits.add_link(topology, f"s{a}", f"s{b}")
    return topology


def run_through(scene):
    """Links and the third nodes whose icons they run through."""
    side = 2 * scene.half
    return [
        (place, name)
        for place, link in enumerate(scene.topology.links)
        for name, spot in scene.spots.items()
        if name not in (link.src, link.dest)
        and any(
            Rectangle.around(*spot, side, side).crossed_by(*a, *b)
            for a, b in itertools.pairwise(corners(scene.paths[place]))
        )
    ]


ROW = [(100 + 150 * i, 100) for i in range(5)]
"""As Shift+4 places five switches."""


@pytest.mark.parametrize("zoom", [0.1, 0.25, 0.6, 1.0, 2.0])
@pytest.mark.parametrize(
    ("spots", "links"),
    [
        (ROW, [(1, 2), (2, 3), (1, 3)]),
        (ROW, [(1, 3), (5, 1), (1, 4), (2, 4)]),
        (ROW, [(3, 1), (1, 3), (3, 1)]),
        ([(y, x) for x, y in ROW], [(1, 4), (5, 2)]),
        ([(100, 100), (250, 200), (400, 300)], [(1, 3)]),
        ([(100, 100), (250, 118), (400, 100)], [(1, 3)]),
    ],
)
def test_no_link_runs_through_a_third_node(spots, links, zoom):
    """Regression: a link from the first to the third node of a row lay below the second and was hidden by the row's."""
    scene = scene_of(placed(spots, links), zoom)
    assert run_through(scene) == []


def test_links_that_run_around_the_same_node_do_not_lie_on_each_other():
    """Four of a row, each around at least one node."""
    scene = scene_of(placed(ROW, [(1, 3), (1, 4), (1, 5), (2, 4)]))
    for (ax, ay), (bx, by) in itertools.combinations([middle(path) for path in scene.paths], 2):
        assert abs(ay - by) >= 10 or abs(ax - bx) > 400


def test_parallel_links_run_around_side_by_side():
    """All on one side of the node in their way, in the order of the file, whichever way each was drawn."""
    scene = scene_of(placed(ROW[:3], [(1, 3), (3, 1), (1, 3)]))
    heights = [middle(path)[1] for path in scene.paths]
    assert all(high < 100 - 20 for high in heights)
    assert heights in (sorted(heights), sorted(heights, reverse=True))
    assert min(abs(a - b) for a, b in itertools.combinations(heights, 2)) >= 14


def test_a_drawing_bends_alike_at_every_zoom():
    """The picture at 100 % is the window's at any."""
    topology = placed(ROW, [(1, 3), (1, 4), (2, 5)])
    one, half = scene_of(topology), scene_of(topology, 0.5)
    for path, small in zip(one.paths, half.paths, strict=True):
        assert small == pytest.approx([each / 2 for each in path])


def test_the_line_of_a_controller_runs_around_a_node():
    """As links do."""
    topology, _ = edits.add_node(Topology(), "switch", 100, 100)
    topology, _ = edits.add_node(topology, "host", 250, 100)
    topology, _ = edits.add_node(topology, "controller", 400, 100)
    topology = edits.add_link(topology, "s1", "c0")
    scene = scene_of(topology)
    (path,) = scene.controls.values()
    assert len(path) == 8
    assert not any(Rectangle.around(250, 100, 40, 40).crossed_by(*a, *b) for a, b in itertools.pairwise(corners(path)))


def test_what_is_clear_stays_straight():
    """A ring has no third node in the way of any link."""
    scene = scene_of(made("ring:6"))
    assert {len(path) for path in scene.paths} == {4}


def test_a_line_without_a_way_around_stays_straight():
    """Nodes as close as cobbles all around."""
    spots = {f"s{x}-{y}": (30.0 * x, 30.0 * y) for x in range(30) for y in range(30)}
    assert bends_of({0: Way("s3-15", "s26-15")}, spots) == {}


def test_ends_in_one_place_have_no_bend():
    """Two nodes on each other and a third on both."""
    spots = dict.fromkeys(("a", "b", "c"), (50.0, 50.0))
    assert bends_of({0: Way("a", "b")}, spots) == {}


def test_a_thicket_is_given_up_in_time():
    """Every node of a grid joined with its opposite: the search ends, and what it found is finite."""
    spots = {str(i): (90.0 * (i % 20), 90.0 * (i // 20)) for i in range(400)}
    lines = {i: Way(str(i), str(399 - i)) for i in range(200)}
    assert all(math.isfinite(aside) for aside in bends_of(lines, spots).values())


def test_a_row_shows_both_port_names_of_each_link():
    """Regression: where only one had room on the line, neither was shown: the first try's boxes were in the way."""
    scene = scene_of(placed(ROW, [(1, 2), (2, 3), (1, 3), (3, 4), (1, 4)]))
    assert all(None not in labels.places[:2] for labels in scene.labels)
