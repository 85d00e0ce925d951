# SPDX-License-Identifier: BSD-3-Clause
"""Figures of Lab 13: what frames of two sizes carry, the window after a loss, and a link with a smaller MTU."""

from __future__ import annotations

from linklab.figures.svg import BLUE, GREEN, VERMILLION, Sketch


def draw() -> dict[str, str]:
    """File name → SVG."""
    return {"frames.svg": _frames(), "growth.svg": _growth(), "path.svg": _path()}


def _frames() -> str:
    art = Sketch(
        "lab13-frames",
        560,
        190,
        "The same data in standard frames and in a jumbo frame",
        "Above six standard frames side by side, each with a header in front of 1448 bytes of data. Below one jumbo "
        "frame with one header and 8948 bytes of data.",
    )
    art.text(20, 18, "MTU 1500: six frames", anchor="start", bold=True)
    for number in range(6):
        x = 20 + 87.5 * number
        art.box(x, 34, 12, 40, fill=VERMILLION, edge=VERMILLION, corner=0)
        art.box(x + 12, 34, 67, 40, fill="host", corner=0)
        art.text(x + 45.5, 54, "1448")
    art.text(20, 104, "MTU 9000: one frame", anchor="start", bold=True)
    art.box(20, 120, 12, 40, fill=VERMILLION, edge=VERMILLION, corner=0)
    art.box(32, 120, 414, 40, fill="host", corner=0)
    art.text(239, 140, "8948")
    art.line([(450, 148), (512, 148)], dash="3 3")
    art.text(481, 134, "saved", colour="muted", size=11)
    art.box(20, 172, 10, 10, fill=VERMILLION, edge=VERMILLION, corner=0)
    art.text(36, 177, "66 bytes of headers: Ethernet 14, IP 20, TCP 20, time stamps 12", anchor="start", size=11)
    art.text(540, 177, "data in bytes", anchor="end", size=11, colour="muted")
    return art.svg()


def _growth() -> str:
    art = Sketch(
        "lab13-growth",
        560,
        230,
        "The window after a loss, with two segment sizes",
        "Data in flight against round trips. At a loss the window falls to one half. With large segments it is back "
        "after a sixth of the round trips that small segments need.",
    )
    left, base, width, height = 60, 190, 440, 150
    art.axes(left, base, width + 20, height + 20, across="", up="in flight")
    art.text(left + 230, base + 26, "round trips")
    art.line([(left, base - height), (left + width, base - height)], colour=GREEN, dash="5 3")
    art.text(left + width, base - height - 10, "what the path holds", anchor="end", size=11, colour="muted")
    loss, top, half = left + 50, base - height, base - height / 2
    small, large = 360, 60
    art.line([(left, top), (loss, top), (loss, half), (loss + large, top)], colour=BLUE, width=2.5)
    art.line([(loss, half), (loss + small, top)], colour=VERMILLION, width=2.5)
    art.line([(loss, base), (loss, top - 4)], dash="2 3")
    art.text(loss, base + 14, "loss", size=11)
    art.line([(loss + large, base), (loss + large, top - 4)], dash="2 3")
    art.text(loss + large, base + 14, "n", size=11)
    art.line([(loss + small, base), (loss + small, top - 4)], dash="2 3")
    art.text(loss + small, base + 14, "6 n", size=11)
    art.text(loss + 70, half - 50, "MSS 8948", anchor="start", colour=BLUE, bold=True)
    art.text(loss + 215, half - 22, "MSS 1448", anchor="start", colour=VERMILLION, bold=True)
    return art.svg()


def _path() -> str:
    art = Sketch(
        "lab13-path",
        560,
        170,
        "A link with a smaller MTU",
        "Hosts h1 and h2 with switches s1 and s2 between them. The outer links have an MTU of 9000, the link between "
        "the switches one of 1500. A jumbo frame goes from h1 to s1 and is dropped there.",
    )
    nodes = ((20, "h1", "host"), (170, "s1", "switch"), (330, "s2", "switch"), (480, "h2", "host"))
    for x, name, kind in nodes:
        art.box(x, 60, 60, 40, fill=kind)
        art.text(x + 30, 80, name, bold=True)
    for start, end, mtu, colour in (
        (80, 170, "9000", "line"),
        (230, 330, "1500", VERMILLION),
        (390, 480, "9000", "line"),
    ):
        art.line([(start, 80), (end, 80)], colour=colour, width=2.5)
        art.text((start + end) / 2, 94, f"MTU {mtu}", size=11, colour=colour if colour != "line" else "muted")
    art.box(84, 26, 82, 22, fill="host", edge=BLUE)
    art.text(125, 37, "9014 bytes")
    art.line([(170, 37), (196, 37), (196, 56)], colour=BLUE, arrow=True)
    art.line([(218, 102), (218, 130)], colour=VERMILLION, dash="4 3", arrow=True)
    art.text(228, 122, "dropped; h1 is not told", anchor="start", colour="muted", size=11)
    art.text(20, 154, "Small packets pass, so a ping of the usual size finds nothing wrong.", anchor="start", size=11)
    return art.svg()
