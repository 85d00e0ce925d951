# SPDX-License-Identifier: BSD-3-Clause
"""Placeholders of an exercise's texts and lines → what one student's instance has there.

`{rate}`, `{rate:tc}`, `{= 2 * bdp : bytes}`; docs/writing-an-exercise.md, "Quantities"; `{{` and `}}` are braces.
Pure.
"""

from __future__ import annotations

import re

from linklab.errors import InputError
from linklab.judge.evaluation import Lookup, number

_PLACEHOLDER = re.compile(r"\{\{|\}\}|\{(?P<inside>[^{}\n]*)\}")
_NAME = re.compile(r"[a-z][a-z0-9_.]*")


def fill(text: str, lookup: Lookup) -> str:
    """The text with every placeholder replaced.

    Raises:
        InputError: a placeholder that cannot be read or names nothing known.
        NoValueError: one whose value was not measured.
    """

    def replaced(match: re.Match[str]) -> str:
        if match["inside"] is None:
            return match[0][0]
        return _one(match["inside"], lookup)

    return _PLACEHOLDER.sub(replaced, text)


def placeholders(text: str) -> list[str]:
    """The expressions of the placeholders in it, in order; InputError for one that cannot be read."""
    return [_parts(match["inside"])[0] for match in _PLACEHOLDER.finditer(text) if match["inside"] is not None]


def _parts(inside: str) -> tuple[str, str]:
    """Expression and format of what stands between the braces."""
    if inside.startswith("="):
        expression, colon, how = inside[1:].rpartition(":")
        return (expression, how.strip()) if colon else (inside[1:], "")
    name, _, how = inside.partition(":")
    if not _NAME.fullmatch(name):
        raise InputError(f'placeholder "{{{inside}}}": write a name, a name and a format, or {{= expression : format}}')
    return name, how.strip()


def _one(inside: str, lookup: Lookup) -> str:
    expression, how = _parts(inside)
    try:
        return number(expression, lookup).formatted(how)
    except InputError as error:
        raise InputError(f'placeholder "{{{inside}}}": {error}') from error
