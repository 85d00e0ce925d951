# SPDX-License-Identifier: BSD-3-Clause
"""Values ↔ files of "key = value" lines, such as exp.out.2, for people and for other programs.

A key without a value is one that is not known. Blanks around keys and values do not count; a value is one line.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path

from linklab.base.files import write_asked
from linklab.base.text import file_name, one_line
from linklab.errors import DataError

Texts = dict[str, str]

WHOLE = "all.exp.out"


def of_group(group: int) -> str:
    """The file of a group's values."""
    return f"exp.out.{group}"


def of_flow(group: int, instance: int) -> str:
    """The file of one flow's values."""
    return f"run.{group}.{instance}"


def spelt(value: str | float | None) -> str:
    """A value as text: twelve digits of a number at most, "" for None and for what is not a finite number."""
    if value is None or (isinstance(value, float) and not math.isfinite(value)):
        return ""
    return one_line(value) if isinstance(value, str) else f"{value:.12g}"


def write_values(path: Path, values: Mapping[str, str | float | None]) -> None:
    """Write a file of values, in their order; InputError if it cannot be written."""
    lines = [f"{one_line(key)} = {spelt(value)}".rstrip() for key, value in values.items()]
    write_asked(path, "".join(f"{line}\n" for line in lines))


def read_values(path: Path) -> Texts:
    """The values of a file as text; "" for what is not known.

    Raises:
        DataError: it cannot be read, or a line of it is not "key = value".
    """
    where = file_name(path)
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise DataError(f"{where}: cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise DataError(f"{where}: byte {error.start + 1} is not UTF-8 text") from None
    found: Texts = {}
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        key, equals, value = line.partition("=")
        if not equals or not key.strip():
            raise DataError(f"{where}:{number}: must be KEY = VALUE; make it anew with linklab netesto page")
        found[key.strip()] = value.strip()
    return found
