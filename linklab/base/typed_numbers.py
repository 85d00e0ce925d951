# SPDX-License-Identifier: BSD-3-Clause
"""A number as a student typed it → the same number in the one spelling that `linklab.base.numbers` reads.

For answers of exercises and predictions of labs: "12,25 mb" → "12.25 MB". Decimal commas, thousands that are set apart,
spaces that do not break, and units in any case are understood. What can mean two numbers is refused, never guessed.
Files of instructors and arguments of commands are read strictly, by `linklab.units` and `linklab.base.numbers`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from linklab.base.text import excerpt
from linklab.errors import InputError

MOST_CHARACTERS = 60
"""Of a number with its unit."""

_NUMBER = re.compile(r"([-+]?)([\d., '_]*\d[.,]?|[.,]\d+)(?:e([-+]?\d{1,3}))?", re.ASCII)
_AT_START = re.compile(r"[-+]?[\d., '_]*(?:(?<=[\d.,])e[-+]?\d+)?", re.ASCII)
_SAME = str.maketrans({"\N{MINUS SIGN}": "-", "\N{RIGHT SINGLE QUOTATION MARK}": "'", "_": "'"})
_APART = " '"
"""What sets thousands apart and cannot be a decimal mark."""

_RATES = ("bps", "bit", "bits", "bit/s", "bits/s", "bit/sec", "bits/sec", "b/s")
_PREFIXES = {"": "bit/s", "k": "kbit/s", "m": "Mbps", "g": "Gbps", "t": "Tbps"}
_BINARY = {"ki": "Kibit", "mi": "Mibit", "gi": "Gibit"}
_UNITS: dict[str, dict[str, str]] = {
    "rate": {prefix + word: unit for prefix, unit in (_PREFIXES | _BINARY).items() for word in _RATES},
    "time": {
        **dict.fromkeys(("ns", "nsec", "nsecs", "nanosecond", "nanoseconds"), "ns"),
        **dict.fromkeys(("us", "μs", "usec", "usecs", "microsecond", "microseconds"), "us"),
        **dict.fromkeys(("ms", "msec", "msecs", "millisecond", "milliseconds"), "ms"),
        **dict.fromkeys(("s", "sec", "secs", "second", "seconds"), "s"),
        **dict.fromkeys(("min", "minute", "minutes"), "min"),
    },
    "size": {
        **dict.fromkeys(("b", "byte", "bytes"), "bytes"),
        **{f"{prefix}b".casefold(): f"{prefix}B" for prefix in ("k", "M", "G", "Ki", "Mi", "Gi")},
        **{f"{prefix}byte{end}": f"{prefix}B" for prefix in ("k", "M", "G") for end in ("", "s")},
    },
    "share": dict.fromkeys(("%", "percent", "per cent"), "%"),
    "number": {"": "", **dict.fromkeys(("%", "percent", "per cent"), "%")},
}
_UNITS["size"] = {name.casefold(): unit for name, unit in _UNITS["size"].items()}
_EXAMPLES = {"rate": "412 Mbps", "time": "40.5 ms", "size": "2.5 MB", "share": "0.2 %"}
_CALLED = {"share": "percentage"}
_BYTES_PER_SECOND = re.compile(r"([kKMGTmgt]i?)?(?:Bps|B/s|B/sec|[Bb]ytes?/s(?:ec)?)")


def plain_number(typed: str) -> str:
    """A number without a unit, in digits with a decimal point: "1 234,5" → "1234.5".

    Raises:
        InputError: it is no number, or can mean two.
    """
    text = _plain_text(typed)
    if (found := _NUMBER.fullmatch(text.casefold())) is None:
        raise _no_number(text, "such as 40 or 12.25")
    return _spelled(found, text, "such as 40 or 12.25")


def plain_quantity(typed: str, kind: str) -> str:
    """A number with its unit, as `linklab.base.numbers.parse_number` reads it: "12,25 mb" → "12.25 MB".

    Args:
        typed: what a person wrote.
        kind: "rate", "time", "size" or "share", which need a unit; or "number", which has none, or "%".

    Raises:
        InputError: it is no number, can mean two, or its unit is missing or of another kind.
    """
    example = f'and the unit, such as "{_EXAMPLES[kind]}"' if kind in _EXAMPLES else "such as 3"
    text = _plain_text(typed)
    begin = _AT_START.match(text.casefold())
    number = begin[0].rstrip(_APART) if begin else ""
    if (found := _NUMBER.fullmatch(number)) is None:
        raise _no_number(text, example)
    unit = text[len(number) :].strip()
    plain = _spelled(found, number, example)
    known = _UNITS[kind].get(unit.casefold())
    if kind == "rate" and _BYTES_PER_SECOND.fullmatch(unit):
        raise InputError(
            f'"{excerpt(text)}" is in bytes per second: write it in bits per second, such as "{_EXAMPLES[kind]}"'
        )
    if known is None and kind == "number":
        raise InputError(f'"{excerpt(text)}" has a unit that a number does not have: write the number alone, such as 3')
    if known is None:
        of = f" of a {_CALLED.get(kind, kind)}" if unit else ""
        raise InputError(f'"{excerpt(text)}" has no unit{of}: write it with one, such as "{_EXAMPLES[kind]}"')
    return f"{plain} {known}".rstrip()


def plain_of_kinds(number: str, unit: str, kinds: Sequence[str]) -> str:
    """A number and its unit from two fields, of one of several kinds: "1 234,5" and "mbps" → "1234.5 Mbps".

    Args:
        number: what a person wrote as the number.
        unit: what stands in the field beside it, in any case.
        kinds: as in `plain_quantity`, at least one; a "number" may have a word beside it that says what is counted.

    Raises:
        InputError: it is no number, can mean two, or its unit is missing or of another kind.
    """
    digits, given = plain_number(number), unit.strip()
    if "rate" in kinds and _BYTES_PER_SECOND.fullmatch(given):
        raise InputError(f'"{excerpt(given)}" counts bytes per second: write the rate in bits per second, such as Mbps')
    for kind in kinds:
        if (known := _UNITS[kind].get(given.casefold())) is not None:
            return f"{digits} {known}".rstrip()
    other = next((kind for kind in _UNITS if given.casefold() in _UNITS[kind]), "")
    if "number" in kinds and not other:
        return digits
    examples = " or ".join(_EXAMPLES[kind].split()[1] for kind in kinds if kind in _EXAMPLES)
    cure = f"write one such as {examples}" if examples else "leave the unit out"
    if not given:
        raise InputError(f"{excerpt(number.strip())} needs its unit: {cure}")
    asked = " or ".join(f"a {_CALLED.get(kind, kind)}" for kind in kinds)
    found = f"is a unit of {_CALLED.get(other, other)}" if other else "is no unit"
    raise InputError(f'"{excerpt(given)}" {found}, and {asked} is asked for: {cure}')


def set_apart(number: str, unit: str) -> tuple[str, str]:
    """Two fields with the unit moved out of the number's: "40 ms" and "" → "40" and "ms"; as they are if there is none.

    Args:
        number: what a person wrote as the number.
        unit: what stands in the field beside it; the unit behind the number may be written there once more.

    Raises:
        InputError: the fields have two different units, or the number is too long.
    """
    text = _plain_text(number)
    begin = _AT_START.match(text.casefold())
    digits = begin[0].rstrip(_APART) if begin else ""
    behind, beside = text[len(digits) :].strip(), unit.strip()
    if not behind or _NUMBER.fullmatch(digits) is None or re.search(r"\d", behind):
        return number, unit
    if beside and beside.casefold() != behind.casefold():
        raise InputError(
            f'"{excerpt(text)}" has a unit already, and "{excerpt(beside)}" stands in the field beside it: '
            "leave one of them out"
        )
    return text[: len(digits)], beside or behind


def _plain_text(typed: str) -> str:
    """With ordinary spaces and signs, within the length of a number; the exponent's e and the unit as they are."""
    text = "".join(" " if letter.isspace() else letter for letter in typed.translate(_SAME)).strip()
    if len(text) > MOST_CHARACTERS:
        raise InputError(f'"{excerpt(text, 30)}" is too long for a number: it has at most {MOST_CHARACTERS} characters')
    return text


