# SPDX-License-Identifier: BSD-3-Clause
"""Figures of Lab 12: the same data in bursts and evenly, the pace of two applications, and the inside of fq."""

from __future__ import annotations

from linklab.figures.svg import BLUE, GREEN, VERMILLION, Sketch


def draw() -> dict[str, str]:
    """File name → SVG."""
    return {"bursts.svg": _bursts(), "pacing.svg": _pacing(), "fq.svg": _fq()}


def _bursts() -> str:
    art = Sketch(
        "lab12-bursts",
        560,
        170,
        "The same data in bursts and evenly spaced",
        "Two lines of packets over three round trips. Above, eight packets stand close together at the beginning of "
        "each round trip, and nothing follows. Below, the same eight packets are spread evenly over each round trip.",
    )
    left, trip = 80, 150
    for y, name in ((48, "unpaced"), (112, "paced")):
        art.text(left - 10, y - 14, name, anchor="end", bold=True)
        art.line([(left, y), (left + 3 * trip + 14, y)], arrow=True)
    for number in range(3):
        start = left + trip * number
        for packet in range(8):
            art.box(start + 2 + 7 * packet, 24, 5, 22, fill=VERMILLION, edge=VERMILLION, corner=0)
            art.box(start + 2 + trip / 8 * packet, 88, 5, 22, fill=BLUE, edge=BLUE, corner=0)
    for number in range(4):
        x = left + trip * number
        art.line([(x, 16), (x, 138)], dash="2 3")
        if number < 3:
            art.text(x + trip / 2, 136, "one round trip", size=11, colour="muted")
    art.text(left + 3 * trip, 158, "time", anchor="end")
    return art.svg()


def _pacing() -> str:
    art = Sketch(
        "lab12-pacing",
        560,
        190,
        "Two applications with a pace of their own",
        "Two applications hand their packets to fq in bunches. Behind fq the packets of the first follow each other at "
        "the distance T1, those of the second at the larger distance T2, mixed on one line.",
    )
    for y, name, colour, many in ((40, "application 1", GREEN, 4), (110, "application 2", BLUE, 3)):
        art.box(14, y - 20, 96, 40, fill="host")
        art.text(62, y, name)
        for packet in range(many):
            art.box(122 + 11 * packet, y - 9, 8, 18, fill=colour, edge=colour, corner=0)
        art.line([(170, y), (206, 75 + (y - 75) / 4)], arrow=True)
    art.box(210, 50, 60, 50, fill="switch")
    art.text(240, 75, "fq", bold=True)
    base = 88
    art.line([(276, base), (546, base)], arrow=True)
    for packet in range(5):
        art.box(292 + 50 * packet, base - 22, 8, 20, fill=GREEN, edge=GREEN, corner=0)
    for packet in range(3):
        art.box(310 + 72 * packet, base - 22, 8, 20, fill=BLUE, edge=BLUE, corner=0)
    for start, width, y, name, colour in ((296, 50, 40, "T1", GREEN), (314, 72, 124, "T2", BLUE)):
        art.line([(start, y), (start + width, y)], colour=colour, arrow=True)
        art.line([(start + width, y), (start, y)], colour=colour, arrow=True)
        art.text(start + width / 2, y + (-12 if y < base else 14), name, colour=colour, bold=True)
        for x in (start, start + width):
            art.line([(x, y), (x, base - 22 if y < base else base)], dash="2 3", width=1)
    art.text(546, 106, "time", anchor="end")
    art.text(240, 174, "T = 8 · L / R for a packet of L bytes and a rate of R", colour="muted", size=11)
    return art.svg()


def _fq() -> str:
    art = Sketch(
        "lab12-fq",
        560,
        240,
        "Inside of fq",
        "Packets are sorted by socket into queues of flows. Above, flows whose time has not come hang in a tree sorted "
        "by the time of their next packet. Below, flows whose time has come stand in a circle and send in turn.",
    )
    art.text(40, 116, "packets", anchor="middle")
    art.line([(14, 132), (86, 132)], arrow=True)
    art.box(90, 108, 78, 48, fill="host")
    art.text(129, 124, "which")
    art.text(129, 140, "socket?")
    art.line([(168, 124), (236, 70)], arrow=True)
    art.line([(168, 140), (246, 187)], arrow=True)
    # the tree
    art.text(340, 16, "not yet: a tree sorted by time", anchor="middle", bold=True)
    spots = {"in 40 µs": (340, 42), "in 12 µs": (302, 88), "in 95 µs": (384, 88)}
    middle = spots["in 40 µs"]
    for name, (x, y) in spots.items():
        if (x, y) != middle:
            art.line([middle, (x, y)])
        art.dot(x, y, 9, fill="other", edge=VERMILLION)
        right = x >= 340
        art.text(x + (16 if right else -16), y, name, anchor="start" if right else "end", size=11)
    # the round
    art.text(340, 150, "now: taking turns", anchor="middle", bold=True)
    for place, x in enumerate((284, 340, 396)):
        for packet in range(3 - place % 2):
            art.box(x - 14 + 10 * packet, 178, 8, 18, fill=BLUE, edge=BLUE, corner=0)
        art.text(x, 208, f"flow {place + 1}", size=11)
    art.line([(422, 190), (430, 190), (430, 226), (256, 226), (256, 190), (264, 190)], arrow=True)
    art.line([(340, 102), (340, 136)], colour=VERMILLION, dash="4 3", arrow=True)
    art.text(348, 122, "its time has come", anchor="start", colour="muted", size=11)
    art.line([(434, 187), (462, 187)], arrow=True)
    art.box(466, 164, 84, 46, fill="switch")
    art.text(508, 187, "interface")
    return art.svg()
