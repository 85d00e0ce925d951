# SPDX-License-Identifier: BSD-3-Clause
"""The drawing: a topology as items on a canvas, drawn anew only where it changed.

The drawing's own pixels (as in the file) times zoom and display scale are the canvas's. Labels of ports sit on their
link, clear of the nodes and of what is written below them. Mouse and keys are `gestures`'s.
"""

from __future__ import annotations

import tkinter as tk
from collections.abc import Iterable, Mapping, Sequence
from tkinter import font as tkfont
from typing import Any

from linklab.editor.document import AnyNode, Key, Snapshot, control_links, everyone
from linklab.editor.edits import kind_of
from linklab.editor.icons import Icons
from linklab.editor.labels import Rectangle, place_labels
from linklab.editor.settings import EditorSettings
from linklab.editor.theme import Look
from linklab.topology import Host, Link, Topology
from linklab.topology.parts import position

ICON = 40
GRID = 25
DETAIL_FROM = 0.6
"""Zoom below which addresses and port names would lie on each other."""
ZOOMS = (0.25, 0.35, 0.5, 0.7, 0.85, 1.0, 1.2, 1.5, 2.0, 3.0)
Spot = tuple[float, float]
KIND_COLOURS = {
    "host": "host",
    "switch": "switch",
    "legacySwitch": "switch",
    "legacyRouter": "router",
    "controller": "controller",
}


