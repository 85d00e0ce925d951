# SPDX-License-Identifier: BSD-3-Clause
"""Figures of Lab 11: inside of a switch, head-of-line blocking, and a window over two sizes of buffer."""

from __future__ import annotations

from linklab.figures.svg import BLUE, GREEN, VERMILLION, Sketch

TRIPS = 120
"""Round trips drawn of the window."""


def draw() -> dict[str, str]:
    """File name → SVG."""
    return {"switch.svg": _switch(), "hol.svg": _hol(), "sizing.svg": _sizing()}


def _queue(art: Sketch, x: float, y: float, packets: str) -> None:
    """A queue that is open to the left, 62 by 26, with packets "1" and "2" named by their output, the first right."""
    for line in ([(x, y), (x + 62, y)], [(x, y + 26), (x + 62, y + 26)], [(x + 62, y), (x + 62, y + 26)]):
        art.line(line)
    for place, output in enumerate(packets):
        colour = GREEN if output == "1" else BLUE
        art.box(x + 44 - 18 * place, y + 4, 15, 18, fill=colour, edge=colour, corner=1)


def _switch() -> str:
    art = Sketch(
        "lab11-switch",
        560,
        260,
        "Inside of a switch",
        "Two input ports on the left, each with a queue and a forwarding table, a fabric in the middle, and two output "
        "ports on the right, each with a queue. Above, a routing processor fills the tables.",
    )
    art.box(190, 14, 180, 44, fill="router")
    art.text(280, 28, "routing processor", bold=True)
    art.text(280, 45, "control plane: ms to s", size=11)
    art.box(236, 96, 88, 144, fill="switch")
    art.text(280, 160, "fabric", bold=True)
    art.text(280, 178, "data plane: ns", size=11)
    for number, (y, packets) in enumerate(((106, "12"), (186, "1"))):
        art.line([(8, y + 13), (40, y + 13)], arrow=True)
        art.text(24, y, f"in {number + 1}", size=11)
        _queue(art, 44, y, packets)
        art.box(124, y - 6, 66, 38, fill="other")
        art.text(157, y + 6, "forwarding", size=10)
        art.text(157, y + 20, "table", size=10)
        art.line([(106, y + 13), (121, y + 13)])
        art.line([(190, y + 13), (233, y + 13)], arrow=True)
        turn = [(212, 58), (157, 97)] if number == 0 else [(224, 58), (213, 78), (213, 190), (193, 196)]
        art.line(turn, dash="4 3", arrow=True, colour=VERMILLION, width=1)
    for number, (y, packets) in enumerate(((106, "111"), (186, "2"))):
        art.line([(324, y + 13), (376, y + 13)], arrow=True)
        _queue(art, 380, y, packets)
        art.line([(442, y + 13), (520, y + 13)], arrow=True)
        art.text(500, y, f"out {number + 1}", size=11)
    art.text(411, 148, "queue builds up here", size=11, colour="muted")
    return art.svg()


def _hol() -> str:
    art = Sketch(
        "lab11-hol",
        560,
        190,
        "Head-of-line blocking",
        "At input 1 the first packet is for output 1 and is being moved. At input 2 the first packet is for output 1 "
        "as well and waits; behind it a packet for output 2 waits too, although output 2 is free.",
    )
    art.box(236, 24, 88, 132, fill="switch")
    art.text(280, 90, "fabric", bold=True)
    for y, name, packets in ((40, "input 1", "1"), (114, "input 2", "12")):
        art.text(20, y + 13, name, anchor="start")
        _queue(art, 90, y, packets)
        art.line(
            [(152, y + 13), (233, y + 13)],
            colour=GREEN if y < 80 else "line",
            dash="" if y < 80 else "4 3",
            arrow=y < 80,
        )
    art.text(160, 104, "waits for output 1", size=11, colour="muted")
    art.text(124, 154, "held up, although output 2 is free", size=11, colour=VERMILLION)
    for y, name in ((40, "output 1"), (114, "output 2")):
        art.line([(324, y + 13), (420, y + 13)], colour=GREEN if y < 80 else "line", arrow=True)
        art.text(428, y + 13, name, anchor="start")
    art.text(372, 42, "busy", size=11, colour=GREEN)
    art.text(372, 116, "idle", size=11, colour="muted")
    art.box(20, 176, 10, 10, fill=GREEN, edge=GREEN, corner=1)
    art.text(36, 181, "for output 1", anchor="start", size=11)
    art.box(130, 176, 10, 10, fill=BLUE, edge=BLUE, corner=1)
    art.text(146, 181, "for output 2", anchor="start", size=11)
    return art.svg()


def _window(room: float) -> list[float]:
    """Window in BDP over round trips: grows by a hundredth, is halved where it exceeds what path and buffer hold."""
    window, values = 0.75, []
    for _ in range(TRIPS + 1):
        values.append(window)
        window = window / 2 if window >= 1 + room else window + 0.025
    return values


def _sizing() -> str:
    art = Sketch(
        "lab11-sizing",
        560,
        270,
        "Window of a Reno flow with two sizes of buffer",
        "Two plots of the window over round trips, with a line at the bandwidth-delay product. With a buffer of one "
        "BDP the window moves between one and two BDP. With almost no buffer it moves between one half and one BDP, "
        "and the area between it and the line is what the link does not carry.",
    )
    width, unit, base = 210, 84, 214
    for left, room, name in ((44, 1.0, "buffer: one BDP"), (326, 0.02, "buffer: almost none")):
        art.text(left + width / 2, 14, name, bold=True)
        values = _window(room)
        points = [(left + width * trip / TRIPS, base - unit * value) for trip, value in enumerate(values)]
        if room < 0.5:  # what is missing, drawn as upright lines
            for x, y in points[::2]:
                if y > base - unit:
                    art.line([(x, y), (x, base - unit)], colour=VERMILLION, width=1)
        art.axes(left, base, width + 14, 2.15 * unit, across="round trips", up="")
        art.text(left + 8, base - 2.12 * unit, "window in BDP", anchor="start", size=11)
        art.line([(left, base - unit), (left + width, base - unit)], colour=GREEN, dash="5 3")
        art.text(left - 6, base - unit, "1", anchor="end")
        art.text(left - 6, base - 2 * unit, "2", anchor="end")
        art.line(points, colour=BLUE, width=2)
    art.text(44 + 105, base - unit + 14, "what the path holds (BDP)", size=11, colour="muted")
    art.text(122, base - 1.2 * unit, "queue", size=11, colour="muted")
    art.text(326 + 108, base - unit - 16, "red: the link idles", size=11, colour=VERMILLION)
    return art.svg()
