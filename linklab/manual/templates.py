# SPDX-License-Identifier: BSD-3-Clause
"""Templates of pages (Jinja), filled the same way everywhere: escaped, and a name that has no value is an error."""

from __future__ import annotations

import re
from functools import cache
from html import escape
from pathlib import Path

import jinja2

from linklab.base.numbers import format_number
from linklab.base.text import visible

HERE = Path(__file__).resolve().parent


@cache
def templates(*folders: Path) -> jinja2.Environment:
    """The templates of `folders`, then those of the manuals; the same environment for the same folders."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader([*folders, HERE]),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
        finalize=_shown,
    )
    environment.filters["number"] = format_number
    environment.filters["code"] = code
    return environment


def code(text: str) -> str:
    """Text as HTML, with what stands between backticks as code."""
    return re.sub(r"`([^`]*)`", r"<code>\1</code>", escape(text))


def _shown(value: object) -> object:
    """What a template shows of a value: text with nothing in it that is not to be seen; markup of ours as it is."""
    return visible(value) if isinstance(value, str) and not hasattr(value, "__html__") else value
