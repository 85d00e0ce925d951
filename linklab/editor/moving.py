# SPDX-License-Identifier: BSD-3-Clause
"""What is seen while things are dragged: their items move as one tag, and the lines that hang on them follow.

The document learns of it at the end. Labels of lines that change their direction are hidden until then.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from linklab.editor.canvas import Drawing
from linklab.editor.decorations import LEAST, Frame
from linklab.editor.document import Key
from linklab.editor.lanes import Spot

TAG = "moving"
CORNER = 7
"""How near a corner must be pressed."""


@dataclass(frozen=True)
class Hanging:
    """A line of which one end moves: its item, its link or controller's line, its ends and which one moves."""

    item: int
    key: Key
    a: Spot
    b: Spot
    a_moves: bool


class Moving:
    """One drag."""

    def __init__(self, drawing: Drawing, keys: Collection[Key]) -> None:
        self.drawing = drawing
        self._touched: set[Key] = set(keys)
        self._hanging: list[Hanging] = []
        self._moved = (0.0, 0.0)
        scene, whole = drawing.scene, set(keys)
        for i, link in enumerate(scene.topology.links):
            if scene.paths[i] is not None and (link.src in whole or link.dest in whole):
                self._gather(i, scene.spots[link.src], scene.spots[link.dest], (link.src in whole, link.dest in whole))
        for key in scene.controls:
            switch, _, controller = key.partition(">")
            if switch in whole or controller in whole:
                ends = scene.spots[switch], scene.spots[controller]
                self._gather(key, *ends, (switch in whole, controller in whole))
        for item in drawing.items_of(keys):
            drawing.addtag_withtag(TAG, item)

    def _gather(self, key: Key, a: Spot, b: Spot, moves: tuple[bool, bool]) -> None:
        line, *labels = self.drawing.items_of([key])
        self._touched.add(key)
        if all(moves):
            for item in (line, *labels):
                self.drawing.addtag_withtag(TAG, item)
            return
        self._hanging.append(Hanging(line, key, a, b, moves[0]))
        for item in labels:
            self.drawing.itemconfigure(item, state="hidden")

    def to(self, dx: float, dy: float) -> None:
        """Show everything that far from where it was."""
        drawing, scene = self.drawing, self.drawing.scene
        drawing.move(TAG, dx - self._moved[0], dy - self._moved[1])
        self._moved = (dx, dy)
        call, window = drawing.tk.call, str(drawing)
        for each in self._hanging:
            a, b = each.a, each.b
            if each.a_moves:
                a = (a[0] + dx, a[1] + dy)
            else:
                b = (b[0] + dx, b[1] + dy)
            path = scene.path(each.key, a, b) if isinstance(each.key, int) else scene.control_path(each.key, a, b)
            call(window, "coords", each.item, *path)  # tkinter's own wrapper takes three times as long

    def end(self) -> None:
        """Nothing moves any more; what moved is drawn anew where the document then has it."""
        self.drawing.dtag(TAG)
        self.drawing.spoil(self._touched)


class Resizing:
    """One drag of a frame's corner."""

    def __init__(self, drawing: Drawing, frame: Frame, left: bool, upper: bool) -> None:
        self.drawing, self.frame, self.left, self.upper = drawing, frame, left, upper
        self._box = (frame.x, frame.y, frame.x + frame.wide, frame.y + frame.high)

    @classmethod
    def begin(cls, drawing: Drawing, frame: Frame, at: Spot) -> Resizing | None:
        """Where a corner is at that place of the canvas; None where none is."""
        x, y, near = at[0] / drawing.factor, at[1] / drawing.factor, drawing.look.px(CORNER) / drawing.factor
        for left, corner_x in ((True, frame.x), (False, frame.x + frame.wide)):
            for upper, corner_y in ((True, frame.y), (False, frame.y + frame.high)):
                if max(abs(x - corner_x), abs(y - corner_y)) <= near:
                    return cls(drawing, frame, left, upper)
        return None

    def to(self, dx: float, dy: float) -> None:
        """Show the frame with its corner that far from where it was."""
        frame, factor = self.frame, self.drawing.factor
        x0, y0, x1, y1 = frame.x, frame.y, frame.x + frame.wide, frame.y + frame.high
        if self.left:
            x0 = min(x0 + dx / factor, x1 - LEAST)
        else:
            x1 = max(x1 + dx / factor, x0 + LEAST)
        if self.upper:
            y0 = min(y0 + dy / factor, y1 - LEAST)
        else:
            y1 = max(y1 + dy / factor, y0 + LEAST)
        self._box = (x0, y0, x1, y1)
        self.drawing.delete("preview")
        accent = self.drawing.look.palette.accent
        self.drawing.create_rectangle(*(c * factor for c in self._box), outline=accent, tags="preview")

    def values(self) -> dict[str, float]:
        """The frame's new coordinates and size."""
        x0, y0, x1, y1 = (float(round(c)) for c in self._box)
        return {"x": x0, "y": y0, "wide": x1 - x0, "high": y1 - y0}

    def end(self) -> None:
        """Nothing is shown any more."""
        self.drawing.delete("preview")
