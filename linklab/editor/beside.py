# SPDX-License-Identifier: BSD-3-Clause
"""Where the small switches and the live traces of a running network go beside their links; geometry, no tkinter.

Both keep clear of everything that a scene shows: switches first, then traces around them. Units are canvas pixels.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace

from linklab.editor.decorations import Note
from linklab.editor.labels import NODE, Near, Size, place_beside, place_near
from linklab.editor.lanes import middle
from linklab.editor.scene import DrawingScene
from linklab.editor.surface import Occupied, Rectangle

SWITCH = (22.0, 12.0)
"""Width and height of a switch in the drawing's pixels."""
MOST_CHOICE = 50_000
"""Comparisons up to which switches keep clear of all lines; then the first place that covers no label is taken."""
MOST_SWITCHES = 400_000
"""Comparisons up to which switches are placed, about a second; in a thicket the rest have Ctrl+U alone."""
MOST_EFFORT = 20_000
"""Comparisons for the places of new traces in one call, about 30 ms: samples come four times a second."""
APART = 2.0
"""Air around a switch or a trace."""


class Beside:
    """The places beside the links of one scene."""

    def __init__(self, scene: DrawingScene) -> None:
        self.scene = scene
        self.switches: dict[int, Rectangle] = {}
        """By link, without those for which there is no room; none where the drawing is too small for details."""
        self._outer: dict[int, Rectangle] = {}
        """The switches with the air around them."""
        self._surface = Occupied()
        self._kept: dict[int, tuple[Size, Size]] = {}
        """How large the traces of links have been, whole and short."""
        self._placed: dict[int, Near] = {}
        self._freed = 0
        """How often a trace has left its place."""
        self._crowded: dict[int, int] = {}
        """Links without room, and how often a trace had left its place when it was looked for."""
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
            if path is not None and self._surface.effort < MOST_SWITCHES:
                enough = 0 if self._surface.effort < MOST_CHOICE else NODE - 1
                size = (wide + 2 * APART, high + 2 * APART)
                box = place_beside(self._surface, place, path, size, factor, enough=enough)
                if box is not None:
                    self.switches[place], self._outer[place] = _inner(box), box

    def traces(
        self, sizes: Mapping[int, tuple[Size, Size]], selected: Collection[int], seen: Rectangle | None = None
    ) -> dict[int, Near]:
        """The places of the traces of these links, by the sizes of their whole and their short form.

        A selected link's is whole, and shown in any case. Another lies at its link, whole or short, or short and
        further off, or is left out where there is no room. Where the drawing is too small for details, only selected
        links have one. One that was there the last time keeps its place unless it grows. Those whose links are not in
        `seen` get none yet, and what does not fit into one call's effort is placed by the next.
        """
        wanted = [place for place in sizes if self._is_wanted(place, selected)]
        for place in [place for place in self._placed if place not in wanted]:
            self._drop(place)
        for place in wanted:
            self._grow(place, sizes[place], place in selected)
        start = self._surface.effort
        for place in sorted(wanted, key=lambda place: place not in selected):
            is_due = place not in self._placed and self._crowded.get(place) != self._freed
            if is_due and self._is_seen(place, seen) and self._surface.effort - start < MOST_EFFORT:
                self._find(place, place in selected)
        return {place: replace(near, box=_inner(near.box)) for place, near in self._placed.items()}

    def _is_wanted(self, place: int, selected: Collection[int]) -> bool:
        return self.scene.paths[place] is not None and (place in selected or self.scene.style.is_detailed)

    def _is_seen(self, place: int, seen: Rectangle | None) -> bool:
        path = self.scene.paths[place]
        if seen is None or path is None:
            return True
        x, y = middle(path)
        return seen.x0 <= x <= seen.x1 and seen.y0 <= y <= seen.y1

    def _grow(self, place: int, sizes: tuple[Size, Size], is_selected: bool) -> None:
        """Take the larger of a trace's sizes until now; one that no longer fits its place loses it."""
        before = self._kept.get(place, ((0.0, 0.0), (0.0, 0.0)))
        grown = [(max(old[0], new[0]), max(old[1], new[1])) for old, new in zip(before, sizes, strict=True)]
        self._kept[place] = grown[0], grown[1]
        near = self._placed.get(place)
        if self._kept[place] != before:
            self._crowded.pop(place, None)
        if near is not None and (
            (near.is_short and is_selected) or self._kept[place][near.is_short] != before[near.is_short]
        ):
            self._drop(place, is_forgotten=False)

    def _drop(self, place: int, *, is_forgotten: bool = True) -> None:
        self._surface.remove_box(self._placed.pop(place).box)
        self._freed += 1
        if is_forgotten:
            self._kept.pop(place, None)

    def _find(self, place: int, is_selected: bool) -> None:
        path, factor = self.scene.paths[place], self.scene.style.factor
        assert path is not None
        whole, short = ((wide + 2 * APART, high + 2 * APART) for wide, high in self._kept[place])
        own = [*self.scene.label_boxes(place)]
        if place in self.switches:
            own.append(self._outer[place])
        near = place_near(self._surface, place, path, (whole, short), own)
        if is_selected and (near is None or near.is_short):
            if near is not None:
                self._surface.remove_box(near.box)
            box = place_beside(self._surface, place, path, whole, factor, always=True)
            near = None if box is None else Near(box)
        if near is None:
            self._crowded[place] = self._freed
        else:
            self._placed[place] = near


def _inner(box: Rectangle) -> Rectangle:
    return box.grown(-APART)
