# SPDX-License-Identifier: BSD-3-Clause
"""Colours of data and units of axes, the same in figures and in the charts of pages.

Pure, so that a page needs no matplotlib.
"""

from __future__ import annotations

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#666666")
"""Okabe and Ito (2008); yellow, their eighth, is too light for a thin line on white, and grey stands for it."""

# Steps are late on purpose: 1000 Mbit/s, 1000 ms and an MTU of 1500 bytes are how people say it.
_UNITS: dict[str, tuple[tuple[float, float, str], ...]] = {
    "bit/s": ((1.5e9, 1e9, "Gbit/s"), (1.5e6, 1e6, "Mbit/s"), (1.5e3, 1e3, "kbit/s"), (0, 1, "bit/s")),
    "bytes": ((1.5e9, 1e9, "GB"), (1.5e6, 1e6, "MB"), (1e4, 1e3, "kB"), (0, 1, "bytes")),
    "s": ((2, 1, "s"), (2e-3, 1e-3, "ms"), (0, 1e-6, "µs")),
}
"""Unit of a series → (from which largest value on, factor, unit on the axis), from the largest."""


def axis_unit(unit: str, largest: float) -> tuple[float, str]:
    """What to divide values by and the unit to print: `largest`, >= 0, then has one to four digits before the point."""
    choices = _UNITS.get(unit, ((0.0, 1.0, unit),))
    return next((factor, name) for least, factor, name in choices if largest >= least or least == 0)
