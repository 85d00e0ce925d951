# SPDX-License-Identifier: BSD-3-Clause
"""Figures of Lab 18: good and bad queues, CoDel's drops over time, and the queues of FQ-CoDel."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

from linklab.figures.svg import BLUE, GREEN, PURPLE, VERMILLION, Point, Sketch

INTERVAL = 110.0
"""Pixels of CoDel's interval in the picture of its drops."""


def draw() -> dict[str, str]:
    """File name → SVG."""
    return {"queues.svg": _queues(), "codel.svg": _codel(), "fq-codel.svg": _fq_codel()}


def _queues() -> str:
    art = Sketch(
        "lab18-queues",
        560,
        220,
        "A good queue and a bad queue",
        "Waiting time over time against a small target. Left, three bursts: the waiting time jumps up and drains below "
        "the target each time, so its minimum is zero. Right, a standing queue: the waiting time goes up and down but "
        "never comes below the target; its minimum is far above.",
    )
    base, target = 182, 152
    for left, name in ((44, "good: drains between bursts"), (316, "bad: a standing queue")):
        art.axes(left, base, 226, 150, across="time", up="waiting time" if left < 100 else "")
        art.text(left + 113, 14, name, bold=True)
        art.line([(left, target), (left + 216, target)], colour=GREEN, dash="6 4")
        art.text(left + 220, target - 10, "target", colour=GREEN, anchor="end", size=11)
    good: list[Point] = [(44, base)]
    for start in (60, 118, 176):
        good += [(start, base), (start + 6, 68), (start + 40, base)]
    art.line([*good, (258, base)], colour=BLUE, width=2)
    bad: list[Point] = [(316, base), (330, 90)]
    for step in range(6):
        bad += [(346 + 30 * step, 66), (358 + 30 * step, 102)]
    art.line(bad, colour=VERMILLION, width=2)
    art.text(120, 206, "minimum: 0", colour=BLUE)
    art.text(396, 206, "minimum: far above the target", colour=VERMILLION)
    return art.svg()


def _codel() -> str:
    """Sojourn time; drops at interval/√n after the first."""
    art = Sketch(
        "lab18-codel",
        560,
        264,
        "CoDel's dropping state",
        "The sojourn time rises above the target and stays there. After one interval the first packet is dropped and "
        "the dropping state begins. The next drops follow after one interval divided by the square roots of one, two, "
        "three and so on, so at shorter and shorter distances. The senders slow down, the sojourn time falls below the "
        "target, and the dropping state ends.",
    )
    left, base, target = 44, 190, 152
    art.axes(left, base, 500, 166, across="time", up="sojourn time")
    art.line([(left, target), (538, target)], colour=GREEN, dash="6 4")
    art.text(left + 6, target - 10, "target", colour=GREEN, anchor="start", size=11)
    above = 92.0
    first = above + INTERVAL
    pauses = [INTERVAL / math.sqrt(number) for number in range(1, 5)]
    drops = list(itertools.accumulate(pauses, initial=first))
    end = drops[-1] + 24
    curve: list[Point] = [(left, base), (above, target), (above + 40, 84), (first, 60), (drops[1], 64)]
    curve += [(drops[2], 84), (drops[3], 106), (drops[4], 136), (end, target), (538, 178)]
    art.line(curve, colour=BLUE, width=2.2)
    heights = {round(x): y for x, y in curve}
    for number, x in enumerate(drops, start=1):
        y = heights.get(round(x), 60)
        art.dot(x, y, 5, fill=VERMILLION, edge=VERMILLION)
        art.line([(x, y + 6), (x, base)], colour=VERMILLION, width=1, dash="2 3")
        art.text(x, base + 11, str(number), colour=VERMILLION, size=11, bold=True)
    art.text(drops[1] + 8, 34, "drops", colour=VERMILLION)
    _span(art, above, first, 214, "interval")
    _span(art, drops[0], drops[1], 214, "÷ √1")
    _span(art, drops[1], drops[2], 214, "÷ √2")
    _span(art, drops[2], drops[3], 214, "÷ √3")
    art.box(first, 236, end - first, 20, fill="none", edge=PURPLE, corner=3)
    art.text((first + end) / 2, 246, "dropping state", colour=PURPLE, size=11)
    return art.svg()


def _span(art: Sketch, start: float, end: float, y: float, name: str) -> None:
    art.line([((start + end) / 2, y), (end - 2, y)], arrow=True)
    art.line([((start + end) / 2, y), (start + 2, y)], arrow=True)
    art.text((start + end) / 2, y + 12, name, size=11)


def _fq_codel() -> str:
    art = Sketch(
        "lab18-fq-codel",
        560,
        262,
        "The queues of FQ-CoDel",
        "Arriving packets are hashed to queues. On the list of new queues there is one with a single packet, of a "
        "ping. On the list of old queues there are two with many packets each, of bulk flows. Each queue has a CoDel "
        "of its own at its head. The scheduler serves the new list first, then the old one in turn.",
    )
    for place, colour in enumerate((BLUE, VERMILLION, GREEN, BLUE)):
        art.box(10 + 24 * place, 122, 17, 20, fill=colour, edge=colour, corner=1)
    art.text(56, 106, "arrivals", colour="muted")
    art.line([(110, 132), (132, 132)], arrow=True)
    art.box(136, 98, 62, 68, fill="switch", corner=8)
    art.text(167, 124, "hash of", size=11)
    art.text(167, 140, "the flow", bold=True)
    rows: Sequence[tuple[float, str, int]] = ((58, GREEN, 1), (148, BLUE, 6), (200, VERMILLION, 4))
    art.box(222, 24, 216, 76, fill="none", edge=GREEN, corner=8)
    art.box(222, 114, 216, 136, fill="none", corner=8)
    art.text(330, 38, "new queues: served first", size=11, colour=GREEN)
    art.text(330, 128, "old queues: in turn", size=11, colour="muted")
    for y, colour, count in rows:
        art.line([(200, 132), (228, y + 15)], dash="4 3")
        art.line([(234, y), (364, y), (364, y + 30), (234, y + 30)])
        for place in range(count):
            art.box(345 - 19 * place, y + 5, 15, 20, fill=colour, edge=colour, corner=1)
        art.box(370, y, 58, 30, fill="router", corner=5)
        art.text(399, y + 15, "CoDel", size=11)
        art.line([(438, y + 15), (466, 132 + (y - 135) / 8)], arrow=True)
    art.dot(484, 132, 17, fill="host")
    art.text(484, 132, "↻", size=20)
    art.line([(503, 132), (552, 132)], width=3, arrow=True)
    art.text(528, 114, "link", colour="muted")
    return art.svg()
