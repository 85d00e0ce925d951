# SPDX-License-Identifier: BSD-3-Clause
"""The fields of a dialog as data: label, unit, help, and text ↔ value with a sentence where a text is wrong.

An empty text means: no such key. Pure.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from linklab import units
from linklab.errors import InputError
from linklab.windows.words import Phrase, told_by

Check = Callable[[str], Any]
SHOWN = "shown"


@dataclass(frozen=True)
class Field:
    """One field.

    kind: text, choice, flag, lines (a name each), rows (pairs; `columns` names them) or shown (a text that is set
    elsewhere, and only to be read here).
    check: the text (of a choice: the value) → the value for the file; raises InputError.
    choices: (value, what people read) pairs.
    keep_empty: an empty text is kept as "" where the file has the key already.
    only: (key, value) of the field without which this one means nothing; it is greyed while that has another value.
    """

    key: str
    label: str
    help: str = ""
    unit: str = ""
    kind: str = "text"
    check: Check = str
    choices: tuple[tuple[str, str], ...] = ()
    columns: tuple[str, str] = ("", "")
    default: str = ""
    keep_empty: bool = False
    only: tuple[str, str] | None = None


@dataclass(frozen=True)
class Page:
    """A tab of a dialog."""

    title: str
    fields: tuple[Field, ...]
    note: str = ""


Values = Mapping[str, Any]
"""What is typed: str for text and choice, "0"/"1" for a flag, list of str or of pairs for lines and rows."""


def texts(pages: Sequence[Page], data: Mapping[str, Any]) -> dict[str, Any]:
    """What the fields show for an object of the file."""
    shown: dict[str, Any] = {}
    for field in (each for page in pages for each in page.fields):
        value = data.get(field.key)
        if value is None:
            value = field.default if field.kind not in ("lines", "rows") else []
        if field.kind == "lines":
            shown[field.key] = [str(each) for each in value]
        elif field.kind == "rows":
            shown[field.key] = [(each, "") if isinstance(each, str) else (str(each[0]), str(each[1])) for each in value]
        else:
            shown[field.key] = f"{value:g}" if isinstance(value, float) else str(value)
    return shown


def read(pages: Sequence[Page], values: Values, before: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, str]]:
    """The object for the file, and for each field that is wrong a sentence.

    before: the object as it was: keys that no field shows stay.
    """
    data = dict(before)
    wrong: dict[str, str] = {}
    for field in (each for page in pages for each in page.fields if each.kind != SHOWN):
        raw = values[field.key]
        try:
            value = value_of(field, raw)
        except (InputError, ValueError) as error:
            wrong[field.key] = told_by(error)
            continue
        is_default = raw == field.default and field.key not in before
        if value is None and field.keep_empty and field.key in before:
            data[field.key] = ""
        elif value is None or is_default:
            data.pop(field.key, None)
        else:
            data[field.key] = value
    return data, wrong


def value_of(field: Field, raw: Any) -> Any:
    """What a field's text means for the file, None where it is empty; InputError or ValueError where it is wrong."""
    if field.kind == "lines":
        lines = [line.strip() for line in raw if line.strip()]
        return [field.check(line) for line in lines] or None
    if field.kind == "rows":
        pairs = [(a.strip(), b.strip()) for a, b in raw if a.strip() or b.strip()]
        return [_pair(field, *pair) for pair in pairs] or None
    text = raw.strip() if field.kind == "text" else raw
    return field.check(text) if text != "" else None


def _pair(field: Field, first: str, second: str) -> Any:
    return field.check(f"{first}\0{second}")


# --- checks


def number(least: float, most: float, what: str) -> Check:
    """A number between two; whole numbers stay whole."""

    def check(text: str) -> Any:
        try:
            value = float(text)
        except ValueError:
            raise InputError(Phrase("{what}, found {text!r}", what=Phrase(what), text=text)) from None
        if not least <= value <= most:
            raise InputError(Phrase("{what}, found {text}", what=Phrase(what), text=text))
        return int(value) if value.is_integer() and not re.search(r"[.eE]", text) else value

    return check


def digits(least: int, most: int, *, as_text: bool = True) -> Check:
    """A whole number, kept as text as MiniEdit does, or as a number."""

    def check(text: str) -> Any:
        if not text.isdecimal() or not least <= int(text) <= most:
            raise InputError(Phrase("a whole number from {least} to {most}", least=least, most=most))
        return text if as_text else int(text)

    return check


def pattern(regex: str, what: str) -> Check:
    """A text of a certain form."""

    def check(text: str) -> str:
        if not re.fullmatch(regex, text):
            raise InputError(what)
        return text

    return check


def rate(text: str) -> Any:
    """Mbit/s as a number: "10", "0.5", or with a unit: "1gbit"."""
    try:
        value = float(text)
    except ValueError:
        value = units.parse_rate_mbit(text)
    if not 0 < value < math.inf:  # JSON has no infinity, so a file with one could not be opened again
        raise InputError("a rate above 0")
    return int(value) if value.is_integer() else value


def time(text: str) -> str:
    """A time with its unit, as typed; a bare number is refused with what tc would take it for."""
    if re.fullmatch(r"[\d.]+", text, re.ASCII):
        raise InputError(Phrase("add a unit: {text}ms, or {text}us, which is what tc takes {text} for", text=text))
    units.parse_time_s(text)
    return text


def percent(text: str) -> Any:
    """Percent as a number; "1" or "1%"."""
    return number(0, 100, "a number of percent from 0 to 100")(text.removesuffix("%").strip())


def whole(text: str) -> int:
    """A whole number above 0; "100" or "100p"."""
    digits_only = text.removesuffix("p").strip()
    if not digits_only.isdecimal() or int(digits_only) == 0:
        raise InputError("a whole number of packets above 0")
    return int(digits_only)
