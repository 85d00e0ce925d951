# SPDX-License-Identifier: BSD-3-Clause
"""What the mouse does on the drawing: select, add, link, drag, pan, zoom. Keys are in `keyboard`.

A gesture changes the document through `edits` and nothing else; while dragging only canvas items move, and the document
learns of it at the end.
"""

from __future__ import annotations

import tkinter as tk
from collections.abc import Callable
from dataclasses import dataclass

from linklab.editor import edits
from linklab.editor.canvas import GRID, Drawing
from linklab.editor.decorations import Frame, Note, change, decorations, is_decoration, told
from linklab.editor.document import Document, Key, everyone, is_node
from linklab.editor.moving import Moving, Resizing
from linklab.errors import InputError
from linklab.windows.words import Phrase, told_by

SHIFT, CONTROL = 0x1, 0x4
DRAG_FROM_PX = 4


@dataclass
class Hooks:
    """What a gesture asks of the window."""

    tool: Callable[[], str]
    set_tool: Callable[[str], None]
    locked: Callable[[], bool]
    say: Callable[[str], None]
    open_properties: Callable[[Key], None]
    open_menu: Callable[[Key | None, int, int], None]


@dataclass
class Press:
    """A mouse button held down: where, on what, and what it has become."""

    x: float
    y: float
    key: Key | None
    kind: str = "click"


