# SPDX-License-Identifier: BSD-3-Clause
"""Figures of Lab 16: a queue of RED with its thresholds, averages of a burst, and the chance of a drop."""

from __future__ import annotations

from linklab.figures.svg import BLUE, GREEN, VERMILLION, Point, Sketch, scaled


def draw() -> dict[str, str]:
    """File name → SVG."""
    return {"buffer.svg": _buffer(), "average.svg": _average(), "dropping.svg": _dropping()}


def _buffer() -> str:
    art = Sketch(
        "lab16-buffer",
        560,
        210,
        "A queue that RED manages",
        "Packets arrive from the left, pass a decision and enter a queue that leaves to the right. The queue is marked "
        "at min, max and limit, counted from its exit. The decision looks at the average of the queue: below min the "
        "packet is queued, between min and max it may be dropped, above max it is dropped.",
    )
    art.line([(10, 90), (64, 90)], arrow=True)
    art.text(38, 76, "packets", size=11)
    art.dot(94, 90, 26, fill="router")
    art.text(94, 90, "RED", bold=True)
    art.line([(94, 118), (94, 150)], colour=VERMILLION, width=2, arrow=True)
    art.text(94, 162, "dropped early,", colour="muted", size=11)
    art.text(94, 176, "by chance", colour="muted", size=11)
    art.line([(122, 90), (156, 90)], arrow=True)
    left, right = 160.0, 490.0
    art.line([(left, 62), (right, 62)], colour=BLUE, width=2.5)
    art.line([(left, 118), (right, 118)], colour=BLUE, width=2.5)
    art.line([(right, 62), (right, 118)], colour=BLUE, width=2.5)
    for place in range(8):
        art.box(right - 19 - 18 * place, 69, 14, 42, fill="host", corner=1)
    art.line([(right + 4, 90), (548, 90)], arrow=True)
    art.text(524, 76, "link", size=11)
    for x, name in ((right - 82.5, "min"), (right - 226, "max"), (left, "limit")):
        art.line([(x, 50), (x, 130)], colour=VERMILLION, dash="5 3")
        art.text(x, 142, name, bold=True, colour=VERMILLION)
    art.line([(right - 146, 54), (94, 54), (94, 62)], colour=GREEN, dash="4 3", arrow=True)
    art.text(248, 34, "the average of what stands here, over the last packets", size=11, colour=GREEN)
    art.line([(right, 162), (right - 82.5, 162)], width=1, arrow=True)
    art.text(right - 41, 176, "never dropped", size=11)
    art.line([(right - 82.5, 162), (right - 226, 162)], width=1, arrow=True)
    art.text(right - 154, 176, "some dropped", size=11)
    art.line([(right - 226, 162), (left, 162)], width=1, arrow=True)
    art.text((left + right - 226) / 2, 176, "all dropped", size=11)
    return art.svg()


def burst_average(weight: float, packets: int = 1000, until: int = 3000) -> list[Point]:
    """RED's average, packets, over a burst that comes twice as fast as the link sends, seen by each arriving packet.

    The burst has `packets` packets, so the queue rises to half of them; before and after it packets come and leave in
    turn while the queue drains at half of the link's rate. (Floyd and Jacobson 1993, section 4.)
    """
    average, queue, points = 0.0, 0.0, []
    for number in range(until):
        queue = queue + 0.5 if number < packets else max(0.0, queue - 0.5)
        average += weight * (queue - average)
        points.append((float(number), average))
    return points[::10]


def _average() -> str:
    art = Sketch(
        "lab16-average",
        560,
        240,
        "A burst and its averages",
        "Packets in the queue over packets that have arrived. The queue rises to 500 during a burst of 1,000 and falls "
        "again. The average with a weight of 1/2 covers it, that of 1/128 follows it by about a hundred packets, and "
        "that of 1/2048 rises to about 170 and goes down slowly.",
    )
    origin, per_x, per_y = (60.0, 200.0), 0.155, 0.31
    art.axes(*origin, 485, 185, across="packets that have arrived", up="")
    art.text(origin[0] + 8, 14, "packets in the queue", anchor="start")
    for packets in (1000, 2000):
        x = origin[0] + per_x * packets
        art.line([(x, 200), (x, 205)])
        art.text(x, 214, f"{packets:,}", colour="muted", size=11)
    for packets in (250, 500):
        y = origin[1] - per_y * packets
        art.line([(55, y), (60, y)])
        art.text(52, y, str(packets), colour="muted", size=11, anchor="end")
    art.line(scaled(burst_average(1.0), origin, per_x, per_y), width=5)
    for weight, colour in ((1 / 2, BLUE), (1 / 128, GREEN), (1 / 2048, VERMILLION)):
        art.line(scaled(burst_average(weight), origin, per_x, per_y), colour=colour, width=2)
    art.text(150, 98, "the queue,", anchor="end", colour=BLUE)
    art.text(132, 113, "and w = 1/2", anchor="end", colour=BLUE)
    art.text(300, 90, "w = 1/128", anchor="start", colour=GREEN)
    art.text(400, 130, "w = 1/2048", anchor="start", colour=VERMILLION)
    return art.svg()


def _dropping() -> str:
    art = Sketch(
        "lab16-dropping",
        560,
        230,
        "RED's chance of a drop",
        "Over the average of the queue: zero up to min, from there a straight line up to P at max, then a step to one. "
        "For comparison drop tail: zero up to limit, one beyond it.",
    )
    x, y = 60.0, 190.0
    art.axes(x, y, 470, 180, across="average of the queue (drop tail: the queue itself)", up="")
    art.text(x + 8, 8, "chance of a drop", anchor="start")
    low, high, limit, top, some = 90.0, 270.0, 420.0, 150.0, 42.0
    for height, name in ((top, "1"), (some, "P")):
        art.line([(x - 5, y - height), (x, y - height)])
        art.text(x - 9, y - height, name, anchor="end")
    art.line([(x, y - some), (x + high, y - some)], dash="2 3", width=1)
    for at, name in ((low, "min"), (high, "max"), (limit, "limit")):
        art.line([(x + at, y), (x + at, y - top)], dash="2 3", width=1)
        art.text(x + at, y - top - 10, name, bold=True)
    drop_tail = [(0, 0), (limit, 0), (limit, top), (limit + 40, top)]
    art.line(scaled(drop_tail, (x, y + 2), 1, 1), colour=VERMILLION, width=2, dash="6 4")
    red = [(0, 0), (low, 0), (high, some), (high, top), (limit + 40, top)]
    art.line(scaled(red, (x, y), 1, 1), colour=BLUE, width=2.5)
    art.text(x + high + 10, y - 100, "RED", anchor="start", bold=True, colour=BLUE)
    art.text(x + limit - 10, y - 60, "drop tail", anchor="end", bold=True, colour=VERMILLION)
    return art.svg()
