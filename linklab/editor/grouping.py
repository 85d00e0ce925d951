# SPDX-License-Identifier: BSD-3-Clause
"""Edit > Lay Out for a drawing with groups: their frames go where their nodes go; pure.

`topology.arrange` knows no groups. If its layout keeps every group together, frames are drawn anew around their nodes.
Otherwise each group is laid out by itself and then counts as one node of what is around it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from linklab.editor import decorations
from linklab.editor.decorations import Frame, Spot
from linklab.editor.document import everyone
from linklab.editor.edits import position
from linklab.editor.surface import Rectangle
from linklab.topology import Topology
from linklab.topology.arrange import STEP_X, STEP_Y, arranged
from linklab.topology.drawn import DrawnNetwork
from linklab.topology.mending import moved
from linklab.topology.parts import Link, Switch

AIR = 24.0
"""Between a frame and what is beside it."""
MARGIN = 40.0
"""From the left and the upper edge of the drawing."""
Spots = dict[str, Spot]
Boxes = dict[str, Rectangle]


@dataclass
class _Group:
    """A frame, or the drawing itself: the nodes that stand in it and in no frame of it, and the frames in it."""

    key: str
    names: list[str] = field(default_factory=list)
    groups: list[_Group] = field(default_factory=list)

    @property
    def all_names(self) -> list[str]:
        """The nodes of the groups in it too."""
        return [*self.names, *(name for group in self.groups for name in group.all_names)]


def laid_out(topology: Topology) -> Topology:
    """Every node at a new place, and every frame around the nodes that stood in it, with its notes."""
    places = arranged(topology)
    whole = _groups(topology)
    if not whole.groups:
        return moved(topology, places)
    boxes = _boxes(whole, places, decorations.WIDE)
    if not _is_kept_together(whole, places, boxes):
        boxes = _boxes(whole, places, decorations.TIGHT)
    if not _is_kept_together(whole, places, boxes):
        places, boxes = _nested(topology, whole)
        x0, y0 = min(box.x0 for box in _outlines(places, boxes)), min(box.y0 for box in _outlines(places, boxes))
        places = {name: (x - x0 + MARGIN, y - y0 + MARGIN) for name, (x, y) in places.items()}
        boxes = {key: _shifted(box, MARGIN - x0, MARGIN - y0) for key, box in boxes.items()}
    return _framed(moved(topology, places), topology, boxes)


def _groups(topology: Topology) -> _Group:
    """What stands in what: a node in the smallest frame around it, a frame in the smallest that holds all of it."""
    frames = sorted(decorations.frames(topology), key=lambda frame: frame.wide * frame.high)
    groups = {frame.key: _Group(frame.key) for frame in frames}
    whole = _Group("")
    for node in everyone(topology):
        inner = next((frame for frame in frames if frame.holds(position(node))), None)
        (groups[inner.key] if inner else whole).names.append(node.name)
    for i, frame in enumerate(frames):
        outer = next((other for other in frames[i + 1 :] if _is_in(frame, other)), None)
        (groups[outer.key] if outer else whole).groups.append(groups[frame.key])
    _drop_empty(whole)
    return whole


def _is_in(frame: Frame, other: Frame) -> bool:
    return other.holds((frame.x, frame.y)) and other.holds((frame.x + frame.wide, frame.y + frame.high))


def _drop_empty(group: _Group) -> None:
    """A frame without nodes stays where it is."""
    group.groups = [each for each in group.groups if each.all_names]
    for each in group.groups:
        _drop_empty(each)


def _boxes(group: _Group, places: Mapping[str, Spot], sides: tuple[float, float, float]) -> Boxes:
    """The frames in a group, drawn anew around nodes at these places."""
    found: Boxes = {}
    for each in group.groups:
        inner = _boxes(each, places, sides)
        found |= inner
        found[each.key] = _around([places[name] for name in each.names], [inner[one.key] for one in each.groups], sides)
    return found


def _around(
    spots: list[Spot], inner: list[Rectangle], sides: tuple[float, float, float] = decorations.WIDE
) -> Rectangle:
    boxes = [box.grown(AIR) for box in inner]
    if spots:
        (x, y), (wide, high) = decorations.around(spots, sides)
        boxes.append(Rectangle(x, y, x + wide, y + high))
    return _hull(boxes)


def _hull(boxes: Iterable[Rectangle]) -> Rectangle:
    sides = [(box.x0, box.y0, box.x1, box.y1) for box in boxes]
    x0, y0, x1, y1 = zip(*sides, strict=True)
    return Rectangle(min(x0), min(y0), max(x1), max(y1))


def _is_kept_together(group: _Group, places: Mapping[str, Spot], boxes: Boxes) -> bool:
    """Whether no frame holds what is not in its group, and none lies on one beside it."""
    inner = [boxes[each.key] for each in group.groups]
    beside = [places[name] for name in group.names]
    apart = not any(a.meets(b) for i, a in enumerate(inner) for b in inner[:i])
    clear = not any(box.meets(Rectangle.around(x, y, STEP_X / 2, STEP_Y / 2)) for box in inner for x, y in beside)
    return apart and clear and all(_is_kept_together(each, places, boxes) for each in group.groups)


def _nested(topology: Topology, group: _Group) -> tuple[Spots, Boxes]:
    """Places of a group's nodes and boxes of the frames in it, with each of these laid out by itself first."""
    inside = {each.key: _nested(topology, each) for each in group.groups}
    own = {}
    for each in group.groups:
        spots, frames = inside[each.key]
        own[each.key] = _around([spots[name] for name in each.names], [frames[inner.key] for inner in each.groups])
    rough = arranged(_outline(topology, group))
    sizes = {key: (box.x1 - box.x0 + 2 * AIR, box.y1 - box.y0 + 2 * AIR) for key, box in own.items()}
    xs = _spaced({key: at[0] for key, at in rough.items()}, {key: wide for key, (wide, _) in sizes.items()}, STEP_X)
    ys = _spaced({key: at[1] for key, at in rough.items()}, {key: high for key, (_, high) in sizes.items()}, STEP_Y)
    places: Spots = {name: (xs[name], ys[name]) for name in group.names}
    boxes: Boxes = {}
    for key, box in own.items():
        dx, dy = xs[key] - (box.x0 + box.x1) / 2, ys[key] - (box.y0 + box.y1) / 2
        places |= {name: (x + dx, y + dy) for name, (x, y) in inside[key][0].items()}
        boxes |= {each: _shifted(other, dx, dy) for each, other in inside[key][1].items()}
        boxes[key] = _shifted(box, dx, dy)
    return places, boxes