class Gestures:
    """Binds the drawing's events."""

    def __init__(self, drawing: Drawing, document: Document, hooks: Hooks) -> None:
        self.drawing, self.document, self.hooks = drawing, document, hooks
        self.press: Press | None = None
        self._last_was_drag = False
        self.link_from: str | None = None
        self._dragged: dict[str, tuple[float, float]] = {}
        self._moving: Moving | None = None
        self._resizing: Resizing | None = None
        self._moved = (0.0, 0.0)
        for event, handler in (
            ("<ButtonPress-1>", self._pressed),
            ("<B1-Motion>", self._motion),
            ("<ButtonRelease-1>", self._released),
            ("<Double-Button-1>", self._double),
            ("<ButtonPress-2>", self._pan_begin),
            ("<B2-Motion>", self._pan),
            ("<ButtonPress-3>", self._menu),
            ("<Motion>", self._hover),
            ("<Button-4>", lambda e: self._wheel(e, 1)),
            ("<Button-5>", lambda e: self._wheel(e, -1)),
            ("<Escape>", lambda _: self.cancel()),
        ):
            drawing.bind(event, handler)

    def cancel(self) -> None:
        """Drop what is half done; with nothing half done, take the Select tool and select nothing."""
        busy = self.press is not None and self.press.kind != "click"
        self.drawing.delete("preview")
        self._end_moving()
        if self._resizing is not None:
            self._resizing.end()
            self._resizing = None
        self.drawing.show(self.document.state)
        if not busy and self.link_from is None and self.hooks.tool() == "select":
            self.document.select(())
        self.press, self.link_from = None, None
        self.hooks.set_tool("select")

    # --- the mouse

    def _pressed(self, event: tk.Event[tk.Misc]) -> None:
        self.drawing.focus_set()
        tool = self.hooks.tool()
        key = self.drawing.key_at(event.x, event.y, nodes_only=tool == "link")
        self.press = Press(event.x, event.y, key)
        if tool == "link":
            self._press_link(key)
        elif tool == "select":
            self._press_select(key, int(event.state))

    def _press_select(self, key: Key | None, state: int) -> None:
        adding = bool(state & (SHIFT | CONTROL))
        chosen = self.document.selection
        if key is None:
            if not adding:
                self.document.select(())
        elif adding:
            self.document.select(chosen ^ {key})
        elif key not in chosen:
            self.document.select({key})

    def _press_link(self, key: Key | None) -> None:
        if not isinstance(key, str):
            self.link_from = None
        elif self.link_from is None:
            self.link_from = key
            self.hooks.say(Phrase("link from {node}: drag or click to the other node", node=key))
        elif key != self.link_from:
            self._make_link(self.link_from, key)

    def _make_link(self, src: str, dest: str) -> None:
        self.link_from = None
        self.drawing.delete("preview")
        topology = self.document.topology
        try:
            after = edits.add_link(topology, src, dest)
        except InputError as error:
            self.hooks.say(told_by(error))
            return
        new = len(after.links) - 1
        label, is_new = Phrase("Link {src}–{dest}", src=src, dest=dest), len(after.links) > len(topology.links)
        self.document.apply(label, after, {new} if is_new else None)
        if is_new:
            one, other = after.link_ends()[new]
            self.hooks.say(Phrase("linked {one} with {other}", one=one, other=other))

    def _motion(self, event: tk.Event[tk.Misc]) -> None:
        if self.press is None:
            return
        if self.press.kind == "click":
            if max(abs(event.x - self.press.x), abs(event.y - self.press.y)) < self.drawing.look.px(DRAG_FROM_PX):
                return
            self._begin_drag()
        if self.press.kind == "move":
            self._drag_to(event.x - self.press.x, event.y - self.press.y)
        elif self.press.kind == "resize" and self._resizing is not None:
            self._resizing.to(event.x - self.press.x, event.y - self.press.y)
        elif self.press.kind == "band":
            self._band(event)
        elif self.press.kind == "link":
            self._preview(event)

    def _begin_drag(self) -> None:
        assert self.press is not None
        tool = self.hooks.tool()
        if tool == "link":
            self.press.kind = "link"
        elif tool != "select":
            self.press.kind = "place"
        elif is_node(self.press.key) or is_decoration(self.press.key):
            if self.hooks.locked():
                self.hooks.say("the network is running: stop it to move things")
                self.press.kind = "nothing"
                return
            self._resizing = self._at_corner()
            self.press.kind = "move" if self._resizing is None else "resize"
            if self._resizing is None:
                self._prepare_move()
        else:
            self.press.kind = "band"

    def _at_corner(self) -> Resizing | None:
        """What begins where a corner of the one selected frame is pressed."""
        assert self.press is not None
        frame = self.drawing.scene.decorations.get(str(self.press.key))
        if not isinstance(frame, Frame) or self.document.selection != {frame.key}:
            return None
        at = (self.drawing.canvasx(self.press.x), self.drawing.canvasy(self.press.y))
        return Resizing.begin(self.drawing, frame, at)

    def _prepare_move(self) -> None:
        """What is selected moves, and what stands in the frames that are."""
        self._dragged = edits.places(self.document.topology, self.document.selection)
        self._moved = (0.0, 0.0)
        self._moving = Moving(self.drawing, self._dragged)

    def _drag_to(self, dx: float, dy: float) -> None:
        self._moved = (dx, dy)
        assert self._moving is not None
        self._moving.to(dx, dy)

    def _band(self, event: tk.Event[tk.Misc]) -> None:
        assert self.press is not None
        self.drawing.delete("preview")
        box = self._box(event)
        accent = self.drawing.look.palette.accent
        self.drawing.create_rectangle(*box, outline=accent, dash=(3, 3), tags="preview")

    def _box(self, event: tk.Event[tk.Misc]) -> tuple[float, float, float, float]:
        assert self.press is not None
        canvas = self.drawing
        return (
            canvas.canvasx(self.press.x),
            canvas.canvasy(self.press.y),
            canvas.canvasx(event.x),
            canvas.canvasy(event.y),
        )

    def _preview(self, event: tk.Event[tk.Misc]) -> None:
        self.drawing.delete("preview")
        if self.link_from is None:
            return
        node = edits.named(self.document.topology).get(self.link_from)
        if node is not None:
            x, y = self.drawing.spot(node)
            end = (self.drawing.canvasx(event.x), self.drawing.canvasy(event.y))
            line = self.drawing.create_line(
                x, y, *end, dash=(5, 4), fill=self.drawing.look.palette.accent, tags="preview"
            )
            self.drawing.tag_lower(line, "icon")

    def _hover(self, event: tk.Event[tk.Misc]) -> None:
        if self.link_from is not None:
            self._preview(event)

    def _released(self, event: tk.Event[tk.Misc]) -> None:
        press, self.press = self.press, None
        if press is None:
            return
        self._last_was_drag = press.kind != "click"
        tool = self.hooks.tool()
        if press.kind == "move":
            self._drop()
        elif press.kind == "resize":
            self._resize()
        elif press.kind == "band":
            self.press = press
            names = self.drawing.within(*self._box(event))
            self.press = None
            self.drawing.delete("preview")
            self.document.select({*names, *(self.document.selection if int(event.state) & (SHIFT | CONTROL) else ())})
        elif press.kind == "link" and self.link_from is not None:
            key = self.drawing.key_at(event.x, event.y, nodes_only=True)
            self.drawing.delete("preview")
            if isinstance(key, str) and key != self.link_from:
                self._make_link(self.link_from, key)
            elif key is None:
                self.link_from = None
        elif tool not in ("select", "link") and press.kind in ("click", "place"):
            self.add(tool, *self.drawing.to_drawing(event.x, event.y))

    def _drop(self) -> None:
        dx, dy = (moved / self.drawing.factor for moved in self._moved)
        places = {name: (x + dx, y + dy) for name, (x, y) in self._dragged.items()}
        if self.drawing.settings.grid:
            places = {name: (round(x / GRID) * GRID, round(y / GRID) * GRID) for name, (x, y) in places.items()}
        one = self.document.selection if len(self.document.selection) == 1 else places
        what = told(next(iter(one))) if len(one) == 1 else Phrase("{count} things", count=len(places))
        self._end_moving()
        self.document.apply(Phrase("Move {what}", what=what), edits.move(self.document.topology, places))
        self.drawing.show(self.document.state)

    def _end_moving(self) -> None:
        if self._moving is not None:
            self._moving.end()
        self._moving = None

    def _resize(self) -> None:
        resizing, self._resizing = self._resizing, None
        if resizing is not None:
            resizing.end()
            after = change(self.document.topology, resizing.frame.key, resizing.values())
            self.document.apply("Resize group", after)
            self.drawing.show(self.document.state)

    def add(self, kind: str, x: float, y: float) -> None:
        """A new node there."""
        if self.hooks.locked():
            self.hooks.say("the network is running: stop it to change the drawing")
            return
        if self.drawing.settings.grid:
            x, y = round(x / GRID) * GRID, round(y / GRID) * GRID
        after, name = edits.add_node(self.document.topology, kind, x, y)
        self.document.apply(Phrase("Add {name}", name=name), after, {name})
        self.hooks.say(Phrase("added {name}", name=name))

    def add_somewhere(self, kind: str) -> None:
        """A new node where the view has room, for the keyboard."""
        self.add(kind, *self.free_spot())

    def free_spot(self) -> tuple[float, float]:
        """A place in the view where nothing stands."""
        left, top = self.drawing.to_drawing(0, 0)
        topology = self.document.topology
        taken = [edits.position(node) for node in everyone(topology)]
        taken += [(each.x + 60, each.y + 20) for each in decorations(topology).values() if isinstance(each, Note)]
        for row in range(20):
            for column in range(6):
                x, y = left + 100 + 150 * column, top + 80 + 110 * row
                if all(abs(x - px) >= 120 or abs(y - py) >= 90 for px, py in taken):
                    return x, y
        return left + 100, top + 80

    def link_selected(self) -> None:
        """Link the two selected nodes, or several to the one switch or router among them."""
        names = self.document.selected_names
        if len(names) == 2:
            self._make_link(*names)
            return
        try:
            after, hub = edits.link_all(self.document.topology, names)
        except InputError as error:
            self.hooks.say(told_by(error))
            return
        label = Phrase("Link {count} nodes to {hub}", count=len(names) - 1, hub=hub)
        self.document.apply(label, after, self.document.selection)
        others = ", ".join(name for name in names if name != hub)
        self.hooks.say(Phrase("linked {others} to {hub}", others=others, hub=hub))

    def _double(self, event: tk.Event[tk.Misc]) -> None:
        """A double click; Tk also calls the second of two quick presses one if a drag lies between them."""
        if self._last_was_drag or self.hooks.tool() == "link":
            self._pressed(event)
            return
        key = self.drawing.key_at(event.x, event.y)
        if key is not None and self.hooks.tool() == "select":
            self.press = None
            self.hooks.open_properties(key)

    def _menu(self, event: tk.Event[tk.Misc]) -> None:
        self.drawing.focus_set()
        key = self.drawing.key_at(event.x, event.y)
        if key is not None and key not in self.document.selection:
            self.document.select({key})
        self.hooks.open_menu(key, event.x_root, event.y_root)

    def _pan_begin(self, event: tk.Event[tk.Misc]) -> None:
        self.drawing.scan_mark(event.x, event.y)

    def _pan(self, event: tk.Event[tk.Misc]) -> None:
        self.drawing.scan_dragto(event.x, event.y, gain=1)

    def _wheel(self, event: tk.Event[tk.Misc], direction: int) -> str:
        if int(event.state) & CONTROL:
            self.drawing.zoom_step(direction, (event.x, event.y))
        elif int(event.state) & SHIFT:
            self.drawing.xview_scroll(-direction, "units")
        else:
            self.drawing.yview_scroll(-direction, "units")
        return "break"
