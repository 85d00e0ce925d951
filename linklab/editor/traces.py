# SPDX-License-Identifier: BSD-3-Clause
"""A small picture of rate (line) and queue (filled) beside each link that carries something."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from tkinter import font as tkfont

from linklab.editor.canvas import Drawing
from linklab.editor.meter import Reading, polyline, short_bytes, short_rate
from linklab.editor.network_state import LinkFlow

WIDE, HIGH, LINE = 104, 18, 12
"""Of the picture and of each line of words below it."""


def draw_traces(
    drawing: Drawing, links: Mapping[int, Sequence[Reading]], flows: Mapping[int, Sequence[LinkFlow]] | None = None
) -> None:
    """Draw the readings of these links, by their place in the file, and no others; each direction in words below."""
    flows = flows or {}
    drawing.delete("trace")
    look = drawing.look
    p, high, font = look.palette, look.px(HIGH), tkfont.Font(drawing, font=look.font(8))
    for place, readings in links.items():
        last = readings[-1]
        words = [flow.short for flow in flows.get(place, ())] or [short_rate(last.rate_bps)]
        queued = f"{short_bytes(last.queue_bytes)} queued"
        wide = max(look.px(WIDE), *map(font.measure, (*words, queued)))
        spot = drawing.trace_spot(place, wide, high)
        if spot is None:
            continue
        x, y = spot
        box = (x - 3, y - high - 3, x + wide + 3, y + look.px(2 + (len(words) + 1) * LINE))
        drawing.create_rectangle(*box, fill=p.panel, outline=p.border, tags="trace")
        if len(readings) > 1:
            queue = polyline([r.queue_bytes for r in readings], x, y, wide, high)
            if any(r.queue_bytes for r in readings):
                drawing.create_polygon(
                    queue[0], y, *queue, queue[-2], y, fill=p.warn, outline="", stipple="gray50", tags="trace"
                )
            line = polyline([r.rate_bps for r in readings], x, y, wide, high)
            drawing.create_line(*line, fill=p.accent, width=look.px(1.5), tags="trace")
        for i, text in enumerate([*words, queued]):
            at, ink = y + look.px(7 + i * LINE), p.warn if text == queued else p.accent
            drawing.create_text(x, at, text=text, anchor="w", font=font, fill=ink, tags="trace")
