# SPDX-License-Identifier: BSD-3-Clause
"""The whole drawing small in a corner, with a frame around what the window shows; only where there is more than that.

A click or a drag on it moves the view. It has no keys of its own: the arrows move the view where nothing is selected.
"""

from __future__ import annotations

import tkinter as tk

from linklab.editor.canvas import Drawing
from linklab.editor.decorations import Frame
from linklab.editor.edits import kind_of
from linklab.editor.scene import KIND_COLOURS, DrawingScene

WIDE, HIGH = 160, 108
SHARE = 0.3
"""Of the drawing's window, across and down, that the map takes at most."""
LEAST = 0.3
"""Of its own size; a smaller map shows nothing."""
NEAR = 30
"""So far around its middle a node must be seen."""
INSET = 10
MOST_LINES = 1500
"""With more the map would be a blot."""


class MiniMap(tk.Canvas):
    """The map of one drawing."""

    def __init__(self, drawing: Drawing) -> None:
        wide, high = drawing.look.px(WIDE), drawing.look.px(HIGH)
        super().__init__(drawing.master, width=wide, height=high, borderwidth=0, highlightthickness=1, takefocus=False)
        self.drawing = drawing
        self._extent = (wide, high)
        self._scene: DrawingScene | None = None
        self._offset = (0.0, 0.0)
        self._ratio = 1.0
        self._is_due = False
        self.restyle()
        self.bind("<ButtonPress-1>", self._go)
        self.bind("<B1-Motion>", self._go)

    def restyle(self) -> None:
        """Take the theme."""
        palette = self.drawing.look.palette
        self.configure(background=palette.panel, highlightbackground=palette.faint)
        self._scene = None
        self.soon()

    def soon(self) -> None:
        """Show the drawing as it is, once the window has nothing else to do."""
        if not self._is_due:
            self._is_due = True
            self.after_idle(self.show)

    def show(self) -> None:
        """Show the drawing and the view, or nothing where all is seen."""
        self._is_due = False
        drawing = self.drawing
        if not self._is_wanted():
            self.place_forget()
            self._scene = None
            return
        if not self.winfo_manager():
            inset = -drawing.look.px(INSET)
            self.place(in_=drawing, relx=1.0, rely=1.0, x=inset, y=inset, anchor="se")
        extent = self._room()
        if extent != self._extent:
            self._extent, self._scene = extent, None
            self.configure(width=extent[0], height=extent[1])
        if drawing.scene is not self._scene:
            self._draw(drawing.scene)
        self._frame()

    def _share(self) -> float:
        """How much of its own size the window has room for, at most 1."""
        drawing = self.drawing
        wide, high = drawing.look.px(WIDE), drawing.look.px(HIGH)
        return min(1.0, SHARE * drawing.winfo_width() / wide, SHARE * drawing.winfo_height() / high)

    def _room(self) -> tuple[int, int]:
        look, share = self.drawing.look, self._share()
        return round(look.px(WIDE) * share), round(look.px(HIGH) * share)

    def _is_wanted(self) -> bool:
        drawing = self.drawing
        spots = drawing.scene.spots.values()
        if not drawing.settings.minimap or not spots or self._share() < LEAST:
            return False
        seen, near = drawing.seen, NEAR * drawing.factor
        xs, ys = zip(*spots, strict=True)
        across = seen.x0 <= min(xs) - near and max(xs) + near <= seen.x1
        return not (across and seen.y0 <= min(ys) - near and max(ys) + near <= seen.y1)

    def _draw(self, scene: DrawingScene) -> None:
        self._scene = scene
        self.delete("all")
        bounds, look = self.drawing.bounds(), self.drawing.look
        assert bounds is not None
        x0, y0, x1, y1 = bounds
        wide, high = self._extent
        self._ratio = ratio = min(wide / (x1 - x0), high / (y1 - y0))
        left, top = (wide - (x1 - x0) * ratio) / 2, (high - (y1 - y0) * ratio) / 2
        self._offset = (left - x0 * ratio, top - y0 * ratio)
        for each in scene.decorations.values():
            if isinstance(each, Frame):
                f = scene.style.factor
                corners = (each.x * f, each.y * f, (each.x + each.wide) * f, (each.y + each.high) * f)
                self.create_rectangle(*self._at(*corners), outline=look.palette.faint)
        lines = [path for path in [*scene.paths, *scene.controls.values()] if path is not None]
        if len(lines) <= MOST_LINES:
            for path in lines:
                self.create_line(*self._at(*path[:2], *path[-2:]), fill=look.palette.border)
        for name, spot in scene.spots.items():
            x, y = self._at(*spot)
            colour = getattr(look.palette, KIND_COLOURS[kind_of(scene.nodes[name])])
            self.create_rectangle(x - 1, y - 1, x + 1, y + 1, fill=colour, outline=colour)

    def _at(self, *values: float) -> list[float]:
        """Places of the drawing's canvas on this one."""
        return [value * self._ratio + self._offset[i % 2] for i, value in enumerate(values)]

    def _frame(self) -> None:
        seen = self.drawing.seen
        self.delete("view")
        box = self._at(seen.x0, seen.y0, seen.x1, seen.y1)
        palette, width = self.drawing.look.palette, self.drawing.look.px(2)
        self.create_rectangle(*box, outline=palette.accent, width=width, tags="view")

    def _go(self, event: tk.Event[tk.Misc]) -> str:
        """Bring the place pressed into the middle of the view."""
        drawing = self.drawing
        x, y = ((at - offset) / self._ratio for at, offset in zip((event.x, event.y), self._offset, strict=True))
        drawing.scroll_to(x - drawing.winfo_width() / 2, y - drawing.winfo_height() / 2)
        return "break"
