# SPDX-License-Identifier: BSD-3-Clause
"""Figure of Lab 22: two senders in step, and the moments at which the link has room for one packet more."""

from __future__ import annotations

from linklab.figures.svg import BLUE, VERMILLION, Sketch

PERIOD_MS, LATE_MS, PACKET_MS = 2.0, 0.5, 1.154
"""Of both senders; of the second one; what the link needs for a packet."""
FIRST_END_MS = 0.3
"""When the link finishes a packet for the first time in the picture."""
SHOWN_MS = 6.6
_LEFT, _SCALE = 96, 66


def draw() -> dict[str, str]:
    """File name → SVG."""
    return {"phase.svg": _phase()}


def _phase() -> str:
    art = Sketch(
        "lab22-phase",
        560,
        190,
        "Two senders in step",
        "Three time lines of 6.6 ms. On the first, packets of the first sender arrive at 0, 2, 4, and 6 ms. On the "
        "second, packets of the second sender arrive 0.5 ms after those. On the third, the link finishes a packet "
        "every 1.154 ms.",
    )
    first = [PERIOD_MS * n for n in range(4)]
    _line(art, 40, "first sender", first, BLUE)
    _line(art, 85, "second sender", [at + LATE_MS for at in first if at + LATE_MS < SHOWN_MS], VERMILLION)
    ends = [FIRST_END_MS + PACKET_MS * n for n in range(6)]
    _line(art, 130, "link is free", [at for at in ends if at < SHOWN_MS], "line")
    for at in range(int(SHOWN_MS) + 1):
        art.text(_x(at), 164, f"{at} ms" if at == 0 else f"{at}", colour="muted", size=11)
    return art.svg()


def _x(at_ms: float) -> float:
    return _LEFT + 12 + _SCALE * at_ms


def _line(art: Sketch, y: float, name: str, moments: list[float], colour: str) -> None:
    """A time line with an arrow down for each moment."""
    art.text(_LEFT - 6, y, name, size=11, anchor="end")
    art.line([(_LEFT, y + 10), (_x(SHOWN_MS), y + 10)])
    for at in moments:
        art.line([(_x(at), y - 20), (_x(at), y + 8)], colour=colour, arrow=True)
