# SPDX-License-Identifier: BSD-3-Clause
"""Data sets ↔ Flent's data file, written in version 4 and read in versions 1 to 4, as `.gz`, `.bz2` or plain JSON.

The format is Flent's, as its `resultset.py` reads it; docs/data-files.md lists the fields.
"""

from __future__ import annotations

import bz2
import gzip
import json
import math
import zlib
from collections.abc import Mapping
from io import BufferedIOBase, BufferedReader
from pathlib import Path
from typing import Any

import numpy as np

from linklab.base.files import write_asked
from linklab.base.json_words import why_not_json
from linklab.data.dataset import OURS, SERIES_META, Dataset
from linklab.data.grid import at_times, common_times
from linklab.data.names import SEPARATOR, parent_of
from linklab.data.parse import FORMAT, SAMPLE_KEYS, parse
from linklab.data.times import EPOCH, seconds_of
from linklab.data.versions import VERSION
from linklab.errors import DataError
from linklab.measure import Series

MOST_BYTES = 512 * 2**20
"""Of JSON that is read; a small file can unpack to any size."""

BZIP2 = (".bz2", ".flnt")
"""The second is Flent's old suffix."""

GZIP_LEVEL = 6
"""The highest takes five times as long for files that are smaller by 3 %."""

STOCK_TEST = "ping"
"""The test that a data set of ours says it is: stock Flent opens only files of tests that it has, and this one needs
nothing of the file. Its plots are of Flent's series; tables and statistics show ours."""

_CURE = "give a file that Linklab or Flent wrote"

_NOTHING: tuple[str, ...] = (
    "TITLE",
    "HOST",
    "LOCAL_HOST",
    "NOTE",
    "FLENT_VERSION",
    "IP_VERSION",
    "BATCH_NAME",
    "BATCH_TIME",
    "BATCH_TITLE",
    "BATCH_UUID",
    "DATA_FILENAME",
    "HTTP_GETTER_URLLIST",
    "HTTP_GETTER_DNS",
    "HTTP_GETTER_WORKERS",
)
"""What Flent records of each test and a data set of ours may lack: null, as Flent writes it."""


def dump(data: Dataset) -> str:
    """The text of a data file, version 4; the same data set gives the same text.

    Series stand in `raw_values` at their own times, and at common times in `x_values` and `results`. Further numbers
    of a series, such as "TCP upload::tcp_cwnd", stand in its samples if they were measured at the same times.
    """
    step = data.flent.get("STEP_SIZE")
    times, step_s = common_times(data.series.values(), step if isinstance(step, int | float) else None)
    length_s = float(times[-1]) if times.size else 0.0
    defaults: dict[str, Any] = dict.fromkeys(_NOTHING)
    defaults |= {"NAME": STOCK_TEST, "TIME": EPOCH, "T0": data.flent.get("TIME") or EPOCH, "HOSTS": []}
    defaults |= {"LENGTH": math.ceil(length_s), "TOTAL_LENGTH": length_s, "STEP_SIZE": step_s, "TEST_PARAMETERS": {}}
    filled = sorted(key for key in defaults if data.flent.get(key) is None)
    metadata = {**data.flent, **{key: defaults[key] for key in filled}}
    # what was given as null is told from what was not given
    given = [key for key in filled if key in data.flent]
    metadata[SERIES_META] = {name: {**series.meta, "UNITS": series.unit} for name, series in data.series.items()}
    inner = _inner(data.series)
    metadata[OURS] = {
        "format": FORMAT,
        "filled": [key for key in filled if key not in given],
        "null": given,
        "metadata": data.metadata,
        "scalars": [
            {"name": name, "value": scalar.value, "unit": scalar.unit} for name, scalar in data.scalars.items()
        ],
        "series": [
            {"name": name, "source": series.source, **({"in": inner[name]} if name in inner else {})}
            for name, series in data.series.items()
        ],
        "notes": data.notes,
    }
    t0_s = seconds_of(metadata["T0"])
    written = {
        "version": VERSION,
        "metadata": metadata,
        "x_values": times.tolist(),
        "results": {name: _or_null(at_times(series, times, step_s)) for name, series in data.series.items()},
        "raw_values": _raw_values(data.series, inner, t0_s),
    }
    return json.dumps(written, sort_keys=True, allow_nan=False, separators=(",", ":")) + "\n"


