# SPDX-License-Identifier: BSD-3-Clause
"""Figure of Lab 1: a network of hardware and the same network inside one computer."""

from __future__ import annotations

from linklab.figures.svg import BLUE, Sketch


def draw() -> dict[str, str]:
    """File name → SVG."""
    return {"machine.svg": _machine()}


def _machine() -> str:
    art = Sketch(
        "lab01-machine",
        560,
        290,
        "A network of hardware and an emulated one",
        "Above: computer h1, a switch and computer h2, joined by two cables. Below: one computer that holds a network "
        "namespace h1 with interface h1-eth0, a switch s1 with ports s1-eth1 and s1-eth2, and a network namespace h2 "
        "with interface h2-eth0. Two veth pairs join h1-eth0 to s1-eth1 and h2-eth0 to s1-eth2.",
    )
    art.text(10, 14, "Hardware", anchor="start", bold=True)
    for x, name, fill in ((40, "computer h1", "host"), (230, "switch", "switch"), (420, "computer h2", "host")):
        art.box(x, 34, 100, 40, fill=fill, corner=12 if fill == "switch" else 4)
        art.text(x + 50, 54, name)
    for left in (140, 330):
        art.line([(left, 54), (left + 90, 54)], width=2)
        art.text(left + 45, 44, "cable", colour="muted", size=11)
    art.text(10, 104, "Mininet", anchor="start", bold=True)
    art.box(10, 118, 540, 160, fill="other", corner=8)
    art.text(280, 264, "one computer, one Linux kernel", colour="muted", size=11)
    for x, name in ((26, "h1"), (404, "h2")):
        art.box(x, 136, 130, 110, fill="host")
        art.text(x + 65, 152, f"namespace {name}", bold=True)
        art.text(x + 65, 222, "addresses, routes,", size=10, colour="muted")
        art.text(x + 65, 234, "ARP table", size=10, colour="muted")
    art.box(225, 136, 110, 110, fill="switch", corner=12)
    art.text(280, 152, "switch s1", bold=True)
    for x, width, name in ((92, 64, "h1-eth0"), (225, 54, "s1-eth1"), (281, 54, "s1-eth2"), (404, 64, "h2-eth0")):
        art.box(x, 174, width, 26, fill="router")
        art.text(x + width / 2, 187, name, size=11)
    for left, right in ((156, 225), (335, 404)):
        art.line([(left, 187), (right, 187)], colour=BLUE, width=2.5)
        art.text((left + right) / 2, 174, "veth pair", size=10, colour="muted")
    return art.svg()
