# SPDX-License-Identifier: BSD-3-Clause
"""A file's text → the lines that write it, typed into a shell.  Pure."""

from __future__ import annotations

import base64
import shlex

PIECE_CHARS = 3000
"""Of a file as base64 in one line: a terminal takes lines of 4095 bytes (termios(3)); a multiple of 4."""


def lines_that_write(path: str, text: str, *, append: bool = False) -> list[str]:
    """The lines; append: behind what the file has, else in its place."""
    content = base64.b64encode(text.encode()).decode("ascii")
    return [
        f"echo {content[at : at + PIECE_CHARS]} | base64 -d {'>>' if append or at else '>'} {shlex.quote(path)}"
        for at in range(0, max(len(content), 1), PIECE_CHARS)
    ]
