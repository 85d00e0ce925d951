# SPDX-License-Identifier: BSD-3-Clause
"""Where labels go on a link so that none lies on a node or on another label of that link; plain geometry.

Units are canvas pixels, y downwards.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

GAP = 8.0
Place = tuple[float, float]


@dataclass(frozen=True)
class Rectangle:
    """A rectangle, its left upper and right lower corner."""

    x0: float
    y0: float
    x1: float
    y1: float


def clear_distance(start: Place, along: Place, box: Rectangle, size: tuple[float, float]) -> float:
    """How far from `start` along a unit vector the middle of a label of that size must be to lie outside `box`."""
    (ux, uy), (wide, high) = along, size
    left, right = box.x0 - wide / 2 - GAP, box.x1 + wide / 2 + GAP
    top, bottom = box.y0 - high / 2 - GAP / 2, box.y1 + high / 2 + GAP / 2
    across = math.inf if abs(ux) < 1e-9 else ((right if ux > 0 else left) - start[0]) / ux
    down = math.inf if abs(uy) < 1e-9 else ((bottom if uy > 0 else top) - start[1]) / uy
    return max(0.0, min(across, down))


def place_labels(
    a: Place, b: Place, boxes: tuple[Rectangle, Rectangle], sizes: Sequence[tuple[float, float]]
) -> list[Place | None]:
    """Middles of the labels at a, at b and between; None for one that has no room (width 0 means there is no label)."""
    length = math.hypot(b[0] - a[0], b[1] - a[1])
    if length < 1:
        return [None, None, None]
    ux, uy = (b[0] - a[0]) / length, (b[1] - a[1]) / length

    def reach(size: tuple[float, float]) -> float:
        """Half of what a label of that size takes of the link."""
        across = math.inf if abs(ux) < 1e-9 else size[0] / 2 / abs(ux)
        down = math.inf if abs(uy) < 1e-9 else size[1] / 2 / abs(uy)
        return min(across, down) + GAP / 2

    from_a = clear_distance(a, (ux, uy), boxes[0], sizes[0])
    from_b = length - clear_distance(b, (-ux, -uy), boxes[1], sizes[1])
    places: list[Place | None] = [None, None, None]
    if from_a + reach(sizes[0]) <= from_b - reach(sizes[1]):
        spots = [from_a, from_b]
        for i, at in enumerate(spots):
            if sizes[i][0]:
                places[i] = (a[0] + ux * at, a[1] + uy * at)
    first = from_a + (reach(sizes[0]) if places[0] else 0)
    last = from_b - (reach(sizes[1]) if places[1] else 0)
    if sizes[2][0]:
        middle = (first + last) / 2
        if last - first >= 2 * reach(sizes[2]):
            places[2] = (a[0] + ux * middle, a[1] + uy * middle)
        else:
            # Beside the line, on the upper side; to the right of one that stands upright.
            nx, ny = (uy, -ux) if ux > 0 or (ux == 0 and uy > 0) else (-uy, ux)
            away = abs(nx) * sizes[2][0] / 2 + abs(ny) * (sizes[2][1] / 2) + sizes[0][1] / 2 + GAP
            places[2] = (a[0] + ux * middle + nx * away, a[1] + uy * middle + ny * away)
    return places
