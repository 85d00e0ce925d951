# SPDX-License-Identifier: BSD-3-Clause
"""Axes of a figure: their words, units, limits and scales."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import numpy as np
from matplotlib.ticker import FuncFormatter

from linklab.base.text import excerpt
from linklab.plots.named.lines import DrawnLine
from linklab.plots.named.options import Options
from linklab.plots.named.words import axis_unit, is_latency, plain, quantity
from linklab.plots.spec import PlotSpec

_MOST_WORDS = 90
"""Letters of an axis's words."""

_MARGIN = 0.04
_MOST_FOR_PERCENTILES = 1_000_000
"""Values from which percentiles are taken; of more, evenly many of each line."""

_LEAST = 1e-30
"""Of a logarithmic axis."""


@dataclass(frozen=True)
class Scale:
    """What values of an axis are divided by, and its words."""

    factor: float
    words: str
    latency: bool


def scale_of(lines: Sequence[DrawnLine], side: int, spec: PlotSpec, options: Options) -> Scale:
    """The scale of the left (0) or right (1) axis for the lines on it."""
    units = list(dict.fromkeys(line.unit for line in lines))
    own = spec.axis_labels[side]
    factor, unit = 1.0, " or ".join(axis_unit(one, 0.0)[1] for one in units if one)
    if len(units) == 1 and not own:
        largest = max((abs(end) for line in lines for end in line.extent), default=0.0)
        factor, unit = axis_unit(units[0], largest)
    what = list(dict.fromkeys(quantity(line.unit, line.of.key) for line in lines))
    words = own or " or ".join(word for word in what if word)
    if unit and not own:
        words = f"{words} ({unit})" if words else unit
    if options.normalise:
        words = "Normalised values"
    if side < len(options.labels_y) and options.labels_y[side]:
        words = options.labels_y[side]
    return Scale(factor, excerpt(words, _MOST_WORDS), bool(units) and all(is_latency(one) for one in units))


def set_value_axis(
    axes: Any,
    lines: Sequence[DrawnLine],
    scale: Scale,
    side: int,
    *,
    spec: PlotSpec,
    options: Options,
    near: float = 0.0,
) -> None:
    """Words, scale and limits of a vertical axis on which these lines were drawn; side: 0 left, 1 right.

    near: which share of the greatest value the least must be below for the axis to begin at 0; 0 if it always does.
    """
    axes.set_ylabel(plain(scale.words))
    scaling = options.scaling or spec.scaling
    low, high = _range(lines, scaling if scaling != (0.0, 100.0) else None)
    set_limits(
        axes,
        low / scale.factor,
        high / scale.factor,
        side,
        options,
        zero=not scaling and (not near or low < near * high),
    )
    if options.invert and scale.latency:
        axes.invert_yaxis()


def set_limits(axes: Any, low: float, high: float, side: int, options: Options, *, zero: bool) -> None:
    """The limits of a vertical axis that is to show values from `low` to `high`; NaN if there are none."""
    if not (math.isfinite(low) and math.isfinite(high)):
        low, high = 0.0, 1.0
    zero = zero if options.zero is None else options.zero
    if options.log_y:
        low = low if low > 0 else high / 1000 if high > 0 else 0.1
        low = max(low, _LEAST)
        bottom, top = low / 1.2, max(high, low) * 1.2
    else:
        space = (high - low) * _MARGIN or abs(high) * _MARGIN or 0.5
        bottom, top = low - space, high + space
        if zero and low >= 0:
            bottom, top = 0.0, high * (1 + _MARGIN) or 1.0
        elif zero:
            top = max(top, 0.0)
    asked = options.limits_y[side] if side < len(options.limits_y) else (None, None)
    set_asked(axes.set_ylim, bottom, top, asked)
    if options.log_y:
        axes.set_yscale("log", base=options.log_y)


def above_zero(low: float, high: float) -> tuple[float, float]:
    """Limits that a logarithmic axis can have, as near to these as can be."""
    high = max(high, 10 * _LEAST) if high > 0 else 1.0
    return (max(low, _LEAST) if 0 < low < high else high / 1000), high


def set_asked(set_limits: Any, low: float, high: float, asked: tuple[float | None, float | None]) -> None:
    """Set limits of an axis: those that were asked for, else its own."""
    low = low if asked[0] is None else asked[0]
    high = high if asked[1] is None else asked[1]
    if low >= high:  # one was asked for, beyond all values
        low, high = (low, low + 1.0) if asked[0] is not None else (high - 1.0, high)
    set_limits(low, high)


def _range(lines: Sequence[DrawnLine], scaling: tuple[float, float] | None) -> tuple[float, float]:
    if not lines:
        return math.nan, math.nan
    if scaling is None:
        return min(line.extent[0] for line in lines), max(line.extent[1] for line in lines)
    every = max(1, sum(line.value.size for line in lines) // _MOST_FOR_PERCENTILES)
    low, high = np.percentile(np.concatenate([line.known[::every] for line in lines]), scaling)
    return float(low), float(high)


def set_time_axis(axes: Any, lines: Sequence[DrawnLine], options: Options) -> None:
    """Words and limits of a horizontal axis of time."""
    start = min((float(line.time_s[0]) for line in lines), default=0.0)
    end = max((float(line.time_s[-1]) for line in lines), default=1.0)
    if options.absolute_time:
        axes.xaxis.set_major_formatter(FuncFormatter(_clock))
    elif 0 < start < (end - start):
        start = 0.0
    axes.set_xlabel(plain(options.label_x) or ("Time (UTC)" if options.absolute_time else "Time (s)"))
    if options.log_x:
        above = [line.time_s[line.time_s > 0] for line in lines]
        start, end = above_zero(min((float(part[0]) for part in above if part.size), default=0.0), end)
    asked = options.limits_x[0] if options.limits_x else (None, None)
    set_asked(axes.set_xlim, start, end if end > start else start + 1.0, asked)
    if options.log_x:
        axes.set_xscale("log", base=options.log_x)


def _clock(seconds: float, _: object) -> str:
    try:
        moment = datetime(1970, 1, 1) + timedelta(seconds=round(seconds, 3))
    except OverflowError:
        return ""
    return moment.strftime("%H:%M:%S") + (f".{moment.microsecond // 1000:03d}" if moment.microsecond else "")
