# SPDX-License-Identifier: BSD-3-Clause
"""Figures of Lab 7: where a connection can work, and BBR's cycle of eight round trips."""

from __future__ import annotations

from linklab.figures.svg import BLUE, GREEN, VERMILLION, Point, Sketch, scaled

GAINS = (1.25, 0.75, 1, 1, 1, 1, 1, 1)
"""Pacing gains of BBR's ProbeBW state, one a round trip: net/ipv4/tcp_bbr.c, bbr_pacing_gain."""


def draw() -> dict[str, str]:
    """File name → SVG."""
    return {"operating.svg": _operating(), "cycle.svg": _cycle()}


def _operating() -> str:
    art = Sketch(
        "lab07-operating",
        560,
        340,
        "Throughput and round-trip time over the data in flight",
        "Up to one bandwidth-delay product the throughput rises and the round-trip time stays at its smallest. From "
        "there to one bandwidth-delay product plus the buffer the throughput stays and the round-trip time rises. "
        "Beyond, packets are dropped. BBR works at the first border, loss-based algorithms at the second.",
    )
    x, bdp, full, end = 96.0, 150.0, 310.0, 400.0
    for y, name in ((160.0, "round-trip time"), (300.0, "throughput")):
        art.line([(x, y), (x + 440, y)], arrow=True)
        art.line([(x, y), (x, y - 118)], arrow=True)
        art.text(x + 8, y - 114, name, anchor="start")
    art.text(x + 440, 332, "data in flight", anchor="end")
    for at in (bdp, full):
        art.line([(x + at, 26), (x + at, 300)], dash="2 3", width=1)
    art.line(scaled([(0, 40), (bdp, 40), (full, 96)], (x, 160), 1, 1), colour=BLUE, width=2.5)
    art.line(scaled([(0, 0), (bdp, 84), (end, 84)], (x, 300), 1, 1), colour=BLUE, width=2.5)
    art.text(x - 8, 120, "smallest RTT", anchor="end", size=11)
    art.text(x - 8, 216, "bottleneck's", anchor="end", size=11)
    art.text(x - 8, 229, "rate", anchor="end", size=11)
    art.line([(x, 216), (x + bdp, 216)], dash="2 3", width=1)
    for origin, heights in ((160.0, (40.0, 96.0)), (300.0, (84.0, 84.0))):
        art.dot(x + bdp, origin - heights[0], 5.5, fill=GREEN, edge=GREEN)
        art.dot(x + full, origin - heights[1], 5.5, fill=VERMILLION, edge=VERMILLION)
    art.text(x + bdp, 15, "BBR aims here", bold=True, colour=GREEN)
    art.text(x + full, 15, "losses: Reno, CUBIC", bold=True, colour=VERMILLION)
    art.text(x + bdp, 314, "BDP", size=11)
    art.text(x + full, 314, "BDP + buffer", size=11)
    art.text(x + bdp / 2, 290, "path not full", size=11, colour="muted")
    art.text(x + (bdp + full) / 2, 290, "queue grows", size=11, colour="muted")
    art.text(x + (full + end) / 2 + 8, 290, "drops", size=11, colour="muted")
    return art.svg()


def _cycle() -> str:
    art = Sketch(
        "lab07-cycle",
        560,
        240,
        "BBR's cycle of eight round trips",
        "In the first round trip of each cycle BBR sends at 1.25 times the estimated rate, in the second at 0.75 "
        "times, in the other six at the estimated rate. The queue at the bottleneck grows during the first, drains "
        "during the second and stays near empty.",
    )
    x, y, trip, unit = 96.0, 150.0, 26.0, 80.0
    art.line([(x, y), (x + 440, y)], arrow=True)
    art.line([(x, y), (x, 14)], arrow=True)
    art.text(x + 8, 18, "sending rate", anchor="start")
    steps: list[Point] = []
    for number, gain in enumerate([*GAINS, *GAINS]):
        steps += [(number * trip, gain), ((number + 1) * trip, gain)]
    art.line(scaled([(0, 1), (16 * trip, 1)], (x, y), 1, unit), dash="2 3", width=1)
    art.line(scaled(steps, (x, y), 1, unit), colour=BLUE, width=2.5)
    for gain, name in ((1.25, "1.25 ×"), (1.0, "1 ×"), (0.75, "0.75 ×")):
        art.text(x - 8, y - gain * unit, name, anchor="end", size=11)
    art.text(x + 8 + trip, y - 1.25 * unit - 2, "probe", anchor="start", size=11)
    art.text(x + 2.3 * trip, y - 0.75 * unit, "drain", anchor="start", size=11)
    art.text(x + 5.2 * trip, y - unit - 9, "cruise for six round trips", size=11)
    art.line(scaled([(0, -8), (8 * trip, -8)], (x, y), 1, 1), arrow=True, width=1)
    art.line(scaled([(8 * trip, -8), (0, -8)], (x, y), 1, 1), arrow=True, width=1)
    art.text(x + 4 * trip, y + 18, "eight round trips", size=11)
    base = 220.0
    art.line([(x, base), (x + 440, base)], arrow=True)
    queue = [(0, 0), (1, 26), (2, 0), (8, 0), (9, 26), (10, 0), (16, 0)]
    art.line(scaled([(at, height) for at, height in queue], (x, base), trip, 1), colour=VERMILLION, width=2.5)
    art.text(x - 8, base - 8, "queue", anchor="end", size=11)
    art.text(x + 440, base + 13, "time", anchor="end")
    return art.svg()
