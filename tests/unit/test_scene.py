# SPDX-License-Identifier: BSD-3-Clause
"""The pure scene of a drawing: lanes, labels, notes and groups, find, and pictures without a display."""

import itertools
import json
import math
import os
import re
import subprocess
import sys
import time
from pathlib import Path
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from linklab.editor import decorations, edits
from linklab.editor.beside import Beside
from linklab.editor.document import Document
from linklab.editor.find import hits
from linklab.editor.labels import length_of, point_at
from linklab.editor.lanes import corners, lanes_of, middle, path_of
from linklab.editor.lettering import metrics
from linklab.editor.pictures import write_picture
from linklab.editor.raster import dashes
from linklab.editor.scene import DrawingScene, Style, link_note
from linklab.editor.settings import EditorSettings
from linklab.editor.shapes import LineShape, TextShape, points
from linklab.editor.surface import Occupied, Rectangle, least_shift
from linklab.errors import InputError
from linklab.topology import Link, Topology
from linklab.topology.templates import made

ROOT = Path(__file__).parents[2]
LABS = sorted(ROOT.glob("topologies/*.mn"))
SVG = "{http://www.w3.org/2000/svg}"


def scene_of(topology, zoom=1.0, **layers):
    """A topology at a zoom, as pictures have it."""
    measure, heights = metrics()
    grown = {font: high * zoom for font, high in heights.items()}
    return DrawingScene(topology, Style(zoom, 1.0, lambda font, text: measure(font, text) * zoom, grown, **layers))


def star(hosts, radius=170.0):
    """Hosts all around one switch, with a rate and a delay at every other link."""
    topology, _ = edits.add_node(Topology(), "legacySwitch", 400, 300)
    for i in range(hosts):
        angle = 2 * math.pi * i / hosts
        at = (400 + 1.4 * radius * math.sin(angle), 300 - radius * math.cos(angle))
        topology, name = edits.add_node(topology, "host", *at)
        topology = edits.add_link(topology, name, "s1")
        if i % 2:
            topology = edits.set_link(topology, i, {"bw": 10, "delay": "5ms"}, {})
    return topology


def pair(count, dx, dy):
    """Two switches with `count` links."""
    topology, _ = edits.add_node(Topology(), "legacySwitch", 100, 100)
    topology, _ = edits.add_node(topology, "legacySwitch", 100 + dx, 100 + dy)
    for i in range(count):
        ends = ("s1", "s2") if i % 2 else ("s2", "s1")  # whichever way each was drawn
        topology = edits.add_link(topology, *ends)
    return topology


def labels(scene):
    """Whose it is, the text and the rectangle of each label."""
    found = []
    for key, shapes in scene.everything():
        for shape in shapes:
            if isinstance(shape, TextShape) and not shape.corner:
                wide, high = scene.style.measure(shape.font, shape.text), scene.style.heights[shape.font]
                found.append((key, shape.text, Rectangle.around(shape.x, shape.y, wide, high - 2)))
    return found


def struck(scene):
    """Labels that the line of another link runs through."""
    lines = [(i, path) for i, path in enumerate(scene.paths) if path] + list(scene.controls.items())
    return [
        (text, owner)
        for key, text, box in labels(scene)
        for owner, path in lines
        if owner != key and any(box.crossed_by(*a, *b) for a, b in itertools.pairwise(corners(path)))
    ]


def overlapping(scene):
    """Labels that lie on each other."""
    return [(a[1], b[1]) for a, b in itertools.combinations(labels(scene), 2) if a[2].meets(b[2])]


# --- parallel links


@pytest.mark.parametrize(("dx", "dy"), [(400, 0), (-400, 0), (0, 300), (0, -300), (250, 180), (-250, 180)])
@pytest.mark.parametrize("count", [2, 3, 4, 6])
def test_parallel_links_never_touch_between_their_nodes(count, dx, dy):
    """Regression: all of them lay on one line. Each has its own lane, whichever way it was drawn."""
    scene = scene_of(pair(count, dx, dy))
    middles = [middle(path) for path in scene.paths]
    for one, other in itertools.combinations(middles, 2):
        assert math.dist(one, other) >= 14
    across = sorted(middles, key=lambda spot: spot[1] if dx else spot[0])
    assert across in (middles, middles[::-1])  # in the order of the file, from one side to the other


