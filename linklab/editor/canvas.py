# SPDX-License-Identifier: BSD-3-Clause
"""The drawing: a scene (`scene`) as items on a canvas, drawn anew only where it changed.

The drawing's own pixels (as in the file) times zoom and display scale are the canvas's. Mouse and keys are
`gestures`'s; what moves while it is dragged is `moving`'s.
"""

from __future__ import annotations

import tkinter as tk
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from linklab.editor import backdrop
from linklab.editor.beside import Beside
from linklab.editor.decorations import BACKGROUND, BackgroundPicture, Frame, Note, decorations, is_decoration
from linklab.editor.document import AnyNode, Key, Snapshot, everyone, is_node
from linklab.editor.lanes import Path as LinePath
from linklab.editor.lanes import middle
from linklab.editor.painter import Painter
from linklab.editor.scene import DETAIL_FROM, ICON, KIND_COLOURS, DrawingScene, Style
from linklab.editor.settings import EditorSettings
from linklab.editor.shapes import Shape
from linklab.editor.surface import Rectangle, least_shift
from linklab.topology import Topology
from linklab.topology.parts import position
from linklab.windows.theme import Look
from linklab.windows.words import Phrase

__all__ = ["DETAIL_FROM", "GRID", "ICON", "KIND_COLOURS", "ZOOMS", "Drawing"]

GRID = 25
ZOOMS = (0.1, 0.15, 0.25, 0.35, 0.5, 0.7, 0.85, 1.0, 1.2, 1.5, 2.0, 3.0)
LEAST_FIT = 0.25
MARGIN = 200
REVEALED = 24
"""Between the edge of the window and what was scrolled into it."""
BACK_TO_FRONT = ("background", "grid", "frame", "link", "port")
"""Tags of what lies below the nodes; notes lie above them."""
HINT = Phrase(
    "This drawing is empty.\n\n"
    "Take a tool at the left and click here, or press Shift+2 for a host, Shift+4 for a switch.\n"
    "With Link, drag from one node to the other. F5 runs the network.\n\n"
    "Ctrl+O opens a file; File > Labs has the labs'; Help > Keys lists all keys."
)


