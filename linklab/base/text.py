# SPDX-License-Identifier: BSD-3-Clause
r"""Text of strangers, such as file names, titles and captured output, made fit to be shown.

Unicode's control characters move a terminal's cursor, and its directional overrides (UAX #9) and characters that show
nothing (UAX #44, Default_Ignorable_Code_Point) let one name pose as another; XML 1.0 cannot hold most of them even as
references (section 2.2). They become visible: "\x1b", "\u202e". What a script needs stays: joiners, which also make one
emoji of several, marks of direction, and variation selectors.
"""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

MOST = 60
"""Letters of a strange text that a sentence quotes."""

_UNFIT = re.compile(
    r"[\x00-\x1f\x7f-\x9f"  # C0, DEL and C1
    r"\u2028\u2029"  # separators of lines and paragraphs
    r"\u202a-\u202e\u2066-\u2069"  # embeddings, overrides and isolates
    r"\xad\u034f\u115f\u1160\u17b4\u17b5\u180e\u200b\u2060-\u2065"  # shown as nothing
    r"\u206a-\u206f\u3164\ufeff\uffa0\ufff0-\ufffb"  # likewise
    r"\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e00ff\U000e01f0-\U000e0fff"  # likewise
    r"\ud800-\udfff"  # halves of a pair, which no encoding can hold
    r"\ufffe\uffff]"  # no characters; XML refuses them
)
_NAMED = {"\n": "\\n", "\t": "\\t", "\r": "\\r"}
_FORMULA = re.compile(r"[=+\-@\t\n\uff1d\uff0b\uff0d\uff20]")
_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?|[+-]?inf", re.ASCII)
_PIECE = re.compile(r"(?<=[;\n])[^;\n]+")


def visible(text: str, *, keep: str = "\n\t") -> str:
    r"""Return the text with every character that a terminal or a page would obey spelt out, as in "\x1b".

    Args:
        text: from anywhere.
        keep: characters to leave as they are; "" also spells out line ends and tabs, as a table's cell wants it.
            Where "\n" is kept, a carriage return before it goes.
    """
    if "\n" in keep:
        text = text.replace("\r\n", "\n")
    return _UNFIT.sub(lambda found: found[0] if found[0] in keep else _spelt(found[0]), text)


def shown_json(data: Any, **options: Any) -> str:
    """Return JSON text that keeps letters of any alphabet and escapes control characters and lone surrogates.

    Args:
        data: what JSON can hold.
        options: of `json.dumps`.
    """

    def escaped(found: re.Match[str]) -> str:
        return found[0] if found[0] == "\n" else json.dumps(found[0])[1:-1]

    return _UNFIT.sub(escaped, json.dumps(data, ensure_ascii=False, **options))


def one_line(text: str) -> str:
    """Return the text as one line: line ends, tabs and runs of blanks become one blank, the rest as `visible`."""
    return visible(" ".join(text.split()), keep="")


def excerpt(text: str, most: int = MOST) -> str:
    """Return the beginning of a text as a sentence quotes it: on one line, with an ellipsis after `most` characters.

    A message that repeats what it complains of must not be as long as that.
    """
    line = text[: 2 * most].strip()
    return visible(line if len(line) <= most and len(text) <= 2 * most else f"{line[:most]}…", keep="")


def quoted(value: Any) -> str:
    """Return a value of a JSON file as a sentence quotes it: letters of any alphabet as they are, else as `excerpt`."""
    return excerpt(json.dumps(value, ensure_ascii=False))


def counted(number: int, noun: str) -> str:
    """Return a number of things: "1 trial", "2 trials"."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def file_name(path: Path) -> str:
    r"""Return the name of a file for people; bytes that are not UTF-8 are spelt out too, as in "\xff"."""
    return visible(os.fsencode(path).decode("utf-8", "backslashreplace"), keep="")


def csv_cell(text: str) -> str:
    """Return the text as a cell that no spreadsheet takes for a formula (OWASP, "CSV Injection"); a number stays.

    Where people write decimal commas, a spreadsheet ends cells at semicolons and knows no quotes within one, so what
    follows a semicolon or a line end is taken as the beginning of a cell too.
    """
    return _PIECE.sub(lambda found: _no_formula(found[0]), _no_formula(visible(text)))


def _no_formula(cell: str) -> str:
    return f"'{cell}" if _FORMULA.match(cell) and not _NUMBER.fullmatch(cell) else cell


def _spelt(character: str) -> str:
    if character in _NAMED:
        return _NAMED[character]
    number = ord(character)
    if number > 0xFFFF:
        return f"\\U{number:08x}"
    return f"\\x{number:02x}" if number < 0x100 else f"\\u{number:04x}"