@pytest.mark.parametrize("count", [2, 3, 4, 5])
@pytest.mark.parametrize(("dx", "dy"), [(450, 0), (0, 400), (320, 260)])
def test_each_parallel_link_has_both_its_port_names(count, dx, dy):
    """They lie neither on each other nor on another's line."""
    scene = scene_of(pair(count, dx, dy))
    shown = [text for _, text, _ in labels(scene)]
    assert sorted(text for text in shown if "eth" in text) == sorted(itertools.chain(*scene.ends))
    assert struck(scene) == []
    assert overlapping(scene) == []


def test_a_single_link_is_straight_and_lanes_are_symmetrical():
    """One link has no bends; of three the middle one has none."""
    assert lanes_of([Link("a", "b")]) == [0.0]
    assert lanes_of([Link("a", "b"), Link("b", "a"), Link("a", "b"), Link("a", "c")]) == [-1.0, -0.0, 1.0, 0.0]
    assert path_of((0, 0), (100, 0), 0.0, 20, 30) == (0, 0, 100, 0)
    assert corners(path_of((0, 0), (200, 0), 1.0, 20, 30)) == [(0, 0), (30, 20), (170, 20), (200, 0)]
    assert path_of((5, 5), (5, 5), 1.0, 20, 30) == (5, 5, 5, 5)


@given(st.floats(-500, 500), st.floats(-500, 500), st.sampled_from([-1.5, -0.5, 0.0, 0.5, 2.0]))
def test_a_lane_begins_and_ends_at_its_nodes(x, y, lane):
    """Whatever the direction; drawn the other way with the other sign it is the same line."""
    path = path_of((0.0, 0.0), (x, y), lane, 20.0, 30.0)
    assert (path[:2], path[-2:]) == ((0.0, 0.0), (x, y))
    back = path_of((x, y), (0.0, 0.0), -lane, 20.0, 30.0)
    for one, other in zip(corners(path), reversed(corners(back)), strict=True):
        assert one == pytest.approx(other, abs=1e-6)
    assert point_at(path, length_of(path))[:2] == pytest.approx((x, y), abs=1e-6)


# --- labels


@pytest.mark.parametrize("path", LABS, ids=lambda path: path.stem)
def test_labels_of_every_lab_are_clear_of_lines_and_of_each_other(path):
    """Names, addresses and port names; a port's name may cover its own line."""
    scene = scene_of(Topology.load(path))
    assert struck(scene) == []
    assert overlapping(scene) == []


@pytest.mark.parametrize("hosts", [1, 2, 3, 4, 5, 6, 7])
def test_no_line_runs_through_a_label_of_a_star(hosts):
    """Regression: a link that leaves downwards ran through the name below its node."""
    scene = scene_of(star(hosts))
    assert struck(scene) == []
    assert overlapping(scene) == []
    assert len([text for _, text, _ in labels(scene) if "eth" in text]) == 2 * hosts


@pytest.mark.parametrize("zoom", [0.25, 0.5, 0.7, 1.0, 2.0, 3.0])
def test_text_grows_with_the_zoom(zoom):
    """Regression: names stayed at 13 points however near one went; far away they stay readable."""
    assert points("name", zoom) == max(6, round(10 * zoom))
    assert points("port", zoom) == max(5, round(9 * zoom))
    assert points("name", 100.0) == 40


def test_a_crowded_drawing_is_placed_in_time():
    """With more links than can be weighed against each other, labels keep clear of their own nodes alone."""
    topology = star(40)
    links = tuple(itertools.islice(itertools.cycle(topology.links), 1200))
    scene = scene_of(edits.replace(topology, links=links))
    assert len(scene.labels) == 1200


def test_many_links_between_two_nodes_are_placed_in_time():
    """Regression: a stranger's file with one link 390 times took half a minute to draw."""
    topology = pair(1, 300, 0)
    start = time.process_time()
    scene = scene_of(edits.replace(topology, links=topology.links * 390))
    assert time.process_time() - start < 5
    assert len(scene.labels) == 390


