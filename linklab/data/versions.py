# SPDX-License-Identifier: BSD-3-Clause
"""Flent's data files of versions 1 to 3 → version 4, as Flent itself converts them when it loads them.

Version 1 kept raw values under SERIES_META, or not at all. Before version 4 raw values were as the tools gave them:
UDP round trips as transactions a second, HTTP latency in seconds, counters since the start instead of since the last
sample; UDP rates were in bits/s in the metadata.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, MutableMapping
from typing import Any

VERSION = 4
"""What is written, and the newest that is read."""

_AIRTIME = ("airtime_tx", "airtime_rx")
_EVENTS = ("dropped", "ecn_mark")

Sample = MutableMapping[str, Any]


def upgrade(version: int, found: dict[str, Any]) -> None:
    """Change the content of a file of `version`, whose parts have their right types, to that of version 4."""
    metadata = found["metadata"]
    if version == 1:
        kept = metadata.get("SERIES_META", {})
        found["raw_values"] = {name: meta.pop("RAW_VALUES") for name, meta in kept.items() if "RAW_VALUES" in meta}
        if "NETPERF_WRAPPER_VERSION" in metadata:
            metadata["FLENT_VERSION"] = metadata.pop("NETPERF_WRAPPER_VERSION")
    if version < VERSION:
        for name, samples in found["raw_values"].items():
            _upgrade_samples(name, samples)
        for meta in metadata.get("SERIES_META", {}).values():
            if meta.get("UNITS") == "bits/s" and _is_number(meta.get("MEAN_VALUE")):
                meta |= {"MEAN_VALUE": meta["MEAN_VALUE"] / 1e6, "UNITS": "Mbits/s"}


def _upgrade_samples(name: str, samples: list[Sample]) -> None:
    if "UDP" in name:
        for sample in samples:
            if "dur" in sample and _is_number(sample.get("val")):
                sample["val"] = 1000 / sample["val"] if sample["val"] else None
    elif name == "HTTP latency":
        for sample in samples:
            if _is_number(sample.get("val")):
                sample["val"] *= 1000
    elif samples and "stations" in samples[0]:
        last: dict[str, Sample] = {}
        for sample in samples:
            for station, counters in _stations(sample):
                _since_last(counters, last.setdefault(station, {}), _AIRTIME)
    elif samples and any(key in samples[0] for key in _EVENTS):
        before: Sample = {}
        for sample in samples:
            _since_last(sample, before, _EVENTS)


def _stations(sample: Sample) -> Iterator[tuple[str, Sample]]:
    found = sample.get("stations")
    if isinstance(found, Mapping):
        yield from ((name, counters) for name, counters in found.items() if isinstance(counters, MutableMapping))


def _since_last(sample: Sample, last: Sample, keys: tuple[str, ...]) -> None:
    """Counters as how much they grew since the last sample; the first grew by 0, as Flent has it."""
    for key in keys:
        if _is_number(sample.get(key)):
            total = sample[key]
            sample[key] = total - last.get(key, total)
            last[key] = total


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
