# SPDX-License-Identifier: BSD-3-Clause
"""Colours, fonts and ttk styles, light and dark, at any scale; nothing here names a font of one system.

`Look` is what the view asks for colours and sizes; `apply` sets ttk's styles and tkinter's option database.
"""

from __future__ import annotations

import tkinter as tk
from dataclasses import dataclass
from tkinter import font as tkfont
from tkinter import ttk
from typing import Any

from PIL import ImageTk

from linklab.editor.icons import paint


@dataclass(frozen=True)
class Palette:
    """Colours of one theme, "#rrggbb"."""

    window: str
    panel: str
    canvas: str
    field: str
    ink: str
    muted: str
    faint: str
    accent: str
    accent_ink: str
    hover: str
    border: str
    grid: str
    link: str
    host: str
    switch: str
    router: str
    controller: str
    good: str
    warn: str
    bad: str


LIGHT = Palette(
    window="#f4f6f8", panel="#ffffff", canvas="#fbfcfd", field="#ffffff", ink="#17212b", muted="#566472",
    faint="#8a97a3", accent="#0b63c5", accent_ink="#ffffff", hover="#e6eef8", border="#d3dae1", grid="#e8edf2",
    link="#5d6f80", host="#2f6fc1", switch="#1f8a5b", router="#b86a12", controller="#7a4fb8",
    good="#1f8a5b", warn="#a86200", bad="#c0322b",
)  # fmt: skip
DARK = Palette(
    window="#1b2026", panel="#22282f", canvas="#181c21", field="#2a313a", ink="#e8edf2", muted="#a5b2bf",
    faint="#77848f", accent="#5aa2f2", accent_ink="#0e1620", hover="#2f3944", border="#3a444f", grid="#232a31",
    link="#8fa1b3", host="#6aa9f5", switch="#4fc08d", router="#e5a04d", controller="#b08be6",
    good="#4fc08d", warn="#e5b04d", bad="#f07a72",
)  # fmt: skip
PALETTES = {"light": LIGHT, "dark": DARK}


class Look:
    """The colours and sizes in force; `px` turns pixels of a plain display into this one's."""

    def __init__(self, root: tk.Misc, theme: str, scale: float) -> None:
        self.theme = theme if theme in PALETTES else "light"
        self.palette = PALETTES[self.theme]
        self.scale = scale or display_scale(root)
        root.tk.call("tk", "scaling", 96 / 72 * self.scale)
        for name in ("TkDefaultFont", "TkTextFont", "TkMenuFont", "TkHeadingFont", "TkTooltipFont"):
            tkfont.nametofont(name, root).configure(size=10)
        tkfont.nametofont("TkFixedFont", root).configure(size=10)
        self.family = str(tkfont.nametofont("TkDefaultFont", root).actual("family"))

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
    style.configure("TButton", padding=(px(12), px(5)), background=p.panel, lightcolor=p.panel, darkcolor=p.panel)
    style.map(
        "TButton",
        background=[("pressed", p.border), ("active", p.hover), ("disabled", p.window)],
        bordercolor=[("focus", p.accent)],
    )
    bright = {"background": p.accent, "foreground": p.accent_ink, "lightcolor": p.accent, "darkcolor": p.accent}
    style.configure("Accent.TButton", **bright)
    style.map("Accent.TButton", background=[("active", p.link), ("disabled", p.hover)])
    style.configure("Flat.TButton", padding=(px(7), px(3)), background=p.panel, bordercolor=p.panel, borderwidth=1)
    style.map("Flat.TButton", bordercolor=[("focus", p.accent), ("active", p.border)])
    for name in ("TEntry", "TCombobox", "TSpinbox"):
        style.configure(name, padding=px(4), background=p.panel, lightcolor=p.field, darkcolor=p.field)
        style.map(
            name,
            bordercolor=[("focus", p.accent)],
            lightcolor=[("focus", p.field)],
            fieldbackground=[("disabled", p.window), ("readonly", p.field)],
            foreground=[("disabled", p.faint)],
            selectbackground=[("readonly", p.field)],
            selectforeground=[("readonly", p.ink)],
        )
    style.configure("TCombobox", arrowsize=px(14))
    _checkbutton(root, style, look)
    style.configure("TNotebook", tabmargins=(px(6), px(6), px(6), 0), bordercolor=p.border)
    style.configure("TNotebook.Tab", padding=(px(12), px(5)), background=p.window, lightcolor=p.window)
    style.map("TNotebook.Tab", padding=[("selected", (px(12), px(5)))], expand=[("selected", (0, 0, 0, 0))])
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
            "background": p.border,
            "troughcolor": p.canvas,
            "bordercolor": p.canvas,
            "gripcount": 0,
        }
        style.configure(f"{side}.TScrollbar", **look_of_bar, lightcolor=p.border, darkcolor=p.border, arrowsize=px(11))
        style.map(f"{side}.TScrollbar", background=[("active", p.faint), ("disabled", p.canvas)])
    _options(root, look)
    for kind in ("TEntry", "TCombobox", "TSpinbox"):
        root.bind_class(kind, "<Control-a>", lambda e: _select_all(e.widget))
    root.bind_class("Text", "<Control-a>", lambda e: e.widget.event_generate("<<SelectAll>>"))


