# SPDX-License-Identifier: BSD-3-Clause
"""Where the line of each link runs: straight, or beside its parallels where two nodes are joined several times.

A line is a flat tuple of coordinates, x and y by turns, from src to dest. Plain geometry; units are the caller's.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence

from linklab.topology import Link

Spot = tuple[float, float]
Path = tuple[float, ...]
LANE = 16.0
"""Between parallel lines, in the drawing's pixels, where their labels need no more."""
SHOULDER = 0.22
"""Most of a line's length that it takes to come from a node into its lane."""


def lanes_of(links: Sequence[Link]) -> list[float]:
    """The lane of each link, seen from src to dest: 0 for one alone, -0.5 and 0.5 for two, -1, 0 and 1 for three.

    The order of the file goes from one side to the other, in whichever direction each link was drawn.
    """
    pairs: dict[tuple[str, str], list[int]] = defaultdict(list)
    for place, link in enumerate(links):
        pairs[min(link.src, link.dest), max(link.src, link.dest)].append(place)
    lanes = [0.0] * len(links)
    for (first, _), places in pairs.items():
        for i, place in enumerate(places):
            lane = i - (len(places) - 1) / 2
            lanes[place] = lane if links[place].src == first else -lane
    return lanes


def path_of(a: Spot, b: Spot, lane: float, step: float, shoulder: float) -> Path:
    """The line from a to b in a lane.

    step: between lanes; shoulder: from a node's middle to where the lane begins, at most SHOULDER of the length.
    """
    length = math.hypot(b[0] - a[0], b[1] - a[1])
    if not lane or length < 1:
        return (*a, *b)
    ux, uy = (b[0] - a[0]) / length, (b[1] - a[1]) / length
    along, aside = min(shoulder, SHOULDER * length), lane * step
    return (
        *a,
        a[0] + ux * along - uy * aside,
        a[1] + uy * along + ux * aside,
        b[0] - ux * along - uy * aside,
        b[1] - uy * along + ux * aside,
        *b,
    )


def corners(path: Path) -> list[Spot]:
    """A line as its points."""
    return list(zip(path[::2], path[1::2], strict=True))


def middle(path: Path) -> Spot:
    """The point halfway along the middle part of a line."""
    at = len(path) // 4 * 2
    x0, y0, x1, y1 = path[at - 2 : at + 2]
    return (x0 + x1) / 2, (y0 + y1) / 2
