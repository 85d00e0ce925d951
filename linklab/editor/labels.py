# SPDX-License-Identifier: BSD-3-Clause
"""Where names, addresses and port names go so that no line runs through them and none lies on another; geometry.

A port's name may sit on its own line, which it covers; every other line is avoided. Units are canvas pixels, y down.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Collection, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from linklab.editor.lanes import Path, Spot, corners
from linklab.editor.surface import Occupied, Rectangle

GAP = 8.0
STEP = 7.0
"""How far on the next place along a line is tried."""
TRIES = 24
AWAY = 4.0
"""Between an icon and its name: the frame of a selected one goes there."""
SIDE = 3.0
"""Between a line and a label beside it."""
NODE = 3
"""How much `Occupied.in_the_way` counts for a node or a label; up to two lines less than that are tolerated."""
Size = tuple[float, float]


@dataclass(frozen=True)
class Near:
    """A place at a line: whether the short form has it, and where on the line a thing belongs that is further off."""

    box: Rectangle
    is_short: bool = False
    foot: Spot | None = None


Places = Iterable[tuple[Rectangle, tuple[float, float, float, float]]]


def place_name(surface: Occupied, x: float, y: float, half: float, size: Size) -> tuple[Rectangle, int]:
    """The place of a node's name and address: below its icon where nothing is in the way, else around it.

    And how much is in the way there after all.
    """
    wide, high = size
    out = half + AWAY
    below, above = y + out + high / 2, y - out - high / 2
    right, left = x + out + wide / 2, x - out - wide / 2
    beside = out + wide / 2
    spots = (
        (x, below),
        (x, above),
        (right, y),
        (left, y),
        (x + beside, below - high / 2),
        (x - beside, below - high / 2),
        (x + beside, above + high / 2),
        (x - beside, above + high / 2),
    )
    return surface.choose([Rectangle.around(at_x, at_y, wide, high) for at_x, at_y in spots])


def place_title(surface: Occupied, owner: Hashable, frame: Rectangle, size: Size, gap: float) -> Rectangle:
    """The place of a frame's title on its edge: at the left above, unless something is in the way there."""
    wide, high = size
    room = max(0.0, frame.x1 - frame.x0 - 2 * gap - wide)
    steps = [gap + i * STEP for i in range(int(room / STEP) + 1)]
    places = [
        Rectangle(frame.x0 + step, y - high / 2, frame.x0 + step + wide, y + high / 2)
        for y in (frame.y0, frame.y1)
        for step in steps
    ]
    best = _best(surface, places, owner, math.inf)
    assert best is not None
    surface.add_box(best)
    return best


def place_ports(
    surface: Occupied, owner: Hashable, path: Path, icons: Sequence[Rectangle], *choices: Sequence[Size]
) -> tuple[int, list[Spot | None]]:
    """Middles of the labels at both ends of a line; None for a label without room, and for one of width 0.

    icons: of the nodes at both ends; choices: sizes of both labels, those that are wanted most first. The first for
    which there is room for both is taken, else the last; the number that comes first says which.
    """
    which, found = 0, list[Rectangle | None]()
    for which, sizes in enumerate(choices):  # noqa: B007 - the last one tried is the answer
        # On a short line there is room for both only if they lie on either side of it.
        tries = (_ends(surface, owner, path, [*zip(icons, sizes, strict=True)], on_line) for on_line in (True, False))
        found = next(tries)
        if _lacking(found, sizes) and _lacking(other := next(tries), sizes) < _lacking(found, sizes):
            found = other
        if not _lacking(found, sizes):
            break
    for box in found:
        if box is not None:
            surface.add_box(box)
    return which, [None if box is None else ((box.x0 + box.x1) / 2, (box.y0 + box.y1) / 2) for box in found]


def _lacking(found: Sequence[Rectangle | None], sizes: Sequence[Size]) -> int:
    """How many labels have no place."""
    return sum(1 for box, (wide, _) in zip(found, sizes, strict=True) if wide and box is None)


def _ends(
    surface: Occupied, owner: Hashable, path: Path, ends: Sequence[tuple[Rectangle, Size]], is_on_line: bool
) -> list[Rectangle | None]:
    """Where the labels at both ends could lie, by the icons there and the labels' sizes; nothing is taken yet."""
    length = length_of(path)
    found: list[Rectangle | None] = []
    for i, way in enumerate((path, _back(path))):
        icon, size = ends[i]
        places: Iterable[Rectangle] = ()
        if size[0] and length > 1:
            kept_clear = [ends[1 - i][0], *(box for box in found if box is not None)]
            along = _along(way, icon, size, length * 0.5, is_on_line)
            places = (box for box in along if not any(box.meets(other) for other in kept_clear))
        found.append(_best(surface, places, owner, NODE))
    return found


