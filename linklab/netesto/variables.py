# SPDX-License-Identifier: BSD-3-Clause
"""`$name` in a script: a macro's arguments first, then the variables that SET and FOR make, which hold everywhere.

A name that is neither is looked for among the arguments of the macros that run this one, the nearest first.

What a variable holds is filled in as well, again and again, so `SET all=$a,$b` may stand before `SET a=h1`, and
`$client$i` names client1 where i is 1. A name that nothing defines stays as it is; each command decides what of that.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from linklab.errors import InputError
from linklab.netesto.limits import MOST_CHARACTERS

VARIABLE = re.compile(r"\$([A-Za-z0-9_]+)")
_MOST_ROUNDS = 30


@dataclass(frozen=True)
class Scope:
    """What names mean in a macro, or at the top, where `arguments` is empty; outer: arguments of the macros around."""

    arguments: Mapping[str, str]
    variables: Mapping[str, str]
    outer: tuple[Mapping[str, str], ...] = ()

    def get(self, name: str) -> str | None:
        """The value; None if nothing defines the name."""
        return next((place[name] for place in (self.arguments, self.variables, *self.outer) if name in place), None)

    def within(self, arguments: Mapping[str, str]) -> Scope:
        """What names mean in a macro that is run here."""
        return Scope(arguments, self.variables, (self.arguments, *self.outer) if self.arguments else self.outer)

    def fill(self, text: str) -> str:
        """The text with its variables filled in; those left are not defined.

        Raises:
            InputError: they refer to each other in a circle, or the text becomes too long.
        """
        if "$" not in text:
            return text
        for _ in range(_MOST_ROUNDS):
            filled = self._round(text)
            if filled == text:
                return text
            text = filled
        raise InputError(f"{undefined(text)[0]} refers to itself through other variables; SET one of them anew")

    def _round(self, text: str) -> str:
        room = MOST_CHARACTERS

        def value(found: re.Match[str]) -> str:
            nonlocal room
            put = self.get(found[1])
            put = found[0] if put is None else put
            room -= len(put)
            if room < 0:
                raise InputError(f"with {found[0]} filled in, the line exceeds {MOST_CHARACTERS:,} characters")
            return put

        return VARIABLE.sub(value, text)


def undefined(text: str) -> list[str]:
    """The variables that a filled text still has, with their $."""
    return [found[0] for found in VARIABLE.finditer(text)]
