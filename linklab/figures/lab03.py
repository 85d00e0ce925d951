# SPDX-License-Identifier: BSD-3-Clause
"""Figures of Lab 3: where a queueing discipline stands, and two distributions of delay."""

from __future__ import annotations

import math

from linklab.figures.svg import BLUE, VERMILLION, Sketch, scaled


def draw() -> dict[str, str]:
    """File name → SVG."""
    return {"stack.svg": _stack(), "distributions.svg": _distributions()}


def _stack() -> str:
    art = Sketch(
        "lab03-stack",
        560,
        300,
        "Where a queueing discipline stands",
        "In host h1 a packet goes down from the program through TCP or ICMP and IP to the queueing discipline of "
        "h1-eth0, and from there through the interface to the wire. In host h2 it goes up from the interface to IP "
        "without passing a discipline; the reply passes that of h2-eth0 on its way out.",
    )
    layers = [("program (ping, iperf3)", 20), ("TCP, UDP, ICMP", 70), ("IP", 120), ("interface", 240)]
    for x, host, reply in ((20, "h1", False), (320, "h2", True)):
        art.text(x + 110, 8, host, bold=True)
        for name, y in layers:
            label = f"{name} {host}-eth0" if name == "interface" else name
            art.box(x, y, 220, 32, fill="host")
            art.text(x + 110, y + 16, label)
        art.box(x + (0 if reply else 110), 180, 110, 36, fill="router", edge=VERMILLION)
        art.text(x + (55 if reply else 165), 191, "queueing", size=11)
        art.text(x + (55 if reply else 165), 205, "discipline", size=11)
        down, up = (x + 55, x + 165) if reply else (x + 165, x + 55)
        art.line([(down, 152), (down, 180)], colour=BLUE, width=2, arrow=True)
        art.line([(down, 216), (down, 240)], colour=BLUE, width=2, arrow=True)
        art.line([(up, 240), (up, 152)], colour=BLUE, width=2, arrow=True)
        art.text(
            up + (8 if reply else -8), 198, "arriving", colour="muted", size=11, anchor="start" if reply else "end"
        )
    art.line([(240, 256), (320, 256)], width=2)
    art.text(280, 286, "wire, or veth pair and switch", colour="muted", size=11)
    return art.svg()


def _distributions() -> str:
    art = Sketch(
        "lab03-distributions",
        560,
        210,
        "Uniform and normal jitter",
        "How often each delay from 30 to 170 ms is drawn. Uniform with jitter 10 ms: a box from 90 to 110 ms. Normal "
        "with jitter 20 ms: a bell around 100 ms, flat by 40 and 160 ms; a third of it lies outside 80 to 120 ms.",
    )
    origin, per_ms, per_share = (50.0, 170.0), 3.4, 2800.0
    art.axes(*origin, 490, 155, across="delay in ms", up="how often")
    for delay in range(40, 160, 20):
        x = origin[0] + (delay - 30) * per_ms
        art.line([(x, 170), (x, 175)])
        art.text(x, 185, str(delay), colour="muted", size=11)
    uniform = [(60.0, 0.0), (60.0, 0.05), (80.0, 0.05), (80.0, 0.0)]
    art.line(scaled(uniform, origin, per_ms, per_share), colour=BLUE, width=2)
    bell = [(x, math.exp(-(((x - 70) / 20) ** 2) / 2) / (20 * math.sqrt(2 * math.pi))) for x in range(0, 141, 2)]
    art.line(scaled(bell, origin, per_ms, per_share), colour=VERMILLION, width=2)
    art.text(330, 45, "100ms 10ms", colour=BLUE, anchor="start")
    art.text(350, 120, "100ms 20ms distribution normal", colour=VERMILLION, anchor="start")
    return art.svg()
