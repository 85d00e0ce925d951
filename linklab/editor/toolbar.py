# SPDX-License-Identifier: BSD-3-Clause
"""The bar at the left: tools from Select to Controller, at the bottom Run and Stop, where MiniEdit has them.

A tool button is a widget of its own, since ttk's cannot show our icons in a theme's colours.
"""

from __future__ import annotations

import tkinter as tk
from collections.abc import Callable
from tkinter import ttk

from linklab.editor.actions import TOOLS
from linklab.editor.canvas import KIND_COLOURS
from linklab.windows.icons import Icons
from linklab.windows.theme import Look
from linklab.windows.tips import Tip

ICON = 26


class ToolButton(tk.Frame):
    """An icon above its name; lit while chosen, grey while not to be used."""

    def __init__(
        self, master: tk.Misc, look: Look, icons: Icons, *, icon: str, label: str, command: Callable[[], None]
    ) -> None:
        super().__init__(master, takefocus=True, highlightthickness=look.px(1), borderwidth=0, cursor="hand2")
        self.look, self.icons, self.icon, self.command = look, icons, icon, command
        self.chosen, self.enabled, self._hover = False, True, False
        self.picture = tk.Label(self, borderwidth=0)
        self.picture.pack(pady=(look.px(3), 0))
        self.caption = tk.Label(self, text=look.say(label), borderwidth=0, font=look.font(8))
        for widget in (self, self.picture, self.caption):
            widget.bind("<Button-1>", lambda _: self.invoke())
        self.bind("<Enter>", lambda _: self._point(True))
        self.bind("<Leave>", lambda _: self._point(False))
        self.bind("<space>", lambda _: self.invoke())
        self.bind("<Return>", lambda _: self.invoke())
        self.paint()

    def show_caption(self, wanted: bool) -> None:
        """With its name below it, or without."""
        if wanted:
            self.caption.pack(pady=(0, self.look.px(2)))
        else:
            self.caption.pack_forget()

    def invoke(self) -> None:
        """As if clicked."""
        if self.enabled:
            self.command()

    def _point(self, inside: bool) -> None:
        self._hover = inside
        self.paint()

    def show(self, *, chosen: bool, enabled: bool) -> None:
        """Take a state."""
        if (chosen, enabled) != (self.chosen, self.enabled):
            self.chosen, self.enabled = chosen, enabled
            self.paint()

    def restyle(self) -> None:
        """Take the theme."""
        self.paint()

    def paint(self) -> None:
        """Draw it in the theme's colours."""
        p = self.look.palette
        ground = p.hover if (self.chosen or self._hover) and self.enabled else p.panel
        colours = {**KIND_COLOURS, "run": "good", "stop": "bad", "select": "ink", "link": "ink"}
        ink = getattr(p, colours.get(self.icon, "ink")) if self.enabled else p.border
        border = p.accent if self.chosen and self.enabled else p.panel
        self.configure(background=ground, highlightbackground=border, highlightcolor=p.accent)
        image = self.icons.get(self.icon, self.look.px(ICON), ink, p.panel)
        self.picture.configure(image=image, background=ground)
        self.caption.configure(background=ground, foreground=p.ink if self.enabled else p.faint)


class ToolBar(ttk.Frame):
    """The whole bar."""

    def __init__(
        self,
        master: tk.Misc,
        look: Look,
        icons: Icons,
        *,
        choose: Callable[[str], None],
        run: Callable[[], None],
        stop: Callable[[], None],
    ) -> None:
        super().__init__(master, style="Panel.TFrame", padding=look.px(6))
        self.look = look
        self.tools: dict[str, ToolButton] = {}
        for name, label, key in TOOLS:
            button = ToolButton(self, look, icons, icon=name, label=label, command=lambda chosen=name: choose(chosen))  # type: ignore[misc]
            Tip(button, look, f"{look.say(label)} ({key})")
            self.tools[name] = button
        self.run = ToolButton(self, look, icons, icon="run", label="Run", command=run)
        self.stop = ToolButton(self, look, icons, icon="stop", label="Stop", command=stop)
        self._columns = 0
        self._arrange(1)
        self.update_idletasks()
        self._needs = self.winfo_reqheight()
        self.bind("<Configure>", lambda event: self._arrange(1 if event.height >= self._needs else 2))
        Tip(self.run, look, "Run the network (F5)")
        Tip(self.stop, look, "Stop the network (Shift+F5)")

    def _arrange(self, columns: int) -> None:
        """Stand in one column, Run and Stop at its end; where the window is too low, in two without words."""
        if columns == self._columns:
            return
        self._columns = columns
        every = [*self.tools.values(), self.run, self.stop]
        for at, button in enumerate(every):
            row = at // columns if at < len(self.tools) else 20 + (at - len(self.tools)) // columns
            column = at % columns if at < len(self.tools) else (at - len(self.tools)) % columns
            button.grid(row=row, column=column, sticky="ew", pady=self.look.px(1))
            button.show_caption(columns == 1)
        self.rowconfigure(19, weight=1)
        self.columnconfigure(0, weight=1)

    def show(self, tool: str, state: str) -> None:
        """Light the tool in use; grey what cannot be used in this state of the network."""
        for name, button in self.tools.items():
            button.show(chosen=name == tool, enabled=state == "stopped" or name == "select")
        self.run.show(chosen=False, enabled=state == "stopped")
        self.stop.show(chosen=False, enabled=state in ("starting", "running"))