def test_a_rectangle_is_clear_of_what_it_only_touches():
    """The index finds what lies in other squares of it, and nothing that is elsewhere."""
    surface = Occupied()
    surface.add_line("one", (-1000.0, 0.0, 1000.0, 0.0))
    surface.add_line("two", (0.0, -1000.0, 0.0, 1000.0))
    surface.add_box(Rectangle(300, 300, 400, 400))
    assert surface.in_the_way(Rectangle(-10, -10, 10, 10)) == 2
    assert surface.in_the_way(Rectangle(-10, -10, 10, 10), "one") == 1
    assert surface.in_the_way(Rectangle(10, 0, 90, 90)) == 0
    assert surface.in_the_way(Rectangle(-900, -5, -880, 5)) == 1
    assert surface.in_the_way(Rectangle(390, 390, 500, 500)) == 3
    assert surface.choose([Rectangle(-5, -5, 5, 5), Rectangle(20, 20, 30, 30)]) == (Rectangle(20, 20, 30, 30), 0)
    assert surface.choose([Rectangle(20, 20, 30, 30), Rectangle(-5, 90, 5, 99)])[1] == 1


# --- notes, groups, background


def decorated():
    """Two hosts on a switch, a group around the hosts, a note in it and one outside, a picture behind."""
    topology = star(2)
    topology, _ = decorations.add_frame(topology, (300, 50), (250, 500), "Site A", "host")
    topology, _ = decorations.add_note(topology, 320, 200, "inside\nsecond line")
    topology, _ = decorations.add_note(topology, 900, 20, "outside")
    return decorations.set_background(topology, {"file": "plan.png", "opacity": 0.4})


def test_decorations_round_trip_and_leave_the_network_alone():
    """They are kept under our own key, which MiniEdit ignores, and no node, link or port changes."""
    topology = decorated()
    again = Topology.loads(topology.dumps())
    assert again == topology
    assert again.dumps() == topology.dumps()
    data = json.loads(topology.dumps())
    assert {key for key in data if key not in json.loads(star(2).dumps())} == {"linklab"}
    assert again.problems() == star(2).problems()
    assert [note.text for note in decorations.notes(again)] == ["inside\nsecond line", "outside"]
    assert decorations.frames(again)[0].title == "Site A"
    assert decorations.background(again).file == "plan.png"


def test_every_change_of_a_decoration_is_undone():
    """Adding, changing, moving, deleting, copying: undo leads back through each, byte for byte."""
    document = Document(star(2))
    seen = [document.topology.dumps()]

    def do(label, after, selection=None):
        document.apply(label, after, selection)
        seen.append(document.topology.dumps())

    after, key = decorations.add_note(document.topology, 10, 20, "a note")
    do("Add", after, {key})
    do("Change", decorations.change(document.topology, key, {"text": "another"}))
    do("Move", edits.move(document.topology, {key: (50.0, 60.0)}))
    do("Paste", edits.paste(document.topology, edits.part(document.topology, [key]), (20, 20))[0])
    do("Delete", edits.delete(document.topology, {key}))
    assert [note.text for note in decorations.notes(document.topology)] == ["another"]
    assert (decorations.notes(document.topology)[0].x, decorations.notes(document.topology)[0].y) == (70.0, 80.0)
    do("Delete", edits.delete(document.topology, {"#note2"}))
    assert "linklab" not in json.loads(document.topology.dumps())
    for text in reversed(seen[:-1]):
        document.undo()
        assert document.topology.dumps() == text


def test_what_stands_in_a_frame_moves_with_it():
    """Nodes by their middle, notes by their corner; a frame of a frame too; what is outside stays."""
    topology = decorated()
    places = edits.places(topology, {"#group1"})
    assert set(places) == {"#group1", "#note1", "h1", "h2", "s1"}
    moved = edits.move(topology, {key: (x + 10, y) for key, (x, y) in places.items()})
    assert edits.position(edits.named(moved)["h1"])[0] == edits.position(edits.named(topology)["h1"])[0] + 10
    assert decorations.notes(moved)[1] == decorations.notes(topology)[1]
    assert set(edits.places(topology, {"#note2"})) == {"#note2"}