def place_ports_alone(path: Path, boxes: Sequence[Rectangle], sizes: Sequence[Size]) -> list[Spot | None]:
    """As `place_ports`, on the line and with regard to the link's own nodes alone; `boxes` hold their names too."""
    half = length_of(path) / 2
    found: list[Spot | None] = [None, None]
    for i, way in enumerate((path, _back(path))):
        if sizes[i][0]:
            at = clear_of(way, boxes[i], sizes[i])
            x, y, ux, uy = point_at(way, at)
            if at + abs(ux) * sizes[i][0] / 2 + abs(uy) * sizes[i][1] / 2 < half:
                found[i] = (x, y)
    return found


def place_rate(surface: Occupied, owner: Hashable, path: Path, size: Size) -> Spot | None:
    """The middle of the label of rate and delay: on the line, as near to its middle as can be, else beside it."""
    length = length_of(path)
    if not size[0] or length < 1:
        return None
    tries = [0.0, *(sign * i * STEP for i in range(1, TRIES) for sign in (1, -1) if i * STEP < length * 0.3)]
    spots = [point_at(path, length / 2 + each) for each in tries]
    on_line = [Rectangle.around(x, y, *size) for x, y, _, _ in spots]
    beside = [box for away in (SIDE, size[1]) for spot in spots[:9] for box in _beside(spot, size, away)]
    return _taken(surface, [*on_line, *beside], owner)


def place_beside(
    surface: Occupied, owner: Hashable, path: Path, size: Size, factor: float, *, always: bool = False, enough: int = 0
) -> Rectangle | None:
    """A place beside a line, as near to its middle as can be, for something that must not lie on the line itself.

    factor: canvas pixels for one of the drawing's; enough: other lines in the way that do no harm. None where there is
    no room, unless it is to have a place always.
    """
    length, step = length_of(path), STEP * max(1.0, factor)
    if length < 1:
        return None
    tries = [0.0, *(sign * i * step for i in range(1, TRIES) for sign in (1, -1) if i * step < length * 0.4)]
    spots = [point_at(path, length / 2 + each) for each in tries]
    places = (
        box
        for away in (SIDE + i * step for i in (0, 2, 4, 7, 10))
        for spot in spots
        for box in _beside(spot, size, away)
    )
    best = _best(surface, places, owner, math.inf if always else NODE, enough)
    if best is not None:
        surface.add_box(best)
    return best


def place_near(
    surface: Occupied, owner: Hashable, path: Path, sizes: tuple[Size, Size], own: Collection[Rectangle]
) -> Near | None:
    """A free place at a line for one of two forms of a thing, whole or short; None where there is none.

    The whole beside the line or a little off, else the short on it or beside it, else the short further off. A line
    leads to what is off, if possible over nothing but the link's `own` labels. The place is taken.
    """
    length, step = length_of(path), max(STEP, sizes[1][1] / 2.5)
    if length < 1:
        return None
    tries = [0.0, *(sign * i * step for i in range(1, TRIES) for sign in (1, -1) if i * step < length * 0.4)]
    spots = [point_at(path, length / 2 + each) for each in tries]
    whole, short = sizes

    def beside(size: Size, steps: Iterable[float], some: Sequence[tuple[float, float, float, float]]) -> Places:
        return ((box, spot) for i in steps for spot in some for box in _beside(spot, size, SIDE + i * step))

    far = (2, 4, 6, 9, 12, 15)
    # Short or whole, whether a line must lead there, whether it may run over labels, and where.
    searches: tuple[tuple[bool, bool, bool, Places], ...] = (
        (False, False, False, beside(whole, (0, 1), spots[::2])),
        (False, True, False, beside(whole, (3, 5), spots[::3])),
        (True, False, False, ((Rectangle.around(*spot[:2], *short), spot) for spot in spots)),
        (True, False, False, beside(short, (0, 1), spots)),
        (True, True, False, beside(short, far, spots)),
        (True, True, True, beside(short, far, spots)),
    )
    for is_short, is_far, over_all, places in searches:
        least, best = NODE, None
        for box, spot in places:
            count = surface.in_the_way(box, owner, only_free=True)
            if count >= least:
                continue
            is_off = is_far or off(box, path) > SIDE + 1.5 * step
            if over_all or not (is_off and surface.boxes_on(lead(box, spot[:2])).difference(own)):
                least, best = count, Near(box, is_short, spot[:2] if is_off else None)
            if least <= is_short:  # one line below so small a label is no harm, and to look on takes long
                break
        if best is not None:
            surface.add_box(best.box)
            return best
    return None


