# SPDX-License-Identifier: BSD-3-Clause
"""Coordinates for every node of a drawing, for Edit > Lay Out, imports, and templates.

The backbone (all nodes but end hosts) is laid out as a row, a ring, a tree, or layers such as a fat tree's if it is
one; otherwise springs pull it apart. End hosts stand around their switch, or in a block if they are many. Pure and
deterministic. Springs after Fruchterman and Reingold, "Graph drawing by force-directed placement" (1991);
the order within a layer by barycentres, Sugiyama et al. (1981).
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from linklab.topology.drawn import DrawnNetwork

Place = tuple[float, float]
Places = dict[str, Place]
Edges = Mapping[str, Sequence[str]]
"""Neighbours of each node, each once, in the order of the links."""

STEP_X, STEP_Y = 100.0, 110.0
"""Between neighbours: room for a name and an address below each."""
MARGIN = 80.0
SPREAD = 200.0
"""Between switches that have hosts around them."""
MOST_IN_A_ROW = 8
CIRCLE = range(5, 25)
"""How many end hosts stand in a circle around their only switch."""
MOST_SPRINGS = 80
"""Largest backbone, in nodes, that springs lay out: their time grows with the square."""
ROUNDS = 150
SWEEPS = 4


@dataclass
class _Piece:
    """One connected part: its backbone, in the order of the file, and the end hosts of each node of it."""

    core: list[str]
    edges: dict[str, list[str]]
    leaves: dict[str, list[str]] = field(default_factory=dict)


def arranged(network: DrawnNetwork) -> Places:
    """Coordinates in the drawing's pixels for each node and controller, on a grid of 5."""
    hosts = {host.name for host in network.hosts}
    edges = _edges(network)
    places: Places = {}
    left, top, lowest, widest = 0.0, 0.0, 0.0, 0.0
    for piece in _pieces(edges, hosts):
        found = _placed(piece)
        x0, y0, x1, y1 = _bounds(found)
        if left and left + x1 - x0 > max(1400.0, widest):
            left, top = 0.0, lowest + STEP_Y
        widest = max(widest, x1 - x0)
        places |= {name: (x - x0 + left, y - y0 + top) for name, (x, y) in found.items()}
        left += x1 - x0 + 1.5 * STEP_X
        lowest = max(lowest, top + y1 - y0)
    if controllers := [controller.name for controller in network.all_controllers]:
        x0, _, x1, _ = _bounds(places)
        middle = (x0 + x1) / 2
        row = {name: (middle + x, 0.0) for name, x in zip(controllers, _spread(len(controllers)), strict=True)}
        places = {name: (x, y + STEP_Y) for name, (x, y) in places.items()} | row
    x0, y0, _, _ = _bounds(places)
    return {name: (_round(x - x0 + MARGIN), _round(y - y0 + MARGIN)) for name, (x, y) in places.items()}


