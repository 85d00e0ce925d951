# SPDX-License-Identifier: BSD-3-Clause
"""Pieces of files and names of files as a sentence quotes them: short, on one line, and harmless to a terminal.

A message that repeats what it complains of must not be as long as that, nor do to the terminal what was in it.
"""

from __future__ import annotations

import os
from pathlib import Path

MOST = 60


def excerpt(text: str, most: int = MOST) -> str:
    """The beginning of a text for messages; what cannot be printed as an escape.

    most: letters; where there are more, an ellipsis follows them.
    """
    line = text[: 2 * most].strip()
    return printable(line if len(line) <= most and len(text) <= 2 * most else f"{line[:most]}…")


def shown(path: Path) -> str:
    r"""The name of a file for people; bytes that are no UTF-8, and what cannot be printed, as escapes like "\xff"."""
    return printable(os.fsencode(path).decode("utf-8", "backslashreplace"))


def printable(text: str) -> str:
    r"""The text with escapes such as "\x1b" for what would do something to a terminal instead of showing there."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)
