# SPDX-License-Identifier: BSD-3-Clause
"""The window and its dialogs on a screen of 1024 × 600, at 100 % and 200 %: whole, with their buttons in view."""

import os
import sys
import tkinter.font as tkfont
from itertools import pairwise
from pathlib import Path
from tkinter import ttk

import pytest
from hand import Hand
from PIL import ImageGrab
from robot import Robot, needs_display, start_xvfb

sys.path.append(str(Path(__file__).parents[1] / "unit"))
from routed import addressed

from linklab.topology import Topology
from linklab.windows.scrolled import pages_in

pytestmark = needs_display
ROOT = Path(__file__).parents[2]
LAB_14 = ROOT / "topologies/Lab 14.mn"
WIDE, HIGH = 1024, 600


@pytest.fixture(scope="session")
def small_xvfb():
    """An Xvfb of that size, up to the end: Tk keeps a connection, and ends the process if that breaks."""
    process, name = start_xvfb(f"{WIDE}x{HIGH}")
    yield name
    process.terminate()
    process.wait()


@pytest.fixture(scope="module")
def small_display(small_xvfb):
    """That display for the windows of this module."""
    before = os.environ.get("DISPLAY")
    os.environ["DISPLAY"] = small_xvfb
    yield small_xvfb
    if before is None:
        del os.environ["DISPLAY"]
    else:
        os.environ["DISPLAY"] = before


@pytest.fixture
def start(small_display, tmp_path, monkeypatch):
    """Start an editor there, with a file or without."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    from linklab.editor.app import Editor  # noqa: PLC0415 - needs tkinter, which may be missing
    from linklab.editor.settings import EditorSettings  # noqa: PLC0415

    made = []

    def begin(path=None, scale=1.0, language="en"):
        hand = Hand(Editor(path, EditorSettings(scale=scale, language=language)), Robot(small_display))
        made.append(hand)
        hand.settle(0.6)
        return hand

    yield begin
    for hand in made:
        hand.editor.close()
        hand.robot.close()


def is_seen(widget):
    """Whether a widget is on the screen whole, with nothing of its own program above it."""
    x, y = widget.winfo_rootx(), widget.winfo_rooty()
    wide, high = widget.winfo_width(), widget.winfo_height()
    if not (widget.winfo_viewable() and x >= 0 and y >= 0 and x + wide <= WIDE and y + high <= HIGH):
        return False
    spots = [(x + 2, y + 2), (x + wide - 3, y + high - 3), (x + wide // 2, y + high // 2)]
    return all(str(widget.winfo_containing(*spot)).startswith(str(widget)) for spot in spots)


OPEN = {
    "host": lambda hand: hand.editor.properties.open("h1"),
    "switch": lambda hand: hand.editor.properties.open("s1"),
    "link": lambda hand: hand.editor.properties.open(0),
    "several": lambda hand: (hand.editor.editing.select_all(), hand.editor.properties.open_selected()),
    "preferences": lambda hand: hand.editor.properties.preferences(),
    "chooser": lambda hand: hand.editor.filing.open(),
    "commands": lambda hand: hand.editor.properties.show_all_commands(),
    "keys": lambda hand: hand.editor.window.show_text("Keys", "\n".join("x" * 200 for _ in range(90))),
    "assign": lambda hand: hand.editor.addresses.assign(),
    "question": lambda hand: hand.editor.window.tell("A title", "\n\n".join(["A sentence that is long. " * 6] * 9)),
}


@pytest.mark.parametrize("scale", [1.0, 2.0])
@pytest.mark.parametrize("what", OPEN)
def test_a_dialog_fits_with_its_buttons(start, what, scale):
    """Regression: the buttons of a host's dialog were off the screen, a link's was cut; at 200 % nothing fitted."""
    hand = start(LAB_14, scale)
    OPEN[what](hand)
    hand.settle(0.4)
    form = hand.dialog()
    assert form.winfo_rootx() + form.winfo_width() <= WIDE
    assert form.winfo_rooty() + form.winfo_height() <= HIGH
    buttons = [each for each in form.buttons.winfo_children() if each.winfo_manager()]
    assert buttons
    for each in buttons:
        assert is_seen(each), each.cget("text")


@pytest.mark.parametrize("scale", [1.0, 2.0])
def test_every_page_can_be_read_to_its_end(start, scale):
    """What does not fit can be scrolled to, sideways never: each field is in view when it has the focus."""
    hand = start(LAB_14, scale)
    for key in ("h1", 0):
        hand.editor.properties.open(key)
        hand.settle(0.3)
        form = hand.dialog()
        if key == 0:
            form.directions[0].own.set("1")
            form.directions[0].kind.set("fq_codel")
            form.directions[0]._chose({})
        for digit, page in enumerate(form.notebook.tabs()):
            form.notebook.select(digit)
            hand.settle(0.1)
            inputs = {**form.inputs, **(form.directions[0].inputs if key == 0 else {})}
            for name, each in inputs.items():
                if str(each.widget).startswith(f"{page}."):
                    each.widget.focus_force()
                    hand.settle(0.03)
                    assert is_seen(each.widget), (page, name)
        form.destroy()


def test_a_message_that_comes_later_leaves_the_dialog_on_the_screen(start):
    """A wrong value makes the dialog higher; its buttons stay in view."""
    hand = start(LAB_14, 2.0)
    hand.editor.properties.open("h1")
    hand.settle(0.3)
    form = hand.dialog()
    form.message.configure(text="A message of several lines. " * 12)
    hand.settle(0.3)
    assert form.winfo_rooty() + form.winfo_height() <= HIGH
    assert is_seen(form.accept)


def test_a_dialog_grows_with_what_it_says(start, tmp_path):
    """Regression: the answer to an import took its room from the field, of which half was left."""
    hand = start()
    program = tmp_path / "program.py"
    program.write_text("from mininet.topo import Topo\n")
    hand.editor.filing.open_path(program, first=True)
    hand.settle(0.3)
    form = hand.dialog()
    (page,) = pages_in(form)
    before = page.winfo_height()
    form.message.configure(text="A message of several lines. " * 12)
    hand.settle(0.3)
    assert page.winfo_height() >= before
    assert page.canvas.yview() == (0.0, 1.0)
    assert is_seen(form.message)
    assert is_seen(form.accept)


@pytest.mark.parametrize("scale", [1.0, 2.0])
def test_a_checkbox_of_two_lines_has_one_box(start, scale):
    """Regression: ttk painted it again below itself, as far as the text reaches."""
    hand = start(LAB_14, scale)
    hand.editor.properties.open(0)
    hand.settle(0.3)
    form = hand.dialog()
    form.notebook.select(1)
    hand.settle(0.3)
    (box,) = [each for each in widgets_in(form) if each.winfo_class() == "TCheckbutton" and each.winfo_viewable()][:1]
    assert (box.winfo_height() > 60) == (scale == 2.0)  # two lines
    x, y = box.winfo_rootx() + round(14 * scale), box.winfo_rooty()
    column = ImageGrab.grab(bbox=(x, y, x + 1, y + box.winfo_height()), xdisplay=hand.display).convert("L")
    dark = [value < 200 for value in column.getdata()]
    assert sum(now and not before for before, now in pairwise(dark)) == 2  # its upper and its lower side


@pytest.mark.parametrize("scale", [1.0, 2.0])
def test_what_is_pasted_is_seen(start, scale):
    """Regression: new nodes were cut by the window's edge, or lay outside."""
    hand = start(LAB_14, scale)
    drawing = hand.editor.drawing
    for _ in range(3):
        hand.editor.document.select({"h1", "s1"})
        hand.editor.editing.copy()
        hand.editor.editing.paste()
        hand.settle(0.1)
        seen = drawing.seen
        for name in hand.editor.document.selection:
            x0, y0, x1, y1 = drawing.bbox(*drawing.items_of([name]))
            assert seen.x0 <= x0 < x1 <= seen.x1
            assert seen.y0 <= y0 < y1 <= seen.y1


