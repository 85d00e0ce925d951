# SPDX-License-Identifier: BSD-3-Clause
"""Figures of Lab 8: the buffers of a connection, and what a window that is too small leaves unused."""

from __future__ import annotations

from linklab.figures.svg import BLUE, GREEN, VERMILLION, Sketch


def draw() -> dict[str, str]:
    """File name → SVG."""
    return {"buffers.svg": _buffers(), "window.svg": _window()}


def _buffers() -> str:
    art = Sketch(
        "lab08-buffers",
        560,
        190,
        "Send buffer and receive buffer",
        "Left the sender: the application writes into the send buffer, which holds bytes that are sent and not yet "
        "acknowledged, and bytes that wait. Right the receiver: its buffer holds bytes that the application has not "
        "read; what is free is announced as the receive window. Between the two lies the path with its own bytes.",
    )
    for x, title in ((14, "sender"), (386, "receiver")):
        art.box(x, 30, 160, 130, fill="host")
        art.text(x + 80, 16, title, bold=True)
    art.text(94, 48, "application writes")
    art.line([(94, 56), (94, 76)], arrow=True)
    art.box(30, 80, 70, 30, fill=BLUE)
    art.box(100, 80, 40, 30, fill="other")
    art.box(140, 80, 18, 30, fill="none")
    art.text(94, 124, "send buffer", bold=True)
    art.box(24, 144, 10, 10, fill=BLUE, corner=1)
    art.text(38, 149, "not acknowledged yet", anchor="start", size=11)
    art.text(466, 48, "application reads")
    art.line([(466, 76), (466, 56)], arrow=True)
    art.box(402, 80, 80, 30, fill="none")
    art.box(482, 80, 48, 30, fill=GREEN)
    art.text(466, 124, "receive buffer", bold=True)
    art.text(442, 95, "free", size=11)
    art.text(466, 148, "free = receive window", size=11)
    art.line([(176, 88), (382, 88)], arrow=True)
    for x in (196, 222, 248, 274, 300, 326):
        art.box(x, 78, 18, 10, fill=BLUE, corner=1)
    art.text(280, 64, "segments in flight")
    art.line([(384, 132), (178, 132)], colour=VERMILLION, dash="5 3", arrow=True)
    art.text(280, 148, "acknowledgement and window")
    art.text(
        280, 178, "in flight ≤ smallest of send buffer, receive window, congestion window", colour="muted", size=11
    )
    return art.svg()


def _window() -> str:
    art = Sketch(
        "lab08-window",
        560,
        210,
        "A window below the bandwidth-delay product leaves the link idle",
        "Two time lines of the sender's link over two round trips. Above, a window of one third of the "
        "bandwidth-delay product: the link is busy for a third of each round trip and then idle until the "
        "acknowledgements come. Below, a window of the whole product: the link is always busy.",
    )
    left, trip, height = 130, 200, 34
    for y, share, name in ((44, 1 / 3, "W = BDP ÷ 3"), (124, 1.0, "W = BDP")):
        art.text(left - 12, y + height / 2, name, anchor="end", bold=True)
        for number in range(2):
            x = left + number * trip
            art.box(x, y, trip * share, height, fill=BLUE, corner=0)
            if share < 1:
                art.box(x + trip * share, y, trip * (1 - share), height, fill="none", corner=0, edge="#66788a")
                art.text(x + trip * (1 + share) / 2, y + height / 2, "waiting", colour="muted")
    for number in range(3):
        x = left + number * trip
        art.line([(x, 30), (x, 172)], dash="4 3")
        art.text(x, 20, f"{number} · RTT" if number else "0")
    art.line([(left, 178), (left + 2 * trip + 20, 178)], arrow=True)
    art.text(left + 2 * trip + 20, 196, "time", anchor="end")
    art.text(left + trip / 6, 92, "8 · W / C", size=11)
    return art.svg()
