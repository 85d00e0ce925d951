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
from linklab.editor.document import Document, Key, control_links, everyone
from linklab.errors import InputError

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
        self.link_from: str | None = None
        self._dragged: dict[str, tuple[float, float]] = {}
        self._lines: list[tuple[int, bool, bool, list[float]]] = []
        self._moved = (0.0, 0.0)
        self._tag = 0
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
        if busy and self.press is not None and self.press.kind == "move":
            self.drawing.redraw()
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
            self.hooks.say(f"link from {key}: drag or click to the other node")
        elif key != self.link_from:
            self._make_link(self.link_from, key)

    def _make_link(self, src: str, dest: str) -> None:
        self.link_from = None
        self.drawing.delete("preview")
        topology = self.document.topology
        try:
            after = edits.add_link(topology, src, dest)
        except InputError as error:
            self.hooks.say(str(error))
            return
        new = len(after.links) - 1
        self.document.apply(f"Link {src}–{dest}", after, {new} if len(after.links) > len(topology.links) else None)
        if len(after.links) > len(topology.links):
            self.hooks.say("linked " + " with ".join(after.link_ends()[new]))

    def _motion(self, event: tk.Event[tk.Misc]) -> None:
        if self.press is None:
            return
        if self.press.kind == "click":
            if max(abs(event.x - self.press.x), abs(event.y - self.press.y)) < self.drawing.look.px(DRAG_FROM_PX):
                return
            self._begin_drag()
        if self.press.kind == "move":
            self._drag_to(event.x - self.press.x, event.y - self.press.y)
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
        elif isinstance(self.press.key, str) and ">" not in self.press.key:
            if self.hooks.locked():
                self.hooks.say("the network is running: stop it to move nodes")
                self.press.kind = "nothing"
                return
            self.press.kind = "move"
            self._prepare_move()
        else:
            self.press.kind = "band"

    def _prepare_move(self) -> None:
        """Gather what moves as one tag, and the lines that hang on it."""
        names = set(self.document.selected_names)
        self._dragged = {n.name: edits.position(n) for n in everyone(self.document.topology) if n.name in names}
        self._moved = (0.0, 0.0)
        links: list[Key] = [i for i, k in enumerate(self.document.topology.links) if {k.src, k.dest} & names]
        ends = {i: (k.src in names, k.dest in names) for i, k in enumerate(self.document.topology.links)}
        lines = [(self.drawing.items_of([i])[0], *ends[i]) for i in links if isinstance(i, int)]
        for key in control_links(self.document.topology):
            switch, _, controller = key.partition(">")
            if {switch, controller} & names and self.drawing.items_of([key]):
                lines.append((self.drawing.items_of([key])[0], switch in names, controller in names))
        self._lines = [(*line, list(self.drawing.coords(line[0]))) for line in lines]
        kept = {line for line, *_ in lines}
        for item in self.drawing.items_of(links):
            if item not in kept:
                self.drawing.itemconfigure(item, state="hidden")  # labels are placed anew at the end
        for item in self.drawing.items_of(names):
            self.drawing.addtag_withtag("moving", item)

    def _drag_to(self, dx: float, dy: float) -> None:
        step_x, step_y = dx - self._moved[0], dy - self._moved[1]
        self._moved = (dx, dy)
        self.drawing.move("moving", step_x, step_y)
        call, path = self.drawing.tk.call, str(self.drawing)
        for line, src_moves, dest_moves, (x0, y0, x1, y1) in self._lines:
            start = (x0 + dx, y0 + dy) if src_moves else (x0, y0)
            end = (x1 + dx, y1 + dy) if dest_moves else (x1, y1)
            call(path, "coords", line, *start, *end)  # tkinter's own wrapper takes three times as long

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
            self.drawing.tag_lower(line)

    def _hover(self, event: tk.Event[tk.Misc]) -> None:
        if self.link_from is not None:
            self._preview(event)

    def _released(self, event: tk.Event[tk.Misc]) -> None:
        press, self.press = self.press, None
        if press is None:
            return
        tool = self.hooks.tool()
        if press.kind == "move":
            self._drop()
        elif press.kind == "band":
            self.press = press
            names = self.drawing.nodes_within(*self._box(event))
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
        self.drawing.dtag("moving")
        dx, dy = (moved / self.drawing.factor for moved in self._moved)
        places = {name: (x + dx, y + dy) for name, (x, y) in self._dragged.items()}
        if self.drawing.settings.grid:
            places = {name: (round(x / GRID) * GRID, round(y / GRID) * GRID) for name, (x, y) in places.items()}
        what = next(iter(places)) if len(places) == 1 else f"{len(places)} nodes"
        before = self.document.state
        self.document.apply(f"Move {what}", edits.move(self.document.topology, places))
        if self.document.state == before:
            self.drawing.redraw()

    def add(self, kind: str, x: float, y: float) -> None:
        """A new node there."""
        if self.hooks.locked():
            self.hooks.say("the network is running: stop it to change the drawing")
            return
        if self.drawing.settings.grid:
            x, y = round(x / GRID) * GRID, round(y / GRID) * GRID
        after, name = edits.add_node(self.document.topology, kind, x, y)
        self.document.apply(f"Add {name}", after, {name})
        self.hooks.say(f"added {name}")

    def add_somewhere(self, kind: str) -> None:
        """A new node where the view has room, for the keyboard."""
        left, top = self.drawing.to_drawing(0, 0)
        taken = [edits.position(node) for node in everyone(self.document.topology)]
        for row in range(20):
            for column in range(6):
                x, y = left + 100 + 150 * column, top + 80 + 110 * row
                if all(abs(x - px) >= 120 or abs(y - py) >= 90 for px, py in taken):
                    self.add(kind, x, y)
                    return

    def link_selected(self) -> None:
        """Link the two selected nodes, or several to the one switch or router among them."""
        names = self.document.selected_names
        if len(names) == 2:
            self._make_link(*names)
            return
        try:
            after, hub = edits.link_all(self.document.topology, names)
        except InputError as error:
            self.hooks.say(str(error))
            return
        self.document.apply(f"Link {len(names) - 1} nodes to {hub}", after, self.document.selection)
        self.hooks.say(f"linked {', '.join(name for name in names if name != hub)} to {hub}")

    def _double(self, event: tk.Event[tk.Misc]) -> None:
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
