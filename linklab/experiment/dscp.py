# SPDX-License-Identifier: BSD-3-Clause
"""Names of markings ↔ the byte of the IP header that holds DSCP and ECN (ToS, Traffic Class).

A name stands for six bits of DSCP; the byte has them at its upper end, so EF (46) is 184, as `ping -Q`, `iperf3 -S`
and Flent take it. Sources: RFC 2474 (class selectors), RFC 2597 (AF), RFC 3246 (EF), RFC 8622 (LE).
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping

from linklab.base.text import excerpt
from linklab.errors import InputError

NAMES: Mapping[str, int] = {
    **{f"CS{number}": number << 5 for number in range(8)},
    **{f"AF{kind}{drop}": (kind << 5) | (drop << 3) for kind in range(1, 5) for drop in range(1, 4)},
    "EF": 46 << 2,
    "LE": 1 << 2,
    "VA": 44 << 2,
    "ECT0": 2,
    "ECT1": 1,
}
"""Of a whole byte."""

_NUMBER = re.compile(r"0[xX][0-9a-fA-F]{1,2}|[0-9]{1,3}")


def parse_marking(text: str, own: Mapping[str, int] | None = None) -> int:
    """The byte of a marking: "EF", "cs1", "0x10", "184"; "" is 0.

    Args:
        text: a name in any case, or the byte in decimal or hexadecimal. Flent's "CS1,CS1" (one for each end) is the
            first of the two.
        own: names that the person defined, in capital letters → byte; they do not override those of the standards.

    Raises:
        InputError: it is neither a name nor a number from 0 to 255.
    """
    word = text.split(",", maxsplit=1)[0].strip()
    if not word:
        return 0
    if _NUMBER.fullmatch(word):
        value = int(word, 0) if word.lower().startswith("0x") else int(word)
        if value > 255:
            raise InputError(f"marking {word} is more than a byte holds; use 0 to 255")
        return value
    known = {**(own or {}), **NAMES}
    if word.upper() in known:
        return known[word.upper()]
    near = difflib.get_close_matches(word.upper(), known, 1)
    hint = f"; did you mean {near[0]}?" if near else "; use CS0 to CS7, AF11 to AF43, EF, LE, or a number up to 255"
    raise InputError(f'there is no marking "{excerpt(word)}"{hint}')


def parse_own(words: str) -> dict[str, int]:
    """Names that a person defines: "VIDEO=0x88,GAMES=40" → name in capital letters → byte.

    Raises:
        InputError: an entry is not NAME=NUMBER, or the name is one of the standards.
    """
    found: dict[str, int] = {}
    for entry in filter(None, (entry.strip() for entry in words.split(","))):
        name, equals, number = (part.strip() for part in entry.partition("="))
        if not equals or not re.fullmatch(r"[A-Za-z]\w*", name) or not _NUMBER.fullmatch(number):
            raise InputError(f'"{excerpt(entry)}" does not define a marking; write NAME=NUMBER, such as VIDEO=0x88')
        if name.upper() in NAMES:
            raise InputError(f"marking {name.upper()} is defined by the standards; choose another name")
        found[name.upper()] = parse_marking(number)
    return found


def marking_name(tos: int) -> str:
    """The name of a byte as the standards have it; "0x10" of one without."""
    return next((name for name, value in NAMES.items() if value == tos), f"0x{tos:02x}")
