# SPDX-License-Identifier: BSD-3-Clause
"""What a person without a mouse does in drawing and dialogs; the pointer is never moved or pressed here."""

from pathlib import Path

import pytest
from PIL import ImageGrab
from robot import needs_display

from linklab.topology import Topology
from linklab.windows.toplevel import Dialog

pytestmark = needs_display
ROOT = Path(__file__).parents[2]
ADD = {"host": "at", "switch": "numbersign", "legacySwitch": "dollar", "controller": "ampersand"}
"""Shift+2, 3, 4 and 7 as an American keyboard names them."""


@pytest.fixture
def keys(hand, monkeypatch):
    """An editor whose drawing has the focus, and a hand that has no mouse."""

    def no_mouse(*_):
        raise AssertionError("no mouse here")

    hand.editor.drawing.focus_force()
    hand.settle()
    for name in ("move", "press", "release"):
        monkeypatch.setattr(hand.robot, name, no_mouse)
    return hand


def names(hand):
    """Links by the names of their nodes."""
    return [link.name for link in hand.editor.document.topology.links]


def draw(hand, *kinds):
    """Add nodes by their keys."""
    for kind in kinds:
        hand.key(ADD[kind])


def said(hand):
    """The line at the bottom."""
    return hand.editor.status.said


def menus_shown(hand):
    """Menus that are open, those of the bar too."""
    tk = hand.editor.root.tk
    found, waiting = [], ["."]
    while waiting:
        for child in tk.splitlist(tk.call("winfo", "children", waiting.pop())):
            waiting.append(child)
            if tk.call("winfo", "class", child) == "Menu" and tk.call("winfo", "viewable", child):
                found.append(child)
    return [name for name in found if not (name.startswith(".#") and name.count(".") == 1)]  # the bar itself


def test_any_two_of_many_nodes_are_linked(keys):
    """Regression: with more than two nodes nothing but Ctrl+A extended the selection, so Ctrl+L had no use."""
    draw(keys, "host", "host", "host", "switch")
    keys.key("Tab")
    assert keys.editor.document.selection == {"h1"}
    for _ in range(3):
        keys.key("Control+Tab")
    assert keys.editor.document.selection == {"h1"}
    assert "s1" in said(keys)
    keys.key("space")
    assert keys.editor.document.selection == {"h1", "s1"}
    keys.key("Control+l")
    assert names(keys) == ["h1-s1"]


def test_the_cursor_goes_back_and_takes_things_out(keys):
    """Ctrl+Shift+Tab goes back; Space takes out what is selected; a plain Tab begins anew."""
    draw(keys, "host", "host", "host")
    keys.key("Tab")
    keys.key("Control+Tab")
    keys.key("space")
    keys.key("Control+Tab")
    keys.key("Control+space")
    assert keys.editor.document.selection == {"h1", "h2", "h3"}
    keys.key("Control+Shift+ISO_Left_Tab")
    keys.key("space")
    assert keys.editor.document.selection == {"h1", "h3"}
    assert keys.editor.drawing.find_withtag("cursor")
    keys.key("Tab")
    assert keys.editor.document.selection == {"h3"}
    assert not keys.editor.drawing.find_withtag("cursor")


def test_ctrl_arrows_go_to_the_nearest_node(keys):
    """In a grid of nodes, right is right and down is down."""
    keys.editor.filing.open_path(ROOT / "topologies/Lab 14.mn")
    keys.settle()
    keys.key("Tab")
    assert keys.editor.document.selection == {"h1"}
    keys.key("Control+Right")
    assert said(keys).startswith("s1:")
    keys.key("Control+Right")
    assert said(keys).startswith("h3:")
    keys.key("Control+Right")
    assert said(keys).startswith("h3:")
    keys.key("Control+Left")
    assert said(keys).startswith("s1:")


def test_nodes_are_linked_to_the_one_switch_among_them(keys):
    """Ctrl+L with a switch and many nodes; undone in one step; of no use without one switch, which is said."""
    draw(keys, "host", "host", "host")
    keys.key("Control+a")
    keys.key("Control+l")
    assert names(keys) == []
    assert "one switch" in said(keys)
    draw(keys, "switch")
    keys.key("Control+a")
    keys.key("Control+l")
    assert names(keys) == ["h1-s1", "h2-s1", "h3-s1"]
    keys.key("Control+z")
    assert names(keys) == []


@pytest.mark.parametrize("key", ["Shift+F10", "Menu"])
def test_the_menu_of_a_node_is_the_only_one(keys, key):
    """Regression: Shift+F10 also opened File, which stuck. Escape leaves nothing open."""
    draw(keys, "host")
    keys.key("Tab")
    keys.key(key)
    shown = menus_shown(keys)
    assert len(shown) == 1
    labels = [keys.editor.root.tk.call(shown[0], "entrycget", i, "-label") for i in (0, 1)]
    assert labels == ["Properties…", "Duplicate"]
    keys.key("Escape")
    assert menus_shown(keys) == []
    keys.key("Shift+F10")
    keys.key("Down")
    keys.key("Return")
    assert isinstance(keys.dialog(), Dialog)
    keys.key("Shift+F10")
    assert menus_shown(keys) == []


def test_shift_f10_opens_no_menu_of_the_bar_anywhere(keys):
    """Also where a tool has the focus."""
    keys.editor.toolbar.tools["host"].focus_set()
    keys.settle()
    keys.key("Shift+F10")
    assert menus_shown(keys) == []


