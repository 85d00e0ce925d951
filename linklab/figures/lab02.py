# SPDX-License-Identifier: BSD-3-Clause
"""Figure of Lab 2: the connections of an iperf3 test."""

from __future__ import annotations

from linklab.figures.svg import BLUE, VERMILLION, Sketch


def draw() -> dict[str, str]:
    """File name → SVG."""
    return {"test.svg": _test()}


def _test() -> str:
    art = Sketch(
        "lab02-test",
        560,
        170,
        "A test of iperf3",
        "The client on h1 and the server on h2. Between them a control connection in both directions, for parameters "
        "and results, and below it streams of data from client to server. Both count bytes every second.",
    )
    for x, host, role, command in ((10, "h1", "client", "iperf3 -c 10.0.0.2"), (420, "h2", "server", "iperf3 -s")):
        art.box(x, 20, 130, 130, fill="host")
        art.text(x + 65, 40, f"{host}: {role}", bold=True)
        art.text(x + 65, 60, command, colour="muted", size=11)
        art.text(x + 65, 130, "counts bytes", size=11)
    art.line([(280, 85), (144, 85)], colour="line", dash="5 3", arrow=True)
    art.line([(280, 85), (416, 85)], colour="line", dash="5 3", arrow=True)
    art.text(280, 70, "control: parameters, results", size=11)
    for y in (112, 124):
        art.line([(144, y), (416, y)], colour=BLUE if y == 112 else VERMILLION, width=2, arrow=True)
    art.text(280, 142, "one or more streams of data", size=11)
    return art.svg()
