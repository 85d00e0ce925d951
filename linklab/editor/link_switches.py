# SPDX-License-Identifier: BSD-3-Clause
"""A small switch beside each link of a running network: one click takes the link down, one more up."""

from __future__ import annotations

import tkinter as tk
from functools import partial

from linklab.editor.canvas import Drawing
from linklab.editor.networking import Networking
from linklab.editor.surface import Rectangle

SWITCH_TAG = "switch"


def draw_switches(drawing: Drawing, network: Networking) -> None:
    """Draw the switches of all links, or none where no network runs or the drawing is too small for them."""
    drawing.delete(SWITCH_TAG)
    if network.is_running:
        for place, box in drawing.beside.switches.items():
            _draw(drawing, network, place, box)


def _draw(drawing: Drawing, network: Networking, place: int, box: Rectangle) -> None:
    p, zoom = drawing.look.palette, drawing.factor
    y, high = (box.y0 + box.y1) / 2, box.y1 - box.y0
    is_up = place not in network.down
    colour = p.good if is_up else p.bad
    tags = (SWITCH_TAG, f"{SWITCH_TAG}{place}")
    radius = high / 2
    left, right = box.x0 + radius, box.x1 - radius
    drawing.create_line(left, y, right, y, width=high, capstyle="round", fill=colour, tags=tags)
    if not is_up:  # hollow: told by its shape, not by its colour alone
        inside = max(1.0, high - 3 * zoom)
        drawing.create_line(left, y, right, y, width=inside, capstyle="round", fill=p.canvas, tags=tags)
    knob = right if is_up else left
    inner = radius - 2 * zoom
    fill = p.canvas if is_up else colour
    drawing.create_oval(knob - inner, y - inner, knob + inner, y + inner, fill=fill, outline="", tags=tags)
    drawing.tag_bind(tags[1], "<Button-1>", partial(_clicked, network, place))
    drawing.tag_bind(tags[1], "<Enter>", lambda _: drawing.configure(cursor="hand2"))
    drawing.tag_bind(tags[1], "<Leave>", lambda _: drawing.configure(cursor=""))


def _clicked(network: Networking, place: int, _: tk.Event[tk.Misc]) -> None:
    network.set_link(place, place in network.down)
