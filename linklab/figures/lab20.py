# SPDX-License-Identifier: BSD-3-Clause
"""Figures of Lab 20: filters, classes and their queues, and the tree of classes with what each may lend or borrow."""

from __future__ import annotations

from linklab.figures.svg import BLUE, GREEN, VERMILLION, Sketch


def draw() -> dict[str, str]:
    """File name → SVG."""
    return {"classes.svg": _classes(), "tree.svg": _tree()}


def _queue(art: Sketch, x: float, y: float, count: int, colour: str) -> None:
    """A queue that opens to the left and leaves to the right, with `count` packets."""
    art.line([(x, y), (x + 106, y), (x + 106, y + 30), (x, y + 30)], width=1.5)
    for place in range(count):
        art.box(x + 86 - 19 * place, y + 5, 15, 20, fill=colour, edge=colour, corner=1)


def _classes() -> str:
    art = Sketch(
        "lab20-classes",
        560,
        216,
        "Filter, classes and queues of a classful discipline",
        "Packets arrive at a box with two filters. Packets from 10.0.0.1 go to class 1:10, those from 10.0.0.2 to "
        "class 1:20. Each class has a queue. Behind the queues HTB takes from the one or the other and sends to "
        "the port.",
    )
    art.box(150, 24, 330, 168, fill="switch", corner=10)
    art.text(315, 12, "the discipline 1: on the port", colour="muted")
    for place, colour in enumerate((BLUE, VERMILLION, BLUE, BLUE)):
        art.box(14 + 24 * place, 98, 17, 20, fill=colour, edge=colour, corner=1)
    art.text(60, 82, "arrivals", colour="muted")
    art.line([(114, 108), (160, 108)], arrow=True)
    art.box(164, 70, 76, 76, fill="router", corner=6)
    art.text(202, 92, "filters", bold=True)
    art.text(202, 112, "src", size=11)
    art.text(202, 128, "10.0.0.x ?", size=11)
    for y, name, colour, count in ((62, "class 1:10", BLUE, 5), (138, "class 1:20", VERMILLION, 2)):
        art.line([(242, 108), (268, y + 15)], arrow=True)
        _queue(art, 272, y, count, colour)
        art.text(325, y - 12, name, bold=True, colour=colour)
        art.line([(380, y + 15), (404, 108 + (4 if y > 100 else -4))], arrow=True)
    art.text(325, 182, "a queue of its own each", size=11, colour="muted")
    art.box(408, 78, 62, 60, fill="host", corner=6)
    art.text(439, 98, "HTB:", bold=True)
    art.text(439, 117, "who next?", size=11)
    art.line([(472, 108), (550, 108)], width=3, arrow=True)
    art.text(518, 90, "link", colour="muted")
    return art.svg()


def _tree() -> str:
    art = Sketch(
        "lab20-tree",
        560,
        250,
        "The tree of classes of this lab",
        "At the top class 1:1 with rate and ceiling 1 Gbps. Below it the leaves 1:10, rate 700 Mbps, and 1:20, rate "
        "300 Mbps, both with ceiling 1 Gbps. A bar shows that the two rates fill the link. An arrow goes from 1:20 up "
        "to 1:1 and down to 1:10: what 1:20 leaves unused, 1:10 may borrow from the parent.",
    )
    art.box(200, 14, 160, 50, fill="switch")
    art.text(280, 30, "1:1   the link", bold=True)
    art.text(280, 48, "rate 1 Gbps", size=11)
    for x, name, rate, colour in ((50, "1:10   h1", "700", BLUE), (350, "1:20   h2", "300", VERMILLION)):
        art.box(x, 124, 160, 50, fill="host", edge=colour)
        art.text(x + 80, 140, name, bold=True, colour=colour)
        art.text(x + 80, 158, f"rate {rate} Mbps, ceil 1 Gbps", size=11)
    art.line([(250, 64), (150, 124)])
    art.line([(310, 64), (410, 124)])
    art.line([(462, 120), (372, 58)], colour=GREEN, width=2, dash="5 4", arrow=True)
    art.line([(190, 58), (100, 120)], colour=GREEN, width=2, dash="5 4", arrow=True)
    art.text(446, 84, "unused", colour=GREEN, anchor="start")
    art.text(116, 84, "borrowed", colour=GREEN, anchor="end")
    left, width = 80, 400
    art.box(left, 206, 0.7 * width, 22, fill="none", edge=BLUE, corner=2)
    art.box(left + 0.7 * width, 206, 0.3 * width, 22, fill="none", edge=VERMILLION, corner=2)
    art.text(left + 0.35 * width, 217, "700 Mbps by right", size=11, colour=BLUE)
    art.text(left + 0.85 * width, 217, "300 by right", size=11, colour=VERMILLION)
    art.text(left + width / 2, 242, "1 Gbps", size=11, colour="muted")
    return art.svg()
