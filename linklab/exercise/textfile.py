# SPDX-License-Identifier: BSD-3-Clause
r"""A text file as editors and spreadsheets of any system save it → its text.

For `linklab check` and `submit`, for rosters, and for the grader (`linklab.exercise.bundle`): what one takes all take.
"""

from __future__ import annotations

import codecs
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
