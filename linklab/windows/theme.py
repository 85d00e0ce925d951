# SPDX-License-Identifier: BSD-3-Clause
"""Colours, fonts and ttk styles, light and dark, at any scale; nothing here names a font of one system.

`Look` is what the view asks for colours and sizes; `apply` sets ttk's styles and tkinter's option database.
"""

from __future__ import annotations

import tkinter as tk
from tkinter import font as tkfont
from tkinter import ttk
from typing import Any
from weakref import WeakKeyDictionary

from PIL import Image, ImageDraw, ImageTk

from linklab.base.catalogue import Say, unchanged
from linklab.windows.icons import paint
from linklab.windows.palette import PALETTES

NARROW = 800
"""Pixels of a plain display across, below which dialogs have to be sparing with room."""
TICK, TICK_WRAP = 18, 290
"""Pixels of a check box, and of the longest line of its text on a narrow screen."""


class Look:
    """The colours and sizes in force; `px` turns pixels of a plain display into this one's."""

    def __init__(self, root: tk.Misc, theme: str, scale: float, say: Say = unchanged) -> None:
        """`say` gives a text in the person's language; whatever draws one asks it."""
        self.say = say
        self.change(theme)
        self.resize(root, scale)

    def resize(self, root: tk.Misc, scale: float) -> None:
        """Take another size; what is made from now on has it, and letters have it at once."""
        self.scale = scale or display_scale(root)
        self.is_narrow = root.winfo_screenwidth() < NARROW * self.scale
        root.tk.call("tk", "scaling", 96 / 72 * self.scale)
        for name in ("TkDefaultFont", "TkTextFont", "TkMenuFont", "TkHeadingFont", "TkTooltipFont"):
            tkfont.nametofont(name, root).configure(size=10)
        tkfont.nametofont("TkFixedFont", root).configure(size=10)
        self.family = str(tkfont.nametofont("TkDefaultFont", root).actual("family"))

    def change(self, theme: str) -> None:
        """Take other colours; every part of the window that holds this look finds them at its next drawing."""
        self.theme = theme if theme in PALETTES else "light"
        self.palette = PALETTES[self.theme]

    def px(self, pixels: float) -> int:
        """Pixels of this display."""
        return round(pixels * self.scale)

    def font(self, size: int = 10, weight: str = "normal") -> tuple[str, int, str]:
        """The interface's own font; size in points."""
        return (self.family, size, weight)


def display_scale(root: tk.Misc) -> float:
    """1 on a plain display, 2 on one with twice the dots; what displays claim below 96 dots an inch is not believed."""
    dots = float(root.winfo_fpixels("1i"))
    return max(1.0, min(3.0, round(dots / 96 * 4) / 4))


