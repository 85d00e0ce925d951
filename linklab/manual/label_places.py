# SPDX-License-Identifier: BSD-3-Clause
"""Where the labels of a picture go, so that none lies on a line, a node or another label; plain geometry.

Units are those of the picture, y downwards. Each label has its places in order of preference; the first that is clear
is taken, or else the one with the least in its way.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

Point = tuple[float, float]
Segment = tuple[Point, Point]


@dataclass(frozen=True)
class Box:
    """A rectangle by its middle and size."""

    x: float
    y: float
    wide: float
    high: float

    def meets(self, other: Box) -> bool:
        """Whether they overlap."""
        return abs(self.x - other.x) * 2 < self.wide + other.wide and abs(self.y - other.y) * 2 < self.high + other.high

    def crossed_by(self, segment: Segment) -> bool:
        """Whether a line runs through it (Liang and Barsky's clipping)."""
        (ax, ay), (bx, by) = segment
        first, last = 0.0, 1.0
        for start, way, low, high in (
            (ax, bx - ax, self.x - self.wide / 2, self.x + self.wide / 2),
            (ay, by - ay, self.y - self.high / 2, self.y + self.high / 2),
        ):
            if way == 0:
                if not low < start < high:
                    return False
                continue
            enters, leaves = sorted(((low - start) / way, (high - start) / way))
            first, last = max(first, enters), min(last, leaves)
        return first < last


@dataclass
class Surface:
    """What is drawn already."""

    lines: Sequence[Segment]
    boxes: list[Box] = field(default_factory=list)

    def put(self, places: Iterable[Box]) -> Box:
        """Choose one of the places, the best first, and keep it free from now on.

        Raises:
            ValueError: there is none to choose from.
        """
        best: tuple[int, Box] | None = None
        for box in places:
            in_the_way = sum(box.meets(other) for other in self.boxes) + sum(map(box.crossed_by, self.lines))
            if best is None or in_the_way < best[0]:
                best = (in_the_way, box)
            if not in_the_way:
                break
        if best is None:
            raise ValueError("a label without a place")
        self.boxes.append(best[1])
        return best[1]
