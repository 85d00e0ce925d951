# SPDX-License-Identifier: BSD-3-Clause
"""Text, JSON and numbers as tools print them, read with bounds: what is not one of them is a DataError with its place.

A student may hand in any file, and a tool that was killed leaves half a line, so no reader of this package may fail
otherwise, compute for long or take memory beyond what the size of its input explains.
Patterns of this package are linear: no two neighbouring repetitions share a letter, and a search begins where a run of
letters begins.
"""

from __future__ import annotations

import csv
import io
import json
import math
import re
from pathlib import Path
from typing import Any

from linklab.base.text import excerpt, file_name
from linklab.errors import DataError

Json = dict[str, Any]

MOST_BYTES = 64 << 20
"""Of a file of text; an hour of queue samples ten times a second takes 25 MiB."""
LARGEST = 1e20
"""Beyond any number that a tool counts or measures: the kernel's counters have 64 bits (1.8e19)."""
MOST_DIGITS = 40
MOST_WORDS = 200
"""Letters of a tool's own message that are passed on."""
_DECIMAL = re.compile(r"-?\d+(?:\.\d+)?", re.ASCII)
_TYPES = {dict: "an object", list: "a list", str: "a text", bool: "true or false", type(None): "null"}


def read_text(path: Path) -> str:
    """The text of a file; bytes that are no UTF-8 become U+FFFD.

    Raises:
        DataError: it cannot be read, or is larger than `MOST_BYTES`.
    """
    try:
        with path.open("rb") as file:
            data = file.read(MOST_BYTES + 1)
    except OSError as error:
        raise DataError(f"{file_name(path)}: {error.strerror}") from error
    if len(data) > MOST_BYTES:
        raise DataError(
            f"{file_name(path)}: is larger than {MOST_BYTES >> 20} MiB, the most that is read; measure a part of it"
        )
    return data.decode("utf-8", "replace").replace("\r\n", "\n").replace("\r", "\n")


def csv_rows(text: str, where: str) -> list[list[str]]:
    """The rows of a CSV text, each as its cells.

    Raises:
        DataError: a cell is longer than Python's reader takes.
    """
    try:
        return list(csv.reader(io.StringIO(text)))
    except csv.Error as error:
        raise DataError(f"{where}: no CSV that Linklab writes: {error}; was it changed?") from error


def table_number(text: str, where: str) -> float:
    """The number in a cell of a table of ours.

    Raises:
        DataError: it is none, or beyond `LARGEST`.
    """
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not abs(value) <= LARGEST:
        raise DataError(f'{where}: "{excerpt(text)}" is not a number; was it changed?')
    return value


def decimal(text: str, where: str) -> float:
    """A number without exponent as tools print it.

    Raises:
        DataError: such as "9.2.1", or beyond `LARGEST`.
    """
    value = float(text) if len(text) <= MOST_DIGITS and _DECIMAL.fullmatch(text) else math.nan
    if not abs(value) <= LARGEST:
        raise DataError(f'{where}: "{excerpt(text)}" is not a number that a tool prints; was the output changed?')
    return value


def json_number(value: object) -> float:
    """A JSON number as float; NaN for everything else, and for what is beyond `LARGEST`."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) <= LARGEST:
        return math.nan
    return float(value)


def json_object(value: object, where: str) -> Json:
    """A JSON object; {} for null, as where a key is missing.

    Raises:
        DataError: anything else.
    """
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise _wrong(where, "an object", value)
    return value


def json_objects(value: object, where: str) -> list[Json]:
    """A JSON list of objects; [] for null, as where a key is missing.

    Raises:
        DataError: anything else.
    """
    if value is None:
        return []
    if not isinstance(value, list):
        raise _wrong(where, "a list", value)
    for number, item in enumerate(value):
        if not isinstance(item, dict):
            raise _wrong(f"{where}[{number}]", "an object", item)
    return value


def _wrong(where: str, wanted: str, found: object) -> DataError:
    kind = _TYPES.get(type(found), "a number")
    return DataError(f"{where} must be {wanted}, found {kind}: the JSON is not what the tool writes")


def load_json(text: str, where: str) -> Any:
    """The value of a JSON text.

    Raises:
        DataError: it is no JSON, or nests more deeply or has longer numbers than any tool's.
    """
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise DataError(f'{where}: no JSON ({error.msg}): "{excerpt(text)}"') from error
    except (ValueError, RecursionError) as error:
        raise DataError(beyond(where)) from error


def beyond(where: str) -> str:
    """The sentence for JSON that is well formed but that Python's reader refuses (`int`'s digits, recursion)."""
    return f"{where}: no JSON that a tool writes: it nests too deeply, or a number in it has thousands of digits"
