# SPDX-License-Identifier: BSD-3-Clause
"""Placeholders of an exercise's texts and lines → what one student's instance has there.

`{rate}`, `{rate:tc}`, `{= 2 * bdp : bytes}`; docs/writing-an-exercise.md, "Quantities".  `{{` and `}}` are braces.  Pure.
"""

from __future__ import annotations

import re

from linklab.errors import InputError
from linklab.exercise.expression import Lookup, Unknown, number

_PLACEHOLDER = re.compile(r"\{\{|\}\}|\{(?P<inside>[^{}\n]*)\}")
_NAME = re.compile(r"[a-z][a-z0-9_.]*")


def fill(text: str, lookup: Lookup) -> str:
    """The text with every placeholder replaced.

    Raises:
        InputError: a placeholder that cannot be read or names nothing known.
        Unknown: one whose value was not measured.
    """

    def replaced(match: re.Match[str]) -> str:
        if match["inside"] is None:
            return match[0][0]
        return _one(match["inside"], lookup)

    return _PLACEHOLDER.sub(replaced, text)


def has_placeholders(text: str) -> bool:
    """Whether anything in it would be replaced."""
    return any(match["inside"] is not None for match in _PLACEHOLDER.finditer(text))


def _one(inside: str, lookup: Lookup) -> str:
    expression, how = inside, ""
    if inside.startswith("="):
        expression, _, how = inside[1:].rpartition(":") if ":" in inside else (inside[1:], "", "")
    elif ":" in inside:
        expression, _, how = inside.partition(":")
    if not inside.startswith("=") and not _NAME.fullmatch(expression.strip()):
        raise InputError(f'placeholder "{{{inside}}}": write a name, a name and a format, or {{= expression : format}}')
    try:
        return number(expression, lookup).formatted(how.strip())
    except Unknown:
        raise
    except InputError as error:
        raise InputError(f'placeholder "{{{inside}}}": {error}') from error