def apply(root: tk.Misc, look: Look) -> None:
    """Set styles for every ttk widget, and defaults for tkinter's own."""
    p, px = look.palette, look.px
    style = ttk.Style(root)
    style.theme_use("clam")
    root.configure(background=p.window)  # type: ignore[call-arg] # every Misc that is a window takes it
    base = {
        "background": p.window,
        "foreground": p.ink,
        "bordercolor": p.border,
        "lightcolor": p.window,
        "darkcolor": p.window,
        "troughcolor": p.hover,
        "fieldbackground": p.field,
        "selectbackground": p.accent,
        "selectforeground": p.accent_ink,
        "insertcolor": p.ink,
        "focuscolor": p.accent,
        "arrowcolor": p.muted,
    }
    style.configure(".", **base, font="TkDefaultFont", borderwidth=1, relief="flat")
    style.map(".", foreground=[("disabled", p.faint)])
    _buttons(style, look)
    for name in ("TEntry", "TCombobox", "TSpinbox"):
        style.configure(name, padding=px(4), background=p.panel, bordercolor=p.edge)
        style.configure(name, lightcolor=p.field, darkcolor=p.field)
        style.map(
            name,
            bordercolor=[("focus", p.accent), ("disabled", p.border)],
            lightcolor=[("focus", p.accent), ("disabled", p.window)],
            darkcolor=[("focus", p.accent), ("disabled", p.window)],
            fieldbackground=[("disabled", p.window), ("readonly", p.field)],
            foreground=[("disabled", p.faint)],
            selectbackground=[("readonly", p.field)],
            selectforeground=[("readonly", p.ink)],
        )
    style.configure("TCombobox", arrowsize=px(14))
    _checkbutton(root, style, look)
    margin = px(2 if look.is_narrow else 6)
    style.configure("TNotebook", tabmargins=(margin, px(6), margin, 0), bordercolor=p.border)
    room = (px(4 if look.is_narrow else 12), px(5))
    style.configure("TNotebook.Tab", padding=room, background=p.window, lightcolor=p.window)
    style.map("TNotebook.Tab", padding=[("selected", room)], expand=[("selected", (0, 0, 0, 0))])
    style.map(
        "TNotebook.Tab",
        background=[("selected", p.panel)],
        foreground=[("!selected", p.muted)],
        lightcolor=[("selected", p.panel), ("!selected", p.window)],
        bordercolor=[("selected", p.border), ("!selected", p.border)],
    )
    style.configure("Treeview", background=p.field, fieldbackground=p.field, foreground=p.ink, rowheight=px(24))
    style.map("Treeview", background=[("selected", p.accent)], foreground=[("selected", p.accent_ink)])
    style.configure("TSeparator", background=p.border)
    style.configure("Horizontal.TProgressbar", background=p.accent, troughcolor=p.hover, thickness=px(6))
    style.configure("Panel.TFrame", background=p.panel)
    style.configure("Panel.TLabel", background=p.panel)
    style.configure("PanelMuted.TLabel", background=p.panel, foreground=p.muted)
    style.configure("Muted.TLabel", foreground=p.muted)
    style.configure("Bad.TLabel", foreground=p.bad)
    style.configure("Warn.TLabel", foreground=p.warn)
    style.configure("Title.TLabel", font=look.font(13, "bold"))
    style.configure("Clock.TLabel", background=p.panel, font=look.font(13, "bold"))
    for side, sticky in (("Vertical", "ns"), ("Horizontal", "ew")):
        thumb: Any = (f"{side}.Scrollbar.thumb", {"expand": "1", "sticky": "nswe"})
        style.layout(f"{side}.TScrollbar", [(f"{side}.Scrollbar.trough", {"sticky": sticky, "children": [thumb]})])
        look_of_bar: dict[str, Any] = {
            "background": p.edge,
            "troughcolor": p.canvas,
            "bordercolor": p.canvas,
            "gripcount": 0,
        }
        style.configure(f"{side}.TScrollbar", **look_of_bar, lightcolor=p.edge, darkcolor=p.edge, arrowsize=px(11))
        style.map(f"{side}.TScrollbar", background=[("active", p.muted), ("disabled", p.canvas)])
        none = [("disabled", p.canvas)]  # where nothing scrolls there is no thumb
        style.map(f"{side}.TScrollbar", lightcolor=none, darkcolor=none, bordercolor=none)
    _options(root, look)
    for kind in ("TEntry", "TCombobox", "TSpinbox"):
        root.bind_class(kind, "<Control-a>", lambda e: _select_all(e.widget))
    root.bind_class("Text", "<Control-a>", lambda e: e.widget.event_generate("<<SelectAll>>"))
    for key in ("<Return>", "<KP_Enter>"):
        root.bind_class("TButton", key, lambda e: _press(e.widget))
    for event in ("<Button-4>", "<Button-5>", "<MouseWheel>"):
        root.unbind_class("TCombobox", event)  # scrolling a dialog would change the choices that pass below the mouse


def _buttons(style: ttk.Style, look: Look) -> None:
    """Buttons, with a ring around the one that has the focus: of the accent, and on that of its ink."""
    p, px = look.palette, look.px
    room, letters = (6, -7) if look.is_narrow else (12, -11)  # a negative width is the least
    style.configure("TButton", padding=(px(room), px(5)), width=letters, bordercolor=p.edge)
    style.configure("TButton", background=p.panel, lightcolor=p.panel, darkcolor=p.panel)
    ring = [("focus", p.accent)]
    style.map(
        "TButton",
        background=[("pressed", p.border), ("active", p.hover), ("disabled", p.window)],
        bordercolor=[*ring, ("disabled", p.border)],
        lightcolor=[*ring, ("disabled", p.window)],
        darkcolor=[*ring, ("disabled", p.window)],
    )
    bright = {"background": p.accent, "foreground": p.accent_ink, "lightcolor": p.accent, "darkcolor": p.accent}
    style.configure("Accent.TButton", **bright, bordercolor=p.accent, focuscolor=p.accent_ink)
    inner = [("focus", p.accent_ink), ("disabled", p.hover)]
    style.map(
        "Accent.TButton",
        background=[("active", p.pointed), ("disabled", p.hover)],
        bordercolor=[("focus", p.ink), ("disabled", p.border)],
        lightcolor=inner,
        darkcolor=inner,
    )
    style.configure("Flat.TButton", padding=(px(7), px(3)), background=p.panel, bordercolor=p.panel, borderwidth=1)
    style.map("Flat.TButton", bordercolor=[("focus", p.accent), ("active", p.border)])


