# SPDX-License-Identifier: BSD-3-Clause
"""A topology as an SVG picture: nodes where the editor has them, links with the names of their ports.

Pure, from the small structure below, so that it needs neither Mininet nor a display. Colours are given twice: as
attributes for a picture opened alone, and as classes that a page's style may colour.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape

from linklab.manual.label_places import Box, Surface
from linklab.topology import Topology
from linklab.topology.parts import position


@dataclass(frozen=True)
class DrawnNode:
    """A node: kind "host", "switch", "router" or "controller"; x, y in the editor's pixels; `note` below its name."""

    name: str
    kind: str
    x: float
    y: float
    note: str = ""


@dataclass(frozen=True)
class DrawnLink:
    """A link between two nodes and the names of its two interfaces; `note` says its rate or delay."""

    a: str
    b: str
    a_port: str
    b_port: str
    note: str = ""


MARGIN = 56.0
STEP_X, STEP_Y = 150.0, 86.0
"""Least distance between columns and rows, so that the port names have room."""

LETTER = 5.6
"""Width of a letter of a port's name, about; there is no font to ask."""

NODE_WIDE, NODE_HIGH = 40.0, 30.0
LABEL_HIGH = 14.0

COLOURS = {
    "host": "#e3eefc",
    "switch": "#e6f4ea",
    "router": "#fdf0dc",
    "other": "#eeeeee",
    "edge": "#2f4a66",
    "line": "#66788a",
    "ink": "#16202a",
    "muted": "#55636f",
}
"""For a picture alone and for PDF; a page replaces them through the classes of the same names."""


def topology_svg(nodes: Sequence[DrawnNode], links: Sequence[DrawnLink], title: str = "Topology") -> str:
    """The picture as an `<svg>` element with a title and a description for screen readers.

    Raises:
        ValueError: no nodes, or a link to a node that is not there.
    """
    if not nodes:
        raise ValueError("a picture needs at least one node")
    places = drawn_places(nodes)
    for link in links:
        for end in (link.a, link.b):
            if end not in places:
                raise ValueError(f"link {link.a}-{link.b}: there is no node {end}")
    width = max(x for x, _ in places.values()) + MARGIN
    height = max(y for _, y in places.values()) + MARGIN
    words = "; ".join(f"{link.a_port} to {link.b_port}" for link in links)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" class="topology" role="img" '
        f'style="max-width:{width * 1.15:.0f}px" aria-labelledby="topology-title topology-desc">',
        f'<title id="topology-title">{escape(title)}</title>',
        f'<desc id="topology-desc">{escape(", ".join(n.name for n in nodes))}. Links: {escape(words)}.</desc>',
        '<g font-family="system-ui, sans-serif" font-size="12" text-anchor="middle">',
    ]
    surface = Surface([(places[link.a], places[link.b]) for link in links])
    surface.boxes += [Box(*places[node.name], NODE_WIDE, NODE_HIGH) for node in nodes]
    drawn = [_node(node, *places[node.name], surface) for node in nodes]
    parts += [*(_link(link, places, surface) for link in links), *drawn]
    return "\n".join([*parts, "</g>", "</svg>"])


def topology_parts(topology: Topology) -> tuple[list[DrawnNode], list[DrawnLink]]:
    """Nodes with their addresses and links with the names of their ports, from a topology file."""
    nodes = [DrawnNode(host.name, "host", *position(host), topology.address(host)) for host in topology.hosts]
    nodes += [
        DrawnNode(switch.name, "router" if switch.type == "legacyRouter" else "switch", *position(switch))
        for switch in topology.switches
    ]
    ends = zip(topology.links, topology.link_ends(), strict=True)
    return nodes, [DrawnLink(link.src, link.dest, src, dest) for link, (src, dest) in ends]


