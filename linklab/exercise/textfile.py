# SPDX-License-Identifier: BSD-3-Clause
r"""A text file as editors and spreadsheets of any system save it → its text.

For `linklab check` and `submit`, for rosters, and for the grader (`linklab.exercise.bundle`): what one takes all take.
"""

from __future__ import annotations

import codecs
import csv
from pathlib import Path

from linklab.errors import InputError


def encoding_of(raw: bytes) -> tuple[str, str]:
    """Codec by the byte order mark, UTF-8 without one, and what a person calls it; "" for plain UTF-8."""
    if raw.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16", "UTF-16"
    return ("utf-8-sig", "UTF-8 with a byte order mark") if raw.startswith(codecs.BOM_UTF8) else ("utf-8", "")


def decode(raw: bytes, path: Path) -> str:
    """The text of a file's bytes; InputError, with the line, if it is none."""
    try:
        return raw.decode(encoding_of(raw)[0])
    except UnicodeDecodeError as error:
        line = raw[: error.start].count(b"\n") + 1
        raise InputError(
            f"{path}:{line}: is neither UTF-8 nor UTF-16 text (byte {raw[error.start]:#04x}); save it as UTF-8"
        ) from error


def read_text(path: Path) -> str:
    r"""The text, with "\n" for the end of a line; "" where there is no such file.

    Raises:
        InputError: it cannot be read, or is no text.
    """
    try:
        raw = path.read_bytes()
    except FileNotFoundError:
        return ""
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from error
    return decode(raw, path).replace("\r\n", "\n").replace("\r", "\n")


def csv_lines(path: Path) -> list[tuple[int, list[str]]]:
    """The lines of a CSV file that are not empty, each with its number from 1 and its cells without spaces around them.

    Commas, semicolons, or tabs separate the cells, whichever the first line has most of.

    Raises:
        InputError: it is not there, cannot be read, or is no CSV.
    """
    try:
        raw = path.read_bytes()
    except FileNotFoundError:
        raise InputError(f"{path}: there is no such file") from None
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from error
    if raw.startswith(b"PK\3\4"):
        raise InputError(f"{path}: is a spreadsheet or an archive, no text; save it as CSV")
    lines = decode(raw, path).splitlines()
    first = next((line for line in lines if line.strip()), "")
    separator = max(",;\t", key=first.count)  # spreadsheets of half of Europe write ;
    try:
        rows = [[cell.strip() for cell in row] for row in csv.reader(lines, delimiter=separator)]
    except csv.Error as error:
        raise InputError(f"{path}: no CSV: {error}; save it as CSV again") from error
    return [(number, row) for number, row in enumerate(rows, 1) if any(row)]
