# SPDX-License-Identifier: BSD-3-Clause
"""A topology as shapes (`shapes`): where everything stands at one size, and what each thing looks like; pure.

The canvas draws a scene and so do the exporters, so that a picture shows what the window shows. Nodes are icons with
name and address, links are lines with the names of their ports and, in the middle, what they do to packets.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from linklab.editor import decorations
from linklab.editor.bends import SHOULDER, Way, bends_of, bent
from linklab.editor.decorations import BackgroundPicture, Frame, Note
from linklab.editor.document import AnyNode, Key, control_links, everyone
from linklab.editor.edits import kind_of, position
from linklab.editor.labels import AWAY, place_name, place_ports, place_ports_alone, place_rate, place_title
from linklab.editor.lanes import LANE, Path, Spot, lanes_of, path_of
from linklab.editor.shapes import BoxShape, IconShape, LineShape, OvalShape, PictureShape, Shape, TextShape
from linklab.editor.surface import Occupied, Rectangle
from linklab.errors import InputError
from linklab.topology import Host, Link, Topology
from linklab.topology.addressing import link_addresses
from linklab.topology.forgiven import forgiven_link

ICON = 40
DETAIL_FROM = 0.6
"""Zoom below which addresses and port names would lie on each other."""
MOST_PLACED, MOST_EFFORT = 400, 250_000
"""Links, and comparisons, up to which labels keep clear of all lines; then each keeps clear of its own nodes alone."""
MOST_LANE = 60.0
KIND_COLOURS = {
    "host": "host",
    "switch": "switch",
    "legacySwitch": "switch",
    "legacyRouter": "router",
    "controller": "controller",
}
RINGS = {"building": "warn", "running": "good", "attention": "warn", "failed": "bad"}


@dataclass(frozen=True)
class Style:
    """What is shown and how large.

    measure: width of a text in a font ("name", "note", "port"); heights: of a line of each.
    """

    zoom: float
    scale: float
    measure: Callable[[str, str], float] = field(compare=False)
    heights: Mapping[str, float] = field(compare=False)
    names: bool = True
    addresses: bool = True
    ports: bool = True
    rates: bool = True

    @property
    def factor(self) -> float:
        """Pixels for one of the drawing's."""
        return self.zoom * self.scale

    def px(self, pixels: float) -> int:
        """Pixels of this display."""
        return round(pixels * self.scale)

    @property
    def is_detailed(self) -> bool:
        """Whether there is room for addresses and port names."""
        return self.zoom >= DETAIL_FROM


@dataclass(frozen=True)
class Labels:
    """The labels of a link: texts at src, at dest and between, and their middles, None for those without room."""

    texts: tuple[str, str, str] = ("", "", "")
    places: tuple[Spot | None, Spot | None, Spot | None] = (None, None, None)


