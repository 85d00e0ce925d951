# SPDX-License-Identifier: BSD-3-Clause
"""A small picture of rate (line) and queue (filled) beside each link that carries something."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from linklab.editor.canvas import Drawing
from linklab.editor.meter import Reading, polyline, short_bytes, short_rate

WIDE, HIGH = 104, 22


def draw_traces(drawing: Drawing, links: Mapping[int, Sequence[Reading]]) -> None:
    """Draw the readings of these links, by their place in the file, and no others."""
    drawing.delete("trace")
    look = drawing.look
    p, wide, high = look.palette, look.px(WIDE), look.px(HIGH)
    for place, readings in links.items():
        spot = drawing.trace_spot(place, wide, high)
        if spot is None:
            continue
        x, y = spot
        last = readings[-1]
        box = (x - 3, y - high - 3, x + wide + 3, y + look.px(14))
        drawing.create_rectangle(*box, fill=p.panel, outline=p.border, tags="trace")
        if len(readings) > 1:
            queue = polyline([r.queue_bytes for r in readings], x, y, wide, high)
            if any(r.queue_bytes for r in readings):
                drawing.create_polygon(
                    queue[0], y, *queue, queue[-2], y, fill=p.warn, outline="", stipple="gray50", tags="trace"
                )
            line = polyline([r.rate_bps for r in readings], x, y, wide, high)
            drawing.create_line(*line, fill=p.accent, width=look.px(1.5), tags="trace")
        below, font = y + look.px(7), look.font(8)
        rate, queued = short_rate(last.rate_bps), short_bytes(last.queue_bytes)
        drawing.create_text(x, below, text=rate, anchor="w", font=font, fill=p.accent, tags="trace")
        drawing.create_text(x + wide, below, text=queued, anchor="e", font=font, fill=p.warn, tags="trace")