def test_a_copy_takes_notes_and_groups_along():
    """Selected with the nodes; the copies have numbers of their own."""
    topology = decorated()
    piece = edits.part(topology, ["h1", "#note1", "#group1"])
    after, new = edits.paste(topology, piece, (40.0, 40.0))
    assert new == ["h3", "#note3", "#group2"]
    assert len(decorations.notes(after)) == 3
    assert decorations.frames(after)[1].title == "Site A"


def test_what_cannot_be_understood_stays_in_the_file():
    """Numbers that are missing or twice, wrong types, unknown keys: drawn as far as can be, lost never."""
    ours = {
        "notes": [{"text": "no number", "colour": "red"}, 7, {"number": 1, "x": "1e999", "text": 5}, {"number": "x"}],
        "groups": [{"number": 3, "wide": None, "colour": "mauve"}, {"number": 3, "title": "t" * 500}],
        "background": "plan.png",
        "later": {"kept": True},
    }
    text = edits.replace(star(1), extra={"linklab": ours}).dumps()
    topology = Topology.loads(text)
    assert topology.dumps() == text
    assert [note.key for note in decorations.notes(topology)] == ["#note1", "#note2", "#note3"]
    assert [frame.key for frame in decorations.frames(topology)] == ["#group3", "#group4"]
    assert decorations.background(topology) is None
    scene_of(topology)
    moved = edits.move(topology, {"#note1": (5.0, 5.0)})
    kept = moved.extra["linklab"]
    assert kept["notes"][0]["colour"] == "red"
    assert 7 in kept["notes"]
    assert kept["later"] == {"kept": True}
    assert kept["background"] == "plan.png"


# --- find


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ("h2", ["h2", 1]),
        ("10.0.0.1", ["h1"]),
        ("legacy switch", ["s1"]),
        ("HOST", ["h1", "h2"]),
        ("s1-eth2", [1]),
        ("5ms", [1]),
        ("outside", ["#note2"]),
        ("site", ["#group1"]),
        ("picture plan", ["#background"]),
        ("nothing such", []),
        ("  ", []),
    ],
)
def test_find_by_name_address_kind_port_and_text(words, found):
    """In the order of the file; every word must be there."""
    topology = decorated()
    assert hits(topology, words) == found
    assert hits(topology, "h1")[0] == "h1"


def test_an_exact_name_comes_first():
    """h1 before h10 and before the links of both, and s1 before everything named after it."""
    assert hits(star(12), "h1")[0] == "h1"
    assert set(hits(star(12), "h1")) >= {"h10", "h11", "h12"}


# --- pictures


@pytest.mark.parametrize("path", LABS[:4], ids=lambda path: path.stem)
def test_an_svg_shows_every_node_link_and_label(path, tmp_path):
    """It is well-formed, names everything, and says in words what it shows."""
    topology = Topology.load(path)
    write_picture(topology, tmp_path / "out.svg", path.parent)
    root = ElementTree.parse(tmp_path / "out.svg").getroot()  # noqa: S314 - our own
    texts = {each.text for each in root.iter(f"{SVG}text")}
    assert {node.name for node in topology.nodes} <= texts
    assert {topology.address(host) for host in topology.hosts} <= texts
    assert {end for pair_ in topology.link_ends() for end in pair_} <= texts
    lines = [
        each for each in root.iter(f"{SVG}polyline") if each.get("stroke-linejoin") and not each.get("stroke-linecap")
    ]
    assert len(lines) == len(topology.links) + len(scene_of(topology).controls)
    assert topology.hosts[0].name in root.find(f"{SVG}desc").text


def test_a_picture_escapes_what_a_stranger_wrote(tmp_path):
    """Markup in a note stays text; a letter that XML cannot hold is replaced."""
    topology, _ = decorations.add_note(star(1), 0, 0, '<script>alert(1)</script> & "x" \x01 \udcff')
    write_picture(topology, tmp_path / "out.svg", tmp_path)
    root = ElementTree.parse(tmp_path / "out.svg").getroot()  # noqa: S314 - our own
    assert list(root.iter(f"{SVG}script")) == []
    assert any("<script>alert(1)</script>" in (each.text or "") for each in root.iter(f"{SVG}text"))