@pytest.mark.parametrize("scale", [1.0, 2.0])
def test_the_window_fits_with_all_its_tools(start, scale):
    """Every tool, Run, Stop and the status line; the drawing has most of the rest."""
    hand = start(LAB_14, scale)
    editor = hand.editor
    assert editor.root.winfo_rooty() + editor.root.winfo_height() <= HIGH
    assert editor.root.winfo_rootx() + editor.root.winfo_width() <= WIDE
    for each in (*editor.toolbar.tools.values(), editor.toolbar.run, editor.toolbar.stop, editor.status.zoom):
        assert is_seen(each)
    assert editor.drawing.winfo_width() > WIDE / 2
    assert editor.drawing.winfo_height() > HIGH / 2


def test_a_question_at_start_is_above_the_window(start, tmp_path):
    """Regression: the faults of a file named on the command line were told below the window, with OK hidden."""
    text = Topology.load(LAB_14).dumps().replace('"dest": "s1"', '"dest": "s7"', 1)
    (tmp_path / "faulty.mn").write_text(text)
    hand = start(tmp_path / "faulty.mn")
    hand.until(lambda: hand.dialog() is not None, what="the question")
    hand.settle(0.3)
    for each in hand.dialog().buttons.winfo_children():
        assert is_seen(each)
    hand.key("Escape")
    assert hand.dialog() is None