def load(text: str, source: str = "data") -> Dataset:
    """The data set of a data file's text, of any version.

    Raises:
        DataError: it is not one, or of a version that is newer than this program; the message begins with `source`.
    """
    try:
        found = json.loads(text)
    except RecursionError:
        raise DataError(f"{source}: no data file: its JSON is nested too deeply; {_CURE}") from None
    except json.JSONDecodeError as error:
        why = why_not_json(error)
        if error.msg == "Expecting value" and not text[: error.pos].strip() and text.strip():
            raise DataError(f"{source}: this is not a data file; {_CURE}") from None
        raise DataError(f"{source}:{error.lineno}: no data file: {why}; {_CURE}") from None
    except ValueError:
        raise DataError(f"{source}: no data file: a number in it has thousands of digits; {_CURE}") from None
    return parse(found, source)


def save(data: Dataset, path: Path) -> None:
    """Write a data file, whole or not at all, packed as its suffix says: `.gz`, `.bz2` (`.flnt`), else plain JSON.

    The same data set gives the same bytes: the packed file holds neither its name nor the time.

    Raises:
        InputError: it cannot be written there.
    """
    write_asked(path, packed(data, path.suffix))


def packed(data: Dataset, suffix: str = ".gz") -> bytes:
    """A data file's bytes, packed as `save` does for this suffix."""
    content = dump(data).encode("ascii")
    if suffix == ".gz":
        return gzip.compress(content, GZIP_LEVEL, mtime=0)
    return bz2.compress(content) if suffix in BZIP2 else content


def open_file(path: Path) -> Dataset:
    """Read a data file of Linklab's or Flent's, of versions 1 to 4: `.gz`, `.bz2` (also `.flnt`), else plain JSON.

    Raises:
        DataError: it cannot be read, or is no data file; the message names it and the place in it.
    """
    try:
        with path.open("rb") as packed:
            content = _unpacked(packed, path.suffix).read(MOST_BYTES + 1)
    except EOFError as error:
        raise DataError(f"{path}: cannot be unpacked: the file breaks off; {_CURE}") from error
    except (zlib.error, gzip.BadGzipFile) as error:
        other = str(error).startswith("Not a gzipped file")
        why = "it is not a gzip file" if other else "its contents are damaged"
        raise DataError(f"{path}: cannot be unpacked: {why}; {_CURE}") from error
    except OSError as error:
        if error.strerror is None:  # bz2 has no error of its own
            raise DataError(f"{path}: cannot be unpacked: it is not a bzip2 file, or damaged; {_CURE}") from error
        raise DataError(f"{path}: cannot be read: {error.strerror}") from error
    if len(content) > MOST_BYTES:
        raise DataError(f"{path}: unpacks to more than {MOST_BYTES >> 20} MiB")
    try:
        return load(content.decode("utf-8"), str(path))
    except UnicodeDecodeError as error:
        raise DataError(f"{path}: byte {error.start + 1} is no UTF-8 text; {_CURE}") from None


def _unpacked(packed: BufferedReader, suffix: str) -> BufferedIOBase:
    match suffix:
        case ".gz":
            return gzip.GzipFile(fileobj=packed)
        case suffix if suffix in BZIP2:
            return bz2.BZ2File(packed)
        case _:
            return packed


def _or_null(values: np.ndarray[Any, np.dtype[np.float64]]) -> list[float | None]:
    return [None if math.isnan(value) else value for value in values.tolist()]


def _inner(series: Mapping[str, Series]) -> dict[str, str]:
    """The further numbers that stand in the samples of another series, and which: those measured at its very times."""
    found: dict[str, str] = {}
    for name, one in series.items():
        parent = parent_of(name, series)
        key = name[len(parent) + len(SEPARATOR) :]
        if not parent or key in SAMPLE_KEYS or SEPARATOR in key or parent_of(parent, series):
            continue
        if np.array_equal(one.time_s, series[parent].time_s):
            found[name] = parent
    return found


def _raw_values(
    series: Mapping[str, Series], inner: Mapping[str, str], t0_s: float
) -> dict[str, list[dict[str, float]]]:
    """The samples of all series; a further number that is a gap is absent from its sample."""
    found = {name: _raw(one, t0_s) for name, one in series.items() if name not in inner}
    for name, parent in inner.items():
        key = name[len(parent) + len(SEPARATOR) :]
        for sample, value in zip(found[parent], series[name].value.tolist(), strict=True):
            if not math.isnan(value):
                sample[key] = value
    return found


def _raw(series: Series, t0_s: float) -> list[dict[str, float]]:
    """Flent's samples: "t" is the time since 1970, s, and a gap lacks "val".

    Rounding makes t - T0 differ from the series' own time where T0 is large; that time then stands in "s".
    """
    samples = []
    for time_s, value in zip(series.time_s.tolist(), series.value.tolist(), strict=True):
        sample = {"t": t0_s + time_s if t0_s else time_s}
        if sample["t"] - t0_s != time_s:
            sample["s"] = time_s
        if not math.isnan(value):
            sample["val"] = value
        samples.append(sample)
    return samples
