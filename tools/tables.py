# SPDX-License-Identifier: BSD-3-Clause
"""Text → cells of Markdown tables, for the pages that the measuring tools write."""

from __future__ import annotations


def cell(text: str) -> str:
    """Text of one line that neither ends its cell nor begins an HTML element."""
    return _line(text).replace("<", "&lt;")


def code(text: str) -> str:
    """Text as a code span, in which only a bar needs an escape (GitHub Flavored Markdown, 4.10)."""
    return f"`{_line(text)}`"


def row(*cells: str) -> str:
    """A row of cells."""
    return f"| {' | '.join(cells)} |"


def _line(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")
