# SPDX-License-Identifier: BSD-3-Clause
"""What every tool's output becomes: named scalars and named series, both with units.

Read by expectations, plots, reports and grades. It must not know which tool a number came from: that is text in `tool`,
`source` and `meta`. A value that was not measured is absent or NaN, never 0 (house rule: unknown is not zero).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

FloatArray = NDArray[np.float64]
_BINS_S = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 60.0)


@dataclass(frozen=True)
class Quantity:
    """One number and its unit.

    unit: "bit/s", "bytes", "s", "packets", "segments", "datagrams", "1/s", or "" for a ratio or a count of things.
    """

    value: float
    unit: str

    def __str__(self) -> str:
        return f"{self.value:g} {self.unit}".rstrip()


@dataclass(frozen=True, eq=False)
class Series:
    """One quantity over time.

    time_s: `(n,)` float64, seconds since the start of the test, not decreasing.
    value: `(n,)` float64 in `unit`; NaN where nothing was measured.
    meta: what else is known: stream, direction, hosts, how the times were obtained.
    """

    name: str
    unit: str
    time_s: FloatArray
    value: FloatArray
    source: str = ""
    meta: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.time_s.shape != self.value.shape or self.time_s.ndim != 1:
            raise ValueError(f"series {self.name}: times {self.time_s.shape} and values {self.value.shape} differ")

    def __eq__(self, other: object) -> bool:
        """Whether all of it is the same; a gap equals a gap."""
        if not isinstance(other, Series):
            return NotImplemented
        return (
            (self.name, self.unit, self.source, self.meta) == (other.name, other.unit, other.source, other.meta)
            and np.array_equal(self.time_s, other.time_s)
            and np.array_equal(self.value, other.value, equal_nan=True)
        )

    def __hash__(self) -> int:
        return hash((self.name, self.unit, self.source, len(self)))

    def __len__(self) -> int:
        return int(self.time_s.size)

    @property
    def known(self) -> FloatArray:
        """The values that were measured, without gaps."""
        return self.value[~np.isnan(self.value)]

    def between(self, start_s: float, end_s: float) -> Series:
        """The part with start_s <= time < end_s; for a warm-up or a cool-down to be left out."""
        inside = (self.time_s >= start_s) & (self.time_s < end_s)
        return replace(self, time_s=self.time_s[inside], value=self.value[inside])


def make_series(
    name: str,
    unit: str,
    time_s: ArrayLike,
    value: ArrayLike,
    *,
    source: str = "",
    meta: Mapping[str, Any] | None = None,
) -> Series:
    """Build a series from any sequences; None becomes NaN."""
    return Series(
        name, unit, np.asarray(time_s, dtype=np.float64), np.asarray(value, dtype=np.float64), source, dict(meta or {})
    )


def per_second(counter: Series, most: int = 100) -> Series:
    """How many a second a counter counted, 1/s, in at most `most` bins of a round length; a value in a bin's middle.

    What was counted between two samples is spread evenly over the time between them. The first and last bin are
    divided by what of them was observed; a gap (NaN) is not observed, and a bin inside one is NaN. No bin is shorter
    than the median time between samples. A counter that starts again (the thing that counts was replaced) begins at 0.
    """
    time_s, value = counter.time_s, counter.value
    if counter.known.size < 2:
        return replace(counter, unit="1/s", time_s=time_s[:0], value=value[:0])
    steps, elapsed = np.diff(value), np.diff(time_s)
    gap = np.isnan(steps)
    steps = np.where(gap, 0, np.where(steps < 0, value[1:], steps))
    counted = np.concatenate(([0.0], np.cumsum(steps)))
    observed_s = np.concatenate(([0.0], np.cumsum(np.where(gap, 0, elapsed))))
    # a sampler's period is off by some microseconds, which must not double the width
    shortest = max(float(time_s[-1] - time_s[0]) / most, 0.99 * float(np.median(elapsed)))
    width = next((width for width in _BINS_S if width >= shortest), _BINS_S[-1] * math.ceil(shortest / _BINS_S[-1]))
    edges = np.arange(np.floor(time_s[0] / width), np.ceil(time_s[-1] / width) + 1) * width
    in_bins = np.diff(np.interp(edges, time_s, counted))
    for_s = np.diff(np.interp(edges, time_s, observed_s))
    seen = for_s > 1e-6 * width  # less is rounding
    rate = np.divide(in_bins, for_s, out=np.full(for_s.shape, np.nan), where=seen)
    return replace(counter, unit="1/s", time_s=(edges[:-1] + edges[1:]) / 2, value=rate)


@dataclass(frozen=True, eq=False)
class Measurements:
    """Everything measured by one tool, or by several after `merge`.

    scalars, series: by name; a name may be in both (`iperf3.retransmits`: the total, and over time).
    notes: sentences about what is missing, corrected or estimated; to be shown beside the numbers.
    """

    scalars: dict[str, Quantity] = field(default_factory=dict)
    series: dict[str, Series] = field(default_factory=dict)
    tool: str = ""
    source: str = ""
    notes: tuple[str, ...] = ()

    def renumbered(self, number: int) -> Measurements:
        """The same with names `tool.number.…` instead of `tool.…`; number 1 keeps the plain names."""
        if number == 1:
            return self

        def rename(name: str) -> str:
            head, _, tail = name.partition(".")
            return f"{head}.{number}.{tail}"

        return replace(
            self,
            scalars={rename(name): quantity for name, quantity in self.scalars.items()},
            series={rename(name): replace(series, name=rename(name)) for name, series in self.series.items()},
        )


def merge(parts: Iterable[Measurements], source: str = "") -> Measurements:
    """One `Measurements` of several.

    The first result of a tool keeps its plain names (`iperf3.throughput.receiver`), the second of the same tool is
    `iperf3.2.throughput.receiver`, the third `iperf3.3.…`, in the order given.
    """
    seen: dict[str, int] = {}
    scalars: dict[str, Quantity] = {}
    series: dict[str, Series] = {}
    notes: list[str] = []
    for part in parts:
        seen[part.tool] = seen.get(part.tool, 0) + 1
        numbered = part.renumbered(seen[part.tool])
        scalars.update(numbered.scalars)
        series.update(numbered.series)
        notes.extend(f"{part.source}: {note}" if part.source else note for note in part.notes)
    return Measurements(scalars, series, "+".join(seen), source, tuple(dict.fromkeys(notes)))
