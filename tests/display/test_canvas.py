# SPDX-License-Identifier: BSD-3-Clause
"""The drawing as it is seen: parallel links, labels clear of lines, notes and groups, find, the mini-map, exports."""

import itertools
import math
from pathlib import Path

import pytest
from PIL import Image
from robot import needs_display

from linklab.editor import decorations, edits, pictures
from linklab.editor.scene import DrawingScene
from linklab.editor.surface import Rectangle
from linklab.topology import Topology
from linklab.topology.templates import made

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
    for path in sorted((ROOT / "topologies").glob("Lab *.mn")):
        hand.editor.filing.open_path(path)
        hand.settle(0.1)
        drawing.set_zoom(1.0)
        hand.settle(0.05)
        for item in drawing.find_withtag("label"):
            x0, y0, x1, y1 = drawing.bbox(item)
            box, key = (x0 + 1, y0 + 3, x1 - 1, y1 - 3), drawing._keys[item]
            struck += [
                (path.stem, drawing.itemcget(item, "text"), link)
                for link, corners in lines(drawing).items()
                if link != key and any(crosses(box, a, b) for a, b in itertools.pairwise(corners))
            ]
    assert struck == []


def tree(hosts=6):
    """Hosts in a row below a switch, so that links run downwards."""
    topology, _ = edits.add_node(Topology(), "legacySwitch", 400, 100)
    for i in range(hosts):
        topology, name = edits.add_node(topology, "host", 100 + 120 * i, 320)
        topology = edits.add_link(topology, name, "s1")
    return topology


def texts(drawing, tag):
    """Texts of the items with a tag."""
    return {drawing.itemcget(item, "text") for item in drawing.find_withtag(tag) if drawing.type(item) == "text"}


def test_a_note_is_added_moved_copied_and_deleted_by_keys(hand):
    """Insert > Note by its key, typed, OK by Tab and Return; arrows, Ctrl+D, Del, and undo back to nothing."""
    show(hand, tree(2))
    before = hand.editor.document.topology
    hand.key("Control+Shift+N")
    hand.until(lambda: hand.dialog() is not None, what="the dialog")
    hand.robot.type("the bottleneck")
    hand.settle()
    hand.click(next(b for b in hand.dialog().buttons.winfo_children() if b.cget("text") == "OK"))
    hand.until(lambda: hand.dialog() is None, what="the end of the dialog")
    hand.editor.drawing.focus_force()
    assert "the bottleneck" in texts(hand.editor.drawing, "note")
    (note,) = decorations.notes(hand.editor.document.topology)
    assert hand.editor.document.selection == {note.key}
    hand.key("Right")
    hand.key("Right")
    assert decorations.notes(hand.editor.document.topology)[0].x == note.x + 50
    hand.key("Control+d")
    assert len(decorations.notes(hand.editor.document.topology)) == 2
    hand.key("Delete")
    assert len(decorations.notes(hand.editor.document.topology)) == 1
    while hand.editor.document.undo_label:
        hand.key("Control+z")
    assert hand.editor.document.topology == before
    assert texts(hand.editor.drawing, "note") == set()


def test_a_group_frames_the_selected_and_moves_them(hand):
    """Ctrl+Shift+G; dragging its edge moves what is inside; a corner resizes it; a click inside selects nothing."""
    show(hand, tree(3))
    hand.editor.document.select({"h1", "h2"})
    hand.editor.drawing.focus_force()
    hand.key("Control+Shift+G")
    (frame,) = decorations.frames(hand.editor.document.topology)
    assert frame.holds((100, 320))
    assert frame.holds((220, 320))
    assert not frame.holds((340, 320))
    drawing = hand.editor.drawing

    def at(x, y):
        return round(x - drawing.canvasx(0)), round(y - drawing.canvasy(0))

    hand.drag(at(frame.x + 200, frame.y), at(frame.x + 220, frame.y - 60))
    moved = decorations.frames(hand.editor.document.topology)[0]
    dx, dy = moved.x - frame.x, moved.y - frame.y
    assert (dx, dy) == (pytest.approx(20, abs=2), pytest.approx(-60, abs=2))
    nodes = edits.named(hand.editor.document.topology)
    assert edits.position(nodes["h1"]) == (100 + dx, 320 + dy)
    assert edits.position(nodes["h3"]) == (340, 320)
    assert drawing.itemcget(drawing.items_of([moved.key])[0], "outline") == hand.editor.look.palette.accent
    corner = moved.x + moved.wide, moved.y + moved.high
    hand.drag(at(*corner), at(corner[0] + 80, corner[1] + 30))
    resized = decorations.frames(hand.editor.document.topology)[0]
    assert (resized.wide - moved.wide, resized.high - moved.high) == (
        pytest.approx(80, abs=2),
        pytest.approx(30, abs=2),
    )
    hand.place(*at(resized.x + resized.wide - 15, resized.y + 30))
    assert hand.editor.document.selection == frozenset()


