# SPDX-License-Identifier: BSD-3-Clause
"""Small charts as `<svg>` elements for pages: curves over time, a histogram of scores, bars of outcomes.

Written by hand, not with matplotlib: a report has up to a dozen of them, and a class a hundred reports. Lines take the
page's own text colour, so that dark pages and paper need no second picture; data have the colours of
`linklab.plots.palette`, and dashes, for readers who cannot tell colours apart and for printers without them.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape

from linklab.judge.verdict import Outcome
from linklab.plots.palette import COLOURS, axis_unit

DASHES = ("", "7 3", "2 2.5", "8 2.5 2 2.5")

OUTCOME_COLOURS = {
    Outcome.PASS: "#8ed1bb",
    Outcome.PARTIAL: "#f0b73c",
    Outcome.FAIL: "#b34700",
    Outcome.SKIPPED: "#d0d6dc",
    Outcome.ERROR: "#7b2d6f",
}
"""Told apart by lightness too: what passed is light, what failed is dark."""

_WIDTH, _LEFT, _RIGHT, _TOP, _BOTTOM = 680, 58, 10, 8, 22
_PLOT_HEIGHT = 118
_COLUMNS = 300
"""Points of a curve are thinned out to the least and the largest of each of so many groups of neighbours."""

_LEAST = 1e-12
"""Largest value of an axis below which all is as good as 0."""


@dataclass(frozen=True)
class Curve:
    """Values over time, `time_s` rising; NaN is a gap.  look: number of colour and dash; faint: one of several runs."""

    label: str
    look: int
    faint: bool
    time_s: Sequence[float]
    values: Sequence[float]


def look(index: int) -> tuple[str, str]:
    """Colour and dash of the curve number `index`; the ninth has the first colour with another dash."""
    again = index // len(COLOURS)
    return COLOURS[index % len(COLOURS)], DASHES[(index + again) % len(DASHES)]


def time_chart(what: str, unit: str, curves: Sequence[Curve], end_s: float, *, last: bool = True, words: str) -> str:
    """Curves of one unit from time 0 to `end_s`.

    Args:
        what: words for the vertical axis, to which the unit is added.
        unit: base unit of the values.
        curves: in the order of painting, the last on top; with a value at all.
        end_s: of the time axis, > 0.
        last: the lowest of charts that share a time axis; it alone shows the times.
        words: what the chart shows, for readers who cannot see it.
    """
    largest = max((value for curve in curves for value in curve.values if math.isfinite(value)), default=0.0)
    factor, name = axis_unit("" if unit == "1" else unit, largest)
    top, steps = _ticks(largest / factor)
    height = _TOP + _PLOT_HEIGHT + (_BOTTOM if last else 6)
    wide = _WIDTH - _LEFT - _RIGHT
    base = _TOP + _PLOT_HEIGHT
    parts = []
    for value in steps:
        y = base - value / top * _PLOT_HEIGHT
        parts.append(_grid(_LEFT, y, _LEFT + wide, y))
        parts.append(_text(_LEFT - 6, y + 3.5, f"{value:g}", "end"))
    _, times = _ticks(end_s, most=10)
    for time in times:
        if time > end_s:
            continue
        x = _LEFT + time / end_s * wide
        parts.append(_grid(x, _TOP, x, base))
        if last:
            parts.append(_text(x, base + 14, f"{time:g}{' s' if time == times[0] else ''}", "middle"))
    for curve in curves:
        colour, dash = look(curve.look)
        dashed = f' stroke-dasharray="{dash}"' if dash and not curve.faint else ""
        faint = ' stroke-opacity=".3" stroke-width="1"' if curve.faint else ' stroke-width="1.8"'
        path = _path(curve, _LEFT, wide / end_s, base, _PLOT_HEIGHT / (top * factor))
        parts.append(f'<path d="{path}" fill="none" stroke="{colour}"{dashed}{faint} stroke-linejoin="round"/>')
    middle = _TOP + _PLOT_HEIGHT / 2
    parts.append(
        f'<text transform="rotate(-90 12 {_n(middle)})" x="12" y="{_n(middle)}" text-anchor="middle" '
        f'fill="currentColor">{escape(f"{what} ({name})" if name else what)}</text>'
    )
    return _svg(_WIDTH, height, parts, words)


def swatch(index: int) -> str:
    """A short piece of the line number `index`, for a legend."""
    colour, dash = look(index)
    dashed = f' stroke-dasharray="{dash}"' if dash else ""
    return (
        '<svg class="swatch" viewBox="0 0 30 8" width="30" height="8" aria-hidden="true">'
        f'<path d="M1 4H29" fill="none" stroke="{colour}"{dashed} stroke-width="2.2"/></svg>'
    )


def histogram(percents: Sequence[float]) -> str:
    """How many scores lie in each tenth, and how many are full; `percents` from 0 to 100."""
    counts = [0] * 11
    for percent in percents:
        counts[min(10, max(0, int((percent + 1e-9) // 10)))] += 1
    names = [f"{10 * tenth}–{10 * tenth + 9}" for tenth in range(10)] + ["100 %"]
    top, steps = _ticks(max([*counts, 1]), whole=True)
    tall, bottom = 150, 30
    left, wide = 40, _WIDTH - 50
    slot = wide / len(counts)
    parts = []
    for value in steps:
        y = 16 + tall - value / top * tall
        parts += [_grid(left, y, left + wide, y), _text(left - 6, y + 3.5, f"{value:g}", "end")]
    for number, (name, count) in enumerate(zip(names, counts, strict=True)):
        x, bar = left + number * slot, count / top * tall
        if count:
            parts.append(
                f'<rect x="{_n(x + 4)}" y="{_n(16 + tall - bar)}" width="{_n(slot - 8)}" height="{_n(bar)}" '
                f'fill="{COLOURS[0]}"/>'
            )
            parts.append(_text(x + slot / 2, 12 + tall - bar, str(count), "middle", bold=True))
        parts.append(_text(x + slot / 2, 16 + tall + 15, name, "middle"))
    told = ", ".join(f"{name}: {count}" for name, count in zip(names, counts, strict=True) if count)
    return _svg(_WIDTH, 16 + tall + bottom, parts, f"How many submissions reached which percentage. {told}")


def outcome_bar(shares: Sequence[tuple[Outcome, float, str]], *, width: float, height: float, words: str) -> str:
    """A bar cut into pieces as long as their shares, each with its text where there is room."""
    total = sum(share for _, share, _ in shares) or 1
    parts, x = [], 0.0
    for outcome, share, text in shares:
        wide = share / total * width
        if wide <= 0:
            continue
        parts.append(
            f'<rect x="{_n(x)}" width="{_n(max(wide - 1.2, 0.8))}" height="{_n(height)}" rx="1.5" '
            f'fill="{OUTCOME_COLOURS[outcome]}"/>'
        )
        if text and wide > 6.5 * len(text) + 4:
            ink = "#ffffff" if outcome in (Outcome.FAIL, Outcome.ERROR) else "#16202a"
            parts.append(
                f'<text x="{_n(x + wide / 2 - 0.6)}" y="{_n(height / 2 + 3.8)}" text-anchor="middle" '
                f'fill="{ink}" font-weight="600">{escape(text)}</text>'
            )
        x += wide
    return _svg(width, height, parts, words)


# --- pieces


def _svg(width: float, height: float, parts: Sequence[str], words: str) -> str:
    return (
        f'<svg class="chart" role="img" aria-label="{escape(words)}" viewBox="0 0 {_n(width)} {_n(height)}" '
        f'width="{_n(width)}" height="{_n(height)}" font-size="10.5" font-family="system-ui, sans-serif">'
        f"{''.join(parts)}</svg>"
    )


def _grid(x: float, y: float, to_x: float, to_y: float) -> str:
    return f'<path d="M{_n(x)} {_n(y)}L{_n(to_x)} {_n(to_y)}" stroke="currentColor" stroke-opacity=".16"/>'


def _text(x: float, y: float, words: str, anchor: str, *, bold: bool = False) -> str:
    weight = ' font-weight="600"' if bold else ""
    return f'<text x="{_n(x)}" y="{_n(y)}" text-anchor="{anchor}" fill="currentColor"{weight}>{escape(words)}</text>'


def _n(value: float) -> str:
    text = f"{value:.1f}".removesuffix(".0")
    return "0" if text == "-0" else text


def _ticks(largest: float, *, most: int = 5, whole: bool = False) -> tuple[float, list[float]]:
    """End of an axis from 0 that holds `largest`, and its ticks: at most about `most` round numbers."""
    if largest < _LEAST:
        largest = 1.0
    rough = largest / most
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(each * power for each in (1, 2, 2.5, 5, 10) if each * power >= rough * (1 - 1e-9))
    if whole:
        step = max(1.0, float(math.ceil(step)))
    count = math.ceil(largest / step - 1e-9)
    return count * step, [float(f"{number * step:.6g}") for number in range(count + 1)]


def _path(curve: Curve, left: float, per_s: float, base: float, per_value: float) -> str:
    pieces: list[str] = []
    pen = "M"
    for time, value in _thinned(curve.time_s, curve.values):
        if not math.isfinite(value):
            pen = "M"
            continue
        pieces.append(f"{pen}{_n(left + time * per_s)} {_n(base - value * per_value)}")
        pen = "L"
    return "".join(pieces)


def _thinned(time_s: Sequence[float], values: Sequence[float]) -> Iterator[tuple[float, float]]:
    if len(values) <= 2 * _COLUMNS:
        yield from zip(time_s, values, strict=True)
        return
    a_column = len(values) / _COLUMNS
    for column in range(_COLUMNS):
        first, end = round(column * a_column), round((column + 1) * a_column)
        part = values[first:end]
        known = [value for value in part if value == value]  # noqa: PLR0124 - not NaN; math.isnan takes twice as long
        if not known:
            yield time_s[first], math.nan
            continue
        least, most = first + part.index(min(known)), first + part.index(max(known))
        for index in sorted({least, most}):
            yield time_s[index], values[index]
