# SPDX-License-Identifier: BSD-3-Clause
"""Figures of Lab 5: the bucket, what it lets through, and two disciplines in a chain."""

from __future__ import annotations

from linklab.figures.svg import BLUE, GREEN, VERMILLION, Sketch, scaled


def draw() -> dict[str, str]:
    """File name → SVG."""
    return {"bucket.svg": _bucket(), "arrival.svg": _arrival(), "chain.svg": _chain()}


def _bucket() -> str:
    art = Sketch(
        "lab05-bucket",
        560,
        240,
        "Token bucket filter",
        "Packets enter a queue of limited size from the left. A bucket above is filled with tokens at the rate r and "
        "holds at most b. A packet leaves to the right when the bucket holds as many tokens as the packet has bytes.",
    )
    # tokens and bucket
    art.text(330, 14, "tokens, r bytes a second (rate)", colour="ink")
    for y in (34, 52):
        art.dot(330, y, 4.5, fill=VERMILLION, edge=VERMILLION)
    art.line([(286, 58), (296, 124), (364, 124), (374, 58)], colour=BLUE, width=2.5)
    for row, (y, count) in enumerate([(116, 5), (104, 5), (92, 4)]):
        for place in range(count):
            art.dot(306 + 12 * place + (6 if row == 2 else 0), y, 4.5, fill=VERMILLION, edge=VERMILLION)
    art.line([(392, 60), (392, 124)], colour="line")
    art.line([(387, 60), (397, 60)])
    art.line([(387, 124), (397, 124)])
    art.text(404, 92, "room for b bytes (burst)", anchor="start")
    # queue
    art.line([(96, 160), (262, 160)], colour=BLUE, width=2.5)
    art.line([(96, 200), (262, 200)], colour=BLUE, width=2.5)
    art.line([(262, 160), (262, 200)], colour=BLUE, width=2.5)
    for x, width in ((224, 32), (188, 32), (166, 18)):
        art.box(x, 166, width, 28, fill="host")
    art.line([(20, 180), (90, 180)], arrow=True)
    art.text(50, 168, "packets")
    art.text(179, 218, "queue (limit)")
    art.line([(100, 204), (100, 228)], colour=VERMILLION, dash="4 3", arrow=True)
    art.text(92, 222, "dropped if full", anchor="end", colour="muted", size=11)
    # gate
    art.dot(330, 180, 19, fill="switch")
    art.text(330, 180, "n ?", bold=True)
    art.line([(264, 180), (309, 180)], arrow=True)
    art.line([(330, 126), (330, 159)], colour=VERMILLION, dash="4 3", arrow=True)
    art.text(338, 143, "takes n tokens", anchor="start", colour="muted", size=11)
    art.line([(350, 180), (420, 180)], arrow=True)
    art.box(424, 166, 32, 28, fill="host")
    art.line([(460, 180), (540, 180)], arrow=True)
    art.text(440, 208, "a packet of n bytes leaves")
    return art.svg()


def _arrival() -> str:
    art = Sketch(
        "lab05-arrival",
        560,
        250,
        "What may leave in a time t",
        "Bytes sent over time. The bound begins at b and rises with the slope r. A sender that was idle follows the "
        "pace of the wire until it meets the bound, and then the bound. The same without a burst begins at zero.",
    )
    x, y = 70.0, 210.0
    art.line([(x, y), (x + 440, y)], arrow=True)
    art.line([(x, y), (x, y - 190)], arrow=True)
    art.text(x + 440, y + 16, "time t", anchor="end")
    art.text(x + 8, y - 184, "bytes sent", anchor="start")
    art.line(scaled([(0, 60), (400, 172)], (x, y), 1, 1), colour=BLUE, width=2, dash="6 4")
    art.line(scaled([(0, 0), (400, 112)], (x, y), 1, 1), colour="line", dash="2 3")
    meet = 60 / (3.2 - 0.28)
    art.line(scaled([(0, 0), (meet, 3.2 * meet), (400, 172)], (x, y), 1, 1), colour=VERMILLION, width=2.5)
    art.text(x - 8, y - 60, "b", anchor="end", bold=True, colour=BLUE)
    art.text(x + 215, y - 140, "b + r · t: never more than this", anchor="end", colour=BLUE)
    art.text(x + 408, y - 112, "r · t", anchor="start", colour="muted")
    art.line([(x + 104, y - 16), (x + 12, y - 30)], colour=VERMILLION, width=1, arrow=True)
    art.text(x + 110, y - 15, "a burst at the pace of the wire, until the bucket is empty", anchor="start", size=11)
    art.text(x + 296, y - 117, "then the rate", anchor="start", colour=VERMILLION)
    return art.svg()


def _chain() -> str:
    art = Sketch(
        "lab05-chain",
        560,
        150,
        "Queueing disciplines in a chain",
        "A packet that leaves through s1-eth2 first passes netem with the handle 1: at the root, which delays it, then "
        "tbf with the handle 2: and the parent 1:, which limits the rate, and then reaches the wire.",
    )
    art.box(100, 10, 370, 100, fill="none", edge="#66788a", corner=8)
    art.text(285, 26, "s1-eth2", colour="muted")
    art.line([(14, 70), (124, 70)], arrow=True)
    art.text(50, 58, "packets")
    art.box(128, 48, 130, 44, fill="host")
    art.text(193, 62, "netem 1:", bold=True)
    art.text(193, 80, "delay 10ms", size=11)
    art.line([(260, 70), (308, 70)], arrow=True)
    art.box(312, 48, 130, 44, fill="switch")
    art.text(377, 62, "tbf 2:", bold=True)
    art.text(377, 80, "rate 2gbit", size=11)
    art.line([(444, 70), (540, 70)], arrow=True)
    art.text(512, 58, "wire")
    art.text(193, 128, "root", bold=True)
    art.text(377, 128, "parent 1:", bold=True)
    art.line([(342, 128), (216, 128)], colour=GREEN, dash="4 3", arrow=True)
    return art.svg()
