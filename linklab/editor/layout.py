# SPDX-License-Identifier: BSD-3-Clause
"""The widgets of the window and where each stands; made anew when theme or scale change."""

from __future__ import annotations

import tkinter as tk
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from tkinter import ttk
from typing import Any

from linklab.editor.bars import ClockBar
from linklab.editor.canvas import Drawing
from linklab.editor.menus import EditorMenus
from linklab.editor.minimap import MiniMap
from linklab.editor.settings import EditorSettings
from linklab.editor.toolbar import ToolBar
from linklab.windows.icons import Icons
from linklab.windows.status import StatusBar
from linklab.windows.theme import Look
from linklab.windows.toplevel import FRAME


@dataclass(frozen=True)
class Callbacks:
    """What the widgets call.

    commands: what each action of `actions.MENUS` does; submenus: what fills each.
    choose: a tool; clock: the words of `clock`; cancel: the button beside what is going on.
    """

    commands: Mapping[str, Callable[[], None]]
    submenus: Mapping[str, Callable[[tk.Menu], None]]
    choose: Callable[[str], None]
    run: Callable[[], None]
    stop: Callable[[], None]
    clock: Callable[[list[str]], None]
    cancel: Callable[[], None]


class Rule(tk.Frame):
    """A thin line between parts."""

    def __init__(self, master: tk.Misc, look: Look) -> None:
        super().__init__(master, width=1, height=1)
        self.look = look
        self.restyle()

    def restyle(self) -> None:
        """Take the theme."""
        self.configure(background=self.look.palette.border)


class Layout:
    """Menu bar above, tools at the left, the drawing with its clock in the middle, the status line below."""

    def __init__(
        self,
        root: tk.Tk,
        look: Look,
        settings: EditorSettings,
        ticks: dict[str, tk.BooleanVar],
        callbacks: Callbacks,
    ) -> None:
        self._root, self._look = root, look
        icons = Icons(root)
        px = look.px
        menu_bar = px(30)  # is no part of the height
        most = (root.winfo_screenwidth() - FRAME[0], root.winfo_screenheight() - FRAME[1] - menu_bar)
        wide, high = (min(want, has) for want, has in zip((px(1080), px(700)), most, strict=True))
        root.geometry(settings.geometry or f"{wide}x{high}")
        root.minsize(min(px(640), most[0]), min(px(440), most[1]))
        root.iconphoto(True, icons.get("app", 64, look.palette.accent, "#ffffff"))
        self.menus = EditorMenus(root, callbacks.commands, callbacks.submenus, ticks, look.say)
        self.status = StatusBar(root, look, callbacks.cancel, callbacks.commands["messages"])
        self.status.pack(side="bottom", fill="x")
        self._rule().pack(side="bottom", fill="x")
        self.toolbar = ToolBar(root, look, icons, choose=callbacks.choose, run=callbacks.run, stop=callbacks.stop)
        self.toolbar.pack(side="left", fill="y")
        self._rule().pack(side="left", fill="y")
        middle = ttk.Frame(root)
        middle.pack(side="left", fill="both", expand=True)
        self.clock_bar = ClockBar(middle, look, icons, callbacks.clock)
        self.drawing = Drawing(middle, look, settings)
        across = ttk.Scrollbar(middle, orient="horizontal", command=self.drawing.xview)
        down = ttk.Scrollbar(middle, orient="vertical", command=self.drawing.yview)
        self.minimap = MiniMap(self.drawing)
        self.on_view: Callable[[], None] = lambda: None
        self.drawing.on_view = self._viewed
        self.drawing.configure(
            xscrollcommand=partial(self._scrolled, across), yscrollcommand=partial(self._scrolled, down)
        )
        middle.bind("<Configure>", lambda _: self._resized())
        across.pack(side="bottom", fill="x")
        down.pack(side="right", fill="y")
        self.drawing.pack(side="top", fill="both", expand=True)

    def _scrolled(self, bar: ttk.Scrollbar, first: str, last: str) -> None:
        bar.set(first, last)
        self._viewed()

    def _viewed(self) -> None:
        """Something else of the drawing is seen."""
        self.minimap.soon()
        self.on_view()

    def _resized(self) -> None:
        """Once the drawing has its new size."""
        self._root.after_idle(self.drawing.show_hint)
        self.minimap.soon()

    def _rule(self) -> Rule:
        return Rule(self._root, self._look)

    def show_clock(self, state: dict[str, Any] | None) -> None:
        """Show the clock above the drawing; None takes it away. The drawing stays where it was on the screen."""
        drawing, bar = self.drawing, self.clock_bar
        if (state is not None) != bool(bar.winfo_manager()):
            left, top, before = drawing.canvasx(0), drawing.canvasy(0), drawing.winfo_rooty()
            if state is None:
                bar.pack_forget()
            else:
                bar.flow(drawing.winfo_width())
                bar.pack(side="top", fill="x", before=drawing)
            self._root.update_idletasks()
            drawing.scroll_to(left, top + drawing.winfo_rooty() - before)
        if state is not None:
            bar.show(state)
