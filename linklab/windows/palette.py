# SPDX-License-Identifier: BSD-3-Clause
"""The colours of the two themes, by what they are for; `theme` gives them to the widgets, pictures take the light ones.

tests/unit/test_colours.py holds their contrast to WCAG 2.2.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Palette:
    """Colours of one theme, "#rrggbb".

    pointed: the blue button below the mouse. border: a thin line between parts. edge: around what can be typed in,
    pressed or ticked; its contrast with both of its sides is at least 3:1 (WCAG 2.2, 1.4.11).
    """

    window: str
    panel: str
    canvas: str
    field: str
    ink: str
    muted: str
    faint: str
    accent: str
    accent_ink: str
    pointed: str
    hover: str
    border: str
    edge: str
    grid: str
    link: str
    host: str
    switch: str
    router: str
    controller: str
    good: str
    warn: str
    bad: str


LIGHT = Palette(
    window="#f4f6f8", panel="#ffffff", canvas="#fbfcfd", field="#ffffff", ink="#17212b", muted="#566472",
    faint="#8a97a3", accent="#0b63c5", accent_ink="#ffffff", hover="#e6eef8", border="#d3dae1", edge="#7b8794",
    grid="#e8edf2", link="#5d6f80", host="#2f6fc1", switch="#1f8a5b", router="#b86a12", controller="#7a4fb8",
    pointed="#084a94", good="#1f8a5b", warn="#9c5a00", bad="#c0322b",
)  # fmt: skip
DARK = Palette(
    window="#1b2026", panel="#22282f", canvas="#181c21", field="#2a313a", ink="#e8edf2", muted="#a5b2bf",
    faint="#77848f", accent="#5aa2f2", accent_ink="#0e1620", hover="#2f3944", border="#3a444f", edge="#818e9b",
    grid="#232a31", link="#8fa1b3", host="#6aa9f5", switch="#4fc08d", router="#e5a04d", controller="#b08be6",
    pointed="#9cc8fa", good="#4fc08d", warn="#e5b04d", bad="#f07a72",
)  # fmt: skip
PALETTES = {"light": LIGHT, "dark": DARK}
