# SPDX-License-Identifier: BSD-3-Clause
"""`Dataset`: what one step, test or experiment measured, with what is known of how it was measured.

Everything in it can be stored in JSON and is checked when it is made, so that a data set can always be written.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from linklab.data.table import Grid, SeriesTable
from linklab.data.times import in_utc
from linklab.errors import DataError
from linklab.measure import Measurements, Quantity, Series

TIMES = ("TIME", "T0", "BATCH_TIME")
"""Flent's metadata that are moments; T0, or else TIME, is the one from which the series count their seconds."""

OURS = "LINKLAB"
"""The one key of Flent's metadata under which stands what Flent has no place for."""

SERIES_META = "SERIES_META"


@dataclass(frozen=True)
class Dataset:
    """Numbers and series with their units, and what is known of the run that gave them.

    metadata: what Linklab knows of it, as JSON: lab, step, commands, seed, clock, engine, kernel, profile.
    scalars: by name, in the order of measurement; each finite, since what was not measured is absent.
    series: by name, in that order. Times are finite seconds since `T0`, not decreasing; values are finite, or NaN for
        a gap.
    notes: sentences to be shown beside the numbers.
    flent: Flent's own metadata by its names (NAME, TITLE, T0, …); moments are UTC, as 1970-01-01T00:00:00.000000Z.
    grid: what a file of Flent's says of its series at common times; None where Linklab computes them. It does not count
        in comparisons, since it comes from the series.

    Raises:
        DataError: a value is infinite, a scalar NaN, or metadata are no JSON.
    """

    metadata: Mapping[str, Any] = field(default_factory=dict)
    scalars: Mapping[str, Quantity] = field(default_factory=dict)
    series: Mapping[str, Series] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    flent: Mapping[str, Any] = field(default_factory=dict)
    grid: Grid | None = field(default=None, compare=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "metadata", plain(self.metadata, "metadata"))
        object.__setattr__(self, "flent", _flent(self.flent))
        object.__setattr__(self, "notes", tuple(self.notes))
        object.__setattr__(self, "scalars", {name: _scalar(name, found) for name, found in self.scalars.items()})
        object.__setattr__(self, "series", {name: _series(name, found) for name, found in self.series.items()})

    @classmethod
    def of(cls, measured: Measurements, metadata: Mapping[str, Any], title: str = "") -> Dataset:
        """The data set of what a tool measured; `metadata` get its `tool` and `source`."""
        known = {**metadata, "tool": measured.tool, "source": measured.source}
        flent = {"TITLE": title} if title else {}
        return cls(known, measured.scalars, measured.series, measured.notes, flent)

    @cached_property
    def table(self) -> SeriesTable:
        """Its series at common times."""
        return SeriesTable(self.series, self.flent.get("STEP_SIZE"), self.grid)

    @property
    def tool(self) -> str:
        """Which tool measured it, such as "iperf3", or several as "iperf3+ping"; "" if that is not known."""
        return str(self.metadata.get("tool", ""))


def plain(value: Any, where: str) -> Any:
    """The value as JSON gives it back: tuples are lists, NumPy's numbers Python's, and what is not finite is None.

    Raises:
        DataError: something in it is not JSON; the message begins with its place below `where`.
    """
    match value:
        case None | bool() | str():
            return value
        case np.generic() | np.ndarray():
            return plain(value.tolist(), where)
        case int():
            if abs(value) >= 2**1023:
                raise DataError(f"{where}: a whole number of {value.bit_length()} bits is too large")
            return int(value)
        case float():
            return float(value) if math.isfinite(value) else None
        case list() | tuple():
            return [plain(item, f"{where}[{number}]") for number, item in enumerate(value)]
        case Mapping():
            for key in value:
                if not isinstance(key, str):
                    raise DataError(f"{where}: the key {key!r} must be text")
            return {str(key): plain(item, f"{where}.{key}") for key, item in value.items()}
        case _:
            raise DataError(f"{where}: a {type(value).__name__} cannot be stored in JSON")


def _flent(given: Mapping[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = plain(given, "flent")
    for name in (OURS, SERIES_META):
        if name in found:
            raise DataError(f"flent: {name} is written by Linklab; leave it out")
    for name in TIMES:
        if found.get(name) is not None:
            try:
                found[name] = in_utc(found[name])
            except DataError as error:
                raise DataError(f"flent: {name}: {error}") from None
    return found


def _scalar(name: str, found: Quantity) -> Quantity:
    value = float(found.value)
    if not math.isfinite(value):
        raise DataError(f"scalar {name}: must be finite, not {value}; leave out what was not measured")
    return Quantity(value, found.unit)


def _series(name: str, found: Series) -> Series:
    if found.name != name:
        raise DataError(f"series {name}: is called {found.name}")
    time_s, value = (np.array(part, dtype=np.float64) for part in (found.time_s, found.value))
    if not np.isfinite(time_s).all() or (time_s[1:] < time_s[:-1]).any():
        raise DataError(f"series {name}: its times must be finite and must not decrease")
    if np.isinf(value).any():
        raise DataError(f"series {name}: a value is infinite")
    meta = plain(found.meta, f"series {name}: meta")
    if "UNITS" in meta:
        raise DataError(f"series {name}: meta: the key UNITS is the unit's; leave it out")
    for part in (time_s, value):
        part.setflags(write=False)
    return replace(found, time_s=time_s, value=value, meta=meta)