def beside(
    network: DrawnNetwork, names: Sequence[str], known: Mapping[str, Place], wanted: Mapping[str, Place] | None = None
) -> Places:
    """Free places for these nodes, each near where it is wanted, else near its neighbours among `known`."""
    edges = _edges(network)
    taken = {(round(x / STEP_X), round(y / STEP_Y)) for x, y in known.values()}
    found: Places = {}
    reached: dict[tuple[int, int], tuple[int, int]] = {}
    lowest = max((y for _, y in known.values()), default=0.0)
    for name in names:
        near = [known.get(other) or found[other] for other in edges.get(name, ()) if other in known or other in found]
        if wanted and name in wanted:
            x, y = wanted[name]
        elif near:
            x, y = sum(p[0] for p in near) / len(near), sum(p[1] for p in near) / len(near) + STEP_Y
        else:
            x, y = MARGIN, lowest + STEP_Y
        start = round(x / STEP_X), round(y / STEP_Y)
        ring, row = reached.get(start, (0, start[1]))
        while (column := start[0] + ((ring + 1) // 2 if ring % 2 else -ring // 2), row) in taken:
            ring, row = (ring + 1, row) if ring < 2 * MOST_IN_A_ROW else (0, row + 1)
        reached[start] = (ring, row)
        taken.add((column, row))
        found[name] = (column * STEP_X, row * STEP_Y)
    return found


def _round(value: float) -> float:
    return float(round(value / 5) * 5)


def _spread(count: int, step: float = STEP_X) -> list[float]:
    """Evenly spaced coordinates around 0."""
    return [(i - (count - 1) / 2) * step for i in range(count)]


def _bounds(places: Mapping[str, Place]) -> tuple[float, float, float, float]:
    xs, ys = [x for x, _ in places.values()] or [0.0], [y for _, y in places.values()] or [0.0]
    return min(xs), min(ys), max(xs), max(ys)


def _edges(network: DrawnNetwork) -> dict[str, list[str]]:
    found: dict[str, dict[str, None]] = {node.name: {} for node in network.nodes}
    for link in network.links:
        if link.src in found and link.dest in found and link.src != link.dest:
            found[link.src][link.dest] = None
            found[link.dest][link.src] = None
    return {name: list(others) for name, others in found.items()}


def _pieces(edges: Edges, hosts: set[str]) -> list[_Piece]:
    """Connected parts, the largest first; all nodes without a link are one part at the end."""
    seen: set[str] = set()
    place = {name: i for i, name in enumerate(edges)}
    pieces, alone = [], []
    for first in edges:
        if first in seen:
            continue
        if not edges[first]:
            alone.append(first)
            continue
        reached = _reached(edges, first)
        seen.update(reached)
        members = [name for name in reached if name not in hosts or len(edges[name]) > 1]
        core = set(members) or {reached[0]}
        piece = _Piece(sorted(core, key=place.__getitem__), {})
        piece.edges = {name: [other for other in edges[name] if other in core] for name in piece.core}
        piece.leaves = {name: [other for other in edges[name] if other not in core] for name in piece.core}
        pieces.append(piece)
    pieces.sort(key=lambda piece: -len(piece.core) - sum(map(len, piece.leaves.values())))
    if alone:
        pieces.append(_Piece(alone[:1], {alone[0]: []}, {alone[0]: alone[1:]}))
    return pieces


def _reached(edges: Edges, first: str) -> list[str]:
    """All nodes that can be reached from a node, nearest first."""
    order, waiting, seen = [], deque([first]), {first}
    while waiting:
        name = waiting.popleft()
        order.append(name)
        for other in edges[name]:
            if other not in seen:
                seen.add(other)
                waiting.append(other)
    return order


def _placed(piece: _Piece) -> Places:
    """Places of a connected part, relative to any origin."""
    degrees = [len(others) for others in piece.edges.values()]
    count, links = len(piece.core), sum(degrees) // 2
    if links == count - 1 and max(degrees) <= 2:
        return _row(piece)
    if links == count and set(degrees) == {2}:
        return _ring(piece)
    if links == count - 1:
        return _tree(piece)
    ranks = _ranks(piece)
    layered = all(abs(ranks[one] - ranks[other]) == 1 for one, others in piece.edges.items() for other in others)
    if layered or count > MOST_SPRINGS:
        return _layers(piece, ranks)
    return _springs(piece)


def _row(piece: _Piece) -> Places:
    """A line of switches; hosts of its ends stand beside them, those between below."""
    if len(piece.core) == 1 and len(leaves := piece.leaves[piece.core[0]]) in CIRCLE:
        radius = max(1.6 * STEP_Y, len(leaves) * STEP_X / (2 * math.pi))
        angles = [2 * math.pi * i / len(leaves) - math.pi / 2 for i in range(len(leaves))]
        around = {leaf: (radius * math.cos(a), radius * math.sin(a)) for leaf, a in zip(leaves, angles, strict=True)}
        return {piece.core[0]: (0.0, 0.0), **around}
    ends = [name for name in piece.core if len(piece.edges[name]) < 2]
    order = [ends[0]]
    before = ""
    while following := [other for other in piece.edges[order[-1]] if other != before]:
        before = order[-1]
        order.append(following[0])
    if order[0] != min(order[0], order[-1], key=piece.core.index):
        order.reverse()
    places: Places = {}
    x = 0.0
    for i, name in enumerate(order):
        half = _width(len(piece.leaves[name])) / 2 if 0 < i < len(order) - 1 or len(order) == 1 else 0.0
        x += half
        places[name] = (x, 0.0)
        leaves = piece.leaves[name]
        if len(order) > 1 and i in (0, len(order) - 1) and len(leaves) <= 2 * MOST_IN_A_ROW:
            away = -1.5 * STEP_X if i == 0 else 1.5 * STEP_X
            for leaf, y in zip(leaves, _spread(len(leaves)), strict=True):
                places[leaf] = (x + away, y)
        else:
            places |= _block(leaves, x, STEP_Y)
        if i + 1 < len(order):
            inner = 0 < i + 1 < len(order) - 1
            ahead = _width(len(piece.leaves[order[i + 1]])) / 2 if inner else 0.0
            x += max(SPREAD - half - ahead, STEP_X - half, 0.0) + half
    return places


def _width(leaves: int) -> float:
    return max(1, min(leaves, _columns(leaves))) * STEP_X


def _columns(leaves: int) -> int:
    return leaves if leaves <= MOST_IN_A_ROW else max(MOST_IN_A_ROW, math.ceil(math.sqrt(1.5 * leaves)))


def _block(leaves: Sequence[str], x: float, y: float) -> Places:
    """End hosts in rows below a place."""
    columns = max(1, _columns(len(leaves)))
    found: Places = {}
    for row in range(0, len(leaves), columns):
        some = leaves[row : row + columns]
        for leaf, at in zip(some, _spread(len(some)), strict=True):
            found[leaf] = (x + at, y + row // columns * STEP_Y)
    return found


def _ring(piece: _Piece) -> Places:
    """A circle of switches, hosts outside it."""
    order = [piece.core[0], piece.edges[piece.core[0]][0]]
    while len(order) < len(piece.core):
        order.append(next(other for other in piece.edges[order[-1]] if other != order[-2]))
    radius = max(SPREAD, SPREAD * 0.7 / (2 * math.sin(math.pi / len(order))))
    places: Places = {}
    for i, name in enumerate(order):
        angle = 2 * math.pi * i / len(order) - math.pi / 2
        places[name] = (radius * math.cos(angle), radius * math.sin(angle))
        places |= _fan(piece.leaves[name], places[name], angle)
    return places


def _fan(leaves: Sequence[str], at: Place, angle: float) -> Places:
    """End hosts around a place, in a direction; further rows further out."""
    found: Places = {}
    done, ring = 0, 1
    while done < len(leaves):
        away = ring * 1.3 * STEP_X
        room = max(1, int(math.pi * 0.8 * away / STEP_X))
        some = leaves[done : done + room]
        step = min(STEP_X / away, 0.9)
        for leaf, off in zip(some, _spread(len(some), step), strict=True):
            found[leaf] = (at[0] + away * math.cos(angle + off), at[1] + away * math.sin(angle + off))
        done, ring = done + len(some), ring + 1
    return found


def _tree(piece: _Piece) -> Places:
    """Rows from the middle of the tree down, each node above its own."""
    order = _reached(piece.edges, _middle(piece))
    children: dict[str, list[str]] = {name: [] for name in order}
    depth = {order[0]: 0}
    for name in order:
        for other in piece.edges[name]:
            if other not in depth:
                depth[other] = depth[name] + 1
                children[name].append(other)
    wide: dict[str, float] = {}
    for name in reversed(order):
        leaves = piece.leaves[name]
        wide[name] = sum(wide[child] for child in children[name]) + (_width(len(leaves)) if leaves else 0.0)
        wide[name] = max(wide[name], STEP_X)
    left = {order[0]: 0.0}
    places: Places = {}
    for name in order:
        y = depth[name] * STEP_Y * 1.2
        places[name] = (left[name] + wide[name] / 2, y)
        at = left[name]
        for child in children[name]:
            left[child] = at
            at += wide[child]
        if leaves := piece.leaves[name]:
            places |= _block(leaves, at + _width(len(leaves)) / 2, y + STEP_Y * 1.2)
    return places


def _middle(piece: _Piece) -> str:
    """The centre of a tree: the node that is left when its leaves are removed again and again."""
    degrees = {name: len(others) for name, others in piece.edges.items()}
    ends = [name for name in piece.core if degrees[name] <= 1]
    left = len(piece.core)
    while left > 2:
        left -= len(ends)
        following = []
        for name in ends:
            degrees[name] = 0
            for other in piece.edges[name]:
                degrees[other] -= 1
                if degrees[other] == 1:
                    following.append(other)
        ends = following or ends
        if not following:
            break
    return min(ends, key=piece.core.index)


def _ranks(piece: _Piece) -> dict[str, int]:
    """How far each node of the backbone is from the nearest end host, which has 0."""
    ranks = {name: 1 for name in piece.core if piece.leaves[name]} or {piece.core[0]: 1}
    waiting = deque(ranks)
    while waiting:
        name = waiting.popleft()
        for other in piece.edges[name]:
            if other not in ranks:
                ranks[other] = ranks[name] + 1
                waiting.append(other)
    return ranks


def _layers(piece: _Piece, ranks: Mapping[str, int]) -> Places:
    """Rows by rank, the hosts lowest; each row in the order of its neighbours' middles."""
    highest = max(ranks.values())
    rows: list[list[str]] = [[] for _ in range(highest + 1)]
    for name in piece.core:
        rows[ranks[name]].append(name)
    rows = [row for row in rows[1:] if row]
    at = {name: float(i) for row in rows for i, name in enumerate(row)}
    for sweep in range(SWEEPS):
        for row in rows if sweep % 2 else reversed(rows):
            middles = {
                name: sum(at[other] for other in piece.edges[name]) / max(1, len(piece.edges[name])) for name in row
            }
            row.sort(key=lambda name: (middles[name], at[name]))
            at |= {name: float(i) * len(rows[0]) / len(row) for i, name in enumerate(row)}
    widths = [_width(len(piece.leaves[name])) for name in rows[0]]
    total = max(sum(widths), *(len(row) * STEP_X for row in rows))
    places: Places = {}
    for rank, row in enumerate(rows):
        y = (len(rows) - 1 - rank) * STEP_Y * 1.3
        shares = widths if rank == 0 else [1.0] * len(row)
        x, unit = 0.0, total / sum(shares)
        for name, share in zip(row, shares, strict=True):
            places[name] = (x + share * unit / 2, y)
            x += share * unit
            places |= _block(piece.leaves[name], places[name][0], y + STEP_Y * 1.3)
    return places


def _springs(piece: _Piece) -> Places:
    """The backbone pulled apart by springs, hosts on the outer side."""
    names = piece.core
    count = len(names)
    number = {name: i for i, name in enumerate(names)}
    joined = [
        (number[one], number[other]) for one in names for other in piece.edges[one] if number[one] < number[other]
    ]
    length = SPREAD
    at = [
        [length * math.cos(2 * math.pi * i / count) * count / 4, length * math.sin(2 * math.pi * i / count) * count / 4]
        for i in range(count)
    ]
    for turn in range(ROUNDS):
        push = [[0.0, 0.0] for _ in names]
        for i in range(count):
            for j in range(i):
                _push(push, at, i, j, lambda d: length * length / d)
        for i, j in joined:
            _push(push, at, i, j, lambda d: -d * d / length)
        most = length * (1 - turn / ROUNDS)
        for place, (dx, dy) in zip(at, push, strict=True):
            size = math.hypot(dx, dy) or 1.0
            place[0] += dx / size * min(size, most)
            place[1] += dy / size * min(size, most)
    middle = [sum(place[axis] for place in at) / count for axis in (0, 1)]
    places: Places = {}
    for name, (x, y) in zip(names, at, strict=True):
        places[name] = (x, y)
        places |= _fan(piece.leaves[name], (x, y), math.atan2(y - middle[1], x - middle[0]))
    return places


def _push(push: list[list[float]], at: list[list[float]], i: int, j: int, force: Callable[[float], float]) -> None:
    """Add the force between two nodes, along the line between them."""
    dx, dy = at[i][0] - at[j][0], at[i][1] - at[j][1]
    distance = max(math.hypot(dx, dy), 1.0)
    strength = force(distance) / distance
    push[i][0] += dx * strength
    push[i][1] += dy * strength
    push[j][0] -= dx * strength
    push[j][1] -= dy * strength
