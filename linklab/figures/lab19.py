# SPDX-License-Identifier: BSD-3-Clause
"""Figures of Lab 19: the three parts of PIE, and how its two terms answer a rise of the delay."""

from __future__ import annotations

from linklab.figures.svg import BLUE, GREEN, VERMILLION, Point, Sketch, scaled

ALPHA, BETA, UPDATE_S = 2 / 16, 25 / 16, 0.005
"""α and β in 1/s and tupdate, as the lab sets them; kernel: net/sched/sch_pie.c, pie_calculate_probability."""


def draw() -> dict[str, str]:
    """File name → SVG."""
    return {"controller.svg": _controller(), "answer.svg": _answer()}


def _controller() -> str:
    art = Sketch(
        "lab19-controller",
        560,
        250,
        "The three parts of PIE",
        "Packets arrive from the left and are dropped with probability p or put into a queue. A packet gets a time "
        "stamp when it enters, and its delay is known when it leaves to the link. Every tupdate a controller compares "
        "the delay with the target and with the delay before, and sets p anew.",
    )
    art.line([(10, 70), (72, 70)], arrow=True)
    art.text(40, 56, "packets", size=11)
    art.dot(106, 70, 30, fill="router")
    art.text(106, 64, "drop", bold=True)
    art.text(106, 78, "with p", size=11)
    art.line([(106, 102), (106, 134)], colour=VERMILLION, width=2, arrow=True)
    art.text(106, 146, "dropped", colour="muted", size=11)
    art.line([(138, 70), (180, 70)], arrow=True)
    art.line([(184, 44), (420, 44)], colour=BLUE, width=2.5)
    art.line([(184, 96), (420, 96)], colour=BLUE, width=2.5)
    art.line([(420, 44), (420, 96)], colour=BLUE, width=2.5)
    for place in range(7):
        art.box(398 - 20 * place, 50, 15, 40, fill="host", corner=1)
    art.line([(424, 70), (548, 70)], arrow=True)
    art.text(500, 56, "link", size=11)
    art.text(190, 30, "stamped with the time", anchor="start", colour="muted", size=11)
    art.box(200, 176, 210, 56, fill="switch", corner=8)
    art.text(305, 194, "controller, every tupdate", bold=True)
    art.text(305, 214, "α · (delay − target) + β · change", size=11)
    art.line([(450, 72), (450, 204), (414, 204)], colour=GREEN, dash="5 3", arrow=True)
    art.text(456, 140, "delay", anchor="start", colour=GREEN)
    art.line([(498, 220), (414, 220)], arrow=True)
    art.text(504, 220, "target", anchor="start")
    art.line([(198, 204), (60, 204), (60, 100), (82, 86)], colour=GREEN, dash="5 3", arrow=True)
    art.text(130, 192, "p", colour=GREEN, bold=True)
    return art.svg()


def probability(alpha: float, beta: float, delays_s: list[float], target_s: float) -> list[float]:
    """p after each update, from 0, without the scaling of small p: RFC 8033, section 4.2."""
    p, before, found = 0.0, delays_s[0], []
    for delay in delays_s:
        p = max(0.0, p + alpha * (delay - target_s) + beta * (delay - before))
        before = delay
        found.append(p)
    return found


def _answer() -> str:
    art = Sketch(
        "lab19-answer",
        560,
        300,
        "How the two terms answer",
        "Above: the delay rises from the target of 22 ms to 32 ms within 50 ms and stays there. Below: with α alone p "
        "stays at 0 at first and then climbs in a straight line; with β alone it rises with the delay and then stays; "
        "with both it rises and goes on climbing.",
    )
    steps = 60
    delays = [0.022 + 0.010 * min(1.0, max(0.0, (step - 10) / 10)) for step in range(steps)]
    x, per_step = 60.0, 7.4
    art.text(x + 8, 14, "delay", anchor="start")
    art.line([(x, 100), (x + 470, 100)], arrow=True)
    art.line([(x, 100), (x, 8)], arrow=True)
    upper: list[Point] = [(step, delay * 1000 - 20) for step, delay in enumerate(delays)]
    art.line(scaled([(0, 2), (steps, 2)], (x, 100), per_step, 5), dash="2 3", width=1)
    art.text(x - 6, 90, "target", anchor="end", size=11)
    art.line(scaled(upper, (x, 100), per_step, 5), colour="line", width=2.5)
    art.text(x + 470, 54, "10 ms above", anchor="end", size=11)
    art.text(x + 8, 132, "p", anchor="start")
    art.line([(x, 270), (x + 470, 270)], arrow=True)
    art.line([(x, 270), (x, 124)], arrow=True)
    art.text(x + 470, 286, "time, 300 ms in all", anchor="end", size=11)
    lines = (("α alone", ALPHA, 0.0, VERMILLION), ("β alone", 0.0, BETA, GREEN), ("both", ALPHA, BETA, BLUE))
    for name, alpha, beta, colour in lines:
        found = probability(alpha, beta, delays, 0.022)
        points: list[Point] = list(enumerate(found))
        art.line(scaled(points, (x, 270), per_step, 1900), colour=colour, width=2.5)
        art.text(x + per_step * (steps - 1) + 6, 270 - 1900 * found[-1], name, anchor="start", size=11, colour=colour)
    art.text(x - 6, 270, "0", anchor="end", size=11)
    return art.svg()