def _spelled(found: re.Match[str], text: str, example: str) -> str:
    sign, digits, exponent = found.groups()
    plain = _digits(digits)
    if plain is None:
        raise _no_number(text, example)
    sign, power = sign.replace("+", ""), f"e{exponent}" if exponent else ""
    if re.fullmatch(r"[1-9]\d{0,2},\d{3}", digits):
        whole, fraction = digits.replace(",", ""), digits.replace(",", ".")
        raise InputError(
            f'"{excerpt(text)}" can mean two numbers: write {sign}{whole}{power} if the comma sets thousands '
            f"apart, {sign}{fraction}{power} if it is a decimal comma"
        )
    return f"{sign}{plain}{power}"


def _digits(written: str) -> str | None:
    """Digits with at most one decimal point; None if marks and groups do not fit together."""
    marks = [letter for letter in written if not letter.isdigit()]
    decimal = ""
    if marks and marks[-1] in ".," and (marks.count(marks[-1]) == 1):
        decimal = marks[-1]
    whole, _, fraction = written.partition(decimal) if decimal else (written, "", "")
    apart = set(marks[:-1] if decimal else marks)
    if apart:
        (separator,) = apart if len(apart) == 1 else ("",)
        if not separator or not re.fullmatch(rf"\d{{1,3}}(?:{re.escape(separator)}\d{{3}})+", whole):
            return None
        whole = whole.replace(separator, "")
    return f"{whole}.{fraction}" if decimal and fraction else whole or None


def _no_number(text: str, example: str) -> InputError:
    comma = "" if example.startswith("and") else ","
    return InputError(f'"{excerpt(text)}" is not a number: write digits with a decimal point{comma} {example}')
