# SPDX-License-Identifier: BSD-3-Clause
"""The JSON of a data file → `Dataset`; every fault is one DataError that names the file and the place in it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from linklab.data.dataset import OURS, SERIES_META, TIMES, Dataset
from linklab.data.table import Grid
from linklab.data.times import in_utc, seconds_of, zone_hours
from linklab.data.versions import VERSION, is_number, upgrade
from linklab.errors import DataError
from linklab.measure import Quantity, Series, make_series

FORMAT = 1
"""Of what stands under our key; raised when a reader of the old one would misread the new one."""

_SEPARATOR = "::"
"""Between a series and one of the further numbers of its samples, in Flent's names."""

SAMPLE_KEYS = ("t", "s", "val")
"""Of a sample itself: no further number can be called so."""

Samples = list[dict[str, Any]]
Points = list[tuple[float, float]]


def parse(found: object, source: str) -> Dataset:
    """The data set of a file's JSON.

    A series that has samples is taken at their times.  Flent's samples may hold further numbers; each becomes a series
    called SERIES::NUMBER, as Flent calls it in its results.  Series without samples, such as computed averages, are
    taken from `results`.

    Raises:
        DataError: it is no data file, or of a newer version.
    """
    try:
        return _Reader(found).dataset()
    except DataError as error:
        raise DataError(f"{source}: {error}") from None


class _Reader:
    """A file whose outer parts have been checked, as of the newest version."""

    def __init__(self, found: object) -> None:
        if not isinstance(found, dict) or not {"metadata", "results"} <= found.keys():
            raise DataError("no data file: it has no metadata and results; give a file that Linklab or Flent wrote")
        version = _version(found.get("version", 1))
        self.metadata = _object(found["metadata"], "metadata")
        self.meta = _object(self.metadata.get(SERIES_META, {}), f"metadata: {SERIES_META}")
        for name, meta in self.meta.items():
            where = f"metadata: {SERIES_META}: {name}"
            if "RAW_VALUES" in _object(meta, where) and version == 1:
                meta["RAW_VALUES"] = _samples(meta["RAW_VALUES"], f"{where}: RAW_VALUES")
        raw = _object(found.get("raw_values", {}), "raw_values")
        found["raw_values"] = {name: _samples(samples, f"raw_values: {name}") for name, samples in raw.items()}
        try:
            upgrade(version, found)
        except OverflowError:
            raise DataError("raw_values: a number is too large") from None
        self.raw: dict[str, Samples] = found["raw_values"]
        self.x_values = _numbers(found.get("x_values", []), "x_values")
        self.results = _object(found["results"], "results")
        self.metadata.pop(SERIES_META, None)
        self.ours = _object(self.metadata.pop(OURS, {}), f"metadata: {OURS}")
        if self.ours.get("format", FORMAT) != FORMAT:
            kind = self.ours["format"]
            raise DataError(f"metadata: {OURS}: format {kind!r} is not the one I read, {FORMAT}; use a newer Linklab")
        self.infinite: list[str] = []

    def dataset(self) -> Dataset:
        flent, t0_s = self._flent()
        sources = {
            _text(one.get("name"), where): _text(one.get("source", ""), where) for one, where in self._list("series")
        }
        inner = {
            _text(one.get("name"), where): _text(one["in"], where) for one, where in self._list("series") if "in" in one
        }
        points: dict[str, Points] = {}
        for name in sources:
            parent = inner.get(name, name)
            if parent in self.raw:
                key = name[len(parent) + len(_SEPARATOR) :] if name in inner else "val"
                points[name] = self._listed(parent, t0_s, key)
        for name in self.raw.keys() - sources.keys():
            for key, found in self._further(name, t0_s).items():
                points.setdefault(key, found)
        for name, values in self.results.items():
            if name not in points:
                points[name] = self._on_grid(name, values)
        parents = {name.rpartition(_SEPARATOR)[0] for name in points}
        points |= {name: [] for name in self.meta if name not in points and name not in parents}
        order = [*(name for name in sources if name in points), *sorted(points.keys() - sources.keys())]
        series = {name: self._series(name, points[name], sources.get(name, "")) for name in order}
        notes = [_text(note, where) for note, where in self._list("notes", of=str)]
        notes += [f"{name}: infinite values are left out" for name in dict.fromkeys(self.infinite)]
        metadata = _object(self.ours.get("metadata", {}), f"metadata: {OURS}: metadata")
        return Dataset(metadata, self._scalars(), series, tuple(notes), flent, self._grid())

    def _grid(self) -> Grid | None:
        """The common times of a file of Flent's, as it has them; of a file of ours they are computed again."""
        if self.ours or not self.x_values:
            return None
        times = np.array(self.x_values)
        if not np.isfinite(times).all():
            return None
        fitting = {
            name: np.array(_numbers(found, f"results: {name}"))
            for name, found in self.results.items()
            if isinstance(found, list) and len(found) == len(times)
        }
        return Grid(times, {name: np.where(np.isinf(found), math.nan, found) for name, found in fitting.items()})

    def _flent(self) -> tuple[dict[str, Any], float]:
        """Flent's metadata without what was filled in for it, and the moment from which the series count."""
        times = [sample["t"] for samples in self.raw.values() for sample in samples if is_number(sample.get("t"))]
        first_s = min(map(_float, times), default=None)
        hours = None
        for name in TIMES:
            if self.metadata.get(name) is not None:
                try:
                    hours = zone_hours(self.metadata[name], first_s) if hours is None else hours
                    self.metadata[name] = in_utc(self.metadata[name], hours)
                except DataError as error:
                    raise DataError(f"metadata: {name}: {error}") from None
        start = self.metadata.get("T0") or self.metadata.get("TIME")
        for name, where in self._list("filled", of=str):
            self.metadata.pop(_text(name, where), None)
        for name, where in self._list("null", of=str):
            self.metadata[_text(name, where)] = None
        return self.metadata, seconds_of(start) if start else 0.0

    def _listed(self, name: str, t0_s: float, key: str) -> Points:
        """A series of ours, or a further number of it: each sample is one point, and one without value is a gap."""
        points = []
        for number, sample in enumerate(self.raw[name], 1):
            where = f"raw_values: {name}: sample {number}"
            time_s = _number(sample["s"], where) if "s" in sample else _number(sample.get("t"), where) - t0_s
            points.append((time_s, _number(sample.get(key), where)))
        return points

    def _further(self, name: str, t0_s: float) -> dict[str, Points]:
        """A series of Flent's and the further numbers of its samples; what is no number is left out."""
        points: dict[str, Points] = {}
        for number, sample in enumerate(self.raw[name], 1):
            if sample.get("t") is None:
                continue  # Flent draws no sample without a time either
            time_s = _number(sample["t"], f"raw_values: {name}: sample {number}: t") - t0_s
            for key, value in _flat({key: value for key, value in sample.items() if key != "t"}, name):
                points.setdefault(key, []).append((time_s, value))
        return points

    def _on_grid(self, name: str, values: object) -> Points:
        found = _numbers(values, f"results: {name}")
        if len(found) != len(self.x_values):
            raise DataError(f"results: {name}: it has {len(found)} values for {len(self.x_values)} x_values")
        return list(zip(self.x_values, found, strict=True))

    def _series(self, name: str, points: Points, source: str) -> Series:
        ordered = sorted(points, key=lambda point: point[0])  # Flent appends what each of its programs measured
        time_s, value = np.array(ordered, dtype=np.float64).reshape(-1, 2).T
        if not np.isfinite(time_s).all():
            raise DataError(f"series {name}: a time is infinite or missing")
        if np.isinf(value).any():
            self.infinite.append(name)
            value = np.where(np.isinf(value), math.nan, value)
        own = self.meta.get(name)
        parent = self.meta.get(name.rpartition(_SEPARATOR)[0], {})
        # a mean of the tool is one of the series itself, not of a further number of its samples
        meta = {key: value for key, value in parent.items() if key != "MEAN_VALUE"} if own is None else dict(own)
        unit = meta.pop("UNITS", None) or ""
        where = f"metadata: {SERIES_META}: {name}: UNITS"
        return make_series(name, "" if own is None else _text(unit, where), time_s, value, source=source, meta=meta)

    def _scalars(self) -> dict[str, Quantity]:
        found = {}
        for scalar, where in self._list("scalars"):
            value, unit = _number(scalar.get("value"), where), _text(scalar.get("unit", ""), where)
            found[_text(scalar.get("name"), where)] = Quantity(value, unit)
        return found

    def _list(self, key: str, of: type = dict) -> Iterator[tuple[Any, str]]:
        """The items of a list of ours, each with its place."""
        where = f"metadata: {OURS}: {key}"
        items = self.ours.get(key, [])
        if not isinstance(items, list) or not all(isinstance(item, of) for item in items):
            raise DataError(f"{where}: must be a list of {'texts' if of is str else 'objects'}")
        for number, item in enumerate(items, 1):
            yield item, f"{where}: number {number}"


