# SPDX-License-Identifier: BSD-3-Clause
"""Data sets that were read before, kept as arrays in ~/.cache/linklab/viewer: a large file then opens at once.

An entry is of one file as it was: its path, size and time of change are its key. Whatever is wrong with an entry, the
file is read anew. The format is our own, and holds no code.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import os
import zipfile
from pathlib import Path

import numpy as np

from linklab.base import files, place
from linklab.data import Dataset, open_file
from linklab.data.table import Grid
from linklab.errors import DataError
from linklab.experiment.derive import completed
from linklab.measure import Quantity, Series

FORMAT = 1
"""Raised when what is read from a file, or how it is kept, changes."""

MOST_BYTES = 2 * 2**30
LEAST_POINTS = 2000
"""Smaller data sets are not kept, because reading their file is as fast."""


def folder() -> Path:
    """The folder of the entries."""
    return place.of_home("XDG_CACHE_HOME", ".cache") / "viewer"


def read(path: Path) -> Dataset:
    """The data set of a file with the derived series that its test has here, from the cache if it is there.

    Raises:
        DataError: the file cannot be read, or is not a data file.
    """
    kept = _place_of(path)
    if kept is None:
        return completed(open_file(path))
    found = _load(kept)
    if found is None:
        found = completed(open_file(path))
        if sum(len(series) for series in found.series.values()) >= LEAST_POINTS:
            _keep(found, kept)
    return found


def _place_of(path: Path) -> Path | None:
    """The path of the file's entry, which may not exist; None if the file cannot be examined."""
    try:
        about = path.stat()
    except OSError:
        return None
    key = f"{FORMAT} {path.resolve()} {about.st_size} {about.st_mtime_ns} {about.st_ino}"
    return folder() / f"{hashlib.sha256(os.fsencode(key)).hexdigest()[:40]}.npz"


def _keep(data: Dataset, kept: Path) -> None:
    """Write the entry; a full or read-only disk is not an error, since the file can be read again."""
    series = list(data.series.values())
    grid = data.grid
    head = {
        "grid": None if grid is None else list(grid.values),
        "metadata": data.metadata,
        "flent": data.flent,
        "notes": data.notes,
        "scalars": [(name, each.value, each.unit) for name, each in data.scalars.items()],
        "series": [(each.name, each.unit, each.source, each.meta, len(each)) for each in series],
    }
    packed = io.BytesIO()
    tables = {} if grid is None else {"times": grid.times, "table": np.array([*grid.values.values()], dtype=np.float64)}
    np.savez(
        packed,
        **tables,
        head=np.frombuffer(json.dumps(head).encode(), dtype=np.uint8),
        time_s=np.concatenate([each.time_s for each in series]),
        value=np.concatenate([each.value for each in series]),
    )
    with contextlib.suppress(OSError):
        kept.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        files.write(kept, packed.getvalue())


def _load(kept: Path) -> Dataset | None:
    """The data set of an entry; None if it is missing or damaged."""
    try:
        with np.load(kept, allow_pickle=False) as found:
            head = json.loads(found["head"].tobytes())
            time_s, value = found["time_s"], found["value"]
            rows = zip(head["grid"] or (), found["table"] if head["grid"] else (), strict=True)
            grid = None if head["grid"] is None else Grid(found["times"], dict(rows))
        ends = np.cumsum([each[4] for each in head["series"]]).tolist()
        series = {
            name: Series(name, unit, time_s[end - size : end], value[end - size : end], source, meta)
            for (name, unit, source, meta, size), end in zip(head["series"], ends, strict=True)
        }
        scalars = {name: Quantity(number, unit) for name, number, unit in head["scalars"]}
        data = Dataset(head["metadata"], scalars, series, tuple(head["notes"]), head["flent"], grid)
    except (OSError, ValueError, KeyError, TypeError, EOFError, zipfile.BadZipFile, DataError):
        return None
    with contextlib.suppress(OSError):
        os.utime(kept)  # the entries that were used last are kept longest
    return data


def tidy(most_bytes: int = MOST_BYTES) -> None:
    """Remove the entries that were used longest ago, until the others take at most `most_bytes`."""
    taken = 0
    with contextlib.suppress(OSError):
        found = [(path.stat(), path) for path in folder().glob("*.npz")]
        for about, path in sorted(found, key=lambda each: -each[0].st_mtime):
            taken += about.st_size
            if taken > most_bytes:
                path.unlink(missing_ok=True)