def lead(box: Rectangle, foot: Spot) -> Path:
    """The line from a label that is further off to where it belongs."""
    return min(max(foot[0], box.x0), box.x1), min(max(foot[1], box.y0), box.y1), *foot


def off(box: Rectangle, path: Path) -> float:
    """How far a rectangle is from a line that does not run through it."""
    edges = [(box.x0, box.y0), (box.x1, box.y0), (box.x1, box.y1), (box.x0, box.y1)]
    found = math.inf
    for (ax, ay), (bx, by) in itertools.pairwise(corners(path)):
        if box.crossed_by(ax, ay, bx, by):
            return 0.0
        square = (bx - ax) ** 2 + (by - ay) ** 2 or 1.0
        for x, y in edges:
            along = min(1.0, max(0.0, ((x - ax) * (bx - ax) + (y - ay) * (by - ay)) / square))
            found = min(found, math.hypot(ax + along * (bx - ax) - x, ay + along * (by - ay) - y))
        for x, y in ((ax, ay), (bx, by)):
            found = min(found, math.hypot(max(box.x0 - x, 0.0, x - box.x1), max(box.y0 - y, 0.0, y - box.y1)))
    return found


def _taken(surface: Occupied, places: Iterable[Rectangle], owner: Hashable) -> Spot | None:
    """The middle of the place that is chosen; None where a label would lie on a node or another label."""
    best = _best(surface, places, owner, NODE)
    if best is None:
        return None
    surface.add_box(best)
    return ((best.x0 + best.x1) / 2, (best.y0 + best.y1) / 2)


def _best(
    surface: Occupied, places: Iterable[Rectangle], owner: Hashable, least: float, enough: int = 0
) -> Rectangle | None:
    """The first place with no more than `enough` in its way, else the one with the least.

    None where that is `least` or more everywhere. It is not taken yet.
    """
    best = None
    for box in places:
        count = surface.in_the_way(box, owner, only_free=least <= NODE)
        if count < least:
            best, least = box, count
        if count <= enough:
            break
    return best


def _back(path: Path) -> Path:
    return tuple(c for spot in reversed(corners(path)) for c in spot)


def _along(path: Path, icon: Rectangle, size: Size, most: float, is_on_line: bool) -> Iterator[Rectangle]:
    """Places from a node outwards: on the line first if that may be, then on either side of it."""
    first = clear_of(path, icon, size)
    distances = [first + i * STEP for i in range(TRIES) if first + i * STEP < most]
    for distance in distances if is_on_line else ():
        x, y, _, _ = point_at(path, distance)
        yield Rectangle.around(x, y, *size)
    for distance in [min(first, most), *distances[:8]]:
        yield from (box for box in _beside(point_at(path, distance), size) if not box.meets(icon))


def _beside(spot: tuple[float, float, float, float], size: Size, gap: float = SIDE) -> list[Rectangle]:
    x, y, ux, uy = spot
    away = abs(uy) * size[0] / 2 + abs(ux) * size[1] / 2 + gap
    return [Rectangle.around(x + sign * uy * away, y - sign * ux * away, *size) for sign in (1, -1)]


def clear_of(path: Path, box: Rectangle, size: Size) -> float:
    """How far along a line the middle of a label must be to lie outside `box`, with a gap."""
    left, right = box.x0 - size[0] / 2 - GAP, box.x1 + size[0] / 2 + GAP
    top, bottom = box.y0 - size[1] / 2 - GAP / 2, box.y1 + size[1] / 2 + GAP / 2
    before = 0.0
    for (ax, ay), (bx, by) in itertools.pairwise(corners(path)):
        if not (left < ax < right and top < ay < bottom):
            return before
        length = math.hypot(bx - ax, by - ay)
        if length:
            ux, uy = (bx - ax) / length, (by - ay) / length
            across = math.inf if abs(ux) < 1e-9 else ((right if ux > 0 else left) - ax) / ux
            down = math.inf if abs(uy) < 1e-9 else ((bottom if uy > 0 else top) - ay) / uy
            if min(across, down) <= length:
                return before + min(across, down)
        before += length
    return before


def point_at(path: Path, distance: float) -> tuple[float, float, float, float]:
    """The point that far along a line, and the direction there."""
    left = distance
    for at in range(0, len(path) - 2, 2):
        x0, y0, x1, y1 = path[at : at + 4]
        length = math.hypot(x1 - x0, y1 - y0)
        if left <= length or at == len(path) - 4:
            ux, uy = ((x1 - x0) / length, (y1 - y0) / length) if length else (1.0, 0.0)
            return x0 + ux * left, y0 + uy * left, ux, uy
        left -= length
    raise ValueError("a line needs two points")


def length_of(path: Path) -> float:
    """How long a line is."""
    return sum(math.dist(a, b) for a, b in itertools.pairwise(corners(path)))
