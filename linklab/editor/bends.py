# SPDX-License-Identifier: BSD-3-Clause
"""How far aside a line runs that would otherwise run through the icon of a third node; plain geometry.

Units are the drawing's own pixels at any zoom, so that the window and every picture bend the same lines alike.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from linklab.editor.lanes import LANE, Path, Spot, path_of
from linklab.editor.surface import Occupied, Rectangle

MOST_EFFORT = 120_000
"""Comparisons up to which ways around are looked for, about 0.3 s; in a thicket of lines none would help."""
Key = int | str
HALF, AIR = 20.0, 6.0
"""Half of an icon's side, and the air that a line keeps which runs around it."""
SHOULDER = 1.8
"""From a node's middle to where its line begins to run aside, in halves of an icon."""
FIRST, STEP, TRIES = 32.0, 14.0, 10
"""The least that a line runs aside, and how much further each next try is; on one side, then on the other."""
MOST_ASIDE = 0.25
"""In lengths of the line from node to node."""
TOGETHER = 10.0
"""Nearer than this, two lines that run the same way look like one."""


@dataclass(frozen=True)
class Way:
    """All that join two nodes: their names, and how many lie side by side."""

    a: str
    b: str
    count: int = 1


def bends_of(lines: Mapping[Key, Way], spots: Mapping[str, Spot]) -> dict[Key, float]:
    """How far aside, to the right of the way from a to b, the innermost of each runs; those that run straight lack.

    A line that would run through an icon on whichever side stays straight.
    """
    icons, airy, taken = _icons(spots, HALF), _icons(spots, HALF + AIR), Occupied()
    struck: list[Key] = []
    for key, line in lines.items():
        a, b = spots[line.a], spots[line.b]
        if _hits(icons, _straight(a, b, line.count), _own(a, b, HALF)):
            struck.append(key)
        else:
            taken.add_line(key, (*a, *b))
    found: dict[Key, float] = {}
    # The shortest first: they stay inside, and the longer ones run around them.
    for key in sorted(struck, key=lambda key: math.dist(spots[lines[key].a], spots[lines[key].b])):
        a, b, count = spots[lines[key].a], spots[lines[key].b], lines[key].count
        best, least = 0.0, math.inf
        for aside in _asides(a, b):
            if airy.effort + taken.effort > MOST_EFFORT:
                break
            paths = _both(a, b, aside, count)
            if not _hits(airy, paths, _own(a, b, HALF + AIR)):
                together = sum(_run_together(taken, path) for path in paths)
                if together < least:
                    best, least = aside, together
                if not together:
                    break
        if best:
            found[key] = best
        for path in _both(a, b, best, count):
            taken.add_line(key, path)
    return found


def bent(a: Spot, b: Spot, aside: float, half: float = HALF) -> Path:
    """The line from a to b that runs so far aside; half: of an icon's side in the units of the rest."""
    return path_of(a, b, 1.0, aside, max(SHOULDER * half, abs(aside) * 0.8)) if aside else (*a, *b)


def outermost(aside: float, count: int) -> float:
    """How far aside the last of several lines runs whose first runs so far."""
    return aside + math.copysign((count - 1) * LANE, aside)


def _both(a: Spot, b: Spot, aside: float, count: int) -> list[Path]:
    """The innermost and the outermost of several lines, of which the first runs so far aside."""
    return [bent(a, b, each) for each in ({aside} if count == 1 else {aside, outermost(aside, count)})]


def _straight(a: Spot, b: Spot, count: int) -> list[Path]:
    reach = (count - 1) / 2 * LANE
    return [bent(a, b, reach), bent(a, b, -reach)] if reach else [(*a, *b)]


def _asides(a: Spot, b: Spot) -> list[float]:
    """What is tried: above a level line rather than below, where the names are, unless that takes a step more."""
    above = -1.0 if (b[0] - a[0], b[1] - a[1]) > (0.0, 0.0) else 1.0
    most = max(FIRST, math.dist(a, b) * MOST_ASIDE)
    tries = [(FIRST + i * STEP, side) for i in range(TRIES) for side in (above, -above) if FIRST + i * STEP <= most]
    return [away * side for away, side in sorted(tries, key=lambda each: each[0] + (each[1] != above) * 1.5 * STEP)]


def _icons(spots: Mapping[str, Spot], half: float) -> Occupied:
    found = Occupied()
    for x, y in spots.values():
        found.add_box(Rectangle.around(x, y, 2 * half, 2 * half))
    return found


def _own(a: Spot, b: Spot, half: float) -> set[Rectangle]:
    return {Rectangle.around(x, y, 2 * half, 2 * half) for x, y in (a, b)}


def _hits(icons: Occupied, paths: list[Path], own: set[Rectangle]) -> bool:
    """Whether an icon lies in the way of these, both ends' own left out."""
    return any(icons.boxes_on(path) - own for path in paths)


def _run_together(taken: Occupied, path: Path) -> int:
    """How many lines lie on the middle part of this one or close beside it."""
    ax, ay, bx, by = path[2:6]
    length = math.dist((ax, ay), (bx, by))
    if length < 1:
        return 0
    ux, uy = (bx - ax) / length, (by - ay) / length
    count = 0
    for _, cx, cy, dx, dy in taken.lines_near(path[2:6]):
        ends = [((x - ax) * ux + (y - ay) * uy, (y - ay) * ux - (x - ax) * uy) for x, y in ((cx, cy), (dx, dy))]
        is_near = all(abs(across) < TOGETHER for _, across in ends)
        low, high = sorted(along for along, _ in ends)
        count += is_near and min(high, length) - max(low, 0.0) > TOGETHER
    return count