def drawn_places(nodes: Sequence[DrawnNode]) -> dict[str, tuple[float, float]]:
    """Places with room for the labels: columns and rows keep their order, gaps grow to the least distance."""

    def axis(values: dict[str, float], least: float) -> dict[str, float]:
        order = sorted(values, key=lambda name: values[name])
        placed: dict[str, float] = {}
        at, previous = MARGIN, None
        for name in order:
            if previous is not None:
                gap = values[name] - values[previous]
                at += 0 if gap < least / 4 else max(min(gap, 1.4 * least), least)
            placed[name], previous = at, name
        return placed

    xs = axis({node.name: node.x for node in nodes}, STEP_X)
    ys = axis({node.name: node.y for node in nodes}, STEP_Y)
    return {node.name: (xs[node.name], ys[node.name]) for node in nodes}


def _link(link: DrawnLink, places: dict[str, tuple[float, float]], surface: Surface) -> str:
    (ax, ay), (bx, by) = places[link.a], places[link.b]
    length = math.hypot(bx - ax, by - ay) or 1.0
    ux, uy = (bx - ax) / length, (by - ay) / length
    side = 1 if ux >= 0 else -1  # above the line for a reader

    def spots(text: str, x: float, y: float, distances: Sequence[float], first: int) -> Iterator[Box]:
        # A sloping line needs more distance, or it would run through the text.
        reach = 7 + 5 * abs(ux) + LETTER * len(text) / 2 * abs(uy)
        for along in distances:
            for away in (first * reach, -first * reach):
                yield Box(x + ux * along + uy * away, y + uy * along - ux * away, LETTER * len(text), LABEL_HIGH)

    def label(text: str, x: float, y: float, distances: Sequence[float], first: int = side) -> str:
        if not text:
            return ""
        box = surface.put(spots(text, x, y, distances, first))
        return _text(text, box.x, box.y, "muted", size=10)

    reach = 34 + LETTER * 4 if length > 130 else 0.36 * length
    out = [reach, *(far for far in (reach + step for step in range(10, 200, 10)) if far < 0.55 * length)]
    ends = f'x1="{ax:.1f}" y1="{ay:.1f}" x2="{bx:.1f}" y2="{by:.1f}"'
    return "".join(
        [
            f'<line {ends} stroke="{COLOURS["line"]}" stroke-width="2" class="line"/>',
            label(link.a_port, ax, ay, out),
            label(link.b_port, bx, by, [-far for far in out]),
            label(link.note, (ax + bx) / 2, (ay + by) / 2, [0], -side),
        ]
    )


def _node(node: DrawnNode, x: float, y: float, surface: Surface) -> str:
    kind = node.kind if node.kind in COLOURS else "other"
    look = f'fill="{COLOURS[kind]}" stroke="{COLOURS["edge"]}" stroke-width="1.5" class="{kind}"'
    corner = 4 if node.kind == "host" else 15
    if node.kind == "router":
        shape = f'<circle cx="{x:.1f}" cy="{y:.1f}" r="19" {look}/>'
    else:
        at = f'x="{x - NODE_WIDE / 2:.1f}" y="{y - NODE_HIGH / 2:.1f}"'
        shape = f'<rect {at} width="{NODE_WIDE:.0f}" height="{NODE_HIGH:.0f}" rx="{corner}" {look}/>'
    note = ""
    if node.note:
        wide = LETTER * 1.1 * len(node.note)
        note = _text(
            node.note, x, surface.put(Box(x, y + away, wide, LABEL_HIGH) for away in (26, -26)).y, "ink", size=11
        )
    return shape + _text(node.name, x, y, "ink", size=12, bold=True) + note


def _text(text: str, x: float, y: float, kind: str, *, size: int, bold: bool = False) -> str:
    weight = ' font-weight="600"' if bold else ""
    look = f'font-size="{size}"{weight} fill="{COLOURS[kind]}" class="{kind}"'
    return f'<text x="{x:.1f}" y="{y + 4:.1f}" {look}>{escape(text)}</text>'
