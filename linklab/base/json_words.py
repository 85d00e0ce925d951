# SPDX-License-Identifier: BSD-3-Clause
"""Why a text is not JSON, in our words: Python's speak of delimiters and of characters counted from the start."""

from __future__ import annotations

import json
from collections.abc import Mapping

_WORDS: Mapping[str, str] = {
    "Expecting value": "a value is missing here",
    "Expecting property name": "a name in double quotes must stand here",
    "Expecting ':' delimiter": 'a ":" is missing here',
    "Expecting ',' delimiter": 'a "," or a closing bracket is missing here',
    "Illegal trailing comma": 'the "," before the closing bracket must go',
    "Extra data": "further text follows the end of the JSON",
    "Invalid control character": "a text in quotes holds a control character",
    "Invalid \\": "a text in quotes holds a backslash that JSON does not know",
}
"""By the beginning of the message of `json.JSONDecodeError`, as Lib/json/decoder.py has it."""


def why_not_json(error: json.JSONDecodeError) -> str:
    """Return what is wrong at the line that the error names, without the line."""
    if not error.doc.strip():
        return "the file is empty"
    if error.pos >= len(error.doc.rstrip()) or error.msg.startswith("Unterminated"):
        return "the JSON breaks off"
    return next((words for begin, words in _WORDS.items() if error.msg.startswith(begin)), "this is not JSON")