def _version(found: object) -> int:
    try:
        version = int(found) if isinstance(found, int | str) else 0
    except ValueError:
        version = 0
    if version > VERSION:
        raise DataError(f"version {version} is newer than {VERSION}, the newest I read; use a newer Linklab")
    if version < 1:
        raise DataError(f"version must be a whole number from 1 to {VERSION}, not {found!r:.40}")
    return version


def _flat(sample: Mapping[str, Any], name: str) -> Iterator[tuple[str, float]]:
    for key, value in sample.items():
        inner = name if key == "val" else f"{name}{_SEPARATOR}{key}"
        if isinstance(value, Mapping):
            yield from _flat(value, inner)
        elif value is None or isinstance(value, int | float):  # true, as in "lost", is 1
            yield inner, _float(value)


def _object(found: object, where: str) -> dict[str, Any]:
    if not isinstance(found, dict):
        raise DataError(f"{where}: must be an object, not {_shown(found)}")
    return found


def _samples(found: object, where: str) -> Samples:
    if found is None:
        return []
    if not isinstance(found, list) or not all(isinstance(sample, dict) for sample in found):
        raise DataError(f"{where}: must be a list of objects")
    return found


def _numbers(found: object, where: str) -> list[float]:
    if not isinstance(found, list):
        raise DataError(f"{where}: must be a list of numbers, not {_shown(found)}")
    return [_number(value, f"{where}: number {number}") for number, value in enumerate(found, 1)]


def _number(found: object, where: str) -> float:
    """The number; null is NaN."""
    if found is not None and not is_number(found):
        raise DataError(f"{where}: must be a number, not {_shown(found)}")
    return _float(found)


def _text(found: object, where: str) -> str:
    if not isinstance(found, str):
        raise DataError(f"{where}: must be text, not {_shown(found)}")
    return found


def _float(found: Any) -> float:
    try:
        return math.nan if found is None else float(found)
    except OverflowError:
        return math.inf if found > 0 else -math.inf


def _shown(found: object) -> str:
    return "nothing" if found is None else f"{found!r:.40}"
