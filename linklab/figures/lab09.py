# SPDX-License-Identifier: BSD-3-Clause
"""Figures of Lab 9: a transfer over several connections, and what one loss does to one stream and to eight."""

from __future__ import annotations

from linklab.figures.svg import BLUE, GREEN, VERMILLION, Sketch

CUTS = (12, 31, 43, 64, 78, 91)
"""Round trips at which a packet is lost; one of them hits the single stream or one of the eight."""
TRIPS = 100


def draw() -> dict[str, str]:
    """File name → SVG."""
    return {"streams.svg": _streams(), "sawtooth.svg": _sawtooth()}


def _streams() -> str:
    art = Sketch(
        "lab09-streams",
        560,
        240,
        "A transfer over three streams",
        "Sender and receiver are joined by a control connection and by three data connections. Blocks 1 to 9 of a file "
        "are spread over the three: the first carries 1, 4 and 7, the second 2, 5 and 8, the third 3, 6 and 9.",
    )
    for x, name in ((14, "sender"), (426, "receiver")):
        art.box(x, 34, 120, 170, fill="host")
        art.text(x + 60, 18, name, bold=True)
        art.text(x + 60, 52, "control")
        for number in range(3):
            art.text(x + 60, 96 + 42 * number, f"data {number + 1}")
    art.line([(136, 54), (424, 54)], colour=VERMILLION, dash="6 4", arrow=True)
    art.text(280, 42, "control connection")
    for number in range(3):
        y = 96 + 42 * number
        art.line([(136, y), (424, y)], colour=BLUE, width=2, arrow=True)
        for place in range(3):
            x = 180 + 70 * place
            art.box(x, y - 12, 40, 24, fill="other")
            art.text(x + 20, y, str(3 * (2 - place) + number + 1))
    art.text(280, 226, "three streams, each with its own buffers and congestion window", colour="muted", size=11)
    return art.svg()


def _windows(streams: int) -> list[float]:
    """Sum of the congestion windows at each round trip, as a share of where it is cut; the losses hit them in turn."""
    each = [1.0 / streams * (0.55 + 0.45 * (number + 1) / streams) for number in range(streams)]
    growth = 0.5 / 60  # of one stream in a round trip
    total = []
    for trip in range(TRIPS + 1):
        if trip in CUTS:
            index = max(range(streams), key=lambda number: each[number])
            each[index] /= 2
        else:
            each = [value + growth for value in each]
        if sum(each) > 1:
            each = [value / sum(each) for value in each]
        total.append(sum(each))
    return total


def _sawtooth() -> str:
    art = Sketch(
        "lab09-sawtooth",
        560,
        230,
        "Six losses, taken by one stream and by one of eight",
        "Two plots of the data in flight against time. With one stream each of six losses halves the whole and it "
        "climbs back slowly, staying far below the capacity of the path. With eight streams each loss takes a small "
        "notch out of the sum, which is back at the capacity soon.",
    )
    width, height, base = 206, 140, 182
    for left, streams, name, colour in ((44, 1, "one stream", VERMILLION), (326, 8, "eight streams", BLUE)):
        art.axes(left, base, width + 14, height + 16, across="round trips", up="in flight")
        art.text(left + width / 2, 14, name, bold=True)
        art.line([(left, base - height), (left + width, base - height)], colour=GREEN, dash="5 3")
        art.text(left + width, base - height - 9, "what the path holds", anchor="end", size=10, colour="muted")
        points, before = [], None
        for trip, value in enumerate(_windows(streams)):
            x, y = left + width * trip / TRIPS, base - height * value
            if before is not None and trip in CUTS:
                points.append((x, before))
            points.append((x, y))
            before = y
        art.line(points, colour=colour, width=2)
    art.text(280, 220, "each loss cuts the stream that it hits to one half", colour="muted", size=11)
    return art.svg()
