# SPDX-License-Identifier: BSD-3-Clause
"""Figure of Lab 21: what the RRUL test sends through the queues of both directions."""

from __future__ import annotations

from linklab.figures.svg import BLUE, GREEN, VERMILLION, Sketch

QUEUE_PACKETS = 6
"""Packets that a queue shows."""


def draw() -> dict[str, str]:
    """File name → SVG."""
    return {"rrul.svg": _rrul()}


def _rrul() -> str:
    art = Sketch(
        "lab21-rrul",
        560,
        230,
        "What RRUL sends",
        "h1 on the left, h2 on the right, and between them the bottleneck with a queue for each direction. Four TCP "
        "flows go from h1 through the upper queue to h2, and four from h2 through the lower queue to h1. A ping and "
        "three UDP probes go from h1 through the upper queue to h2 and come back through the lower one.",
    )
    for x, name in ((10, "h1"), (488, "h2")):
        art.box(x, 60, 62, 110, fill="host", corner=8)
        art.text(x + 31, 115, name, bold=True)
    art.box(206, 24, 148, 182, fill="none", corner=8)
    art.text(280, 14, "bottleneck", colour="muted")
    _direction(art, 48, "4 TCP flows up", BLUE, right=True)
    _direction(art, 140, "4 TCP flows down", VERMILLION, right=False)
    art.line([(76, 106), (200, 106)], colour=GREEN, dash="5 4", arrow=True)
    art.line([(360, 106), (484, 106)], colour=GREEN, dash="5 4", arrow=True)
    art.line([(484, 126), (360, 126)], colour=GREEN, dash="5 4", arrow=True)
    art.line([(200, 126), (76, 126)], colour=GREEN, dash="5 4", arrow=True)
    art.text(280, 116, "ping, 3 UDP probes", colour=GREEN, size=11)
    return art.svg()


def _direction(art: Sketch, y: float, name: str, colour: str, *, right: bool) -> None:
    """Four flows, and the queue that they share; `y` is the queue's upper edge."""
    for place in range(4):
        at = y + 7 * place + 8
        for left, end in ((76, 200), (360, 484)):
            ends = [(left, at), (end, at)] if right else [(end, at), (left, at)]
            art.line(ends, colour=colour, arrow=True)
    art.text(138, y - 8 if right else y + 50, name, colour=colour, size=11)
    art.line([(222, y), (338, y), (338, y + 36), (222, y + 36)] if right else _open_right(y))
    for place in range(QUEUE_PACKETS):
        x = 320 - 16 * place if right else 228 + 16 * place
        art.box(x, y + 6, 12, 24, fill=colour, edge=colour, corner=1)


def _open_right(y: float) -> list[tuple[float, float]]:
    return [(338, y), (222, y), (222, y + 36), (338, y + 36)]