def test_a_long_answer_leaves_the_status_line_whole(start):
    """Regression: what the kernel said to Apply pushed the zoom and the count out of the window."""
    hand = start(LAB_14)
    status = hand.editor.status
    words = "h1-s1 changed; the kernel has: " + "; ".join(["netem 8001: root refcnt 2 limit 1000 delay 20ms"] * 8)
    hand.editor.window.say(words)
    hand.settle()
    assert is_seen(status.zoom)
    assert is_seen(status.count)
    assert is_seen(status.more)
    assert status.text.cget("text").endswith("…")
    assert status.text.winfo_reqwidth() <= status.text.winfo_width()
    hand.click(status.more)
    assert words in hand.read(hand.dialog())
    hand.dialog().destroy()
    hand.editor.window.say("short")
    assert status.text.cget("text") == "short"
    assert not status.more.winfo_manager()


@pytest.mark.parametrize("scale", [1.0, 2.0])
def test_no_page_scrolls_sideways(start, scale):
    """A line that has to be scrolled to be read is not read."""
    hand = start(LAB_14, scale)
    for what in ("host", "switch", "link", "preferences", "several", "assign"):
        OPEN[what](hand)
        hand.settle(0.3)
        form = hand.dialog()
        room = max(page.canvas.winfo_width() for page in pages_in(form))  # of the tab that is shown
        for page in pages_in(form):
            assert page.body.winfo_reqwidth() <= room, (what, page)
        form.destroy()


@pytest.mark.parametrize("what", ["host", "switch", "link", "preferences", "several"])
def test_every_title_of_a_tab_is_read_whole(start, what):
    """Regression: at 200 % they read "Properti", "Ports and Rou", "VLAN Interfa"."""
    hand = start(LAB_14, 2.0)
    OPEN[what](hand)
    hand.settle(0.3)
    notebook = hand.dialog().notebook
    style = ttk.Style(notebook)
    font = tkfont.Font(font=style.lookup(f"{notebook.cget('style') or 'TNotebook'}.Tab", "font") or "TkDefaultFont")
    # a tab tells its width by the places at which it is the one that is hit
    row = 12
    seen = [notebook.index(f"@{x},{row}") for x in range(notebook.winfo_width()) if notebook.identify(x, row)]
    for number, tab in enumerate(notebook.tabs()):
        assert seen.count(number) >= font.measure(notebook.tab(tab, "text")), notebook.tab(tab, "text")


@pytest.mark.parametrize("scale", [1.0, 2.0])
def test_a_menu_is_on_the_screen_whole(start, scale):
    """Regression: at 200 % the last entries were below the screen, and a second column beyond its right edge."""
    hand = start(LAB_14, scale)
    for menu in hand.editor.layout.menus.bar.winfo_children():
        menu.post(10, 10)
        hand.settle(0.1)
        assert menu.winfo_reqheight() <= HIGH
        assert menu.winfo_reqwidth() <= WIDE
        menu.unpost()


def table_of(hand):
    """The table of addresses of a drawing with two routers."""
    hand.editor.document.open(addressed(), None)
    hand.editor.addresses.open_table()
    hand.settle(0.4)
    return hand.editor.addresses.table


@pytest.mark.parametrize("scale", [1.0, 2.0])
def test_every_cell_of_the_addresses_can_be_read(start, scale):
    """Regression: at 200 % four letters of an address were seen. Node and port stay, the rest goes sideways."""
    hand = start(None, scale)
    table = table_of(hand)
    font = tkfont.nametofont("TkDefaultFont", table)
    for line in table.lines[:3]:
        for column, field in line.fields.items():
            if not field.winfo_manager():
                continue
            field.focus_force()
            hand.settle(0.05)
            assert is_seen(field), (line.row.port, column)
            least = "255.255.255.255" if column == "gateway" else "255.255.255.255/24"
            assert field.winfo_width() >= font.measure(least), column
            assert is_seen(line.labels["node"])
            assert is_seen(line.labels["port"])
            assert abs(field.winfo_rooty() - line.labels["port"].winfo_rooty()) < field.winfo_height() / 2
    for each in table.buttons.winfo_children():
        assert is_seen(each)
        assert each.winfo_width() >= each.winfo_reqwidth(), each.cget("text")


@pytest.mark.parametrize("scale", [1.0, 2.0])
def test_what_is_wrong_with_a_cell_is_read_whole(start, scale):
    """Regression: the sentence at a cell of the last column was cut at the window's edge, and so was the summary."""
    hand = start(None, scale)
    table = table_of(hand)
    port = table.table[0].port
    table.take_all({(port, "ipv4"): "10.0.0.300/8", (port, "routes"): "10.9.0.0/16 via 10.0.2"}, "Change")
    for column in ("ipv4", "routes"):
        table.lines[0].fields[column].focus_force()
        hand.settle(0.3)
        assert is_seen(table.bubble)
        assert table.bubble.winfo_width() >= table.bubble.winfo_reqwidth()
        assert table.bubble.winfo_rootx() + table.bubble.winfo_width() <= table.winfo_rootx() + table.winfo_width()
        assert is_seen(table.message)
        assert table.message.winfo_height() >= table.message.winfo_reqheight()


