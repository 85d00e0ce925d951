# SPDX-License-Identifier: BSD-3-Clause
"""What is drawn already and where there is still room: rectangles, lines, and an index of both; plain geometry.

Units are canvas pixels, y downwards. `linklab.editor.labels` asks it where a label goes.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass

CELL = 64.0
"""Side of a square of the index."""
FARTHEST = 100_000.0
"""Beyond this nothing is indexed: a drawing of a million pixels would fill the memory, and nobody reads it."""


@dataclass(frozen=True)
class Rectangle:
    """A rectangle, its left upper and right lower corner."""

    x0: float
    y0: float
    x1: float
    y1: float

    @classmethod
    def around(cls, x: float, y: float, wide: float, high: float) -> Rectangle:
        """By its middle and size."""
        return cls(x - wide / 2, y - high / 2, x + wide / 2, y + high / 2)

    def grown(self, by: float) -> Rectangle:
        """The same with so much more on every side."""
        return Rectangle(self.x0 - by, self.y0 - by, self.x1 + by, self.y1 + by)

    def meets(self, other: Rectangle) -> bool:
        """Whether the two overlap."""
        return self.x0 < other.x1 and other.x0 < self.x1 and self.y0 < other.y1 and other.y0 < self.y1

    def crossed_by(self, ax: float, ay: float, bx: float, by: float) -> bool:
        """Whether a line from a to b runs through it (Liang and Barsky's clipping)."""
        first, last = 0.0, 1.0
        for start, way, low, high in ((ax, bx - ax, self.x0, self.x1), (ay, by - ay, self.y0, self.y1)):
            if way == 0:
                if not low < start < high:
                    return False
                continue
            one, other = (low - start) / way, (high - start) / way
            first, last = max(first, min(one, other)), min(last, max(one, other))
        return first < last


def least_shift(thing: tuple[float, float], seen: tuple[float, float], margin: float) -> float:
    """How far a view must move along one axis to show a thing whole, `margin` from its edge; 0 if it does already.

    A thing that is larger than the view needs only to fill it.
    """
    low, high = thing[0] - seen[0], thing[1] - seen[1]
    if (low >= 0 and high <= 0) or (low <= 0 and high >= 0):
        return 0.0
    is_before = low < 0
    if thing[1] - thing[0] > seen[1] - seen[0]:
        return high if is_before else low
    return low - margin if is_before else high + margin


Segment = tuple[Hashable, float, float, float, float]
"""Whose line it is, and its two ends."""


class Occupied:
    """Lines and rectangles by the squares that they touch."""

    def __init__(self) -> None:
        self._lines: dict[tuple[int, int], list[Segment]] = defaultdict(list)
        self._boxes: dict[tuple[int, int], list[Rectangle]] = defaultdict(list)
        self.effort = 0
        """Lines and rectangles looked at so far."""

    def copy(self) -> Occupied:
        """The same lines and rectangles, to add more without changing these."""
        other = Occupied()
        other._lines.update((cell, list(lines)) for cell, lines in self._lines.items())
        other._boxes.update((cell, list(boxes)) for cell, boxes in self._boxes.items())
        return other

    def add_line(self, owner: Hashable, path: tuple[float, ...]) -> None:
        """A line through several points; `owner` may have labels on it."""
        for at in range(0, len(path) - 2, 2):
            ax, ay, bx, by = path[at : at + 4]
            for cell in _cells_of_line(ax, ay, bx, by):
                self._lines[cell].append((owner, ax, ay, bx, by))

    def add_box(self, box: Rectangle) -> None:
        """A rectangle that is taken."""
        for cell in _cells_of_box(box):
            self._boxes[cell].append(box)

    def remove_box(self, box: Rectangle) -> None:
        """A rectangle that is taken no longer."""
        for cell in _cells_of_box(box):
            self._boxes[cell].remove(box)

    def in_the_way(self, box: Rectangle, owner: Hashable = None, *, only_free: bool = False) -> int:
        """How much is in the way of a label there: 1 for each line of another owner, 3 for each rectangle.

        only_free: where there is a rectangle, however many there are is not asked for.
        """
        cells = list(_cells_of_box(box))
        boxes = {other for cell in cells for other in self._boxes.get(cell, ())}
        self.effort += len(boxes)
        met = sum(1 for other in boxes if box.meets(other))
        if met and only_free:
            return 3 * met
        lines = {line for cell in cells for line in self._lines.get(cell, ())}
        self.effort += len(lines)
        return 3 * met + sum(1 for whose, *ends in lines if whose != owner and box.crossed_by(*ends))

    def boxes_on(self, path: tuple[float, ...]) -> set[Rectangle]:
        """The rectangles that a line through several points runs through."""
        found: set[Rectangle] = set()
        for at in range(0, len(path) - 2, 2):
            ends = path[at : at + 4]
            cells = list(_cells_of_line(*ends))
            near = {box for cell in cells for box in self._boxes.get(cell, ())}
            self.effort += len(cells) + len(near)
            found |= {box for box in near if box.crossed_by(*ends)}
        return found

    def lines_near(self, path: tuple[float, ...]) -> set[Segment]:
        """The lines in the squares that a straight line touches."""
        ax, ay, bx, by = path
        found = {line for cell in _cells_of_line(ax, ay, bx, by) for line in self._lines.get(cell, ())}
        self.effort += len(found)
        return found

    def choose(self, places: Iterable[Rectangle]) -> tuple[Rectangle, int]:
        """The first clear place, else the one with the least in its way, and how much that is; it is taken then."""
        least, best = min(self._weighed(places), key=lambda each: each[0])
        self.add_box(best)
        return best, least

    def _weighed(self, places: Iterable[Rectangle]) -> Iterator[tuple[int, Rectangle]]:
        for box in places:
            count = self.in_the_way(box)
            yield count, box
            if not count:
                return


def _cells_of_box(box: Rectangle) -> Iterator[tuple[int, int]]:
    if max(abs(box.x0), abs(box.y0), abs(box.x1), abs(box.y1)) > FARTHEST:
        return
    for column in range(math.floor(box.x0 / CELL), math.floor(box.x1 / CELL) + 1):
        for row in range(math.floor(box.y0 / CELL), math.floor(box.y1 / CELL) + 1):
            yield column, row


def _cells_of_line(ax: float, ay: float, bx: float, by: float) -> Iterator[tuple[int, int]]:
    """The squares that a line touches, column by column."""
    if max(abs(ax), abs(ay), abs(bx), abs(by)) > FARTHEST:
        return
    if ax > bx:
        ax, ay, bx, by = bx, by, ax, ay
    slope = (by - ay) / (bx - ax) if bx > ax else 0.0
    for column in range(math.floor(ax / CELL), math.floor(bx / CELL) + 1):
        if bx > ax:
            y0 = ay + slope * (max(column * CELL, ax) - ax)
            y1 = ay + slope * (min((column + 1) * CELL, bx) - ax)
        else:
            y0, y1 = ay, by
        for row in range(math.floor(min(y0, y1) / CELL), math.floor(max(y0, y1) / CELL) + 1):
            yield column, row
