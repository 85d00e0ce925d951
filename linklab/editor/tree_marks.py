# SPDX-License-Identifier: BSD-3-Clause
"""A mark at each end of a link that the spanning tree keeps from forwarding, while the network runs.

A blocked port has a filled disc with a cross, a port that listens or learns a ring with a dot: told by its shape, not
by its colour alone. The mark sits on the line, near the node whose port it is, where it hides no label.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from linklab.editor.canvas import Drawing
from linklab.editor.labels import length_of, point_at
from linklab.editor.lanes import Path, Spot
from linklab.editor.network_state import BLOCKING, LinkState
from linklab.editor.scene import DrawingScene
from linklab.editor.surface import Rectangle

TREE_TAG = "tree"
RADIUS, LEAST_RADIUS = 8.0, 4.0
"""In the drawing's pixels, and in those of the window, below which a cross is a blot."""
AWAY, STEP = 4.0, 4.0
"""From the icon, and to the next place along the line, in the drawing's pixels."""
FARTHEST = 0.45
"""Share of the line; beyond its middle the mark would seem to belong to the other end."""


def draw_marks(drawing: Drawing, links: Mapping[int, LinkState]) -> None:
    """Draw the marks of these links, by their places in the file, and no others."""
    drawing.delete(TREE_TAG)
    for place, spots in mark_spots(drawing.scene, links, drawing.beside.switches.values()).items():
        for state, spot in spots:
            _draw(drawing, f"{TREE_TAG}{place}", state, spot)


def mark_radius(scene: DrawingScene) -> float:
    """The radius of a mark on the canvas."""
    return max(LEAST_RADIUS * scene.style.scale, RADIUS * scene.style.factor)


def mark_spots(
    scene: DrawingScene, links: Mapping[int, LinkState], avoided: Iterable[Rectangle] = ()
) -> dict[int, list[tuple[str, Spot]]]:
    """For each link with a waiting end, (state, middle of its mark) of each such end."""
    waiting = {place: link for place, link in links.items() if link.up and any(link.waiting)}
    if not waiting:
        return {}
    labels = [box for place in range(len(scene.paths)) for box in scene.label_boxes(place)]
    taken = [*labels, *scene.names.values(), *avoided]
    found: dict[int, list[tuple[str, Spot]]] = {}
    for place, link in waiting.items():
        path = scene.paths[place] if place < len(scene.paths) else None
        if path is not None:
            ways = (path, _reversed(path))
            ends = [(state, _spot(scene, way, taken)) for state, way in zip(link.waiting, ways, strict=True) if state]
            found[place] = ends
    return found


def _spot(scene: DrawingScene, path: Path, taken: list[Rectangle]) -> Spot:
    """The first clear place along the line from its beginning, else the nearest one to the node."""
    factor, radius = scene.style.factor, mark_radius(scene)
    first, last = scene.half + radius + AWAY * factor, length_of(path) * FARTHEST
    spots = [point_at(path, min(first, last))[:2]]
    while (first := first + STEP * factor) < last:
        spots.append(point_at(path, first)[:2])
    clear = (at for at in spots if not any(Rectangle.around(*at, 2 * radius, 2 * radius).meets(box) for box in taken))
    return next(clear, spots[0])


def _reversed(path: Path) -> Path:
    pairs = list(zip(path[::2], path[1::2], strict=True))
    return tuple(each for pair in reversed(pairs) for each in pair)


def _draw(drawing: Drawing, tag: str, state: str, spot: Spot) -> None:
    palette, (x, y), radius = drawing.look.palette, spot, mark_radius(drawing.scene)
    is_blocked, tags = state == BLOCKING, (TREE_TAG, tag)
    width = max(1.5, radius * 0.28)
    fill, outline = (palette.warn, palette.canvas) if is_blocked else (palette.canvas, palette.warn)
    corners = (x - radius, y - radius, x + radius, y + radius)
    drawing.create_oval(*corners, fill=fill, outline=outline, width=width, tags=tags)
    if is_blocked:
        arm = radius * 0.45
        for sign in (1, -1):
            drawing.create_line(
                x - arm, y - sign * arm, x + arm, y + sign * arm, fill=palette.canvas, width=width, tags=tags
            )
    else:
        dot = radius * 0.3
        drawing.create_oval(x - dot, y - dot, x + dot, y + dot, fill=palette.warn, outline="", tags=tags)