def _checkbutton(root: tk.Misc, style: ttk.Style, look: Look) -> None:
    """A box with a tick, painted in the theme's colours at its size."""
    p, size = look.palette, look.px(18)
    ticks = {
        name: ImageTk.PhotoImage(paint(icon, size, ink, paper), master=root)
        for name, icon, ink, paper in (
            ("off", "unticked", p.faint, p.field),
            ("on", "ticked", p.accent, p.accent_ink),
            ("grey", "unticked", p.border, p.window),
            ("grey-on", "ticked", p.faint, p.window),
        )
    }
    _kept[look.theme, size] = ticks
    element = f"Linklab{look.theme}{size}.tick"
    if element not in style.element_names():
        on, grey, grey_on = ticks["on"], ticks["grey"], ticks["grey-on"]
        states: Any = [("disabled", "selected", grey_on), ("disabled", grey), ("selected", on)]
        style.element_create(element, "image", ticks["off"], *states)
    label: Any = ("Checkbutton.label", {"side": "left", "sticky": "nswe"})
    parts: Any = [("Checkbutton.padding", {"sticky": "nswe", "children": [(element, {"side": "left"}), label]})]
    focus: Any = [("Checkbutton.focus", {"sticky": "nswe", "children": parts})]
    style.layout("TCheckbutton", focus)
    style.configure("TCheckbutton", padding=look.px(2))
    style.map("TCheckbutton", background=[("active", p.window)])


_kept: dict[tuple[str, int], dict[str, ImageTk.PhotoImage]] = {}
"""Images that ttk shows must be held by somebody."""


def _select_all(entry: ttk.Entry) -> str:
    """As everywhere today; Tk's own meaning of Ctrl+A is the beginning of the line."""
    entry.selection_range(0, "end")
    entry.icursor("end")
    return "break"


def _options(root: tk.Misc, look: Look) -> None:
    """Defaults for the widgets that ttk has no style for."""
    p = look.palette
    for pattern, value in (
        ("*Menu.background", p.panel),
        ("*Menu.foreground", p.ink),
        ("*Menu.activeBackground", p.hover),
        ("*Menu.activeForeground", p.ink),
        ("*Menu.disabledForeground", p.faint),
        ("*Menu.selectColor", p.accent),
        ("*Menu.relief", "flat"),
        ("*Menu.activeBorderWidth", look.px(3)),
        ("*Menu.borderWidth", 1),
        ("*Toplevel.background", p.window),
        ("*Text.background", p.field),
        ("*Text.foreground", p.ink),
        ("*Text.insertBackground", p.ink),
        ("*Text.relief", "flat"),
        ("*Text.highlightThickness", 1),
        ("*Text.highlightBackground", p.border),
        ("*Text.highlightColor", p.accent),
        ("*Text.selectBackground", p.accent),
        ("*Text.selectForeground", p.accent_ink),
        ("*TCombobox*Listbox.background", p.field),
        ("*TCombobox*Listbox.foreground", p.ink),
        ("*TCombobox*Listbox.selectBackground", p.accent),
        ("*TCombobox*Listbox.selectForeground", p.accent_ink),
        ("*TCombobox*Listbox.font", "TkDefaultFont"),
        # tkinter's own file dialogs
        ("*Listbox.background", p.field),
        ("*Listbox.foreground", p.ink),
    ):
        root.option_add(pattern, value)