def test_a_background_is_shown_kept_relative_and_told_of_when_missing(hand, tmp_path):
    """It is drawn behind; a click on it selects nothing, Tab does; without its file a frame and a word."""
    Image.new("RGB", (300, 200), "#ff8800").save(tmp_path / "plan.png")
    hand.editor.document.open(tree(2), tmp_path / "one.mn")
    hand.editor.decorating.set_background(tmp_path / "plan.png")
    hand.settle(0.2)
    drawing = hand.editor.drawing
    assert decorations.background(hand.editor.document.topology).file == "plan.png"
    assert drawing.type(drawing.items_of(["#background"])[0]) == "image"
    (behind,) = drawing.items_of(["#background"])
    assert drawing.find_all()[0] == behind
    hand.key("Escape")
    hand.editor.filing.save_path(tmp_path / "one.mn")
    drawing.set_zoom(1.0)
    assert drawing.key_at(round(20 - drawing.canvasx(0)), round(20 - drawing.canvasy(0))) is None
    drawing.focus_force()
    for _ in range(20):
        if hand.editor.document.selection == {"#background"}:
            break
        hand.key("Tab")
    hand.key("Right")
    assert decorations.background(hand.editor.document.topology).x == 25
    (tmp_path / "plan.png").unlink()
    hand.editor.filing.open_path(tmp_path / "one.mn")
    hand.until(lambda: "plan.png does not exist" in hand.editor.status.text.cget("text"), what="the word")
    assert drawing.type(drawing.items_of(["#background"])[0]) == "rectangle"


def test_find_steps_through_hits_and_brings_them_into_view(hand):
    """Ctrl+F, typed; Return goes on, Shift+F3 back, Escape closes; a hit outside the window is scrolled to."""
    topology = tree(4)
    topology, far = edits.add_node(topology, "host", 4000, 3000)
    show(hand, topology)
    drawing = hand.editor.drawing
    hand.key("Control+f")
    hand.robot.type("host")
    hand.until(lambda: hand.editor.find_bar.count.cget("text") == "1 of 5", what="the hits")
    assert hand.editor.document.selection == {"h1"}
    hand.key("Return")
    assert hand.editor.document.selection == {"h2"}
    hand.key("Shift+F3")
    assert hand.editor.document.selection == {"h1"}
    hand.key("Shift+F3")
    assert hand.editor.document.selection == {far}
    x, y = drawing.spot(edits.named(topology)[far])
    assert drawing.seen.x0 < x < drawing.seen.x1
    assert drawing.seen.y0 < y < drawing.seen.y1
    hand.key("Escape")
    assert hand.editor.find_bar.winfo_manager() == ""
    hand.key("F3")
    assert hand.editor.document.selection == {"h1"}


def test_the_mini_map_is_there_where_something_is_out_of_sight(hand):
    """Only then; a click on it goes there; View takes it away."""
    show(hand, tree(3))
    layout = hand.editor.layout
    assert not layout.minimap.winfo_ismapped()
    topology, _ = edits.add_node(tree(3), "host", 5000, 100)
    show(hand, topology)
    hand.until(layout.minimap.winfo_ismapped, what="the map")
    drawing, map_ = hand.editor.drawing, layout.minimap
    assert drawing.seen.x1 < 5000
    x, y = map_._at(5000 * drawing.factor, 100 * drawing.factor)
    hand.click(map_, x=round(x), y=round(y))
    assert drawing.seen.x0 < 5000 * drawing.factor < drawing.seen.x1
    hand.key("F4")
    hand.until(lambda: not map_.winfo_ismapped(), what="its end")


