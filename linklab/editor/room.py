# SPDX-License-Identifier: BSD-3-Clause
"""Where copies find room: the smallest shift of a piece that puts none of its nodes on one that is drawn. Pure."""

from __future__ import annotations

import math
from collections.abc import Sequence

from linklab.editor.decorations import BACKGROUND, decorations
from linklab.editor.document import everyone
from linklab.editor.edits import position
from linklab.topology import Topology

CLEAR = (110.0, 80.0)
"""Nodes that are at least so far apart, across or down, do not lie on each other's names."""
STEP = 50
MOST_TRIED = 200_000
Place = tuple[float, float]


def shift_for(topology: Topology, piece: Topology) -> Place:
    """How far to move what is in `piece`, in the drawing's pixels; (0, 0) where it has room as it is.

    Frames and notes move with the nodes; without any, they have room where none begins near them.
    """
    spots = _spots_of_nodes if everyone(piece) else _spots_of_decorations
    taken, wanted = spots(topology), spots(piece)
    if not taken or not wanted:
        return 0.0, 0.0
    cells = _cells(taken)
    across = max(x for x, _ in taken) - min(x for x, _ in wanted) + CLEAR[0]
    below = max(y for _, y in taken) - min(y for _, y in wanted) + CLEAR[1]
    places = [
        (float(dx), float(dy))
        for dx in range(0, max(STEP, int(across)) + STEP, STEP)
        for dy in range(0, max(STEP, int(below)) + STEP, STEP)
    ]
    places.sort(key=lambda place: (math.hypot(*place), place))
    for place in places[: max(1, MOST_TRIED // len(wanted))]:
        if all(_is_clear(cells, x + place[0], y + place[1]) for x, y in wanted):
            return place
    return 0.0, math.ceil(below / STEP) * float(STEP)


def _spots_of_nodes(topology: Topology) -> list[Place]:
    return [position(node) for node in everyone(topology)]


def _spots_of_decorations(topology: Topology) -> list[Place]:
    return [(each.x, each.y) for each in decorations(topology).values() if each.key != BACKGROUND]


def _cells(taken: Sequence[Place]) -> dict[tuple[int, int], list[Place]]:
    found: dict[tuple[int, int], list[Place]] = {}
    for x, y in taken:
        found.setdefault((math.floor(x / CLEAR[0]), math.floor(y / CLEAR[1])), []).append((x, y))
    return found


def _is_clear(cells: dict[tuple[int, int], list[Place]], x: float, y: float) -> bool:
    column, row = math.floor(x / CLEAR[0]), math.floor(y / CLEAR[1])
    near = (p for i in (-1, 0, 1) for j in (-1, 0, 1) for p in cells.get((column + i, row + j), ()))
    return all(abs(x - px) >= CLEAR[0] or abs(y - py) >= CLEAR[1] for px, py in near)
