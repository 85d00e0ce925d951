# SPDX-License-Identifier: BSD-3-Clause
"""What a figure's axes show, so that another run or the next drawing shows the same part.

Two figures have the same scale if each pair of axes has the same limits.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

LEAST_SHARE = 1e-9
"""Of the whole, below which a part cannot be enlarged further: doubles have no more digits."""

ROUNDING = 1e-9
"""Of the larger limit of an axis."""


@dataclass(frozen=True)
class AxisLimits:
    """Of one pair of axes: from left to right and from bottom to top, and whether each is logarithmic."""

    x: tuple[float, float]
    y: tuple[float, float]
    scales: tuple[str, str] = ("linear", "linear")


def limits_of(figure: Any) -> tuple[AxisLimits, ...]:
    """The limits of each pair of axes."""
    scales = [(axes.get_xscale(), axes.get_yscale()) for axes in figure.axes]
    return tuple(
        AxisLimits(axes.get_xlim(), axes.get_ylim(), each) for axes, each in zip(figure.axes, scales, strict=True)
    )


def take(figure: Any, limits: Sequence[AxisLimits]) -> bool:
    """Set these limits if the figure has as many axes with the same scales; else change nothing.

    Returns:
        Whether it could be.
    """
    own = limits_of(figure)
    if [each.scales for each in own] != [each.scales for each in limits]:
        return False
    for axes, wanted in zip(figure.axes, limits, strict=True):
        axes.set_xlim(wanted.x)
        axes.set_ylim(wanted.y)
    return True


def alike(some: Sequence[AxisLimits], others: Sequence[AxisLimits]) -> bool:
    """Whether two figures have the same scale; zooming in and out again rounds the last digits."""
    if [each.scales for each in some] != [each.scales for each in others]:
        return False
    pairs = [pair for one, other in zip(some, others, strict=True) for pair in ((one.x, other.x), (one.y, other.y))]
    return all(
        abs(mine - theirs) <= ROUNDING * max(abs(one[0]), abs(one[1]))
        for one, other in pairs
        for mine, theirs in zip(one, other, strict=True)
    )


@dataclass(frozen=True)
class Axis:
    """What one axis shows, from its lower to its upper end."""

    limits: tuple[float, float]
    log: bool


@dataclass(frozen=True)
class Free:
    """A pair of axes, as it was, and which of them move by themselves: one that is shared moves with another."""

    axes: Any
    x: Axis
    y: Axis
    moves_x: bool
    moves_y: bool

    def change(self, how: Change, by: tuple[float, float], *, x: bool = True, y: bool = True) -> None:
        """Show what `how` makes of each axis as it was."""
        self.set(how(self.x, float(by[0])) if x else None, how(self.y, float(by[1])) if y else None)

    def set(self, x: tuple[float, float] | None, y: tuple[float, float] | None) -> None:
        """Show this; None leaves an axis as it is."""
        if x is not None and self.moves_x and x[0] != x[1]:
            self.axes.set_xlim(x)
        if y is not None and self.moves_y and y[0] != y[1]:
            self.axes.set_ylim(y)


Change = Callable[[Axis, float], tuple[float, float]]


def free(every: Sequence[Any]) -> list[Free]:
    """Pairs of axes, each with the axes to set, so that shared axes change only once."""
    found = []
    for at, axes in enumerate(every):
        shared_x, shared_y = axes.get_shared_x_axes(), axes.get_shared_y_axes()
        found.append(
            Free(
                axes,
                Axis(axes.get_xlim(), axes.get_xscale() == "log"),
                Axis(axes.get_ylim(), axes.get_yscale() == "log"),
                not any(shared_x.joined(axes, other) for other in every[:at]),
                not any(shared_y.joined(axes, other) for other in every[:at]),
            )
        )
    return found


def zoomed(limits: tuple[float, float], factor: float, at: float = 0.5, *, log: bool = False) -> tuple[float, float]:
    """Limits that show `factor` times as much, and keep what stands at this share of the way where it is."""
    low, high = map(_log, limits) if log else limits
    span = (high - low) * factor
    if abs(span) < LEAST_SHARE * max(abs(low), abs(high), 1e-300):
        return limits
    fixed = low + at * (high - low)
    return _back((fixed - at * span, fixed + (1 - at) * span), log=log, whole=limits)


def moved(limits: tuple[float, float], share: float, *, log: bool = False) -> tuple[float, float]:
    """Limits further by this share of what they show."""
    low, high = map(_log, limits) if log else limits
    step = share * (high - low)
    return _back((low + step, high + step), log=log, whole=limits)


def _log(value: float) -> float:
    return math.log10(max(value, 1e-300))


def _back(limits: tuple[float, float], *, log: bool, whole: tuple[float, float]) -> tuple[float, float]:
    if not log:
        return limits
    if max(map(abs, limits)) > 300:
        return whole
    return 10.0 ** limits[0], 10.0 ** limits[1]
