# SPDX-License-Identifier: BSD-3-Clause
"""Figures of Lab 17: what a FIFO shares, how SFQ finds and serves its buckets, and what another key changes."""

from __future__ import annotations

from collections.abc import Sequence

from linklab.figures.svg import BLUE, GREEN, PURPLE, VERMILLION, Sketch

FLOWS = (("A", BLUE), ("B", VERMILLION), ("C", GREEN), ("D", PURPLE))
"""Name and colour of the flows, the same in all three pictures."""
BUCKETS = 8
FIRST_KEY = (2, 5, 2, 7)
OTHER_KEY = (6, 1, 3, 4)
"""Bucket of A, B, C and D with one key and with another."""


def draw() -> dict[str, str]:
    """File name → SVG."""
    return {"fifo.svg": _fifo(), "sfq.svg": _sfq(), "perturb.svg": _perturb()}


def _packet(art: Sketch, x: float, y: float, flow: int, size: float = 22) -> None:
    name, colour = FLOWS[flow]
    art.box(x, y, size, size, fill="none", edge=colour, corner=2)
    art.text(x + size / 2, y + size / 2, name, colour=colour, bold=True, size=11)


def _fifo() -> str:
    art = Sketch(
        "lab17-fifo",
        560,
        150,
        "A first-in-first-out queue",
        "Packets of flows A and B arrive, A's three times as often, and stand in one queue in the order of arrival. "
        "They leave in the same order, so A has three quarters of the link.",
    )
    art.text(56, 16, "arrivals", colour="muted")
    art.line([(12, 36), (104, 36)], colour=BLUE, width=4.5, arrow=True)
    art.line([(12, 92), (104, 92)], colour=VERMILLION, width=1.5, arrow=True)
    art.text(56, 54, "flow A", colour=BLUE)
    art.text(56, 110, "flow B", colour=VERMILLION)
    art.line([(118, 44), (404, 44)], width=2)
    art.line([(118, 84), (404, 84)], width=2)
    for place, flow in enumerate((0, 0, 1, 0, 0, 0, 1, 0)):
        _packet(art, 130 + 34 * place, 53, flow)
    art.text(261, 104, "one queue: ¾ A, ¼ B", colour="muted")
    art.line([(412, 64), (546, 64)], width=3, arrow=True)
    art.text(478, 44, "link", colour="muted")
    art.text(478, 88, "¾ A, ¼ B", bold=True)
    art.text(261, 134, "a packet that arrives when it is full is dropped", colour="muted", size=11)
    return art.svg()


def _buckets(art: Sketch, x: float, y: float, contents: Sequence[Sequence[int]]) -> None:
    """The buckets from `y` downwards, packets from the right, where they leave."""
    for number, flows in enumerate(contents):
        top = y + 28 * number
        art.box(x, top, 150, 26, fill="other", corner=3)
        art.text(x - 8, top + 13, str(number), anchor="end", size=11, colour="muted")
        for place, flow in enumerate(flows):
            _packet(art, x + 126 - 24 * place, top + 3, flow, 20)


def _sfq() -> str:
    art = Sketch(
        "lab17-sfq",
        560,
        290,
        "Stochastic fairness queueing",
        "Arriving packets pass a hash of addresses, protocol, ports and a key, which puts each into one of eight "
        "buckets. Three buckets hold packets: one many of flow A, one two of flow B, one a single packet of flow D. A "
        "round robin takes from these three in turn and sends to the link; empty buckets are passed over.",
    )
    for place, flow in enumerate((0, 3, 0, 1)):
        _packet(art, 8 + 28 * place, 120, flow)
    art.text(60, 104, "arrivals", colour="muted")
    art.line([(120, 131), (148, 131)], arrow=True)
    art.box(152, 92, 78, 78, fill="switch", corner=8)
    art.text(191, 118, "hash of", size=11)
    art.text(191, 133, "flow, key", bold=True)
    art.text(191, 149, "mod 8", size=11)
    contents: list[list[int]] = [[] for _ in range(BUCKETS)]
    contents[2], contents[5], contents[7] = [0] * 5, [1] * 2, [3]
    top = 32
    art.text(340, 18, "buckets", colour="muted")
    _buckets(art, 270, top, contents)
    middle = top + 13
    for bucket in (2, 5, 7):
        art.line([(230, 131), (250, middle + 28 * bucket)], dash="4 3")
        art.line([(422, middle + 28 * bucket), (462, 131 + 5 * (bucket - 5))], arrow=True)
    art.dot(480, 131, 17, fill="host")
    art.text(480, 131, "↻", size=20)
    art.text(518, 164, "one quantum", size=11, colour="muted")
    art.text(518, 179, "each in turn", size=11, colour="muted")
    art.line([(499, 131), (552, 131)], width=3, arrow=True)
    art.text(516, 104, "A B D", bold=True, size=11)
    art.text(516, 88, "link", colour="muted")
    art.text(345, 278, "full? drop from the longest bucket", colour="muted", size=11)
    return art.svg()


def _perturb() -> str:
    art = Sketch(
        "lab17-perturb",
        560,
        290,
        "The same flows with another key",
        "Left, with the first key, flows A and C are both in bucket 2, B in bucket 5 and D in bucket 7: A and C share "
        "one turn. Right, with another key, A is in bucket 6, B in 1, C in 3 and D in 4: each has a bucket of its own.",
    )
    for x, places, key in ((96, FIRST_KEY, "first key"), (366, OTHER_KEY, "another key, ten seconds later")):
        contents: list[list[int]] = [[] for _ in range(BUCKETS)]
        for flow, bucket in enumerate(places):
            contents[bucket].extend([flow, flow])
        if places is FIRST_KEY:
            contents[2] = [0, 2, 0, 2]
        art.text(x + 75, 18, key, bold=True)
        _buckets(art, x, 32, contents)
    art.text(171, 272, "A and C have one turn together", colour="muted", size=11)
    art.text(441, 272, "each flow has its own turn", colour="muted", size=11)
    art.line([(262, 144), (328, 144)], width=2, arrow=True)
    art.text(295, 128, "perturb", size=11)
    return art.svg()
