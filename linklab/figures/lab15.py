# SPDX-License-Identifier: BSD-3-Clause
"""Figures of Lab 15: who cuts the data into segments, and a delay line that counts packets."""

from __future__ import annotations

from linklab.figures.svg import BLUE, VERMILLION, Sketch

SEGMENTS = 5


def draw() -> dict[str, str]:
    """File name → SVG."""
    return {"layers.svg": _layers(), "limit.svg": _limit()}


def _layers() -> str:
    art = Sketch(
        "lab15-layers",
        560,
        330,
        "Segments with and without offloading",
        "Two columns of layers: program, TCP, IP and queueing discipline, network card, wire. Without offloading TCP "
        "cuts the data into five segments, and each goes through all the layers below. With offloading one large "
        "packet goes down to the card, and the card cuts it. On the wire are five frames in both cases.",
    )
    rows = (("program", 40), ("TCP", 98), ("IP, discipline", 156), ("network card", 214), ("wire", 280))
    for left, title, cut in ((84, "without offloading", 1), (326, "with offloading", 3)):
        art.text(left + 105, 12, title, bold=True)
        for row, (name, y) in enumerate(rows):
            if left == 84:
                art.text(76, y + 10, name, anchor="end", size=11)
            if row < 4:
                art.box(left, y - 12, 210, 44, fill="other", corner=6)
            if row < cut or (row == cut and cut == 3):
                art.box(left + 15, y, 180, 20, fill="host", corner=2)
                art.text(left + 105, y + 10, "data" if row == 0 else "header, data", size=11)
            if row >= cut:
                at = y + (12 if row == cut and cut == 3 else 0)
                for number in range(SEGMENTS):
                    if row == cut and cut == 3:
                        art.line([(left + 15 + 36 * (number + 1), y), (left + 15 + 36 * (number + 1), y + 20)])
                    else:
                        art.box(left + 15 + 37 * number, at, 32, 20, fill="host", edge=BLUE, corner=2)
            if row < 4:
                art.line([(left + 105, y + 33), (left + 105, y + 44)], arrow=True, width=1)
        y = rows[cut][1]
        art.text(left + 105, y + 27 if cut == 3 else y - 5, "cut here", size=10, colour=VERMILLION, bold=True)
    art.line([(84, 308), (294, 308)], width=2)
    art.line([(326, 308), (536, 308)], width=2)
    return art.svg()


def _limit() -> str:
    art = Sketch(
        "lab15-limit",
        560,
        230,
        "A delay line of a thousand packets",
        "Two delay lines of 20 ms. Above, with offloading, a few dozen large packets lie in it, and the mark of a "
        "thousand is far away. Below, without offloading, it is full of small packets, and further ones are dropped.",
    )
    for top, title, note in (
        (34, "with offloading: 37 packets of 68,130 bytes fill 1 Gbps for 20 ms", "room for 963 more"),
        (144, "without: 1,652 packets of 1,514 bytes would fill it", "room for 1,000"),
    ):
        art.text(60, top - 16, title, anchor="start", bold=True)
        art.line([(60, top), (440, top)], colour=BLUE, width=2.5)
        art.line([(60, top + 44), (440, top + 44)], colour=BLUE, width=2.5)
        art.line([(10, top + 22), (54, top + 22)], arrow=True)
        art.line([(446, top + 22), (500, top + 22)], arrow=True)
        art.text(448, top + 58, "20 ms later", colour="muted", size=11, anchor="start")
        art.text(250, top + 60, note, size=11, colour="muted")
    for place in range(7):
        art.box(70 + 53 * place, 41, 44, 30, fill="host", corner=2)
    for place in range(62):
        art.box(64 + 6 * place, 151, 3, 30, fill=BLUE, edge=BLUE, corner=0)
    art.line([(36, 172), (36, 206)], colour=VERMILLION, width=2, arrow=True)
    art.text(36, 218, "dropped", colour=VERMILLION, size=11)
    return art.svg()