def test_an_empty_drawing_says_how_to_begin(hand):
    """Until something is drawn, and again when it is gone."""
    drawing = hand.editor.drawing
    assert "Shift+2" in texts(drawing, "hint").pop()
    drawing.focus_force()
    hand.robot.move(500, 400)
    hand.key("at")
    assert texts(drawing, "hint") == set()
    hand.key("Control+z")
    assert len(texts(drawing, "hint")) == 1


def test_rates_can_be_hidden_and_names_grow(hand):
    """Shift+F7 takes the rates and delays away; a name at 200 % is twice as large as at 100 %."""
    topology = edits.set_link(tree(2), 0, {"bw": 10, "delay": "5ms"}, {})
    show(hand, topology)
    drawing = hand.editor.drawing
    drawing.focus_force()
    assert "10 Mbit/s, 5ms" in texts(drawing, "label")
    hand.key("Shift+F7")
    assert "10 Mbit/s, 5ms" not in texts(drawing, "label")

    def height():
        (item,) = (i for i in drawing.find_withtag("label") if drawing.itemcget(i, "text") == "h1")
        _, y0, _, y1 = drawing.bbox(item)
        return y1 - y0

    small = height()
    drawing.set_zoom(2.0)
    assert height() == pytest.approx(2 * small, rel=0.15)


def test_no_line_runs_through_a_label_of_a_tree(hand):
    """Regression: links that leave downwards ran through the name of the switch above."""
    show(hand, tree(6))
    drawing = hand.editor.drawing
    for item in drawing.find_withtag("label"):
        x0, y0, x1, y1 = drawing.bbox(item)
        box, key = (x0 + 1, y0 + 3, x1 - 1, y1 - 3), drawing._keys[item]
        for link, corners in lines(drawing).items():
            if link != key:
                assert not any(crosses(box, a, b) for a, b in itertools.pairwise(corners)), drawing.itemcget(
                    item, "text"
                )


@pytest.mark.parametrize("ending", ["svg", "png", "pdf"])
def test_a_picture_is_exported_by_keys(hand, tmp_path, ending):
    """Ctrl+Shift+E, a name, Return; the window stays alive meanwhile and says where it is."""
    show(hand, tree(2))
    hand.editor.drawing.focus_force()
    hand.key("Control+Shift+E")
    hand.until(lambda: hand.dialog() is not None, what="the dialog")
    hand.robot.move(hand.dialog().winfo_rootx() + 100, hand.dialog().winfo_rooty() + 100)
    hand.settle()
    hand.key("Control+a")
    hand.robot.type(f"{tmp_path}/one.{ending}\n")
    hand.until((tmp_path / f"one.{ending}").exists, 60, "the picture")
    hand.until(lambda: hand.editor.status.text.cget("text").startswith("wrote "), 20, "the word")
    begins = {"svg": b"<svg", "png": b"\x89PNG", "pdf": b"%PDF"}[ending]
    assert (tmp_path / f"one.{ending}").read_bytes().startswith(begins)


def test_printing_says_where_it_cannot_and_prints_where_it_can(hand, tmp_path, monkeypatch):
    """Without CUPS a clear word; with a printer the PDF reaches lp."""
    show(hand, tree(2))
    pictures.pdf("<svg xmlns='http://www.w3.org/2000/svg'/>", Rectangle(0, 0, 9, 9))  # loads Pango by the real PATH
    monkeypatch.setenv("PATH", str(tmp_path))
    hand.editor.picturing.print()
    hand.until(lambda: hand.dialog() is not None, what="the word")
    assert hand.dialog().title() == "No printing here"
    hand.dialog().destroy()
    (tmp_path / "lpstat").write_text("#!/bin/sh\necho Office\n")
    (tmp_path / "lp").write_text(f'#!/bin/sh\nfor last; do :; done\n/bin/cp "$last" {tmp_path}/printed.pdf\n')
    for name in ("lpstat", "lp"):
        (tmp_path / name).chmod(0o755)
    hand.editor.picturing.print()
    hand.until(lambda: hand.dialog() is not None, 20, "the question")
    hand.settle(0.3)
    hand.dialog().focus_force()
    hand.key("Return")
    hand.until(lambda: hand.dialog() is None, what="the end of the question")
    hand.until(lambda: hand.editor.status.text.cget("text") == "sent to Office", 60, "the word")
    assert (tmp_path / "printed.pdf").read_bytes().startswith(b"%PDF")


