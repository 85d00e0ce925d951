# SPDX-License-Identifier: BSD-3-Clause
"""Figures of Lab 23: an interface with many links, built in two ways, and the pass of a satellite."""

from __future__ import annotations

import math

from linklab.figures.svg import BLUE, GREEN, VERMILLION, Point, Sketch

ROWS = 4
"""Links that the drawing shows of the many."""


def draw() -> dict[str, str]:
    """File name → SVG."""
    return {"two-ways.svg": _two_ways(), "pass.svg": _pass()}


def _two_ways() -> str:
    art = Sketch(
        "lab23-two-ways",
        620,
        330,
        "An interface with many links, built in two ways",
        "Above, a packet comes from the left and is compared with one filter after the other until one matches; behind "
        "each filter stand a class with a rate and a netem with a delay. Below, a program looks the packet up in a "
        "table of rates and delays, writes its departure time into it, and one queue lets it go at that time.",
    )
    art.text(10, 16, "netem: filters, classes, disciplines", anchor="start", bold=True)
    art.line([(20, 36), (96, 36)], arrow=True)
    for row in range(ROWS):
        y = 26 + 34 * row
        last = row == ROWS - 1
        name = "filter N" if last else f"filter {row + 1}"
        art.box(100, y, 110, 22, fill="other", corner=3)
        art.text(155, y + 12, name)
        art.line([(210, y + 11), (256, y + 11)], colour="muted", arrow=True)
        art.box(260, y, 130, 22, fill="host", corner=3)
        art.text(325, y + 12, "class: rate")
        art.line([(390, y + 11), (426, y + 11)], colour="muted", arrow=True)
        art.box(430, y, 130, 22, fill="host", corner=3)
        art.text(495, y + 12, "netem: delay")
        if not last:
            dash = "3 3" if row == ROWS - 2 else ""
            art.line([(155, y + 22), (155, y + 33)], colour=VERMILLION, dash=dash, arrow=True)
    art.text(10, 186, "departure times: one program, one table, one queue", anchor="start", bold=True)
    art.line([(20, 228), (96, 228)], arrow=True)
    art.box(100, 208, 150, 40, fill="other", corner=3)
    art.text(175, 222, "eBPF program")
    art.text(175, 238, "time = …", size=11)
    art.line([(175, 248), (175, 272)], colour=GREEN, arrow=True)
    art.box(100, 276, 250, 40, fill="none", corner=3)
    art.text(225, 290, "hash table: source, target →", size=11)
    art.text(225, 306, "rate, delay, when the line is free", size=11)
    art.line([(250, 228), (376, 228)], arrow=True)
    art.text(313, 218, "with its time", size=11)
    art.box(380, 198, 180, 60, fill="host", corner=30)
    art.text(470, 220, "fq: waits until")
    art.text(470, 238, "the packet's time")
    art.line([(560, 228), (606, 228)], colour=BLUE, arrow=True)
    return art.svg()


def _pass() -> str:
    art = Sketch(
        "lab23-pass",
        420,
        260,
        "A satellite's pass",
        "An arc is the ground, with h1 and h2 on top of it; a larger arc above is the orbit with the satellite on it. "
        "The line from the ground station to the satellite is the distance. The angle between both, as seen from the "
        "centre of the Earth, is omega t.",
    )
    centre, ground, orbit = (210.0, 590.0), 400.0, 520.0
    for radius, colour in ((ground, "muted"), (orbit, BLUE)):
        art.line([_on(centre, radius, step / 100) for step in range(-30, 31)], colour=colour)
    satellite, station = _on(centre, orbit, 0.22), _on(centre, ground, 0)
    art.line([_on(centre, 340, 0), _on(centre, ground, 0)], colour="muted", dash="2 3")
    art.line([_on(centre, 340, 0.22), satellite], colour="muted", dash="2 3")
    art.line([_on(centre, 352, step / 100) for step in range(23)], colour="muted", arrow=True)
    art.text(*_on(centre, 336, 0.11), "ω t", colour="muted")
    art.line([station, satellite], colour=VERMILLION, dash="5 4")
    art.dot(*station)
    art.dot(*satellite, fill=BLUE)
    art.text(station[0] - 12, station[1] - 12, "h1, h2", anchor="end")
    art.text(satellite[0] + 12, satellite[1] - 8, "satellite", anchor="start")
    art.text(station[0] + 48, station[1] - 66, "distance", colour=VERMILLION, anchor="end")
    art.text(20, 196, "ground", colour="muted", anchor="start")
    art.text(20, 66, "orbit", colour=BLUE, anchor="start")
    return art.svg()


def _on(centre: Point, radius: float, angle: float) -> Point:
    """The point of a circle at an angle from its top, clockwise."""
    return centre[0] + radius * math.sin(angle), centre[1] - radius * math.cos(angle)
