# SPDX-License-Identifier: BSD-3-Clause
"""A small switch at the middle of each link of a running network: one click takes the link down, one more up."""

from __future__ import annotations

import tkinter as tk
from functools import partial

from linklab.editor.canvas import DETAIL_FROM, Drawing
from linklab.editor.networking import Networking

WIDE, HIGH = 22, 12
SWITCH_TAG = "switch"


def draw_switches(drawing: Drawing, network: Networking) -> None:
    """Draw the switches of all links, or none where no network runs or the drawing is too small for them."""
    drawing.delete(SWITCH_TAG)
    if not network.is_running or drawing.zoom < DETAIL_FROM:
        return
    for place in range(len(drawing.state.topology.links)):
        spot = drawing.switch_spot(place)
        if spot is not None:
            _draw(drawing, network, place, spot)


def _draw(drawing: Drawing, network: Networking, place: int, spot: tuple[float, float]) -> None:
    px, p = drawing.look.px, drawing.look.palette
    (x, y), wide, high = spot, px(WIDE), px(HIGH)
    is_up = place not in network.down
    colour = p.good if is_up else p.bad
    tags = (SWITCH_TAG, f"{SWITCH_TAG}{place}")
    left, right, radius = x - wide / 2 + high / 2, x + wide / 2 - high / 2, high / 2
    drawing.create_line(left, y, right, y, width=high, capstyle="round", fill=colour, tags=tags)
    if not is_up:  # hollow: told by its shape, not by its colour alone
        drawing.create_line(left, y, right, y, width=high - px(3), capstyle="round", fill=p.canvas, tags=tags)
    knob = right if is_up else left
    inner = radius - px(2)
    fill = p.canvas if is_up else colour
    drawing.create_oval(knob - inner, y - inner, knob + inner, y + inner, fill=fill, outline="", tags=tags)
    drawing.tag_bind(tags[1], "<Button-1>", partial(_clicked, network, place))
    drawing.tag_bind(tags[1], "<Enter>", lambda _: drawing.configure(cursor="hand2"))
    drawing.tag_bind(tags[1], "<Leave>", lambda _: drawing.configure(cursor=""))


def _clicked(network: Networking, place: int, _: tk.Event[tk.Misc]) -> None:
    network.set_link(place, place in network.down)