def _press(button: ttk.Button) -> str:
    """Return does what the button with the focus says, whatever the dialog's default."""
    button.invoke()
    return "break"


def _checkbutton(root: tk.Misc, style: ttk.Style, look: Look) -> None:
    """A box with a tick, painted in the theme's colours at its size, and a ring around the box that has the focus."""
    p = look.palette
    element = f"Linklab{look.theme}{look.px(TICK)}.tick"
    if element not in style.element_names():
        _make_tick(root, style, look, element)
    label: Any = ("Checkbutton.label", {"side": "left", "sticky": "nswe"})
    box: Any = (element, {"side": "left", "sticky": ""})  # beside two lines it would else be painted twice
    parts: Any = [("Checkbutton.padding", {"sticky": "nswe", "children": [box, label]})]
    style.layout("TCheckbutton", parts)
    style.configure("TCheckbutton", padding=look.px(2), wraplength=look.px(TICK_WRAP) if look.is_narrow else 0)
    style.map("TCheckbutton", background=[("active", p.window)])


def _make_tick(root: tk.Misc, style: ttk.Style, look: Look, element: str) -> None:
    """The box of one theme and size, made once: ttk keeps the names of its images, and shows none in their place."""
    p, size = look.palette, look.px(TICK)
    ticks = {
        (name, ring): ImageTk.PhotoImage(_boxed(paint(icon, size, ink, paper), look, ring), master=root)
        for name, icon, ink, paper in (
            ("off", "unticked", p.edge, p.field),
            ("on", "ticked", p.accent, p.accent_ink),
            ("grey", "unticked", p.border, p.window),
            ("grey-on", "ticked", p.faint, p.window),
        )
        for ring in ("", p.accent)
    }
    _kept.setdefault(root, []).append(ticks)
    states: Any = [
        ("disabled", "selected", ticks["grey-on", ""]),
        ("disabled", ticks["grey", ""]),
        ("selected", "focus", ticks["on", p.accent]),
        ("focus", ticks["off", p.accent]),
        ("selected", ticks["on", ""]),
    ]
    style.element_create(element, "image", ticks["off", ""], *states)


def _boxed(tick: Image.Image, look: Look, ring: str) -> Image.Image:
    """A box with room around it, and there a ring of that colour, or none."""
    line, side = look.px(2), tick.width + 2 * look.px(3)
    image = Image.new("RGBA", (side, side), (0, 0, 0, 0))
    if ring:
        ImageDraw.Draw(image).rectangle((0, 0, side - 1, side - 1), outline=ring, width=line)
    image.alpha_composite(tick, (look.px(3), look.px(3)))
    return image


_kept: WeakKeyDictionary[tk.Misc, list[dict[tuple[str, str], ImageTk.PhotoImage]]] = WeakKeyDictionary()
"""Images that ttk shows must be held by somebody, as long as the window lives."""


def _select_all(entry: ttk.Entry) -> str:
    """As everywhere today; Tk's own meaning of Ctrl+A is the beginning of the line."""
    entry.selection_range(0, "end")
    entry.icursor("end")
    return "break"


def plain_styles(look: Look) -> dict[str, dict[str, Any]]:
    """Options of the widgets that ttk has no style for, by class."""
    p = look.palette
    chosen = {"selectBackground": p.accent, "selectForeground": p.accent_ink}
    menu = {"background": p.panel, "foreground": p.ink, "activeBackground": p.hover, "activeForeground": p.ink}
    return {
        "Menu": {
            **menu,
            "disabledForeground": p.faint,
            "selectColor": p.accent,
            "relief": "ridge",  # the one that Tk draws an edge with that is seen in both themes
            "borderWidth": 2,
            "activeBorderWidth": look.px(3),
        },
        "Toplevel": {"background": p.window},
        "Text": {
            "background": p.field,
            "foreground": p.ink,
            "insertBackground": p.ink,
            "relief": "flat",
            "highlightThickness": 1,
            "highlightBackground": p.edge,
            "highlightColor": p.accent,
            **chosen,
        },
        "Listbox": {"background": p.field, "foreground": p.ink, **chosen},
    }


def _options(root: tk.Misc, look: Look) -> None:
    """Defaults for the widgets that ttk has no style for."""
    styles = plain_styles(look)
    for kind, options in styles.items():
        for option, value in options.items():
            root.option_add(f"*{kind}.{option}", value)
    for option, value in styles["Listbox"].items():
        root.option_add(f"*TCombobox*Listbox.{option}", value)
    root.option_add("*TCombobox*Listbox.font", "TkDefaultFont")
