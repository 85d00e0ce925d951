# SPDX-License-Identifier: BSD-3-Clause
"""Where the small switches and the live traces of a running network go beside their links; geometry, no tkinter.

Both keep clear of everything that a scene shows: switches first, then traces around them. Units are canvas pixels.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from linklab.editor.decorations import Note
from linklab.editor.labels import Size, place_beside
from linklab.editor.scene import DrawingScene
from linklab.editor.surface import Occupied, Rectangle

SWITCH = (22.0, 12.0)
"""Width and height of a switch in the drawing's pixels."""
APART = 2.0
"""Air around a switch or a trace."""


class Beside:
    """The places beside the links of one scene."""

    def __init__(self, scene: DrawingScene) -> None:
        self.scene = scene
        self.switches: dict[int, Rectangle] = {}
        """By link, without those for which there is no room; none where the drawing is too small for details."""
        self._surface = Occupied()
        self._kept: dict[int, Size] = {}
        """Links that had a trace the last time, in the order in which they got it, and how large it was."""
        self._fill()
        if scene.style.is_detailed:
            self._place_switches()

    def _fill(self) -> None:
        scene, half = self.scene, self.scene.half
        for place, path in enumerate(scene.paths):
            if path is not None:
                self._surface.add_line(place, path)
        for key, path in scene.controls.items():
            self._surface.add_line(key, path)
        boxes = [Rectangle.around(x, y, 2 * half, 2 * half) for x, y in scene.spots.values()]
        boxes += scene.names.values()
        boxes += scene.titles.values()
        boxes += (box for place in range(len(scene.paths)) for box in scene.label_boxes(place))
        boxes += (scene.note_box(each) for each in scene.decorations.values() if isinstance(each, Note))
        for box in boxes:
            self._surface.add_box(box)

    def _place_switches(self) -> None:
        factor = self.scene.style.factor
        wide, high = (side * factor for side in SWITCH)
        for place, path in enumerate(self.scene.paths):
            if path is not None:
                box = place_beside(self._surface, place, path, (wide + 2 * APART, high + 2 * APART), factor)
                if box is not None:
                    self.switches[place] = _inner(box)

    def traces(self, sizes: Mapping[int, Size], selected: Collection[int]) -> dict[int, Rectangle]:
        """The boxes of the traces of these links, by their sizes; links for whose box there is no room are left out.

        A selected link's box is placed first, and shown in any case. Where the drawing is too small for details, only
        selected links have one. A box that was there the last time keeps its place as long as no earlier one grows.
        """
        wanted = [place for place in sizes if place in selected or self.scene.style.is_detailed]
        kept = {place: self._kept[place] for place in self._kept if place in wanted}
        for place in wanted:
            before = kept.get(place, (0.0, 0.0))
            kept[place] = (max(before[0], sizes[place][0]), max(before[1], sizes[place][1]))
        self._kept = kept
        surface, found = self._surface.copy(), {}
        for place in sorted(kept, key=lambda place: place not in selected):
            path, (wide, high) = self.scene.paths[place], kept[place]
            if path is None:
                continue
            size = (wide + 2 * APART, high + 2 * APART)
            box = place_beside(surface, place, path, size, self.scene.style.factor, always=place in selected)
            if box is not None:
                found[place] = _inner(box)
        return found


def _inner(box: Rectangle) -> Rectangle:
    return Rectangle(box.x0 + APART, box.y0 + APART, box.x1 - APART, box.y1 - APART)
