# SPDX-License-Identifier: BSD-3-Clause
"""JSON data that may come from a hostile person, read strictly: every value is what is asked for, or an InputError.

Used for states; an `At` is a place in the text, for messages.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Callable, Collection
from typing import Any, NoReturn

from linklab.base.text import excerpt
from linklab.errors import InputError

MOST_CHARACTERS = 8 << 20
MOST_WORDS = 300
MOST_ENTRIES = 4096
"""Of one kind at one node; a network of a course has dozens."""
MOST_LINKS = 1 << 17
"""Emulated at one interface, with a discipline, a class and a filter for each (Lab 23 makes thousands)."""


def load_json(text: str) -> Any:
    """JSON without keys that stand twice, and without numbers that are none.

    Raises:
        ValueError: anything else.
    """
    if len(text) > MOST_CHARACTERS:
        raise ValueError(f"longer than {MOST_CHARACTERS} characters")
    try:
        return json.loads(text, object_pairs_hook=_once, parse_constant=_no_constant)
    except RecursionError as error:
        raise ValueError("too deep") from error


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    data = dict(pairs)
    if len(data) != len(pairs):
        raise ValueError("a key stands twice in one object")
    if any(isinstance(value, float) and not math.isfinite(value) for value in data.values()):
        raise ValueError("a number is too large")
    return data


def _no_constant(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no number")


class At:
    """A place in the text, for messages, and what may stand there."""

    def __init__(self, where: str) -> None:
        self.where = where

    def __truediv__(self, name: str) -> At:
        return At(f"{self.where}: {excerpt(name)}")

    def wrong(self, what: str, found: Any) -> InputError:
        """The error that says what must stand here and what does."""
        shown = json.dumps(found) if not isinstance(found, (dict, list)) else type(found).__name__
        return InputError(f"{self.where}: {what}, found {shown[:60]}")

    def mapping(self, data: Any, keys: Collection[str] | None) -> dict[str, Any]:
        """An object with none but these keys; None allows any."""
        if not isinstance(data, dict):
            raise self.wrong("must be an object", data)
        for key in data:
            if keys is not None and key not in keys:
                raise self.wrong(f"may have {excerpt(', '.join(sorted(keys)), MOST_WORDS)}", key)
        return data

    def named(self, data: Any, pattern: re.Pattern[str]) -> dict[str, Any]:
        """An object whose keys are names of this form."""
        if not isinstance(data, dict) or len(data) > MOST_ENTRIES:
            raise self.wrong("must be an object with a name for each", data)
        for key in data:
            if not pattern.fullmatch(key):
                raise self.wrong("is no name I know", key)
        return data

    def each(self, data: Any, most: int = MOST_ENTRIES) -> list[Any]:
        """A list of so many entries at most."""
        if not isinstance(data, list):
            raise self.wrong("must be a list", data)
        if len(data) > most:
            raise InputError(f"{self.where}: may have {most:,} entries of a kind at most, found {len(data):,}")
        return data

    def once(self, what: str, names: Collection[str]) -> None:
        """Each name stands here once."""
        if len(names) != len({*names}):
            twice = next(name for name, count in Counter(names).items() if count > 1)
            raise InputError(f"{self.where}: has the {what} {twice} twice")

    def word(self, data: Any, pattern: re.Pattern[str], what: str) -> str:
        """A word of this form."""
        if not isinstance(data, str) or not pattern.fullmatch(data):
            raise self.wrong(f"must be {what}", data)
        return data

    def number(self, data: Any, most: int, what: str) -> int:
        """A whole number from 0 on."""
        if type(data) is not int or not 0 <= data <= most:
            raise self.wrong(f"must be {what}, 0 to {most}", data)
        return data

    def flag(self, data: Any) -> bool:
        """Yes or no."""
        if type(data) is not bool:
            raise self.wrong("must be true or false", data)
        return data

    def options(self, check: Callable[[], None]) -> None:
        """Add this place to what a check complains of."""
        try:
            check()
        except InputError as error:
            raise InputError(f"{self.where}: {error}") from error