def test_dragging_shows_what_the_document_then_has(hand):
    """Lines follow while one is dragged; with the grid on, what snaps back to its place is drawn there."""
    show(hand, tree(3))
    hand.editor.turn("grid", lambda: hand.editor._set_layer("grid"))
    hand.settle(0.2)
    x, y = hand.spot("h1")
    hand.drag((x, y), (x + 6, y + 5))
    drawing = hand.editor.drawing
    assert edits.position(edits.named(hand.editor.document.topology)["h1"]) == (100, 325)
    (icon,) = (i for i in drawing.items_of(["h1"]) if drawing.type(i) == "image")
    assert drawing.coords(icon) == [100, 325]
    assert lines(drawing)[0][0] == (100, 325)
    hidden = [i for i in drawing.find_withtag("label") if drawing.itemcget(i, "state") == "hidden"]
    assert hidden == []


def test_two_quick_drags_from_one_node_make_two_links(hand):
    """Regression: the second press was taken for a double click, and its link was lost."""
    topology = Topology()
    for kind, x, y in (("legacyRouter", 200, 200), ("host", 400, 100), ("host", 400, 300)):
        topology, _ = edits.add_node(topology, kind, x, y)
    show(hand, topology)
    hand.editor.choose("link")
    drawing, robot = hand.editor.drawing, hand.robot
    left, top = drawing.winfo_rootx(), drawing.winfo_rooty()
    for name in ("h1", "h2"):
        for at in (hand.spot("r1"), hand.spot(name)):
            robot.move(left + at[0], top + at[1])
            hand.settle(0.05)
            robot.press() if at == hand.spot("r1") else robot.release()
        hand.settle(0.05)
    assert [(link.src, link.dest) for link in hand.editor.document.topology.links] == [("r1", "h1"), ("r1", "h2")]


def test_the_drawing_stays_where_it_is_on_the_screen_when_the_clock_comes_and_goes(hand):
    """Regression: it jumped by the height of the clock's bar at Run and at Stop."""
    show(hand, parallel(2))
    layout, drawing = hand.editor.layout, hand.editor.drawing
    if layout.clock_bar.winfo_manager():
        layout.show_clock(None)
    hand.settle(0.2)

    def at():
        return drawing.winfo_rooty() + hand.spot("s1")[1]

    before, top = at(), drawing.winfo_rooty()
    layout.clock_bar.show = lambda _: None
    layout.show_clock({})
    hand.settle(0.2)
    assert drawing.winfo_rooty() > top + 10
    assert abs(at() - before) <= 1
    layout.show_clock(None)
    hand.settle(0.2)
    assert abs(at() - before) <= 1


def test_tab_to_a_node_in_sight_leaves_the_view(hand):
    """Regression: a node near the edge was brought to the middle, though all of it was seen."""
    show(hand, parallel(1))
    drawing = hand.editor.drawing
    drawing.scroll_to(160, 160)
    hand.settle(0.2)
    drawing.focus_set()
    before = hand.spot("s1")
    hand.key("Tab")
    assert hand.editor.document.selection == {"s1"}
    assert hand.spot("s1") == before


@pytest.mark.parametrize("name", ["star:30", "fat-tree:4", "ring:8", "dumbbell:4"])
def test_the_window_and_the_picture_show_the_same_labels(hand, name):
    """Regression: at 100 % port names had room in the PNG and none in the window, which measured letters otherwise."""
    topology = made(name)
    show(hand, topology)
    picture = DrawingScene(topology, pictures.style(hand.editor.settings))
    shown = hand.editor.drawing.scene
    assert shown.labels == picture.labels
    assert shown.names == picture.names
    assert shown.paths == picture.paths