def widgets_in(widget):
    """Everything inside a widget."""
    return [each for child in widget.winfo_children() for each in (child, *widgets_in(child))]


def seen_inside(widget):
    """What of a bar's parts is shown, each on the screen whole."""
    found = []
    for child in widget.winfo_children():
        found += seen_inside(child) if child.winfo_class() == "TFrame" else [child]
    return found


@pytest.mark.parametrize("scale", [1.0, 2.0])
def test_the_clock_is_seen_whole_while_the_network_runs(start, scale):
    """Regression: at 200 % Go to and the state were outside the window, and of what was said nothing was left."""
    hand = start(LAB_14, scale)
    editor = hand.editor
    editor.show_clock({"paused": False, "speed": 1.0, "now_s": 12345.678, "until_ns": None, "behind_s": 12.25})
    editor.status.busy(True)
    words = "s1: no controller answers at 127.0.0.1:6653; it forwards nothing until one does"
    editor.window.say(words)
    hand.settle(0.3)
    parts = seen_inside(editor.clock_bar)
    assert len(parts) == 10
    for each in parts:
        assert is_seen(each), each
        assert each.winfo_width() >= each.winfo_reqwidth(), each
    assert "12.25 s behind" in editor.clock_bar.behind.cget("text")
    assert editor.drawing.winfo_height() > HIGH * 0.4
    assert is_seen(editor.status.cancel)
    shown = editor.status.text.cget("text")
    assert len(shown) > 30
    assert editor.status.text.winfo_reqwidth() <= editor.status.text.winfo_width()
    editor.status.busy(False)
    editor.window.say("short")
    hand.settle()
    assert is_seen(editor.status.count)
    assert is_seen(editor.status.zoom)


@pytest.mark.parametrize("scale", [1.0, 2.0])
def test_the_small_map_leaves_the_drawing_to_be_seen(start, scale):
    """Regression: at 200 % it covered a quarter of the drawing."""
    hand = start(LAB_14, scale)
    drawing = hand.editor.drawing
    drawing.set_zoom(3.0)
    hand.settle(0.3)
    small = hand.editor.layout.minimap
    assert is_seen(small)
    assert small.winfo_width() * small.winfo_height() < 0.1 * drawing.winfo_width() * drawing.winfo_height()
    before = drawing.canvasx(0)
    hand.click(small, x=5, y=5)
    assert drawing.canvasx(0) < before


@pytest.mark.parametrize("scale", [1.0, 2.0])
def test_the_bar_to_find_things_is_seen_whole(start, scale):
    """Regression: at 200 % Next was cut off, and how many there are."""
    hand = start(LAB_14, scale)
    hand.editor.find_bar.open()
    hand.editor.find_bar.words.set("h")
    hand.settle(0.3)
    for each in seen_inside(hand.editor.find_bar):
        assert is_seen(each), each
        assert each.winfo_width() >= each.winfo_reqwidth(), each
    assert hand.editor.find_bar.count.cget("text") == "1 of 7"


@pytest.mark.parametrize("scale", [1.0, 2.0])
def test_spanish_has_room(start, scale):
    """Its words are longer: the tools, the bars and the pages of dialogs are still seen whole."""
    hand = start(LAB_14, scale, "es")
    editor = hand.editor
    editor.show_clock({"paused": False, "speed": 1.0, "now_s": 12345.678, "until_ns": None, "behind_s": 12.25})
    editor.find_bar.open()
    editor.find_bar.words.set("h")
    hand.settle(0.3)
    tools = (*editor.toolbar.tools.values(), editor.toolbar.run, editor.toolbar.stop, editor.status.zoom)
    for each in (*tools, *seen_inside(editor.clock_bar), *seen_inside(editor.find_bar)):
        assert is_seen(each), each
        assert each.winfo_width() >= each.winfo_reqwidth(), each
    assert editor.drawing.winfo_width() > WIDE / 2
    editor.show_clock(None)
    for what in ("host", "link", "preferences", "several", "assign"):
        OPEN[what](hand)
        hand.settle(0.3)
        form = hand.dialog()
        room = max(page.canvas.winfo_width() for page in pages_in(form))
        for page in pages_in(form):
            assert page.body.winfo_reqwidth() <= room, (what, page)
        for button in form.buttons.winfo_children():
            assert is_seen(button) or not button.winfo_manager(), (what, button.cget("text"))
        form.destroy()
    table = table_of(hand)
    font = tkfont.nametofont("TkHeadingFont", table)
    for head in table.headings.values():
        assert font.measure(head.cget("text")) <= head.winfo_width(), head.cget("text")
