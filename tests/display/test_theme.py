# SPDX-License-Identifier: BSD-3-Clause
"""F9 changes colours and nothing else: no window moves, no view, no dialog, and every part of the window follows."""

from pathlib import Path

import pytest
from PIL import ImageGrab
from robot import needs_display

from linklab.windows.palette import PALETTES

pytestmark = needs_display
ROOT = Path(__file__).parents[2]
TICK_PX = 22
"""Where the box of a checkbox is, without its text."""


def colours(hand, widget, wide=0):
    """How many pixels of a widget, or of its left part, have each colour, "#rrggbb"."""
    hand.settle(0.3)
    x, y = widget.winfo_rootx(), widget.winfo_rooty()
    box = (x, y, x + (wide or widget.winfo_width()), y + widget.winfo_height())
    picture = ImageGrab.grab(bbox=box, xdisplay=hand.display).convert("RGB")
    return {"#{:02x}{:02x}{:02x}".format(*colour): count for count, colour in picture.getcolors(1 << 20)}


def pixels(hand, widget, wide):
    """The colours of a widget's left part, row by row."""
    hand.settle(0.3)
    x, y = widget.winfo_rootx(), widget.winfo_rooty()
    box = (x, y, x + wide, y + widget.winfo_height())
    return list(ImageGrab.grab(bbox=box, xdisplay=hand.display).convert("RGB").getdata())


def brightness(colour):
    """Relative luminance, as WCAG 2.2 defines it."""
    parts = [each / 255 for each in colour]
    linear = [each / 12.92 if each <= 0.04045 else ((each + 0.055) / 1.055) ** 2.4 for each in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one, other):
    """Ratio of two colours, 1 to 21."""
    high, low = sorted((brightness(one), brightness(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def menu_bar(hand):
    """Tk's own copy of the menu that stands in the bar."""
    tk = hand.editor.root.tk
    return next(name for name in tk.splitlist(tk.call("winfo", "children", ".")) if name.startswith(".#"))


def test_f9_moves_nothing(hand):
    """Regression: it moved the window, fitted the zoom anew and closed dialogs with what was typed."""
    hand.editor.filing.open_path(ROOT / "topologies/Lab 14.mn")
    hand.editor.root.geometry("900x600+60+40")
    hand.settle(0.4)
    drawing = hand.editor.drawing
    drawing.set_zoom(2.0)
    drawing.xview_scroll(3, "units")
    hand.editor.properties.open("h1")
    hand.settle()
    form = hand.dialog()
    hand.fill(form, "ip", "10.0.0.77")

    def state():
        view = (drawing.zoom, drawing.canvasx(0), drawing.canvasy(0))
        places = [
            (w.winfo_rootx(), w.winfo_rooty(), w.winfo_width(), w.winfo_height()) for w in (hand.editor.root, form)
        ]
        return view, places, form.inputs["ip"].get(), hand.editor.drawing is drawing

    before = state()
    hand.editor.drawing.focus_force()
    for theme in ("dark", "light"):
        hand.key("F9")
        hand.settle(0.3)
        assert hand.editor.look.theme == theme
        assert state() == before


def test_checkboxes_stay_visible_when_the_theme_changes_twice(hand):
    """Regression: F9 twice made every checkbox invisible, because ttk kept the names of images that were gone."""
    hand.editor.properties.preferences()
    hand.settle()
    box = hand.dialog().inputs["startCLI"].widget
    box.focus_set()  # brings it into view
    before = colours(hand, box, TICK_PX)
    assert len(before) > 8
    for theme in ("dark", "light"):
        hand.editor.ticks["dark"].set(theme == "dark")
        hand.editor.set_theme()
        assert len(colours(hand, box, TICK_PX)) > 8
    assert colours(hand, box, TICK_PX) == before


@pytest.mark.parametrize("theme", PALETTES)
@pytest.mark.parametrize("ticked", ["0", "1"])
def test_the_focus_on_a_checkbox_is_seen(hand, theme, ticked):
    """Regression: a faint line around it. As many pixels as are around the box change by at least 3:1 (WCAG 2.4.13)."""
    hand.editor.ticks["dark"].set(theme == "dark")
    hand.editor.set_theme()
    hand.editor.properties.preferences()
    hand.settle()
    field = hand.dialog().inputs["startCLI"]
    field.set(ticked)
    shown = []
    for widget in (field.widget, hand.dialog().accept, field.widget):
        widget.focus_force()
        shown.append(pixels(hand, field.widget, TICK_PX + 8))
    changed = sum(contrast(one, other) >= 3 for one, other in zip(*shown[1:], strict=True))
    assert changed >= 4 * TICK_PX


@pytest.mark.parametrize("theme", PALETTES)
def test_ok_below_the_mouse_stays_a_button_to_be_pressed(hand, theme):
    """Regression: it turned grey, as if it could not be."""
    hand.editor.ticks["dark"].set(theme == "dark")
    hand.editor.set_theme()
    hand.editor.properties.preferences()
    hand.settle()
    ok = hand.dialog().accept
    hand.robot.move(ok.winfo_rootx() + 12, ok.winfo_rooty() + 12)
    found = colours(hand, ok)
    assert max(found, key=found.__getitem__) == PALETTES[theme].pointed


def test_every_part_of_the_window_follows(hand):
    """Regression: once the menu bar stayed dark. After F9 twice the window has the very pixels that it had before."""
    hand.editor.filing.open_path(ROOT / "topologies/Lab 14.mn")
    hand.editor.window.show_text("A text", "to read")
    hand.editor.properties.open(0)
    hand.settle()
    hand.robot.move(1270, 890)
    bar = menu_bar(hand)
    windows = [hand.editor.root, *(w for w in hand.editor.root.winfo_children() if w.winfo_class() == "Toplevel")]
    before = [colours(hand, window) for window in windows]
    light = {PALETTES["light"].window, PALETTES["light"].canvas, PALETTES["light"].panel, PALETTES["light"].field}
    hand.editor.drawing.focus_force()
    hand.key("F9")
    assert str(hand.editor.root.tk.call(bar, "cget", "-background")) == PALETTES["dark"].panel
    for window in windows:
        found = colours(hand, window)
        assert sum(found.get(colour, 0) for colour in light) < 50, window  # edges of letters may have any colour
    hand.key("F9")
    assert str(hand.editor.root.tk.call(bar, "cget", "-background")) == PALETTES["light"].panel
    assert [colours(hand, window) for window in windows] == before


def test_another_size_keeps_view_and_dialogs(hand):
    """Size of Everything keeps the zoom, what is in the middle, and a dialog with what is typed."""
    hand.editor.filing.open_path(ROOT / "topologies/Lab 14.mn")
    drawing = hand.editor.drawing
    drawing.set_zoom(1.5)
    hand.editor.properties.open("h1")
    hand.settle()
    form = hand.dialog()
    hand.fill(form, "ip", "10.0.0.77")

    def middle():
        d = hand.editor.drawing
        return d.to_drawing(d.winfo_width() / 2, d.winfo_height() / 2)

    before = middle()
    hand.editor.set_scale(1.25)
    hand.settle(0.5)
    assert hand.editor.drawing.zoom == 1.5
    assert max(abs(a - b) for a, b in zip(middle(), before, strict=True)) < 5
    (again,) = (w for w in hand.editor.root.winfo_children() if w.winfo_class() == "Toplevel")
    assert again.inputs["ip"].get() == "10.0.0.77"
    hand.editor.drawing.focus_force()
    hand.key("F9")
    assert str(again.cget("background")) == PALETTES["dark"].window
