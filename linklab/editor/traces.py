# SPDX-License-Identifier: BSD-3-Clause
"""A small picture of rate (line) and queue (filled) at each link that carries something, or its rate alone."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from linklab.editor.canvas import Drawing
from linklab.editor.labels import lead
from linklab.editor.meter import Reading, polyline, short_bytes, short_rate
from linklab.editor.network_state import LinkFlow
from linklab.editor.surface import Rectangle

WIDE, HIGH, PAD = 104, 18, 3
"""Of the picture, and the air around it, in the drawing's pixels."""
NOTCH = 12
"""A box grows by steps of so many pixels, so that it does not change its size with every figure."""


def draw_traces(
    drawing: Drawing, links: Mapping[int, Sequence[Reading]], flows: Mapping[int, Sequence[LinkFlow]] | None = None
) -> None:
    """Draw the readings of these links that are in view, by their place in the file, and no others.

    Each direction in words below its trace; where there is no room for that, the rate alone.
    """
    drawing.delete("trace")
    if not links:
        return
    words = {place: _words(readings[-1], (flows or {}).get(place, ())) for place, readings in links.items()}
    shorts = {place: [short_rate(readings[-1].rate_bps)] for place, readings in links.items()}
    sizes = {place: (_size(drawing, lines), _short_size(drawing, shorts[place])) for place, lines in words.items()}
    selected = [key for key in drawing.state.selection if isinstance(key, int)]
    seen = drawing.seen
    for place, near in drawing.beside.traces(sizes, selected, seen).items():
        if near.box.meets(seen):
            if near.foot is not None:
                _lead(drawing, near.box, near.foot)
            _draw(drawing, near.box, [] if near.is_short else links[place], (shorts if near.is_short else words)[place])


def _words(last: Reading, flows: Sequence[LinkFlow]) -> list[str]:
    """A line for each direction, and one for the queue."""
    return [*([flow.short for flow in flows] or [short_rate(last.rate_bps)]), f"{short_bytes(last.queue_bytes)} queued"]


def _size(drawing: Drawing, words: Sequence[str]) -> tuple[float, float]:
    style = drawing.scene.style
    factor, notch = style.factor, NOTCH * style.factor
    widest = max(style.measure("port", text) for text in words)
    wide = max(WIDE * factor, math.ceil(widest / notch) * notch)
    return wide + 2 * PAD * factor, (HIGH + 2 * PAD) * factor + len(words) * style.heights["port"]


def _short_size(drawing: Drawing, words: Sequence[str]) -> tuple[float, float]:
    style = drawing.scene.style
    notch = NOTCH * style.factor
    widest = max(style.measure("port", text) for text in words)
    pad = 2 * PAD * style.factor
    return math.ceil(widest / notch) * notch + pad, len(words) * style.heights["port"] + pad / 2


def _lead(drawing: Drawing, box: Rectangle, foot: tuple[float, float]) -> None:
    """A line from a trace that is further off to its link."""
    p = drawing.look.palette
    drawing.create_line(*lead(box, foot), fill=p.accent, dash=(2, 2), tags="trace")
    r = drawing.look.px(2)
    drawing.create_oval(foot[0] - r, foot[1] - r, foot[0] + r, foot[1] + r, fill=p.accent, outline="", tags="trace")


def _draw(drawing: Drawing, box: Rectangle, readings: Sequence[Reading], words: Sequence[str]) -> None:
    p, style = drawing.look.palette, drawing.scene.style
    pad, high, line_high = PAD * style.factor, HIGH * style.factor, style.heights["port"]
    drawing.create_rectangle(box.x0, box.y0, box.x1, box.y1, fill=p.panel, outline=p.border, tags="trace")
    high = high if readings else 0.0
    x, y, wide = box.x0 + pad, box.y0 + (pad + high if readings else 0.0), box.x1 - box.x0 - 2 * pad
    if len(readings) > 1:
        queue = polyline([r.queue_bytes for r in readings], x, y, wide, high)
        if any(r.queue_bytes for r in readings):
            drawing.create_polygon(
                queue[0], y, *queue, queue[-2], y, fill=p.warn, outline="", stipple="gray50", tags="trace"
            )
        line = polyline([r.rate_bps for r in readings], x, y, wide, high)
        drawing.create_line(*line, fill=p.accent, width=max(1.0, 1.5 * style.factor), tags="trace")
    for i, text in enumerate(words):
        at, ink = y + pad / 2 + (i + 0.5) * line_high, p.warn if readings and i == len(words) - 1 else p.accent
        drawing.create_text(x, at, text=text, anchor="w", font=drawing.font("port"), fill=ink, tags="trace")
