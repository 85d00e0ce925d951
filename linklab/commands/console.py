# SPDX-License-Identifier: BSD-3-Clause
"""How commands print tables and lines: text is text, whatever is in it.

rich takes "[red]" and ":smile:" in a string for markup, and a terminal obeys the control characters of a file's name;
so a console is made here, and what is not a constant of ours goes through `plain`.
"""

from __future__ import annotations

from rich.console import Console
from rich.text import Text

from linklab.base.text import visible

WIDTH = 132
"""Columns of a table where the output is no terminal."""
QUIET_S = 20.0
"""Wall-clock seconds without a line, where the output is no terminal, after which one says what runs."""


def make_console(*, quiet: bool = False, stderr: bool = False, width: int = WIDTH) -> Console:
    """A console that takes no markup; `width` counts where the output is no terminal."""
    console = Console(quiet=quiet, stderr=stderr, highlight=False, markup=False, emoji=False)
    return (
        console
        if console.is_terminal
        else Console(quiet=quiet, stderr=stderr, highlight=False, markup=False, emoji=False, width=width)
    )


def plain(text: str, style: str = "") -> Text:
    """Text of any origin for a console; characters that a terminal would obey are spelt out."""
    return Text(visible(text), style=style)
