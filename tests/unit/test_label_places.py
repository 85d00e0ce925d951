# SPDX-License-Identifier: BSD-3-Clause
"""Labels of the topology pictures."""

import re
from itertools import combinations
from pathlib import Path

import pytest

from linklab.manual.label_places import Box, Surface
from linklab.manual.picture import topology_parts, topology_svg
from linklab.topology import Topology

ROOT = Path(__file__).parents[2]
TOPOLOGIES = sorted([*ROOT.glob("topologies/*.mn"), *ROOT.glob("exercises/[0-9]*/*.mn"), *ROOT.glob("problems/*/*.mn")])


@pytest.mark.parametrize("path", TOPOLOGIES, ids=lambda path: path.stem)
def test_no_label_lies_on_a_line_or_on_another(path):
    """Regression: in a fan of four links port names were struck through by the neighbouring link."""
    svg = topology_svg(*topology_parts(Topology.load(path)))
    number = r'="(-?[\d.]+)"'
    lines = [
        ((float(a), float(b)), (float(c), float(d)))
        for a, b, c, d in re.findall(rf"<line x1{number} y1{number} x2{number} y2{number}", svg)
    ]
    texts = re.findall(rf'<text x{number} y{number} font-size="1[01]"[^>]*>([^<]+)</text>', svg)
    boxes = [(text, Box(float(x), float(y) - 4, 5 * len(text), 8)) for x, y, text in texts]
    assert len(lines) == len(Topology.load(path).links)
    assert len(boxes) >= 2 * len(lines)
    assert [(text, line) for text, box in boxes for line in lines if box.crossed_by(line)] == []
    assert [(one[0], other[0]) for one, other in combinations(boxes, 2) if one[1].meets(other[1])] == []


def test_the_first_clear_place_is_taken_and_then_taken():
    """The second label finds it occupied."""
    surface = Surface([((0, 0), (100, 0))])
    places = [Box(50, 0, 20, 10), Box(50, 20, 20, 10), Box(50, 40, 20, 10)]
    assert surface.put(places) == places[1]
    assert surface.put(places) == places[2]


def test_where_nothing_is_clear_the_least_is_in_the_way():
    """A label is always drawn."""
    surface = Surface([((0, 0), (100, 0)), ((0, 1), (100, 1))], [Box(50, 50, 20, 10)])
    places = [Box(50, 0, 20, 10), Box(50, 52, 20, 10)]
    assert surface.put(places) == places[1]
    with pytest.raises(ValueError, match="without a place"):
        surface.put([])


@pytest.mark.parametrize(
    ("segment", "crosses"),
    [
        (((0, 0), (10, 10)), True),
        (((0, 5), (10, 5)), True),
        (((5, 0), (5, 10)), True),
        (((0, 9), (10, 9)), False),
        (((9, 0), (9, 10)), False),
        (((0, 0), (2, 2)), False),
        (((0, 8), (8, 16)), False),
        (((4, 4), (5, 6)), True),
    ],
)
def test_a_line_through_a_box(segment, crosses):
    """Slanting, level, upright, ending before it, inside it."""
    assert Box(5, 5, 4, 4).crossed_by(segment) is crosses
    assert Box(5, 5, 4, 4).crossed_by(segment[::-1]) is crosses
