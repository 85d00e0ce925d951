# SPDX-License-Identifier: BSD-3-Clause
"""Figures of Lab 4: four faults of a path, how a count of losses varies, and losses in bursts."""

from __future__ import annotations

import math
from collections.abc import Iterator

from linklab.figures.svg import BLUE, VERMILLION, Sketch


def draw() -> dict[str, str]:
    """File name → SVG."""
    return {"faults.svg": _faults(), "binomial.svg": _binomial(), "bursts.svg": _bursts()}


def _faults() -> str:
    art = Sketch(
        "lab04-faults",
        560,
        250,
        "Four faults of a path",
        "Five numbered packets leave on the left. Loss: 1, 2, 4, 5 arrive. Corruption: 3 arrives damaged and is thrown "
        "away. Reordering: 1, 2, 4, 5, 3 arrive. Duplication: 1, 2, 3, 3, 4, 5 arrive.",
    )
    art.text(150, 12, "sent", colour="muted")
    art.text(430, 12, "arriving", colour="muted")
    rows = [
        ("loss", "1245", ""),
        ("corruption", "12345", "3"),
        ("reordering", "12453", ""),
        ("duplication", "123345", ""),
    ]
    for row, (name, arriving, damaged) in enumerate(rows):
        y = 30 + 56 * row
        art.text(10, y + 15, name, anchor="start", bold=True)
        _packets(art, 100, y, "12345", "")
        art.line([(262, y + 15), (318, y + 15)], width=2, arrow=True)
        _packets(art, 335, y, arriving, damaged)
    return art.svg()


def _packets(art: Sketch, x: float, y: float, numbers: str, damaged: str) -> None:
    """A row of packets, the first one rightmost, as they would follow each other on a wire drawn to the right."""
    for place, number in enumerate(numbers):
        left = x + 32 * place
        art.box(left, y, 26, 30, fill="router" if number == "3" else "host")
        art.text(left + 13, y + 15, number, bold=number == "3")
        if number == damaged:
            art.line([(left - 2, y - 2), (left + 28, y + 32)], colour=VERMILLION, width=2.5)
            art.line([(left + 28, y - 2), (left - 2, y + 32)], colour=VERMILLION, width=2.5)


def _binomial() -> str:
    trials, chance = 200, 0.1
    art = Sketch(
        "lab04-binomial",
        560,
        220,
        "Losses of 200 packets with a chance of 10 %",
        "Bars for 5 to 36 lost packets. The most frequent count is 20 with 9 %; 12 to 29 together make 95 %, "
        "and are drawn in blue; what lies outside is drawn in orange.",
    )
    art.axes(50, 180, 490, 165, across="lost packets", up="")
    art.text(60, 14, "how often", anchor="start")
    for count in range(5, 37):
        share = math.comb(trials, count) * chance**count * (1 - chance) ** (trials - count)
        x, height = 56 + 14.5 * (count - 5), share * 1600
        art.box(x, 180 - height, 10, height, fill=(colour := BLUE if 12 <= count <= 29 else VERMILLION), edge=colour)
        if count % 5 == 0 and count < 35:
            art.text(x + 5, 192, str(count), colour="muted", size=11)
    for height, label in ((80, "5 %"), (160, "10 %")):
        art.line([(46, 180 - height), (50, 180 - height)])
        art.text(43, 180 - height, label, colour="muted", size=10, anchor="end")
    art.text(300, 22, "12 to 29: 95 % of all runs", colour=BLUE, anchor="start")
    return art.svg()


def _bursts() -> str:
    art = Sketch(
        "lab04-bursts",
        560,
        110,
        "Independent losses and losses in bursts",
        "Two rows of sixty packets. In the upper row six losses stand at random places; in the lower row the same "
        "number of losses stands in two groups.",
    )
    for row, (name, losses) in enumerate((("independent", _independent()), ("in bursts", _grouped()))):
        y = 26 + 46 * row
        art.text(10, y - 12, name, anchor="start", bold=True)
        for place, lost in enumerate(losses):
            if lost:
                x = 12 + 9 * place
                art.line([(x, y), (x + 6, y + 16)], colour=VERMILLION, width=2)
                art.line([(x + 6, y), (x, y + 16)], colour=VERMILLION, width=2)
            else:
                art.box(12 + 9 * place, y, 6, 16, fill="host", corner=1)
    return art.svg()


def _dice() -> Iterator[float]:
    """Numbers between 0 and 1 that are the same with every Python (Lehmer, 1951); the start gives six losses twice."""
    state = 1692
    while True:
        state = state * 48271 % 2147483647
        yield state / 2147483647


def _independent() -> list[bool]:
    dice = _dice()
    return [next(dice) < 0.1 for _ in range(60)]


def _grouped() -> list[bool]:
    dice, bad, losses = _dice(), False, []
    for _ in range(60):
        bad = next(dice) >= 0.25 if bad else next(dice) < 0.028
        losses.append(bad)
    return losses