def test_a_png_has_the_size_of_the_svg_twice_and_its_colours(tmp_path):
    """192 dots an inch; the host's blue and the switch's green are there."""
    topology = star(3)
    write_picture(topology, tmp_path / "out.svg", tmp_path)
    write_picture(topology, tmp_path / "out.png", tmp_path)
    root = ElementTree.parse(tmp_path / "out.svg").getroot()  # noqa: S314 - our own
    with Image.open(tmp_path / "out.png") as image:
        assert image.width == pytest.approx(2 * float(root.get("width")), abs=2)
        assert image.height == pytest.approx(2 * float(root.get("height")), abs=2)
        colours = {colour for _, colour in image.getcolors(image.width * image.height)}
    assert {(0x2F, 0x6F, 0xC1), (0x1F, 0x8A, 0x5B), (0x5D, 0x6F, 0x80)} <= colours


def test_a_pdf_is_one_page_with_text_that_can_be_found(tmp_path):
    """Vector letters, not dots."""
    pypdf = pytest.importorskip("pypdf")
    pytest.importorskip("weasyprint")
    write_picture(star(3), tmp_path / "out.pdf", tmp_path)
    reader = pypdf.PdfReader(tmp_path / "out.pdf")
    assert len(reader.pages) == 1
    assert {"h1", "s1-eth3", "10.0.0.2/8"} <= set(re.split(r"\s+", reader.pages[0].extract_text()))


def test_a_picture_holds_notes_groups_and_the_background(tmp_path):
    """The background is in the file itself; where it is missing a frame stands in its place."""
    Image.new("RGB", (300, 200), "#ff8800").save(tmp_path / "plan.png")
    for folder, tag in ((tmp_path, "image"), (tmp_path / "elsewhere", "rect")):
        write_picture(decorated(), tmp_path / "out.svg", folder)
        root = ElementTree.parse(tmp_path / "out.svg").getroot()  # noqa: S314 - our own
        texts = [each.text for each in root.iter(f"{SVG}text")]
        assert {"Site A", "inside", "second line", "outside"} <= set(texts)
        found = [each for each in root.iter(f"{SVG}{tag}") if each.get("href") or each.get("stroke-dasharray") == "3 5"]
        assert len(found) == 1
    write_picture(decorated(), tmp_path / "out.png", tmp_path)
    with Image.open(tmp_path / "out.png") as image:
        colours = {colour for _, colour in image.getcolors(image.width * image.height)}
    assert any(abs(r - 253) < 4 and abs(g - 206) < 5 and abs(b - 152) < 6 for r, g, b in colours)


@pytest.mark.parametrize("name", ["a pipe", "not a picture", "a bomb", "a folder"])
def test_a_background_that_is_no_picture_is_said_and_harms_nothing(name, tmp_path):
    """A stranger's file may name anything: a pipe is not waited for, a bomb does not fill the memory."""
    from linklab.editor import backdrop  # noqa: PLC0415 - beside what it is about

    path = tmp_path / "plan.png"
    if name == "a pipe":
        os.mkfifo(path)
    elif name == "not a picture":
        path.write_text("GIF89a no, a text")
    elif name == "a folder":
        path.mkdir()
    else:
        Image.new("1", (12_000, 9_000)).save(path)
    assert "cannot be shown" in backdrop.trouble(path)
    assert backdrop.picture(tmp_path, "plan.png", 1.0, 0.5) is None
    write_picture(decorated(), tmp_path / "out.svg", tmp_path)
    assert "does not exist" in backdrop.trouble(tmp_path / "gone.png")


@pytest.mark.parametrize(("name", "why"), [("out.gif", "ends in .svg, .png or .pdf"), ("no/out.svg", "could not be")])
def test_a_picture_that_cannot_be_is_said(name, why, tmp_path):
    """Another format, a folder that is not there, an empty drawing."""
    with pytest.raises(InputError, match=re.escape(why)):
        write_picture(star(1), tmp_path / name, tmp_path)
    with pytest.raises(InputError, match="empty"):
        write_picture(Topology(), tmp_path / "out.svg", tmp_path)


