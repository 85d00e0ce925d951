# SPDX-License-Identifier: BSD-3-Clause
"""The drawing as it is seen: parallel links, labels clear of lines, notes and groups, find, the mini-map, exports."""

import itertools
import math
from pathlib import Path

import pytest
from robot import needs_display

from linklab.topology import Topology

pytestmark = needs_display
ROOT = Path(__file__).parents[2]


def show(hand, topology):
    """Draw a topology at its own size."""
    hand.editor.document.open(topology, None)
    hand.settle(0.2)
    hand.editor.drawing.set_zoom(1.0)
    hand.settle(0.2)


def parallel(count, dx=400, dy=0):
    """Two switches joined `count` times."""
    spots = {"s1": (200, 200), "s2": (200 + dx, 200 + dy)}
    switches = [
        {"number": name[1], "x": str(x), "y": str(y), "opts": {"hostname": name, "nodeNum": int(name[1]),
         "switchType": "legacySwitch"}} for name, (x, y) in spots.items()
    ]  # fmt: skip
    links = [{"src": "s1", "dest": "s2", "opts": {"delay": f"{i + 1}ms"}} for i in range(count)]
    return Topology._from_data(
        {"version": "2", "hosts": [], "controllers": [], "switches": switches, "links": links}, "parallel"
    )


def lines(drawing):
    """By link: its line's corners on the canvas."""
    found = {}
    for item in drawing.find_withtag("link"):
        flat = drawing.coords(item)
        found[drawing._keys[item]] = list(zip(flat[::2], flat[1::2], strict=True))
    return found


def crosses(box, start, end):
    """Whether a straight line runs through a box, by walking along it."""
    steps = max(2, round(math.dist(start, end)))
    for i in range(steps + 1):
        x, y = (a + (b - a) * i / steps for a, b in zip(start, end, strict=True))
        if box[0] < x < box[2] and box[1] < y < box[3]:
            return True
    return False


@pytest.mark.parametrize("count", [2, 3, 5])
@pytest.mark.parametrize(("dx", "dy"), [(400, 0), (0, 300), (300, 200)])
def test_parallel_links_lie_side_by_side(hand, count, dx, dy):
    """Regression: they lay on each other. A click on the middle of each selects it, and Tab reaches each."""
    show(hand, parallel(count, dx, dy))
    drawing = hand.editor.drawing
    middles = [drawing.middle_of(i) for i in range(count)]
    apart = min(math.dist(a, b) for i, a in enumerate(middles) for b in middles[:i])
    assert apart >= 12
    for i in range(count):
        flat = lines(drawing)[i]
        (x0, y0), (x1, y1) = flat[1:3] if len(flat) > 2 else flat  # between the bends, away from the labels
        x, y = x0 + (x1 - x0) * 0.34, y0 + (y1 - y0) * 0.34
        hand.place(round(x - drawing.canvasx(0)), round(y - drawing.canvasy(0)))
        assert hand.editor.document.selection == {i}
    hand.key("Escape")
    reached = []
    for _ in range(count + 2):
        hand.key("Tab")
        reached += hand.editor.document.selection
    assert reached == ["s1", "s2", *range(count)]


@pytest.mark.parametrize("count", [2, 3, 4])
def test_parallel_links_show_their_own_port_names(hand, count):
    """Each of the lines has its two names, and no two names lie on each other."""
    show(hand, parallel(count, 500, 0))
    drawing = hand.editor.drawing
    boxes = {drawing.itemcget(i, "text"): drawing.bbox(i) for i in drawing.find_withtag("label")}
    assert {f"s{s}-eth{n}" for s in (1, 2) for n in range(1, count + 1)} <= set(boxes)


def test_no_line_runs_through_a_label_in_any_lab(hand):
    """Regression: lines struck through names and addresses. A port's name may sit on its own line, which it covers."""
    drawing = hand.editor.drawing
    struck = []
    for lab in range(1, 21):
        hand.editor.filing.open_path(ROOT / f"topologies/Lab {lab}.mn")
        hand.settle(0.1)
        drawing.set_zoom(1.0)
        hand.settle(0.05)
        for item in drawing.find_withtag("label"):
            x0, y0, x1, y1 = drawing.bbox(item)
            box, key = (x0 + 1, y0 + 3, x1 - 1, y1 - 3), drawing._keys[item]
            struck += [
                (lab, drawing.itemcget(item, "text"), link)
                for link, corners in lines(drawing).items()
                if link != key and any(crosses(box, a, b) for a, b in itertools.pairwise(corners))
            ]
    assert struck == []