class Drawing(tk.Canvas):
    """The canvas; `show` makes it show a state."""

    def __init__(self, master: tk.Misc, look: Look, settings: EditorSettings) -> None:
        super().__init__(master, highlightthickness=0, borderwidth=0, takefocus=True)
        self.look, self.settings = look, settings
        self.zoom = 1.0
        self.state = Snapshot(Topology())
        self.down: frozenset[int] = frozenset()
        self.node_states: Mapping[str, str] = {}
        self.on_view: Callable[[], None] = lambda: None
        self._painter = Painter(self)
        self._scene: DrawingScene | None = None
        self._beside: Beside | None = None
        self._items: dict[Key, tuple[int, ...]] = {}
        self._drawn: dict[Key, object] = {}
        self._keys: dict[int, Key] = {}
        self._drawn_zoom = 0.0
        self._region = (0.0, 0.0, 1.0, 1.0)
        self.restyle()

    # --- coordinates

    @property
    def factor(self) -> float:
        """Canvas pixels for one of the drawing's."""
        return self.zoom * self.look.scale

    @property
    def scene(self) -> DrawingScene:
        """Where everything stands."""
        topology = self.state.topology
        if self._scene is None or self._scene.topology is not topology or self._scene.style.zoom != self.zoom:
            if self._painter.zoom != self.zoom:
                self._painter.dress(self.look, self.zoom)
            self._scene = DrawingScene(topology, self._style())
        return self._scene

    def _style(self) -> Style:
        painter, settings = self._painter, self.settings
        return Style(
            self.zoom,
            self.look.scale,
            painter.measure,
            painter.heights,
            names=settings.names,
            addresses=settings.addresses,
            ports=settings.ports,
            rates=settings.rates,
        )

    @property
    def folder(self) -> Path:
        """What the background's file is relative to."""
        return self._painter.folder

    @folder.setter
    def folder(self, folder: Path) -> None:
        if folder != self._painter.folder:
            self._painter.folder = folder
            if BACKGROUND in self._drawn:
                self._forget(BACKGROUND)

    def to_drawing(self, x: float, y: float) -> tuple[float, float]:
        """Where a place in the window is in the drawing."""
        return self.canvasx(x) / self.factor, self.canvasy(y) / self.factor

    def spot(self, node: AnyNode) -> tuple[float, float]:
        """Where a node stands on the canvas."""
        x, y = position(node)
        return x * self.factor, y * self.factor

    @property
    def seen(self) -> Rectangle:
        """What of the canvas is in the window."""
        wide, high = self.winfo_width(), self.winfo_height()
        return Rectangle(self.canvasx(0), self.canvasy(0), self.canvasx(wide), self.canvasy(high))

    def set_zoom(self, zoom: float, around: tuple[float, float] | None = None) -> None:
        """Zoom; the place `around` (in the window) stays where it is."""
        zoom = min(max(zoom, ZOOMS[0]), ZOOMS[-1])
        x, y = around or (self.winfo_width() / 2, self.winfo_height() / 2)
        at = self.to_drawing(x, y)
        self.zoom = zoom
        self.redraw()
        self.scroll_to(at[0] * self.factor - x, at[1] * self.factor - y)

    def zoom_step(self, direction: int, around: tuple[float, float] | None = None) -> None:
        """The next larger (1) or smaller (-1) of ZOOMS."""
        further = [zoom for zoom in ZOOMS if (zoom - self.zoom) * direction > 0.01]
        if further:
            self.set_zoom(further[0] if direction > 0 else further[-1], around)

    def fit(self) -> None:
        """Zoom so that everything is seen, at most at its own size, and centre it."""
        self.update_idletasks()
        width, height = max(self.winfo_width(), 100), max(self.winfo_height(), 100)
        bounds = self._bounds()
        if bounds is None:
            self.zoom = 1.0
            self.redraw()
            self.scroll_to(0, 0)
            return
        x0, y0, x1, y1 = bounds
        self.zoom = min(1.5, max(LEAST_FIT, min(width / (x1 - x0), height / (y1 - y0)) / self.look.scale))
        self.redraw()
        self.scroll_to((x0 + x1) / 2 * self.factor - width / 2, (y0 + y1) / 2 * self.factor - height / 2)

    def _bounds(self) -> tuple[float, float, float, float] | None:
        """What is drawn, with a margin, in the drawing's pixels; None where it is empty."""
        spots = [position(node) for node in everyone(self.state.topology)]
        boxes = [(x - 90, y - 60, x + 90, y + 90) for x, y in spots]
        for each in decorations(self.state.topology).values():
            wide, high = 160.0, 60.0
            if isinstance(each, Frame):
                wide, high = each.wide, each.high
            elif isinstance(each, BackgroundPicture):
                wide, high = (side * each.scale for side in backdrop.pixels(self.folder, each.file))
            boxes.append((each.x - 20, each.y - 20, each.x + wide + 20, each.y + high + 20))
        if not boxes:
            return None
        xs0, ys0, xs1, ys1 = zip(*boxes, strict=True)
        return min(xs0), min(ys0), max(xs1), max(ys1)

    def bounds(self) -> tuple[float, float, float, float] | None:
        """What is drawn, with a margin, on the canvas; None where it is empty."""
        found = self._bounds()
        return None if found is None else tuple(each * self.factor for each in found)  # type: ignore[return-value]

    def scroll_to(self, left: float, top: float) -> None:
        """Bring a place of the canvas to the window's left upper corner."""
        self._set_region((left, top, left + self.winfo_width(), top + self.winfo_height()))
        x0, y0, x1, y1 = self._region
        self.xview_moveto((left - x0) / (x1 - x0))
        self.yview_moveto((top - y0) / (y1 - y0))
        self.on_view()

    def centre(self, place: tuple[float, float]) -> None:
        """Scroll so that a place of the drawing is in the middle."""
        x, y = place
        self.scroll_to(x * self.factor - self.winfo_width() / 2, y * self.factor - self.winfo_height() / 2)

    def reveal(self, *keys: Key) -> None:
        """Scroll until things are wholly in the window, if they are not, and only as far as that takes."""
        boxes = [self._extent(key) for key in keys]
        box = Rectangle(
            min(b.x0 for b in boxes), min(b.y0 for b in boxes), max(b.x1 for b in boxes), max(b.y1 for b in boxes)
        )
        seen, margin = self.seen, self.look.px(REVEALED)
        across = least_shift((box.x0, box.x1), (seen.x0, seen.x1), margin)
        down = least_shift((box.y0, box.y1), (seen.y0, seen.y1), margin)
        if across or down:
            self.scroll_to(seen.x0 + across, seen.y0 + down)

    def _extent(self, key: Key) -> Rectangle:
        """Where a thing is on the canvas; of a line the middle."""
        items = self._items.get(key)
        if items and isinstance(key, str) and key not in self.scene.controls:
            return Rectangle(*self.bbox(*items))
        return Rectangle.around(*self.centre_of(key), 2 * self.look.px(12), 2 * self.look.px(12))

    def _set_region(self, also: tuple[float, float, float, float] | None = None) -> None:
        """Scrolling reaches what is drawn with a margin, and what is seen."""
        seen, factor, margin = self.seen, self.factor, self.look.px(MARGIN)
        boxes = [also or (seen.x0, seen.y0, seen.x1, seen.y1), (0.0, 0.0, 1.0, 1.0)]
        if bounds := self._bounds():
            x0, y0, x1, y1 = (each * factor for each in bounds)
            boxes.append((x0 - margin / 2, y0 - margin / 2, x1 + margin / 2, y1 + margin / 2))
        x0, y0, x1, y1 = (pick(box[i] for box in boxes) for i, pick in enumerate((min, min, max, max)))
        if self._region != (x0, y0, x1, y1):
            self._region = (x0, y0, x1, y1)
            self.configure(scrollregion=self._region)

    # --- drawing

    def restyle(self) -> None:
        """Take the theme."""
        self.configure(background=self.look.palette.canvas)
        self.redraw()

    def redraw(self) -> None:
        """Draw everything anew."""
        self.delete("all")
        self._items, self._drawn, self._keys, self._scene = {}, {}, {}, None
        self._painter.dress(self.look, self.zoom)
        self._drawn_zoom = self.zoom
        self._draw_grid()
        self.show(self.state)

    def show(self, state: Snapshot) -> None:
        """Show this state: draw what is new or changed, drop what has gone."""
        self.state = state
        if self._drawn_zoom != self.zoom:
            self.redraw()
            return
        wanted = self._wanted()
        for key in [key for key, what in self._drawn.items() if wanted.get(key) != what]:
            self._forget(key)
        fresh = [key for key in wanted if key not in self._drawn]
        for key in fresh:
            self._remember(key, wanted[key], self._painter.draw(self._shapes(key)))
        if fresh:
            for tag in reversed(BACK_TO_FRONT):
                self.tag_lower(tag)
            self.tag_raise("note")
        self._set_region()
        self.show_hint()
        self.on_view()

    def _wanted(self) -> dict[Key, object]:
        """Everything to be drawn, with all that its looks depend on, the nodes first."""
        scene, selection = self.scene, self.state.selection
        wanted: dict[Key, object] = {}
        for name in scene.nodes:
            node = scene.nodes[name]
            wanted[name] = (node, name in selection, self.node_states.get(name), scene.name_look(name))
        for i, path in enumerate(scene.paths):
            if path is not None:
                wanted[i] = (path, scene.labels[i], i in selection, i in self.down)
        for key, path in scene.controls.items():
            wanted[key] = (path, key in selection)
        for key, each in scene.decorations.items():
            wanted[key] = (each, key in selection, scene.titles.get(key))
        return wanted

    def _shapes(self, key: Key) -> tuple[Shape, ...]:
        scene, selected = self.scene, key in self.state.selection
        if isinstance(key, int):
            return scene.link(key, selected=selected, down=key in self.down)
        if key in scene.nodes:
            return scene.node(key, selected=selected, state=self.node_states.get(key, ""))
        if key in scene.decorations:
            return scene.decoration(key, selected=selected)
        return scene.control(key, selected=selected)

    def _forget(self, key: Key) -> None:
        items = self._items.pop(key)
        self.delete(*items)
        for item in items:
            self._keys.pop(item, None)
        del self._drawn[key]

    def spoil(self, keys: Iterable[Key]) -> None:
        """These were moved on the canvas: draw them anew at the next `show`."""
        for key in keys:
            if key in self._drawn:
                self._drawn[key] = None

    def _remember(self, key: Key, what: object, items: tuple[int, ...]) -> None:
        self._items[key] = items
        self._drawn[key] = what
        for item in items:
            self._keys[item] = key

    def _draw_grid(self) -> None:
        if not self.settings.grid:
            return
        step = GRID * 2 * self.factor
        x1, y1 = 4000 * self.factor, 3000 * self.factor
        for i in range(round(x1 / step) + 1):
            self.create_line(i * step, 0, i * step, y1, fill=self.look.palette.grid, tags="grid")
        for i in range(round(y1 / step) + 1):
            self.create_line(0, i * step, x1, i * step, fill=self.look.palette.grid, tags="grid")

    def show_hint(self) -> None:
        """On an empty drawing say how to begin."""
        self.delete("hint")
        if self._drawn:
            return
        seen = self.seen
        self.create_text(
            (seen.x0 + seen.x1) / 2,
            (seen.y0 + seen.y1) / 2,
            text=self.look.say(HINT),
            justify="center",
            fill=self.look.palette.muted,
            font=self.look.font(11),
            width=max(200, self.winfo_width() - self.look.px(40)),
            tags="hint",
        )

    # --- what is where

    def key_at(self, x: float, y: float, *, nodes_only: bool = False) -> Key | None:
        """What is drawn at a place in the window; nodes before all else, the background only when it is selected."""
        cx, cy, near = self.canvasx(x), self.canvasy(y), self.look.px(4)
        found = [
            self._keys[i] for i in self.find_overlapping(cx - near, cy - near, cx + near, cy + near) if i in self._keys
        ]
        nodes = [key for key in found if is_node(key)]
        if nodes:
            return nodes[-1]
        others = [key for key in found if key != BACKGROUND or key in self.state.selection]
        return others[-1] if others and not nodes_only else None

    def within(self, x0: float, y0: float, x1: float, y1: float) -> list[Key]:
        """Nodes whose middle is in a rectangle of the canvas, and notes and frames that are in it whole."""
        x0, x1, y0, y1 = min(x0, x1), max(x0, x1), min(y0, y1), max(y0, y1)
        scene = self.scene
        found: list[Key] = [name for name, (x, y) in scene.spots.items() if x0 <= x <= x1 and y0 <= y <= y1]
        for key, each in scene.decorations.items():
            box = self._box_of(each)
            if box is not None and x0 <= box.x0 and box.x1 <= x1 and y0 <= box.y0 and box.y1 <= y1:
                found.append(key)
        return found

    def _box_of(self, each: Note | Frame | BackgroundPicture) -> Rectangle | None:
        """The rectangle of a note or a frame on the canvas."""
        if isinstance(each, Note):
            return self.scene.note_box(each)
        if isinstance(each, Frame):
            return self.scene.frame_box(each)
        return None

    def items_of(self, keys: Iterable[Key]) -> list[int]:
        """Canvas items of these."""
        return [item for key in keys for item in self._items.get(key, ())]

    def line_of(self, key: int) -> LinePath | None:
        """The line of a link on the canvas."""
        return self.scene.paths[key] if key < len(self.scene.paths) else None

    def middle_of(self, key: int) -> tuple[float, float]:
        """The middle of a link on the canvas."""
        path = self.line_of(key)
        return middle(path) if path is not None else (0.0, 0.0)

    def centre_of(self, key: Key) -> tuple[float, float]:
        """The middle of anything that is drawn."""
        if isinstance(key, int):
            return self.middle_of(key)
        scene = self.scene
        if key in scene.spots:
            return scene.spots[key]
        if key in scene.controls:
            return middle(scene.controls[key])
        if is_decoration(key) and key in scene.decorations:
            each = scene.decorations[key]
            box = self._box_of(each)
            return (
                ((box.x0 + box.x1) / 2, (box.y0 + box.y1) / 2) if box else (each.x * self.factor, each.y * self.factor)
            )
        return 0.0, 0.0

    def draw_cursor(self, key: Key) -> None:
        """Frame a thing, which need not be selected."""
        items = self._items.get(key)
        if not items:
            return
        pad = self.look.px(5)
        if isinstance(key, int) or key in self.scene.controls:
            (x0, y0), pad = self.centre_of(key), self.look.px(12)
            x1, y1 = x0, y0
        else:
            x0, y0, x1, y1 = self.bbox(*items)
        look: dict[str, Any] = {"outline": self.look.palette.ink, "width": self.look.px(2), "dash": (4, 3)}
        self.create_rectangle(x0 - pad, y0 - pad, x1 + pad, y1 + pad, tags="cursor", **look)

    @property
    def beside(self) -> Beside:
        """Where the switches and traces of a running network go."""
        if self._beside is None or self._beside.scene is not self.scene:
            self._beside = Beside(self.scene)
        return self._beside

    def switch_spot(self, key: int) -> tuple[float, float] | None:
        """The middle of the small switch beside a link; None where the link has none."""
        box = self.beside.switches.get(key)
        return None if box is None else ((box.x0 + box.x1) / 2, (box.y0 + box.y1) / 2)

    def font(self, name: str) -> str:
        """The font that labels of this kind have at this zoom."""
        return self._painter.font(name)