def test_the_command_line_draws_without_a_display(tmp_path):
    """`linklab edit FILE.mn --picture OUT`, as a manual's writer or a continuous build uses it."""
    env = {key: value for key, value in os.environ.items() if key not in ("DISPLAY", "WAYLAND_DISPLAY")}
    command = [sys.executable, "-m", "linklab", "edit", str(ROOT / "topologies/Lab 14.mn"), "--picture"]
    done = subprocess.run(
        [*command, str(tmp_path / "lab.svg")], env=env, cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "s1-eth2" in (tmp_path / "lab.svg").read_text()
    done = subprocess.run([*command, "lab.bmp"], env=env, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "a picture ends in .svg, .png or .pdf" in done.stderr


def test_chosen_labels_alone_are_in_a_picture(tmp_path):
    """What View hides is not in the picture either."""
    settings = EditorSettings(addresses=False, ports=False, rates=False)
    write_picture(star(2), tmp_path / "out.svg", tmp_path, settings)
    text = (tmp_path / "out.svg").read_text()
    assert "eth0</text>" not in text
    assert "10 Mbit/s" not in text
    assert ">h1</text>" in text


def test_dashes_cover_what_the_pattern_says():
    """Six drawn, three left out, to the end."""
    assert dashes((0, 0, 10, 0), (6, 3)) == [[0, 0, 6, 0], [9, 0, 10, 0]]
    assert dashes((0, 0, 0, 0), (6, 3)) == []


def test_lines_of_links_are_shapes_of_the_scene():
    """A link that leads nowhere is not drawn and breaks nothing."""
    topology = edits.replace(star(2), links=(*star(2).links, Link("h1", "s9")))
    scene = scene_of(topology)
    assert scene.paths[2] is None
    drawn = [shape for _, shapes in scene.everything() for shape in shapes if isinstance(shape, LineShape)]
    assert len(drawn) == 2


def test_a_link_says_what_its_odd_values_are_taken_for():
    """Regression: "None Mbit/s", and "5000" for a delay that tc takes for microseconds."""
    odd = Link("h1", "s1", {"bw": None, "delay": "5000", "loss": "1"})
    assert link_note(odd) == "5000us, 1 % loss"
    assert link_note(Link("h1", "s1", {"bw": "10", "delay": "20ms"})) == "10 Mbit/s, 20ms"


def running(name, zoom):
    """A template at a zoom, with every link rated, and a trace of the usual size wanted for each link."""
    topology = made(name)
    for place in range(len(topology.links)):
        topology = edits.set_link(topology, place, {"bw": 10, "delay": "5ms"}, {})
    scene = scene_of(topology, zoom)
    high = scene.style.heights["port"]
    sizes = ((150 * zoom, 24 * zoom + 3 * high), (66 * zoom, 3 * zoom + high))
    return scene, Beside(scene), dict.fromkeys(range(len(scene.paths)), sizes)


def all_traces(beside, sizes, selected=()):
    """The traces once all have been looked for: each call does a part."""
    for _ in range(60):
        found = beside.traces(sizes, selected)
    return found


def off(box, path):
    """How far a box is from a line."""
    ends = [point_at(path, length_of(path) * i / 300)[:2] for i in range(301)]
    return min(math.hypot(max(box.x0 - x, 0, x - box.x1), max(box.y0 - y, 0, y - box.y1)) for x, y in ends)


def shown(scene):
    """Everything that a trace or a switch must not cover."""
    half = scene.half
    icons = [Rectangle.around(x, y, 2 * half, 2 * half) for x, y in scene.spots.values()]
    return [*icons, *scene.names.values(), *(box for i in range(len(scene.paths)) for box in scene.label_boxes(i))]


@pytest.mark.parametrize("zoom", [0.6, 0.85, 1.0, 1.5])
@pytest.mark.parametrize("name", ["ring:6", "fat-tree:4", "star:8", "dumbbell:3"])
def test_switches_and_traces_cover_nothing_and_not_each_other(name, zoom):
    """Regression: boxes lay on names, addresses, port names, switches and each other, and hid a fat tree."""
    scene, beside, sizes = running(name, zoom)
    traces = all_traces(beside, sizes)
    boxes = [*beside.switches.values(), *(near.box for near in traces.values())]
    assert len(beside.switches) == len(scene.paths)
    for box in boxes:
        assert not any(box.meets(other) for other in shown(scene))
    assert not any(a.meets(b) for a, b in itertools.combinations(boxes, 2))
    whole = [(place, near.box) for place, near in traces.items() if not near.is_short]
    for place, box in [*beside.switches.items(), *whole]:
        assert not box.crossed_by(*scene.paths[place][:4])


@pytest.mark.parametrize("zoom", [0.6, 0.85, 1.0, 1.5])
@pytest.mark.parametrize("name", ["ring:6", "fat-tree:4", "star:8", "dumbbell:3"])
def test_a_trace_lies_at_its_link_or_a_line_leads_there(name, zoom):
    """Regression: boxes lay 70 pixels from their links, or were left out."""
    scene, beside, sizes = running(name, zoom)
    traces = all_traces(beside, sizes)
    assert len(traces) >= 0.7 * len(scene.paths)  # where every link has its rate and a switch, too
    for place, near in traces.items():
        if near.foot is None:
            assert off(near.box, scene.paths[place]) <= 20 * max(1.0, zoom)
        else:
            assert off(Rectangle(*near.foot, *near.foot), scene.paths[place]) <= 3


def test_a_call_does_a_part_and_only_what_is_seen():
    """Regression: 384 traces were all placed anew with each sample, which took seconds, four times a second."""
    scene, beside, sizes = running("fat-tree:6", 1.0)
    first = beside.traces(sizes, ())
    assert 0 < len(first) < len(all_traces(beside, sizes))
    _, beside, _ = running("fat-tree:6", 1.0)
    seen = Rectangle(0, 0, 600, 500)
    for _ in range(60):
        found = beside.traces(sizes, (), seen)
    assert found
    for place in found:
        x, y = middle(scene.paths[place])
        assert seen.x0 <= x <= seen.x1
        assert seen.y0 <= y <= seen.y1


def test_a_small_drawing_has_the_trace_of_the_selected_link_alone_and_no_switches():
    """Below the zoom at which port names go."""
    _, beside, sizes = running("fat-tree:4", 0.5)
    assert beside.switches == {}
    assert beside.traces(sizes, ()) == {}
    assert list(beside.traces(sizes, (3,))) == [3]


def test_the_trace_of_the_selected_link_is_always_shown():
    """Even where there is no room for it, and it does not lie on a switch when there is."""
    _, beside, sizes = running("fat-tree:4", 0.6)
    without = all_traces(beside, sizes)
    short = next(place for place, near in without.items() if near.is_short)
    near = all_traces(beside, sizes, (short,))[short]
    assert not near.is_short
    wide, high = sizes[short][0]
    assert (near.box.x1 - near.box.x0, near.box.y1 - near.box.y0) == pytest.approx((wide, high))


def test_a_trace_stays_where_it_was_when_other_links_become_busy():
    """The first to come keeps its place; one that grew does not shrink with each figure; one that ends makes room."""
    _, beside, sizes = running("ring:6", 1.0)
    alone = beside.traces({4: sizes[4]}, ())
    assert all_traces(beside, sizes)[4] == alone[4]
    assert beside.traces({4: ((10.0, 10.0), (10.0, 10.0))}, ()) == alone
    assert beside.traces({}, ()) == {}
    assert beside.traces({4: sizes[4]}, ()) == alone


def test_switches_and_traces_grow_with_the_zoom():
    """Regression: they kept their size, and at half the size they took four times the room."""
    small, large = (running("ring:6", zoom)[1] for zoom in (0.75, 1.5))
    for box, other in zip(small.switches.values(), large.switches.values(), strict=True):
        assert other.x1 - other.x0 == pytest.approx(2 * (box.x1 - box.x0))
        assert other.y1 - other.y0 == pytest.approx(2 * (box.y1 - box.y0))


@pytest.mark.parametrize(
    ("thing", "shift"),
    [
        ((0, 40), 0),
        ((460, 500), 0),
        ((480, 520), 40),
        ((-10, 30), -30),
        ((900, 940), 460),
        ((-50, 600), 0),
        ((100, 700), 100),
    ],
)
def test_a_view_moves_only_as_far_as_a_thing_needs(thing, shift):
    """Regression: Tab centred nodes that were wholly visible. The view is 500 wide, the margin 20."""
    assert least_shift(tuple(end + 1000 for end in thing), (1000, 1500), 20) == shift