def _outline(topology: Topology, group: _Group) -> DrawnNetwork:
    """A group as a network, in which each group of it is a switch."""
    item = {name: each.key for each in group.groups for name in each.all_names} | {n: n for n in group.names}
    stand_ins = tuple(Switch(each.key, "0", "0", {"hostname": each.key}) for each in group.groups)
    ends = [(item.get(link.src), item.get(link.dest)) for link in topology.links]
    return DrawnNetwork(
        tuple(host for host in topology.hosts if host.name in group.names),
        (*stand_ins, *(switch for switch in topology.switches if switch.name in group.names)),
        tuple(Link(a, b) for a, b in ends if a is not None and b is not None and a != b),
        tuple(each for each in topology.all_controllers if each.name in group.names),
    )


def _spaced(at: Mapping[str, float], sizes: Mapping[str, float], least: float) -> dict[str, float]:
    """Coordinates in the same order, and so far apart that nothing of these sizes meets."""
    lanes: dict[float, list[str]] = {}
    for name, value in sorted(at.items(), key=lambda each: each[1]):
        lanes.setdefault(value, []).append(name)
    found: dict[str, float] = {}
    place, before, half = 0.0, min(lanes, default=0.0), 0.0
    for i, (value, names) in enumerate(lanes.items()):
        reach = max(sizes.get(name, 0.0) for name in names) / 2
        apart = (half or least / 2) + (reach or least / 2) if i and (half or reach) else 0.0
        place += max(value - before, apart)
        before, half = value, reach
        found |= dict.fromkeys(names, place)
    return found


def _outlines(places: Mapping[str, Spot], boxes: Boxes) -> list[Rectangle]:
    return [*boxes.values(), *(Rectangle.around(x, y, STEP_X, STEP_Y) for x, y in places.values())]


def _shifted(box: Rectangle, dx: float, dy: float) -> Rectangle:
    return Rectangle(box.x0 + dx, box.y0 + dy, box.x1 + dx, box.y1 + dy)


def _framed(topology: Topology, before: Topology, boxes: Boxes) -> Topology:
    """The frames at these places; a note that stood in one keeps its place in it as far as the frame reaches."""
    frames = {frame.key: frame for frame in decorations.frames(before)}
    for note in decorations.notes(before):
        held = [frames[key] for key in boxes if frames[key].holds((note.x, note.y))]
        if held:
            frame = min(held, key=lambda each: each.wide * each.high)
            box = boxes[frame.key]
            x = box.x0 + min(note.x - frame.x, (box.x1 - box.x0) * 0.8)
            y = box.y0 + min(note.y - frame.y, (box.y1 - box.y0) * 0.8)
            topology = decorations.move(topology, {note.key: (x, y)})
    for key, box in boxes.items():
        values = {"x": box.x0, "y": box.y0, "wide": box.x1 - box.x0, "high": box.y1 - box.y0}
        topology = decorations.change(topology, key, {name: float(round(value)) for name, value in values.items()})
    return topology