class DrawingScene:
    """A topology at one size."""

    def __init__(self, topology: Topology, style: Style) -> None:
        self.topology, self.style = topology, style
        factor = style.factor
        self.nodes: dict[str, AnyNode] = {node.name: node for node in everyone(topology)}
        self.spots: dict[str, Spot] = {
            name: (at[0] * factor, at[1] * factor) for name, at in ((n, position(v)) for n, v in self.nodes.items())
        }
        self.addresses = {name: self._address(node) for name, node in self.nodes.items()}
        self.decorations = decorations.decorations(topology)
        try:
            self.ends = topology.link_ends()
        except KeyError:  # a link leads nowhere; its end has no number
            self.ends = [("", "")] * len(topology.links)
        self.lanes = lanes_of(topology.links)
        self._bends, self._outer = self._find_bends()
        self._texts = [self._link_texts(i, link) for i, link in enumerate(topology.links)]
        self._widest = self._widest_labels()
        self.paths: list[Path | None] = [
            self.path(i, self.spots[link.src], self.spots[link.dest])
            if link.src in self.spots and link.dest in self.spots
            else None
            for i, link in enumerate(topology.links)
        ]
        self.controls: dict[str, Path] = {}
        for key in control_links(topology):
            switch, _, controller = key.partition(">")
            if controller in self.spots:
                self.controls[key] = self.control_path(key, self.spots[switch], self.spots[controller])
        self.names: dict[str, Rectangle] = {}
        self.titles: dict[str, Rectangle] = {}
        self._crossed: set[str] = set()
        self.labels: list[Labels] = []
        self._place()

    # --- where

    @property
    def half(self) -> float:
        """Half of an icon's side."""
        return max(10, round(ICON * self.style.factor)) / 2

    def path(self, place: int, a: Spot, b: Spot) -> Path:
        """The line of a link if its nodes were there."""
        lane, style = self.lanes[place], self.style
        aside = self._aside(place)
        if not lane and not aside:
            return (*a, *b)
        length = max(1.0, ((b[0] - a[0]) ** 2 + (b[1] - a[1]) ** 2) ** 0.5)
        ux, uy = abs(b[0] - a[0]) / length, abs(b[1] - a[1]) / length
        step = max(4.0, LANE * style.factor)
        if style.is_detailed:
            wide = self._widest[frozenset((self.topology.links[place].src, self.topology.links[place].dest))]
            high = style.heights["port"] * (1 + max(text.count("\n") for text in self._texts[place]))
            step = max(step, min(MOST_LANE * style.factor, uy * wide / 2 + ux * high / 2 + 5))
        if aside:
            outer = self._outer[place] * step  # of the lanes on the near side, which then run outside as well
            return bent(a, b, aside + math.copysign(outer, aside) + lane * step, self.half)
        return path_of(a, b, lane, step, self.half * SHOULDER)

    def control_path(self, key: str, a: Spot, b: Spot) -> Path:
        """The line from a switch to its controller if they were there."""
        return bent(a, b, self._aside(key), self.half)

    def _aside(self, key: Key) -> float:
        """How far aside a line runs, in pixels of this zoom; icons do not become as small as the rest."""
        return self._bends.get(key, 0.0) * self.half / (ICON / 2)

    def _find_bends(self) -> tuple[dict[Key, float], list[float]]:
        """How far aside each line runs that would run through an icon; by link, the outermost lane beside it."""
        links, topology = self.topology.links, self.topology
        pairs: dict[tuple[str, str], list[int]] = defaultdict(list)
        for i, link in enumerate(links):
            pairs[min(link.src, link.dest), max(link.src, link.dest)].append(i)
        outer = [0.0] * len(links)
        for places in pairs.values():
            for i in places:
                outer[i] = (len(places) - 1) / 2
        if len(links) > MOST_PLACED:
            return {}, outer
        lines: dict[Key, Way] = {
            places[0]: Way(links[places[0]].src, links[places[0]].dest, len(places)) for places in pairs.values()
        }
        for key in control_links(topology):
            switch, _, controller = key.partition(">")
            lines[key] = Way(switch, controller)
        spots = {name: position(node) for name, node in self.nodes.items()}
        lines = {key: line for key, line in lines.items() if line.a in spots and line.b in spots}
        found = bends_of(lines, spots)
        for places in pairs.values():
            if aside := found.get(places[0]):
                for i in places:
                    found[i] = aside if links[i].src == links[places[0]].src else -aside
        return found, outer

    def _address(self, node: AnyNode) -> str:
        if not self.style.addresses or not self.style.is_detailed or not isinstance(node, Host):
            return ""
        try:
            return self.topology.address(node)
        except ValueError:
            return "address?"

    def _link_texts(self, place: int, link: Link) -> tuple[str, str, str]:
        if not self.style.is_detailed:
            return ("", "", "")
        first, second = self._end_texts(place, link, addresses=self.style.addresses)
        return (first, second, link_note(link) if self.style.rates else "")

    def _end_texts(self, place: int, link: Link, *, addresses: bool) -> tuple[str, str]:
        """What is written at both ends of a link: the ports' names, below them the addresses that the link keeps."""
        try:
            given = link_addresses(link) if addresses else ((), ())
        except InputError:
            given = (("address?",), ("address?",))
        names = self.ends[place] if self.style.ports else ("", "")
        src, dest = ("\n".join(filter(None, (name, *each))) for name, each in zip(names, given, strict=True))
        return src, dest

    def _widest_labels(self) -> dict[frozenset[str], float]:
        """By pair of nodes that are joined several times: the widest label between them."""
        found: dict[frozenset[str], float] = {}
        for link, lane, texts in zip(self.topology.links, self.lanes, self._texts, strict=True):
            if lane or any(texts):
                pair = frozenset((link.src, link.dest))
                wide = max((self.style.measure("port", text) for text in texts if text), default=0.0)
                found[pair] = max(found.get(pair, 0.0), wide)
        return found

    def name_lines(self, name: str) -> list[tuple[str, str, str]]:
        """The lines of text at a node: text, font and colour."""
        lines = [(name, "name", "ink")] if self.style.names else []
        if self.addresses[name]:
            lines.append((self.addresses[name], "note", "muted"))
        return lines

    def _size(self, lines: list[tuple[str, str, str]]) -> tuple[float, float]:
        """What the lines at a node take up, with a little air at both sides."""
        style = self.style
        wide = max((style.measure(font, text) for text, font, _ in lines), default=0.0) + 8
        return wide, sum(style.heights[font] + 1 for _, font, _ in lines)

    def _place(self) -> None:
        """Find a place for every label."""
        half, crowded = self.half, len(self.paths) > MOST_PLACED
        surface = Occupied()
        icons = {name: Rectangle.around(x, y, 2 * half, 2 * half) for name, (x, y) in self.spots.items()}
        if not crowded:
            for i, path in enumerate(self.paths):
                if path is not None:
                    surface.add_line(i, path)
            for key, path in self.controls.items():
                surface.add_line(key, path)
            for each in self.decorations.values():
                if isinstance(each, Note):
                    surface.add_box(self.note_box(each))
        for icon in icons.values():
            surface.add_box(icon)
        self._place_titles(surface if not crowded else Occupied())
        for name, (x, y) in self.spots.items():
            lines = self.name_lines(name)
            if not lines:
                continue
            size = self._size(lines)
            if crowded:
                self.names[name] = Rectangle.around(x, y + half + AWAY + size[1] / 2, *size)
            else:
                self.names[name], in_the_way = place_name(surface, x, y, half, size)
                if in_the_way:
                    self._crossed.add(name)
        self._place_on_links(surface, icons, crowded)

    def _place_titles(self, surface: Occupied) -> None:
        """The titles of frames, and their edges as lines that labels keep clear of."""
        style = self.style
        frames = [each for each in self.decorations.values() if isinstance(each, Frame)]
        for frame in frames:
            x0, y0, x1, y1 = (box := self.frame_box(frame)).x0, box.y0, box.x1, box.y1
            surface.add_line(frame.key, (x0, y0, x1, y0, x1, y1, x0, y1, x0, y0))
        for frame in frames:
            if frame.title:
                size = style.measure("name", frame.title) + 8, style.heights["name"]
                gap = 8 * style.factor
                self.titles[frame.key] = place_title(surface, frame.key, self.frame_box(frame), size, gap)

    def _label_size(self, text: str) -> tuple[float, float]:
        """The width and height of a link's label, which may have several lines; a link without a label has width 0."""
        style = self.style
        return style.measure("port", text) + 4 if text else 0.0, style.heights["port"] * (text.count("\n") + 1)

    def _place_on_links(self, surface: Occupied, icons: Mapping[str, Rectangle], crowded: bool) -> None:
        places: list[list[Spot | None]] = []
        sizes = [[self._label_size(text) for text in texts] for texts in self._texts]
        for i, (link, path) in enumerate(zip(self.topology.links, self.paths, strict=True)):
            if path is None or not any(wide for wide, _ in sizes[i][:2]):
                places.append([None, None])
                continue
            if crowded or surface.effort > MOST_EFFORT:
                both = [_around(icons[name], self.names.get(name)) for name in (link.src, link.dest)]
                places.append(place_ports_alone(path, both, sizes[i][:2]))
            else:
                # Where there is no room for addresses, it may be that there is for the names alone.
                choices = list(dict.fromkeys((self._texts[i][:2], self._end_texts(i, link, addresses=False))))
                ends = (icons[link.src], icons[link.dest])
                which, found = place_ports(
                    surface, i, path, ends, *([self._label_size(text) for text in texts] for texts in choices)
                )
                self._texts[i] = (*choices[which], self._texts[i][2])
                sizes[i] = [self._label_size(text) for text in self._texts[i]]
                places.append(found)
        for i, path in enumerate(self.paths):
            middle = None
            if path is not None and sizes[i][2][0]:
                alone = crowded or surface.effort > MOST_EFFORT
                middle = place_rate(Occupied() if alone else surface, i, path, sizes[i][2])
            self.labels.append(Labels(self._texts[i], (places[i][0], places[i][1], middle)))

    def label_boxes(self, place: int) -> list[Rectangle]:
        """Where the labels of a link lie."""
        labels = self.labels[place]
        pairs = zip(labels.texts, labels.places, strict=True)
        return [Rectangle.around(*at, *self._label_size(text)) for text, at in pairs if text and at is not None]

    def name_look(self, name: str) -> object:
        """All that a node's texts depend on."""
        return self.names.get(name), self.addresses[name], name in self._crossed

    # --- what it looks like

    def node(self, name: str, *, selected: bool = False, state: str = "") -> tuple[Shape, ...]:
        """A node or controller; state: "", "building", "running" or "failed"."""
        style, (x, y), half = self.style, self.spots[name], self.half
        kind = kind_of(self.nodes[name])
        found: list[Shape] = []
        if selected:
            pad = half + style.px(3)
            found.append(BoxShape(x - pad, y - pad, x + pad, y + pad, "hover", "accent", style.px(1.5)))
        found.append(IconShape(x, y, round(2 * half), kind, KIND_COLOURS[kind]))
        if ring := RINGS.get(state):
            r, out = style.px(5) * min(1.5, style.zoom), half * 0.86
            found.append(OvalShape(x + out - r, y - out - r, x + out + r, y - out + r, ring, "canvas", 2))
            if state == "attention":  # told by its shape, too, for who cannot tell the colours
                found.append(TextShape(x + out, y - out, "!", "port", "canvas", tag="mark"))
        if name in self.names:
            box = self.names[name]
            top, middle = box.y0, (box.x0 + box.x1) / 2
            if name in self._crossed or decorations.BACKGROUND in self.decorations:
                found.append(BoxShape(box.x0 - 1, box.y0, box.x1 + 1, box.y1, "canvas", tag="plate"))
            for text, font, colour in self.name_lines(name):
                high = style.heights[font]
                found.append(TextShape(middle, top + high / 2, text, font, colour))
                top += high + 1
        return tuple(found)

    def link(self, place: int, *, selected: bool = False, down: bool = False) -> tuple[Shape, ...]:
        """A link whose nodes are there: its line, then its labels."""
        path, style = self.paths[place], self.style
        assert path is not None
        colour = "bad" if down else "accent" if selected else "link"
        width = max(1.0, style.px(3 if selected else 2) * min(1.5, max(0.5, style.zoom)))
        found: list[Shape] = [LineShape(path, colour, width, (6, 4) if down else ())]
        labels = self.labels[place]
        for i, (text, at) in enumerate(zip(labels.texts, labels.places, strict=True)):
            if text and at is not None:
                box = Rectangle.around(*at, *self._label_size(text))
                found.append(BoxShape(box.x0, box.y0, box.x1, box.y1, "canvas", tag="port"))
                found.append(TextShape(*at, text, "port", "ink" if i == 2 else "muted", tag="port label"))
        return tuple(found)

    def control(self, key: str, *, selected: bool = False) -> tuple[Shape, ...]:
        """The line between a switch and its controller."""
        colour = "accent" if selected else "controller"
        return (LineShape(self.controls[key], colour, self.style.px(1.5), (4, 4)),)

    def note_box(self, note: Note) -> Rectangle:
        """The rectangle of a note."""
        style, factor = self.style, self.style.factor
        wide = max(style.measure("note", line) for line in note.lines)
        pad, x, y = 6 * factor, note.x * factor, note.y * factor
        high = style.heights["note"] * len(note.lines)
        return Rectangle(x, y, x + wide + 2 * pad, y + high + 2 * pad)

    def frame_box(self, frame: Frame) -> Rectangle:
        """The rectangle of a group."""
        factor = self.style.factor
        x0, y0 = frame.x * factor, frame.y * factor
        return Rectangle(x0, y0, x0 + frame.wide * factor, y0 + frame.high * factor)

    def decoration(self, key: str, *, selected: bool = False) -> tuple[Shape, ...]:
        """A note, a group's frame, or the picture behind."""
        style, factor, each = self.style, self.style.factor, self.decorations[key]
        edge = max(1, style.px(2 if selected else 1))
        if isinstance(each, Note):
            box = self.note_box(each)
            colour, pad = "accent" if selected else "faint", 6 * factor
            ground = BoxShape(box.x0, box.y0, box.x1, box.y1, "hover", colour, edge, tag="note")
            return ground, TextShape(box.x0 + pad, box.y0 + pad, "\n".join(each.lines), "note", "ink", True, "note")
        if isinstance(each, Frame):
            x0, y0, x1, y1 = (frame := self.frame_box(each)).x0, frame.y0, frame.x1, frame.y1
            colour = "accent" if selected else each.colour
            width = max(1, style.px(1.5)) + selected
            found: list[Shape] = [BoxShape(x0, y0, x1, y1, "", colour, width, (6, 3), "frame")]
            if key in self.titles:
                box = self.titles[key]
                found.append(BoxShape(box.x0, box.y0, box.x1, box.y1, "canvas", tag="frame"))
                at = (box.x0 + box.x1) / 2, (box.y0 + box.y1) / 2
                found.append(TextShape(*at, each.title, "name", colour, tag="frame"))
            if selected:
                size = style.px(4)
                found += [
                    BoxShape(x - size, y - size, x + size, y + size, "panel", "accent", style.px(1), tag="frame handle")
                    for x in (x0, x1)
                    for y in (y0, y1)
                ]
            return tuple(found)
        assert isinstance(each, BackgroundPicture)
        return (PictureShape(each.x * factor, each.y * factor, each.file, each.scale * factor, each.opacity),)

    def everything(self) -> Iterator[tuple[Key, tuple[Shape, ...]]]:
        """All that is drawn, from the back to the front, with nothing selected; for pictures."""
        kinds = {kind: [k for k, a in self.decorations.items() if isinstance(a, kind)] for kind in (Frame, Note)}
        if decorations.BACKGROUND in self.decorations:
            yield decorations.BACKGROUND, self.decoration(decorations.BACKGROUND)
        for key in kinds[Frame]:
            yield key, self.decoration(key)
        for key in self.controls:
            yield key, self.control(key)
        links = [(i, self.link(i)) for i, path in enumerate(self.paths) if path is not None]
        yield from ((i, shapes[:1]) for i, shapes in links)
        yield from ((i, shapes[1:]) for i, shapes in links)
        yield from ((name, self.node(name)) for name in self.nodes)
        yield from ((key, self.decoration(key)) for key in kinds[Note])


def _around(icon: Rectangle, name: Rectangle | None) -> Rectangle:
    """The rectangle of an icon and its name."""
    if name is None:
        return icon
    corners = min(icon.x0, name.x0), min(icon.y0, name.y0), max(icon.x1, name.x1), max(icon.y1, name.y1)
    return Rectangle(*corners)


def link_note(link: Link) -> str:
    """What a link is said to do, for its middle: "10 Mbit/s, 5ms"; odd values as what they are taken for."""
    opts = forgiven_link(link).opts
    words = []
    if "bw" in opts:
        words.append(f"{opts['bw']} Mbit/s" if not isinstance(opts["bw"], str) else opts["bw"])
    if opts.get("delay"):
        words.append(str(opts["delay"]))
    if opts.get("loss"):
        words.append(f"{opts['loss']} % loss")
    for arrow, data in (("→", link.own.get("forward")), ("←", link.own.get("backward"))):
        if isinstance(data, Mapping) and data:
            kind = data.get("discipline", {}).get("kind", "") if isinstance(data.get("discipline"), Mapping) else ""
            parts = [str(data[key]) for key in ("rate", "delay", "loss") if key in data]
            words.append(" ".join([arrow, *parts, kind]).strip())
    return ", ".join(words)
