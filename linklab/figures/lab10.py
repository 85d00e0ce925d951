# SPDX-License-Identifier: BSD-3-Clause
"""Figures of Lab 10: two flows on their way to equal shares, and three flows with Jain's index."""

from __future__ import annotations

import itertools

from linklab.analysis.formulas import jain_index
from linklab.figures.svg import BLUE, GREEN, PURPLE, VERMILLION, Sketch

START = (0.08, 0.62)
"""Shares of the bottleneck with which the two flows begin."""
CYCLES = 5


def draw() -> dict[str, str]:
    """File name → SVG."""
    return {"shares.svg": _shares(), "index.svg": _index()}


def _shares() -> str:
    art = Sketch(
        "lab10-shares",
        560,
        400,
        "Two AIMD flows converge to equal shares",
        "A plane with the rate of flow 1 across and that of flow 2 upwards. A falling line marks full use of the "
        "bottleneck, a rising diagonal equal shares; they cross at half the capacity each. A path starts far from the "
        "diagonal, rises parallel to it until the bottleneck is full, halves towards the origin, and so on: each turn "
        "brings it nearer to the diagonal, at the end it moves along it around the crossing.",
    )
    left, base, side = 150, 348, 320

    def place(first: float, second: float) -> tuple[float, float]:
        return left + side * first, base - side * second

    art.axes(left, base, side + 26, side + 26, across="", up="rate of flow 2")
    art.text(left + side / 2, base + 18, "rate of flow 1")
    art.line([place(0, 1), place(1, 0)], colour=GREEN, width=2)
    art.line([place(0, 0), place(1.02, 1.02)], colour=PURPLE, width=2, dash="7 4")
    art.text(*place(0.86, 0.26), "full use", colour=GREEN, anchor="start")
    art.text(*place(0.86, 0.80), "equal shares", colour=PURPLE, anchor="start")
    art.text(left - 10, base - side, "C", anchor="end")
    art.text(left + side, base - 10, "C", anchor="start")
    first, second = START
    points = [place(first, second)]
    for _ in range(CYCLES):
        room = (1 - first - second) / 2
        first, second = first + room, second + room
        points.append(place(first, second))
        first, second = first / 2, second / 2
        points.append(place(first, second))
    for number, (one, other) in enumerate(itertools.pairwise(points)):
        rising = number % 2 == 0
        art.line(
            [one, other], colour=BLUE if rising else VERMILLION, width=1.6, dash="" if rising else "4 3", arrow=True
        )
    art.dot(*points[0], 4, fill=BLUE, edge=BLUE)
    art.text(points[0][0] - 2, points[0][1] + 16, "start")
    art.dot(*place(0.5, 0.5), 6, fill="none", edge="#16202a")
    art.text(*place(0.53, 0.53), "best point", anchor="start")
    art.line([(196, 16), (226, 16)], colour=BLUE, arrow=True)
    art.text(234, 16, "increase", anchor="start")
    art.line([(310, 16), (340, 16)], colour=VERMILLION, dash="4 3", arrow=True)
    art.text(348, 16, "cut to one half", anchor="start")
    return art.svg()


def _index() -> str:
    art = Sketch(
        "lab10-index",
        560,
        200,
        "Three ways to share 9 Gbps among three flows, with their index",
        "Three groups of three bars. Equal bars of 3 Gbps have the index 1. Bars of 5, 3 and 1 Gbps have 0.77. "
        "One bar of 9 Gbps beside two empty ones has one third.",
    )
    base, unit = 158, 14
    for group, rates in enumerate([(3, 3, 3), (5, 3, 1), (9, 0, 0)]):
        left = 44 + 176 * group
        art.line([(left - 8, base), (left + 128, base)])
        for number, (rate, colour) in enumerate(zip(rates, (BLUE, VERMILLION, GREEN), strict=True)):
            x = left + 44 * number
            if rate:
                art.box(x, base - unit * rate, 30, unit * rate, fill=colour, edge=colour, corner=0)
            art.text(x + 15, base - unit * rate - 9, str(rate), size=11)
        art.text(left + 59, base + 22, f"index {jain_index(rates):.2f}", bold=True)
    return art.svg()
