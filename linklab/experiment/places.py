# SPDX-License-Identifier: BSD-3-Clause
"""Places left open in the texts of a test, such as {n}, and times made of others, such as "length + 2 delay".

Neither can compute more than sums: a test is data. docs/tests.md describes both.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping

from linklab.base.text import excerpt
from linklab.errors import InputError

PLACE = re.compile(r"\{([^{}]*)\}")
_TERM = re.compile(r"((?:\d+(?:\.\d+)?\s+)*)(?:(\d+(?:\.\d+)?)\s*)?([a-z]+)?")


MOST_NAMED = 20
"""Of what there is, in a message."""


def nearest(word: str, known: Iterable[str]) -> str:
    """The end of a message: which of the known is meant, or what there is."""
    known = sorted(filter(None, known))
    near = difflib.get_close_matches(word, known, 1, 0.6)
    if near:
        return f'did you mean "{near[0]}"?'
    more = f" and {len(known) - MOST_NAMED} more" if len(known) > MOST_NAMED else ""
    return f"there are {', '.join(known[:MOST_NAMED]) or 'none'}{more}"


def fill(text: str, places: Mapping[str, str]) -> str:
    """The text with its places filled in.

    Raises:
        InputError: nothing is known by the name of a place.
    """

    def value(found: re.Match[str]) -> str:
        if found[1] not in places:
            raise InputError(f"nothing is called {{{excerpt(found[1])}}} here; {nearest(found[1], places)}")
        return places[found[1]]

    # what a value holds is never read again, so that values of a person stay what they are
    return PLACE.sub(value, text)


def seconds(text: str, times: Mapping[str, float]) -> float:
    """A time such as "length + 2 delay", "1.5 s" or "0.5 length - 200 ms"; a bare number is seconds.

    Args:
        text: terms joined by + and -; each has numbers, which are multiplied, and the name of a time or a unit.
        times: name → seconds.

    Raises:
        InputError: the text is not such a sum.
    """
    found = 0.0
    units = {"s": 1.0, "ms": 0.001, "": 1.0, **times}
    signs = re.split(r"([+-])", text.strip())
    if signs[0].strip():
        signs.insert(0, "+")
    else:
        signs.pop(0)
    for sign, term in zip(signs[::2], signs[1::2], strict=False):
        match = _TERM.fullmatch(term.strip())
        if match is None or not term.strip():
            raise InputError(f'"{excerpt(text)}" is not a time; write a sum such as "length + 2 delay" or "3 s"')
        name = match[3] or ""
        if name not in units:
            raise InputError(f'"{excerpt(text)}": there is no time "{name}"; {nearest(name, [*times, "s", "ms"])}')
        product = units[name]
        for number in [*match[1].split(), *([match[2]] if match[2] else [])]:
            product *= float(number)
        found += product if sign == "+" else -product
    if not signs or len(signs) % 2:
        raise InputError(f'"{excerpt(text)}" is not a time; write a sum such as "length + 2 delay" or "3 s"')
    return round(found, 9)