class Drawing(tk.Canvas):
    """The canvas; `show` makes it show a state."""

    def __init__(self, master: tk.Misc, look: Look, settings: EditorSettings, icons: Icons) -> None:
        super().__init__(master, highlightthickness=0, borderwidth=0, takefocus=True)
        self.look, self.settings, self.icons = look, settings, icons
        self.zoom = 1.0
        self.state = Snapshot(Topology())
        self.down: frozenset[int] = frozenset()
        self.node_states: Mapping[str, str] = {}
        self._items: dict[Key, tuple[int, ...]] = {}
        self._drawn: dict[Key, object] = {}
        self._keys: dict[int, Key] = {}
        self._boxes: dict[str, Rectangle] = {}
        self._nodes: dict[str, AnyNode] = {}
        self._fonts: dict[str, tkfont.Font] = {}
        self._widths: dict[tuple[str, str], int] = {}
        self._heights: dict[str, int] = {}
        self.restyle(look)

    # --- coordinates

    @property
    def factor(self) -> float:
        """Canvas pixels for one of the drawing's."""
        return self.zoom * self.look.scale

    def to_drawing(self, x: float, y: float) -> tuple[float, float]:
        """Where a place in the window is in the drawing."""
        return self.canvasx(x) / self.factor, self.canvasy(y) / self.factor

    def spot(self, node: AnyNode) -> tuple[float, float]:
        """Where a node stands on the canvas."""
        x, y = position(node)
        return x * self.factor, y * self.factor

    def set_zoom(self, zoom: float, around: tuple[float, float] | None = None) -> None:
        """Zoom; the place `around` (in the window) stays where it is."""
        zoom = min(max(zoom, ZOOMS[0]), ZOOMS[-1])
        x, y = around or (self.winfo_width() / 2, self.winfo_height() / 2)
        at = self.to_drawing(x, y)
        self.zoom = zoom
        self.redraw()
        self._scroll_to(at[0] * self.factor - x, at[1] * self.factor - y)

    def zoom_step(self, direction: int, around: tuple[float, float] | None = None) -> None:
        """The next larger (1) or smaller (-1) of ZOOMS."""
        further = [zoom for zoom in ZOOMS if (zoom - self.zoom) * direction > 0.01]
        if further:
            self.set_zoom(further[0] if direction > 0 else further[-1], around)

    def fit(self) -> None:
        """Zoom so that everything is seen, at most at its own size, and centre it."""
        self.update_idletasks()
        spots = [position(node) for node in everyone(self.state.topology)]
        width, height = max(self.winfo_width(), 100), max(self.winfo_height(), 100)
        if not spots:
            self.zoom = 1.0
            self.redraw()
            return
        x0, y0 = min(x for x, _ in spots) - 90, min(y for _, y in spots) - 60
        x1, y1 = max(x for x, _ in spots) + 90, max(y for _, y in spots) + 90
        self.zoom = min(1.5, max(ZOOMS[0], min(width / (x1 - x0), height / (y1 - y0)) / self.look.scale))
        self.redraw()
        self._scroll_to((x0 + x1) / 2 * self.factor - width / 2, (y0 + y1) / 2 * self.factor - height / 2)

    def _scroll_to(self, left: float, top: float) -> None:
        self._set_region((left, top, left + self.winfo_width(), top + self.winfo_height()))
        x0, y0, x1, y1 = self._region
        self.xview_moveto((left - x0) / (x1 - x0))
        self.yview_moveto((top - y0) / (y1 - y0))

    def _set_region(self, also: tuple[float, float, float, float] | None = None) -> None:
        """Scrolling reaches what is drawn with a margin, and what is seen."""
        seen = (self.canvasx(0), self.canvasy(0), self.canvasx(self.winfo_width()), self.canvasy(self.winfo_height()))
        spots = [self.spot(node) for node in everyone(self.state.topology)]
        margin = self.look.px(200)
        boxes = [
            also or seen,
            (0.0, 0.0, 1.0, 1.0),
            *((x - margin, y - margin, x + margin, y + margin) for x, y in spots),
        ]
        x0, y0, x1, y1 = (pick(box[i] for box in boxes) for i, pick in enumerate((min, min, max, max)))
        self._region = (x0, y0, x1, y1)
        self.configure(scrollregion=self._region)

    # --- drawing

    def restyle(self, look: Look) -> None:
        """Take another theme or scale."""
        self.look = look
        self.configure(background=look.palette.canvas)
        self._region = (0.0, 0.0, 1.0, 1.0)
        self.redraw()

    def redraw(self) -> None:
        """Draw everything anew."""
        self.delete("all")
        self._items, self._drawn, self._keys, self._boxes = {}, {}, {}, {}
        size = max(6, min(16, round(10 * min(self.zoom, 1.3))))
        small = max(5, size - 1)
        family = self.look.family
        self._fonts = {
            "name": tkfont.Font(self, family=family, size=size, weight="bold"),
            "note": tkfont.Font(self, family=family, size=small),
            "port": tkfont.Font(self, family=family, size=small),
        }
        self._heights = {name: font.metrics("linespace") for name, font in self._fonts.items()}
        self._widths = {}
        self._draw_grid()
        self.show(self.state)

    def show(self, state: Snapshot) -> None:
        """Show this state: draw what is new or changed, drop what has gone."""
        self.state = state
        topology, selection = state.topology, state.selection
        try:
            ends = topology.link_ends()
        except KeyError:
            ends = [("", "")] * len(topology.links)
        self._nodes = nodes = {node.name: node for node in everyone(topology)}
        spots = {name: self.spot(node) for name, node in nodes.items()}
        wanted = self._wanted(nodes, spots, ends)
        for key in [key for key, what in self._drawn.items() if wanted.get(key) != what]:
            self._forget(key)
        for name, node in nodes.items():
            if name not in self._drawn:
                self._remember(name, wanted[name], self._draw_node(node, name in selection))
        for thing, what in wanted.items():
            if thing in self._drawn:
                continue
            if isinstance(thing, int):
                self._remember(thing, what, self._draw_link(thing, ends[thing], thing in selection))
            else:
                switch, _, controller = thing.partition(">")
                self._remember(thing, what, self._draw_control(spots[switch], spots[controller], thing in selection))
        self.tag_lower("link")
        self.tag_lower("grid")
        self._set_region()

    def _wanted(
        self, nodes: Mapping[str, AnyNode], spots: Mapping[str, Spot], ends: Sequence[tuple[str, str]]
    ) -> dict[Key, object]:
        """Everything to be drawn, with all that its looks depend on."""
        topology, selection = self.state.topology, self.state.selection
        wanted: dict[Key, object] = {}
        for name, node in nodes.items():
            wanted[name] = (node, name in selection, self.node_states.get(name), self._address(node))
        for i, link in enumerate(topology.links):
            if link.src in spots and link.dest in spots:
                places = (spots[link.src], spots[link.dest])
                # A label moves when the text below a node changes its size, hence the nodes themselves.
                wanted[i] = (link, places, ends[i], i in selection, i in self.down, wanted[link.src], wanted[link.dest])
        for key in control_links(topology):
            switch, _, controller = key.partition(">")
            if controller in spots:
                wanted[key] = (spots[switch], spots[controller], key in selection)
        return wanted

    def _forget(self, key: Key) -> None:
        items = self._items.pop(key)
        self.delete(*items)
        for item in items:
            self._keys.pop(item, None)
        del self._drawn[key]

    def _remember(self, key: Key, what: object, items: tuple[int, ...]) -> None:
        self._items[key] = items
        self._drawn[key] = what
        for item in items:
            self._keys[item] = key

    def _address(self, node: AnyNode) -> str:
        if not self.settings.addresses or self.zoom < DETAIL_FROM or not isinstance(node, Host):
            return ""
        try:
            return self.state.topology.address(node)
        except ValueError:
            return "address?"

    def _draw_node(self, node: AnyNode, selected: bool) -> tuple[int, ...]:
        palette = self.look.palette
        x, y = self.spot(node)
        kind = kind_of(node)
        size = max(10, round(ICON * self.factor))
        state = self.node_states.get(node.name, "")
        ring = {"": "", "building": palette.warn, "running": palette.good, "failed": palette.bad}.get(state, "")
        colour = getattr(palette, KIND_COLOURS[kind])
        image = self.icons.get(kind, size, colour, palette.panel)
        items = []
        half = size / 2
        if selected:
            pad = half + self.look.px(3)
            box = (x - pad, y - pad, x + pad, y + half + 1)
            look: dict[str, Any] = {"outline": palette.accent, "fill": palette.hover, "width": self.look.px(1)}
            items.append(self.create_rectangle(*box, **look))
        items.append(self.create_image(x, y, image=image, tags="icon"))
        if ring:
            r, dx = self.look.px(5) * min(1.0, self.zoom), half * 0.86
            items.append(
                self.create_oval(
                    x + dx - r, y - dx - r, x + dx + r, y - dx + r, fill=ring, outline=palette.canvas, width=2
                )
            )
        bottom, wide = y + half, half
        texts = [(node.name, "name", palette.ink)] if self.settings.names else []
        if address := self._address(node):
            texts.append((address, "note", palette.muted))
        for text, font, ink in texts:
            height = self._heights[font]
            items.append(
                self.create_text(x, bottom + height / 2 + 1, text=text, font=self._fonts[font], fill=ink, tags="label")
            )
            bottom += height + 1
            wide = max(wide, self._measure(font, text) / 2)
        self._boxes[node.name] = Rectangle(x - wide, y - half, x + wide, bottom)
        return tuple(items)

    def _measure(self, font: str, text: str) -> int:
        """The width of a text, letter by letter: Tk knows no kerning, and asking for 12,000 labels took 17 s."""
        for letter in text:
            if (font, letter) not in self._widths:
                self._widths[font, letter] = self._fonts[font].measure(letter)
        return sum(self._widths[font, letter] for letter in text)

    def _draw_link(self, key: int, ends: tuple[str, str], selected: bool) -> tuple[int, ...]:
        link = self.state.topology.links[key]
        a, b = self.spot(self._nodes[link.src]), self.spot(self._nodes[link.dest])
        palette, px = self.look.palette, self.look.px
        colour = palette.bad if key in self.down else palette.accent if selected else palette.link
        width = px(3 if selected else 2) * min(1.0, max(0.5, self.zoom))
        dash = (6, 4) if key in self.down else ()
        items = [self.create_line(*a, *b, fill=colour, width=width, dash=dash, tags="link")]
        texts = list(ends) if self.settings.ports and self.zoom >= DETAIL_FROM else ["", ""]
        note = link_note(link)
        sizes = [(self._measure("port", text) if text else 0, self._heights["port"]) for text in (*texts, note)]
        placed = place_labels(a, b, (self._boxes[link.src], self._boxes[link.dest]), sizes)
        for text, place, (wide, high) in zip((*texts, note), placed, sizes, strict=True):
            if text and place is not None:
                x, y = place
                ground = (x - wide / 2 - 2, y - high / 2, x + wide / 2 + 2, y + high / 2)
                items.append(self.create_rectangle(*ground, fill=palette.canvas, outline="", tags="port"))
                ink = palette.ink if text is note else palette.muted
                items.append(
                    self.create_text(x, y, text=text, font=self._fonts["port"], fill=ink, tags=("port", "label"))
                )
        return tuple(items)

    def _draw_control(self, a: tuple[float, float], b: tuple[float, float], selected: bool) -> tuple[int, ...]:
        palette = self.look.palette
        colour = palette.accent if selected else palette.controller
        return (self.create_line(*a, *b, fill=colour, width=self.look.px(1.5), dash=(4, 4), tags="link"),)

    def _draw_grid(self) -> None:
        if not self.settings.grid:
            return
        step = GRID * 2 * self.factor
        x1, y1 = 4000 * self.factor, 3000 * self.factor
        for i in range(round(x1 / step) + 1):
            self.create_line(i * step, 0, i * step, y1, fill=self.look.palette.grid, tags="grid")
        for i in range(round(y1 / step) + 1):
            self.create_line(0, i * step, x1, i * step, fill=self.look.palette.grid, tags="grid")

    # --- what is where

    def key_at(self, x: float, y: float, *, nodes_only: bool = False) -> Key | None:
        """What is drawn at a place in the window; nodes before links."""
        cx, cy, near = self.canvasx(x), self.canvasy(y), self.look.px(4)
        found = [
            self._keys[i] for i in self.find_overlapping(cx - near, cy - near, cx + near, cy + near) if i in self._keys
        ]
        nodes = [key for key in found if isinstance(key, str) and ">" not in key]
        if nodes:
            return nodes[-1]
        return found[-1] if found and not nodes_only else None

    def nodes_within(self, x0: float, y0: float, x1: float, y1: float) -> list[str]:
        """Nodes whose middle is in a rectangle of the canvas."""
        x0, x1, y0, y1 = min(x0, x1), max(x0, x1), min(y0, y1), max(y0, y1)
        spots = ((node.name, self.spot(node)) for node in everyone(self.state.topology))
        return [name for name, (x, y) in spots if x0 <= x <= x1 and y0 <= y <= y1]

    def items_of(self, keys: Iterable[Key]) -> list[int]:
        """Canvas items of these."""
        return [item for key in keys for item in self._items.get(key, ())]

    def middle_of(self, key: int) -> tuple[float, float]:
        """The middle of a link on the canvas."""
        x0, y0, x1, y1 = self.coords(self._items[key][0])
        return (x0 + x1) / 2, (y0 + y1) / 2

    def trace_spot(self, key: int, wide: float, high: float) -> tuple[float, float] | None:
        """Lower left corner of a small picture beside the middle of a link, below or left of it."""
        if key not in self._items:
            return None
        x0, y0, x1, y1 = self.coords(self._items[key][0])
        length = max(1.0, ((x1 - x0) ** 2 + (y1 - y0) ** 2) ** 0.5)
        ux, uy = (x1 - x0) / length, (y1 - y0) / length
        nx, ny = (-uy, ux) if ux > 0 or (ux == 0 and uy < 0) else (uy, -ux)
        away = abs(nx) * wide / 2 + abs(ny) * high + self.look.px(12)
        return (x0 + x1) / 2 + nx * away - wide / 2, (y0 + y1) / 2 + ny * away + high / 2


def link_note(link: Link) -> str:
    """What a link is said to do, for its middle: "10 Mbit/s, 5ms"."""
    opts = link.opts
    words = []
    if "bw" in opts:
        words.append(f"{opts['bw']} Mbit/s" if not isinstance(opts["bw"], str) else opts["bw"])
    if opts.get("delay"):
        words.append(str(opts["delay"]))
    if opts.get("loss"):
        words.append(f"{opts['loss']} % loss")
    for arrow, data in (("→", link.own.get("forward")), ("←", link.own.get("backward"))):
        if isinstance(data, Mapping) and data:
            kind = data.get("discipline", {}).get("kind", "") if isinstance(data.get("discipline"), Mapping) else ""
            parts = [str(data[key]) for key in ("rate", "delay", "loss") if key in data]
            words.append(" ".join([arrow, *parts, kind]).strip())
    return ", ".join(words)