def test_the_arrows_go_from_menu_to_menu(keys):
    """Regression: tkinter does not know the copy of a menu that Tk posts, and a fault was shown for each key."""
    keys.key("Alt+f")
    keys.settle(0.3)
    keys.key("Right")
    keys.settle(0.3)
    keys.key("Right")
    keys.settle(0.3)
    assert keys.dialog() is None
    keys.key("Escape")
    keys.key("Escape")
    keys.settle(0.3)
    assert keys.dialog() is None
    keys.key("Control+m")
    keys.settle(0.3)
    assert keys.dialog() is None


def test_return_presses_the_button_that_has_the_focus(keys):
    """Regression: Tab Tab Return in "Save the changes?" saved."""
    draw(keys, "host")
    keys.key("Control+n")
    question = keys.dialog()
    assert question.title() == "Save the changes?"
    keys.key("Tab")
    keys.key("Tab")
    assert keys.editor.root.focus_get().cget("text") == "Cancel"
    keys.key("Return")
    assert keys.dialog() is None
    assert keys.editor.document.topology != Topology()
    keys.key("Control+n")
    keys.key("Tab")
    keys.key("Return")
    assert keys.editor.document.topology == Topology()


def test_return_on_cancel_changes_nothing(keys):
    """In the dialog of a node; and in a field Return is OK."""
    draw(keys, "host")
    keys.key("Return")
    form = keys.dialog()
    keys.robot.type("web")
    form.refuse.focus_set()
    keys.settle()
    keys.key("Return")
    assert [node.name for node in keys.editor.document.topology.nodes] == ["h1"]
    keys.key("Return")
    keys.key("Control+a")
    keys.robot.type("web")
    keys.settle()
    keys.key("Return")
    assert [node.name for node in keys.editor.document.topology.nodes] == ["web"]


def test_the_focus_comes_back_to_the_drawing(keys):
    """After a dialog the keys work where they did before."""
    draw(keys, "host")
    keys.key("Return")
    assert keys.dialog() is not None
    keys.key("Escape")
    assert keys.editor.root.focus_get() is keys.editor.drawing
    keys.key("Delete")
    assert keys.editor.document.topology.nodes == ()


def test_the_focus_comes_back_wherever_the_pointer_is(hand):
    """Regression: where no window manager gives the focus, a pointer beside the window lost it with the dialog."""
    hand.editor.root.geometry("900x600+0+0")
    hand.robot.move(1200, 800)
    hand.editor.drawing.focus_force()
    hand.settle()
    draw(hand, "host")
    hand.key("Return")
    hand.key("Escape")
    hand.key("Delete")
    assert hand.editor.document.topology.nodes == ()


@pytest.mark.parametrize("what", ["host", "link", "preferences"])
def test_alt_and_a_digit_turn_to_a_tab(keys, what):
    """Regression: not in the dialog of a link. The first field of the tab has the focus, and is in view."""
    keys.editor.filing.open_path(ROOT / "topologies/Lab 14.mn")
    {
        "host": lambda: keys.editor.properties.open("h1"),
        "link": lambda: keys.editor.properties.open(0),
        "preferences": keys.editor.properties.preferences,
    }[what]()
    keys.settle()
    form = keys.dialog()
    for digit in (2, 3, 1):
        keys.key(f"Alt+{digit}")
        assert form.notebook.index("current") == digit - 1
        page = form.notebook.select()
        assert str(keys.editor.root.focus_get()).startswith(page)


def test_the_button_that_has_the_focus_is_seen(keys):
    """Regression: the blue button looked the same with and without it."""
    keys.editor.properties.preferences()
    keys.settle()
    form = keys.dialog()

    def picture(button):
        keys.settle(0.3)
        x, y = button.winfo_rootx(), button.winfo_rooty()
        box = (x, y, x + button.winfo_width(), y + button.winfo_height())
        return ImageGrab.grab(bbox=box, xdisplay=keys.display).convert("RGB")

    for button in (form.accept, form.refuse):
        before = picture(button)
        button.focus_set()
        after = picture(button)
        changed = sum(a != b for a, b in zip(before.getdata(), after.getdata(), strict=True))
        assert changed >= 2 * (before.width + before.height) - 8


def test_every_field_of_a_dialog_is_brought_in_view_by_tab(keys):
    """In a dialog too high for its screen Tab scrolls; all that it reaches is inside the page."""
    keys.editor.filing.open_path(ROOT / "topologies/Lab 14.mn")
    keys.editor.properties.open(0)
    keys.settle()
    form = keys.dialog()
    form.directions[0].own.set("1")
    form.directions[0].kind.set("red")
    form.directions[0]._chose({})
    keys.key("Alt+2")
    seen = set()
    for _ in range(40):
        widget = keys.editor.root.focus_get()
        if not str(widget).startswith(form.notebook.select()):
            break
        seen.add(str(widget))
        top, bottom = widget.winfo_rooty(), widget.winfo_rooty() + widget.winfo_height()
        assert form.notebook.winfo_rooty() <= top
        assert bottom <= form.notebook.winfo_rooty() + form.notebook.winfo_height()
        keys.key("Tab")
    assert len(seen) >= len(form.directions[0].inputs) + 2
