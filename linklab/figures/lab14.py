# SPDX-License-Identifier: BSD-3-Clause
"""Figures of Lab 14: where a packet spends its time at a port, and what more data in flight brings and costs."""

from __future__ import annotations

from linklab.figures.svg import BLUE, GREEN, PURPLE, VERMILLION, Sketch


def draw() -> dict[str, str]:
    """File name → SVG."""
    return {"delays.svg": _delays(), "regions.svg": _regions()}


def _delays() -> str:
    art = Sketch(
        "lab14-delays",
        560,
        170,
        "The four delays of a packet at one hop",
        "A packet enters a switch, is processed, waits in a queue behind others, is transmitted bit by bit onto the "
        "link, and propagates to the next switch.",
    )
    art.box(60, 34, 270, 76, fill="switch", corner=10)
    art.line([(12, 72), (78, 72)], arrow=True)
    art.box(82, 56, 34, 32, fill="other")
    art.text(99, 72, "?", bold=True)
    art.line([(118, 72), (146, 72)], arrow=True)
    art.line([(150, 54), (276, 54)], colour=BLUE, width=2)
    art.line([(150, 90), (276, 90)], colour=BLUE, width=2)
    for x in (256, 236, 216, 196):
        art.box(x, 59, 15, 26, fill="host", corner=1)
    art.line([(278, 72), (318, 72)], arrow=True)
    art.line([(330, 72), (520, 72)], colour="line", width=3)
    art.box(336, 62, 44, 20, fill=VERMILLION, edge=VERMILLION, corner=1)
    art.line([(392, 52), (506, 52)], arrow=True)
    art.box(520, 48, 34, 48, fill="switch", corner=10)
    art.text(99, 130, "processing", bold=True)
    art.text(212, 130, "queueing", bold=True, colour=BLUE)
    art.text(340, 130, "transmission", bold=True, colour=VERMILLION)
    art.text(456, 130, "propagation", bold=True)
    art.text(99, 148, "µs", colour="muted", size=11)
    art.text(212, 148, "queue ÷ rate", colour="muted", size=11)
    art.text(340, 148, "packet ÷ rate", colour="muted", size=11)
    art.text(456, 148, "5 µs/km", colour="muted", size=11)
    return art.svg()


def _regions() -> str:
    art = Sketch(
        "lab14-regions",
        560,
        334,
        "Throughput and round-trip time against the data in flight",
        "Two curves over one axis, the data in flight, divided into three regions at BDP and at BDP plus buffer. The "
        "throughput rises up to BDP and is constant from there. The round-trip time is constant up to BDP, rises in "
        "the second region, and ends where packets are dropped. BBR aims at the first border, loss-driven congestion "
        "control settles at the second.",
    )
    left, bdp, full, right = 80, 230, 430, 530
    for base, name in ((130, "throughput"), (280, "RTT")):
        art.line([(left, base), (right, base)], arrow=True)
        art.line([(left, base), (left, base - 100)], arrow=True)
        art.text(left - 12, base - 50, name, turn=-90)
    art.line([(left, 130), (bdp, 50), (right - 20, 50)], colour=BLUE, width=2.5)
    art.text(left + 6, 44, "rate of the bottleneck", anchor="start", size=11, colour="muted")
    art.line([(left, 250), (bdp, 250), (full, 195)], colour=VERMILLION, width=2.5)
    art.text(left + 6, 240, "propagation", anchor="start", size=11, colour="muted")
    for x, name in ((bdp, "BDP"), (full, "BDP + buffer")):
        art.line([(x, 24), (x, 290)], dash="5 4")
        art.text(x, 302, name, bold=True)
    for start, end, name in ((left, bdp, "not full"), (bdp, full, "queue grows"), (full, right, "drops")):
        art.text((start + end) / 2, 14, name)
    art.dot(bdp, 50, 6, fill="none", edge=GREEN)
    art.dot(bdp, 250, 6, fill="none", edge=GREEN)
    art.text(bdp + 10, 68, "best", anchor="start", colour=GREEN, bold=True)
    art.dot(full, 50, 6, fill="none", edge=PURPLE)
    art.dot(full, 195, 6, fill="none", edge=PURPLE)
    art.text(full + 8, 68, "losses", anchor="start", colour=PURPLE, bold=True)
    art.text(right, 322, "data in flight", anchor="end")
    return art.svg()
