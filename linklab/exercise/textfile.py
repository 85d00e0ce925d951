# SPDX-License-Identifier: BSD-3-Clause
r"""A student's text file, as editors of any system save it → its text with "\n".

For `linklab check` and `submit`, which take what the grader takes (`linklab.exercise.bundle`).
"""

from __future__ import annotations

import codecs
from pathlib import Path

from linklab.errors import InputError


def read_text(path: Path) -> str:
    """The text; "" where there is no such file.

    Raises:
        InputError: it cannot be read, or is no text.
    """
    try:
        raw = path.read_bytes()
    except FileNotFoundError:
        return ""
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from error
    wide = raw.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    try:
        text = raw.decode("utf-16" if wide else "utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw[: error.start].count(b"\n") + 1
        raise InputError(f"{path}:{line}: is neither UTF-8 nor UTF-16 text; save it as UTF-8") from error
    return text.replace("\r\n", "\n").replace("\r", "\n")
